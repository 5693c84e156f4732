"""Pointing at slots of the board, by mouse, finger and arrow keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.marks import COLUMNS
from sim.params import SLOTS
from static import browser
from static.board import Board
from static.browser import one

MOVES = {"ArrowLeft": -1, "ArrowRight": 1, "ArrowUp": -COLUMNS, "ArrowDown": COLUMNS}
MARGIN = 3
"""Pixels between a slot and the cursor around it."""


class Pointer:
    """The slot pointed at: `newest` gives the slot where arrow keys begin."""

    def __init__(
        self,
        canvas: Any,
        board: Board,
        newest: Callable[[], int],
        moved: Callable[[], None],
        cursor: str = "#cursor",
    ) -> None:
        self.slot: int | None = None
        self._board, self._newest, self._moved = board, newest, moved
        self._cursor = one(cursor)
        browser.listen(canvas, "pointermove pointerdown", self._point)
        browser.listen(canvas, "pointerleave pointercancel blur", self._leave)
        browser.listen(canvas, "keydown", self._press)

    def show(self) -> None:
        """Put the cursor around the slot."""
        self._cursor.hidden = self.slot is None
        if self.slot is not None:
            left, top, size = self._board.box(self.slot)
            style = self._cursor.style
            style.left, style.top = f"{left - MARGIN}px", f"{top - MARGIN}px"
            style.width = style.height = f"{size + 2 * MARGIN}px"

    def _point(self, event: Any) -> None:
        self._select(self._board.slot_at(event.offsetX, event.offsetY))

    def _leave(self, event: Any) -> None:
        """Point at no slot; what a finger tapped stays when it is lifted."""
        if event.type != "pointerleave" or event.pointerType == "mouse":
            self._select(None)

    def _press(self, event: Any) -> None:
        if event.key in MOVES:
            event.preventDefault()
            slot = self.slot
            self._select(self._newest() if slot is None else (slot + MOVES[event.key]) % SLOTS)

    def _select(self, slot: int | None) -> None:
        if slot != self.slot:
            self.slot = slot
            self._moved()
