"""The run and its board against the rules as they are written, told again the slow way.

`Told` keeps every token and every key and value that is held, and goes through them one by one. It
knows nothing of windows by arithmetic, of shared counters or of drafts counted instead of drawn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, takewhile
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cache import (
    ACCEPTED,
    BONUS,
    DISCARDED,
    EMPTY,
    EVICTED,
    NEWEST,
    PLAIN,
    PROPOSED,
    REJECTED,
    position_in,
    slot_states,
)
from sim.metrics import Counters
from sim.params import HORIZON, SLOTS, Params
from sim.run import Run, count_accepted, luck_of, step
from sim.story import describe_slot
from tests.strategies import params_of_rules, rate

EXAMPLES = int(os.environ.get("BONUS_TOKEN_EXAMPLES", "25"))
"""Runs that each property is tried on."""

examples = settings(max_examples=EXAMPLES)


class Told:
    """A run told token by token, from the text of the model alone."""

    def __init__(self, params: Params) -> None:
        self.params = params
        self.coin = Random(params.seed).random
        self.origins = [PLAIN]
        self.written: set[int] = set()
        self.drafts = self.kept = self.computed = self.redone = self.verified = self.refilled = 0
        self.time = 0.0
        self.stopped_after: int | None = None
        """Drafts that the last tick accepted, or None where it was no verify pass."""
        self.gone = False
        """Whether the cache was evicted right after the last tick."""

    def window(self) -> list[int]:
        return list(range(len(self.origins)))[-512:]

    def pass_time(self, tokens: int) -> float:
        return max(1, tokens / self.params.knee)

    def plain_pass(self) -> float:
        return self.pass_time(self.params.batch_size)

    def lost(self) -> list[int]:
        """Known positions, the newest aside, that must be computed again."""
        if not self.params.kv_cache:
            return []
        return [position for position in self.window()[:-1] if position not in self.written]

    def tick(self) -> None:
        lost, batch = self.lost(), self.params.batch_size
        self.stopped_after = None
        self.gone = False
        if lost:
            again = lost[: self.params.recompute_chunk]
            self.written |= set(again)
            self.refilled += 1
            self.computed += len(again)
            self.redone += len(again)
            self.time += self.pass_time(batch * len(again))
            return
        k = self.params.draft_length if self.params.speculation else 0
        given = self.params.acceptance_rates or (self.params.acceptance_rate,)
        rates = [*given, *[given[-1]] * k][:k]
        coins = [self.coin() for _ in range(32)]
        verdicts = [coin < rate for coin, rate in zip(coins, rates, strict=False)]
        accepted = len(list(takewhile(bool, verdicts)))
        for number, by_hand in self.params.verdicts:
            if number == self.verified + 1:
                accepted = min(by_hand, k)
        known = len(self.window())
        width = 1 + k if self.params.kv_cache else known + k
        self.computed += width
        self.redone += width - k - 1
        plain = self.plain_pass()
        c0 = getattr(self.params, "round_cost", 0.0) if k else 0.0
        self.time += c0 * plain + k * self.params.draft_cost * plain + self.pass_time(batch * width)
        self.origins += [ACCEPTED] * accepted + [BONUS if self.params.speculation else PLAIN]
        self.written = set(range(len(self.origins) - 1))
        self.drafts += k
        self.kept += accepted
        self.verified += 1
        self.stopped_after = accepted

    def evict(self) -> None:
        if self.params.kv_cache:
            self.written.clear()
            self.gone = True

    def numbers(self) -> dict[str, Any]:
        tokens = len(self.origins) - 1
        wasted = self.drafts - self.kept
        cached = len(self.written & set(self.window())) if self.params.kv_cache else 0
        return {
            "tokens": tokens,
            "verify_passes": self.verified,
            "recompute_passes": self.refilled,
            "drafted": self.drafts,
            "accepted": self.kept,
            "cached": cached,
            "positions_computed": self.computed,
            "positions_recomputed": self.redone,
            "positions_wasted": wasted,
            "positions_useful": tokens,
            "time": self.time,
            "plain_tokens": self.time / self.plain_pass(),
            "tokens_per_pass": tokens / self.verified if self.verified else None,
            "speedup": tokens * self.plain_pass() / self.time if self.time else None,
            "draft_acceptance": self.kept / self.drafts if self.drafts else None,
        }

    def board(self) -> list[str]:
        """Every token in turn, the later over the earlier; then the drafts of the last tick."""
        slots = ["empty"] * 512
        newest, lost = len(self.origins) - 1, self.lost()
        k = self.params.draft_length if self.params.speculation else 0
        rejected = k - self.stopped_after if self.stopped_after is not None else 0
        for position, origin in enumerate(self.origins):
            state = origin
            if position == newest:
                state = REJECTED if rejected else NEWEST
            if lost and (position in lost or position == newest):
                state = EVICTED
            slots[position % 512] = state
        if not (self.gone and lost):
            for draft in range(rejected - 1):
                slots[(newest + 1 + draft) % 512] = DISCARDED
        return slots


def told(params: Params, last: int) -> Iterator[tuple[int, Told]]:
    """The run as it is told, tick by tick."""
    one = Told(params)
    for tick in range(last + 1):
        if tick:
            one.tick()
        if tick in params.evictions:
            one.evict()
        yield tick, one


@examples
@given(params_of_rules)
def test_every_number_and_every_slot_is_what_the_rules_say(params: Params) -> None:
    run = Run(params)
    for tick, one in told(params, 190):
        report = run.report(tick)
        numbers = one.numbers()
        assert {name: report[name] for name in numbers} == numbers, tick
        assert run.missing(tick) == len(one.lost()), tick
        assert run.slots(tick) == one.board(), tick


@pytest.mark.parametrize(
    "params",
    [
        Params(evictions=(0, 1, 300, 303, 1199, 1200), recompute_chunk=64),
        Params(evictions=(0, 150, 152, 1200), recompute_chunk=16, draft_length=32),
        Params(evictions=(0, 5, 1200), kv_cache=False, batch_size=3),
        Params(evictions=(700,), speculation=False, recompute_chunk=512),
        Params(acceptance_rates=(0.95, 0.2), draft_length=7, draft_cost=0.13, knee=5),
    ],
    ids=range(5),
)
def test_the_rules_hold_to_the_last_tick(params: Params) -> None:
    run = Run(params)
    for tick, one in told(params, HORIZON):
        report, numbers = run.report(tick), one.numbers()
        assert {name: report[name] for name in numbers} == numbers, tick
        if (
            tick % 37 == 0
            or tick > HORIZON - 4
            or any(abs(tick - at) < 9 for at in params.evictions)
        ):
            assert run.slots(tick) == one.board(), tick


def test_the_slow_way_is_not_the_quick_way_told_twice() -> None:
    """A control: rules that differ by one word are seen."""
    params = Params(evictions=(40,), recompute_chunk=16)

    class Forgets(Told):
        def evict(self) -> None:
            self.written = set(range(len(self.origins) - 2))

    class KeepsAll(Told):
        def window(self) -> list[int]:
            return list(range(len(self.origins)))

    class NoRejected(Told):
        def board(self) -> list[str]:
            return [NEWEST if state == REJECTED else state for state in super().board()]

    for wrong in (Forgets, KeepsAll, NoRejected):
        one, run, same = wrong(params), Run(params), True
        for tick in range(1, 301):
            one.tick()
            if tick in (40, 250):
                one.evict()
            more = run if tick < 250 else Run(replace(params, evictions=(40, 250)))
            same = same and one.board() == more.slots(tick)
            same = same and one.numbers()["cached"] == more.report(tick)["cached"]
            if not same:
                break
        assert not same, wrong.__name__


# What the text says in so many words


@pytest.mark.parametrize("accepted", [0, 1, 2, 3, 4])
def test_a_rejected_draft_is_seen_where_it_happened_however_many_follow_it(accepted: int) -> None:
    """With one draft rejected, the last, as with more; the tick after, it is a bonus token."""
    run = Run(Params())
    ticks = [t for t in range(1, 100) if run.at(t).accepted - run.at(t - 1).accepted == accepted]
    assert ticks
    for tick in ticks:
        newest = run.at(tick).num_tokens - 1
        slots = run.slots(tick)
        assert slots[newest] == (REJECTED if accepted < 4 else NEWEST)
        after = [slots[newest + 1 + n] for n in range(4)]
        discarded = max(0, 3 - accepted)
        assert after == [DISCARDED] * discarded + [EMPTY] * (4 - discarded)
        assert run.slots(tick + 1)[newest] == BONUS


@examples
@given(params_of_rules, st.integers(1, 190))
def test_proposals_lie_where_the_next_tokens_would_and_tell_no_verdict(
    params: Params, tick: int
) -> None:
    run = Run(params)
    before, after, shown = run.slots(tick - 1), run.slots(tick), run.slots(tick, "draft")
    record = run.verify_pass_at(tick)
    if record is None or run.missing(tick) or not record.rates:
        assert shown == after, "nothing is proposed in a recompute pass, and an eviction is seen"
        assert run.slots(tick, "verify") == after
        return
    num_tokens = run.at(tick - 1).num_tokens
    places = [(num_tokens + draft) % SLOTS for draft in range(len(record.rates))]
    assert {shown[place] for place in places} == {PROPOSED}
    # All else is as it was, and what the tick before discarded is gone.
    others = set(range(SLOTS)) - set(places)
    assert all(shown[slot] == before[slot] for slot in others)
    assert not any(shown[slot] == DISCARDED for slot in others)
    # With the verdicts known, all is there but the token that a full accept yields besides.
    verified, own = run.slots(tick, "verify"), (num_tokens + len(places)) % SLOTS
    differs = {slot for slot in range(SLOTS) if verified[slot] != after[slot]}
    assert differs == ({own} if record.accepted == len(places) else set())
    if differs:
        assert verified[own] == before[own]


def test_the_first_pass_proposes_right_behind_the_prompt() -> None:
    shown = Run(Params(draft_length=3)).slots(1, "draft")
    assert [slot for slot in range(SLOTS) if shown[slot] != EMPTY] == [0, 1, 2, 3]
    assert shown[0] == NEWEST
    assert Run(Params(draft_length=3)).slots(0, "draft") == Run(Params(draft_length=3)).slots(0)


@examples
@given(params_of_rules)
def test_with_the_cache_off_evictions_do_nothing(params: Params) -> None:
    """Nothing at all: not to the tokens, the board, or what has been through the model."""
    off = replace(params, kv_cache=False)
    evicted, left_alone = (
        Run(replace(off, evictions=(0, 1, 7, 30))),
        Run(replace(off, evictions=())),
    )
    for tick in (0, 1, 2, 7, 8, 30, 31, 60):
        assert evicted.at(tick) == left_alone.at(tick)
        assert evicted.slots(tick) == left_alone.slots(tick)
        assert evicted.missing(tick) == 0
        assert EVICTED not in evicted.slots(tick)


def test_with_the_cache_off_no_position_counts_as_missing_or_evicted() -> None:
    """Whatever is said to have been through the model: nothing of it is kept to be lost."""
    params = Params(kv_cache=False, draft_cost=0.0)
    assert step(Counters(num_tokens=9), params, luck_of(0)).verify_passes == 1
    assert step(Counters(num_tokens=9), replace(params, kv_cache=True), luck_of(0)).time == 1
    origins = [PLAIN, ACCEPTED, ACCEPTED, BONUS]
    assert slot_states(4, 0, origins, 0, False) == slot_states(4, 3, origins, 0, True)
    assert slot_states(4, 0, origins, 0, True)[:5] == [EVICTED] * 4 + [EMPTY]


@examples
@given(params_of_rules)
def test_an_eviction_at_tick_nought_has_nothing_to_take(params: Params) -> None:
    one, other = replace(params, evictions=(0,)), replace(params, evictions=())
    for tick in (0, 1, 9):
        assert Run(one).at(tick) == Run(other).at(tick)
        assert Run(one).slots(tick) == Run(other).slots(tick)


def test_an_eviction_at_the_horizon_is_seen_there() -> None:
    run = Run(Params(evictions=(HORIZON,)))
    assert run.report(HORIZON)["cached"] == 0
    assert run.missing(HORIZON) == SLOTS - 1
    assert set(run.slots(HORIZON)) == {EVICTED}
    assert run.at(HORIZON - 1) == Run(Params()).at(HORIZON - 1)


def test_what_is_half_back_is_lost_again() -> None:
    run = Run(Params(evictions=(100, 102), recompute_chunk=64))
    found = [run.missing(tick) for tick in range(99, 110)]
    assert found == [0, 348, 284, 220 + 128, 284, 220, 156, 92, 28, 0, 0]
    assert run.report(108)["positions_recomputed"] == 128 + 348


@examples
@given(params_of_rules)
def test_a_recompute_pass_shows_positions_return_in_order_and_makes_no_token(
    params: Params,
) -> None:
    run = Run(replace(params, kv_cache=True, evictions=(100,)))
    chunk = params.recompute_chunk
    whole = run.missing(100)
    passes = -(-whole // chunk)
    assert [run.missing(100 + n) for n in range(passes + 1)] == [
        max(0, whole - n * chunk) for n in range(passes + 1)
    ]
    num_tokens = run.at(100).num_tokens
    for n in range(passes):
        slots = run.slots(100 + n)
        start = max(0, num_tokens - SLOTS)
        kept = [slots[p % SLOTS] != EVICTED for p in range(start, num_tokens)]
        assert kept == [index < n * chunk for index in range(len(kept))]
        assert DISCARDED not in slots
    assert run.at(100 + passes).num_tokens == num_tokens
    assert run.at(101 + passes).num_tokens > num_tokens


@examples
@given(params_of_rules, st.integers(1, 32), rate)
def test_the_nth_verify_pass_never_yields_fewer_with_a_longer_draft_or_higher_rates(
    params: Params, longest: int, higher: float
) -> None:
    """Whole runs are compared pass by pass: by number, not by tick, since evictions shift them."""
    base = replace(params, speculation=True)
    better = replace(
        base,
        draft_length=max(base.draft_length, longest),
        acceptance_rate=max(base.acceptance_rate, higher),
        acceptance_rates=tuple(max(one, higher) for one in base.acceptance_rates),
    )

    def yields(of: Params) -> dict[int, int]:
        run = Run(of)
        records = (run.verify_pass_at(tick) for tick in range(1, 120))
        return {record.number: record.accepted for record in records if record}

    fewer, more = yields(base), yields(better)
    assert all(more[n] >= fewer[n] for n in fewer.keys() & more.keys())


@given(st.integers(0, 2**32 - 1))
def test_every_verify_pass_draws_thirty_two_coins_from_one_stream(seed: int) -> None:
    coin = Random(seed).random
    stream = [coin() for _ in range(96)]
    for params in (
        Params(seed=seed),
        Params(seed=seed, draft_length=32),
        Params(seed=seed, evictions=(1,)),
    ):
        run = Run(params)
        records = [record for tick in range(1, 5) if (record := run.verify_pass_at(tick))]
        k = params.draft_length
        for n, record in enumerate(records[:3]):
            assert record.number == n + 1
            assert record.coins == tuple(stream[32 * n : 32 * n + k])
            assert record.accepted == count_accepted(record.coins, record.rates)
            assert record.rejected == k - record.accepted
    # Looking at a late pass first changes nothing.
    assert luck_of(seed).coins(2) == tuple(stream[64:96])


@given(st.integers(1, 3000))
def test_a_slot_holds_the_last_position_that_was_laid_into_it(num_tokens: int) -> None:
    held: dict[int, int] = {}
    for position in range(num_tokens):
        held[position % 512] = position
    assert [position_in(slot, num_tokens) for slot in range(SLOTS)] == [
        held.get(slot) for slot in range(SLOTS)
    ]


@examples
@given(params_of_rules, st.integers(0, 190))
def test_each_slot_is_described_as_it_is_drawn(params: Params, tick: int) -> None:
    """Its position, and the tick that made it, found by looking through the run from its start."""
    run = Run(params)
    slots, num_tokens = run.slots(tick), run.at(tick).num_tokens
    made = {0: 0}
    for at, (before, after) in enumerate(pairwise(run.at(t) for t in range(tick + 1)), start=1):
        made |= dict.fromkeys(range(before.num_tokens, after.num_tokens), at)
    held = {position % SLOTS: position for position in range(num_tokens)}
    for slot in {0, 1, 5, 200, 511, (num_tokens - 1) % SLOTS, num_tokens % SLOTS}:
        text = describe_slot(run, tick, slot)
        if slots[slot] == DISCARDED:
            assert text.startswith(f"slot {slot}: ")
            assert "discarded" in text
        elif slots[slot] == EMPTY:
            assert text == f"slot {slot}: empty"
        else:
            position = held[slot]
            assert text.startswith(f"slot {slot}, position {position}: ")
            by = f"made at tick {made[position]}" if position else "the prompt"
            assert text.endswith(f"; {by}")
            kind = run.origin(position)
            assert kind[1] == made[position]
