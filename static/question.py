"""The field of a question: what the reader writes into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.question import Prediction
from static import browser
from static.browser import one


class Panel:
    """Hands over what was written; `sim.face` says what is shown around it."""

    def __init__(self, predicted: Callable[[str], None], noted: Callable[[str], None]) -> None:
        self._predicted, self._noted, self._put = predicted, noted, 0
        self._field = one("#prediction")
        browser.listen(self._field, "input", self._note)
        browser.listen(one("#question"), "submit", self._submit)

    def show(self, prediction: Prediction) -> None:
        """What was written goes with its question, and what is wrong with it can be mended."""
        if prediction.put != self._put:
            self._put = prediction.put
            self._field.value = prediction.written
        if prediction.wrong:
            self._field.focus()

    def _note(self, _event: Any) -> None:
        self._noted(self._field.value)

    def _submit(self, event: Any) -> None:
        event.preventDefault()
        self._predicted(self._field.value)
