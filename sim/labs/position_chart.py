"""The chart of what a kept cache saves: the positions that each pass computes, with it and without.

Passes go across and positions down, one column a pass, so that an area is a number of positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sim.cache import window_start
from sim.chart import Data, Rows, Stop, Table, here, specification
from sim.params import HORIZON, SLOTS, Params
from sim.run import Run
from sim.words import many

ON, OFF = "KV cache on", "KV cache off"
NEW, AGAIN = "new positions", "computed again"

SPAN = SLOTS
"""Tokens that the chart spans: those that fill the board."""

TOLD_TOKENS = (64, 128, 256, 512, 1024)


@lru_cache(maxsize=4)
def _passes(params: Params) -> tuple[Rows, Rows]:
    """What each pass computes until `SPAN` tokens are written: positions from `first` to `end`.

    New ones, drafts among them, and those that were computed before; `end` itself is left out.
    Pass n takes the column from n − 1 to n.
    """
    run = Run(params)
    new: Rows = []
    again: Rows = []
    for tick in range(1, HORIZON + 1):
        before, after = run.at(tick - 1), run.at(tick)
        redone = after.positions_recomputed - before.positions_recomputed
        width = after.positions_computed - before.positions_computed
        first = before.num_computed_tokens if params.kv_cache else window_start(before.num_tokens)
        middle = first + redone
        again.append({"pass": tick - 1, "first": first, "end": middle})
        fresh = middle if width > redone else before.num_tokens - 1  # in line with the diagonal
        new.append({"pass": tick - 1, "first": fresh, "end": fresh + width - redone})
        if after.num_tokens - 1 >= SPAN:
            break
    return new, again


def _closed(rows: Rows) -> Rows:
    """With a row more, where the column of the last one ends."""
    return [*rows, {**rows[-1], "pass": rows[-1]["pass"] + 1}]


def position_data(run: Run, tick: int) -> Data:
    """The passes with the cache, those without it, and where this run is."""
    new, again = _passes(replace(run.params, kv_cache=True))
    _, without = _passes(replace(run.params, kv_cache=False))
    state = run.at(tick)
    shown: Rows = [{"pass": tick - 0.5, "position": state.num_tokens - 1}]
    return {
        "without": _closed(without),
        "again": [row for row in again if row["end"] > row["first"]],
        "new": _closed(new),
        "here": shown if 0 < state.num_tokens - 1 <= SPAN else [],
    }


@lru_cache(maxsize=4)
def _totals(params: Params) -> dict[int, int]:
    """Positions computed until there were so many tokens, for the numbers of the table."""
    run, told, wanted = Run(params), {}, list(TOLD_TOKENS)
    for tick in range(1, HORIZON + 1):
        state = run.at(tick)
        while wanted and state.num_tokens - 1 >= wanted[0]:
            told[wanted.pop(0)] = state.positions_computed
        if not wanted:
            break
    return told


def position_table(run: Run) -> Table:
    """How many positions it takes to write so many tokens, and how many times as many without."""
    kept, not_kept = (_totals(replace(run.params, kv_cache=on)) for on in (True, False))
    return Table(
        ["tokens", ON, OFF, "without ÷ with"],
        [
            [f"{n:,}", f"{kept[n]:,}", f"{not_kept[n]:,}", f"{not_kept[n] / kept[n]:,.0f} ×"]
            for n in TOLD_TOKENS
            if n in kept and n in not_kept
        ],
    )


def position_stops(run: Run, data: Data) -> list[Stop]:
    """What each pass computes, with the cache and without."""
    width = 1 + len(run.params.rates)
    kept = {row["pass"]: row["end"] - row["first"] for row in data["new"][:-1]}
    for row in data["again"]:
        kept[row["pass"]] = row["end"] - row["first"]
    bare = {row["pass"]: row["end"] - row["first"] + width for row in data["without"][:-1]}

    def told(counts: Mapping[int, int], number: int) -> str:
        return many(counts[number], "position") if number in counts else "none any more"

    return [
        Stop(n + 0.5, f"Pass {n + 1}: with the cache {told(kept, n)}, without {told(bare, n)}.")
        for n in sorted({*kept, *bare})
    ]


def position_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 4: what a kept cache saves."""
    passes = {
        "field": "pass",
        "type": "quantitative",
        "title": "pass",
        "scale": {"nice": False, "zero": True},
        "axis": {"grid": False, "tickCount": 6, "format": ",d"},
    }
    positions = {
        "field": "first",
        "type": "quantitative",
        "title": "position in the text",
        "scale": {"reverse": True, "domain": [0, SPAN], "nice": False},
        "axis": {"values": [0, 128, 256, 384, 512], "format": ",d"},
    }
    scale = {"domain": [NEW, AGAIN], "range": [colours["verify"], colours["evicted"]]}
    what = {"field": "what", "type": "nominal", "scale": scale}
    place = {"x": passes, "y": positions, "y2": {"field": "end"}, "color": what}

    def layer(name: str, said: str, **mark: Any) -> dict[str, Any]:
        return {
            "data": {"name": name},
            "transform": [{"calculate": f"'{said}'", "as": "what"}],
            "mark": {"clip": True, **mark},
            "encoding": place,
        }

    columns = {"type": "area", "interpolate": "step-after"}
    again = layer("again", AGAIN, type="rect")
    again["transform"].append({"calculate": "datum.pass + 1", "as": "next"})
    again["encoding"] = {**place, "x2": {"field": "next"}}
    spec = specification(
        colours,
        "Passes across, positions of the text down. With the KV cache each pass computes a few new "
        "positions, a thin diagonal; without it all earlier ones again, the triangle beside it. "
        "The point is this run.",
        [
            layer("without", AGAIN, **columns, opacity=0.45),
            again,
            layer("new", NEW, **columns, opacity=1, stroke=colours["verify"], strokeWidth=1),
            here(colours, x=passes, y={**positions, "field": "position"}),
        ],
    )
    return {**spec, "height": 320}
