"""One pass of a rule step by step, to be watched: what is drafted, tossed, kept or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.labs.sampling_draw import COIN, DRAFT, REPLACEMENT, streams
from sim.labs.sampling_exact import Exact
from sim.labs.speculative import drawn


class Step(NamedTuple):
    """A draft and what became of it."""

    before: int
    """The word that it was drawn after."""
    draft: int
    keep: float
    """The chance that the rule keeps it."""
    coin: float
    kept: bool


class Pass(NamedTuple):
    """A pass after one word: its drafts as far as they count, and its own word."""

    start: int
    steps: tuple[Step, ...]
    after: int
    """The word that the own word was drawn after."""
    replaced: bool
    """Whether the own word replaces a draft; else it follows the last one."""
    own: int

    @property
    def words(self) -> list[int]:
        """What it writes."""
        return [*(step.draft for step in self.steps if step.kept), self.own]


def one_pass(
    exact: Exact, start: int, drafts: Sequence[float], coins: Sequence[float], own: float
) -> Pass:
    """A pass after the word `start`, given its uniforms: k for drafts, k for coins, one more."""
    made, at, steps = exact.tables, start, []
    for position in range(exact.k):
        draft = drawn(made.draft[at], drafts[position])
        keep = float(made.keep[at, draft])
        kept = coins[position] < keep
        steps.append(Step(at, draft, keep, coins[position], kept))
        if not kept and not made.goes_on:
            return Pass(start, tuple(steps), at, True, drawn(made.instead[at], own))
        at = draft
    return Pass(start, tuple(steps), at, False, drawn(made.last[at], own))


def watched(exact: Exact, start: int, number: int, seed: int) -> Pass:
    """The pass of this number, from 0 on, of one text that is written after a word alone."""
    luck = streams(seed)
    at = start
    for _ in range(number + 1):
        made = one_pass(
            exact,
            at,
            luck[DRAFT].random(exact.k).tolist(),
            luck[COIN].random(exact.k).tolist(),
            float(luck[REPLACEMENT].random()),
        )
        at = made.own
    return made
