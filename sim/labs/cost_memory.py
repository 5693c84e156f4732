"""What the costs on a machine say of memory: whether all fits, what is missing, what would do."""

from __future__ import annotations

from math import ceil

from sim.labs.cost_settings import Priced
from sim.labs.pricing import FILLED
from sim.passes import GIB
from sim.words import count, many


def usable(given: Priced) -> str:
    """The memory that is filled, of all cards together."""
    return f"{FILLED * given.case.machine.capacity / GIB:.4g} GiB, nine tenths of the memory"


def missing(given: Priced) -> str:
    """That it does not fit, by how much not, and what would; empty where it does."""
    short = given.case.short_by(given.asked.batch)
    if not short or given.asked.of_a_device:
        return ""
    return (
        f"It does not fit into {usable(given)}: {short / GIB:.1f} GiB are missing. It would with "
        f"{', or '.join(remedies(given))}."
    )


def room(given: Priced) -> str:
    """How much room there is where it fits; empty where it does not."""
    asked, case = given.asked, given.case
    if asked.of_a_device:
        return "Memory is no limit for a model of half a million weights."
    if case.short_by(asked.batch):
        return ""
    said = f"It fits into {usable(given)}, with room for {count(case.slots)} tokens"
    if case.conversations is None:
        return f"{said}."
    return f"{said}: {many(case.conversations, 'conversation')} of {count(asked.context)}."


def remedies(given: Priced) -> list[str]:
    """What would make it fit, one by one: cards in place of times the memory."""
    asked, case = given.asked, given.case
    cards, *others = case.remedies(asked.batch)
    assert cards.endswith("times the memory")
    found = [many(_cards(given, asked.width), "card"), *others]
    narrow = _cards(given, NARROWEST)
    alone = any("weights" in other for other in others)
    if not alone and asked.width > NARROWEST and narrow < _cards(given, asked.width):
        found.insert(1, f"{many(narrow, 'card')} and {8 * NARROWEST:g}-bit weights")
    return found


NARROWEST = 0.5
"""Bytes a weight, of what engines serve."""


def _cards(given: Priced, width: float) -> int:
    """How many cards hold it with weights of that width."""
    asked, case = given.asked, given.case
    one = FILLED * case.machine.capacity / asked.machines
    needed = case.weights * width / asked.width + asked.batch * asked.context * case.per_token
    return ceil(needed / one)
