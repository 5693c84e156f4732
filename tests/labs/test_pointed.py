"""What colours mean in every chart, and where one is."""

from __future__ import annotations

import json

import pytest

from sim.chart import Chart
from sim.labs.charts import CHARTS
from sim.labs.run_charts import RunAt
from sim.marks import PALETTES


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_green_is_what_was_accepted_and_blue_the_pass_s_own_token_in_every_chart(
    chart: Chart[RunAt],
) -> None:
    for theme in ("light", "dark"):
        palette = PALETTES[theme]
        drawn = json.dumps(chart.spec(palette))
        assert palette["accepted"] not in drawn
        assert palette["bonus"] not in drawn


def test_you_are_here_is_drawn_alike_in_every_chart_that_has_a_place() -> None:
    looks: dict[str, object] = {}
    for chart in CHARTS:
        for layer in chart.spec(PALETTES["light"])["layer"]:
            if layer.get("data") == {"name": "here"} and layer["mark"]["type"] == "point":
                looks[chart.name] = layer["mark"]
    assert set(looks) == {"length", "map", "positions", "luck"}
    assert all(look == looks["map"] for look in looks.values())
