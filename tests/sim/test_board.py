"""The board on its canvas, drawn on a canvas of plain Python that keeps what is asked of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from sim.marks import BLOCK, COLUMNS, LOOKS, PALETTES, ROWS, shapes
from sim.params import SLOTS, Params
from sim.run import Run
from static.board import Board
from tests.canvas import Canvas

WIDTHS = (312.0, 331.5, 744.0)
RATIOS = (0.75, 1.0, 1.25, 2.0, 3.0)


class Drawn:
    """A board with its canvas and its sheets."""

    def __init__(self) -> None:
        self.canvas = Canvas()
        self.sheets: list[Canvas] = []
        self.board = Board(self.canvas, self.canvas, self._sheet)

    def _sheet(self) -> Canvas:
        self.sheets.append(Canvas())
        return self.sheets[-1]

    def draw(
        self,
        slots: list[str],
        hollow: bool = False,
        width: float = 744,
        ratio: float = 1,
        theme: str = "light",
    ) -> int:
        self.canvas.calls.clear()
        return self.board.draw(slots, hollow, width, ratio, PALETTES[theme])

    def shown(self) -> list[tuple[float, ...]]:
        """Source and target of everything copied from the sheet since the last draw began."""
        return [call[4:] for call in self.canvas.calls if call[0] == "drawImage"]


def states() -> list[str]:
    """A board that shows every state that a slot may have."""
    names = list(LOOKS)
    return [names[(slot * 7 + slot // COLUMNS) % len(names)] for slot in range(SLOTS)]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_point_in_a_slots_box_is_that_slot_at_every_pixel_ratio(
    width: float, ratio: float
) -> None:
    drawn = Drawn()
    drawn.draw(states(), width=width, ratio=ratio)
    board, boxes = drawn.board, []
    for slot in range(SLOTS):
        left, top, size = board.box(slot)
        boxes.append((left, top))
        inside = size * 0.02, size / 2, size * 0.98
        assert {board.slot_at(left + x, top + y) for x in inside for y in inside} == {slot}
        assert left + size <= width + 0.01
    # Boxes are where the slots were drawn, told in pixels of the page.
    corners = {(round(left * ratio, 6), round(top * ratio, 6)) for left, top in boxes}
    assert {(round(call[4], 6), round(call[5], 6)) for call in drawn.shown()} <= corners
    assert drawn.canvas.width == int(width * ratio)
    assert float(drawn.canvas.style.width.removesuffix("px")) == pytest.approx(
        drawn.canvas.width / ratio
    )
    below = boxes[-1][1] + board.box(SLOTS - 1)[2]
    assert board.slot_at(1, below + 40) is None
    assert board.slot_at(-1, 1) is None


def test_before_it_is_drawn_no_slot_is_at_any_point() -> None:
    assert Drawn().board.slot_at(5, 5) is None


def test_slots_lie_in_rows_with_a_wider_gap_after_each_block() -> None:
    drawn = Drawn()
    drawn.draw(states())
    lefts = [drawn.board.box(slot)[0] for slot in range(COLUMNS)]
    gaps = [b - a for a, b in pairwise(lefts)]
    assert max(gaps) == gaps[BLOCK - 1] > max(gaps[: BLOCK - 1] + gaps[BLOCK:])
    tops = {drawn.board.box(slot)[1] for slot in range(SLOTS)}
    assert len(tops) == ROWS


@pytest.mark.parametrize("hollow", [False, True])
def test_the_sheet_holds_every_state_in_its_look(hollow: bool) -> None:
    drawn = Drawn()
    drawn.draw(states(), hollow=hollow)
    (sheet,) = drawn.sheets
    colours = PALETTES["light"]
    expected = []
    for state in LOOKS:
        for shape in shapes(state, hollow):
            kind, colour = shape[0], colours[shape[-1]]
            expected.append(("fill" if kind in ("cell", "dot") else "stroke", colour))
    painted = [(call[0], call[1]) for call in sheet.calls if call[0] in ("fill", "stroke")]
    assert painted == expected


def test_a_cache_that_keeps_nothing_is_drawn_hollow_and_anew() -> None:
    drawn, slots = Drawn(), Run(Params()).slots(60)
    assert drawn.draw(slots) == SLOTS
    assert drawn.draw(slots) == 0
    assert drawn.draw(slots, hollow=True) == SLOTS
    assert len(drawn.sheets) == 2
    filled, hollow = (
        sum(call[0] == "fill" and call[1] == PALETTES["light"]["accepted"] for call in sheet.calls)
        for sheet in drawn.sheets
    )
    assert filled > hollow == 0


@pytest.mark.parametrize("change", [{"width": 700.0}, {"ratio": 2.0}, {"theme": "dark"}])
def test_another_size_or_colour_draws_all_anew(change: dict[str, Any]) -> None:
    drawn, slots = Drawn(), states()
    drawn.draw(slots)
    assert drawn.draw(slots, **change) == SLOTS
    assert len(drawn.sheets) == 2


def test_what_was_lost_is_drawn_anew_with_its_sheet() -> None:
    drawn, slots = Drawn(), states()
    drawn.draw(slots)
    drawn.board.forget()
    assert drawn.draw(slots) == SLOTS
    assert len(drawn.sheets) == 2


def covered(drawn: Drawn) -> dict[int, str]:
    """Which slots the copies from the sheet cover, and with which state each."""
    cell = round(drawn.board.box(0)[2])
    found = {}
    for left, line, width, _, to_left, to_top, *_ in drawn.shown():
        assert left == to_left
        state = list(LOOKS)[round(line / cell)]
        for slot in range(SLOTS):
            x, y, _ = drawn.board.box(slot)
            if y == to_top and to_left <= x < to_left + width:
                assert slot not in found
                found[slot] = state
    return found


def test_only_slots_that_changed_are_drawn_and_each_in_its_state() -> None:
    drawn, run = Drawn(), Run(Params(evictions=(40,)))
    before = run.slots(30)
    drawn.draw(before)
    assert covered(drawn) == dict(enumerate(before))
    for tick in (31, 32, 40, 41, 45, 60, 300):
        slots = run.slots(tick)
        changed = {slot: now for slot, now in enumerate(slots) if now != before[slot]}
        assert drawn.draw(slots) == len(changed)
        assert covered(drawn) == changed
        before = slots


def test_a_run_of_like_slots_in_a_row_is_one_copy() -> None:
    drawn = Drawn()
    drawn.draw(["empty"] * SLOTS)
    assert len(drawn.shown()) == ROWS
