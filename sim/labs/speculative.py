"""Speculative sampling by one word: what is accepted, and what a rejected draft is replaced from.

Leviathan et al. 2023 (https://arxiv.org/abs/2211.17192), Algorithm 1, and Chen et al. 2023
(https://arxiv.org/abs/2302.01318), Algorithm 2. Here p and q are what the target and the draft
model say of the next word: arrays of chances along the last axis, one distribution or many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Chances = NDArray[np.float64]


def acceptance(p: Chances, q: Chances) -> Chances:
    """The chance that a draft of each word is accepted: min(1, p ÷ q); 1 where it is not drafted.

    A coin in [0, 1) that falls below it accepts.
    """
    return np.divide(p, q, out=np.ones(np.broadcast(p, q).shape), where=q > p)


def residual(p: Chances, q: Chances) -> Chances:
    """What a rejected draft is replaced from: max(0, p − q), made to sum to 1.

    Where p and q are the same nothing is ever rejected, and it is p.
    """
    excess = np.maximum(0.0, p - q)
    whole = excess.sum(axis=-1, keepdims=True)
    return np.where(whole > 0, excess, p) / np.where(whole > 0, whole, 1.0)


def cumulated(chances: Chances) -> Chances:
    """The chance of each word and all before it; exactly 1 from the last possible word on."""
    sums = np.cumsum(chances, axis=-1)
    made: Chances = sums / sums[..., -1:]
    return made


def drawn(chances: Chances, uniform: float) -> int:
    """The word that a uniform in [0, 1) stands for in one distribution; never one of chance 0."""
    return int(np.searchsorted(cumulated(chances), uniform, side="right"))


SHRUNK = 1 - 2.0**-40
"""A uniform this much smaller stays below 1 when the number of its row is added to it."""


class Inverse:
    """Rows of chances to draw from, many words at a time."""

    def __init__(self, rows: Chances) -> None:
        number, self._size = rows.shape
        self._flat = (cumulated(rows) + np.arange(number)[:, None]).ravel()

    def __call__(self, at: NDArray[Any], uniforms: Chances) -> NDArray[Any]:
        """The words that these uniforms stand for, each in the row that `at` names."""
        found = np.searchsorted(self._flat, uniforms * SHRUNK + at, side="right")
        words: NDArray[Any] = found - at * self._size
        return words
