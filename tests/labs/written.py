"""Models with weights that were drawn, not learnt: small, and quick to write with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from sim.labs.counting import levels_of
from sim.labs.pairs import Pairs
from sim.labs.text import report
from sim.labs.text_run import models_of, write
from sim.labs.text_settings import Asked
from sim.labs.weights import Array, Shape, Weights, pack
from sim.labs.writer import Models, Writer
from sim.work import finish

PAIRS = Pairs([(97 + number % 20, 98 + number // 20) for number in range(256)])
VOCABULARY = len(PAIRS)
TARGET = Shape(layers=3, heads=2, width=32, hidden=48)
SMALL = Shape(layers=1, heads=2, width=16, hidden=32)


def drawn_weights(shape: Shape, seed: int) -> Weights:
    """Weights at which every part of a layer has its say."""
    luck = np.random.default_rng(seed)
    return Weights(
        shape,
        {
            name: luck.normal(0, size[1] ** -0.5, size).astype(np.float32)
            for name, size in shape.rows(VOCABULARY).items()
        },
    )


def counted(seed: int = 1) -> Array:
    """A text of tokens in which some follow others more often."""
    luck = np.random.default_rng(seed)
    return (np.cumsum(luck.integers(0, 6, 5000)) + luck.integers(0, 2, 5000)) % VOCABULARY


def file_of_models() -> bytes:
    """A whole file of weights."""
    models = {"target": drawn_weights(TARGET, 0), "small": drawn_weights(SMALL, 1)}
    return pack({"source": "drawn"}, PAIRS, models, levels_of(counted(), VOCABULARY, (1, 1, 2)))


@cache
def models() -> Models:
    """The models of that file."""
    return models_of(file_of_models())


def text(asked: Asked | None = None, of: Models | None = None, **changes: Any) -> Writer:
    """A text, written to its end."""
    return finish(write(of or models(), replace(asked or Asked(), **changes), perf_counter))


def numbers(of: Models | None = None, **changes: Any) -> dict[str, Any]:
    """What the command would say of a text."""
    return report(text(of=of, **changes), Asked(**changes))
