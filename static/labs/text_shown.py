"""What the page shows of a text that is written: tokens, what was said of one, board, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sim.labs.text_section import POINT
from sim.labs.text_shown import Spelling, kept_said, lines, numbers_html, said_html, tokens_html
from static import browser
from static.board import Board
from static.browser import Attribute, one

if TYPE_CHECKING:
    from sim.labs.writer import Writer

PACE = 200
"""Milliseconds between two looks at the numbers while they change."""


class Shown:
    """The text of one writer, drawn at most once a frame."""

    def __init__(self, section: Any) -> None:
        self._writer: Writer | None = None
        self._place, self._box = one("#text-shown"), one("#text-board-box")
        self._note = Attribute(one("#text-note"), "innerHTML")
        self._kept = Attribute(one("#text-kept"), "textContent")
        self._numbers = Attribute(one("#text-numbers"), "innerHTML")
        canvas = one("#text-board")
        new_canvas = browser.watch_canvases(self.forget)
        self._board = Board(canvas, browser.context(canvas), new_canvas)
        self._colours: Mapping[str, str] = {}
        self._frames = browser.Frames(self._frame)
        self._pace = browser.Delay(PACE, self._count, restarts=False)
        self._k = self._seen = 0
        self._at: int | None = None
        self._line: Any = None
        self._spelling = Spelling()
        browser.listen(self._place, "keydown", self._key)
        browser.listen(self._place, "pointerover", self._over)
        browser.observe_size(self._box, self.ask)

    def begin(self, writer: Writer) -> None:
        """Show this text from its prompt on."""
        self._writer, self._seen, self._at, self._spelling = writer, 0, None, Spelling()
        self._place.textContent, self._line = "", None
        self._note.write(POINT)
        self.renew()

    def settle(self, k: int) -> None:
        """Rates are told for drafts of this length."""
        self._k = k
        self.renew()

    def colour(self, colours: Mapping[str, str]) -> None:
        """These are the page's colours."""
        if colours != self._colours:
            self._colours = dict(colours)
            self.ask()

    def forget(self) -> None:
        """Draw the board anew."""
        self._board.forget()
        self.ask()

    def ask(self) -> None:
        """Something has changed: show it at the next frame, the numbers a little later."""
        self._frames.ask()
        self._pace.ask()

    def renew(self) -> None:
        """Show everything as it is now."""
        self._frames.ask()
        self._count()

    def point(self, at: int) -> None:
        """Say what the models said of this token."""
        if self._writer is None or not 0 <= at < self._seen:
            return
        for marked in self._place.querySelectorAll(".pointed"):
            marked.classList.remove("pointed")
        self._at = at
        self._place.querySelector(f"[data-at='{at}']").classList.add("pointed")
        self._note.write(said_html(self._writer, at))

    def _over(self, event: Any) -> None:
        token = event.target.closest("[data-at]")
        if token:
            self.point(int(token.getAttribute("data-at")))

    def _key(self, event: Any) -> None:
        steps = {"ArrowLeft": -1, "ArrowRight": 1}
        if event.key not in steps or not self._seen:
            return
        event.preventDefault()
        at = self._seen if self._at is None else self._at
        self.point(min(max(at + steps[event.key], 0), self._seen - 1))

    def _count(self) -> None:
        if self._writer:
            self._numbers.write(numbers_html(self._writer, self._k))

    def _append(self, texts: Sequence[str], origins: Sequence[str], first: int) -> None:
        """Show tokens of one line. A line is an element, so that no other is laid out anew."""
        if self._line is None:
            self._line = browser.element("div")
            self._place.append(self._line)
        self._line.insertAdjacentHTML("beforeend", tokens_html(texts, origins, first))
        if texts[-1].endswith("\n"):
            self._line = None

    def _frame(self, _seconds: float) -> None:
        writer = self._writer
        if writer is None or not self._colours:
            return
        new = slice(self._seen, len(writer.tokens))
        if new.stop > new.start:
            bytes_of = writer.models.pairs.bytes_of
            texts = self._spelling.of(bytes_of[token] for token in writer.tokens[new])
            origins = writer.origins[new]
            for part in lines(texts):
                self._append(texts[part], origins[part], new.start + part.start)
            self._place.scrollTop = self._place.scrollHeight
            self._seen = new.stop
        self._kept.write(kept_said(writer))
        width = float(self._box.clientWidth)
        if width:
            slots, hollow = writer.slots(), not writer.cached
            self._board.draw(slots, hollow, width, browser.pixel_ratio(), self._colours)
