"""The mathematics once more, in other words than the model has it, and what others printed."""

from __future__ import annotations

from collections.abc import Iterable


def chances(rates: Iterable[float]) -> list[float]:
    """How probable 1, 2, … tokens of a pass are: each draft stops the run or lets it on."""
    found, reached = [], 1.0
    for rate in rates:
        found.append(reached * (1 - rate))
        reached *= rate
    return [*found, reached]


VLLM = (0.763, 0.623, 0.459, 0.396)
"""Rates by position as vLLM printed them."""
