"""What the costs on a machine say of memory: whether all fits, what is missing, what would do."""

from __future__ import annotations

from math import ceil

from sim.labs.cost_settings import Priced
from sim.labs.pricing import FILLED, WIDTHS
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
    cards, fewest = (
        ceil(asked.machines * case.filled(asked.batch, width))
        for width in (asked.width, min(WIDTHS))
    )
    found, narrower = [many(cards, "card")], case.narrower(asked.batch)
    if narrower:
        found.append(f"{8 * narrower:g}-bit weights")
    elif asked.width > min(WIDTHS) and fewest < cards:
        found.append(f"{many(fewest, 'card')} and {8 * min(WIDTHS):g}-bit weights")
    return [*found, *case.less(asked.batch)]
