"""A real model on the page: settings, a text that is written, and what is measured of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sim.labs.text import command_of
from sim.labs.text_chart import WIDTH_CHART, Timed, measure, measured_said
from sim.labs.text_cost import as_costs
from sim.labs.text_measured import rates
from sim.labs.text_run import begun, both_ways, go_on, models_of, stored
from sim.labs.text_section import SET
from sim.labs.text_settings import ROWS, Asked
from sim.run import Run
from sim.settings import changes_of_lab, entered, write
from sim.work import Work
from static import browser, device
from static.browser import Attribute, one
from static.chart import Drawn, Numpy
from static.labs.text_shown import Shown
from static.loader import Link
from static.settled import SettledView
from static.tasks import Worker

if TYPE_CHECKING:  # they need NumPy, which comes after the view
    from sim.labs.writer import Models, Writer

NOT_COPIED = "It could not be copied: this browser keeps the clipboard from the page."


class View(SettledView[Asked]):
    """Settings, and a text by them once NumPy is here."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link, "text", Asked())
        self._data = stored()
        self._models: Models | None = None
        self._writer: Writer | None = None
        self._orders: list[Callable[[Writer], object]] = []
        self._evictions: set[int] = set()
        self._timed, self._colours = Timed(), dict[str, str]()
        self._shown = Shown(section)
        self._numpy = Numpy()
        self._said = Attribute(one("#text-said"), "textContent")
        self._command = Attribute(one("#text-command"), "textContent")
        self._outcome = Attribute(one("#text-told"), "textContent")
        self._chart = Drawn(WIDTH_CHART, link.change)
        self._worker: Worker[Any] = Worker(device.Turn)
        self._writing, self._wanted = False, 0
        browser.listen(section, "input change", self._enter)
        browser.listen(section, "click", self._press)
        self._renew()
        self._numpy.bring(self._come)

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """Only its colours are the widget's."""
        self._colours = dict(colours)
        self._shown.colour(colours)
        if self._timed.seconds:
            self._chart.show(self._timed, colours)

    def redraw(self) -> None:
        """Draw the board anew."""
        self._shown.forget()

    def settled(self) -> None:
        """Begin the text that a link has set."""
        self._begin()

    def _come(self) -> None:
        """NumPy is here, or is not to be had."""
        if self._numpy.error:
            self._said.write(f"Nothing can be written: NumPy did not come ({self._numpy.error}).")
            return
        try:
            self._models = models_of(self._data)
        except ValueError as damage:
            self._said.write(
                f"Nothing can be written: the file of the model is damaged ({damage})."
            )
            return
        self._begin()
        self._start(measure(self._models, perf_counter), self._draw)

    def _begin(self) -> None:
        """A text of which nothing is written yet."""
        self._worker.cancel()
        self._writing, self._orders, self._evictions = False, [], set(self.asked.evict)
        if self._models:
            self._writer = begun(self._models, self.asked, perf_counter)
            self._shown.begin(self._writer)
        self._renew()

    def _renew(self) -> None:
        """Show the settings, and which buttons do something."""
        asked = self.asked
        for key in SET:
            text = write(ROWS[key], getattr(asked, ROWS[key].name))
            control, output = one(f"#text-{key}"), one(f"#text-{key}-value")
            if str(control.value) != text:
                control.value = text
            if output:
                output.textContent = text
        for key in ("cache", "speculation"):
            on = getattr(asked, key)
            one(f"#text-{key}").setAttribute("aria-pressed", "true" if on else "false")
        for button in browser.every("#lab-text button"):
            button.disabled = self._writer is None
        for name in ("measure", "compare"):
            one(f"#text-{name}").disabled = self._writer is None or self._writing
        if self._writer:
            one("#text-evict").disabled = not asked.cache
            one("#text-use").disabled = not self._rates()
        one("#text-price").disabled = not self._timed.seconds
        one("#text-write").textContent = "Stop" if self._writing else "Write"
        self._command.write(command_of(asked))
        self._shown.settle(asked.k)

    def _rates(self) -> Any:
        return rates(self._writer.passed, self.asked.k) if self._writer else None

    def _enter(self, event: Any) -> None:
        """A slider was moved, a choice made, or a field left with something else in it."""
        key = str(event.target.id).removeprefix("text-")
        if key not in SET or (event.type == "input" and event.target.type != "range"):
            return
        row = ROWS[key]
        value, complaint = entered(row, str(event.target.value), getattr(self.asked, row.name))
        self._set({row.name: value})
        self._said.write(complaint or "")
        if complaint:
            event.target.value = write(row, value)

    def _set(self, changed: Mapping[str, Any]) -> None:
        """Change settings: a new prompt or seed begins anew, all else holds from the next tick."""
        asked = replace(self.asked, **changed)
        if asked == self.asked:
            return
        self.asked = asked
        if "prompt" in changed or "seed" in changed:
            self._begin()
        else:
            self._order(lambda writer: writer.set(asked.writing()))
        self.keep()

    def _order(self, order: Callable[[Writer], object]) -> None:
        """Have this done between two ticks: now, where nothing is being written."""
        if self._writing:
            self._orders.append(order)
        elif self._writer:
            order(self._writer)
            self._shown.renew()
        self._renew()

    def _evict(self, writer: Writer) -> None:
        """Evict at this tick, and keep it in the link."""
        tick = len(writer.passed)
        self._evictions.add(tick)
        writer.evict()
        if tick not in self.asked.evict and ROWS["evict"].kind.admits((tick,)):
            evict = tuple(sorted({*self.asked.evict, tick}))
            self.asked = replace(self.asked, evict=evict)
            self.keep()

    def _press(self, event: Any) -> None:
        token = event.target.closest("[data-at]")
        if token:
            self._shown.point(int(token.getAttribute("data-at")))
        button = event.target.closest("button")
        name = str(button.id) if button else ""
        actions: dict[str, Callable[[], object]] = {
            "text-write": self._stop if self._writing else self._write,
            "text-anew": partial(self._set, {"seed": browser.random_seed(), "evict": ()}),
            "text-cache": partial(self._set, {"cache": not self.asked.cache}),
            "text-speculation": partial(self._set, {"speculation": not self.asked.speculation}),
            "text-evict": partial(self._order, self._evict),
            "text-measure": self._measure,
            "text-compare": self._compare,
            "text-use": self._use,
            "text-price": self._price,
            "text-copy": self._copy,
        }
        if name in actions:
            actions[name]()

    def _write(self) -> None:
        """Write as many tokens as are asked for, from here on."""
        if self._writer is None:
            return
        self._writing = True
        self._wanted = len(self._writer.tokens) + self.asked.tokens
        work = go_on(self._writer, lambda: self._wanted, self._evictions, self._orders)
        self._start(work, lambda _: self._stopped())
        self._renew()

    def _stop(self) -> None:
        """Stop after this tick."""
        self._wanted = 0

    def _stopped(self) -> None:
        self._writing = False
        self._shown.renew()
        self._renew()
        if self._models and not self._timed.seconds:  # writing came before it
            self._start(measure(self._models, perf_counter), self._draw)

    def _start(self, work: Work[Any], done: Callable[[Any], object]) -> None:
        self._worker.start(work, done, self._failed, lambda _: self._shown.ask())

    def _failed(self, error: Exception) -> None:
        self._writing = False
        self._said.write(f"The text could not go on ({type(error).__name__}: {error}).")
        self._renew()

    def _measure(self) -> None:
        """Time passes of every width, and draw them."""
        if self._models is None:
            return
        self._outcome.write("Timing passes …")
        self._start(measure(self._models, perf_counter), self._measured)

    def _measured(self, timed: Timed) -> None:
        self._draw(timed)
        self._outcome.write(measured_said(timed))

    def _draw(self, timed: Timed) -> None:
        self._timed = timed
        self._renew()
        self._chart.show(timed, self._colours)

    def _compare(self) -> None:
        """Write the prompt's likeliest text alone and with drafts."""
        if self._models is None:
            return
        self._outcome.write("Writing it both ways …")
        self._start(both_ways(self._models, self.asked, perf_counter), self._outcome.write)

    def _use(self) -> None:
        found = self._rates()
        if found:
            self.link.change(found.scene)

    def _price(self) -> None:
        """Take what this device was timed at to the costs on a machine."""
        asked = as_costs(self._timed, self.asked.draft, self.asked.k, self._rates())
        self.link.lead("cost", changes_of_lab("cost", asked))

    def _copy(self) -> None:
        if self._writer:
            text = self._writer.models.pairs.decode(self._writer.tokens)
            device.copy(text, lambda done: self._outcome.write("Copied." if done else NOT_COPIED))
