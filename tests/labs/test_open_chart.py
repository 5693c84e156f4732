"""A chart takes any input, and any click: one of a lab with settings of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sim.chart import Chart, Data, Stop, Table, figure_html, specification
from sim.labs.charts import CHARTS
from sim.labs.run_charts import RunAt
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from tests.driver import PageDriver
from tests.labs.notes import told
from tests.server import ROOT, python, serving

MODULE = '''"""Squares up to a number, as bars; a click on one makes it the last."""

from typing import NamedTuple

from sim.chart import Chart, Table, figure_html, specification


class Upto(NamedTuple):
    """The last number, and what is added to each square."""

    last: int
    more: int


def data(given):
    return {"bars": [{"n": n, "square": n * n + given.more} for n in range(1, given.last + 1)]}


def table(given, data):
    return Table(["n", "square"], [[str(r["n"]), str(r["square"])] for r in data["bars"]])


def spec(colours):
    axes = {
        "x": {"field": "n", "type": "ordinal"},
        "y": {"field": "square", "type": "quantitative"},
    }
    bars = {"data": {"name": "bars"}, "mark": "bar", "encoding": axes}
    return specification(colours, "Squares.", [bars])


SQUARES = Chart(
    "squares", "Squares", spec, data, table,
    clicked=lambda row: {"last": row["n"]} if "square" in row else {},
)


def printed():
    return figure_html(SQUARES, "Squares of numbers.", Upto(4, 0))
'''
VIEW = '''"""A view of it."""

from sim.labs.squares import SQUARES, Upto
from static.chart import Drawn
from static.loader import LabView


class View(LabView):
    """Keeps the last number; what is added is the tick."""

    def __init__(self, section, link):
        super().__init__(section, link)
        self._last = 4
        self._drawn = Drawn(SQUARES, self._take)

    def _take(self, changes):
        self._last = changes["last"]
        self.show(*self._shown)

    def show(self, run, tick, colours, playing):
        self._shown = run, tick, colours, playing
        self._drawn.show(Upto(self._last, tick), colours)
'''
ROW = '    Lab("squares", "Squares", "#lab-squares", "same", needs=("charts",), height=300),\n'
SECTION = '  <section id="lab-squares" data-lab="squares">{{ lab.squares }}</section>\n'


class Upto(NamedTuple):
    """An input that is neither a run nor a tick."""

    last: int


def _data(given: Upto) -> Data:
    return {"bars": [{"n": n, "square": n * n} for n in range(1, given.last + 1)]}


def _table(_given: Upto, data: Data) -> Table:
    return Table(["n", "square"], [[str(row["n"]), str(row["square"])] for row in data["bars"]])


def _spec(colours: Mapping[str, str]) -> dict[str, Any]:
    return specification(colours, "Squares.", [{"data": {"name": "bars"}, "mark": "bar"}])


def _stops(_given: Upto, data: Data) -> list[Stop]:
    return [Stop(row["n"], f"{row['n']}² = {row['square']}") for row in data["bars"]]


SQUARES = Chart("squares", "Squares & more", _spec, _data, _table)


def test_a_chart_of_any_input_has_its_specification_data_table_and_place() -> None:
    spec = {**SQUARES.spec(PALETTES["light"]), "datasets": SQUARES.data(Upto(3))}
    assert spec["datasets"]["bars"][-1] == {"n": 3, "square": 9}
    assert spec["layer"][0]["data"]["name"] in spec["datasets"]
    place = figure_html(SQUARES, "Up to <3>.", Upto(3))
    assert re.findall(r"<td>(\d+)</td>", place) == ["1", "4", "9"]
    assert place.startswith('<figure class="chart" id="chart-squares">')
    assert "Up to &lt;3&gt;." in place
    assert "Squares &amp; more" in place
    assert place.count('<p class="chart-note" role="status"></p>') == 1
    assert not SQUARES.has_stops
    assert SQUARES._replace(stops=_stops).has_stops


def test_a_click_means_what_its_chart_says() -> None:
    assert SQUARES.clicked({"n": 3, "square": 9}) == {}
    leads = SQUARES._replace(clicked=lambda row: {"last": row["n"]})
    assert leads.clicked({"n": 3, "square": 9}) == {"last": 3}


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_of_the_charts_of_the_text_only_the_map_leads_anywhere(chart: Chart[RunAt]) -> None:
    for rows in chart.data(RunAt(Run(Params()), 60)).values():
        for row in rows:
            there = {"k": row["k"], "alpha": row["alpha"], "rates": None} if "alpha" in row else {}
            assert chart.clicked(row) == there
    assert chart.clicked({"value": 0.2, "label": "0.2"}) == {}  # an entry of a legend
    assert (chart.clicked({"k": 3, "alpha": 0.4}) != {}) == (chart.name == "map")


def test_a_lab_s_chart_follows_its_own_input_and_its_own_clicks(
    shared: PageDriver, tmp_path: Path
) -> None:
    for name in ("sim", "static"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "index.html", tmp_path)
    (tmp_path / "sim" / "labs" / "squares.py").write_text(MODULE)
    (tmp_path / "static" / "labs" / "squares.py").write_text(VIEW)
    (tmp_path / "static" / "sections" / "lab-squares.html").write_text(SECTION)
    rows = tmp_path / "sim" / "labs" / "__init__.py"
    rows.write_text(rows.read_text("utf-8").replace("LABS = (\n", f"LABS = (\n{ROW}"), "utf-8")
    python(tmp_path, "-m", "sim.host.printed")
    with serving(root=tmp_path) as address:
        page = PageDriver(shared.driver, address, shared.engine)
        page.open("?lab=squares&tick=5")

        def cells() -> list[str]:
            found = page.run(
                "return JSON.stringify([...document.querySelectorAll("
                "'#chart-squares tbody td')].map((cell) => cell.textContent))"
            )
            return list(json.loads(found))

        bars = "document.querySelectorAll('#chart-squares .mark-rect path')"
        page.until(lambda: page.run(f"return {bars}.length") == 4)
        assert cells() == ["6", "9", "14", "21"]
        page.run(
            f"const bar = {bars}[1], box = bar.getBoundingClientRect(),"
            "  at = {bubbles: true, clientX: box.left + 5, clientY: box.top + box.height - 1};"
            "for (const kind of ['pointermove', 'mousemove', 'mousedown', 'mouseup', 'click'])"
            "  bar.dispatchEvent(new MouseEvent(kind, at))"
        )
        page.until(lambda: page.run(f"return {bars}.length") == 2)
        assert cells() == ["6", "9"]
        page.call("seek", 6)
        page.until(lambda: cells() == ["7", "10"])
        assert told(page) == []
        assert page.one("#lab-squares").is_displayed()  # a click of the lab's own moves no widget
