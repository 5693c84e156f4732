"""The charts of the server: what its memory was over time, and the frontier of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

from sim.chart import LINES, Chart, Data, Rows, Stop, Table, here, specification
from sim.labs.budget import Budget, Point, frontier, point_of, settings_of
from sim.labs.history import History
from sim.labs.scheduler import EXTERNAL, FREE, INTERNAL, RESERVED, SHARES, TOKEN
from sim.words import duration, many, three_digits

TOLD = 12
"""Rows of the table of shares."""


class SharesAt(NamedTuple):
    """The memory of a server over time, and the second at which one looks."""

    history: History
    seconds: float | None


def shares_data(given: SharesAt) -> Data:
    """The share of the slots of each kind, a row for each kind and stretch of time."""
    rows: Rows = []
    stretches = given.history.timeline.stretches
    for stretch in stretches:
        rows += _rows(stretch.start, stretch.shares)
    if stretches:
        rows += _rows(stretches[-1].start + stretches[-1].seconds, stretches[-1].shares)
    now = [] if given.seconds is None else [{"seconds": round(given.seconds, 6)}]
    return {"shares": rows, "now": now}


def _rows(start: float, shares: tuple[float, ...]) -> Rows:
    return [
        {"seconds": round(start, 6), "kind": kind, "order": order, "share": round(share, 5)}
        for order, (kind, share) in enumerate(zip(SHARES, shares, strict=True))
    ]


def shares_table(given: SharesAt, _data: Data) -> Table:
    """About `TOLD` stretches of it."""
    stretches = given.history.timeline.stretches
    every = max(1, len(stretches) // TOLD)
    return Table(
        ["from", *SHARES],
        [
            [
                duration(stretch.start),
                *(f"{100 * share:.0f} %" for share in stretch.shares),
            ]
            for stretch in stretches[::every]
        ],
    )


def shares_stops(given: SharesAt, _data: Data) -> list[Stop]:
    """Each stretch."""
    return [
        Stop(
            round(stretch.start, 6),
            f"At {duration(stretch.start)}: "
            + ", ".join(
                f"{kind} {100 * share:.0f} %"
                for kind, share in zip(SHARES, stretch.shares, strict=True)
            )
            + ".",
        )
        for stretch in given.history.timeline.stretches
    ]


def shares_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Areas that fill the memory."""
    time = {
        "field": "seconds",
        "type": "quantitative",
        "title": "seconds",
        "scale": {"nice": False},
        "axis": {"grid": False, "tickCount": 6},
    }
    ranged = {
        TOKEN: colours["accepted"],
        RESERVED: colours["proposed"],
        INTERNAL: colours["rejected"],
        EXTERNAL: colours["evicted"],
        FREE: colours["empty"],
    }
    return specification(
        colours,
        "Areas over time that fill the memory: slots that hold a token, that will hold one, that "
        "never will, that are free in pieces too short, and that are free.",
        [
            {
                "data": {"name": "shares"},
                "mark": {"type": "area", "interpolate": "step-after", "line": False},
                "encoding": {
                    "x": time,
                    "y": {
                        "field": "share",
                        "type": "quantitative",
                        "stack": "zero",
                        "title": "of the slots",
                        "scale": {"domain": [0, 1], "nice": False},
                        "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]},
                    },
                    "order": {"field": "order", "type": "quantitative"},
                    "color": {
                        "field": "kind",
                        "type": "nominal",
                        "scale": {"domain": list(ranged), "range": list(ranged.values())},
                        "legend": {
                            "columns": {"expr": "width < 420 ? 3 : 5"},
                            "symbolType": "square",
                            "symbolStrokeColor": colours["muted"],
                            "symbolStrokeWidth": 1,
                        },
                    },
                },
            },
            {
                "data": {"name": "now"},
                "mark": {"type": "rule", "color": colours["ink"], "strokeWidth": 2},
                "encoding": {"x": {"field": "seconds", "type": "quantitative"}},
            },
        ],
    )


WITHOUT, BEST = "without drafts", "the best draft length"


def _row(point: Point, line: str) -> dict[str, Any]:
    return {
        "reader": round(point.reader, 3),
        "server": round(point.server, 2),
        "batch": point.batch,
        "k": point.drafts,
        "line": line,
    }


