"""The board on its canvas: only slots that changed are drawn, a run of like slots in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, pi
from typing import Any

from sim.marks import GRID, LOOKS, RADIUS, Border, Grid, Look, Shape, columns, frames, shapes


class Board:
    """Draws slot states from a sheet: one line a state, each a whole row of the board.

    The sheet's columns are the board's, so a run of like slots in a row is one `drawImage`, wider
    gap included. It is drawn anew when size, colours or hollowness change. Borders lie in the gaps,
    where no run goes on.
    """

    def __init__(
        self,
        canvas: Any,
        context: Any,
        new_canvas: Callable[[], Any],
        looks: Mapping[str, Look] = LOOKS,
        grid: Grid = GRID,
    ) -> None:
        self._canvas, self._context, self._new_canvas = canvas, context, new_canvas
        self._looks, self._grid = looks, grid
        self._line_of = {state: line for line, state in enumerate(looks)}
        self._look: tuple[Any, ...] = ()
        self._shown: list[str] = []
        self._borders: tuple[Border, ...] = ()
        self._ends, self._apart = self._ends_of(()), True
        self._sheet: Any = None
        self._lefts: list[float] = []
        self._cell = self._pitch = self._margin = 0
        self._ratio = 1.0

    def draw(
        self,
        slots: list[str],
        hollow: bool,
        width: float,
        ratio: float,
        colours: Mapping[str, str],
        borders: tuple[Border, ...] = (),
    ) -> int:
        """Show these states on a board `width` CSS pixels wide; return how many slots changed.

        `borders` go around groups of slots; where two meet in one pixel, the later one is seen.
        """
        look = (hollow, width, ratio, colours["ground"], colours["ink"])
        if look != self._look:
            self._prepare(hollow, width, ratio, colours)
            self._look = look
        if self._borders != borders:
            self._draw_borders(borders, colours)
        shown = self._shown
        if slots == shown:
            return 0
        ends = self._ends
        changed = [slot for slot in range(self._grid.slots) if slots[slot] != shown[slot]]
        start = last = changed[0]
        for slot in changed[1:]:
            if slot != last + 1 or slots[slot] != slots[last] or slot in ends:
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
        row = floor((y * self._ratio - self._margin) / self._pitch)
        column = sum(1 for left in self._lefts if left <= x * self._ratio) - 1
        inside = 0 <= row < self._grid.rows and column >= 0
        return row * self._grid.columns + column if inside else None

    def box(self, slot: int) -> tuple[float, float, float]:
        """Left, top and size of a slot in CSS pixels."""
        row, column = divmod(slot, self._grid.columns)
        return (
            self._lefts[column] / self._ratio,
            self._top(row) / self._ratio,
            self._cell / self._ratio,
        )

    def _top(self, row: int) -> int:
        return self._margin + row * self._pitch

    def _blit(self, state: str, first: int, last: int) -> None:
        """Copy one run of like slots within a row from the sheet."""
        row, column = divmod(first, self._grid.columns)
        left = self._lefts[column]
        width = self._lefts[last % self._grid.columns] + self._cell - left
        cell = self._cell
        self._context.drawImage(
            self._sheet,
            left,
            self._line_of[state] * cell,
            width,
            cell,
            left,
            self._top(row),
            width,
            cell,
        )

    def _ends_of(self, borders: Sequence[Border]) -> frozenset[int]:
        """Slots that no run goes on to: at the left of a row, and behind a line."""
        across = self._grid.columns
        ends = set(range(0, self._grid.slots, across))
        for border in borders:
            for row, column, last_row, last_column in frames(border, self._grid):
                for start in range(row * across, (last_row + 1) * across, across):
                    ends |= {start + column, start + last_column + 1}
        return frozenset(ends)

    def _draw_borders(self, borders: tuple[Border, ...], colours: Mapping[str, str]) -> None:
        """Draw the ground where a border was, then those that are; slots stay as they are.

        Those that stay are drawn again only where they may share pixels with others.
        """
        were, places = set(self._borders), [border[:2] for border in borders]
        if places != [border[:2] for border in self._borders]:
            kept = set(places)
            for border in self._borders:
                if border[:2] not in kept:
                    self._line(border, colours["ground"])
            self._ends, self._apart = self._ends_of(borders), self._are_apart(borders)
        for border in borders:
            if border not in were or not self._apart:
                self._line(border, colours[border.role])
        self._borders = borders

    def _are_apart(self, borders: Sequence[Border]) -> bool:
        """Whether no two borders share a slot or a pixel."""
        ordered = sorted(borders)
        if any(one.last >= other.first for one, other in pairwise(ordered)):
            return False
        _, off = self._line_width
        beside = (right - left for left, right in pairwise(self._lefts))
        return 2 * off <= min(self._pitch, *beside) - self._cell

    @property
    def _line_width(self) -> tuple[int, int]:
        """Of a border, in whole pixels, and how far it reaches from its slots."""
        gap = self._pitch - self._cell
        line = max(1, gap // 3)
        return line, max(0, gap // 2 - line) + line

    def _line(self, border: Border, colour: str) -> None:
        """Draw a border in whole pixels, in the half of the gaps that is on its side."""
        cell, context = self._cell, self._context
        line, off = self._line_width
        context.fillStyle = colour
        for row, column, last_row, last_column in frames(border, self._grid):
            left, top = self._lefts[column] - off, self._top(row) - off
            width = self._lefts[last_column] + cell + off - left
            height = self._top(last_row) + cell + off - top
            context.fillRect(left, top, width, line)
            context.fillRect(left, top + height - line, width, line)
            context.fillRect(left, top, line, height)
            context.fillRect(left + width - line, top, line, height)

    def _prepare(
        self, hollow: bool, width: float, ratio: float, colours: Mapping[str, str]
    ) -> None:
        """Lay the board out in whole device pixels, and draw the sheet."""
        grid, rows = self._grid, self._grid.rows
        across = max(grid.columns * 3, floor(width * ratio))
        self._cell = cell = max(2, floor(across * grid.cell / grid.width))
        self._margin = margin = ceil(across * grid.margin / grid.width)
        down = across * grid.height / grid.width - 2 * margin
        self._pitch = max(cell + 1, floor((down - cell) / max(1, rows - 1)))
        self._lefts = [margin + left for left in columns(across - 2 * margin, cell, grid)]
        self._ratio = ratio
        canvas = self._canvas
        canvas.width, canvas.height = across, (rows - 1) * self._pitch + cell + 2 * margin
        canvas.style.width = f"{across / ratio}px"
        canvas.style.height = f"{canvas.height / ratio}px"
        sheet = self._new_canvas()
        sheet.width, sheet.height = across, len(self._looks) * cell
        context = sheet.getContext("2d")
        for surface, height in ((context, sheet.height), (self._context, canvas.height)):
            surface.fillStyle = colours["ground"]
            surface.fillRect(0, 0, across, height)
        first, *others = self._lefts
        for state, line in self._line_of.items():
            top = line * cell
            for shape in shapes(state, hollow, self._looks):
                self._shape(context, shape, first, top, colours)
            for left in others:
                context.drawImage(sheet, first, top, cell, cell, left, top, cell, cell)
        self._sheet = sheet
        self._shown, self._borders = [""] * grid.slots, ()
        self._ends = self._ends_of(())

    def _shape(
        self, context: Any, shape: Shape, left: float, top: float, colours: Mapping[str, str]
    ) -> None:
        """Draw one shape of a mark into the first cell of a line of the sheet."""
        kind, *numbers, role = shape
        size = self._cell
        n = [number * size for number in numbers]
        context.fillStyle = context.strokeStyle = colours[role]
        context.beginPath()
        if kind == "cell":
            context.roundRect(left, top, size, size, RADIUS * size)
            context.fill()
        elif kind == "dot":
            context.arc(left + n[0], top + n[1], n[2], 0, 2 * pi)
            context.fill()
        else:
            context.lineWidth = n[-1]
            if kind == "line":
                context.moveTo(left + n[0], top + n[1])
                context.lineTo(left + n[2], top + n[3])
            elif kind == "ring":
                context.arc(left + n[0], top + n[1], n[2], 0, 2 * pi)
            else:
                edge, side = n[0] + n[1] / 2, size - 2 * n[0] - n[1]
                context.roundRect(left + edge, top + edge, side, side, RADIUS * size - edge)
            context.stroke()
