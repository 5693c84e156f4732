"""The line in which the page says what it could not take as it was given."""

from __future__ import annotations

from typing import Any

from static import browser
from static.browser import one


class Notices:
    """Says something that the reader can dismiss."""

    def __init__(self) -> None:
        self._line = one("#notice")

    def say(self, text: str, near: Any = None) -> None:
        """Say it; in a frame as high as its content the top may be out of sight: by the field."""
        browser.place_above(self._line, near if browser.framed else None)
        self._line.querySelector("p").textContent = text
        self._line.hidden = False

    def dismiss(self) -> None:
        """Say no more."""
        self._line.hidden = True
