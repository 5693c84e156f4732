"""Published measurements of speculation, and what our formula says of each.

Leviathan et al. 2023 (https://arxiv.org/abs/2211.17192), Table 4, print draft length, acceptance
rate and cost of a draft, so each row is a prediction with a miss. Others leave some of them out:
of these follows what a round must have taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from sim.theory import expected_tokens_per_pass


class Row(NamedTuple):
    """A row of Leviathan's Table 4."""

    task: str
    draft: str
    temperature: int
    k: int
    alpha: float
    c: float
    expected: float
    """As it is printed there."""
    measured: float

    @property
    def tokens(self) -> float:
        """Tokens a pass, by Eq. 1."""
        return expected_tokens_per_pass([self.alpha] * self.k)

    @property
    def predicted(self) -> float:
        """Speedup, by Theorem 3.8."""
        return self.tokens / (self.k * self.c + 1)

    @property
    def miss(self) -> float:
        """Measured ÷ predicted − 1."""
        return self.measured / self.predicted - 1

    @property
    def label(self) -> str:
        """What was measured."""
        return f"{self.task}, {self.draft}, temperature {self.temperature}"


LEVIATHAN = "Leviathan et al. 2023, Table 4"
PAPER = "https://arxiv.org/abs/2211.17192"
TABLE_4 = (
    Row("En–De", "T5-small", 0, 7, 0.75, 0.02, 3.2, 3.4),
    Row("En–De", "T5-base", 0, 7, 0.8, 0.04, 3.3, 2.8),
    Row("En–De", "T5-large", 0, 7, 0.82, 0.11, 2.5, 1.7),
    Row("En–De", "T5-small", 1, 7, 0.62, 0.02, 2.3, 2.6),
    Row("En–De", "T5-base", 1, 5, 0.68, 0.04, 2.4, 2.4),
    Row("En–De", "T5-large", 1, 3, 0.71, 0.11, 2.0, 1.4),
    Row("CNN/DM", "T5-small", 0, 5, 0.65, 0.02, 2.4, 3.1),
    Row("CNN/DM", "T5-base", 0, 5, 0.73, 0.04, 2.6, 3.0),
    Row("CNN/DM", "T5-large", 0, 3, 0.74, 0.11, 2.0, 2.2),
    Row("CNN/DM", "T5-small", 1, 5, 0.53, 0.02, 1.9, 2.3),
    Row("CNN/DM", "T5-base", 1, 3, 0.55, 0.04, 1.8, 2.2),
    Row("CNN/DM", "T5-large", 1, 3, 0.56, 0.11, 1.6, 1.7),
)


class Report(NamedTuple):
    """A measurement that lacks something, and what is known besides."""

    name: str
    address: str
    k: int | None
    speedup: float | None = None
    tokens: float | None = None
    """A pass."""
    c: float | None = None
    """A draft step ÷ a plain pass."""

    @property
    def drafting(self) -> float | None:
        """What the drafts of a round took, in plain passes."""
        return None if self.k is None or self.c is None else self.k * self.c

    @property
    def beside_the_pass(self) -> float | None:
        """What a round must have taken beside one plain pass, in plain passes.

        Tokens a pass ÷ speedup is all of the round; without tokens, what its drafts are known to
        take.
        """
        if self.tokens is None or self.speedup is None:
            return self.drafting
        return self.tokens / self.speedup - 1

    @property
    def tokens_needed(self) -> float | None:
        """The tokens a pass that explain the speedup if nothing but drafts and a pass took time."""
        if self.speedup is None or self.drafting is None:
            return None
        return self.speedup * (self.drafting + 1)

    def round_cost(self, rates: Sequence[float]) -> float | None:
        """The cost a round, in plain passes, that explains the speedup at these rates.

        Below 0 where they are too low to explain it. None without a speedup or a drafting cost.
        """
        if self.speedup is None or self.drafting is None or self.k is None:
            return None
        tokens = expected_tokens_per_pass([rates[min(j, len(rates) - 1)] for j in range(self.k)])
        return tokens / self.speedup - self.drafting - 1


PLAIN_MS, DRAFT_MS = 14.1, 1.8
"""Milliseconds a token of the target and of the draft model: Chen et al. 2023, section 5."""

SPECULATIVE_MS = {
    "XSum, nucleus sampling": 7.52,
    "XSum, greedy": 7.0,
    "HumanEval, nucleus sampling": 5.73,
}
"""Milliseconds a token with four drafts, by task: their Table 1."""


def _chen(task: str, milliseconds: float) -> Report:
    address = "https://arxiv.org/abs/2302.01318"
    speedup, c = PLAIN_MS / milliseconds, DRAFT_MS / PLAIN_MS
    return Report(f"Chen et al. 2023, {task}", address, 4, speedup, c=c)


def _forge(engine: str, where: str, k: int | None, **known: float) -> Report:
    kind, number = where.split("/")[-2:]
    said = "issue" if kind == "issues" else "pull request"
    return Report(f"{engine}, {said} {number}", f"https://github.com/{where}", k, **known)


REPORTS = (
    *(_chen(task, milliseconds) for task, milliseconds in SPECULATIVE_MS.items()),
    _forge("llama.cpp", "ggml-org/llama.cpp/issues/27836", 2, tokens=1 + 2 * 0.9, speedup=0.24),
    _forge("SGLang", "sgl-project/sglang/issues/29244", None, tokens=2.0, speedup=0.64),
    _forge("vLLM", "vllm-project/vllm/pull/53753", 4, tokens=3.1, speedup=0.65),
    _forge("llama.cpp", "ggml-org/llama.cpp/pull/10455", 16, tokens=6.4, speedup=0.98),
    _forge("llama.cpp", "ggml-org/llama.cpp/pull/22673", 4, c=0.53),
)


class Near(NamedTuple):
    """A published measurement, with what a scene is compared by."""

    name: str
    address: str
    measured: float
    predicted: float | None
    k: int | None
    tokens: float
    round: float
    """In plain passes."""


def _measurements() -> list[Near]:
    found = [
        Near(
            *(f"{LEVIATHAN}, {row.label}", PAPER, row.measured, row.predicted),
            *(row.k, row.tokens, row.k * row.c + 1),
        )
        for row in TABLE_4
    ]
    for one in REPORTS:
        tokens = one.tokens or one.tokens_needed
        if tokens and one.speedup:
            whole = tokens / one.speedup
            found.append(Near(one.name, one.address, one.speedup, None, one.k, tokens, whole))
    return found


def nearest(k: int, tokens: float, whole: float) -> Near:
    """The published measurement nearest to a scene: by the ratios of tokens a pass, of the time of
    a round in plain passes, and, where it is known, of k + 1.
    """

    def distance(one: Near) -> float:
        apart = abs(log(one.tokens / tokens)) + abs(log(one.round / whole))
        return apart if one.k is None else apart + abs(log((one.k + 1) / (k + 1)))

    return min(_measurements(), key=distance)
