"""A board of another grid, with other looks and borders, on a canvas of plain Python and as SVG."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from sim.marks import GRID, LOOKS, PALETTES, Border, Frame, Grid, Look, columns, frames, shapes
from sim.params import SLOTS
from sim.picture import board_svg
from static.board import Board
from tests.canvas import Canvas

OTHER = Grid(columns=12, rows=5, block=4, width=300, cell=20, pitch=26, margin=4)
OTHERS = {
    "mine": Look("accepted", True, (("dot", 0.5, 0.5, 0.2, "on"),), "mine", "mine"),
    "theirs": Look("evicted", False, (), "theirs", "theirs"),
    "free": Look("empty", True, (), "free", "free", alike=True),
}
COLOURS = PALETTES["light"]
GROUPS = tuple(Border(first, first + 3, "ink") for first in range(0, OTHER.slots, 4))


class Drawn:
    """A board of this grid with its canvas and its sheet."""

    def __init__(self, looks: dict[str, Look] = OTHERS, grid: Grid = OTHER) -> None:
        self.canvas, self.sheet = Canvas(), Canvas()
        self.board = Board(self.canvas, self.canvas, lambda: self.sheet, looks, grid)

    def draw(self, slots: list[str], borders: tuple[Border, ...] = (), ratio: float = 1) -> int:
        self.canvas.calls.clear()
        return self.board.draw(slots, False, 300, ratio, COLOURS, borders)

    def calls(self, name: str) -> list[tuple[Any, ...]]:
        return [(call[1], *call[3:]) for call in self.canvas.calls if call[0] == name]


def states(grid: Grid = OTHER) -> list[str]:
    return [list(OTHERS)[(slot * 5 + slot // 7) % 3] for slot in range(grid.slots)]


@pytest.mark.parametrize("ratio", [0.75, 1.0, 2.5])
def test_another_grid_is_laid_out_within_its_margin_and_found_again(ratio: float) -> None:
    drawn = Drawn()
    assert drawn.draw(states(), ratio=ratio) == OTHER.slots == 60
    boxes = [drawn.board.box(slot) for slot in range(60)]
    for slot, (left, top, size) in enumerate(boxes):
        assert drawn.board.slot_at(left + size / 2, top + size / 2) == slot
        assert left >= 4 - 1 / ratio
        assert left + size <= 300 - 3
    lefts = [left for left, _, _ in boxes[:12]]
    gaps = [b - a for a, b in pairwise(lefts)]
    assert min(gaps[3], gaps[7]) > max(gaps[:3] + gaps[4:7] + gaps[8:])
    assert len({top for _, top, _ in boxes}) == 5
    bottom = max(top + size for _, top, size in boxes)
    assert bottom <= drawn.canvas.height / ratio - 3
    assert drawn.board.slot_at(lefts[0] + 1, bottom + 20) is None
    assert drawn.board.slot_at(1, boxes[0][1] + 1) is None


def test_columns_of_another_grid_fill_its_width() -> None:
    for grid in (OTHER, Grid(8, 1, 16), Grid(1, 1, 1), Grid(40, 2, 3), GRID):
        cell = int(grid.width / grid.columns * 0.6)
        lefts = columns(grid.width, cell, grid)
        assert (lefts[0], len(lefts)) == (0, grid.columns)
        assert grid.columns == 1 or lefts[-1] + cell == grid.width
    assert GRID.slots == SLOTS


def test_other_looks_are_drawn_and_no_others() -> None:
    drawn = Drawn()
    drawn.draw(states())
    painted = [call[1] for call in drawn.sheet.calls if call[0] in ("fill", "stroke")]
    assert painted == [COLOURS[role] for role in ("accepted", "on", "ground", "empty")]
    first = min(drawn.board.box(0)[0], 300)
    dot = next(call for call in drawn.sheet.calls if call[0] == "arc")
    assert dot[3] == first + drawn.board.box(0)[2] / 2
    assert shapes("free", True, OTHERS) == shapes("free", False, OTHERS) == [("cell", "empty")]
    assert ("edge", 0.0, 0.12, "accepted") in shapes("mine", True, OTHERS)


@pytest.mark.parametrize(
    ("border", "wanted"),
    [
        (Border(13, 15, "ink"), [Frame(1, 1, 1, 3)]),
        (Border(12, 35, "ink"), [Frame(1, 0, 2, 11)]),
        (Border(10, 25, "ink"), [Frame(0, 10, 0, 11), Frame(1, 0, 1, 11), Frame(2, 0, 2, 1)]),
        (Border(7, 7, "ink"), [Frame(0, 7, 0, 7)]),
    ],
)
def test_a_border_is_one_rectangle_where_it_can_be(border: Border, wanted: list[Frame]) -> None:
    assert frames(border, OTHER) == wanted


def apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two rectangles (left, top, width, height) have no pixel in common."""
    (x, y, w, h), (left, top, width, height) = one, other
    return bool(x + w <= left or left + width <= x or y + h <= top or top + height <= y)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 3.0])
