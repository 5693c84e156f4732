"""Predict, then run: a question about one number of a run, put before the run is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sim.kinds import Real, Whole, write_number
from sim.metrics import ANSWERS, BY_NAME, METRICS
from sim.params import HORIZON
from sim.reading import UnreadableError, number
from sim.run import Run
from sim.view import WORDS
from sim.words import as_shown, figure_with_unit

LABELS = {metric.name: metric.alone or metric.label for metric in METRICS}
"""What a number is called where it stands alone."""

SPOT_ON, CLOSE = 0.02, 0.1
"""Share of the result by which a prediction may be off."""

FAR_OFF = 0.5
"""Share of the result from which on a prediction is worth nothing."""

LONGEST = 30
"""Characters of a bad prediction that are repeated."""

TICK, ANY_NUMBER = Whole(0, HORIZON), Real(-math.inf, math.inf)
"""What a question may be about, and what may be predicted."""


class UnreadablePredictionError(ValueError):
    """A prediction that is no number. The message says so to the reader."""


class Question(NamedTuple):
    """What will the number `name` be at `tick`?"""

    name: str
    tick: int
    words: str = ""
    """The question as its author words it, as plain text; empty for ours."""

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
        """The question in words, with **emphasis**, unless its author words it."""
        if self.words:
            return self.words
        meaning = BY_NAME[self.name].help
        asked = f"what will it say for **{LABELS[self.name]}** at tick {self.tick}?"
        return f"Before it runs: {asked} ({meaning})"

    @property
    def plain(self) -> str:
        """The question in words, without emphasis."""
        return self.words or self.text.replace("**", "")

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


OPEN, RUNNING, OVER = "open", "running", "over"
"""How far a question is: to be answered, on its way to its tick, compared."""


@dataclass(frozen=True)
class Prediction:
    """A question that was put, if there is one, and how far it is."""

    question: Question | None = None
    phase: str = OVER
    said: float | None = None
    """The reader's prediction; percent as a share."""
    wrong: str = ""
    """What is wrong with what the reader wrote."""
    written: str = ""
    """What stands in the field of the reader."""
    tried: tuple[Question, ...] = ()
    """Every question that was over so far, as often as it was."""
    put: int = 0
    """How often a question was put or taken away: what was written goes with it."""

    @property
    def open(self) -> bool:
        """Whether the reader has yet to predict."""
        return self.question is not None and self.phase == OPEN

    @property
    def running(self) -> bool:
        """Whether a prediction waits for its run to come to the tick."""
        return self.question is not None and self.phase == RUNNING

    @property
    def waiting(self) -> bool:
        """Whether the scene still waits for its question to be over."""
        return self.open or self.running

    @property
    def hidden(self) -> set[str]:
        """Numbers that must not be seen yet."""
        return self.question.hidden if self.question and self.open else set()

    def posed(self, question: Question | None) -> Prediction:
        """Another question, or none."""
        phase = OPEN if question else OVER
        return Prediction(question, phase, tried=self.tried, put=self.put + 1)

    def altered(self, **fields: Any) -> Prediction:
        """The question about another tick, or in other words; what was written stays."""
        return replace(self, question=self.question and self.question._replace(**fields))

    def noted(self, text: str) -> Prediction:
        """The question with what the reader has written so far."""
        return replace(self, written=text[:MOST_WRITTEN]) if self.open else self

    def answered(self, text: str) -> Prediction:
        """The question with a prediction as the reader writes it, or with what is wrong with it."""
        if self.question is None or not self.open:
            return self
        noted = self.noted(text)
        try:
            said = self.question.read(text)
        except UnreadablePredictionError as error:
            return replace(noted, wrong=str(error))
        return replace(noted, said=said, phase=RUNNING, wrong="")

    def given_up(self) -> Prediction:
        """The question without a prediction that was not made yet."""
        return replace(self, phase=RUNNING, wrong="") if self.waiting else self

    def reached(self, tick: int) -> Prediction:
        """The question once the run is at `tick`: over, if it was on its way there."""
        if self.question is None or not self.running or tick < self.question.tick:
            return self
        return replace(self, phase=OVER, tried=(*self.tried, self.question))

    @property
    def attempts(self) -> int:
        """How often this question was over so far: predicted, or shown without a prediction."""
        return self.tried.count(self.question) if self.question else 0

    def told(self, run: Run) -> str:
        """What is said of it: the question, what the reader said, or what came of it."""
        if self.question is None:
            return ""
        if self.phase == OVER:
            return self.question.verdict(self.said, run)
        if self.said is None:
            return self.question.text
        said = self.question.said(self.said)
        return f"You said **{said}**. It runs to tick {self.question.tick} …"

    def answer(self, run: Run) -> dict[str, Any] | None:
        """What hosts are told once a question is over; None before.

        `prediction` is None where the reader only had it shown. `result` is the number as it is
        shown, of a percentage its share; `score` is what the prediction is worth, of 100.
        """
        if self.question is None or self.phase != OVER:
            return None
        name, tick, _ = self.question
        return {
            "question": name,
            "prediction": self.said,
            "result": as_shown(name, self.question.result(run)),
            "score": points(self.said, self.question.result(run)),
            "tick": tick,
            "attempts": self.attempts,
        }

    @property
    def kept(self) -> dict[str, Any]:
        """All of it as JSON can hold it, for `kept_as`."""
        return {
            "question": self.question and list(self.question),
            "phase": self.phase,
            "prediction": self.said,
            "written": self.written,
            "tried": [list(question) for question in self.tried[-MOST_TRIED:]],
        }


