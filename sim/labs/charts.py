"""The charts of the text: those of the theory are made here, and all are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sim.chart import LINES, Chart, Data, Rows, Stop, Table, here, specification
from sim.labs.map_chart import (
    DRAFT_LENGTH,
    LENGTHS,
    map_clicked,
    map_data,
    map_spec,
    map_stops,
    map_table,
)
from sim.labs.memory_chart import memory_data, memory_spec, memory_stops, memory_table
from sim.labs.overlap_chart import overlap_data, overlap_spec, overlap_stops, overlap_table
from sim.labs.roofline_chart import (
    roofline_data,
    roofline_spec,
    roofline_stops,
    roofline_table,
)
from sim.labs.run_charts import RUN_CHARTS, RunAt
from sim.labs.survival_chart import (
    survival_data,
    survival_spec,
    survival_stops,
    survival_table,
)
from sim.params import Params
from sim.theory import expected_speedup, expected_tokens_per_pass
from sim.words import figure, many

TOKENS, SPEEDUP = "tokens per pass", "speedup"
METRIC_OF = {TOKENS: "tokens_per_pass", SPEEDUP: "speedup"}
"""The metric that a line of the chart shows."""


def length_data(params: Params) -> Data:
    """Tokens per pass and speedup by draft length, and where this scene is.

    With the cache off there is no speedup to expect; with speculation off no place for a scene.
    """
    lines: Rows = []
    for k in LENGTHS:
        there = replace(params, speculation=True, draft_length=k)
        values = (
            (TOKENS, expected_tokens_per_pass(there.rates)),
            (SPEEDUP, expected_speedup(there)),
        )
        lines += [
            {"k": k, "measure": name, "value": value} for name, value in values if value is not None
        ]
    placed = [row for row in lines if params.speculation and row["k"] == params.draft_length]
    return {"lines": lines, "here": placed}


def _told(data: Data) -> dict[int, dict[str, str]]:
    """The measures of each draft length, written."""
    told: dict[int, dict[str, str]] = {}
    for row in data["lines"]:
        measure = row["measure"]
        told.setdefault(row["k"], {})[measure] = figure(METRIC_OF[measure], row["value"])
    return told


def length_table(data: Data) -> Table:
    """The same by draft length, a row each."""
    return Table(
        ["draft length", TOKENS, SPEEDUP],
        [[str(k), told[TOKENS], told.get(SPEEDUP, "–")] for k, told in _told(data).items()],
    )


def length_stops(data: Data) -> list[Stop]:
    """Both measures of each draft length."""
    return [
        Stop(k, f"{many(k, 'draft')}: {', '.join(f'{name} {n}' for name, n in told.items())}.")
        for k, told in _told(data).items()
    ]


def length_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 1: what another draft buys, in tokens and in time."""
    colour = {
        "field": "measure",
        "type": "nominal",
        "scale": {"domain": [TOKENS, SPEEDUP], "range": [colours["proposed"], colours["ink"]]},
        "legend": LINES,
    }
    value = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True},
        "axis": {"tickCount": 5},
    }
    both = {"x": DRAFT_LENGTH, "y": value, "color": colour}
    return specification(
        colours,
        "Lines: tokens per pass and speedup by draft length; points: this scene.",
        [
            {
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": colours["muted"]},
                "encoding": {"y": {"datum": 1, "type": "quantitative"}},
            },
            {
                "data": {"name": "lines"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    **both,
                    "strokeDash": {
                        **colour,
                        "scale": {"domain": [TOKENS, SPEEDUP], "range": [[1, 0], [6, 3]]},
                    },
                },
            },
            here(colours, x=DRAFT_LENGTH, y=value),
        ],
    )


CHARTS: tuple[Chart[RunAt], ...] = (
    Chart(
        "length",
        "Tokens per pass and speedup by draft length",
        length_spec,
        lambda at: length_data(at.run.params),
        lambda _at, data: length_table(data),
        stops=lambda _at, data: length_stops(data),
    ),
    Chart(
        "map",
        "The best draft length by acceptance rate, and its speedup",
        map_spec,
        lambda at: map_data(at.run.params),
        lambda at, _data: map_table(at.run.params, at.tick),
        clicked=map_clicked,
        renderer="canvas",
        stops=lambda _at, data: map_stops(data),
    ),
    *RUN_CHARTS,
    Chart(
        "roofline",
        "The time of a pass by the tokens in it",
        roofline_spec,
        lambda at: roofline_data(*at),
        lambda at, _data: roofline_table(*at),
        stops=lambda at, data: roofline_stops(*at, data),
    ),
    Chart(
        "overlap",
        "What two models say of the next word, and their overlap",
        overlap_spec,
        lambda _at: overlap_data(),
        lambda _at, _data: overlap_table(),
        stops=lambda _at, _data: overlap_stops(),
    ),
    Chart(
        "survival",
        "Acceptance by position of the draft, conditional and cumulative",
        survival_spec,
        lambda at: survival_data(at.run.params),
        lambda _at, data: survival_table(data),
        stops=lambda _at, data: survival_stops(data),
    ),
    Chart(
        "memory",
        "80 GB, filled with weights and conversations",
        memory_spec,
        lambda _at: memory_data(),
        lambda _at, data: memory_table(data),
        stops=lambda _at, data: memory_stops(data),
    ),
)
"""Every chart of the text."""
