"""What must hold of a memory, whoever holds what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from sim.labs.blocks import BLOCK, Blocks, Holder, Stretches


def check_blocks(memory: Blocks, running: Sequence[Holder]) -> None:
    """Each block is free, or held as often as its count says."""
    held = Counter(block for served in running for block in served.table)
    assert memory.counts == [held[block] for block in range(memory.slots // BLOCK)]
    assert sorted(memory._free) == [b for b, count in enumerate(memory.counts) if not count]


def check_stretches(memory: Stretches, running: Sequence[Holder]) -> None:
    """Stretches and holes fill the memory without touching, and no two holes meet."""
    held = [(served.start, served.room, "held") for served in running]
    free = [(start, length, "free") for start, length in memory.holes]
    pieces = sorted(held + free)
    at = 0
    for start, length, _ in pieces:
        assert (start, length > 0) == (at, True)
        at += length
    assert at == memory.slots
    assert sum(length for _, length, _ in free) == memory.free
    assert all((one[2], other[2]) != ("free", "free") for one, other in pairwise(pieces))
