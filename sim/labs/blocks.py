"""Where the keys and values of many requests lie: in blocks with a table each, or in one stretch.

In blocks (Kwon et al. 2023, PagedAttention): a request's table names a block for every 16 of its
tokens, wherever it lies, so that it grows without a copy and wastes less than one block. What
requests have in common is kept once; a block is free, or held by as many requests as its count
says, and one who would write into a block that others hold gets a copy of it first. In one stretch,
as the engines before: all that a request may need is set aside when it enters, at the lowest
address where it fits, and nothing moves. No event looks at every slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

BLOCK = 16
"""Slots of a block."""

MAX, POWER, ORACLE, PAGED = "max", "power", "oracle", "paged"
POLICIES = {
    MAX: "one stretch as long as the longest possible request",
    POWER: "one stretch for the prompt and the output, rounded up to a power of two",
    ORACLE: "one stretch of exactly what will be needed, as if that were known",
    PAGED: "blocks of 16 slots, one more whenever the last is full",
}


def blocks_for(slots: int) -> int:
    """How many blocks hold so many slots."""
    return -(-slots // BLOCK)


class Holder:
    """What one request holds: a table of blocks, or a stretch from `start` on; `room` slots."""

    __slots__ = ("room", "start", "table")

    def __init__(self) -> None:
        self.table: list[int] = []
        self.start = self.room = 0


class Memory(Protocol):
    """Slots that requests share."""

    slots: int

    @property
    def free(self) -> int:
        """Slots that nobody holds."""

    def needs(self, prompt: int, output: int, tokens: int) -> int:
        """Slots that a request must get to enter; `tokens` is what it has by now."""

    def enter(self, holder: Holder, slots: int, common: Holder | None = None) -> bool:
        """Give it so many slots, if they are there. `common` holds what all requests begin with."""

    def grow(self, holder: Holder, slots: int) -> bool:
        """Let it have so many, if they are there."""

    def trim(self, holder: Holder, slots: int) -> None:
        """Take back what goes beyond so many."""

    def leave(self, holder: Holder) -> None:
        """Take back all."""


class Blocks:
    """A cache in blocks.

    `ahead` slots are kept for drafts; the first `prefix` tokens of all requests are the same.
    """

    def __init__(self, slots: int, ahead: int = 0, prefix: int = 0) -> None:
        self.slots, self.ahead, self.prefix = slots, ahead, prefix
        self.counts = [0] * (slots // BLOCK)
        """How many requests hold each block."""
        self.copies = 0
        """Blocks copied, because others held what was to be written into."""
        self._free = list(range(slots // BLOCK - 1, -1, -1))

    @property
    def free(self) -> int:
        """Slots of blocks that nobody holds."""
        return BLOCK * len(self._free)

    def needs(self, prompt: int, output: int, tokens: int) -> int:
        """What it has, and what the next pass drafts."""
        return tokens + self.ahead

    def enter(self, holder: Holder, slots: int, common: Holder | None = None) -> bool:
        """Give it a table; it begins with the blocks of the prefix where `common` holds them.

        The last of these is copied if it holds other tokens too, for there the request writes.
        """
        shared = common.table[: blocks_for(self.prefix)] if common else []
        own = blocks_for(slots) - len(shared)
        writes = bool(shared) and self.prefix % BLOCK > 0
        if own + writes > len(self._free):
            return False
        for block in shared:
            self.counts[block] += 1
        holder.table = shared
        self._append(holder, own)
        if writes:
            self.write(holder, self.prefix)
        return True

    def write(self, holder: Holder, position: int) -> None:
        """Let it write there: into a copy of the block, if others hold it."""
        place = position // BLOCK
        block = holder.table[place]
        if self.counts[block] > 1:
            self.counts[block] -= 1
            holder.table[place] = self._take()
            self.copies += 1

    def grow(self, holder: Holder, slots: int) -> bool:
        """Append the blocks that are missing; nothing is copied."""
        missing = blocks_for(slots) - len(holder.table)
        if missing > len(self._free):
            return False
        self._append(holder, missing)
        return True

    def trim(self, holder: Holder, slots: int) -> None:
        """Take back the blocks that lie beyond so many slots."""
        table, keep = holder.table, blocks_for(slots)
        while len(table) > keep:
            self._release(table.pop())
        holder.room = BLOCK * len(table)

    def leave(self, holder: Holder) -> None:
        """Take back its table, the last block first."""
        self.trim(holder, 0)

    def _append(self, holder: Holder, number: int) -> None:
        for _ in range(number):
            holder.table.append(self._take())
        holder.room = BLOCK * len(holder.table)

    def _take(self) -> int:
        block = self._free.pop()
        self.counts[block] = 1
        return block

    def _release(self, block: int) -> None:
        self.counts[block] -= 1
        if not self.counts[block]:
            self._free.append(block)


class Stretches:
    """A cache in one stretch a request, at the lowest address where it fits.

    `longest` is that of the longest possible request, prompt and output.
    """

    def __init__(self, slots: int, policy: str, longest: int, ahead: int = 0) -> None:
        self.slots, self.policy, self.longest, self.ahead = slots, policy, longest, ahead
        self.free = slots
        """Slots that nobody holds, together."""
        self._lengths: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        # A tree over addresses; a node has the length of the longest hole that starts below it.
        self._leaves = 1 << (slots - 1).bit_length()
        self._longest: dict[int, int] = {}
        self._add(0, slots)

    @property
    def holes(self) -> Sequence[tuple[int, int]]:
        """Start and length of every hole, in order."""
        return sorted(self._lengths.items())

    def needs(self, prompt: int, output: int, tokens: int) -> int:
        """What is set aside, drafts included; never more than there is."""
        if self.policy == MAX:
            expected = self.longest
        elif self.policy == POWER:
            expected = prompt + (1 << (output - 1).bit_length())
        else:
            expected = prompt + output
        return min(expected + self.ahead, self.slots)

    def enter(self, holder: Holder, slots: int, common: Holder | None = None) -> bool:
        """Set a stretch aside. Nothing can be held in common."""
        if self._longest.get(1, 0) < slots:
            return False
        node = 1
        while node < self._leaves:
            node *= 2
            if self._longest.get(node, 0) < slots:
                node += 1
        start = node - self._leaves
        length = self._remove(start)
        if length > slots:
            self._add(start + slots, length - slots)
        holder.start, holder.room = start, slots
        self.free -= slots
        return True

    def grow(self, holder: Holder, slots: int) -> bool:
        """It never gets more."""
        return slots <= holder.room

    def trim(self, holder: Holder, slots: int) -> None:
        """It keeps what it has."""

    def leave(self, holder: Holder) -> None:
        """Take the stretch back, as one hole with those beside it."""
        start, length = holder.start, holder.room
        self.free += length
        if start in self._starts:
            before = self._starts[start]
            length += self._remove(before)
            start = before
        if start + length in self._lengths:
            length += self._remove(start + length)
        self._add(start, length)
        holder.room = 0

    def _add(self, start: int, length: int) -> None:
        self._lengths[start], self._starts[start + length] = length, start
        self._climb(start, length)

    def _remove(self, start: int) -> int:
        length = self._lengths.pop(start)
        del self._starts[start + length]
        self._climb(start, 0)
        return length

    def _climb(self, start: int, length: int) -> None:
        """Write the length of the hole that starts there, and what follows for the nodes above."""
        longest, node = self._longest, start + self._leaves
        while True:
            if length:
                longest[node] = length
            else:
                longest.pop(node, None)
            if node == 1:
                return
            length = max(length, longest.get(node ^ 1, 0))
            node >>= 1
            if longest.get(node, 0) == length:
                return


def memory_of(
    policy: str, slots: int, longest: int, ahead: int = 0, prefix: int = 0
) -> Blocks | Stretches:
    """An empty cache by the name of its policy."""
    if policy == PAGED:
        return Blocks(slots, ahead, prefix)
    return Stretches(slots, policy, longest, ahead)
