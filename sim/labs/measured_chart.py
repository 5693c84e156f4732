"""The chart of what Leviathan et al. 2023 measured against what the formula says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.chart import Data, Rows, Stop, Table, here, specification
from sim.labs.cost_settings import Priced
from sim.labs.published import TABLE_4

HIGHEST = 4.0


def measured_data(given: Priced) -> Data:
    """Leviathan's rows, and where this scene's prediction stands."""
    rows: Rows = [
        {
            "predicted": row.predicted,
            "measured": row.measured,
            "draft": row.draft,
            "label": row.label,
        }
        for row in TABLE_4
    ]
    ours = given.speedup
    within = ours is not None and ours <= HIGHEST
    return {
        "rows": rows,
        "as_said": [{"predicted": x, "measured": x} for x in (0.0, HIGHEST)],
        "here": [{"predicted": ours, "measured": ours}] if within else [],
    }


def measured_table(_given: Priced, _data: Data) -> Table:
    """What Leviathan et al. print, what the formula gives of it, and each miss."""
    return Table(
        ["task", "k", "α", "c", "printed", "formula", "measured", "miss"],
        [
            [
                *(row.label, str(row.k), f"{row.alpha:.2f}", f"{row.c:.2f}"),
                *(f"{row.expected:.1f}×", f"{row.predicted:.2f}×", f"{row.measured:.1f}×"),
                f"{100 * row.miss:+.0f} %".replace("-", "−"),
            ]
            for row in TABLE_4
        ],
    )


def measured_stops(_given: Priced, _data: Data) -> list[Stop]:
    """Each row."""
    return [
        Stop(
            row.predicted,
            f"{row.label}: the formula says {row.predicted:.2f}×, {row.measured:.1f}× was "
            f"measured, {100 * row.miss:+.0f} %.".replace("-", "−", 1),
        )
        for row in sorted(TABLE_4, key=lambda row: row.predicted)
    ]


def measured_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Measured by predicted speedup, and how far each is from the line of agreement."""

    def axis(field: str) -> dict[str, Any]:
        return {
            "field": field,
            "type": "quantitative",
            "title": f"{field} speedup",
            "scale": {"domain": [0, HIGHEST], "nice": False},
            "axis": {"tickCount": 5, "labelExpr": "datum.label + '×'", "grid": False},
        }

    place = {"x": axis("predicted"), "y": axis("measured")}
    drafts = ["T5-small", "T5-base", "T5-large"]
    hues = [colours["accepted"], colours["bonus"], colours["rejected"]]
    kinds = {
        "field": "draft",
        "type": "nominal",
        "scale": {"domain": drafts, "range": hues},
    }
    shapes = {
        "field": "draft",
        "type": "nominal",
        "scale": {"domain": drafts, "range": ["circle", "square", "triangle-up"]},
    }
    return specification(
        colours,
        "Points: measured against predicted speedup of the twelve rows of Leviathan et al. 2023, "
        "Table 4, by draft model; upright lines to the diagonal, where both are the same, are the "
        "misses. The ring on the diagonal is what the formula says of the scene that is set.",
        [
            {
                "data": {"name": "as_said"},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": colours["muted"]},
                "encoding": place,
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {**place, "y2": {"field": "predicted"}, "color": kinds},
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "point", "size": 70, "filled": True, "opacity": 1},
                "encoding": {**place, "color": kinds, "shape": shapes},
            },
            here(colours, **place),
        ],
    )
