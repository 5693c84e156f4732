"""The run model: its check values, its invariants, its theory against independent answers."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cache import DISCARDED, EMPTY, EVICTED, NEWEST, REJECTED
from sim.params import HORIZON, SLOTS, Params
from sim.run import Run, count_accepted, luck_of
from sim.theory import (
    deviation_of_tokens_per_pass,
    expected_speedup,
    expected_tokens_per_pass,
    pass_time,
    plain_pass,
    verify_time,
)
from tests.strategies import any_params, any_rate, ticks

RUNS = int(os.environ.get("BONUS_TOKEN_RUNS", "40"))
"""Seeds of the long statistical tests, and a tenth of the examples of the property tests."""


def report(tick: int, **params: Any) -> dict[str, Any]:
    return Run(Params(**params)).report(tick)


@pytest.mark.parametrize(
    ("params", "tick", "expected"),
    [
        (
            {},
            60,
            {
                "tokens": 216,
                "accepted": 156,
                "cached": 216,
                "positions_computed": 300,
                "time": 84,
                "speedup": 2.5714,
                "theory_speedup": 2.4011,
            },
        ),
        ({"draft_cost": 0}, 60, {"tokens": 216, "time": 60, "speedup": 3.6}),
        (
            {},
            1200,
            {
                "tokens": 4028,
                "accepted": 2828,
                "cached": 511,
                "tokens_per_pass": 3.3567,
                "theory_tokens_per_pass": 3.3616,
                "speedup": 2.3976,
            },
        ),
        (
            {"draft_length": 12},
            1200,
            {"tokens": 5748, "speedup": 2.1773, "theory_speedup": 2.1478},
        ),
        (
            {"acceptance_rate": 0.1},
            1200,
            {"tokens": 1327, "speedup": 0.7899, "theory_speedup": 0.7936},
        ),
        (
            {"evictions": (100,)},
            112,
            {
                "verify_passes": 106,
                "recompute_passes": 6,
                "tokens": 364,
                "cached": 364,
                "positions_recomputed": 348,
                "time": 154.4,
                "speedup": 2.3575,
            },
        ),
        ({"draft_cost": 0, "evictions": (100,)}, 112, {"tokens": 364, "speedup": 3.25}),
        (
            {"evictions": (300,), "recompute_chunk": 256},
            1200,
            {"recompute_passes": 2, "tokens": 4018, "positions_recomputed": 511},
        ),
        (
            {"evictions": (100, 102, 1200)},
            1200,
            {"recompute_passes": 8, "positions_recomputed": 476, "tokens": 3993, "cached": 0},
        ),
        ({"speculation": False}, 1200, {"tokens": 1200, "speedup": 1}),
        (
            {"acceptance_rate": 0.1, "draft_length": 12},
            1200,
            {"tokens_per_pass": 1.1058, "speedup": 0.5027},
        ),
        (
            {"batch_size": 64, "knee": 32, "draft_cost": 0.05, "evictions": (100,)},
            170,
            {"tokens": 555, "time": 2401.6, "speedup": 0.4622, "theory_speedup": 0.6465},
        ),
        ({"batch_size": 128}, 1200, {"time": 3480, "speedup": 1.1575}),
        (
            {"acceptance_rates": (0.9, 0.5)},
            1200,
            {"tokens": 3254, "theory_tokens_per_pass": 2.6875, "speedup": 1.9369},
        ),
        ({"verdicts": ((60, 0),)}, 60, {"tokens": 212, "accepted": 152}),
        ({"verdicts": ((60, 0),)}, 61, {"tokens": 217, "accepted": 156}),
        (
            {"draft_length": 2, "verdicts": ((10, 4), (60, 0))},
            60,
            {"tokens": 153, "accepted": 93},
        ),
        (  # one parallel draft pass a round
            {"round_cost": 0.3, "draft_cost": 0},
            1200,
            {"tokens": 4028, "time": 1560, "speedup": 2.5821, "theory_speedup": 2.5858},
        ),
        (
            {"round_cost": 0.3, "batch_size": 128},
            1200,
            {"time": 3840, "speedup": 1.049, "theory_speedup": 1.0505},
        ),
        (
            {"kv_cache": False, "draft_cost": 0},
            300,
            {
                "tokens": 994,
                "positions_computed": 117098,
                "positions_recomputed": 115598,
                "time": 491.8359,
                "cached": 0,
            },
        ),
        (
            {"kv_cache": False, "speculation": False},
            1200,
            {"positions_computed": 483584, "speedup": 0.5951},
        ),
    ],
)
def test_the_check_values_of_the_model(
    params: dict[str, Any], tick: int, expected: dict[str, float]
) -> None:
    found = report(tick, **params)
    assert {name: round(found[name], 4) for name in expected} == expected


def test_no_ratio_is_made_of_nothing() -> None:
    start = report(0)
    assert start["tokens_per_pass"] is start["speedup"] is start["draft_acceptance"] is None
    assert report(9, speculation=False)["draft_acceptance"] is None
    assert report(9, kv_cache=False)["theory_speedup"] is None


def test_drafts_are_accepted_up_to_the_first_coin_that_is_not_below_its_rate() -> None:
    assert count_accepted([0.1, 0.7, 0.95, 0.2], [0.8] * 4) == 2
    assert count_accepted([0.8], [0.8]) == 0
    assert count_accepted([0.999], [1.0]) == 1
    assert count_accepted([0.0], [0.0]) == 0


# Invariants, over any settings, evictions and order of looking

examples = settings(max_examples=10 * RUNS // 4)


@examples
@given(any_params, st.lists(ticks, min_size=1, max_size=5))
def test_any_run_keeps_the_invariants_wherever_it_is_looked_at(
    params: Params, looks: list[int]
) -> None:
    run = Run(params)
    for tick in looks:
        found = run.report(tick)
        assert 0 <= found["cached"] <= SLOTS - 1
        assert found["verify_passes"] + found["recompute_passes"] == tick
        assert found["positions_useful"] == found["tokens"]
        assert found["drafted"] == len(params.rates) * found["verify_passes"]
        assert found["tokens"] == found["accepted"] + found["verify_passes"]
        if found["verify_passes"]:
            assert found["tokens_per_pass"] >= 1
        assert (
            found["positions_computed"]
            == found["positions_useful"] + found["positions_wasted"] + found["positions_recomputed"]
        )
        assert Run(params).report(tick) == found, "seeking and stepping disagree"


@examples
@given(any_params, ticks)
def test_slot_states_add_up(params: Params, tick: int) -> None:
    run = Run(params)
    slots, found, state = run.slots(tick), run.report(tick), run.at(tick)
    assert len(slots) == SLOTS
    held = min(state.num_tokens, SLOTS)
    over = slots.count(DISCARDED)
    record = run.verify_pass_at(tick)
    assert over <= max(0, record.rejected - 1 if record else 0)
    if held + over <= SLOTS:
        assert slots.count(EMPTY) == SLOTS - held - over
    assert slots.count(NEWEST) + slots.count(REJECTED) == (0 if run.missing(tick) else 1)
    missing = run.missing(tick)
    assert slots.count(EVICTED) == (missing + 1 if missing else 0)
    if params.kv_cache and held + over <= SLOTS:
        kept = SLOTS - sum(map(slots.count, (EMPTY, EVICTED, DISCARDED, NEWEST, REJECTED)))
        assert kept == found["cached"]


@examples
@given(any_params, st.integers(1, 31), any_rate, st.integers(1, 300))
def test_a_longer_draft_or_a_higher_rate_never_accepts_fewer_in_the_same_pass(
    params: Params, more: int, higher: float, passes: int
) -> None:
    def accepted(of: Params, verify_pass: int) -> int:
        return count_accepted(luck_of(of.seed).coins(verify_pass), of.rates)

    longer = replace(params, draft_length=min(32, params.draft_length + more))
    better = replace(
        params,
        acceptance_rate=max(params.acceptance_rate, higher),
        acceptance_rates=tuple(max(r, higher) for r in params.acceptance_rates),
    )
    for n in range(passes):
        assert accepted(longer, n) >= accepted(params, n)
        assert accepted(better, n) >= accepted(params, n)


@examples
@given(any_params, ticks, ticks)
def test_going_back_shows_what_was_there(params: Params, first: int, second: int) -> None:
    run = Run(params)
    early = run.at(min(first, second)), run.slots(min(first, second))
    run.at(max(first, second))
    assert (run.at(min(first, second)), run.slots(min(first, second))) == early


def test_an_eviction_is_seen_at_its_tick_and_generation_waits() -> None:
    run = Run(Params(evictions=(100,)))
    before, at = Run(Params()).report(100), run.report(100)
    assert at["cached"] == 0
    assert at["tokens"] == before["tokens"]
    assert set(run.slots(100)) == {EVICTED, EMPTY}
    waiting = [run.report(tick)["tokens"] for tick in range(100, 107)]
    assert waiting == [before["tokens"]] * 7
    assert run.report(107)["tokens"] > before["tokens"]


def test_a_single_missing_position_is_still_an_eviction() -> None:
    run = Run(Params(acceptance_rate=0, evictions=(1,)))
    assert run.missing(1) == 1
    assert run.slots(1)[:2] == [EVICTED, EVICTED]
    assert run.slots(2)[:2] == ["plain", NEWEST]


def test_a_position_knows_the_tick_that_made_it() -> None:
    run = Run(Params(evictions=(20,)))
    for position in range(run.at(300).num_tokens):
        _, tick = run.origin(position)
        assert run.at(tick).num_tokens > position
        assert tick == 0 or run.at(tick - 1).num_tokens <= position


def test_a_tick_outside_the_run_is_refused() -> None:
    for tick in (-1, HORIZON + 1):
        with pytest.raises(ValueError, match=f"tick {tick}"):
            Run(Params()).at(tick)


@examples
@given(any_params, st.integers(1, 300))
def test_the_blocks_of_a_clock_add_up_to_the_time_pass_by_pass(params: Params, ticks: int) -> None:
    run, time = Run(params), 0.0
    blocks = [run.block(tick) for tick in range(1, ticks + 1)]
    for block in blocks:
        time += block.draft_time + block.target_time
        if block.recompute:
            assert (block.drafted, block.accepted, block.draft_time) == (0, 0, 0.0)
    found = run.report(ticks)
    assert time == found["time"]
    assert sum(block.recompute for block in blocks) == found["recompute_passes"]
    assert sum(block.width for block in blocks) == found["positions_computed"]
    assert sum(block.accepted for block in blocks) == found["accepted"]
    assert sum(block.drafted for block in blocks) == found["drafted"]
    with pytest.raises(ValueError, match="tick 0 was no pass"):
        run.block(0)


# Verdicts set by hand


@examples
@given(any_params, st.integers(1, 200), st.integers(0, 32))
def test_a_verdict_set_by_hand_changes_what_that_pass_accepts_and_nothing_of_any_other(
    params: Params, number: int, accepted: int
) -> None:
    others = {at: kept for at, kept in params.verdicts if at != number}
    free = replace(params, verdicts=tuple(sorted(others.items())), evictions=())
    forced = replace(free, verdicts=tuple(sorted({**others, number: accepted}.items())))
    was, now = Run(free), Run(forced)
    for tick in range(1, 220):
        before, after = was.verify_pass_at(tick), now.verify_pass_at(tick)
        assert before is not None
        if tick != number or not free.rates:
            assert after == before
        else:
            assert after == before._replace(accepted=min(accepted, len(free.rates)), by_hand=True)


@examples
@given(any_params, st.integers(1, 60))
def test_verdicts_just_as_the_coins_have_it_change_no_number(params: Params, number: int) -> None:
    accepted = count_accepted(luck_of(params.seed).coins(number - 1), params.rates)
    free = replace(params, verdicts=())
    forced = replace(params, verdicts=((number, accepted),))
    assert [Run(forced).at(tick) for tick in (number, 300)] == [
        Run(free).at(tick) for tick in (number, 300)
    ]


@examples
@given(any_params)
def test_theory_knows_no_verdicts_and_without_speculation_they_do_nothing(params: Params) -> None:
    free = replace(params, verdicts=())
    assert params.rates == free.rates
    assert expected_speedup(params) == expected_speedup(free)
    off, kept = replace(free, speculation=False), replace(params, speculation=False)
    assert Run(kept).at(300) == Run(off).at(300)
    assert Run(kept).report(300)["params"]["verdicts"] == params.verdicts


# Theory


@examples
@given(st.lists(st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.8, 0.99, 1.0]), max_size=8))
def test_theory_equals_the_sum_over_every_string_of_verdicts(rates: list[float]) -> None:
    mean = square = 0.0
    for verdicts in product([True, False], repeat=len(rates)):
        chance = 1.0
        for verdict, r in zip(verdicts, rates, strict=True):
            chance *= r if verdict else 1 - r
        tokens = (verdicts.index(False) if False in verdicts else len(rates)) + 1
        mean += chance * tokens
        square += chance * tokens**2
    assert expected_tokens_per_pass(rates) == pytest.approx(mean, abs=1e-12)
    deviation = deviation_of_tokens_per_pass(rates)
    assert deviation**2 == pytest.approx(square - mean**2, abs=1e-9)


@given(st.floats(0, 0.999), st.integers(1, 32))
def test_theory_is_the_published_formula(alpha: float, k: int) -> None:
    formula = (1 - alpha ** (k + 1)) / (1 - alpha)
    assert expected_tokens_per_pass([alpha] * k) == pytest.approx(formula, rel=1e-9)
    assert expected_tokens_per_pass([1.0] * k) == k + 1


# Leviathan et al. 2023, Table 1 at c = 0: α, γ, speed
TABLE_1 = [
    (0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 2, 2.71), (0.9, 10, 6.86),
]  # fmt: skip
# Table 4: γ, α, c, printed expectation
TABLE_4 = [
    (7, 0.75, 0.02, 3.2), (7, 0.80, 0.04, 3.3), (7, 0.82, 0.11, 2.5),
    (7, 0.62, 0.02, 2.3), (5, 0.68, 0.04, 2.4), (3, 0.71, 0.11, 2.0),
    (5, 0.65, 0.02, 2.4), (5, 0.73, 0.04, 2.6), (3, 0.74, 0.11, 2.0),
    (5, 0.53, 0.02, 1.9), (3, 0.55, 0.04, 1.8), (3, 0.56, 0.11, 1.6),
]  # fmt: skip


@pytest.mark.parametrize(("alpha", "k", "speed"), TABLE_1)
def test_theory_gives_leviathans_table_1(alpha: float, k: int, speed: float) -> None:
    params = Params(draft_length=k, acceptance_rate=alpha, draft_cost=0)
    assert round(expected_speedup(params) or 0, 2) == speed


@pytest.mark.parametrize(("k", "alpha", "c", "printed"), TABLE_4)
def test_theory_gives_leviathans_table_4(k: int, alpha: float, c: float, printed: float) -> None:
    """The inputs are printed to two digits: the printed speed must lie within that rounding."""

    def speedup(a: float, cost: float) -> float:
        return expected_speedup(Params(draft_length=k, acceptance_rate=a, draft_cost=cost)) or 0

    least = speedup(alpha - 0.005, c + 0.005)
    most = speedup(alpha + 0.005, c - 0.005)
    assert least - 0.05 <= printed <= most + 0.05


def test_a_draft_model_dearer_than_its_target_loses_as_was_reported() -> None:
    """A published measurement of one draft a round: accepted 96.6 %, 4.24 target passes each."""
    params = Params(draft_length=1, acceptance_rate=0.966, draft_cost=4.24)
    assert round(expected_speedup(params) or 0, 3) == 0.375
    assert round(Run(params).report(HORIZON)["speedup"], 3) == 0.375


@examples
@given(any_params, st.integers(1, 1024))
def test_a_round_is_paid_once_where_something_is_drafted_and_never_without(
    params: Params, width: int
) -> None:
    plain, free = plain_pass(params), replace(params, round_cost=0.0)
    paid = params.round_cost * plain if params.rates else 0.0
    assert verify_time(params, width) == pytest.approx(paid + verify_time(free, width), rel=1e-12)
    k, batch, knee = len(params.rates), params.batch_size, params.knee
    checking = pass_time(batch * width, knee)
    assert verify_time(params, width) == paid + k * params.draft_cost * plain + checking


def test_a_round_costs_nothing_with_speculation_off() -> None:
    found = report(60, speculation=False, round_cost=8)
    assert (found["time"], found["speedup"], found["theory_speedup"]) == (60, 1, 1)


@pytest.mark.parametrize(("cost", "alpha"), [(0.02, 0.19), (0.05, 0.38), (0.1, 0.55), (0.2, 0.71)])
def test_break_even_at_twelve_drafts(cost: float, alpha: float) -> None:
    def gains(a: float) -> bool:
        params = Params(draft_length=12, acceptance_rate=a, draft_cost=cost)
        return (expected_speedup(params) or 0) > 1

    assert not gains(alpha - 0.01)
    assert gains(alpha + 0.01)


def standard_errors_off(params: Params, assumed: Params) -> float:
    """How far the mean of many long runs is from the theory of `assumed`, in standard errors."""
    tokens = sum(Run(_seeded(params, seed)).at(HORIZON).num_tokens - 1 for seed in range(RUNS))
    mean = tokens / (RUNS * HORIZON)
    error = deviation_of_tokens_per_pass(assumed.rates) / sqrt(RUNS * HORIZON)
    return abs(mean - expected_tokens_per_pass(assumed.rates)) / error


def _seeded(params: Params, seed: int) -> Params:
    return replace(params, seed=1000 + seed)


@pytest.mark.parametrize(
    "params",
    [
        Params(),
        Params(draft_length=12),
        Params(acceptance_rate=0.3, draft_length=2),
        Params(acceptance_rates=(0.9, 0.8, 0.6)),
    ],
)
def test_long_runs_agree_with_theory_within_four_standard_errors(params: Params) -> None:
    """With fixed seeds this either holds or not; by luck alone it would fail once in 16,000."""
    assert standard_errors_off(params, params) < 4


def test_the_same_bound_rejects_a_model_that_is_off_by_two_percent() -> None:
    assert standard_errors_off(Params(), Params(acceptance_rate=0.78)) > 4