def test_borders_lie_in_the_gaps_around_their_slots(ratio: float) -> None:
    drawn = Drawn()
    drawn.draw(states(), GROUPS, ratio)
    cells = [tuple(n * ratio for n in (*box, box[2])) for box in map(drawn.board.box, range(60))]
    lines = [call[1:] for call in drawn.calls("fillRect") if call[0] == COLOURS["ink"]]
    assert len(lines) == 4 * len(GROUPS)
    assert all(apart(line, cell) for line in lines for cell in cells)
    copies = [call[6:] for call in drawn.calls("drawImage")]
    assert all(apart(line, copy) for line in lines for copy in copies)
    wide, high = drawn.canvas.width, drawn.canvas.height
    assert all(x >= 0 <= y and x + w <= wide and y + h <= high for x, y, w, h in lines)
    (left, top, across, _), (_, below, *_) = lines[:2]
    assert left < cells[0][0] < left + across < cells[4][0]
    assert left + across > cells[3][0] + cells[3][2]
    assert top < cells[0][1] < below < cells[12][1]


def test_a_border_that_comes_or_goes_draws_no_slot_and_ends_runs() -> None:
    drawn, alike = Drawn(), ["mine"] * OTHER.slots
    drawn.draw(alike)
    assert len(drawn.calls("drawImage")) == OTHER.rows
    assert drawn.draw(alike, GROUPS) == 0
    assert drawn.calls("drawImage") == []
    assert {call[0] for call in drawn.calls("fillRect")} == {COLOURS["ink"]}
    assert drawn.draw(alike, GROUPS) == len(drawn.calls("fillRect")) == 0
    assert drawn.draw(["free"] * OTHER.slots, GROUPS) == OTHER.slots
    assert len(drawn.calls("drawImage")) == 3 * OTHER.rows
    assert drawn.calls("fillRect") == []
    drawn.draw(["free"] * OTHER.slots, GROUPS[1:])
    gone = [call[1:] for call in drawn.calls("fillRect") if call[0] == COLOURS["ground"]]
    kept = [call[1:] for call in drawn.calls("fillRect") if call[0] == COLOURS["ink"]]
    assert (len(gone), len(kept)) == (4, 4 * len(GROUPS[1:]))
    drawn.draw(["mine"] * OTHER.slots)
    assert len(drawn.calls("drawImage")) == OTHER.rows
    drawn.board.forget()
    drawn.draw(["mine"] * OTHER.slots, GROUPS)
    assert len([c for c in drawn.calls("fillRect") if c[0] == COLOURS["ink"]]) == 4 * len(GROUPS)


def test_where_borders_share_no_pixel_only_the_one_that_changes_is_drawn() -> None:
    def lines(drawn: Drawn) -> list[str]:
        return [call[0] for call in drawn.calls("fillRect")]

    apart, close = Drawn(grid=OTHER._replace(cell=8, pitch=14)), Drawn(grid=OTHER)
    before, after = [GROUPS[0], GROUPS[1]], [GROUPS[0], GROUPS[1]._replace(role="ground")]
    for drawn, again in ((apart, 1), (close, 2)):
        drawn.draw(states(), tuple(before))
        lines(drawn)
        drawn.draw(states(), tuple(after))
        assert len(lines(drawn)) == 4 * again
    within = Border(GROUPS[1].first, GROUPS[1].first, "ink")  # a later one in it stays seen
    apart.draw(states(), (*before, within))
    lines(apart)
    apart.draw(states(), (*after, within))
    assert lines(apart)[-4:] == [COLOURS["ink"]] * 4


def test_the_board_of_the_widget_takes_borders_around_its_blocks_of_16() -> None:
    blocks = tuple(Border(first, first + 15, "ink") for first in range(0, SLOTS, 16))
    drawn = Drawn(LOOKS, GRID)
    drawn.draw(["empty"] * SLOTS, blocks)
    assert len(drawn.calls("drawImage")) == 2 * GRID.rows


def test_the_picture_of_a_board_takes_the_same_grid_looks_and_borders() -> None:
    drawn = board_svg(states(), False, COLOURS, "A board", OTHERS, OTHER, GROUPS)
    root = ElementTree.fromstring(drawn)
    assert root.attrib["viewBox"] == f"0 0 300 {OTHER.height:g}" == "0 0 300 132"
    *cells, lines = root
    filled = {path.attrib["stroke"]: path.attrib["d"].count("M") for path in cells}
    for state, role in (("mine", "accepted"), ("theirs", "ground"), ("free", "empty")):
        assert filled[COLOURS[role]] == states().count(state)
    corners = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", lines.attrib["d"])
    assert (lines.attrib["stroke"], lines.attrib["fill"]) == (COLOURS["ink"], "none")
    half = float(lines.attrib["stroke-width"]) / 2
    rects = [
        (x - half, y - half, w + 2 * half, h + 2 * half)
        for x, y, w, h in (map(float, corner) for corner in corners)
    ]
    assert len(rects) == len(GROUPS)
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])
    assert all(x >= 0 <= y and x + w <= 300 and y + h <= 132 for x, y, w, h in rects)
    plain = board_svg(["empty"] * SLOTS, False, COLOURS, "A board")
    assert 'fill="none"' not in plain
