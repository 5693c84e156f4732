"""The board on its canvas: only slots that changed are drawn, a run of like slots in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, pi
from typing import Any

from sim.marks import COLUMNS, LOOKS, RADIUS, ROWS, Shape, columns, shapes
from sim.params import SLOTS
from sim.picture import CELL, HEIGHT, WIDTH

LINE_OF = {state: line for line, state in enumerate(LOOKS)}


class Board:
    """Draws slot states from a sheet: one line a state, each a whole row of the board.

    The sheet's columns are the board's, so a run of like slots in a row is one `drawImage`, block
    gap included. It is drawn anew when size, colours or hollowness change.
    """

    def __init__(self, canvas: Any, context: Any, new_canvas: Callable[[], Any]) -> None:
        self._canvas, self._context, self._new_canvas = canvas, context, new_canvas
        self._look: tuple[Any, ...] = ()
        self._shown: list[str] = []
        self._sheet: Any = None
        self._lefts: list[float] = []
        self._cell = self._pitch = 0
        self._ratio = 1.0

    def draw(
        self, slots: list[str], hollow: bool, width: float, ratio: float, colours: Mapping[str, str]
    ) -> int:
        """Show these states on a board `width` CSS pixels wide; return how many slots changed."""
        look = (hollow, width, ratio, colours["ground"], colours["ink"])
        if look != self._look:
            self._prepare(hollow, width, ratio, colours)
            self._look = look
        shown = self._shown
        if slots == shown:
            return 0
        changed = [slot for slot in range(SLOTS) if slots[slot] != shown[slot]]
        start = last = changed[0]
        for slot in changed[1:]:
            if slot != last + 1 or slots[slot] != slots[last] or slot % COLUMNS == 0:
                self._blit(slots[start], start, last)
                start = slot
            last = slot
        self._blit(slots[start], start, last)
        self._shown = slots
        return len(changed)

    def forget(self) -> None:
        """Draw all anew at the next draw, the sheet too: a browser may drop what canvases hold."""
        self._look = ()

    def slot_at(self, x: float, y: float) -> int | None:
        """The slot at a point of the canvas in CSS pixels, its gap included, or None."""
        if not self._lefts:
            return None
        row = floor(y * self._ratio / self._pitch)
        column = sum(1 for left in self._lefts if left <= x * self._ratio) - 1
        return row * COLUMNS + column if 0 <= row < ROWS and column >= 0 else None

    def box(self, slot: int) -> tuple[float, float, float]:
        """Left, top and size of a slot in CSS pixels."""
        row, column = divmod(slot, COLUMNS)
        return (
            self._lefts[column] / self._ratio,
            row * self._pitch / self._ratio,
            self._cell / self._ratio,
        )

    def _blit(self, state: str, first: int, last: int) -> None:
        """Copy one run of like slots within a row from the sheet."""
        row, column = divmod(first, COLUMNS)
        left = self._lefts[column]
        width = self._lefts[last % COLUMNS] + self._cell - left
        cell = self._cell
        self._context.drawImage(
            self._sheet,
            left,
            LINE_OF[state] * cell,
            width,
            cell,
            left,
            row * self._pitch,
            width,
            cell,
        )

    def _prepare(
        self, hollow: bool, width: float, ratio: float, colours: Mapping[str, str]
    ) -> None:
        """Lay the board out in whole device pixels, and draw the sheet."""
        across = max(COLUMNS * 3, floor(width * ratio))
        self._cell = cell = max(2, floor(across * CELL / WIDTH))
        self._pitch = max(cell + 1, floor((across * HEIGHT / WIDTH - cell) / (ROWS - 1)))
        self._lefts = columns(across, cell)
        self._ratio = ratio
        canvas = self._canvas
        canvas.width, canvas.height = across, (ROWS - 1) * self._pitch + cell
        canvas.style.width = f"{across / ratio}px"
        canvas.style.height = f"{canvas.height / ratio}px"
        sheet = self._new_canvas()
        sheet.width, sheet.height = across, len(LOOKS) * cell
        context = sheet.getContext("2d")
        for surface, height in ((context, sheet.height), (self._context, canvas.height)):
            surface.fillStyle = colours["ground"]
            surface.fillRect(0, 0, across, height)
        for state, line in LINE_OF.items():
            for shape in shapes(state, hollow):
                self._shape(context, shape, line * cell, colours)
            for left in self._lefts[1:]:
                context.drawImage(sheet, 0, line * cell, cell, cell, left, line * cell, cell, cell)
        self._sheet = sheet
        self._shown = [""] * SLOTS

    def _shape(self, context: Any, shape: Shape, top: float, colours: Mapping[str, str]) -> None:
        """Draw one shape of a mark into the first cell of a line of the sheet."""
        kind, *numbers, role = shape
        size = self._cell
        n = [number * size for number in numbers]
        context.fillStyle = context.strokeStyle = colours[role]
        context.beginPath()
        if kind == "cell":
            context.roundRect(0, top, size, size, RADIUS * size)
            context.fill()
        elif kind == "dot":
            context.arc(n[0], top + n[1], n[2], 0, 2 * pi)
            context.fill()
        else:
            context.lineWidth = n[-1]
            if kind == "line":
                context.moveTo(n[0], top + n[1])
                context.lineTo(n[2], top + n[3])
            elif kind == "ring":
                context.arc(n[0], top + n[1], n[2], 0, 2 * pi)
            else:
                edge, side = n[0] + n[1] / 2, size - 2 * n[0] - n[1]
                context.roundRect(edge, top + edge, side, side, RADIUS * size - edge)
            context.stroke()
