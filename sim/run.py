"""A run: a pure function of (parameters, tick), evictions and verdicts set by hand included.

A tick is one target pass.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import itemgetter
from random import Random
from typing import Any, NamedTuple

from sim.cache import ACCEPTED, BONUS, PLAIN, PROPOSED, slot_states, window_start
from sim.metrics import Counters, report
from sim.params import DRAWS_PER_PASS, HORIZON, SLOTS, Params
from sim.theory import draft_time, pass_time, verify_time

PHASES = DRAFT, VERIFY, KEEP = ("draft", "verify", "keep")
"""How a pass is told when there is time for it: proposals, verdicts, what comes of them."""


class Luck:
    """The coins of one seed: `DRAWS_PER_PASS` uniforms for each verify pass, drawn once and kept.

    Always the same number of draws, so that the n-th pass meets the same coins whatever the draft
    length and the rates: a longer draft or a higher rate never accepts fewer.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self._passes: list[tuple[float, ...]] = []
        self._highest: list[tuple[float, ...]] = []

    def coins(self, verify_pass: int) -> tuple[float, ...]:
        """Uniforms in [0, 1) of the verify pass with this number, counted from 0."""
        draw = self._random
        while len(self._passes) <= verify_pass:
            self._passes.append(tuple([draw() for _ in range(DRAWS_PER_PASS)]))
        return self._passes[verify_pass]

    def verdicts(self, first: int, end: int, rates: Sequence[float]) -> list[int]:
        """`count_accepted` of every verify pass from `first` on, the one numbered `end` left out.

        The highest coin so far rises along a pass: with one rate for all, the first coin that is
        not below it is found by bisection.
        """
        if len(set(rates)) > 1:
            return [count_accepted(self.coins(number), rates) for number in range(first, end)]
        highest = self._highest
        for number in range(len(highest), end):
            highest.append(tuple(accumulate(self.coins(number), max)))
        k, rate = len(rates), rates[0] if rates else 0.0
        return [bisect_left(coins, rate, 0, k) for coins in highest[first:end]]


luck_of = lru_cache(maxsize=4)(Luck)


def count_accepted(coins: Sequence[float], rates: Sequence[float]) -> int:
    """Length of the longest prefix of drafts whose coin falls below its rate."""
    accepted = 0
    for coin, rate in zip(coins, rates):  # noqa: B905 - there are always more coins than rates
        if coin >= rate:
            break
        accepted += 1
    return accepted


def step(state: Counters, params: Params, luck: Luck) -> Counters:
    """One tick: fill the cache again where positions are missing, else verify one draft."""
    missing = state.num_tokens - 1 - state.num_computed_tokens
    if params.kv_cache and missing:
        return recompute_pass(state, params, min(params.recompute_chunk, missing))
    return verify_pass(state, params, verdict(state.verify_passes + 1, params, luck))


def verdict(number: int, params: Params, luck: Luck) -> int:
    """Drafts that the verify pass `number`, counted from 1, accepts: set by hand, or by its coins.

    The coins are drawn either way, so that later passes meet the same.
    """
    if number in params.set_by_hand:
        return params.set_by_hand[number]
    return count_accepted(luck.coins(number - 1), params.rates)


def recompute_pass(state: Counters, params: Params, positions: int) -> Counters:
    """Push `positions` known positions through the target again: K/V, but no new token."""
    return state._replace(
        num_computed_tokens=state.num_computed_tokens + positions,
        recompute_passes=state.recompute_passes + 1,
        positions_computed=state.positions_computed + positions,
        positions_recomputed=state.positions_recomputed + positions,
        time=state.time + pass_time(params.batch_size * positions, params.knee),
    )


def verify_pass(state: Counters, params: Params, accepted: int) -> Counters:
    """Draft, verify, keep the accepted drafts and the token that the pass itself yields.

    Computes the newest token and the drafts; with the cache off all known positions of the window.
    The newest token's K/V are written by the next pass, so it stays uncomputed.
    """
    k = len(params.rates)
    redone = 0 if params.kv_cache else min(state.num_tokens, SLOTS) - 1
    width = 1 + k + redone
    num_tokens = state.num_tokens + accepted + 1
    return Counters(
        num_tokens,
        num_tokens - 1,
        state.verify_passes + 1,
        state.recompute_passes,
        state.drafted + k,
        state.accepted + accepted,
        state.positions_computed + width,
        state.positions_recomputed + redone,
        state.time + verify_time(params, width),
    )


