"""What speculation gains or costs with a model on a machine, and what fits into its memory.

A round is k draft steps and the pass that checks them; its speedup is

    expected tokens · plain pass ÷ (drafting + verify pass)

with the passes of `sim.passes`, for a batch of sequences that all have the same context.
Simplified: drafting and checking never overlap, and nothing else takes time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import ceil
from typing import NamedTuple

from sim.params import PARAMETERS
from sim.passes import Machine, Model, Roofs, pass_roofs
from sim.theory import LONGEST
from sim.work import Work

LARGEST = 512
"""The largest batch that best draft lengths are looked for at."""

FILLED = 0.9
"""The share of a machine's memory that engines fill."""

Curve = tuple[tuple[float, float], ...]
"""Measured passes: positions of all sequences together, rising, and milliseconds."""


WIDTHS = 1.0, 0.5
"""Bytes of the narrower weights that engines serve."""

NGRAM = "ngram"
"""The name of drafts that no model makes."""


class Drafting(NamedTuple):
    """How drafts are made: by a model, by a share of the big one, or without either by n-grams."""

    model: Model | None = None
    share: float = 0.0
    """Of the big model: its weights, its cache and its passes."""
    parallel: bool = False
    """Whether one pass makes all drafts, instead of one pass each."""


class Best(NamedTuple):
    """The fastest draft length, 0 for none, and its speedup; None where nothing is known."""

    k: int | None
    speedup: float | None


@lru_cache(maxsize=64)
def expected_tokens(rates: tuple[float, ...]) -> tuple[float, ...]:
    """Tokens a pass by draft length, 0 to `LONGEST`; the last rate holds for all further drafts."""
    found, chance = [1.0], 1.0
    for j in range(LONGEST):
        chance *= rates[min(j, len(rates) - 1)]
        found.append(found[-1] + chance)
    return tuple(found)


@lru_cache(maxsize=4)
def _weights_read(model: Model, width: float) -> tuple[float, ...]:
    """Bytes of weights that a pass reads, by the positions in it, up to the largest pass of all."""
    return tuple(model.weights_read(n, width) for n in range(LARGEST * (1 + LONGEST) + 1))


def interpolated(curve: Curve, positions: float) -> float | None:
    """Milliseconds of a pass over so many positions, on straight lines between the measured ones.

    None beyond them: what was not measured is not made up.
    """
    at = bisect_left(curve, (positions, 0.0))
    if at < len(curve) and curve[at][0] == positions:
        return curve[at][1]
    if at in (0, len(curve)):
        return None
    (low, before), (high, after) = curve[at - 1], curve[at]
    return before + (after - before) * (positions - low) / (high - low)


