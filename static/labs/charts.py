"""The charts of the text on the page: they show the widget's run, and lead to other scenes."""

from __future__ import annotations

from typing import Any

from sim.labs.charts import CHARTS
from sim.labs.run_charts import RunAt
from sim.run import Run
from static import browser
from static.chart import PACE, Colours, Drawn, Numpy
from static.loader import LabView, Link


class View(LabView):
    """All charts of the text."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link)
        numpy = Numpy()
        self._drawn = [Drawn(chart, link.change, numpy) for chart in CHARTS]
        self._wanted: tuple[RunAt, Colours] | None = None
        self._pace = browser.Delay(PACE, self._show, restarts=False)

    def show(self, run: Run, tick: int, colours: Colours, playing: bool) -> None:
        """Show this scene in every chart; while the run plays, now and then."""
        self._wanted = RunAt(run, tick), colours
        if playing:
            self._pace.ask()
        else:
            self._pace.drop()
            self._show()

    def redraw(self) -> None:
        """Draw anew what is drawn on a canvas."""
        for drawn in self._drawn:
            drawn.forget()

    def _show(self) -> None:
        if self._wanted:
            for drawn in self._drawn:
                drawn.show(*self._wanted)
