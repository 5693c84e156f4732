"""The rolling KV cache: which positions it keeps, and what each of its slots shows.

The cache keeps the last `SLOTS` positions; position p sits in slot p mod `SLOTS`. What a slot
shows is derived from a few numbers, never stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.params import SLOTS

EMPTY, PLAIN, ACCEPTED, BONUS = "empty", "plain", "accepted", "bonus"
NEWEST, REJECTED, DISCARDED, EVICTED = "newest", "rejected", "discarded", "evicted"
PROPOSED = "proposed"
"""Of a draft whose verdict is not known yet: only while a pass is told in phases."""


def window_start(num_tokens: int) -> int:
    """First position that the rolling cache still has room for."""
    return max(0, num_tokens - SLOTS)


def position_in(slot: int, num_tokens: int) -> int | None:
    """The position of the window that sits in `slot`, or None where there is none."""
    newest = num_tokens - 1
    position = newest - (newest - slot) % SLOTS
    return position if position >= 0 else None


def slot_states(
    num_tokens: int,
    num_computed_tokens: int,
    origins: Sequence[str],
    num_rejected: int,
    kv_cache: bool,
) -> list[str]:
    """State of each of the `SLOTS` slots, by slot.

    `origins` says of each position where it came from: PLAIN, ACCEPTED or BONUS. `num_rejected`
    counts the drafts of the last tick that were not accepted: 0 unless it was a verify pass.
    After an eviction every position not yet computed again shows as evicted, the newest included.
    """
    slots = [EMPTY] * SLOTS
    start, newest = window_start(num_tokens), num_tokens - 1
    evicted = kv_cache and num_computed_tokens < newest
    for position in range(start, num_tokens):
        slots[position % SLOTS] = origins[position]
    if evicted:
        for position in range(num_computed_tokens, num_tokens):
            slots[position % SLOTS] = EVICTED
        return slots
    slots[newest % SLOTS] = REJECTED if num_rejected else NEWEST
    for position in range(num_tokens, num_tokens + num_rejected - 1):
        slots[position % SLOTS] = DISCARDED
    return slots
