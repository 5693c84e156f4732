"""A chart on the page: passes its specification and data on, and what is clicked in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic

from sim.chart import OTHERS, Chart, Data, Input, Rows, Stop, table_html
from sim.marks import PALETTES
from sim.picture import CSS_COLOURS
from static import browser
from static.browser import Attribute, one
from static.pointed import HINT, Pointed
from static.tasks import Worker

Colours = Mapping[str, str]
Take = Callable[[Mapping[str, object]], object]

PACE = 200
"""Milliseconds between two looks of a chart at what changes on and on, and at a thousand runs."""


class Numpy:
    """NumPy, brought once, when the first chart asks for it."""

    def __init__(self) -> None:
        self.here, self.error = False, ""
        self._waiting: list[Callable[[], object]] = []

    def bring(self, come: Callable[[], object]) -> None:
        """Call back once it is here, or `error` says why not."""
        self._waiting.append(come)
        if len(self._waiting) == 1:
            browser.bring_numpy(self._come)

    def _come(self, error: str) -> None:
        self.here, self.error = not error, error
        waiting, self._waiting = self._waiting, []
        for come in waiting:
            come()


class Drawn(Generic[Input]):
    """One chart, drawn once it is near the screen, anew where the colours changed; given new data
    only while it is near, and only the sets that changed.

    `take` is given what changes where the reader clicks in it.
    """

    def __init__(self, chart: Chart[Input], take: Take, numpy: Numpy | None = None) -> None:
        self._chart, self._take, self._numpy = chart, take, numpy or Numpy()
        figure = f"#chart-{chart.name}"
        self._place, self._table = one(f"{figure} .drawing"), one(f"{figure} table")
        self._line = Attribute(one(f"{figure} .chart-note"), "textContent")
        self._progress = self._value = ""
        self._view: Any = None
        self._drawing = self._near = False
        self._wanted: tuple[Input, Colours] | None = None
        self._shown: tuple[Input, Colours] | None = None
        self._spread_of: Input | None = None
        self._colours: Colours = {}
        self._sent: Data = {}
        self._drawn_with: Data = {}
        self._worker: Worker[Rows] = Worker(partial(browser.Delay, 0))
        self._spread_pace = browser.Delay(PACE, self._show_spread, restarts=False)
        self._describe(chart.spec(PALETTES["light"])["description"])
        self._pointed = Pointed(self._place, self._stops, self._drawn_view, self._say_value)
        browser.watch_near(one(figure), self._come)

    def _describe(self, text: str) -> None:
        """Say what is drawn to those who do not see it; nothing where nothing is drawn.

        With values to go through it takes keys, else it is an image.
        """
        through = self._chart.has_stops
        told = {
            "role": "application" if through else "img",
            "aria-label": f"{text} {HINT}" if through else text,
            "tabindex": "0" if through else "",
        }
        for name, value in told.items():
            if text and value:
                self._place.setAttribute(name, value)
            else:
                self._place.removeAttribute(name)

    def show(self, given: Input, colours: Colours) -> None:
        """Show what follows from this input, once the chart is near."""
        self._wanted = given, colours
        if not self._near or self._drawing:
            return
        if self._chart.spread and self._spread_of != given:
            self._spread_pace.ask()
        if self._shown == self._wanted:
            return
        self._shown = self._wanted
        data = self._chart.data(given)
        if self._chart.spread:  # what is there stays until the new one comes
            data[OTHERS] = self._sent.get(OTHERS, [])
        self._send(data)
        if not self._colours or (colours != self._colours and self._chart.renderer != "svg"):
            self._draw(colours)

    def forget(self) -> None:
        """Draw it anew when it is shown next, if it is drawn on a canvas."""
        if self._chart.renderer == "canvas":
            self._shown, self._colours = None, {}

    def _send(self, data: Data) -> None:
        """Show new rows, in the chart and in its table."""
        changed = {name: rows for name, rows in data.items() if rows != self._sent.get(name)}
        if not changed or not self._wanted:
            return
        self._sent = {**self._sent, **changed}
        table = self._chart.table(self._wanted[0], self._sent)
        browser.refill(self._table, table_html(self._chart, table))
        if self._view and not self._drawing:
            self._view.update(json.dumps(changed))
            self._pointed.renew()

    def _show_spread(self) -> None:
        """Show how far other seeds spread, once NumPy is here to say."""
        if not (self._near and self._wanted and self._chart.spread):
            return
        others = self._chart.others
        if self._numpy.here:
            if not self._worker.busy:  # what changes on and on would never be done
                self._spread_of = self._wanted[0]
                work = self._chart.spread(self._spread_of)
                self._worker.start(work, self._spread_done, self._spread_failed, self._spread_goes)
        elif self._numpy.error:
            self._say(f"{others} could not be run ({self._numpy.error}).")
        else:
            self._say(f"Bringing NumPy for {others[0].lower()}{others[1:]} …")
            self._numpy.bring(self._show_spread)

    def _spread_goes(self, share: float) -> None:
        if not self._sent.get(OTHERS):
            self._say(f"{self._chart.others}: {100 * share:.0f} % …")

    def _spread_done(self, spread: Rows) -> None:
        self._say("")
        self._send({OTHERS: spread})
        if self._wanted and self._wanted[0] != self._spread_of:
            self._spread_pace.ask()

    def _spread_failed(self, error: Exception) -> None:
        """A module came damaged, or there is too little memory."""
        self._say(f"{self._chart.others} could not be run ({error}).")

    def _say(self, text: str) -> None:
        """Say how far other seeds have come."""
        self._progress = text
        self._write()

    def _say_value(self, text: str) -> None:
        """Say the values of a place instead, while it is pointed at."""
        self._value = text
        self._write()

    def _write(self) -> None:
        self._line.write(self._value or self._progress)

    def _stops(self) -> Sequence[Stop]:
        return self._chart.stops(self._wanted[0], self._sent) if self._wanted else ()

    def _drawn_view(self) -> Any:
        return None if self._drawing else self._view

    def _come(self, near: bool) -> None:
        self._near = near
        if self._view:
            self._view.near(near)
        if near:
            self._numpy.error = ""  # tried again for who comes back
        elif self._worker.busy:
            self._worker.cancel()
            self._spread_of = None
        if self._wanted:
            self.show(*self._wanted)

    def _draw(self, colours: Colours) -> None:
        self._drawing, self._colours = True, colours
        if self._view:
            self._view.finalize()
        self._drawn_with = self._sent
        # Where marks are elements, their colours are the page's own, on paper too.
        named = CSS_COLOURS if self._chart.renderer == "svg" else browser.resolved(colours)
        spec = {**self._chart.spec(named), "datasets": self._sent}
        browser.draw_chart(
            self._place, json.dumps(spec), self._chart.renderer, self._clicked, self._drawn
        )

    def _drawn(self, view: Any, error: str) -> None:
        self._view, self._drawing = view, False
        if error:
            self._describe("")
            self._place.textContent = (
                f"The chart could not be drawn ({error}). Its numbers are below."
            )
        else:
            if self._sent is not self._drawn_with:  # rows came meanwhile
                view.update(json.dumps(self._sent))
            self._pointed.renew()
            view.near(self._near)
            if self._wanted:
                self.show(*self._wanted)

    def _clicked(self, text: str) -> None:
        changes = self._chart.clicked(json.loads(text))
        if changes:
            self._take(changes)
