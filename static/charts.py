"""The charts on the page: passes specifications and data on, and says what a click means."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sim.charts import CHARTS, Chart, table_html
from sim.marks import PALETTES
from sim.params import Params
from static import browser
from static.browser import one

Click = Callable[[Mapping[str, Any]], None]


class Drawn:
    """One chart, drawn once it is near the screen, anew where the colours changed; given new data
    only while it is near, and only the sets that changed."""

    def __init__(self, chart: Chart, click: Click) -> None:
        self._chart, self._click = chart, click
        figure = f"#chart-{chart.name}"
        self._place, self._table = one(f"{figure} .drawing"), one(f"{figure} table")
        self._describe(chart.spec(PALETTES["light"])["description"])
        self._view: Any = None
        self._drawing = self._near = False
        self._wanted: tuple[Params, Mapping[str, str]] | None = None
        self._colours: Mapping[str, str] = {}
        self._sent: dict[str, Any] = {}
        browser.watch_near(one(figure), self._come)

    def _describe(self, text: str) -> None:
        """Say what is drawn to those who do not see it; nothing where nothing is drawn."""
        for name, value in (("role", "img"), ("aria-label", text)):
            if text:
                self._place.setAttribute(name, value)
            else:
                self._place.removeAttribute(name)

    def show(self, params: Params, colours: Mapping[str, str]) -> None:
        """Show this scene, once the chart is near."""
        self._wanted = params, colours
        if not self._near or self._drawing:
            return
        data = self._chart.data(params)
        if colours != self._colours:
            self._draw(data, colours)
        changed = {name: rows for name, rows in data.items() if rows != self._sent.get(name)}
        if changed:
            self._sent = data
            self._table.innerHTML = table_html(self._chart.table(params))
            if self._view and not self._drawing:
                self._view.update(json.dumps(changed))

    def _come(self, near: bool) -> None:
        self._near = near
        if self._wanted:
            self.show(*self._wanted)

    def _draw(self, data: Mapping[str, Any], colours: Mapping[str, str]) -> None:
        self._drawing, self._colours = True, colours
        if self._view:
            self._view.finalize()
        self._sent = dict(data)
        spec = {**self._chart.spec(colours), "datasets": data}
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
        elif self._wanted:
            self.show(*self._wanted)

    def _clicked(self, text: str) -> None:
        self._click(json.loads(text))


class Charts:
    """All charts of the text."""

    def __init__(self, click: Click) -> None:
        self._drawn = [Drawn(chart, click) for chart in CHARTS]

    def show(self, params: Params, colours: Mapping[str, str]) -> None:
        """Show this scene in every chart."""
        for drawn in self._drawn:
            drawn.show(params, colours)
