"""The charts of the lab of sampling: p and q of the next word, and what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.chart import Chart, Data, Rows, Stop, Table, specification
from sim.labs.overlap_chart import (
    PART,
    SAID,
    bars_of,
    colour_key,
    overlap_data,
    overlap_stops,
    overlap_table,
    share_axis,
    word_axis,
)

COIN, RESIDUAL = "the coin", "what replaces a draft"


class Next(NamedTuple):
    """What two models say of the next word, and how far a draw of it has come."""

    target: tuple[tuple[str, float], ...]
    """Each word with its chance p, in order."""
    draft: tuple[tuple[str, float], ...]
    coin: tuple[str, float] | None = None
    """The word that was drafted, and where the coin falls in its bar: its own chance times q."""
    residual: tuple[tuple[str, float], ...] = ()
    """Once a draft was rejected: what the word is drawn from instead."""


def next_data(given: Next) -> Data:
    """The bars of p and q, the coin, and what is drawn from after a rejection."""
    data = overlap_data(dict(given.target), dict(given.draft))
    coin: Rows = []
    if given.coin:
        word, height = given.coin
        coin = [{"word": word, "model": "q", "height": height, "part": COIN}]
    instead = [
        {"word": word, "model": "p", "chance": chance, "part": RESIDUAL}
        for word, chance in given.residual
        if chance
    ]
    return {**data, "coin": coin, "instead": instead}


def next_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """p and q side by side: what both share is kept."""
    chance = share_axis("low", "chance of the word")
    roles = {**PART, COIN: "ink", RESIDUAL: "proposed"}
    part = colour_key(colours, "part", roles, "width < 400 ? 2 : 5")
    place, (bars, tops) = bars_of(colours, word_axis(labelOverlap=True), chance, part)
    return specification(
        colours,
        f"Two bars for each word: {SAID} A line across a bar of q is the coin of a draft; "
        "outlines around p are what a rejected draft is replaced from.",
        [
            bars,
            {
                "data": {"name": "instead"},
                "mark": {"type": "bar", "filled": False, "strokeWidth": 2.5},
                "encoding": {**place, "y": {**chance, "field": "chance"}, "color": part},
            },
            tops,
            {
                "data": {"name": "coin"},
                "mark": {"type": "tick", "thickness": 4, "opacity": 1, "width": {"band": 1}},
                "encoding": {**place, "y": {**chance, "field": "height"}, "color": part},
            },
        ],
    )


NEXT: Chart[Next] = Chart(
    "sampling-next",
    "What two models say of the next word",
    next_spec,
    next_data,
    lambda given, _data: overlap_table(dict(given.target), dict(given.draft)),
    stops=lambda given, _data: overlap_stops(dict(given.target), dict(given.draft)),
)

MEASURED, TARGET_S, RULE_S = "written", "the big model’s own", "this rule’s, in the long run"


class Shares(NamedTuple):
    """Shares of words: those written so far, none at first, and those to come to."""

    names: tuple[str, ...]
    found: tuple[float, ...]
    target: tuple[float, ...]
    rule: tuple[float, ...]


def written_data(given: Shares) -> Data:
    """A bar for what was written of each word, and a line for each share that it may come to."""
    found = given.found or (0.0,) * len(given.names)

    def rows(who: str, shares: tuple[float, ...]) -> Rows:
        pairs = zip(given.names, shares, strict=True)
        return [{"word": word, "share": share, "who": who} for word, share in pairs]

    same = all(abs(a - b) < 1e-9 for a, b in zip(given.target, given.rule, strict=True))
    return {
        "found": rows(MEASURED, found),
        "target": rows(TARGET_S, given.target),
        "rule": [] if same else rows(RULE_S, given.rule),
    }


def written_table(given: Shares) -> Table:
    """The same, word by word."""
    found = [f"{share:.4f}" for share in given.found] or ["–"] * len(given.names)
    lines = zip(given.names, found, given.target, given.rule, strict=True)
    return Table(
        ["word", MEASURED, TARGET_S, RULE_S],
        [[name, share, f"{own:.4f}", f"{rule:.4f}"] for name, share, own, rule in lines],
    )


def written_stops(given: Shares) -> list[Stop]:
    """Each word."""
    return [
        Stop(name, f"“{name}”: written {share}, the big model’s own {own}, this rule’s {rule}.")
        for name, share, own, rule in written_table(given).rows
    ]


def written_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Bars that grow towards the lines that they should reach."""
    roles = {MEASURED: "discarded", TARGET_S: "ink", RULE_S: "rejected"}
    place = {
        "x": word_axis(labelOverlap=True),
        "y": share_axis("share", "share of the words"),
        "color": colour_key(colours, "who", roles, "width < 420 ? 1 : 3"),
    }
    line = {"type": "tick", "thickness": 3, "opacity": 1, "width": {"band": 0.8}}
    bar = {"type": "bar", "width": {"band": 0.6}}
    return specification(
        colours,
        "Bars: the share of each word among those written; a line across each is the big model’s "
        "own share, and another one what a wrong rule comes to in the long run.",
        [
            {"data": {"name": name}, "mark": mark, "encoding": place}
            for name, mark in (("found", bar), ("target", line), ("rule", line))
        ],
    )


WRITTEN: Chart[Shares] = Chart(
    "sampling-written",
    "How often each word was written",
    written_spec,
    written_data,
    lambda given, _data: written_table(given),
    stops=lambda given, _data: written_stops(given),
)
