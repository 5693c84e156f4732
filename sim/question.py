"""Predict, then run: a question about one number of a run, put before the run is seen."""

from __future__ import annotations

import math
from typing import NamedTuple

from sim.kinds import write_number
from sim.metrics import ANSWERS, BY_NAME, METRICS
from sim.reading import UnreadableError, number
from sim.run import Run
from sim.story import figure_with_unit

LABELS = {metric.name: metric.alone or metric.label for metric in METRICS}
"""What a number is called where it stands alone."""

SPOT_ON, CLOSE = 0.02, 0.1
"""Share of the result by which a prediction may be off."""

LONGEST = 30
"""Characters of a bad prediction that are repeated."""


class UnreadablePredictionError(ValueError):
    """A prediction that is no number. The message says so to the reader."""


class Question(NamedTuple):
    """What will the number `name` be at `tick`?"""

    name: str
    tick: int

    @property
    def unit(self) -> str:
        """What stands behind the number."""
        return BY_NAME[self.name].unit

    @property
    def hidden(self) -> set[str]:
        """Numbers that would give the answer away."""
        return {self.name, *ANSWERS}

    @property
    def text(self) -> str:
        """The question in words."""
        meaning = BY_NAME[self.name].help
        asked = f"what will it say for **{LABELS[self.name]}** at tick {self.tick}?"
        return f"Before it runs: {asked} ({meaning})"

    def read(self, text: str) -> float:
        """A prediction as the reader writes it, in the unit of the number; percent as a share.

        Raises UnreadablePredictionError.
        """
        try:
            read = number(text, math.inf if BY_NAME[self.name].is_count else None)
        except UnreadableError:
            shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
            named = f"“{shown}” is not a number" if text.strip() else "There is no number yet"
            raise UnreadablePredictionError(f"{named}. Write one, such as 3.") from None
        return read / 100 if self.unit == "%" and "%" not in text else read

    def result(self, run: Run) -> float | None:
        """The number itself, or None where the run has none."""
        value: float | None = run.report(self.tick)[self.name]
        return value

    def said(self, prediction: float) -> str:
        """A prediction with its unit, as the reader wrote it."""
        if self.unit == "%":
            return f"{write_number(round(100 * prediction, 3))} %"
        return write_number(round(prediction, 6)) + self.unit

    def verdict(self, prediction: float | None, run: Run) -> str:
        """What came of it, beside the prediction if there was one."""
        result = self.result(run)
        head = "" if prediction is None else f"You said **{self.said(prediction)}**. "
        if result is None:
            return f"{head}At tick {self.tick} there is no such number: nothing to divide by."
        told = f"{head}It is **{figure_with_unit(self.name, result)}** at tick {self.tick}."
        if prediction is not None:
            told += f" {_judged(prediction, result)}."
        theory = BY_NAME[self.name].theory
        if theory:
            told += f" Theory: {figure_with_unit(theory, run.report(self.tick)[theory])}."
        return told


def _judged(prediction: float, result: float) -> str:
    off = abs(prediction - result) / abs(result) if result else float(prediction != 0)
    if off <= SPOT_ON:
        return f"Spot on (within {100 * SPOT_ON:.0f} %)"
    if off <= CLOSE:
        return f"Close (within {100 * CLOSE:.0f} %)"
    word = "Too high" if prediction > result else "Too low"
    return f"{word} (by {100 * off:.0f} %)" if result else word