MOST_WRITTEN = 100
"""Characters of the reader's field that are remembered."""

MOST_TRIED = 1000
"""Questions that were over, of those that are remembered elsewhere."""


def kept_as(fields: Mapping[str, object]) -> Prediction:
    """The prediction that `Prediction.kept` told of. Raises UnreadableError for anything else."""
    question, phase, said = (fields.get(name) for name in ("question", "phase", "prediction"))
    written, tried = fields.get("written"), fields.get("tried")
    if phase not in (OPEN, RUNNING, OVER) or not isinstance(written, str):
        raise UnreadableError
    if not isinstance(tried, list) or len(tried) > MOST_TRIED:
        raise UnreadableError
    return Prediction(
        None if question is None else _question(question),
        str(phase),
        None if said is None else ANY_NUMBER.read(said)[0],
        written=written[:MOST_WRITTEN],
        tried=tuple(map(_question, tried)),
    )


def _question(told: object) -> Question:
    if not isinstance(told, list) or len(told) != 3 or told[0] not in tuple(LABELS):
        raise UnreadableError
    return Question(str(told[0]), TICK.read(told[1])[0], WORDS.read(told[2])[0])


NOTHING_ASKED = Prediction()


def points(prediction: float | None, result: float | None) -> int | None:
    """What a prediction is worth, of 100: all within `SPOT_ON` of the result, less in a straight
    line the further it is off, nothing from `FAR_OFF` on. No prediction is worth nothing, and None
    is for a run that has no such number.
    """
    if result is None:
        return None
    off = FAR_OFF if prediction is None else _off(prediction, result)
    return round(100 * min(max((FAR_OFF - off) / (FAR_OFF - SPOT_ON), 0), 1))


def _off(prediction: float, result: float) -> float:
    """By which share of the result a prediction is off; of a result of 0 by all, or by nothing."""
    return abs(prediction - result) / abs(result) if result else float(prediction != 0)


def _judged(prediction: float, result: float) -> str:
    off = _off(prediction, result)
    if off <= SPOT_ON:
        return f"Spot on (within {100 * SPOT_ON:.0f} %)"
    if off <= CLOSE:
        return f"Close (within {100 * CLOSE:.0f} %)"
    word = "Too high" if prediction > result else "Too low"
    return f"{word} (by {100 * off:.0f} %)" if result else word
