"""The clock: what each pass spent its time on, drawn on one axis beside plain decoding.

The lane of the run is made pass by pass: drafting, then the pass that checks, which widens past the
knee; what went into drafts that were not kept, and into positions computed before, is told apart.
The lane of plain decoding is equal blocks. All lengths are model time (`sim.run`), all places px of
a drawing as wide as its element; a drawing is SVG path data by part.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import floor
from typing import NamedTuple

from sim.params import HORIZON, Params
from sim.run import KEEP, Run
from sim.run import VERIFY as CHECKED
from sim.theory import pass_time, plain_pass

DRAFT, REJECTED, VERIFY, WASTED, REDONE = "draft", "rejected", "verify", "wasted", "redone"
PARTS = (DRAFT, REJECTED, VERIFY, WASTED, REDONE)
"""What time goes into: drafts that were kept (and what a round costs), drafts that were not, the
pass of the target, what it took longer for drafts that it did not keep, positions computed before.
"""

TALLY, LANE, LANE_HEIGHT, THIN, GHOST, KEPT, GHOST_HEIGHT, PLAIN = 11, 16, 22, 12, 39, 43.5, 3.5, 48
"""From the top: the line that tokens are written on; the lane of the run, the height of its blocks
and of its drafts; the lanes of the run as it was, of one that was kept, and of plain decoding."""

HEIGHT = PLAIN + LANE_HEIGHT
"""Of the whole drawing."""

WIDTH = 1064
"""Of the drawing before its place is known."""

SCALE = 36.0
"""px of a unit of time, before anyone came closer or went farther."""

CLOSEST, FARTHEST = 5, -8
"""How often one may come closer, and go farther: a factor of two each."""

MERGED = 4.0
"""px below which passes are drawn as one, their parts one over the other."""

GAP = 1.5
"""px between one pass and the next, where they are not merged."""

TALLIED = 24
"""px of a pass from which on its tokens are written over it."""

AHEAD = 0.04
"""Share of the width that stays free after now."""


class Stretch(NamedTuple):
    """What some time went into."""

    part: str
    length: float
    """In model time."""


def blocks(run: Run, tick: int) -> list[Stretch]:
    """What the pass that `tick` was spent its time on, in order: the time of that pass in all."""
    made, params = run.block(tick), run.params
    if made.recompute:
        return [Stretch(REDONE, made.target_time)]
    rejected = made.drafted - made.accepted
    in_vain = rejected * params.draft_cost * plain_pass(params)
    useful, known = (
        pass_time(params.batch_size * width, params.knee)
        for width in (1 + made.accepted, made.width - rejected)
    )
    return [
        Stretch(DRAFT, made.draft_time - in_vain),
        Stretch(REJECTED, in_vain),
        Stretch(VERIFY, useful),
        Stretch(REDONE, known - useful),
        Stretch(WASTED, made.target_time - known),
    ]


def as_told(parts: list[Stretch], phase: str) -> list[Stretch]:
    """The blocks of a pass as far as a phase of `sim.run` tells: no verdict before its time."""
    if phase == KEEP:
        return parts
    drafting = sum(length for part, length in parts if part in (DRAFT, REJECTED))
    told = [Stretch(DRAFT, drafting)]
    if phase == CHECKED:
        told.append(Stretch(VERIFY, sum(length for _, length in parts) - drafting))
    return told


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"


Drawn = dict[str, str]
"""Path data by part."""


class Lane:
    """The lane of a run at one scale, from px 0 at its start; what was drawn once is kept."""

    def __init__(self, run: Run, scale: float) -> None:
        self._run, self._scale = run, scale
        self._made: dict[int, Drawn] = {}
        cheapest = min(1.0, plain_pass(run.params))
        self.merged = cheapest * scale < MERGED
        """Whether several passes may be drawn as one."""
        self._step = MERGED / scale if self.merged else 0.0

    def drawn(self, first: int, last: int) -> Iterator[Drawn]:
        """What the passes from `first` to `last` look like."""
        tick = first
        while tick <= last:
            end = min(last, self._end(tick))
            if tick not in self._made or end == last:
                made = self._together(tick, end) if self.merged else self.one(tick, KEEP)
                if end == last:
                    yield made
                    return
                self._made[tick] = made
            yield self._made[tick]
            tick = end + 1

    def first(self, time: float) -> int:
        """The first pass to draw where the drawing begins at this time."""
        if self.merged:  # at the edge of what is drawn as one, so that it never changes
            time = floor(time / self._step) * self._step
        return self._run.tick_after(time)

    def _end(self, tick: int) -> int:
        """The last pass that is drawn with `tick` as one."""
        if not self.merged:
            return tick
        start = self._run.at(tick - 1).time
        edge = (floor(start / self._step + 1e-9) + 1) * self._step
        return max(tick, self._run.tick_after(edge) - 1)

    def one(self, tick: int, phase: str) -> Drawn:
        """One pass, its parts one after the other."""
        made, scale = Drawn(), self._scale
        x = self._run.at(tick - 1).time * scale
        parts = [block for block in as_told(blocks(self._run, tick), phase) if block.length > 0]
        for index, (part, length) in enumerate(parts):
            thin = part in (DRAFT, REJECTED)
            height = THIN if thin else LANE_HEIGHT
            width = length * scale - (GAP if index == len(parts) - 1 else 0)
            made[part] = _box(x, LANE + LANE_HEIGHT - height, max(0.5, width), height)
            x += length * scale
        return made

    def _together(self, first: int, last: int) -> Drawn:
        """Several passes as one, each part by its share of their time."""
        start, end = self._run.at(first - 1).time, self._run.at(last).time
        shares = dict.fromkeys(PARTS, 0.0)
        for tick in range(first, last + 1):
            for part, length in blocks(self._run, tick):
                shares[part] += length
        made, y = Drawn(), float(LANE + LANE_HEIGHT)
        for part, length in shares.items():
            height = LANE_HEIGHT * length / (end - start)
            if height > 0.05:
                y -= height
                made[part] = _box(start * self._scale, y, (end - start) * self._scale, height)
        return made


lane_of = lru_cache(maxsize=8)(Lane)


class View(NamedTuple):
    """Which stretch of time is drawn, and how large."""

    start: float
    end: float
    """Model time; now, where the run does not go on."""
    scale: float
    """px of a unit of time."""

    def x(self, time: float) -> float:
        """Where a time is."""
        return (time - self.start) * self.scale


def view(run: Run, tick: int, width: int, zoom: int) -> View:
    """The stretch that leads up to `tick`, or the start of the run where that fits.

    From one pass to the whole run, however often one came closer (`zoom` above 0) or went farther.
    """
    now = run.at(tick).time
    room = width * (1 - AHEAD)
    scale = SCALE * 2.0**zoom
    if zoom < 0:
        scale = max(scale, room / run.at(HORIZON).time)
    elif zoom > 0:
        spent = now - run.at(max(0, tick - 1)).time
        scale = min(scale, max(SCALE, room / max(1.0, spent)))
    start = max(0.0, now - room / scale)
    return View(start, now, scale)


class Clock(NamedTuple):
    """The drawing of a moment."""

    lane: Drawn
    """Path data of the run's lane by part."""
    ghost: str
    """That of the run as it was, up to the same time."""
    kept: str
    """That of a run that was kept."""
    plain: str
    """The line that is the lane of plain decoding."""
    dashes: str
    """How that line is cut into blocks."""
    evicted: str
    """Where the cache was evicted."""
    now: str
    """Where the run is."""
    tallies: tuple[tuple[float, int], ...]
    """Where a pass that wrote tokens has their number over it, and the number."""
    shift: float
    """px by which lanes and marks are to be moved, since they begin with the run."""


