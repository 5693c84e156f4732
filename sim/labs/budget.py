"""One budget: how many run, how many drafts, and what the server and one reader get of it.

All requests alike, each with the same context, in blocks of 16. What the weights leave of nine
tenths of the memory holds keys and values (the rest is for activations, as engines keep it); so
many fit, and at most the batch limit runs. Where there are drafts, the draft model's weights and
cache take their part. Memory, passes and drafts are those of `pricing.Case`. Simplified: nobody
arrives or leaves, prompts cost nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import NamedTuple

from sim.labs.blocks import BLOCK, blocks_for
from sim.labs.pricing import Case, Drafting
from sim.passes import GIB, Machine, Model
from sim.theory import LONGEST, expected_tokens_per_pass
from sim.words import count, many

MEMORY, ARITHMETIC, WAITING = "memory", "arithmetic", "waiting"
"""What may limit a server: room for caches; arithmetic; or waiting for weights and caches."""

BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
DRAFTS = range(LONGEST + 1)
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
    drafting: Drafting
    """How drafts are made."""

    @property
    def case(self) -> Case:
        """The model on the machine with this memory; without drafts no draft model is there."""
        return Case(
            replace(self.machine, capacity=self.memory),
            self.model,
            self.drafting if self.drafts else Drafting(),
            (self.rate,),
            self.context,
        )


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


def slots_of(budget: Budget) -> int:
    """Slots that the memory has beside the weights: whole blocks."""
    return budget.case.slots // BLOCK * BLOCK


def point_of(budget: Budget) -> Point:
    """What the server and one reader get."""
    drafts = budget.drafts
    room = slots_of(budget) // (BLOCK * blocks_for(budget.context + drafts))
    running = min(room, budget.batch)
    if not running:
        return Point(budget.batch, drafts, 0, 0, 0.0, 0.0, 0.0, 1.0)
    case = budget.case
    roofs, drafting = case.roofs(running, 1 + drafts), case.drafting_seconds(running, drafts)
    seconds = roofs.seconds + (drafting or 0.0)
    reader = expected_tokens_per_pass((budget.rate,) * drafts) / seconds
    return Point(
        budget.batch,
        drafts,
        room,
        running,
        seconds,
        running * reader,
        reader,
        1 - roofs.arithmetic / roofs.seconds,
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


def reliefs(budget: Budget) -> dict[str, float]:
    """How many times as much the server writes with twice as much of what may limit it.

    Where no conversation fits, memory alone counts.
    """
    now, machine = point_of(budget).server, budget.machine
    if not now:
        return {MEMORY: inf}
    twice = {
        MEMORY: budget._replace(memory=2 * budget.memory),
        ARITHMETIC: budget._replace(machine=replace(machine, flops=2 * machine.flops)),
        WAITING: budget._replace(machine=replace(machine, bandwidth=2 * machine.bandwidth)),
    }
    return {limit: point_of(one).server / now for limit, one in twice.items()}


def limit_of(budget: Budget) -> str:
    """What limits now: that of which twice as much gives the server most."""
    gains = reliefs(budget)
    return max(gains, key=gains.__getitem__)


def limit_told(budget: Budget) -> str:
    """What limits now, what relief would give, and which draft length gives the server most."""
    point = point_of(budget)
    if not point.room:
        whose = "the weights of both models" if budget.case.drafting.model else "the weights"
        return (
            f"Memory limits: what {whose} leave of nine tenths of {budget.memory / GIB:.0f} GiB "
            f"does not hold one conversation of {count(budget.context)} tokens. The big model "
            f"alone has {2 * budget.model.parameters / GIB:.1f} GiB of weights."
        )
    gains = reliefs(budget)
    idle = (
        f"and {100 * point.idle:.0f} % of the arithmetic lies idle"
        if point.idle > 0.005
        else "in the draft steps most of all, for the pass that checks them computes all the time"
    )
    said = {
        MEMORY: f"Memory limits: no more than {many(point.room, 'conversation')} of "
        f"{count(budget.context)} tokens {'fits' if point.room == 1 else 'fit'}.",
        ARITHMETIC: "Arithmetic limits: the pass computes for longer than it reads, so each draft "
        "that is rejected takes time from everyone.",
        WAITING: "Reading limits: passes wait for weights and caches to come from the memory, "
        f"{idle}.",
    }[max(gains, key=gains.__getitem__)]
    more = ", ".join(f"twice the {RELIEF[one]} {_percent(gain)}" for one, gain in gains.items())
    return f"{said} What the server would gain: {more}. {_better(budget, point)}"


RELIEF = {MEMORY: "memory", ARITHMETIC: "arithmetic", WAITING: "bandwidth"}
"""What there is more of where a limit is relieved."""


def _percent(times: float) -> str:
    return f"{max(0, round(100 * (times - 1)))} %"


def _better(budget: Budget, point: Point) -> str:
    """The draft length that gives the server most, with as many conversations as then fit."""
    best = max(
        (point_of(budget._replace(drafts=drafts)) for drafts in DRAFTS),
        key=lambda one: (one.server, -one.drafts),
    )
    more = f"{best.server / point.server:.2f}"
    if best.server <= point.server:
        return "No other draft length gives the server more."
    if more == "1.00":
        return "No other draft length gives the server 1 % more."
    if best.drafts == 0:
        return f"Without drafts the server would write {more} times as much."
    return f"With {many(best.drafts, 'draft')} the server would write {more} times as much."
