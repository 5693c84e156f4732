"""How each slot state looks: its colour, its mark, its words. One table for canvas, SVG and legend.

And where slots lie: a board is a grid of cells with its looks, and borders around groups of slots.

A mark is a list of shapes in a cell of 1 × 1, y down. Each shape ends in the *role* of its colour:
a name of `PALETTES`, which is also the CSS custom property of that colour.

    ("cell", role)                      the rounded cell, filled
    ("line", x1, y1, x2, y2, width, role)
    ("dot", x, y, radius, role)
    ("ring", x, y, radius, width, role)
    ("edge", inset, width, role)        the outline of the rounded cell
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sim.cache import (
    ACCEPTED,
    BONUS,
    DISCARDED,
    EMPTY,
    EVICTED,
    NEWEST,
    PLAIN,
    PROPOSED,
    REJECTED,
)
from sim.params import SLOTS

COLUMNS, ROWS = 32, SLOTS // 32
BLOCK = 16
"""Columns to each side of the wider gap: one block of a paged cache, side by side."""

RADIUS = 0.2
"""Corner radius of a cell, as a share of its width."""

PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "ground": "#faf9f6",
        "panel": "#ffffff",
        "line": "#dedbd3",
        "ink": "#1d1c1a",
        "muted": "#65625c",
        "on": "#ffffff",
        "empty": "#ebe8e1",
        "accepted": "#1f8a5b",
        "bonus": "#2563b8",
        "rejected": "#b45309",
        "discarded": "#8a8578",
        "proposed": "#7d6a94",
        "evicted": "#c81e2b",
        "verify": "#4f4a78",
        "hue1": "#0f766e",
        "hue2": "#1d4ed8",
        "hue3": "#a21caf",
        "hue4": "#b45309",
        "hue5": "#4d7c0f",
        "hue6": "#be123c",
        "hue7": "#6d28d9",
        "hue8": "#7c4a1e",
    },
    "dark": {
        "ground": "#13151a",
        "panel": "#1a1d23",
        "line": "#2e323a",
        "ink": "#eceae4",
        "muted": "#a09c93",
        "on": "#13151a",
        "empty": "#23272e",
        "accepted": "#36b37e",
        "bonus": "#6aa5f5",
        "rejected": "#f5a524",
        "discarded": "#6a727e",
        "proposed": "#a996c2",
        "evicted": "#ff5d62",
        "verify": "#bdb8e6",
        "hue1": "#2dd4bf",
        "hue2": "#7ea6ff",
        "hue3": "#e879f9",
        "hue4": "#fbbf24",
        "hue5": "#a3e635",
        "hue6": "#fb7185",
        "hue7": "#a78bfa",
        "hue8": "#d3a47a",
    },
    # Forced colours leave two: what the reader chose for text, and for the ground.
    "forced": {
        "ground": "Canvas",
        "panel": "Canvas",
        "line": "CanvasText",
        "ink": "CanvasText",
        "muted": "CanvasText",
        "on": "Canvas",
        "empty": "Canvas",
        "accepted": "CanvasText",
        "bonus": "CanvasText",
        "rejected": "CanvasText",
        "discarded": "CanvasText",
        "proposed": "CanvasText",
        "evicted": "CanvasText",
        "verify": "CanvasText",
        "hue1": "CanvasText",
        "hue2": "CanvasText",
        "hue3": "CanvasText",
        "hue4": "CanvasText",
        "hue5": "CanvasText",
        "hue6": "CanvasText",
        "hue7": "CanvasText",
        "hue8": "CanvasText",
    },
}

Shape = tuple[Any, ...]


class Look(NamedTuple):
    """How a state is drawn and named."""

    colour: str
    """Role of its colour; the newest token shares the bonus token's."""
    filled: bool
    mark: tuple[Shape, ...]
    """Shapes over the cell; the role "on" is the mark on a filled cell."""
    legend: str
    meaning: str
    alike: bool = False
    """Whether it is drawn alike where nothing is kept."""


def _cross(a: float, b: float, width: float) -> tuple[Shape, ...]:
    return (("line", a, a, b, b, width, "on"), ("line", a, b, b, a, width, "on"))


def _dashes() -> tuple[Shape, ...]:
    """A dashed outline as plain lines, two to a side, so that every drawer draws the same."""
    lines: list[Shape] = []
    for start, end in ((0.2, 0.42), (0.58, 0.8)):
        for edge in (0.06, 0.94):
            lines.append(("line", start, edge, end, edge, 0.08, "discarded"))
            lines.append(("line", edge, start, edge, end, 0.08, "discarded"))
    return tuple(lines)


_QUESTION: tuple[Shape, ...] = (
    *(
        ("line", *start, *end, 0.1, "proposed")
        for start, end in pairwise(
            ((0.33, 0.38), (0.41, 0.25), (0.59, 0.25), (0.67, 0.38), (0.5, 0.54), (0.5, 0.66))
        )
    ),
    ("dot", 0.5, 0.79, 0.065, "proposed"),
)
"""A question mark as plain lines and its dot."""

