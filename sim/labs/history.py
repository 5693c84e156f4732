"""A server's passes, kept so that one can go back and forth in them, and its memory over time."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from operator import attrgetter
from typing import Any, NamedTuple

from sim.labs.scheduler import Pass, Served, Server
from sim.labs.service import Scene, report
from sim.work import Work

MOST_STRETCHES = 240
"""Of a timeline, once it has had twice as many: about what a chart can show apart."""

HUES = 8
"""Colours of requests."""

PART, UNSEEN = 60, 500
"""Events of a part of the work, with every pass kept and without."""


class Seat(NamedTuple):
    """A request in a pass, and what it holds."""

    number: int
    prompt: int
    last: int
    """Tokens at its end."""
    tokens: int
    """What it has, before the verdicts."""
    missing: int
    """Positions that this pass fills in; then it writes nothing."""
    room: int
    start: int
    """Of its stretch, where it has one."""
    table: tuple[int, ...]
    """Its blocks, where it has such."""
    hue: int
    """Its colour, from 0: that which the fewest had when it was let in."""


class Moment(NamedTuple):
    """A pass while it runs, and what has come of all before it."""

    start: float
    seconds: float
    shares: tuple[int, int, int, int, int]
    seats: tuple[Seat, ...]
    """Those that run, oldest first."""
    queue: tuple[int, ...]
    """Those that wait, the head first."""
    preempted: int
    """How many of them, at the head, have lost their cache."""
    entered: int
    """How many of the seats, at their end, are new in this pass."""
    lost: int
    """How many of those at the head of the queue lost their cache in this pass."""
    needed: int
    """Slots that the head of the queue must get to enter; 0 where nobody waits."""
    tokens: int
    """Written in the passes before."""
    ended: int
    waited: float
    """Seconds that those who have been let in had waited, on average."""
    preemptions: int

    @property
    def end(self) -> float:
        """When its verdicts come."""
        return self.start + self.seconds


class Stretch(NamedTuple):
    """Some time of a timeline, and the share of the slots of each kind in it."""

    start: float
    seconds: float
    shares: tuple[float, ...]


class _Weighed(NamedTuple):
    start: float
    seconds: float
    slots: tuple[float, ...]
    """Of each kind, times seconds."""


class Timeline:
    """What the slots were over time: pass by pass, or, of a long run, in stretches of equal time.

    A pass is never cut.
    """

    def __init__(self, slots: int) -> None:
        self._slots, self._least = slots, 0.0
        self._kept: list[_Weighed] = []

    def add(self, told: Pass) -> None:
        """One more pass."""
        self._append(
            _Weighed(told.start, told.seconds, tuple(slots * told.seconds for slots in told.shares))
        )
        if len(self._kept) > 2 * MOST_STRETCHES:
            self._least = sum(one.seconds for one in self._kept) / MOST_STRETCHES
            kept, self._kept = self._kept, []
            for one in kept:
                self._append(one)

    def _append(self, one: _Weighed) -> None:
        """Put it behind the last stretch, or into it while that is short."""
        if self._kept and self._kept[-1].seconds < self._least:
            last = self._kept.pop()
            one = _Weighed(
                last.start,
                last.seconds + one.seconds,
                tuple(a + b for a, b in zip(last.slots, one.slots, strict=True)),
            )
        self._kept.append(one)

    @property
    def stretches(self) -> list[Stretch]:
        """All of it, in order."""
        return [
            Stretch(start, seconds, tuple(held / (self._slots * seconds) for held in slots))
            for start, seconds, slots in self._kept
        ]


class History:
    """All passes of a scene, and what came of them."""

    def __init__(
        self,
        scene: Scene,
        moments: Sequence[Moment],
        hues: dict[int, int],
        timeline: Timeline,
        numbers: dict[str, Any],
    ) -> None:
        """`hues` are by request; they and `moments` may be left out of a large scene."""
        self.scene, self.moments, self.hues = scene, moments, hues
        self.timeline, self.numbers = timeline, numbers

    def at(self, seconds: float) -> int:
        """The number of the pass that runs then, or of the last one before; the first is 0."""
        return max(0, bisect_right(self.moments, seconds + 1e-12, key=attrgetter("start")) - 1)


def record(scene: Scene, moments: bool = True) -> Work[History]:
    """Serve a scene, and keep its passes; without them where they are too many."""
    server = scene.server()
    timeline, kept, hues = Timeline(server.memory.slots), list[Moment](), dict[int, int]()
    while not server.done:
        until = server.events + (PART if moments else UNSEEN)
        while server.events < until and not server.done:
            told = server.begin()
            timeline.add(told)
            if moments:
                _colour(server.running, hues)
                kept.append(_moment(server, told, hues))
            server.end()
        yield server.ended / len(server.coming)
    return History(scene, kept, hues, timeline, report(server, scene.rate))


def _colour(running: Sequence[Served], hues: dict[int, int]) -> None:
    """Give those that are here for the first time the colour that the fewest have."""
    new = [served.number for served in running if served.number not in hues]
    if new:
        had = Counter(hues[served.number] for served in running if served.number in hues)
        for number in new:
            hues[number] = min(range(HUES), key=had.__getitem__)
            had[hues[number]] += 1


def _moment(server: Server, told: Pass, hues: dict[int, int]) -> Moment:
    running, queue = server.running, server.queue
    old = len(running) - told.entered
    return Moment(
        told.start,
        told.seconds,
        told.shares,
        tuple(
            _seat(one, one.missing if at >= old else 0, hues[one.number])
            for at, one in enumerate(running)
        ),
        tuple(served.number for served in queue),
        sum(1 for _ in takewhile(attrgetter("preemptions"), queue)),
        told.entered,
        told.preempted,
        server.needs(queue[0]) if queue else 0,
        server.written,
        server.ended,
        server.waited / server.let_in,
        server.preemptions,
    )


def _seat(served: Served, missing: int, hue: int) -> Seat:
    return Seat(
        served.number,
        served.request.prompt,
        served.last,
        served.tokens,
        missing,
        served.room,
        served.start,
        tuple(served.table),
        hue,
    )
