"""What a rule of speculative sampling writes, exactly: tokens per pass, words, and pairs of words.

The text is a chain on the word and the number of drafts kept so far in its pass, and passes begin
at words that are a chain of their own. With A = the chance that word j is drafted after i and kept,
R = that it replaces a draft, B = that it follows k kept ones, their kernel is Σ_{m<k} Aᵐ R + Aᵏ B;
its stationary row β says where passes begin, and tokens per pass are 1 + Σ_{m=1..k} β Aᵐ 1. For one
α that is the (1 − α^(k+1)) ÷ (1 − α) of Leviathan et al. 2023, Eq. 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.labs.sampling_rules import Models, Tables, tables
from sim.labs.speculative import Chances

DOUBLINGS = 60
"""Squarings of a kernel, after which it is its own limit: 2⁶⁰ passes."""


@dataclass(frozen=True)
class Exact:
    """A rule with its models, and all that follows from them."""

    rule: str
    models: Models
    tables: Tables
    k: int
    words: Chances
    """The target's own words: the stationary row of its matrix."""
    starts: Chances
    """The words after which passes begin, in their shares."""
    tokens_per_pass: float
    pairs: Chances
    """The share of each pair among all the rule writes: (the word before, the word)."""

    @property
    def wanted(self) -> Chances:
        """The share of each pair in the target's own text."""
        return self.words[:, None] * self.models.target

    @property
    def rates(self) -> list[float]:
        """By position in a pass: how often a draft is kept, given all before it; to six digits.

        For a rule that stops at a rejection.
        """
        rates, at = list[float](), self.starts
        for _ in range(self.k):
            reached, at = float(at.sum()), at @ self.tables.kept
            rates.append(round(min(1.0, float(at.sum()) / reached), 6) if reached else 0.0)
        return rates

    @property
    def total_variation(self) -> float:
        """How far the rule's pairs are from the target's, 0 to 1."""
        return float(np.abs(self.pairs - self.wanted).sum()) / 2


def exact(models: Models, rule: str, k: int, draft_temperature: float = 0.5) -> Exact:
    """What a rule writes with drafts of length k.

    Raises ValueError for a target whose words fall into parts that never meet.
    """
    words = stationary_words(models.target)
    made = tables(models, rule, draft_temperature)
    starts, pairs = (_going_on if made.goes_on else _stopping)(made, k, words)
    tokens = float(pairs.sum())
    return Exact(rule, models, made, k, words, starts, tokens, pairs / tokens)


def _stopping(made: Tables, k: int, words: Chances) -> tuple[Chances, Chances]:
    """Where passes begin, and the pairs that a pass writes, for a rule that ends at a rejection."""
    kept, replaced = made.kept, made.replaced
    kernel, reached = np.zeros_like(kept), np.eye(len(kept))
    for _ in range(k):
        kernel += reached @ replaced
        reached = reached @ kept
    starts = settled(words, kernel + reached @ made.last)
    at, pairs = starts, np.zeros_like(kept)
    for _ in range(k):
        pairs += at[:, None] * (kept + replaced)
        at = at @ kept
    return starts, pairs + at[:, None] * made.last


def _going_on(made: Tables, k: int, words: Chances) -> tuple[Chances, Chances]:
    """The same for the rule that leaves out a draft and goes on after it.

    Drafts follow one another whatever is kept, so the word after the last of them begins the next
    pass. After a word that was written as draft n the next one is any of the later drafts, or that.
    """
    kept, left_out = made.kept, made.draft - made.kept
    starts = settled(words, np.linalg.matrix_power(made.draft, k) @ made.last)
    following = [made.last]
    """The next word that is written, with so many drafts to come."""
    for _ in range(k):
        following.append(kept + left_out @ following[-1])
    pairs, drafted = starts[:, None] * following[k], starts
    for left in range(k - 1, -1, -1):
        pairs = pairs + (drafted @ kept)[:, None] * following[left]
        drafted = drafted @ made.draft
    return starts, pairs


def settled(start: Chances, kernel: Chances) -> Chances:
    """Where a chain is in the long run, on average, if it begins at `start`.

    That is its stationary row where there is one. Staying put every other time changes nothing of
    it, and lets chains settle that go round in circles.
    """
    power = (kernel + np.eye(len(kernel))) / 2
    for _ in range(DOUBLINGS):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    row = start @ power
    made: Chances = row / row.sum()
    return made


def stationary_words(target: Chances) -> Chances:
    """The target's own words in their shares, the only row with row · target = row.

    Raises ValueError where there is another: where some words never lead to others, nor these back.
    """
    size = len(target)
    leads = (target > 0) | np.eye(size, dtype=bool)
    for _ in range(size.bit_length()):
        leads = leads @ leads
    ends = [row for row in leads if (leads[row] == row).all()]
    parts = sorted({tuple(np.flatnonzero(row).tolist()) for row in ends})
    if len(parts) > 1:
        told = " and ".join("{" + ", ".join(str(n + 1) for n in part) + "}" for part in parts)
        raise ValueError(
            f"target: it stays among the words {told} for ever, whichever it comes to first; "
            "give a way from one of these to the others"
        )
    return settled(np.full(size, 1 / size), target)
