"""The chart of one memory for everything: weights, conversations, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.chart import Data, Rows, Stop, Table, specification
from sim.labs.facts import BYTES_EACH, CARD, CONTEXT, LAYOUTS, PARAMETERS, bytes_per_token
from sim.words import many

WEIGHTS, CONVERSATIONS, FREE = "weights", "keys and values", "free"
GIGABYTE = 1e9
STEP = 5
"""Conversations from one bar to the next."""


def memory_data() -> Data:
    """What fills the memory by number of conversations, as far as they fit, in gigabytes."""
    weights = PARAMETERS * BYTES_EACH
    each = bytes_per_token(LAYOUTS["Llama 2 7B"]) * CONTEXT
    rows: Rows = []
    for conversations in range(0, int((CARD - weights) // each) + 1, STEP):
        filled = weights + conversations * each
        bounds = ((WEIGHTS, 0.0, weights), (CONVERSATIONS, weights, filled), (FREE, filled, CARD))
        rows += [
            {
                "conversations": conversations,
                "part": part,
                "low": low / GIGABYTE,
                "high": high / GIGABYTE,
            }
            for part, low, high in bounds
        ]
    return {"bars": rows}


def _parts(data: Data) -> dict[int, dict[str, float]]:
    """Gigabytes of each part by number of conversations."""
    parts: dict[int, dict[str, float]] = {}
    for row in data["bars"]:
        parts.setdefault(row["conversations"], {})[row["part"]] = row["high"] - row["low"]
    return parts


def memory_table(data: Data) -> Table:
    """The same, a row for each number of conversations."""
    return Table(
        ["conversations", f"{WEIGHTS}, GB", f"{CONVERSATIONS}, GB", f"{FREE}, GB"],
        [
            [str(n), *(f"{part[name]:.1f}" for name in (WEIGHTS, CONVERSATIONS, FREE))]
            for n, part in _parts(data).items()
        ],
    )


def memory_stops(data: Data) -> list[Stop]:
    """Each bar."""
    return [
        Stop(
            n,
            f"{many(n, 'conversation')}: {', '.join(f'{p} {v:.1f} GB' for p, v in part.items())}.",
        )
        for n, part in _parts(data).items()
    ]


def memory_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 9: 80 GB filling up."""
    conversations = {
        "field": "conversations",
        "type": "ordinal",
        "title": f"conversations of {CONTEXT:,} tokens",
        "axis": {"labelAngle": 0},
        "scale": {"paddingInner": 0.25},
    }
    low = {
        "field": "low",
        "type": "quantitative",
        "title": "GB",
        "scale": {"domain": [0, CARD / GIGABYTE], "nice": False},
        "axis": {"values": [0, 20, 40, 60, 80]},
    }
    part = {
        "field": "part",
        "type": "nominal",
        "scale": {
            "domain": [WEIGHTS, CONVERSATIONS, FREE],
            "range": [colours["muted"], colours["proposed"], colours["empty"]],
        },
        "legend": {"symbolType": "square", "symbolStrokeColor": colours["muted"]},
    }
    return specification(
        colours,
        "Bars by number of conversations, each as high as the memory: at the foot the weights, "
        "above them keys and values, which grow with every conversation, and what is still free.",
        [
            {
                "data": {"name": "bars"},
                "mark": {"type": "bar", "stroke": colours["muted"], "strokeWidth": 0.5},
                "encoding": {
                    "x": conversations,
                    "y": low,
                    "y2": {"field": "high"},
                    "color": part,
                },
            },
        ],
    )
