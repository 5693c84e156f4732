"""One file with everything that writes: tokens, two transformers, an n-gram model, a card.

A line of JSON, then the arrays that it names, one after another. Weights are 8-bit with a scale a
row, so that a weight is off by 1/254 of the largest in its row at most.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.labs.pairs import Pairs
from sim.labs.stored import FORMAT, DamagedError, opened

Array = NDArray[Any]

MOST_BYTES = 1_000_000
"""The file stays below it."""


class Shape(NamedTuple):
    """How large a transformer is."""

    layers: int
    heads: int
    width: int
    hidden: int
    """Width inside the feed-forward part of a layer."""

    @property
    def head_size(self) -> int:
        """Numbers in the key, and in the value, that one head keeps of a position."""
        return self.width // self.heads

    def rows(self, vocabulary: int) -> dict[str, tuple[int, int]]:
        """Every matrix by its name: rows are what comes out, columns what goes in."""
        found = {"embed": (vocabulary, self.width)}
        for layer in range(self.layers):
            found[f"{layer}.qkv"] = (3 * self.width, self.width)
            found[f"{layer}.out"] = (self.width, self.width)
            found[f"{layer}.up"] = (self.hidden, self.width)
            found[f"{layer}.down"] = (self.width, self.hidden)
        return found

    def parameters(self, vocabulary: int) -> int:
        """How many weights there are; the embedding serves at both ends."""
        return sum(high * wide for high, wide in self.rows(vocabulary).values())


class Weights(NamedTuple):
    """A transformer: its shape, and its matrices by name, float32."""

    shape: Shape
    matrices: Mapping[str, Array]


class Level(NamedTuple):
    """Contexts of one length, and what followed each of them in the plays.

    A context is a number in base 512, its latest token last. Followers of context n are those from
    `ends[n - 1]` to `ends[n]`.
    """

    contexts: Array
    ends: Array
    followers: Array
    shares: Array
    """Of all that followed; what is missing to 1 goes to the shorter context."""


@dataclass(frozen=True)
class Trained:
    """What the file holds."""

    card: Mapping[str, Any]
    pairs: Pairs
    target: Weights
    small: Weights
    levels: tuple[Level, ...]
    """By length of context, from none on."""


def rounded(matrix: Array) -> tuple[Array, Array]:
    """8-bit whole numbers, and the scale of each row."""
    largest = np.abs(matrix).max(axis=1)
    scales = (np.where(largest > 0, largest, 1) / 127).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


def restored(numbers: Array, scales: Array) -> Array:
    """The weights that these stand for."""
    matrix: Array = numbers.astype(np.float32) * scales[:, None]
    return matrix


STEP = 24
"""A share is told by its logarithm in steps of 1/24, which is 4 %, rounded down: their sum never
passes 1."""


def code(shares: Array) -> Array:
    """Shares as bytes."""
    codes: Array = np.minimum(np.ceil(-np.log(shares) * STEP - 1e-9), 255).astype(np.uint8)
    return codes


def share(codes: Array) -> Array:
    """The shares that bytes stand for."""
    shares: Array = np.exp(codes.astype(np.float64) / -STEP)
    return shares


def pack(
    card: Mapping[str, Any],
    pairs: Pairs,
    models: Mapping[str, Weights],
    levels: tuple[Level, ...],
) -> bytes:
    """The file: of the weights what `rounded` leaves of them."""
    arrays: dict[str, Array] = {}
    for model, weights in models.items():
        for name, matrix in weights.matrices.items():
            arrays[f"{model}.{name}"], arrays[f"{model}.{name}.scales"] = rounded(matrix)
    for length, level in enumerate(levels):
        counts = np.diff(level.ends, prepend=0)
        arrays[f"{length}.contexts"] = np.diff(level.contexts, prepend=0).astype(np.uint32)
        arrays[f"{length}.counts"] = counts.astype(np.uint16)
        arrays[f"{length}.followers"] = level.followers.astype(np.uint16)
        arrays[f"{length}.shares"] = code(level.shares)
    packed = {name: zlib.compress(_planes(array), 9) for name, array in arrays.items()}
    body = b"".join(packed.values())
    header = {
        "format": FORMAT,
        "card": card,
        "pairs": pairs.joined,
        "models": {model: weights.shape._asdict() for model, weights in models.items()},
        "arrays": [[name, a.dtype.str, a.shape, len(packed[name])] for name, a in arrays.items()],
        "crc32": zlib.crc32(body),
    }
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + body


def _planes(array: Array) -> bytes:
    """First the lowest bytes of all numbers, then the next: like by like, for what squeezes it."""
    whole = np.ascontiguousarray(array)
    return whole.view(np.uint8).reshape(-1, whole.itemsize).T.tobytes()


def _numbers(data: bytes, kind: str, shape: tuple[int, ...]) -> Array:
    size = np.dtype(kind).itemsize
    planes = np.frombuffer(data, np.uint8).reshape(size, -1)
    return np.ascontiguousarray(planes.T).view(kind).reshape(shape)


def unpack(data: bytes) -> Trained:
    """What a file holds. Raises DamagedError."""
    header, body = opened(data)
    try:
        return _unpacked(header, body)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise DamagedError(f"it cannot be read ({type(error).__name__}: {error})") from error


def _unpacked(header: Mapping[str, Any], body: bytes) -> Trained:
    arrays: dict[str, Array] = {}
    place = 0
    for name, kind, shape, size in header["arrays"]:
        data = zlib.decompress(body[place : place + size])
        arrays[name] = _numbers(data, kind, tuple(shape))
        place += size
    pairs = Pairs(header["pairs"])
    models = {}
    for model, sizes in header["models"].items():
        shape = Shape(**sizes)
        matrices = {
            name: restored(arrays[f"{model}.{name}"], arrays[f"{model}.{name}.scales"])
            for name in shape.rows(len(pairs))
        }
        if any(m.shape != shape.rows(len(pairs))[name] for name, m in matrices.items()):
            raise ValueError(f"the matrices of {model} do not have its shape")
        models[model] = Weights(shape, matrices)
    levels: list[Level] = []
    while f"{len(levels)}.contexts" in arrays:
        parts = ("contexts", "counts", "followers", "shares")
        contexts, counts, followers, codes = (arrays[f"{len(levels)}.{part}"] for part in parts)
        levels.append(
            Level(
                np.cumsum(contexts.astype(np.int64)),
                np.cumsum(counts.astype(np.int64)),
                followers.astype(np.int64),
                share(codes),
            )
        )
    return Trained(header["card"], pairs, models["target"], models["small"], tuple(levels))