def frontier_data(budget: Budget) -> Data:
    """The settings that nothing betters, those without drafts, and this one; and the stretch of
    the chart that is nearest to each of the first.
    """
    points = settings_of(budget._replace(batch=1, drafts=0))
    best = [_row(point, BEST) for point in frontier(points)]
    lines = best + [_row(point, WITHOUT) for point in points if not point.drafts]
    point = point_of(budget)
    here = [_row(point, "")] if point.running else []
    return {"lines": lines, "here": here, "near": _nearest(best)}


def _nearest(rows: Rows) -> Rows:
    """From where to where each of these is the nearest; half-way is a mean of logarithms."""
    rising = sorted(rows, key=lambda row: row["reader"])
    at = [row["reader"] for row in rising]
    ends = [*at[:1], *(sqrt(a * b) for a, b in pairwise(at)), *at[-1:]]
    return [
        {"from": low, "to": high, "batch": row["batch"], "k": row["k"]}
        for row, (low, high) in zip(rising, pairwise(ends), strict=True)
    ]


def _told(row: Mapping[str, Any]) -> str:
    drafts = many(row["k"], "draft") if row["k"] else "no drafts"
    return f"{many(row['batch'], 'conversation')}, {drafts}"


def frontier_table(_budget: Budget, data: Data) -> Table:
    """The frontier, a row a setting."""
    return Table(
        ["setting", "tokens a second of one reader", "of the server"],
        [
            [_told(row), three_digits(row["reader"]), three_digits(row["server"])]
            for row in data["lines"]
            if row["line"] == BEST
        ],
    )


def frontier_stops(_budget: Budget, data: Data) -> list[Stop]:
    """Each setting of the frontier, from left to right."""
    rows = sorted(
        (row for row in data["lines"] if row["line"] == BEST), key=lambda row: row["reader"]
    )
    return [
        Stop(
            row["reader"],
            f"{_told(row)}: one reader gets {three_digits(row['reader'])} tokens a second, the "
            f"server writes {three_digits(row['server'])}.",
        )
        for row in rows
    ]


def frontier_clicked(row: Mapping[str, Any]) -> dict[str, object]:
    """Go to a setting."""
    if "batch" in row and "k" in row:
        return {"serving.batch": str(row["batch"]), "serving.drafts": str(row["k"])}
    return {}


def frontier_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Two lines that pull apart, and this setting."""
    reader = {
        "field": "reader",
        "type": "quantitative",
        "title": "tokens a second of one reader",
        "scale": {"type": "log", "nice": False},
        "axis": {"grid": False, "tickCount": 5, "format": "~s"},
    }
    server = {
        "field": "server",
        "type": "quantitative",
        "title": "of the server",
        "scale": {"type": "log", "nice": False},
        "axis": {"tickCount": 4, "format": "~s"},
    }
    line = {
        "field": "line",
        "type": "nominal",
        "scale": {
            "domain": [BEST, WITHOUT],
            "range": [colours["verify"], colours["muted"]],
        },
    }
    place = {"x": reader, "y": server}
    return specification(
        colours,
        "Tokens a second of one reader against those of the server, by the number of conversations "
        "at once: with the best draft length, and without drafts. The point is this setting.",
        [
            {
                "data": {"name": "near"},
                "mark": {"type": "rect", "fill": "transparent", "cursor": "pointer"},
                "encoding": {"x": {**reader, "field": "from"}, "x2": {"field": "to"}},
            },
            {
                "data": {"name": "lines"},
                "mark": {
                    "type": "line",
                    "strokeWidth": 2,
                    "point": {"size": 60, "filled": True, "cursor": "pointer"},
                },
                "encoding": {
                    **place,
                    "order": {"field": "reader", "type": "quantitative"},
                    "color": {**line, "legend": LINES},
                    "strokeDash": {
                        **line,
                        "scale": {"domain": [BEST, WITHOUT], "range": [[1, 0], [4, 3]]},
                        "legend": LINES,
                    },
                },
            },
            here(colours, **place),
        ],
    )


SHARES_CHART = Chart(
    "shares",
    "What the memory was over time",
    shares_spec,
    shares_data,
    shares_table,
    stops=shares_stops,
)
FRONTIER_CHART = Chart(
    "frontier",
    "What the server and one reader get",
    frontier_spec,
    frontier_data,
    frontier_table,
    clicked=frontier_clicked,
    stops=frontier_stops,
)
