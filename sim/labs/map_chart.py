"""The chart of where speculation wins: speedup by draft length and acceptance rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from sim.chart import Data, Rows, Stop, Table, here, specification
from sim.params import Params
from sim.settings import link
from sim.theory import expected_tokens_per_pass, plain_pass, verify_time
from sim.view import View
from sim.words import figure, many

LENGTHS = range(1, 17)
"""Draft lengths that the charts span: those of the slider."""

STEP = 0.01
RATES = tuple(index / 100 for index in range(1, 100))
TOLD = tuple(index / 10 for index in range(1, 10))
"""Rates of the map, and those of its table."""

LOWEST, HIGHEST = RATES[0] - STEP / 2, RATES[-1] + STEP / 2
ROW = 2
"""Pixels that each rate of the map is high."""


class Costs(NamedTuple):
    """What the map depends on beside the two rates of its axes."""

    draft_cost: float
    round_cost: float
    batch_size: int
    knee: int


GAINS, LONGER, LOSES = "gains", "longer", "loses"
"""What can be said of the best draft length at a rate: that there is one, or why there is none."""

TOLD_AS: dict[str, Callable[[int], str]] = {
    GAINS: str,
    LONGER: lambda k: f"the longer, the better; {k} here",
    LOSES: lambda k: f"none gains; {k} loses least",
}
"""How a row of the table writes it."""

SAID = {
    LONGER: "no best length: drafts are free here,\nand longer ones never slower",
    LOSES: "no best length: none is faster here\nthan plain decoding",
}


class Best(NamedTuple):
    """The draft length of the map that is fastest at a rate, and whether it is a best one."""

    k: int
    speedup: float
    verdict: str


def _params(costs: Costs, k: int) -> Params:
    return Params(draft_length=k, **costs._asdict())


@lru_cache(maxsize=8)
def _times(costs: Costs) -> dict[int, float]:
    """Time of a round by draft length."""
    return {k: verify_time(_params(costs, k), 1 + k) for k in LENGTHS}


def best_at(costs: Costs, rate: float) -> Best:
    """The best draft length of the map at this rate, compared unrounded.

    There is none where no length is faster than plain decoding; nor where a draft more costs
    nothing, so that each length is better than the one before, by less than can be told in the end.
    """
    plain, times = plain_pass(_params(costs, 1)), _times(costs)
    best, gained, took = 0, 0.0, 0.0
    for k in LENGTHS:
        tokens = expected_tokens_per_pass((rate,) * k)
        gains = tokens * plain / times[k]
        if gains > gained or (gains == gained and times[k] == took):
            best, gained, took = k, gains, times[k]
    if expected_tokens_per_pass((rate,) * best) * plain <= took:
        return Best(best, gained, LOSES)
    if len(set(times.values())) == 1:
        return Best(best, gained, LONGER)
    return Best(best, gained, GAINS)


@lru_cache(maxsize=8)
def _map(costs: Costs) -> tuple[Rows, Rows, Rows, Rows]:
    """Cells of the map, where it crosses 1, its ridge, and what is said where there is none."""
    cells: Rows = []
    even: Rows = []
    times, plain = _times(costs), plain_pass(_params(costs, 1))
    for k in LENGTHS:
        gain = plain / times[k]
        before: float | None = None
        for rate in RATES:
            speedup = expected_tokens_per_pass((rate,) * k) * gain
            cells.append({"k": k, "alpha": rate, "speedup": round(speedup, 3)})
            if before is not None and before < 1 <= speedup:  # between the two, about in line
                part = (1 - before) / (speedup - before)
                even.append({"k": k, "alpha": round(rate - STEP + STEP * part, 4)})
            before = speedup
    found = {rate: best_at(costs, rate) for rate in RATES}
    ridge: Rows = [{"k": b.k, "alpha": rate} for rate, b in found.items() if b.verdict == GAINS]
    said = SAID[found[RATES[-1]].verdict] if not ridge else ""
    return cells, even, ridge, [{"said": said}] if said else []


def _costs(params: Params) -> Costs:
    return Costs(params.draft_cost, params.round_cost, params.batch_size, params.knee)


def map_data(params: Params) -> Data:
    """Speedup by draft length and acceptance rate at these draft costs, batch and knee.

    `even` is where it is 1, `best` the best draft length of each rate that has one, `none` says why
    no rate has, `here` is this scene's place.
    """
    cells, even, best, none = _map(_costs(params))
    k, rate = params.draft_length, params.acceptance_rate
    placed = params.speculation and not params.acceptance_rates and k in LENGTHS
    place: Rows = [{"k": k, "alpha": rate}] if placed else []
    return {"cells": cells, "even": even, "best": best, "none": none, "here": place}


def map_table(params: Params, tick: int) -> Table:
    """The best draft length of each rate, and what it brings; each row leads there.

    Where there is none, to the length that loses least, or the longest of those that are free.
    """
    rows, links = [], []
    for rate in TOLD:
        best = best_at(_costs(params), rate)
        rows.append([f"{rate:g}", TOLD_AS[best.verdict](best.k), figure("speedup", best.speedup)])
        there = replace(
            params,
            speculation=True,
            draft_length=best.k,
            acceptance_rate=rate,
            acceptance_rates=(),
        )
        links.append(link("", there, View(tick=tick)))
    return Table(["acceptance rate", "best draft length", "speedup"], rows, links)


def map_stops(data: Data) -> list[Stop]:
    """Every cell."""
    return [
        Stop(
            row["k"],
            f"{many(row['k'], 'draft')} at α = {row['alpha']:g}: "
            f"speedup {figure('speedup', row['speedup'])}.",
            row["alpha"],
        )
        for row in data["cells"]
    ]


def map_clicked(row: Mapping[str, Any]) -> dict[str, object]:
    """Go to a place of the map."""
    if "k" in row and "alpha" in row:
        return {"k": row["k"], "alpha": row["alpha"], "rates": None}
    return {}


DRAFT_LENGTH = {
    "field": "k",
    "type": "quantitative",
    "title": "draft length",
    "scale": {"domain": [0.5, 16.5], "nice": False},
    "axis": {"values": [1, 2, 4, 6, 8, 10, 12, 14, 16], "grid": False},
}


def map_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 2: where speculation wins and where it loses."""
    rate = {
        "field": "alpha",
        "type": "quantitative",
        "title": "acceptance rate α",
        "scale": {"domain": [LOWEST, HIGHEST], "nice": False},
        "axis": {"grid": False, "values": [0.2, 0.4, 0.6, 0.8]},
    }
    place = {"x": DRAFT_LENGTH, "y": rate}
    lost, won = colours["rejected"], colours["verify"]
    if lost == won:  # forced colours have no second one: only what wins is filled
        lost = colours["ground"]
    ranged = [lost, colours["ground"], won]
    spec = specification(
        colours,
        "Map of the speedup by draft length and acceptance rate; the full line is where it is 1, "
        "the broken one the best draft length of each rate that has one, the point is this scene.",
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
                    "x": {**DRAFT_LENGTH, "field": "left"},
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
            *(
                {
                    "data": {"name": "none"},
                    "mark": {
                        "type": "text",
                        "fontSize": 13,
                        "lineBreak": "\n",
                        "x": {"expr": "width / 2"},
                        "y": {"expr": "height / 2"},
                        **outline,
                    },
                    "encoding": {"text": {"field": "said"}},
                }
                for outline in (
                    {"stroke": colours["ground"], "strokeWidth": 5, "strokeJoin": "round"},
                    {"color": colours["ink"]},
                )
            ),
            here(colours, **place),
        ],
    )
    # Each rate is a row of whole pixels, so that no seams show.
    spec["height"], spec["autosize"] = ROW * len(RATES), {**spec["autosize"], "type": "fit-x"}
    return spec