def clock(
    run: Run,
    tick: int,
    width: int = WIDTH,
    zoom: int = 0,
    phase: str = KEEP,
    ghost: Run | None = None,
    kept: Run | None = None,
) -> Clock:
    """The clock at `tick`; with other runs to compare with, at the same time."""
    seen = view(run, tick, width, zoom)
    lane = lane_of(run, seen.scale)
    first = lane.first(seen.start)
    whole = run.known(tick, phase)
    drawn = list(lane.drawn(first, whole))
    if whole < tick:
        drawn.append(lane.one(tick, phase))
    parts = {part: "".join(one.get(part, "") for one in drawn) for part in PARTS}
    tallies = []
    if not lane.merged:
        for at in range(first, whole + 1):
            before, after = run.at(at - 1), run.at(at)
            tokens, length = after.num_tokens - before.num_tokens, after.time - before.time
            place = seen.x((before.time + after.time) / 2)
            if tokens and length * seen.scale >= TALLIED and place >= TALLIED / 2:
                tallies.append((place, tokens))
    end = _end(run, tick, phase)
    cuts = [run.at(at).time * seen.scale for at in run.params.evictions_made if at <= tick]
    return Clock(
        parts,
        _ghost(ghost, seen, end, GHOST) if ghost else "",
        _ghost(kept, seen, end, KEPT) if kept else "",
        *_plain(run.params, seen, end),
        "".join(_box(x - 1, LANE - 3, 2, LANE_HEIGHT + 6) for x in cuts),
        f"M{seen.x(end):.1f} {LANE - 2}V{HEIGHT}",
        tuple(tallies),
        -seen.start * seen.scale,
    )


