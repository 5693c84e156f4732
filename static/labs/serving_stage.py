"""The server's passes on the page: the board, the rows of requests, and going through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.labs.history import History, Moment
from sim.labs.serving_shown import MOST_ROWS, Row, request_rows
from sim.labs.slots import BOARD_LOOKS, GRID, POINT, board, pass_told, slot_told
from sim.words import count
from static import browser
from static.board import Board
from static.browser import Attribute, one
from static.pointer import Pointer

SLOWED = 0.08
"""Seconds of the server that a second of the reader shows."""

LAG = 0.25
"""Longest stretch of clock that one frame may catch up with."""

ROW = 28
"""Pixels from the top of a row to that of the next."""

SIDES = {"running": 0, "preempted": 1, "queued": 1}


class Rows:
    """Requests as rows that move: those that run on the left, those that wait on the right."""

    def __init__(self) -> None:
        self._box = one("#serving-rows")
        self._shown: dict[int, tuple[Any, Attribute, Attribute, Any]] = {}  # by request
        self._was: dict[int, Row] = {}
        self._heads = []
        for side, head in enumerate(("running", "waiting, preempted first")):
            line = browser.element("p", f"side{side}")
            line.textContent = head
            more = browser.element("p", f"more side{side}")
            self._box.append(line, more)
            self._heads.append(Attribute(more, "textContent"))
        self._box.style.height = f"{ROW * (MOST_ROWS + 2)}px"

    def show(self, rows: list[Row], more: tuple[int, int]) -> None:
        """Move, add and take away what differs."""
        now = {row.number: row for row in rows}
        for number in self._was.keys() - now.keys():
            self._shown.pop(number)[0].remove()
        for number, row in now.items():
            if self._was.get(number) != row:
                self._place(number, row)
        self._was = now
        for head, number in zip(self._heads, more, strict=True):
            head.write(f"and {count(number)} more" if number else "")

    def _place(self, number: int, row: Row) -> None:
        if number not in self._shown:
            self._shown[number] = self._new(number)
        element, kind, text, bar = self._shown[number]
        was = self._was.get(number)
        hue = "" if row.hue is None else f" hue{row.hue + 1}"
        kind.write(f"request {row.state} side{SIDES[row.state]}{hue}")
        text.write(row.text)
        if not was or was.place != row.place:
            element.style.transform = f"translateY({ROW * (row.place + 1)}px)"
        if not was or was.done != row.done:
            bar.style.transform = f"scaleX({row.done:.3f})"

    def _new(self, number: int) -> tuple[Any, Attribute, Attribute, Any]:
        element, name, text = (browser.element(tag) for tag in ("div", "b", "span"))
        bar = browser.element("i")
        name.textContent = f"{number + 1}"
        element.append(bar, name, text)
        self._box.append(element)
        return element, Attribute(element, "className"), Attribute(text, "textContent"), bar


class Stage:
    """One history, looked at in one moment; `moved` is called when the reader has gone elsewhere.

    `moving` is called too while it plays.
    """

    def __init__(self, moved: Callable[[], object], moving: Callable[[], object]) -> None:
        self.seconds, self.playing = 0.0, False
        self._moved, self._moving = moved, moving
        self._history: History | None = None
        self._colours: Mapping[str, str] = {}
        self._last: float | None = None
        canvas = one("#serving-board")
        self._box = one("#serving-box")
        new_canvas = browser.watch_canvases(self.redraw)
        self._board = Board(canvas, browser.context(canvas), new_canvas, BOARD_LOOKS, GRID)
        self._frames = browser.Frames(self._frame)
        self._pointer = Pointer(
            canvas, self._board, lambda: 0, self._frames.ask, cursor="#serving-cursor"
        )
        self._rows = Rows()
        self._line = one("#serving-line")
        self._slot = Attribute(one("#serving-slot"), "textContent")
        self._pass = Attribute(one("#serving-pass"), "textContent")
        self._play = Attribute(one('[data-serving-action="play"]'), "textContent")
        self._width, self._near = 0.0, False
        browser.observe_size(self._box, self._measure)
        browser.watch_near(self._box, self._come)
        browser.listen(self._line, "input", self._scrub)
        browser.listen(self._line, "change", lambda _event: self._moved())

    def show(self, history: History) -> None:
        """Look at this one, at the same moment as before."""
        self._history = history
        self._line.max = f"{max(0, len(history.moments) - 1)}"
        self._frames.ask()

    def paint(self, colours: Mapping[str, str]) -> None:
        """In these colours."""
        self._colours = colours
        self._frames.ask()

    def redraw(self) -> None:
        """What the canvas holds is lost."""
        self._board.forget()
        self._frames.ask()

    def go(self, seconds: float) -> None:
        """Look at this moment."""
        self.seconds = seconds
        self._frames.ask()

    def press(self, action: str) -> None:
        """Play or rest, go a pass on or back, or to the start."""
        history = self._history
        if not history or not history.moments:
            return
        at, last = history.at(self.seconds), len(history.moments) - 1
        if action == "play":
            self.playing, self._last = not self.playing, None
            if self.playing and self.seconds >= history.moments[-1].end:
                self.seconds = 0.0
            if not self.playing:
                self._moved()
        else:
            self.playing = False
            goal = {"step": min(at + 1, last), "back": max(at - 1, 0), "start": 0}[action]
            self.seconds = history.moments[goal].start
            self._moved()
        self._frames.ask()

    def _measure(self) -> None:
        """Take the width when it changes, not in every frame: asking lays the page out."""
        self._width = float(self._box.clientWidth)
        self._frames.ask()

    def _come(self, near: bool) -> None:
        self._near = near
        self._frames.ask()

    def _scrub(self, _event: Any) -> None:
        self.playing = False
        if self._history and self._history.moments:
            self.seconds = self._history.moments[int(self._line.value)].start
        self._moving()
        self._frames.ask()

    def _frame(self, now: float) -> None:
        history = self._history
        self._play.write("Pause" if self.playing else "Play")
        if not history or not history.moments:
            return
        if self.playing:
            elapsed = 0.0 if self._last is None else min(LAG, now - self._last)
            self._last = now
            self.seconds += SLOWED * elapsed
            self._moving()
            if self.seconds >= history.moments[-1].end:
                self.seconds, self.playing = history.moments[-1].end, False
                self._moved()
            self._frames.ask()
        at = history.at(self.seconds)
        self._draw(history, history.moments[at], at)

    def _draw(self, history: History, moment: Moment, at: int) -> None:
        asked = history.scene.asked
        if self._width and self._colours and self._near:
            drawn, ratio = board(asked, moment), browser.pixel_ratio()
            self._board.draw(drawn.states, False, self._width, ratio, self._colours, drawn.borders)
            self._pointer.show()
        slot = self._pointer.slot
        self._slot.write(POINT if slot is None else slot_told(asked, moment, slot))
        self._pass.write(pass_told(moment, at))
        self._rows.show(*request_rows(history, moment))
        if self._line.value != f"{at}":
            self._line.value = f"{at}"
