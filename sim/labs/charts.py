"""The charts of the text: those of the theory are made here, and all are listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from sim.chart import LINES, Chart, Data, Rows, Table, specification
from sim.labs.run_charts import RUN_CHARTS, RunAt
from sim.params import Params
from sim.settings import link
from sim.theory import expected_speedup, expected_tokens_per_pass, plain_pass, verify_time
from sim.view import View
from sim.words import figure

LENGTHS = range(1, 17)
"""Draft lengths that the charts span: those of the slider."""

STEP = 0.01
RATES = tuple(index / 100 for index in range(1, 100))
TOLD = tuple(index / 10 for index in range(1, 10))
"""Rates of the map, and those of its table."""

LOWEST, HIGHEST = RATES[0] - STEP / 2, RATES[-1] + STEP / 2
ROW = 2
"""Pixels that each rate of the map is high."""

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
    here = [row for row in lines if params.speculation and row["k"] == params.draft_length]
    return {"lines": lines, "here": here}


def length_table(params: Params) -> Table:
    """The same by draft length, a row each."""
    rows: dict[int, dict[str, str]] = {}
    for row in length_data(params)["lines"]:
        measure = row["measure"]
        rows.setdefault(row["k"], {})[measure] = figure(METRIC_OF[measure], row["value"])
    return Table(
        ["draft length", TOKENS, SPEEDUP],
        [[str(k), told[TOKENS], told.get(SPEEDUP, "–")] for k, told in rows.items()],
    )


class Costs(NamedTuple):
    """What the map depends on beside the two rates of its axes."""

    draft_cost: float
    round_cost: float
    batch_size: int
    knee: int


@lru_cache(maxsize=8)
def _map(costs: Costs) -> tuple[Rows, Rows, Rows]:
    """Cells of the map, where it crosses 1, and its ridge."""
    cells: Rows = []
    even: Rows = []
    best: dict[float, tuple[float, int]] = {}
    for k in LENGTHS:
        params = Params(draft_length=k, **costs._asdict())
        gain = plain_pass(params) / verify_time(params, 1 + k)
        before: float | None = None
        for rate in RATES:
            speedup = expected_tokens_per_pass((rate,) * k) * gain
            cells.append({"k": k, "alpha": rate, "speedup": round(speedup, 3)})
            if before is not None and before < 1 <= speedup:  # between the two, about in line
                part = (1 - before) / (speedup - before)
                even.append({"k": k, "alpha": round(rate - STEP + STEP * part, 4)})
            before = speedup
            if rate not in best or speedup > best[rate][0]:
                best[rate] = speedup, k
    return cells, even, [{"k": k, "alpha": rate} for rate, (_, k) in best.items()]


def map_data(params: Params) -> Data:
    """Speedup by draft length and acceptance rate at these draft costs, batch and knee.

    `even` is where it is 1, `best` the best draft length of each rate, `here` this scene's place.
    """
    costs = Costs(params.draft_cost, params.round_cost, params.batch_size, params.knee)
    cells, even, best = _map(costs)
    k, rate = params.draft_length, params.acceptance_rate
    placed = params.speculation and not params.acceptance_rates and k in LENGTHS
    here: Rows = [{"k": k, "alpha": rate}] if placed else []
    return {"cells": cells, "even": even, "best": best, "here": here}


def map_table(params: Params, tick: int) -> Table:
    """The best draft length of each rate, and what it brings; each row leads there."""
    data = map_data(params)
    best = {row["alpha"]: row["k"] for row in data["best"]}
    there = {
        rate: replace(
            params,
            speculation=True,
            draft_length=best[rate],
            acceptance_rate=rate,
            acceptance_rates=(),
        )
        for rate in TOLD
    }
    return Table(
        ["acceptance rate", "best draft length", SPEEDUP],
        [
            # The map is one of a warm cache, whatever the scene's is.
            [
                f"{rate:g}",
                str(best[rate]),
                figure("speedup", expected_speedup(replace(place, kv_cache=True))),
            ]
            for rate, place in there.items()
        ],
        [link("", place, View(tick=tick)) for place in there.values()],
    )


def map_clicked(row: Mapping[str, Any]) -> dict[str, object]:
    """Go to a place of the map."""
    if "k" in row and "alpha" in row:
        return {"k": row["k"], "alpha": row["alpha"], "rates": None}
    return {}


_K = {
    "field": "k",
    "type": "quantitative",
    "title": "draft length",
    "scale": {"domain": [0.5, 16.5], "nice": False},
    "axis": {"values": [1, 2, 4, 6, 8, 10, 12, 14, 16], "grid": False},
}


def length_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 1: what another draft buys, in tokens and in time."""
    colour = {
        "field": "measure",
        "type": "nominal",
        "scale": {"domain": [TOKENS, SPEEDUP], "range": [colours["accepted"], colours["bonus"]]},
        "legend": LINES,
    }
    value = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True},
        "axis": {"tickCount": 5},
    }
    both = {"x": _K, "y": value, "color": colour}
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
            {
                "data": {"name": "here"},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": both,
            },
        ],
    )