_HATCH: tuple[Shape, ...] = (
    ("line", 0.08, 0.42, 0.42, 0.08, 0.14, "on"),
    ("line", 0.08, 0.92, 0.92, 0.08, 0.14, "on"),
    ("line", 0.58, 0.92, 0.92, 0.58, 0.14, "on"),
)

LOOKS: dict[str, Look] = {
    ACCEPTED: Look("accepted", True, (), "draft accepted", "a draft token that was accepted"),
    BONUS: Look(
        "bonus",
        True,
        (("dot", 0.5, 0.5, 0.13, "on"),),
        "bonus token from the verify pass",
        "the token that the verify pass itself yielded",
    ),
    REJECTED: Look(
        "rejected",
        True,
        _cross(0.3, 0.7, 0.12),
        "draft rejected, run stops here",
        "a rejected draft, whose place the verify pass's own token takes",
    ),
    DISCARDED: Look(
        "discarded",
        False,
        _dashes(),
        "discarded",
        "a draft after the rejected one, discarded",
    ),
    PROPOSED: Look(
        "proposed",
        False,
        (("edge", 0.0, 0.08, "proposed"), *_QUESTION),
        "draft proposed",
        "a draft, proposed; its verdict is still to come",
    ),
    NEWEST: Look(
        "bonus",
        False,
        (("edge", 0.0, 0.1, "bonus"), ("ring", 0.5, 0.5, 0.2, 0.1, "bonus")),
        "newest, not written yet",
        "the newest token; its keys and values are written by the next pass",
    ),
    EVICTED: Look(
        "evicted",
        True,
        _HATCH,
        "evicted, must be recomputed",
        "evicted; it must be computed again before the next token",
    ),
    PLAIN: Look(
        "muted",
        True,
        (("line", 0.28, 0.5, 0.72, 0.5, 0.14, "on"),),
        "ordinary token",
        "an ordinary token, without a draft",
    ),
    EMPTY: Look("empty", True, (), "empty", "empty", alike=True),
}


def shapes(state: str, hollow: bool, looks: Mapping[str, Look] = LOOKS) -> list[Shape]:
    """Everything to draw for a state, from back to front.

    Hollow (cache off: known, not kept): an outline instead of the fill, the mark in its colour.
    """
    look = looks[state]
    if not look.filled or look.alike:
        return [("cell", look.colour if look.filled else "ground"), *look.mark]
    if not hollow:
        return [("cell", look.colour), *look.mark]
    marks = [(*shape[:-1], look.colour) for shape in look.mark]
    return [("cell", "ground"), ("edge", 0.0, 0.12, look.colour), *marks]


class Grid(NamedTuple):
    """How the slots of a board lie: row by row, in cells of one size. All lengths in one unit."""

    columns: int = COLUMNS
    rows: int = ROWS
    block: int = BLOCK
    """Columns from one wider gap to the next."""
    width: float = 744
    cell: float = 20
    pitch: float = 23
    """From the top of a row to that of the next."""
    margin: float = 0
    """Left free around the cells: borders at the edge need some."""

    @property
    def slots(self) -> int:
        """How many there are."""
        return self.columns * self.rows

    @property
    def height(self) -> float:
        """Of the whole board, `width` being its width."""
        return (self.rows - 1) * self.pitch + self.cell + 2 * self.margin


GRID = Grid()
"""The board of the widget."""


def columns(width: float, cell: float, grid: Grid = GRID) -> list[float]:
    """Left edge of each column where they span `width`, in whole units, wider gaps included.

    Cells keep one size and the gaps take up the rest, so that the board fills its width exactly. A
    wider gap is three others.
    """
    count, block = grid.columns, grid.block
    gaps = count - 1 + 2 * ((count - 1) // block)
    gap = (width - count * cell) / max(1, gaps)
    return [
        float(round(column * (cell + gap) + 2 * gap * (column // block))) for column in range(count)
    ]


class Border(NamedTuple):
    """A line around the slots from `first` to `last`, in the gaps, in the colour of this role."""

    first: int
    last: int
    role: str


class Frame(NamedTuple):
    """A rectangle of cells: its first row and column, and its last ones."""

    row: int
    column: int
    last_row: int
    last_column: int


def frames(border: Border, grid: Grid = GRID) -> Sequence[Frame]:
    """The rectangles that a border is: one within a row or over whole rows, else one a row."""
    (row, column), (last_row, last) = (divmod(s, grid.columns) for s in border[:2])
    end = grid.columns - 1
    if row == last_row or (column == 0 and last == end):
        return [Frame(row, column, last_row, last)]
    between = [Frame(at, 0, at, end) for at in range(row + 1, last_row)]
    return [Frame(row, column, row, end), *between, Frame(last_row, 0, last_row, last)]
