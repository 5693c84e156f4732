"""The chart of survival by position: how often a draft counts, and what engines print of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sim.chart import Data, Stop, Table, specification
from sim.params import Params
from sim.theory import survival

CONDITIONAL = "accepted, given all before"
CUMULATIVE = "accepted at all, as vLLM prints"


def survival_data(params: Params) -> Data:
    """By position of the draft: its own rate, and the chance that it and all before it count.

    With speculation off those of the drafts that there would be.
    """
    rates = replace(params, speculation=True).rates
    return {
        "bars": [
            {"position": i, "chance": chance, "who": CUMULATIVE}
            for i, chance in enumerate(survival(rates), start=1)
        ],
        "rates": [
            {"position": i, "chance": rate, "who": CONDITIONAL}
            for i, rate in enumerate(rates, start=1)
        ],
    }


def survival_table(data: Data) -> Table:
    """The same, a row for each position, and what it comes to."""
    rows = [
        [str(rate["position"]), f"{rate['chance']:.3f}", f"{bar['chance']:.3f}"]
        for rate, bar in zip(data["rates"], data["bars"], strict=True)
    ]
    tokens = 1.0
    for bar in data["bars"]:
        tokens += bar["chance"]
    whole = ["1 + the sum: tokens per pass", "", f"{tokens:.3f}"]
    return Table(["position of the draft", CONDITIONAL, CUMULATIVE], [*rows, whole])


def survival_stops(data: Data) -> list[Stop]:
    """Each position."""
    return [
        Stop(
            rate["position"],
            f"Draft {rate['position']}: {rate['chance']:.3f} given all before it, "
            f"{bar['chance']:.3f} at all.",
        )
        for rate, bar in zip(data["rates"], data["bars"], strict=True)
    ]


def survival_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 8: conditional rates against cumulative ones."""
    position = {
        "field": "position",
        "type": "ordinal",
        "title": "position of the draft",
        "axis": {"labelAngle": 0, "labelOverlap": True},
    }
    chance = {
        "field": "chance",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "tickCount": 5},
    }
    ranged = [colours["ink"], colours["accepted"]]
    who = {
        "field": "who",
        "type": "nominal",
        "scale": {"domain": [CONDITIONAL, CUMULATIVE], "range": ranged},
        "legend": {"columns": {"expr": "width < 420 ? 1 : 2"}, "symbolType": "square"},
    }
    place = {"x": position, "y": chance, "color": who}
    wide = {"width": {"band": 0.7}}
    return specification(
        colours,
        "By position of the draft, ticks: the rate at which it is accepted given that all before "
        "it were; bars: how often it is accepted at all, the product of the rates up to it.",
        [
            {"data": {"name": "bars"}, "mark": {"type": "bar", **wide}, "encoding": place},
            {
                "data": {"name": "rates"},
                "mark": {"type": "tick", "thickness": 3, "opacity": 1, **wide},
                "encoding": place,
            },
        ],
    )
