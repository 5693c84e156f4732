"""Values to point at, in every chart; what colours mean in all of them, and where one is."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from sim.chart import OTHERS, Chart, Stop, moved
from sim.labs.charts import CHARTS
from sim.labs.run_charts import RunAt
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from tests.labs.charts import BY_NAME, data_of, texts
from tests.labs.scenes import every_setting


@every_setting
@pytest.mark.parametrize("tick", [0, 60, 1200])
def test_every_chart_has_its_values_to_point_at_from_left_to_right(
    params: Params, tick: int
) -> None:
    run = Run(params)
    for chart in CHARTS:
        assert chart.has_stops
        stops = chart.stops(RunAt(run, tick), data_of(chart, run, tick))
        drafted = len(replace(params, speculation=True).rates)
        least = {"yields": 1 + len(params.rates), "survival": drafted}
        assert len(stops) >= least.get(chart.name, 4)
        assert all(re.fullmatch(r".+: .+\.", stop.text) for stop in stops), chart.name
        if chart.name == "overlap":
            assert [stop.x for stop in stops] == ["the", "a", "his", "no"]
        else:
            places = [(float(str(s.x)), float(str(s.y or 0))) for s in stops]
            assert places == sorted(set(places))
        assert len({stop.y is None for stop in stops}) == 1


def test_what_is_pointed_at_says_what_the_table_does() -> None:
    assert texts("length")[4] == "4 drafts: tokens per pass 3.36, speedup 2.40."
    assert texts("length", Params(kv_cache=False))[1] == "1 draft: tokens per pass 1.80."
    assert texts("map")[4, 0.8] == "4 drafts at α = 0.8: speedup 2.40."
    run, at = Run(Params()), RunAt(Run(Params()), 60)
    for name, place in (("yields", 5), ("luck", 60)):
        rows = BY_NAME[name].table(at, data_of(BY_NAME[name], run, 60)).rows
        (row,) = [row for row in rows if row[0] == str(place)]
        for cell in row[1:]:
            assert cell in texts(name)[place]
        plain = BY_NAME[name].data(at)
        assert OTHERS not in plain
        told = {stop.x: stop.text for stop in BY_NAME[name].stops(at, plain)}[place]
        assert "other seeds" not in told


def test_arrow_keys_lead_through_the_values_and_stop_at_either_end() -> None:
    line = [Stop(n, "") for n in range(4)]
    assert [moved(line, 1, key) for key in ("ArrowLeft", "ArrowRight", "Home", "End")] == [
        0, 2, 0, 3,
    ]  # fmt: skip
    assert moved(line, 0, "ArrowLeft") == 0
    assert moved(line, 3, "ArrowRight") == 3
    assert {moved(line, 1, key) for key in ("ArrowUp", "ArrowDown", "Tab", "a")} == {None}
    field = [Stop(x, "", y) for x in range(3) for y in range(5)]
    assert moved(field, 6, "ArrowRight") == 11
    assert moved(field, 11, "ArrowRight") == 11
    assert moved(field, 6, "ArrowLeft") == 1
    assert moved(field, 1, "ArrowLeft") == 1
    assert [moved(field, at, "ArrowUp") for at in (5, 9)] == [6, 9]
    assert [moved(field, at, "ArrowDown") for at in (6, 5)] == [5, 5]
    assert moved(field, 6, "End") == 14


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_green_is_what_was_accepted_and_blue_the_pass_s_own_token_in_every_chart(
    chart: Chart[RunAt],
) -> None:
    for theme in ("light", "dark"):
        palette = PALETTES[theme]
        drawn = json.dumps(chart.spec(palette))
        assert (palette["accepted"] in drawn) == (chart.name in ("overlap", "survival"))
        assert (palette["bonus"] in drawn) == (chart.name == "overlap")


def test_you_are_here_is_drawn_alike_in_every_chart_that_has_a_place() -> None:
    looks: dict[str, object] = {}
    for chart in CHARTS:
        for layer in chart.spec(PALETTES["light"])["layer"]:
            if layer.get("data") == {"name": "here"} and layer["mark"]["type"] == "point":
                looks[chart.name] = layer["mark"]
    assert set(looks) == {"length", "map", "positions", "luck", "roofline"}
    assert all(look == looks["map"] for look in looks.values())
