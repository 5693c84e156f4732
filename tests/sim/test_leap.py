"""Leaping over many ticks, and telling verdicts by bisection: the same as step by step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cache import ACCEPTED, BONUS, PLAIN, slot_states
from sim.metrics import Counters
from sim.params import DRAWS_PER_PASS, HORIZON, Params
from sim.run import Luck, Run, count_accepted, evict, leap, luck_of, step

rates = st.sampled_from((0.0, 1.0, 0.5)) | st.floats(0, 1)
any_params = st.builds(
    Params,
    speculation=st.booleans(),
    draft_length=st.integers(1, 32),
    acceptance_rate=rates,
    acceptance_rates=st.lists(rates, max_size=4).map(tuple),
    kv_cache=st.booleans(),
    draft_cost=st.floats(0, 8),
    round_cost=st.floats(0, 8),
    batch_size=st.integers(1, 512),
    knee=st.integers(1, 4096),
    recompute_chunk=st.integers(16, 512),
    seed=st.integers(0, 5),
    evictions=st.lists(st.integers(0, HORIZON), max_size=6).map(lambda t: tuple(sorted(set(t)))),
    verdicts=st.dictionaries(st.integers(1, HORIZON), st.integers(0, 32), max_size=6).map(
        lambda some: tuple(sorted(some.items()))
    ),
)
examples = settings(max_examples=40, deadline=None)


def stepped(params: Params, ticks: int) -> list[Counters]:
    """The states of a run by its definition: `step`, and an eviction where one is due."""
    states, luck = [Counters()], Luck(params.seed)
    for tick in range(1, ticks + 1):
        after = step(states[-1], params, luck)
        states.append(evict(after) if tick in params.evictions_made else after)
    return states


def origins(params: Params, states: list[Counters]) -> list[str]:
    """Where each position of a run came from, told pass by pass."""
    found = [PLAIN]
    for before, after in pairwise(states):
        made = after.num_tokens - before.num_tokens
        found += [ACCEPTED] * (made - 1) + [BONUS if params.speculation else PLAIN] * (made > 0)
    return found


@examples
@given(any_params, st.lists(st.integers(0, HORIZON), min_size=1, max_size=4))
def test_a_run_is_its_steps_to_the_last_digit_however_it_is_asked(
    params: Params, asked: list[int]
) -> None:
    states, run = stepped(params, max(asked)), Run(params)
    for tick in asked:
        assert run.at(tick) == states[tick]
    assert [run.at(tick) for tick in range(max(asked) + 1)] == states
    assert all(type(run.at(tick)) is Counters for tick in asked)


@examples
@given(any_params, st.lists(st.integers(0, HORIZON), min_size=1, max_size=3))
def test_the_board_is_the_same_leapt_to_or_stepped_to(params: Params, asked: list[int]) -> None:
    run, states = Run(params), stepped(params, max(asked))
    told = origins(params, states)
    for tick in asked:
        state, before = states[tick], states[max(0, tick - 1)]
        kept = state.accepted - before.accepted
        rejected = len(params.rates) - kept if state.verify_passes > before.verify_passes else 0
        made = (state.num_tokens, state.num_computed_tokens, told, rejected, params.kv_cache)
        assert run.slots(tick) == slot_states(*made)
        assert run.origin(state.num_tokens - 1)[0] == told[state.num_tokens - 1]


@examples
@given(any_params, st.integers(0, 200), st.integers(0, 200))
def test_a_leap_from_anywhere_is_as_many_steps(params: Params, first: int, ticks: int) -> None:
    params = replace(params, evictions=())
    states = stepped(params, first + ticks)
    assert leap(states[first], params, luck_of(params.seed), ticks) == states[first + 1 :]


@examples
@given(rates, st.integers(0, 32), st.integers(0, 2**32 - 1), st.integers(0, 20), st.integers(0, 20))
def test_a_verdict_by_bisection_is_the_count(
    rate: float, k: int, seed: int, first: int, passes: int
) -> None:
    luck, end = Luck(seed), first + passes
    counted = [count_accepted(luck.coins(number), [rate] * k) for number in range(first, end)]
    assert luck.verdicts(first, end, [rate] * k) == counted


@pytest.mark.parametrize("k", [1, 16, DRAWS_PER_PASS])
def test_a_coin_that_is_its_rate_is_not_below_it(k: int) -> None:
    luck = Luck(0)
    for coin in luck.coins(0)[:k]:
        assert luck.verdicts(0, 1, [coin] * k) == [count_accepted(luck.coins(0), [coin] * k)]


def test_verdicts_differ_from_position_to_position_where_rates_do() -> None:
    luck, falling = Luck(3), [0.9, 0.6, 0.3, 0.9]
    counted = [count_accepted(luck.coins(number), falling) for number in range(200)]
    assert luck.verdicts(0, 200, falling) == counted
    assert luck.verdicts(0, 200, [0.9] * 4) != counted