@dataclass(frozen=True)
class Case:
    """A model that is served on a machine, with drafts."""

    machine: Machine
    model: Model
    drafting: Drafting
    rates: tuple[float, ...]
    """Acceptance rates by position, each given that all before it were accepted; at least one."""
    context: int = 256
    """Tokens in the cache of each sequence."""
    width: float = 2.0
    """Bytes a weight."""
    kv_width: float = 2.0
    """Bytes a number in the cache."""
    curve: Curve = ()
    """In place of the roofline of the big model, where there is one."""

    def roofs(self, batch: int, n: int, model: Model | None = None) -> Roofs:
        """Both times of a pass over n positions of each sequence, in seconds."""
        model = model or self.model
        tokens = batch * self.context
        weights = model.weights_read(batch * n, self.width)
        return pass_roofs(
            self.machine, model, batch * n, tokens, tokens * n, weights, self.kv_width
        )

    def seconds(self, batch: int, n: int) -> float | None:
        """What a pass of the big model over n positions of each sequence takes."""
        if self.curve:
            measured = interpolated(self.curve, batch * n)
            return None if measured is None else measured / 1000
        return self.roofs(batch, n).seconds

    def draft_step(self, batch: int) -> float | None:
        """Seconds of one pass that drafts: for one position, or for all where it is parallel."""
        if self.drafting.model:
            return self.roofs(batch, 1, self.drafting.model).seconds
        if not self.drafting.share:
            return 0.0
        plain = self.seconds(batch, 1)
        return None if plain is None else self.drafting.share * plain

    def drafting_seconds(self, batch: int, k: int) -> float | None:
        """What k drafts take."""
        step = self.draft_step(batch)
        return None if step is None else step * (min(k, 1) if self.drafting.parallel else k)

    def draft_cost(self, batch: int) -> float | None:
        """c: one drafting pass ÷ one plain pass."""
        step, plain = self.draft_step(batch), self.seconds(batch, 1)
        return None if step is None or plain is None else step / plain

    @property
    def knee(self) -> float:
        """Positions from which on arithmetic takes longer than reading each weight once."""
        return self.machine.flops * self.width / (2 * self.machine.bandwidth)

    def speedup(self, batch: int, k: int) -> float | None:
        """Against plain decoding of the same batch; 1 without drafts."""
        plain, verify = self.seconds(batch, 1), self.seconds(batch, 1 + k)
        drafting = self.drafting_seconds(batch, k)
        if plain is None or verify is None or drafting is None:
            return None
        return expected_tokens(self.rates)[k] * plain / (drafting + verify)

    def speedups(self, batch: int) -> list[float | None]:
        """Speedup at k = 1 to `LONGEST`; as `speedup`, at a fraction of its time."""
        plain, step = self.seconds(batch, 1), self.draft_step(batch)
        if plain is None or step is None or self.curve:
            return [self.speedup(batch, k) for k in range(1, LONGEST + 1)]
        memory, arithmetic = self.roofs(batch, 1)
        rest = memory - self.model.weights_read(batch, self.width) / self.machine.bandwidth
        once, each = (step, 0.0) if self.drafting.parallel else (0.0, step)
        tokens, bandwidth = expected_tokens(self.rates), self.machine.bandwidth
        read = _weights_read(self.model, self.width) if self.model.experts else ()
        found: list[float | None] = []
        for k in range(1, LONGEST + 1):
            if read:  # more positions wake more experts
                memory = rest + read[batch * (1 + k)] / bandwidth
            computing = arithmetic * (1 + k)
            verify = memory if memory > computing else computing
            found.append(tokens[k] * plain / (once + k * each + verify))
        return found

    def best(self, batch: int) -> Best:
        """The fastest draft length at this batch, the shorter of two that are equal."""
        return best_of(self.speedups(batch))

    # Memory

    @property
    def per_token(self) -> float:
        """Bytes of keys and values of a token, the draft's included."""
        own, drafting = self.model.kv_bytes(self.kv_width), self.drafting
        if drafting.model:
            return own + drafting.model.kv_bytes(self.kv_width)
        return own * (1 + drafting.share)

    @property
    def weights(self) -> float:
        """Bytes of all weights, the draft's included."""
        own, drafting = self.model.parameters * self.width, self.drafting
        if drafting.model:
            return own + drafting.model.parameters * self.width
        return own * (1 + drafting.share)

    def short_by(self, batch: int) -> int:
        """Bytes that are missing for this batch at this context; 0 where all fits."""
        needed = self.weights + batch * self.context * self.per_token
        return max(0, round(needed - FILLED * self.machine.capacity))

    @property
    def slots(self) -> int:
        """Tokens that fit into what the weights leave of the memory."""
        return max(0, int((FILLED * self.machine.capacity - self.weights) / self.per_token))

    @property
    def conversations(self) -> int | None:
        """How many of this context fit at once; None for a context of no tokens."""
        return self.slots // self.context if self.context else None

    def remedies(self, batch: int) -> list[str]:
        """What would make it fit, one by one; nothing where it does, or nothing would."""
        if not self.short_by(batch):
            return []
        more, narrower = ceil(self.filled(batch, self.width)), self.narrower(batch)
        bits = [f"{8 * narrower:g}-bit weights"] if narrower else []
        return [f"{more} times the memory", *bits, *self.less(batch)]

    def filled(self, batch: int, width: float) -> float:
        """What all of it takes with weights of so many bytes ÷ the memory that may be filled."""
        cache = batch * self.context * self.per_token
        return (self.weights * width / self.width + cache) / (FILLED * self.machine.capacity)

    def narrower(self, batch: int) -> float | None:
        """The widest of narrower weights, in bytes, with which it fits into the memory there is."""
        narrower = [width for width in WIDTHS if width < self.width]
        return next((width for width in narrower if self.filled(batch, width) <= 1), None)

    def less(self, batch: int) -> list[str]:
        """The batch or the context that fits, where one does."""
        if self.conversations:
            return [f"a batch of {self.conversations} at most"]
        if self.slots >= batch:
            return [f"a context of {self.slots // batch} tokens at most"]
        return []

    def as_the_widget(self, batch: int, k: int) -> dict[str, object] | None:
        """Settings of the widget in which a round of k drafts takes as long, by key.

        The widget knows no keys and values to be read: its knee is the one at which checking k
        drafts takes as much longer than a plain pass as it does here, within its limits. None where
        a pass is not known.
        """
        plain, verify = self.seconds(batch, 1), self.seconds(batch, 1 + k)
        cost = self.draft_cost(batch)
        if plain is None or verify is None or cost is None:
            return None
        longer = max(1.0, verify / plain)
        tokens = batch * (1 + k)
        roofs = self.roofs(batch, 1 + k)
        flat = max(tokens, tokens * roofs.memory / roofs.arithmetic)
        knee = tokens / longer if longer > 1 else flat
        parallel, cost = self.drafting.parallel, round(cost, 4)
        return {
            "c": 0.0 if parallel else min(cost, _most("c")),
            "c0": min(cost, _most("c0")) if parallel else 0.0,
            "batch": batch,
            "knee": max(1, min(round(knee), int(_most("knee")))),
        }


