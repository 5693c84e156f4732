"""A question on the page: put, answered by the reader, run, compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.picture import emphasised
from sim.question import Question, UnreadablePredictionError
from sim.run import Run
from static import browser
from static.browser import Attribute, one


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
        self._over = False
        self._panel, self._field = one("#question"), one("#prediction")
        self._asked = Attribute(one("#asked"), "innerHTML")
        self._unit = Attribute(one("#unit"), "textContent")
        self._wrong = Attribute(one("#wrong"), "textContent")
        self._skip = Attribute(one('[data-action="skip"]'), "textContent")
        browser.listen(self._panel, "submit", self._submit)

    @property
    def open(self) -> bool:
        """Whether the reader has yet to predict."""
        return self.question is not None and self._said is None

    @property
    def running(self) -> bool:
        """Whether a prediction waits for its run to come to the tick."""
        return self.waiting and not self.open

    @property
    def waiting(self) -> bool:
        """Whether the scene still waits for its question to be over."""
        return self.question is not None and not self._over

    def pose(self, question: Question | None) -> None:
        """Put a question, or take it away."""
        self.question, self._said, self._over = question, None, False
        self._field.value = ""
        self._wrong.write("")
        self._show()

    def reached(self, run: Run, tick: int) -> None:
        """Compare, once the run is where the question is about."""
        question = self.question
        if question is None or self._said is None or not self.running or tick < question.tick:
            return
        self._over = True
        self._show(run)
        self._answered(
            {
                "question": question.name,
                "prediction": self._said,
                "result": question.result(run),
                "tick": question.tick,
            }
        )

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
        self._wrong.write("")
        self._show()
        self._began()

    def _show(self, run: Run | None = None) -> None:
        question = self.question
        self._panel.hidden = question is None
        browser.root.classList.toggle("asking", question is not None)
        if question is None:
            return
        if self._said is None:
            phase, text = "open", question.text
        elif run is None:
            said = question.written(self._said)
            phase, text = "running", f"You said **{said}**. It runs to tick {question.tick} …"
        else:
            phase, text = "over", question.verdict(self._said, run)
        self._panel.setAttribute("data-phase", phase)
        self._asked.write(emphasised(text))
        self._unit.write(question.unit)
        self._skip.write("Just show me" if self._said is None else "Skip to the end")
