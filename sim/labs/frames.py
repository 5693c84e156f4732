"""How high a frame is that no script fits to its content: by what it shows, and its width."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sim.labs import BY_NAME
from sim.view import View

LEFT, RIGHT = ("board", "pass"), ("numbers", "controls")
"""Parts of the one column and of the other, where there are two."""

BELOW = "clock", "timeline"
"""Parts below both in a wide frame, else in the left one."""

NARROW, WIDE = 640, 900
"""Widths, in px, from which on a frame has two columns, and parts below both."""


class Heights(NamedTuple):
    """Heights in px, in a frame of each width; where there are two columns, or might be."""

    narrow: int
    between: int
    between_beside: int
    wide: int
    wide_beside: int


LOW = 600
"""Height, in px, that is enough for the widget in short, at two columns."""

PART_HEIGHTS = {
    "rail": Heights(100, 52, 52, 40, 40),
    "board": Heights(370, 478, 345, 438, 340),
    "pass": Heights(118, 104, 134, 88, 75),
    "numbers": Heights(428, 436, 424, 232, 250),
    "controls": Heights(366, 446, 528, 272, 316),
    "clock": Heights(114, 118, 150, 102, 84),
    "timeline": Heights(265, 162, 205, 112, 100),
}
"""About the most that each part takes at any width of its kind; a test holds frames to them."""

QUESTION = Heights(160, 102, 166, 102, 131)
"""What a question adds where no numbers are shown, whose place it takes otherwise."""

FRAME = Heights(50, 38, 70, 38, 50)
"""What a frame adds to its parts."""


def heights(view: View) -> tuple[int, int, int]:
    """How high a scene is in a frame that is narrow, in one between, and in a wide one, in px."""
    if view.lab in BY_NAME:
        return (FRAME.between + BY_NAME[view.lab].height,) * 3
    shown = replace(view, embed=True).parts
    beside = any(part in shown for part in LEFT) and any(part in shown for part in RIGHT)

    def total(kind: int, *parts: str) -> int:
        asked = view.asks and "numbers" not in shown and parts == RIGHT
        return QUESTION[kind] * asked + sum(
            PART_HEIGHTS[part][kind] for part in parts if part in shown
        )

    def alone(kind: int) -> int:
        columns = ("rail",), LEFT, BELOW, RIGHT
        return FRAME[kind] + sum(total(kind, *parts) for parts in columns)

    narrow, between, wide = (Heights._fields.index(name) for name in ("narrow", "between", "wide"))
    if not beside:
        return alone(narrow), alone(between), alone(wide)
    two, below = between + 1, wide + 1
    return (
        alone(narrow),
        FRAME[two] + total(two, "rail") + max(total(two, *LEFT, *BELOW), total(two, *RIGHT)),
        FRAME[below]
        + total(below, "rail", *BELOW)
        + max(total(below, *LEFT), total(below, *RIGHT)),
    )


def frame_height(view: View) -> int:
    """A height for a frame about as wide as a column of text, in px."""
    return heights(view)[1]


def fitted(view: View) -> str:
    """The height of a frame by the width of its place, in CSS.

    It takes a place with `container-type: inline-size`; without one the window's width counts.
    """
    narrow, between, wide = heights(view)
    steps = "".join(
        f",min({height}px,({limit}px - 100cqw)*9999)"
        for height, limit in ((between, WIDE), (narrow, NARROW))
    )
    return f"max({wide}px{steps})"
