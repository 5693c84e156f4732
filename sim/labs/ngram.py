"""The n-gram draft: which token follows the latest few, by counts of the plays, with back-off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.labs.weights import Array, Level


class Ngram:
    """Chances of the next token from counts: what a longer context leaves goes to shorter ones."""

    def __init__(self, levels: Sequence[Level], vocabulary: int) -> None:
        self._levels, self._vocabulary = tuple(levels), vocabulary
        self._even = np.full(vocabulary, 1 / vocabulary)

    def chances(self, tokens: Sequence[int]) -> Array:
        """The chance of each token to follow these: float64, they sum to 1.

        From the shortest context to the longest that was seen: (1 − its shares) · what shorter ones
        say + its shares.
        """
        chances = self._even.copy()
        context, scale = 0, 1
        for length, level in enumerate(self._levels):
            if length > len(tokens):
                break
            if length:
                context += scale * int(tokens[-length])
                scale *= self._vocabulary
            place = int(level.contexts.searchsorted(context))
            if place == len(level.contexts) or level.contexts[place] != context:
                continue
            seen = slice(level.ends[place - 1] if place else 0, level.ends[place])
            shares = level.shares[seen]
            chances *= 1 - shares.sum()
            chances[level.followers[seen]] += shares
        return chances

    def logs(self, rows: Array) -> Array:
        """The logarithms of the chances after each token of each row; no row knows of another."""
        return np.log([[self.chances(row[: end + 1]) for end in range(len(row))] for row in rows])
