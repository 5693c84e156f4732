"""A thousand runs at once, with NumPy: how far luck alone carries a run from its theory.

The same rules as run.py, told for all runs in one go. A verify pass yields n tokens or more with
the chance that n − 1 drafts are accepted, so one coin a pass says how many; an eviction costs as
many recompute passes as there are chunks to fill again. Nothing here comes from a run's own seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.params import HORIZON, SLOTS, Params
from sim.theory import survival
from sim.work import Kept, Work, finish, within

RUNS = 1000
LUCK = 20230719
"""Seed of all runs together: the same thousand for every setting, so that a drag compares like."""

Counts = NDArray[Any]


PASSES = 50
"""Verify passes of all runs that are told between two looks at the clock."""


def _coins(runs: int) -> Work[Counts]:
    luck, drawn = np.random.default_rng(LUCK), np.empty((HORIZON, runs), np.float32)
    for done in range(0, HORIZON, PASSES):
        luck.random(out=drawn[done : done + PASSES], dtype=np.float32)
        yield done / HORIZON
    return drawn


coins_kept = Kept(_coins, most=1)


def coins(runs: int = RUNS) -> Counts:
    """One uniform in [0, 1) for each verify pass of each run: `HORIZON` rows, 4 bytes each."""
    return finish(coins_kept(runs))


def yields(luck: Counts, rates: Sequence[float]) -> Counts:
    """Tokens that each verify pass yields: its own, and one for every draft that it accepts.

    The coin of a pass falls below r₁…rⱼ with just the chance that j drafts are accepted.
    """
    tokens = np.ones(luck.shape, np.uint8)
    for chance in survival(rates):
        tokens += luck < np.float32(chance)
    return tokens


class Ensemble:
    """Runs of one setting side by side, a column each.

    `tokens_of` holds what each verify pass of each run yields, passes down the rows; `sums` what
    all passes before it do, if that is known.
    """

    def __init__(self, params: Params, tokens_of: Counts, sums: Counts | None = None) -> None:
        self.params, self.tokens_of = params, tokens_of
        self._sums = finish(_sums(tokens_of)) if sums is None else sums
        evictions = {0, *params.evictions_made}
        self._parts = [self._after(0)]
        for tick in sorted(evictions)[1:]:
            self._parts.append(self._after(tick))

    def _after(self, tick: int) -> tuple[int, Counts, Counts]:
        """An eviction right after `tick`: verify passes until then, recompute passes from then."""
        passes = self.verify_passes(tick) if tick else np.zeros(self.tokens_of.shape[1], np.int32)
        missing = np.minimum(self._made(passes), SLOTS - 1)
        return tick, passes, -(-missing // self.params.recompute_chunk)

    def _made(self, passes: Counts) -> Counts:
        """Output tokens after so many verify passes, run by run."""
        return self._sums[passes, np.arange(len(passes))].astype(np.int32)

    def verify_passes(self, tick: int) -> Counts:
        """How many of the ticks so far were verify passes, for each run."""
        began, before, refilling = next(part for part in reversed(self._parts) if part[0] <= tick)
        after: Counts = np.maximum(tick - began - refilling, 0)
        return before + after

    def tokens(self, tick: int) -> Counts:
        """Output tokens at `tick`, for each run."""
        return self._made(self.verify_passes(tick))

    def tokens_per_pass(self, tick: int) -> Counts:
        """Tokens per verify pass at `tick`, from 1 on, for each run."""
        return self.tokens(tick) / self.verify_passes(tick)

    def shares(self, tick: int) -> Work[Counts]:
        """Of the verify passes until `tick`, from 1 on: the share that yielded 1, 2, … tokens.

        k + 1 rows, a column each run.
        """
        passes = self.verify_passes(tick)
        runs, most = len(passes), len(self.params.rates) + 1
        counts, last = np.zeros((most + 1) * runs, np.int64), int(passes.max())
        for done in range(0, last, PASSES):
            rows = self.tokens_of[done : min(done + PASSES, last)]
            numbers = np.arange(done, done + len(rows))[:, None]
            places = np.where(numbers < passes, rows - 1, most) + (most + 1) * np.arange(runs)
            counts += np.bincount(places.ravel(), minlength=len(counts))
            yield done / last
        return counts.reshape(runs, most + 1)[:, :most].T / passes


def _sums(tokens_of: Counts) -> Work[Counts]:
    """Tokens of all passes before each one, and of all of them."""
    sums = np.zeros((len(tokens_of) + 1, tokens_of.shape[1]), np.uint16)
    for done in range(0, len(tokens_of), PASSES):
        rows = tokens_of[done : done + PASSES]
        np.cumsum(rows, axis=0, out=sums[done + 1 : done + 1 + len(rows)])
        sums[done + 1 : done + 1 + len(rows)] += sums[done]
        yield done / len(tokens_of)
    return sums


def _ensemble(params: Params) -> Work[Ensemble]:
    luck = yield from within(coins_kept(RUNS), 0, 0.3)
    tokens_of = np.empty(luck.shape, np.uint8)
    for done in range(0, HORIZON, PASSES):
        tokens_of[done : done + PASSES] = yields(luck[done : done + PASSES], params.rates)
        yield 0.3 + 0.4 * done / HORIZON
    sums = yield from within(_sums(tokens_of), 0.7, 1)
    return Ensemble(params, tokens_of, sums)


_ensemble_kept = Kept(_ensemble, most=2)


def ensemble(params: Params) -> Work[Ensemble]:
    """`RUNS` runs of this setting. Their luck is their own, whatever the seed of `params`."""
    return _ensemble_kept(replace(params, seed=0))


def spread(values: Counts, low: float = 0.05, high: float = 0.95) -> tuple[Counts, Counts]:
    """Two quantiles of the runs, for each row: values that runs really have, not between two."""
    ordered = np.sort(values, axis=-1)
    last = ordered.shape[-1] - 1
    return ordered[..., round(low * last)], ordered[..., round(high * last)]
