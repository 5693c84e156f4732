"""The charts of the costs on a machine: valid, and true to what a case says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sim.chart import figure_html
from sim.labs.cost_charts import (
    CAPTIONS,
    CHARTS,
    COMPUTING,
    READING,
    WHOLE,
    WIDEST,
    YOURS,
    pass_data,
    passes,
)
from sim.labs.cost_settings import Asked, Priced, priced
from sim.labs.published import TABLE_4
from sim.marks import PALETTES
from sim.theory import LONGEST
from tests.labs.specs import validator

CASES = [
    priced(Asked()),
    priced(Asked(k=0, batch=1)),
    priced(Asked(model="Qwen3-30B-A3B", draft="0.05", context=4096, batch=3, k=8)),
    priced(Asked(curve=((1.0, 4.0), (64.0, 5.0), (300.0, 9.0)), draft="ngram", batch=64)),
    priced(Asked(curve=((1.0, 0.8), (33.0, 9.0)), device=True, draft="0.2", batch=1)),
]
BY_NAME = {chart.name: chart for chart in CHARTS}


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_specification_is_valid_with_its_data(chart: Any, theme: str) -> None:
    schema = validator()
    for given in CASES if theme == "light" else CASES[:1]:
        spec = {**chart.spec(PALETTES[theme]), "datasets": chart.data(given)}
        assert spec["description"]
        assert schema.is_valid(json.loads(json.dumps(spec)))


@pytest.mark.parametrize("given", CASES, ids=range(len(CASES)))
def test_the_line_is_the_longer_of_both_roofs_and_the_scenes_passes_are_on_it(
    given: Priced,
) -> None:
    data = pass_data(given)
    case, batch = given.case, given.asked.batch
    for row in data["roofs"]:
        if row["positions"] % batch == 0:
            both = case.roofs(batch, row["positions"] // batch)
            expected = {READING: both.memory, COMPUTING: both.arithmetic}[row["what"]]
            assert row["ms"] == pytest.approx(1000 * expected)
    if given.asked.curve:
        assert [(r["positions"], r["ms"]) for r in data["pass"]] == list(given.asked.curve)
    else:
        longest: dict[int, float] = {}
        for row in data["roofs"]:
            longest[row["positions"]] = max(row["ms"], longest.get(row["positions"], 0))
        assert {row["positions"]: row["ms"] for row in data["pass"]} == longest
    shown = {row["positions"]: row["ms"] for row in data["passes"]}
    width = 1 + given.asked.k
    for positions, batched, n in ((1, 1, 1), (width, 1, width), (batch * width, batch, width)):
        seconds = case.seconds(batched, n)
        assert shown.get(positions) == (None if seconds is None else pytest.approx(1000 * seconds))
    assert data["here"] == data["passes"][-1:]
    assert (not data["roofs"]) == given.asked.of_a_device


def test_the_legend_names_each_line_and_labels_keep_apart() -> None:
    spec = BY_NAME["cost-pass"].spec(PALETTES["light"])
    (words,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    assert words["mark"]["dy"]["expr"].startswith("datum.below ?")
    for given in CASES:
        data = pass_data(given)
        assert {row["what"] for row in data["pass"]} == {WHOLE}
        assert [row["level"] for row in data["passes"]] == list(range(len(data["passes"])))
        below = [row["below"] for row in data["passes"]]
        device = given.asked.of_a_device
        assert below == [row["level"] < WIDEST and not device for row in data["passes"]]
    close = pass_data(priced(Asked(k=1, batch=200)))["passes"][-2:]
    assert [row["below"] for row in close] == [True, False], "400 above, 200 below"
    (line,) = [layer for layer in spec["layer"] if layer["data"] == {"name": "pass"}]
    assert line["encoding"]["color"]["scale"]["domain"] == [READING, COMPUTING, WHOLE]


def test_a_batch_reads_more_caches_than_one_alone() -> None:
    alone, wide, plain, whole = passes(CASES[0])
    assert alone.seconds == pytest.approx(4.80e-3, rel=1e-2)
    assert (wide.positions, plain.positions, whole.positions) == (5, 256, 1280)
    assert (plain.seconds or 0) > (wide.seconds or 0)


@pytest.mark.parametrize("given", CASES, ids=range(len(CASES)))
def test_speedups_by_batch_are_those_of_the_case(given: Priced) -> None:
    chart, asked = BY_NAME["cost-batch"], given.asked
    data = chart.data(given)
    for row in data["lines"]:
        k = asked.k if row["k"] == YOURS else int(row["k"])
        assert 0 <= k <= LONGEST
        assert row["speedup"] == pytest.approx(given.case.speedup(row["batch"], k))
    here = [] if given.speedup is None else [{"batch": asked.batch, "speedup": given.speedup}]
    assert data["here"] == here
    table = chart.table(given, data)
    assert str(asked.batch) in [row[0] for row in table.rows]
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_each_published_row_is_a_point_with_its_miss() -> None:
    chart = BY_NAME["cost-measured"]
    data = chart.data(CASES[0])
    points = [(row["predicted"], row["measured"]) for row in data["rows"]]
    assert points == [(row.predicted, row.measured) for row in TABLE_4]
    (here,) = data["here"]
    assert here["predicted"] == here["measured"] == CASES[0].speedup
    misses = [row[-1] for row in chart.table(CASES[0], data).rows]
    assert misses[0] == "+8 %"
    assert misses[2] == "−32 %"


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_values_can_be_gone_through_from_left_to_right(chart: Any) -> None:
    for given in CASES:
        stops = chart.stops(given, chart.data(given))
        places = [stop.x for stop in stops]
        assert places == sorted(set(places))
        assert all(stop.text.endswith(".") for stop in stops)


def test_each_chart_has_its_numbers_without_script() -> None:
    for chart, caption in zip(CHARTS, CAPTIONS, strict=True):
        html = figure_html(chart, caption, CASES[0])
        assert f'id="chart-{chart.name}"' in html
        assert "<table>" in html