def _most(key: str) -> float:
    (row,) = [row for row in PARAMETERS if row.key == key]
    return float(row.kind.high)  # type: ignore[attr-defined]  # each of them is a number


def best_of(speedups: Sequence[float | None]) -> Best:
    """The fastest of the draft lengths 1, 2, …; none of them where none gains."""
    known = [speedup for speedup in speedups if speedup is not None]
    if not known:
        return Best(None, None)
    most = max(known)
    return Best(speedups.index(most) + 1, most) if most > 1 else Best(0, 1.0)


Grid = list[list[float | None]]
"""Speedups: a row for each batch from 1 on, in it one for each k from 1 on."""


def grid(case: Case, largest: int = LARGEST) -> Work[Grid]:
    """All speedups of the batches 1 to `largest`; a work, because there are many."""
    found = []
    for batch in range(1, largest + 1):
        found.append(case.speedups(batch))
        if batch % 16 == 0:
            yield batch / largest
    return found


class Range(NamedTuple):
    """Batches next to each other, and a draft length for them; None where nothing is known."""

    first: int
    last: int
    k: int | None


def _ranges(lengths: Iterable[int | None]) -> list[Range]:
    found, first = [], 1
    for k, same in groupby(lengths):
        last = first + len(list(same)) - 1
        found.append(Range(first, last, k))
        first = last + 1
    return found


def losing(speedups: Grid) -> list[tuple[int, int]]:
    """The batches at which no draft length gains, as ranges; those not known are left out."""
    best = (best_of(row).k for row in speedups)
    return [(one.first, one.last) for one in _ranges(best) if one.k == 0]


NEAR = 0.01
"""The share of a speedup that is not worth another draft length."""


def lengths(speedups: Grid) -> list[Range]:
    """Draft lengths by ranges of batches, each within `NEAR` of the best; 0 where none gains.

    One is kept from batch to batch as long as that holds, so that ranges are few.
    """
    chosen: list[int | None] = []
    for row in speedups:
        best, kept = best_of(row), chosen[-1] if chosen else None
        near = row[kept - 1] if kept else None
        good = near is not None and near > 1 and near >= (best.speedup or 0) * (1 - NEAR)
        chosen.append(kept if good else best.k)
    return _ranges(chosen)


def agreeing(found: Sequence[Range], speedups: Grid, batch: int) -> list[Range]:
    """The same ranges, with the very best length at this batch, and around it while it is near."""
    best = best_of(speedups[batch - 1]).k
    here = next(one for one in found if one.first <= batch <= one.last)
    if not best or best == here.k:
        return list(found)

    def near(other: int) -> bool:
        row = speedups[other - 1]
        return (row[best - 1] or 0) >= (best_of(row).speedup or 0) * (1 - NEAR)

    first = last = batch
    while first > here.first and near(first - 1):
        first -= 1
    while last < here.last and near(last + 1):
        last += 1
    chosen = [one.k for one in found for _ in range(one.first, one.last + 1)]
    chosen[first - 1 : last] = [best] * (last - first + 1)
    return _ranges(chosen)
