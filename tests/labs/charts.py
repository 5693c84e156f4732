"""The charts of the page: their data, and how one comes."""

from __future__ import annotations

from sim.chart import OTHERS, Chart, Data, Table
from sim.labs.charts import CHARTS
from sim.labs.run_charts import RunAt
from sim.params import Params
from sim.run import Run
from sim.work import finish
from tests.driver import PageDriver

BY_NAME = {chart.name: chart for chart in CHARTS}

NEAR = tuple(BY_NAME)


def data_of(chart: Chart[RunAt], run: Run, tick: int) -> Data:
    """All rows of a chart, those of the thousand runs among them."""
    at = RunAt(run, tick)
    return chart.data(at) | ({OTHERS: finish(chart.spread(at))} if chart.spread else {})


def table_of(chart: Chart[RunAt], run: Run, tick: int) -> Table:
    return chart.table(RunAt(run, tick), data_of(chart, run, tick))


def texts(name: str, params: Params | None = None) -> dict[object, str]:
    """What is said at each place of a chart, its runs at tick 60."""
    run = Run(params or Params())
    chart = BY_NAME[name]
    found = chart.stops(RunAt(run, 60), data_of(chart, run, 60))
    return {(s.x, s.y) if s.y is not None else s.x: s.text for s in found}


def come(page: PageDriver, name: str) -> None:
    """Scroll to a chart and wait until it is drawn."""
    page.run(f"document.querySelector('#chart-{name}').scrollIntoView({{block: 'center'}})")
    shown = f"return !!document.querySelector('#chart-{name} .drawing :is(svg, canvas)')"
    page.until(lambda: page.run(shown))
    page.until(lambda: fits(page, name), 30)  # where it was drawn for another width, soon


def fits(page: PageDriver, name: str) -> bool:
    """Whether a chart is high enough, and as wide as its figure, and within it."""
    page.frames(3)
    inside = page.run(
        "const box = (selector) => document.querySelector(selector).getBoundingClientRect();"
        "const [figure, drawn] = [box(arguments[0]), box(`${arguments[0]} :is(svg, canvas)`)];"
        "return [drawn.height - 150, drawn.width - figure.width * 0.8, drawn.top - figure.top,"
        " figure.bottom - drawn.bottom, figure.right + 1 - drawn.right]",
        f"#chart-{name}",
    )
    return bool(min(inside) >= 0)
