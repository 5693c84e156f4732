"""The picture of the time of a pass: its line is the model's, and the scene's passes are on it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sim.labs.roofline_chart import roofline_data, roofline_stops, roofline_table
from sim.params import HORIZON, Params
from sim.run import Run
from tests.labs.charts import texts
from tests.labs.scenes import every_setting


@every_setting
def test_the_line_is_level_up_to_the_knee_and_goes_through_the_scene_s_passes(
    params: Params,
) -> None:
    data = roofline_data(Run(params), 60)
    line = {row["tokens"]: row["time"] for row in data["line"]}
    assert min(line) == 1
    assert params.knee in line
    assert max(line) >= 4 * params.knee
    assert max(line) >= 4 * data["here"][0]["tokens"]
    assert all(time == max(1, tokens / params.knee) for tokens, time in line.items())
    assert [row["tokens"] for row in data["knee"]] == [params.knee]
    if params.kv_cache:
        width = 1 + len(params.rates)
        wanted = sorted({1, width, width * params.batch_size})
        assert [row["tokens"] for row in data["passes"]] == wanted
    for row in data["passes"]:
        assert row["time"] == max(1, row["tokens"] / params.knee)
    assert data["here"] == data["passes"][-1:]


def test_the_passes_are_named_with_their_sizes_once_each() -> None:
    def names(params: Params) -> list[str]:
        return [row["what"] for row in roofline_data(Run(params), 60)["passes"]]

    assert names(Params()) == ["one position", "k + 1 = 5"]
    assert names(Params(batch_size=64)) == ["one position", "k + 1 = 5", "batch × (k + 1) = 320"]
    assert names(Params(speculation=False)) == ["one position"]
    off = Params(kv_cache=False, batch_size=2)
    known = Run(off).at(60).num_tokens
    assert names(off) == [
        "one position",
        f"text and drafts = {known + 4}",
        f"batch × (text and drafts) = {2 * (known + 4)}",
    ]


@every_setting
def test_the_scene_s_place_on_the_line_is_what_its_next_verify_pass_pays(params: Params) -> None:
    tick = 300
    run = Run(params)
    (here,) = roofline_data(run, tick)["here"]
    free = Run(replace(params, draft_cost=0.0))
    after = next(t for t in range(tick + 1, HORIZON) if free.verify_pass_at(t))
    if params.kv_cache:
        paid = free.report(after)["time"] - free.report(after - 1)["time"]
        assert here["time"] == pytest.approx(paid)
    else:
        paid = free.report(tick + 1)["time"] - free.report(tick)["time"]
        assert here["time"] == pytest.approx(paid)


@every_setting
def test_the_table_of_passes_and_what_is_pointed_at_tell_the_times(params: Params) -> None:
    run = Run(params)
    rows = roofline_table(run, 60).rows
    told = {int(row[1].replace(",", "")): float(row[2].replace(",", "")) for row in rows}
    for tokens, time in told.items():
        assert time == pytest.approx(max(1, tokens / params.knee), abs=0.005)
    assert {params.batch_size, params.knee, 4 * params.knee, 1} <= set(told)
    data = roofline_data(run, 60)
    stops = roofline_stops(run, 60, data)
    at = [int(str(stop.x)) for stop in stops]
    assert at == sorted(set(at))
    assert {row["tokens"] for row in data["passes"]} <= set(at)
    for stop, tokens in zip(stops, at, strict=True):
        time = float(re.findall(r"([\d.,]+) memory-bound", stop.text)[0].replace(",", ""))
        assert time == pytest.approx(max(1, tokens / params.knee), rel=0.005)


def test_a_pass_pointed_at_is_told_with_its_name() -> None:
    crowd = texts("roofline", Params(batch_size=64))
    assert crowd[320] == ("320 tokens in a pass (batch × (k + 1) = 320): 1.25 memory-bound passes.")
    assert crowd[256] == "256 tokens in a pass (the knee): 1.00 memory-bound passes."
