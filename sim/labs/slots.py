"""The board of a server: whose each slot is, and why; and a pass in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.cache import EMPTY
from sim.labs.blocks import BLOCK, PAGED
from sim.labs.history import HUES, Moment, Seat
from sim.labs.service import Asked
from sim.marks import LOOKS, Border, Grid, Look, Shape
from sim.params import SLOTS
from sim.words import many, spelled

GRID = Grid(cell=17, pitch=23.25, margin=4)
"""With gaps wide enough for borders."""

HELD, FILLED, DRAFT, RESERVED, INTERNAL = "held", "filled", "draft", "reserved", "internal"
COMMON, EXTERNAL, FREE, ABSENT = "common", "external", "free", "absent"


def _look(kind: str, hue: str) -> Look:
    """How a slot of a request of this colour is drawn."""
    edge: Shape = ("edge", 0.0, 0.1, hue)
    marks: dict[str, tuple[bool, tuple[Shape, ...]]] = {
        HELD: (True, ()),
        FILLED: (True, (("dot", 0.5, 0.5, 0.15, "on"),)),
        DRAFT: (False, (edge, ("ring", 0.5, 0.5, 0.18, 0.1, hue))),
        RESERVED: (False, (edge,)),
        INTERNAL: (
            False,
            (
                edge,
                ("line", 0.1, 0.5, 0.5, 0.1, 0.09, hue),
                ("line", 0.1, 0.9, 0.9, 0.1, 0.09, hue),
                ("line", 0.5, 0.9, 0.9, 0.5, 0.09, hue),
            ),
        ),
    }
    filled, mark = marks[kind]
    return Look(hue, filled, mark, LEGEND[kind], LEGEND[kind])


LEGEND = {
    HELD: "holds a token",
    FILLED: "computed in this pass",
    DRAFT: "held for a draft of this pass",
    RESERVED: "reserved: will hold a token",
    INTERNAL: "never used",
    COMMON: "common prefix, held by several",
    EXTERNAL: "free, in pieces too short for who waits",
    FREE: "free",
}
"""What each kind of slot is called; a request's own are drawn in its colour."""

POINT = "Point at a slot, or move to it with arrow keys: whose it is, and why."

OWN = (HELD, FILLED, DRAFT, RESERVED, INTERNAL)

BOARD_LOOKS: dict[str, Look] = {
    **{f"{kind}{n}": _look(kind, f"hue{n + 1}") for n in range(HUES) for kind in OWN},
    COMMON: Look(
        "muted",
        True,
        (("line", 0.25, 0.38, 0.75, 0.38, 0.1, "on"), ("line", 0.25, 0.62, 0.75, 0.62, 0.1, "on")),
        LEGEND[COMMON],
        LEGEND[COMMON],
    ),
    EXTERNAL: Look(
        "empty",
        True,
        (
            ("line", 0.25, 0.25, 0.75, 0.75, 0.09, "evicted"),
            ("line", 0.25, 0.75, 0.75, 0.25, 0.09, "evicted"),
        ),
        LEGEND[EXTERNAL],
        LEGEND[EXTERNAL],
    ),
    FREE: LOOKS[EMPTY],
    ABSENT: Look("ground", True, (), "", "", alike=True),
}
"""All that a slot of the board may show."""


def kinds(seat: Seat, drafts: int) -> list[str]:
    """What each slot that a request holds is, from its first token on."""
    held = FILLED if seat.missing else HELD
    ahead = 0 if seat.missing else drafts
    bounds = [
        (held, seat.tokens),
        (DRAFT, seat.tokens + ahead),
        (RESERVED, max(seat.last, seat.tokens + ahead)),
        (INTERNAL, seat.room),
    ]
    found: list[str] = []
    for kind, end in bounds:
        found += [kind] * (min(end, seat.room) - len(found))
    return found


class Board(NamedTuple):
    """What the board shows of a pass."""

    states: list[str]
    """By slot, those of `BOARD_LOOKS`."""
    borders: tuple[Border, ...]