Raw = tuple[int, int, int, int, int, int, int, int, float]
"""What `Counters` holds, without its names."""


def leap(state: Raw, params: Params, luck: Luck, ticks: int) -> list[Raw]:
    """What as many times `step` makes of a state that misses nothing: the state after each tick.

    The same to the last digit, in a fraction of the time: a drag replays a run in every frame.
    """
    tokens, _, passes, recomputes, drafted, accepted, positions, redone, time = state
    k, cached = len(params.rates), params.kv_cache
    priced, price = 0, 0.0
    states: list[Raw] = []
    verdicts = luck.verdicts(passes, passes + ticks, params.rates)
    for number, accepts in params.set_by_hand.items():
        if passes < number <= passes + ticks:
            verdicts[number - passes - 1] = accepts
    for kept in verdicts:
        again = 0 if cached else min(tokens, SLOTS) - 1
        width = 1 + k + again
        if width != priced:
            priced, price = width, verify_time(params, width)
        tokens += kept + 1
        passes += 1
        drafted += k
        accepted += kept
        positions += width
        redone += again
        time += price
        states.append(
            (tokens, tokens - 1, passes, recomputes, drafted, accepted, positions, redone, time)
        )
    return states


def evict(state: Counters) -> Counters:
    """Preemption in recompute mode: the tokens stay, the K/V of the whole window go."""
    return state._replace(num_computed_tokens=window_start(state.num_tokens))


class Pass(NamedTuple):
    """The record of one verify pass, as the strip shows it."""

    number: int
    """Counted from 1."""
    coins: tuple[float, ...]
    """One per draft."""
    rates: tuple[float, ...]
    """What each coin had to stay below."""
    accepted: int
    by_hand: bool = False
    """Whether `accepted` was set by hand; the coins are those that it would have met."""

    @property
    def rejected(self) -> int:
        """Drafts not kept: the first mismatch and all after it."""
        return len(self.rates) - self.accepted

    @property
    def by_coins(self) -> int:
        """Drafts that the coins alone would accept."""
        return count_accepted(self.coins, self.rates)

    def pressed(self, draft: int, was: Pass | None = None) -> int:
        """How many are accepted after a press on a draft, counted from 0.

        On an accepted one: those before it. On any other: all up to it. On the one that was pressed
        last: as many as the coins have it. `was` is the pass before that press; as the coins have
        it where that is not known.
        """
        before = self.by_coins
        if was is not None and was.number == self.number and was.accepted != self.accepted:
            before = was.accepted
        last = self.accepted if self.accepted < before else self.accepted - 1
        if self.by_hand and draft == last:
            return self.by_coins
        return draft if draft < self.accepted else draft + 1


class Block(NamedTuple):
    """One pass on the clock: what it carried, and how long each part of it took."""

    recompute: bool
    """Whether it filled the cache again; such a pass drafts nothing and makes no token."""
    width: int
    """Positions of each sequence that went through the target model."""
    drafted: int
    accepted: int
    draft_time: float
    """In memory-bound target passes, as `target_time` is; 0 without drafts."""
    target_time: float
    """Of the pass of the target model itself."""


