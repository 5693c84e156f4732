"""A question on the page: put, answered by the reader, run, compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.picture import emphasised
from sim.question import Question, UnreadablePredictionError
from sim.run import Run
from static import browser
from static.browser import Attribute, one

OPEN, RUNNING, OVER = "open", "running", "over"
"""How far a question is: to be answered, on its way to its tick, compared."""


class Prediction:
    """The panel of a question, and how far it is.

    `began` is called when the run is to begin; `answered` with the answer, as hosts are told.
    """

    def __init__(
        self, began: Callable[[], None], answered: Callable[[dict[str, Any]], None]
    ) -> None:
        self._began, self._answered = began, answered
        self.question: Question | None = None
        self._said: float | None = None
        self._phase = OVER
        self._panel, self._field = one("#question"), one("#prediction")
        self._asked = Attribute(one("#asked"), "innerHTML")
        self._unit = Attribute(one("#unit"), "textContent")
        self._wrong = Attribute(one("#wrong"), "textContent")
        self._skip = Attribute(one('[data-action="skip"]'), "textContent")
        browser.listen(self._panel, "submit", self._submit)

    @property
    def open(self) -> bool:
        """Whether the reader has yet to predict."""
        return self.question is not None and self._phase == OPEN

    @property
    def running(self) -> bool:
        """Whether a prediction waits for its run to come to the tick."""
        return self.question is not None and self._phase == RUNNING

    @property
    def waiting(self) -> bool:
        """Whether the scene still waits for its question to be over."""
        return self.open or self.running

    def pose(self, question: Question | None) -> None:
        """Put a question, or take it away."""
        self.question, self._said, self._phase = question, None, OPEN
        self._field.value = ""
        self._wrong.write("")
        self._show(question.text if question else "")

    def postpone(self, tick: int) -> None:
        """Ask about another tick instead; what was written stays."""
        if self.question is not None:
            self.question = self.question._replace(tick=tick)
            self._show(self.question.text)

    def give_up(self) -> None:
        """Ask no more: the answer is shown as soon as it is reached."""
        if self.question is not None:
            self._phase = RUNNING
            self._wrong.write("")

    def reached(self, run: Run, tick: int) -> bool:
        """Compare, once the run is where the question is about; whether that was now."""
        question = self.question
        if question is None or not self.running or tick < question.tick:
            return False
        self._phase = OVER
        self._show(question.verdict(self._said, run))
        if self._said is not None:
            self._answered(
                {
                    "question": question.name,
                    "prediction": self._said,
                    "result": question.result(run),
                    "tick": question.tick,
                }
            )
        return True

    def _submit(self, event: Any) -> None:
        event.preventDefault()
        if self.question is None or not self.open:
            return
        try:
            self._said = self.question.read(self._field.value)
        except UnreadablePredictionError as error:
            self._wrong.write(str(error))
            self._field.focus()
            return
        self._phase = RUNNING
        self._wrong.write("")
        said = self.question.said(self._said)
        self._show(f"You said **{said}**. It runs to tick {self.question.tick} …")
        self._began()

    def _show(self, text: str) -> None:
        question = self.question
        self._panel.hidden = question is None
        browser.root.classList.toggle("asking", question is not None)
        browser.root.classList.toggle("predicting", self.open)
        if question is not None:
            self._panel.setAttribute("data-phase", self._phase)
            self._asked.write(emphasised(text))
            self._unit.write(question.unit)
            self._skip.write("Just show me" if self.open else "Skip to the end")