def _end(run: Run, tick: int, phase: str) -> float:
    """The time up to which the pass at `tick` is told."""
    now = run.at(tick).time
    if run.known(tick, phase) != tick:
        told = as_told(blocks(run, tick), phase)
        return run.at(tick - 1).time + sum(block.length for block in told)
    return now


def _plain(params: Params, seen: View, end: float) -> tuple[str, str]:
    """The lane of plain decoding up to `end`, and its dashes."""
    each = plain_pass(params)
    start = floor(seen.start / each + 1e-9) * each
    y, step = PLAIN + LANE_HEIGHT / 2, each * seen.scale
    dashes = f"{step - GAP:.3f} {GAP}" if step >= MERGED else "none"
    return f"M{seen.x(start):.1f} {y}H{max(seen.x(end), seen.x(start)):.1f}", dashes


def _ghost(other: Run, seen: View, end: float, y: float) -> str:
    """The passes of another run between the same times, as one thin lane."""
    lane = lane_of(other, seen.scale)
    tick, made = lane.first(seen.start), []
    step = MERGED / seen.scale
    while tick <= HORIZON and (begun := other.at(tick - 1).time) < end:
        last = max(tick, min(HORIZON, other.tick_after(begun + step) - 1)) if lane.merged else tick
        length = min(end, other.at(last).time) - begun
        gap = 0 if lane.merged else GAP
        width = max(0.5, length * seen.scale - gap)
        made.append(_box(begun * seen.scale, y, width, GHOST_HEIGHT))
        tick = last + 1
    return "".join(made)


def in_words(run: Run, tick: int) -> str:
    """The clock for those who do not see it: the last pass, and the race."""
    if tick == 0:
        return "The clock has not started."
    names = {
        DRAFT: "drafting",
        REJECTED: "drafts that were not kept",
        VERIFY: "the pass of the big model",
        REDONE: "positions computed before",
        WASTED: "checking drafts that were not kept",
    }
    spent = [f"{length:.2f} for {names[part]}" for part, length in blocks(run, tick) if length > 0]
    report = run.report(tick)
    return (
        f"The last pass took {', '.join(spent)}. In {report['time']:.1f} units of time "
        f"{report['tokens']} tokens were written; plain decoding would have written "
        f"{floor(report['plain_tokens'] + 1e-9)}."
    )
