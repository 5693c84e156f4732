"""What the draft lengths by batch would be at another context: caches are read at each pass."""

from __future__ import annotations

from dataclasses import replace

from sim.labs.cost_settings import Priced, priced
from sim.labs.pricing import LARGEST, Range
from sim.words import count, many

SHORT, LONG = 256, 2048
"""Contexts that others are held against: a question, and a conversation."""

LISTED = 4
"""Ranges that a sentence can hold."""


def elsewhere(given: Priced) -> str:
    """That the context decides, where lengths differ at a long or at a short one; else empty."""
    asked, context = given.asked, given.asked.context
    other = LONG if context <= (SHORT + LONG) // 2 else SHORT
    there = priced(replace(asked, context=other))
    both = min(given.most, there.most)
    if not both or _by_batch(given.fitting, both) == _by_batch(there.fitting, both):
        return ""
    return (
        f"The context decides: this is for {count(context)} tokens of each sequence. At "
        f"{count(other)} the lengths would be {_spoken(there)}."
    )


def _by_batch(ranges: list[Range], most: int) -> list[int | None]:
    return [one.k for one in ranges for _ in range(one.first, one.last + 1)][:most]


def _spoken(given: Priced) -> str:
    ranges = given.fitting
    if len(ranges) > LISTED:
        return "others"
    said = [
        f"{_drafts(one.k, at == 0)} up to a batch of {one.last}" for at, one in enumerate(ranges)
    ]
    if given.most < LARGEST:
        said[-1] += ", the largest that fits"
    return ", ".join(said)


def _drafts(k: int | None, whole: bool) -> str:
    if k is None:
        return "not known"
    if not k:
        return "none"
    return many(k, "draft") if whole else str(k)
