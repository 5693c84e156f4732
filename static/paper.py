"""The page's colours, as the reader's system and theme want them, and the page on paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.marks import PALETTES
from static import browser

TOLD_ON_PAPER = "#text details"
"""What is folded on the screen and not on paper."""


class Colours:
    """Palettes: which one, says what a link or the reader chose, or the system."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._dark = browser.media("prefers-color-scheme: dark")
        self._forced = browser.media("forced-colors: active")
        for condition in (self._dark, self._forced):
            browser.listen(condition, "change", lambda _event: changed())

    def paper(self, theme: str) -> dict[str, str]:
        """The colours of a picture that leaves the page."""
        dark = self._dark.matches if theme == "auto" else theme == "dark"
        return PALETTES["dark" if dark else "light"]

    def screen(self, theme: str) -> dict[str, str]:
        """The colours of what is drawn in the page."""
        return PALETTES["forced"] if self._forced.matches else self.paper(theme)


class Printing:
    """Unfolds for paper what is folded, and folds it again; `before` puts the scene there."""

    def __init__(self, before: Callable[[], None]) -> None:
        self._before_print = before
        self._opened: list[Any] = []
        browser.listen(browser.window, "beforeprint", lambda _event: self._unfold())
        browser.listen(browser.window, "afterprint", lambda _event: self._fold())

    def _unfold(self) -> None:
        self._before_print()
        self._opened = [folded for folded in browser.every(TOLD_ON_PAPER) if not folded.open]
        for details in self._opened:
            details.open = True

    def _fold(self) -> None:
        for details in self._opened:
            details.open = False
        self._opened = []
