"""The charts are valid, and true to the model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sim.chart import OTHERS
from sim.labs.charts import CHARTS, SPEEDUP, TOKENS, length_data
from sim.labs.ensemble import ensemble
from sim.labs.map_chart import LENGTHS, RATES, map_data
from sim.labs.run_charts import (
    TICKS,
    RunAt,
    luck_data,
    luck_spread,
    yield_data,
    yield_spread,
)
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.theory import chances_of_tokens, expected_speedup, expected_tokens_per_pass
from sim.work import finish
from tests.labs.charts import data_of, table_of
from tests.labs.specs import validator

SETTINGS = [
    Params(),
    Params(draft_length=12, acceptance_rate=0.6, draft_cost=0.1),
    Params(batch_size=64, knee=32, draft_cost=0.05),
    Params(kv_cache=False),
    Params(speculation=False),
    Params(draft_length=20, acceptance_rates=(0.9, 0.5)),
]
RUNS = [*SETTINGS[:2], *SETTINGS[3:], Params(evictions=(30, 55, 100), recompute_chunk=16)]


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_specification_is_valid_with_its_data(chart: Any, theme: str) -> None:
    schema = validator()
    for params in SETTINGS if theme == "light" else SETTINGS[:2]:  # they differ in colours alone
        run = Run(params)
        data = chart.data(RunAt(run, 60))
        if chart.spread:
            data[OTHERS] = finish(chart.spread(RunAt(run, 60)))
        spec = {**chart.spec(PALETTES[theme]), "datasets": data}
        assert spec["description"]
        assert schema.is_valid(json.loads(json.dumps(spec)))
        named = {layer["data"]["name"] for layer in spec["layer"] if "data" in layer}
        assert named == set(spec["datasets"])
    assert not schema.is_valid({**spec, "layer": [{"mark": "blob"}]})


@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_the_lines_are_the_theory(params: Params) -> None:
    data = length_data(params)
    assert {row["k"] for row in data["lines"]} == set(LENGTHS)
    for row in data["lines"]:
        there = replace(params, speculation=True, draft_length=row["k"])
        wanted = {TOKENS: expected_tokens_per_pass(there.rates), SPEEDUP: expected_speedup(there)}
        assert row["value"] == wanted[row["measure"]]
    measures = {row["measure"] for row in data["lines"]}
    assert measures == ({TOKENS, SPEEDUP} if params.kv_cache else {TOKENS})
    placed = params.speculation and params.draft_length in LENGTHS
    assert len(data["here"]) == (len(measures) if placed else 0)


@pytest.mark.parametrize("params", SETTINGS[:3], ids=range(3))
def test_the_map_is_the_theory_its_line_is_at_one_and_its_ridge_is_best(params: Params) -> None:
    data = map_data(params)
    assert len(data["cells"]) == len(LENGTHS) * len(RATES) == 16 * 99
    base = replace(params, acceptance_rates=())

    def speedup(k: int, rate: float) -> float:
        found = expected_speedup(replace(base, draft_length=k, acceptance_rate=rate))
        assert found is not None
        return found

    for row in data["cells"]:
        assert row["speedup"] == round(speedup(row["k"], row["alpha"]), 3)
    for row in data["even"]:
        assert speedup(row["k"], row["alpha"]) == pytest.approx(1, abs=2e-3)
    for row in data["best"]:
        most = max(speedup(k, row["alpha"]) for k in LENGTHS)
        assert speedup(row["k"], row["alpha"]) == pytest.approx(most, rel=1e-12)
    assert data["here"] == [{"k": params.draft_length, "alpha": params.acceptance_rate}]


def test_a_scene_without_a_place_on_the_map_is_not_put_there() -> None:
    for params in SETTINGS[4:]:
        assert map_data(params)["here"] == []


@pytest.mark.parametrize("tick", [0, 1, 60, 1200])
@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_every_chart_has_its_numbers_as_a_table(params: Params, tick: int) -> None:
    for chart in CHARTS:
        run = Run(params)
        rows = table_of(chart, run, tick).rows
        assert len(rows) >= (len(params.rates) + 1 if chart.name == "yields" else 5)
        assert all(
            len(row) == len(chart.table(RunAt(run, tick), data_of(chart, run, tick)).columns)
            for row in rows
        )


@pytest.mark.parametrize("params", RUNS, ids=range(len(RUNS)))
@pytest.mark.parametrize("tick", [1, 7, 300, 1200])
def test_the_yields_are_counted_and_their_chances_are_the_theory(params: Params, tick: int) -> None:
    run = Run(params)
    data = yield_data(run, tick)
    records = [record for at in range(1, tick + 1) if (record := run.verify_pass_at(at))]
    for row in data["here"]:
        found = sum(record.accepted + 1 == row["tokens"] for record in records)
        assert row["share"] == found / len(records)
    mean = sum(row["tokens"] * row["share"] for row in data["here"])
    assert mean == pytest.approx(run.report(tick)["tokens_per_pass"])
    mean = sum(row["tokens"] * row["share"] for row in data["theory"])
    assert mean == pytest.approx(expected_tokens_per_pass(params.rates))


@pytest.mark.parametrize("params", RUNS, ids=range(len(RUNS)))
def test_the_line_of_luck_is_the_run_and_nothing_that_is_still_to_come(params: Params) -> None:
    run = Run(params)
    assert luck_data(run, 0)["run"] == luck_data(run, 0)["here"] == []
    for tick in (1, 7, 300, 1200):
        data = luck_data(run, tick)
        assert data["run"][0]["tick"] == 1
        for row in data["run"]:
            assert row["value"] == run.report(row["tick"])["tokens_per_pass"]
        assert data["here"] == data["run"][-1:]
        # The chart spans the bands before they are there, so that it does not jump.
        highest = max(row["high"] for row in finish(luck_spread(run, tick)))
        assert data["range"][1]["value"] == pytest.approx(highest, abs=1)
        assert data["here"][0]["tick"] == tick


def test_the_spread_is_that_of_the_thousand_and_holds_about_nine_runs_in_ten() -> None:
    params = Params(evictions=(100,))
    runs = finish(ensemble(params))
    for row in finish(luck_spread(Run(params), 60)):
        values = runs.tokens_per_pass(row["tick"])
        inside = ((row["low"] <= values) & (values <= row["high"])).mean()
        assert 0.9 <= inside < (0.93 if row["tick"] > 60 else 1.01)
        half = ((row["lower"] <= values) & (values <= row["upper"])).mean()
        assert 0.5 <= half < (0.6 if row["tick"] > 60 else 1.01)
        assert row["low"] <= row["lower"] <= row["upper"] <= row["high"]
    # Other seeds of the scalar core fall where the thousand say: 90 of 100, 5 standard deviations.
    tick = TICKS[-12]
    row = next(row for row in finish(luck_spread(Run(params), 60)) if row["tick"] == tick)
    inside = sum(
        row["low"] <= Run(replace(params, seed=seed)).report(tick)["tokens_per_pass"] <= row["high"]
        for seed in range(100)
    )
    assert 75 <= inside <= 100
    for row in finish(yield_spread(Run(params), tick)):
        assert row["low"] <= chances_of_tokens(params.rates)[row["tokens"] - 1] <= row["high"]
    assert finish(yield_spread(Run(params), 0)) == []
