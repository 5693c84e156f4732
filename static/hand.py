"""The reader's hand on the strip: a press on a draft sets its verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from static import browser
from static.browser import one


class Hand:
    """Drafts of the pass shown, as buttons; `press` is given the number of one, counted from 0."""

    def __init__(self, press: Callable[[int], None]) -> None:
        self._press, self._strip = press, one("#strip")
        self._held: str | None = None
        browser.listen(self._strip, "click", self._take)

    def show(self) -> None:
        """Keep the focus on the draft that was pressed, now that the strip is another."""
        if self._held is not None:
            again = self._strip.querySelector(f'[data-draft="{self._held}"]')
            self._held = None
            if again:
                again.focus()

    def _take(self, event: Any) -> None:
        draft = event.target.closest("[data-draft]")
        if draft and not draft.disabled:
            self._held = draft.getAttribute("data-draft")
            self._press(int(self._held))
