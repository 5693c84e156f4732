"""One budget: how many run, how many drafts, and what the server and one reader get of it.

All requests alike, each with the same context, in blocks of 16. What the weights leave of nine
tenths of the memory holds keys and values (the rest is for activations, as engines keep it); so
many fit, and at most the batch limit runs. A pass and its drafts cost what they cost the server
(`service.Costs`). Simplified: nobody arrives or leaves, prompts cost nothing, the draft model takes
no memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sim.labs.blocks import BLOCK, blocks_for
from sim.labs.service import Costs
from sim.passes import GIB, Machine, Model, pass_roofs
from sim.theory import expected_tokens_per_pass
from sim.words import count, many

USED = 0.9
"""Share of the memory that weights and caches may take."""

MEMORY, ARITHMETIC, WAITING = "memory", "arithmetic", "waiting"
"""What may limit a server: room for caches; arithmetic; or nothing but waiting for the weights."""

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
DRAFTS = range(17)
"""Batch limits and draft lengths that the frontier is looked for among."""


class Budget(NamedTuple):
    """What there is to share, and how it is shared."""

    machine: Machine
    model: Model
    memory: float
    """Bytes."""
    context: int
    """Tokens of each conversation."""
    batch: int
    """Conversations that may run at once."""
    drafts: int
    rate: float
    """Chance that a draft is accepted, given all before it."""
    draft_cost: float
    """Time of a draft step ÷ that of a plain pass over the same conversations."""


class Point(NamedTuple):
    """What comes of a budget."""

    batch: int
    drafts: int
    room: int
    """Conversations that the memory holds."""
    running: int
    seconds: float
    """Of a pass with its drafts; 0 where none runs."""
    server: float
    """Tokens a second of all conversations."""
    reader: float
    """Tokens a second of one."""
    idle: float
    """Share of the arithmetic of the pass that is not used."""
    limit: str


def slots_of(budget: Budget) -> int:
    """Slots that the memory has beside the weights: whole blocks."""
    model = budget.model
    left = USED * budget.memory - 2 * model.parameters
    return max(0, int(left / (BLOCK * model.kv_bytes()))) * BLOCK


def point_of(budget: Budget) -> Point:
    """What the server and one reader get."""
    machine, model, drafts = budget.machine, budget.model, budget.drafts
    room = slots_of(budget) // (BLOCK * blocks_for(budget.context + drafts))
    running = min(room, budget.batch)
    if not running:
        return Point(budget.batch, drafts, 0, 0, 0.0, 0.0, 0.0, 1.0, MEMORY)
    contexts, width = running * budget.context, 1 + drafts
    positions = running * width
    roofs = pass_roofs(
        machine, model, positions, contexts, width * contexts, model.weights_read(positions)
    )
    costs = Costs(machine, model, drafts, budget.draft_cost)
    seconds = costs.pass_seconds(running, contexts, 0, 0, 0.0)
    reader = expected_tokens_per_pass((budget.rate,) * drafts) / seconds
    limit = ARITHMETIC if roofs.arithmetic > roofs.memory else WAITING
    return Point(
        budget.batch,
        drafts,
        room,
        running,
        seconds,
        running * reader,
        reader,
        1 - roofs.arithmetic / roofs.seconds,
        MEMORY if room < budget.batch else limit,
    )


@lru_cache(maxsize=8)
def settings_of(budget: Budget) -> tuple[Point, ...]:
    """Every batch that fits with every draft length, at this memory, context, machine and model.

    With each draft length as many conversations as fit are one of them.
    """
    made: list[Point] = []
    for drafts in DRAFTS:
        most = min(BATCHES[-1], point_of(budget._replace(batch=1, drafts=drafts)).room)
        batches = [batch for batch in sorted({*BATCHES, most}) if 0 < batch <= most]
        made += [point_of(budget._replace(batch=batch, drafts=drafts)) for batch in batches]
    return tuple(made)


def frontier(points: tuple[Point, ...]) -> list[Point]:
    """Those that no other betters for the server without loss to the reader, or the other way."""
    found: list[Point] = []
    for point in sorted(points, key=lambda one: (-one.reader, -one.server)):
        if not found or point.server > found[-1].server:
            found.append(point)
    return found


def limit_told(budget: Budget) -> str:
    """What limits now, and what would give the server more, or the reader."""
    point = point_of(budget)
    gigabytes = 2 * budget.model.parameters / 1e9
    if not point.room:
        return (
            f"Memory limits: the weights take {gigabytes:.0f} GB, and what is left of "
            f"{budget.memory / GIB:.0f} GiB does not hold one conversation of "
            f"{count(budget.context)} tokens."
        )
    said = {
        MEMORY: f"Memory limits: {many(point.room, 'conversation')} of {count(budget.context)} "
        f"tokens fit, and the batch limit would let {count(budget.batch)} run.",
        ARITHMETIC: "Arithmetic limits: the pass computes for longer than it reads, so each draft "
        "that is rejected takes time from everyone.",
        WAITING: "Waiting limits: the pass waits for its reading, and "
        f"{100 * point.idle:.0f} % of the arithmetic lies idle.",
    }[point.limit]
    return f"{said} {_better(budget, point)}"


def _better(budget: Budget, point: Point) -> str:
    """The draft length that gives both most with as many conversations."""
    best = max(
        (point_of(budget._replace(drafts=drafts)) for drafts in DRAFTS),
        key=lambda one: (one.server, -one.drafts),
    )
    if best.server <= point.server:
        return "No other draft length gives the server more."
    more = best.server / point.server
    if best.drafts == 0:
        return f"Without drafts the server would write {more:.2f} times as much."
    return f"With {many(best.drafts, 'draft')} the server would write {more:.2f} times as much."