def map_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 2: where speculation wins and where it loses."""
    rate = {
        "field": "alpha",
        "type": "quantitative",
        "title": "acceptance rate α",
        "scale": {"domain": [LOWEST, HIGHEST], "nice": False},
        "axis": {"grid": False, "values": [0.2, 0.4, 0.6, 0.8]},
    }
    place = {"x": _K, "y": rate}
    lost, won = colours["evicted"], colours["accepted"]
    if lost == won:  # forced colours have no second one: only what wins is filled
        lost = colours["ground"]
    ranged = [lost, colours["ground"], won]
    spec = specification(
        colours,
        "Map of the speedup by draft length and acceptance rate; the full line is where it is 1, "
        "the broken one the best draft length of each rate, the point is this scene.",
        [
            {
                "data": {"name": "cells"},
                "transform": [
                    {"calculate": "datum.k - 0.51", "as": "left"},
                    {"calculate": "datum.k + 0.51", "as": "right"},
                    {"calculate": "datum.alpha - 0.005", "as": "low"},
                    {"calculate": "datum.alpha + 0.005", "as": "high"},
                ],
                "mark": {"type": "rect", "strokeWidth": 0, "cursor": "pointer"},
                "encoding": {
                    "x": {**_K, "field": "left"},
                    "x2": {"field": "right"},
                    "y": {**rate, "field": "low"},
                    "y2": {"field": "high"},
                    "color": {
                        "field": "speedup",
                        "type": "quantitative",
                        "scale": {
                            "domain": [0.2, 1, 4],
                            "range": ranged,
                            "clamp": True,
                            "interpolate": "rgb",
                        },
                        "legend": {
                            "gradientLength": 200,
                            "format": "~r",
                            "labelOverlap": False,
                            "gradientStrokeColor": colours["line"],
                            "values": [0.2, 1, 2, 4],
                            "labelExpr": "datum.value == 4 ? '4 or more' : datum.label",
                            "title": "speedup",
                            "titleFontWeight": "normal",
                        },
                    },
                },
            },
            {
                "data": {"name": "best"},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "strokeDash": [3, 3],
                    "strokeWidth": 1.5,
                    "color": colours["ink"],
                },
                "encoding": {**place, "order": {"field": "alpha", "type": "quantitative"}},
            },
            {
                "data": {"name": "even"},
                "mark": {"type": "line", "strokeWidth": 2, "color": colours["ink"]},
                "encoding": place,
            },
            {
                "data": {"name": "here"},
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 150,
                    "opacity": 1,
                    "color": colours["bonus"],
                    "stroke": colours["ground"],
                    "strokeWidth": 2,
                },
                "encoding": place,
            },
        ],
    )
    # Each rate is a row of whole pixels, so that no seams show.
    spec["height"], spec["autosize"] = ROW * len(RATES), {**spec["autosize"], "type": "fit-x"}
    return spec


CHARTS: tuple[Chart[RunAt], ...] = (
    Chart(
        "length",
        "Tokens per pass and speedup by draft length",
        length_spec,
        lambda at: length_data(at.run.params),
        lambda at, _data: length_table(at.run.params),
    ),
    Chart(
        "map",
        "The best draft length by acceptance rate, and its speedup",
        map_spec,
        lambda at: map_data(at.run.params),
        lambda at, _data: map_table(at.run.params, at.tick),
        clicked=map_clicked,
        renderer="canvas",
    ),
    *RUN_CHARTS,
)
"""Every chart of the text."""