def board(asked: Asked, moment: Moment) -> Board:
    """The slots of a pass; those that the memory does not have are left blank."""
    shares = moment.shares
    states = [EXTERNAL if shares[3] else FREE] * asked.slots + [ABSENT] * (SLOTS - asked.slots)
    borders: list[Border] = []
    paged, common = asked.policy == PAGED, _common(asked, moment)
    if paged:
        borders = [Border(at, at + BLOCK - 1, "line") for at in range(0, asked.slots, BLOCK)]
    for seat in moment.seats:
        n = seat.hue
        mine = [f"{kind}{n}" for kind in kinds(seat, asked.draft_length)]
        if not paged:
            states[seat.start : seat.start + seat.room] = mine
            borders.append(Border(seat.start, seat.start + seat.room - 1, f"hue{n + 1}"))
            continue
        mine[:common] = [COMMON] * common
        for place, block in enumerate(seat.table):
            at = BLOCK * block
            states[at : at + BLOCK] = mine[BLOCK * place : BLOCK * (place + 1)]
            role = "muted" if BLOCK * place < common else f"hue{n + 1}"
            borders[block] = Border(at, at + BLOCK - 1, role)
    return Board(states, tuple(borders))


def _common(asked: Asked, moment: Moment) -> int:
    """Slots of blocks that all who run hold together."""
    several = asked.policy == PAGED and len(moment.seats) > 1
    return asked.prefix - asked.prefix % BLOCK if several else 0


def owner(asked: Asked, moment: Moment, slot: int) -> tuple[Seat, int] | None:
    """Who holds a slot, and for which of its positions."""
    for seat in moment.seats:
        if asked.policy != PAGED:
            if seat.start <= slot < seat.start + seat.room:
                return seat, slot - seat.start
        elif slot // BLOCK in seat.table:
            return seat, BLOCK * seat.table.index(slot // BLOCK) + slot % BLOCK
    return None


def slot_told(asked: Asked, moment: Moment, slot: int) -> str:
    """Whose a slot is, and why."""
    if slot >= asked.slots:
        return "This memory has no such slot."
    block = f", block {slot // BLOCK + 1}" if asked.policy == PAGED else ""
    place = f"Slot {slot + 1}{block}: "
    found = owner(asked, moment, slot)
    if found is None:
        if moment.shares[3]:
            return (
                f"{place}free, and yet of no use: request {moment.queue[0] + 1} needs "
                f"{moment.needed} slots in one piece, and no piece is so long."
            )
        return f"{place}free."
    seat, position = found
    if position < _common(asked, moment):
        return (
            f"{place}token {position + 1} of the common prefix, held once for "
            f"{spelled(len(moment.seats))} requests."
        )
    kind = kinds(seat, asked.draft_length)[position]
    return f"{place}{_WHY[kind](seat, position + 1)}."


_WHY = {
    HELD: lambda seat, at: (
        f"token {at} of request {seat.number + 1}, "
        + ("of its prompt" if at <= seat.prompt else "which it has written")
    ),
    FILLED: lambda seat, at: (
        f"token {at} of request {seat.number + 1}, whose {many(seat.missing, 'position')} "
        f"{'are' if seat.missing > 1 else 'is'} computed in this pass"
    ),
    DRAFT: lambda seat, at: (
        f"held for draft {at - seat.tokens} of request {seat.number + 1}, until its verdict"
    ),
    RESERVED: lambda seat, at: (
        f"reserved: it will hold token {at} of the {seat.last} of request {seat.number + 1}"
    ),
    INTERNAL: lambda seat, at: (
        f"never used: request {seat.number + 1} holds {seat.room} slots and ends with its token "
        f"{seat.last}"
    ),
}


def pass_told(moment: Moment, number: int) -> str:
    """What happens in a pass, in a few short sentences."""
    entering = moment.seats[len(moment.seats) - moment.entered :]
    writing = sum(not seat.missing for seat in moment.seats)
    told = [
        f"Pass {number + 1}: {many(writing, 'request')} {'writes' if writing == 1 else 'write'}"
    ]
    if moment.entered:
        told.append(
            f"{_named([seat.number for seat in entering])} {_verb(moment.entered, 'enter')}"
        )
    said = ", ".join(told) + "."
    if moment.lost:
        lost = _named(moment.queue[: moment.lost])
        said += f" The memory is full: {lost} {_verb(moment.lost, 'lose')} "
        said += "its cache" if moment.lost == 1 else "their caches"
        said += " to older ones."
    elif moment.shares[3]:
        said += f" Request {moment.queue[0] + 1} is refused {moment.needed} slots in one piece, "
        said += f"while {moment.shares[3]} are free."
    elif moment.queue:
        head = f" Request {moment.queue[0] + 1}"
        if moment.needed <= moment.shares[4]:
            said += f"{head} waits, because {spelled(len(moment.seats))} are all that may run."
        else:
            said += f"{head} waits for {moment.needed} slots."
    return said


def _verb(number: int, verb: str) -> str:
    return f"{verb}s" if number == 1 else verb


def _named(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"request {numbers[0] + 1}"
    return f"{spelled(len(numbers))} requests"
