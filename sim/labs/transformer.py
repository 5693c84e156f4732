"""A transformer in NumPy that computes any number of positions against keys and values it keeps.

Attention is over the latest `SLOTS` positions, the rolling window of cache.py. What a layer makes
of a position depends on no later one, so keys and values can be kept; after a rejection the last
of them are taken back. The arrays have room beyond the window: a real rolling cache needs spare
slots for drafts, or a rejected one would have overwritten a position that is still seen.

Layers: RMS norms without weights, rotary positions (Su et al. 2021), squared ReLU (So et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim.labs.weights import Array, Shape, Weights
from sim.params import SLOTS
from sim.work import Work

SLICE = 16
"""Positions that are computed at once, so that a page stays alive meanwhile."""

SPARE = SLOTS + 64
"""Positions that the arrays hold beyond the window, before the window is moved to their front."""

EPSILON = 1e-6
ROTARY_BASE = 10_000.0
HIDDEN = np.float32(-1e9)


class Kept:
    """Keys and values of one sequence: those of the positions from `start` up to `end`."""

    def __init__(self, shape: Shape, start: int = 0) -> None:
        size = (shape.heads, SLOTS + SPARE, shape.head_size)
        self.keys = [np.zeros(size, np.float32) for _ in range(shape.layers)]
        self.values = [np.zeros(size, np.float32) for _ in range(shape.layers)]
        self.start = self.end = self._first = start

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are kept, counted in the arrays themselves."""
        seen = slice(self.start - self._first, self.end - self._first)
        return sum(array[:, seen].nbytes for array in (*self.keys, *self.values))

    def place(self, position: int) -> int:
        """Where in the arrays a position is."""
        return position - self._first

    def drop(self, start: int) -> None:
        """Keep nothing; what is computed next begins at this position."""
        self.start = self.end = self._first = start

    def roll_back(self, end: int) -> None:
        """Forget the positions from `end` on, and those that have left the window.

        Raises ValueError for positions that are not kept.
        """
        if not self.start <= end <= self.end:
            raise ValueError(f"position {end} is not from {self.start} to {self.end}")
        self.end = end
        self.start = max(self.start, end + 1 - SLOTS)

    def make_room(self, positions: int) -> None:
        """See that so many positions more fit behind those that are kept.

        Raises ValueError for more than the arrays can hold.
        """
        if self.end + positions - self._first <= SLOTS + SPARE:
            return
        if len(self) + positions > SLOTS + SPARE:
            raise ValueError(f"{len(self)} + {positions} positions; at most {SLOTS + SPARE}")
        held = slice(self.place(self.start), self.place(self.end))
        for array in (*self.keys, *self.values):
            array[:, : len(self)] = array[:, held].copy()
        self._first = self.start


class Transformer:
    """The forward pass of some weights."""

    def __init__(self, weights: Weights) -> None:
        self.shape = shape = weights.shape
        self._end = weights.matrices["embed"]
        self._begin = norm(self._end)
        self._layers = []
        for layer in range(shape.layers):
            mixed, *others = (
                weights.matrices[f"{layer}.{part}"] for part in ("qkv", "out", "up", "down")
            )
            mixed = mixed.copy()
            mixed[: shape.width] *= np.float32(shape.head_size**-0.5)
            self._layers.append((mixed, *others))
        half = shape.head_size // 2
        self._pace = ROTARY_BASE ** (-np.arange(half) / half)

    @property
    def weights(self) -> int:
        """How many weights a pass reads."""
        return self.shape.parameters(len(self._end))

    def bytes_per_position(self) -> int:
        """Bytes of keys and values that a position takes: 2 · layers · heads · head size · 4."""
        return 2 * self.shape.layers * self.shape.heads * self.shape.head_size * 4

    def forward(self, tokens: Sequence[int], kept: Kept, wanted: int | None = None) -> Work[Array]:
        """Compute these tokens as the positions that follow what is kept, and keep them too.

        Gives the logits of what follows the last `wanted` of them, all unless said: a row each,
        float32. Each sees the latest `SLOTS` positions, itself included, or those that are kept.
        Raises ValueError for more positions than the arrays can hold.
        """
        kept.make_room(len(tokens))
        first = len(tokens) - (len(tokens) if wanted is None else wanted)
        rows = [np.zeros((0, len(self._end)), np.float32)]
        for begin in range(0, len(tokens), SLICE):
            part = tokens[begin : begin + SLICE]
            x = self._begin[np.asarray(part)]
            turn = self._turn(kept.end, len(part))
            start = max(kept.start, kept.end + 1 - SLOTS)
            hidden = _hidden(start, kept.end, len(part))
            for layer in range(self.shape.layers):
                x = self._layer(layer, x, kept, start, turn, hidden)
                yield (begin + len(part) * (layer + 1) / self.shape.layers) / len(tokens)
            kept.end += len(part)
            if begin + len(part) > first:
                rows.append(norm(x[max(0, first - begin) :]) @ self._end.T)
        return np.concatenate(rows)

    def _layer(
        self,
        layer: int,
        x: Array,
        kept: Kept,
        start: int,
        turn: tuple[Array, Array],
        hidden: Array | None,
    ) -> Array:
        count, (_, heads, width, _) = len(x), self.shape
        size = self.shape.head_size
        mixed, out, up, down = self._layers[layer]
        parts = (norm(x) @ mixed.T).reshape(count, 3, heads, size)
        cos, sin = turn
        first, second = parts[:, :2, :, : size // 2], parts[:, :2, :, size // 2 :]
        turned = np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
        new = slice(kept.place(kept.end), kept.place(kept.end) + count)
        keys, values = kept.keys[layer], kept.values[layer]
        keys[:, new] = turned[:, 1].swapaxes(0, 1)
        values[:, new] = parts[:, 2].swapaxes(0, 1)
        seen = slice(kept.place(start), new.stop)
        scores = turned[:, 0].swapaxes(0, 1) @ keys[:, seen].swapaxes(1, 2)
        if hidden is not None:
            scores += hidden
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mean = (scores @ values[:, seen]).swapaxes(0, 1).reshape(count, width)
        x = x + mean @ out.T
        inside = np.maximum(norm(x) @ up.T, 0)
        inside *= inside
        after: Array = x + inside @ down.T
        return after

    def _turn(self, position: int, count: int) -> tuple[Array, Array]:
        """Cosines and sines by which queries and keys of these positions are turned."""
        angles = np.arange(position, position + count)[:, None] * self._pace
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        return cos[:, None, None], sin[:, None, None]


def norm(x: Array) -> Array:
    """Each row divided by its root mean square."""
    squares = np.add.reduce(x * x, axis=-1, keepdims=True)
    scaled: Array = x / np.sqrt(squares / np.float32(x.shape[-1]) + np.float32(EPSILON))
    return scaled


def _hidden(start: int, end: int, count: int) -> Array | None:
    """What is added to the scores of `count` positions from `end` on against those from `start` on,
    so that none sees a later one, or one that has left its window; None for a single one.
    """
    if count == 1:
        return None
    own = np.arange(end, end + count)[:, None]
    seen = np.arange(start, end + count)
    return np.where((seen > own) | (seen <= own - SLOTS), HIDDEN, np.float32(0))
