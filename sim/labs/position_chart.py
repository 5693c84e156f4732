"""The chart of what a kept cache saves: positions computed by tokens written, and without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sim.chart import LINES, Data, Rows, Table, specification
from sim.params import HORIZON, SLOTS, Params
from sim.run import Run

ON, OFF = "KV cache on", "KV cache off"

SPAN = 2 * SLOTS
"""Tokens that the chart of positions spans."""

GRAIN = 16
"""Tokens between two points of its lines."""

TOLD_TOKENS = (64, 128, 256, 512, 1024)


@lru_cache(maxsize=4)
def _work(params: Params) -> Rows:
    """Positions computed until there were so many tokens: about `SPAN / GRAIN` points."""
    run, rows, wanted = Run(params), [], 1
    for tick in range(1, HORIZON + 1):
        state = run.at(tick)
        tokens = state.num_tokens - 1
        if tokens >= wanted:
            cache = ON if params.kv_cache else OFF
            rows.append({"cache": cache, "tokens": tokens, "positions": state.positions_computed})
            wanted = tokens - tokens % GRAIN + GRAIN
        if tokens >= SPAN:
            break
    return rows


def position_data(run: Run, tick: int) -> Data:
    """Positions computed by tokens, with the cache and without; and where this run is."""
    state = run.at(tick)
    tokens = state.num_tokens - 1
    here = {
        "cache": ON if run.params.kv_cache else OFF,
        "tokens": tokens,
        "positions": state.positions_computed,
    }
    lines = [row for kept in (True, False) for row in _work(replace(run.params, kv_cache=kept))]
    return {"lines": lines, "here": [here] if 0 < tokens <= SPAN else []}


def position_table(_run: Run, _tick: int, data: Data) -> Table:
    """The same at a few lengths, and how many times as many positions it is without the cache."""
    rows = []
    for tokens in TOLD_TOKENS:
        reached = {
            cache: [
                row["positions"]
                for row in data["lines"]
                if row["cache"] == cache and row["tokens"] >= tokens
            ][:1]
            for cache in (ON, OFF)
        }
        if reached[ON] and reached[OFF]:
            (kept,), (not_kept,) = reached[ON], reached[OFF]
            times = f"{not_kept / kept:,.0f} ×"
            rows.append([f"{tokens:,}", f"{kept:,}", f"{not_kept:,}", times])
    return Table(["tokens", ON, OFF, "without ÷ with"], rows)


def position_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 4: what a kept cache saves."""
    tokens = {
        "field": "tokens",
        "type": "quantitative",
        "title": "tokens written",
        "scale": {"domain": [0, SPAN], "nice": False},
        "axis": {"values": [0, 256, 512, 768, 1024], "grid": False, "format": ",d"},
    }
    positions = {
        "field": "positions",
        "type": "quantitative",
        "title": "positions computed",
        "scale": {"type": "log"},
        "axis": {"values": [1, 10, 100, 1000, 10_000, 100_000, 1_000_000], "format": "~s"},
    }
    colour = {
        "field": "cache",
        "type": "nominal",
        "scale": {"domain": [ON, OFF], "range": [colours["accepted"], colours["evicted"]]},
        "legend": LINES,
    }
    both = {"x": tokens, "y": positions, "color": colour}
    dash = {**colour, "scale": {"domain": [ON, OFF], "range": [[1, 0], [6, 3]]}}
    return specification(
        colours,
        "Lines: positions computed by the time so many tokens are written, with the KV cache and "
        "without, each line of the grid ten times the one below; the point is this run.",
        [
            {
                "data": {"name": "lines"},
                "mark": {"type": "line", "strokeWidth": 2, "clip": True},
                "encoding": {**both, "strokeDash": dash},
            },
            {
                "data": {"name": "here"},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": both,
            },
        ],
    )
