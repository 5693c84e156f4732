"""Counting which token follows which others: the n-gram model's tables, from a text.

Shares are discounted, and what they leave goes to the shorter context (Ney, Essen and Kneser 1994);
shorter contexts count in how many longer ones a follower was seen, not how often (Kneser and Ney
1995).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.labs.weights import Array, Level

DISCOUNT = 0.75
"""Taken off every count; what was seen three times or more says a little less than it did."""


def levels_of(text: Array, vocabulary: int, least: Sequence[int]) -> tuple[Level, ...]:
    """A level for each number of `least`, from no context on; followers seen less often than that
    number after their context are left to shorter ones.
    """
    grams, counts = _grams(text, vocabulary, len(least))
    levels = []
    for length in reversed(range(len(least))):
        levels.append(_level(grams, counts, vocabulary, least[length]))
        if length:
            # Each gram without its first token, once for every first token that it was seen with.
            grams, counts = np.unique(grams % vocabulary**length, return_counts=True)
    return tuple(reversed(levels))


def _grams(text: Array, vocabulary: int, length: int) -> tuple[Array, Array]:
    """Every run of `length` tokens as a number in base `vocabulary`, and how often it is there."""
    numbers = np.zeros(len(text) - length + 1, np.int64)
    for place in range(length):
        numbers = numbers * vocabulary + text[place : len(numbers) + place]
    return np.unique(numbers, return_counts=True)


def _level(grams: Array, counts: Array, vocabulary: int, least: int) -> Level:
    contexts, place = np.unique(grams // vocabulary, return_inverse=True)
    totals = np.bincount(place, weights=counts)
    kept = counts >= least
    shares = (counts - DISCOUNT)[kept] / totals[place[kept]]
    followers, place = grams[kept] % vocabulary, place[kept]
    held, sizes = np.unique(place, return_counts=True)
    return Level(contexts[held], np.cumsum(sizes), followers, shares)
