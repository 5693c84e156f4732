"""The chart of what a pass takes by the tokens in it: flat up to the knee, then rising."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.chart import Data, Rows, Stop, Table, here, specification
from sim.params import SLOTS, Params
from sim.run import Run
from sim.theory import pass_time
from sim.words import count, three_digits


class Place(NamedTuple):
    """A pass on the line: what it is, and how many tokens are in it."""

    what: str
    tokens: int


def places(run: Run, tick: int) -> list[Place]:
    """One position; those of a sequence; those of the batch, which is this scene's own pass.

    Those that are the same size are one, by the first of these names.

    With the KV cache off a pass computes all known positions of its window with the drafts.
    """
    params = run.params
    k = len(params.rates)
    if params.kv_cache:
        width, of, each = 1 + k, "k + 1", "(k + 1)"
    else:
        width = min(run.at(tick).num_tokens, SLOTS) + k
        of, each = "text and drafts", "(text and drafts)"
    whole = params.batch_size * width
    found = {whole: f"batch × {each} = {count(whole)}"}
    found |= {width: f"{of} = {count(width)}"} | {1: "one position"}
    return [Place(found[tokens], tokens) for tokens in sorted(found)]


def _row(params: Params, place: Place, level: int) -> dict[str, Any]:
    time = pass_time(place.tokens, params.knee)
    return {"tokens": place.tokens, "time": time, "what": place.what, "level": level}


def roofline_data(run: Run, tick: int) -> Data:
    """The line by its corners, the scene's passes on it, and the largest of them as its place."""
    params = run.params
    points = [_row(params, place, level) for level, place in enumerate(places(run, tick))]
    most = max(4 * params.knee, 4 * points[-1]["tokens"])
    corners = sorted({1, params.knee, most})
    line: Rows = [{"tokens": n, "time": pass_time(n, params.knee)} for n in corners]
    middle = most**0.5
    for point in points:
        point["side"] = "left" if point["tokens"] < middle else "right"
    return {"line": line, "knee": [line[-2]], "passes": points, "here": points[-1:]}


def _rows(run: Run, tick: int) -> list[Place]:
    """What the table tells: the scene's passes, plain decoding's, and the line around its knee."""
    params = run.params
    return [
        *places(run, tick),
        Place("plain decoding: one position for each of the batch", params.batch_size),
        Place("half of the knee", max(1, params.knee // 2)),
        Place("the knee", params.knee),
        Place("twice the knee", 2 * params.knee),
        Place("four times the knee", 4 * params.knee),
    ]


def roofline_table(run: Run, tick: int) -> Table:
    """Passes by the tokens in them, and their times."""
    return Table(
        ["pass", "tokens in it", "time, in memory-bound passes"],
        [
            [what, count(tokens), three_digits(pass_time(tokens, run.params.knee))]
            for what, tokens in _rows(run, tick)
        ],
    )


def roofline_stops(run: Run, tick: int, data: Data) -> list[Stop]:
    """The scene's passes, the knee, and powers of two between."""
    knee, most = run.params.knee, data["line"][-1]["tokens"]
    named = {knee: "the knee"} | {tokens: what for what, tokens in places(run, tick)}
    powers = {2**n for n in range(most.bit_length()) if 2**n <= most}
    return [
        Stop(
            n,
            f"{count(n)} {'token' if n == 1 else 'tokens'} in a pass"
            f"{f' ({named[n]})' if n in named else ''}: "
            f"{three_digits(pass_time(n, knee))} memory-bound passes.",
        )
        for n in sorted(powers | set(named))
    ]


def roofline_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 6: why five positions cost as much as one, and a full batch does not."""
    tokens = {
        "field": "tokens",
        "type": "quantitative",
        "title": "tokens in the pass",
        "scale": {"type": "log", "nice": False},
        "axis": {"values": [1, 4, 16, 64, 256, 1024, 4096, 16384], "grid": False, "format": ",d"},
    }
    time = {
        "field": "time",
        "type": "quantitative",
        "title": "time, memory-bound passes",
        "scale": {"type": "log", "domainMin": 0.5, "nice": False},
        "axis": {"values": [1, 2, 4, 8, 16, 64, 256, 1024, 4096], "format": ",d"},
    }
    place = {"x": tokens, "y": time}
    ring = {"type": "point", "size": 90, "filled": True, "opacity": 1}
    words = {
        "type": "text",
        "fontSize": 12,
        "color": colours["ink"],
        "align": {"expr": "datum.side"},
        "dy": {"expr": "datum.level == 0 ? 20 : -18 * datum.level"},
    }
    return specification(
        colours,
        "Line: time of a pass by the tokens in it, both axes logarithmic: level up to the knee, "
        "then rising with every token. Points on it: a pass over one position, over k + 1, and "
        "over k + 1 for each of the batch, which is this scene’s.",
        [
            {
                "data": {"name": "knee"},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": colours["muted"]},
                "encoding": {"x": tokens},
            },
            {
                "data": {"name": "knee"},
                "mark": {
                    "type": "text",
                    "text": "knee",
                    "align": "right",
                    "dx": -5,
                    "y": {"expr": "height - 8"},
                    "color": colours["muted"],
                },
                "encoding": {"x": tokens},
            },
            {
                "data": {"name": "line"},
                "mark": {"type": "line", "strokeWidth": 2, "color": colours["verify"]},
                "encoding": place,
            },
            {
                "data": {"name": "passes"},
                "mark": {**ring, "color": colours["verify"]},
                "encoding": place,
            },
            here(colours, **place),
            {
                "data": {"name": "passes"},
                "mark": words,
                "encoding": {**place, "text": {"field": "what"}},
            },
        ],
    )