class Run:
    """All ticks of one run, stepped as far as anyone has asked; going back costs nothing."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self._luck = luck_of(params.seed)
        self._origins = [PLAIN]
        self._states: list[Raw] = [Counters()]

    def at(self, tick: int) -> Counters:
        """The counters right after `tick` (0 to `HORIZON`), its eviction included.

        Raises ValueError for a tick outside the run.
        """
        if not 0 <= tick <= HORIZON:
            raise ValueError(f"tick {tick} is not from 0 to {HORIZON}")
        while len(self._states) <= tick:
            self._go_on(tick)
        return Counters(*self._states[tick])

    def _go_on(self, tick: int) -> None:
        """Step once, or leap towards `tick`, no further than to the next eviction."""
        params, states, origins = self.params, self._states, self._origins
        before, first, evictions = Counters(*states[-1]), len(states), params.evictions_made
        due = bisect_left(evictions, first)
        evicts = due < len(evictions) and evictions[due] <= tick
        end = evictions[due] if evicts else tick
        missing = before.num_tokens - 1 - before.num_computed_tokens
        made: list[Raw]
        if end == first or (params.kv_cache and missing):
            made = [step(before, params, self._luck)]
        else:
            made = leap(before, params, self._luck, end + 1 - first)
        own = BONUS if params.speculation else PLAIN
        origins += [ACCEPTED] * (made[-1][0] - len(origins))
        for state in made:
            origins[state[0] - 1] = own
        states += made
        if evicts and len(states) > end:
            states[-1] = evict(Counters(*states[-1]))

    def tick_after(self, time: float) -> int:
        """The first pass that goes on after this time; one past the last where none does."""
        while self._states[-1][-1] <= time and len(self._states) <= HORIZON:
            self.at(min(HORIZON, 2 * len(self._states)))
        return bisect_right(self._states, time, 1, key=itemgetter(-1))

    def verify_pass_at(self, tick: int) -> Pass | None:
        """The record of the pass that `tick` was, or None where it was no verify pass."""
        after = self.at(tick)
        before = self.at(max(0, tick - 1))
        if after.verify_passes == before.verify_passes:
            return None
        rates = self.params.rates
        coins = self._luck.coins(before.verify_passes)[: len(rates)]
        number, accepted = after.verify_passes, after.accepted - before.accepted
        return Pass(number, coins, rates, accepted, number in self.params.set_by_hand)

    def block(self, tick: int) -> Block:
        """The pass that `tick` was (1 to `HORIZON`), as a clock shows it.

        Raises ValueError for tick 0, which was none, and outside the run.
        """
        if tick < 1:
            raise ValueError(f"tick {tick} was no pass")
        before, after, params = self.at(tick - 1), self.at(tick), self.params
        width = after.positions_computed - before.positions_computed
        recompute = after.verify_passes == before.verify_passes
        return Block(
            recompute,
            width,
            after.drafted - before.drafted,
            after.accepted - before.accepted,
            0.0 if recompute else draft_time(params),
            pass_time(params.batch_size * width, params.knee),
        )

    def missing(self, tick: int) -> int:
        """Positions that must be computed again before the next token."""
        state = self.at(tick)
        return state.num_tokens - 1 - state.num_computed_tokens if self.params.kv_cache else 0

    def has_phases(self, tick: int) -> bool:
        """Whether the pass `tick` is told in phases: a verify pass with drafts, unless the cache
        was evicted right after it, which is seen at its tick.
        """
        record = self.verify_pass_at(tick)
        return record is not None and bool(record.rates) and not self.missing(tick)

    def known(self, tick: int, phase: str) -> int:
        """The tick whose numbers are known while the pass `tick` is told up to `phase`."""
        return tick - 1 if phase != KEEP and self.has_phases(tick) else tick

    def slots(self, tick: int, phase: str = KEEP) -> list[str]:
        """What each slot of the cache shows once the pass `tick` is told up to `phase`.

        Proposals lie where the next tokens would; with the verdicts known, the token that a full
        accept yields besides is not there yet.
        """
        if phase == KEEP or not self.has_phases(tick):
            return self._settled(tick)
        before, k = self.at(tick - 1).num_tokens, len(self.params.rates)
        slots, drafts = self._settled(tick - 1), range(before, before + k)
        if phase == DRAFT:
            for draft in drafts:  # over all that the tick before discarded
                slots[draft % SLOTS] = PROPOSED
            return slots
        after, own = self._settled(tick), (before + k) % SLOTS
        if self.at(tick).num_tokens > before + k:
            after[own] = slots[own]
        return after

    def _settled(self, tick: int) -> list[str]:
        state, record = self.at(tick), self.verify_pass_at(tick)
        return slot_states(
            state.num_tokens,
            state.num_computed_tokens,
            self._origins,
            record.rejected if record else 0,
            self.params.kv_cache,
        )

    def origin(self, position: int) -> tuple[str, int]:
        """Where a position came from (PLAIN, ACCEPTED or BONUS), and at which tick."""
        tick = bisect_right(self._states, position, key=itemgetter(0))
        return self._origins[position], tick

    def report(self, tick: int) -> dict[str, Any]:
        """Every number at `tick`, with the tick and the parameters: one flat object."""
        return report(self.at(tick), self.params, tick)


run_of = lru_cache(maxsize=8)(Run)
"""The run of some parameters; those that were asked for last are kept."""
