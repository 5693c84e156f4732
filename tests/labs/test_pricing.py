"""Speculation on a machine: knee, c, speedups against the formula, best lengths, what fits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.labs.curve import doubling
from sim.labs.pricing import (
    FILLED,
    NEAR,
    Case,
    Drafting,
    agreeing,
    best_of,
    expected_tokens,
    grid,
    interpolated,
    lengths,
    losing,
)
from sim.params import Params
from sim.passes import GIB
from sim.theory import LONGEST, expected_speedup
from sim.work import finish

H100, LLAMA = machine_named("H100-SXM"), model_named("Llama-3.1-8B")
SMALL = model_named("Llama-3.2-1B")
FREE = Drafting()
LOSES = Case(H100, LLAMA, Drafting(SMALL), (0.8,))

draftings = st.one_of(
    st.just(FREE),
    st.builds(Drafting, st.none(), st.floats(0.001, 2), st.booleans()),
    st.builds(Drafting, st.sampled_from(MODELS), st.just(0.0), st.booleans()),
)
cases = st.builds(
    Case,
    st.sampled_from(MACHINES),
    st.sampled_from(MODELS),
    draftings,
    st.lists(st.floats(0, 1), min_size=1, max_size=5).map(tuple),
    st.integers(0, 9000),
    st.sampled_from((0.5, 1.0, 2.0)),
)
batches = st.integers(1, 512)
lengths_of_drafts = st.integers(0, LONGEST)


def test_knees_and_plain_passes_are_those_worked_out_by_hand() -> None:
    on = {name: replace(LOSES, machine=machine_named(name), context=0) for name in NAMES}
    assert on["H100-SXM"].knee == pytest.approx(295.2, abs=0.05)
    assert on["A100-80GB"].knee == pytest.approx(153.0, abs=0.05)
    assert on["H100-SXM"].seconds(1, 1) == pytest.approx(4.794e-3, abs=5e-7)
    assert on["A100-80GB"].seconds(1, 1) == pytest.approx(7.876e-3, abs=5e-7)


NAMES = ("H100-SXM", "A100-80GB")


@given(cases, batches, lengths_of_drafts)
def test_a_speedup_is_tokens_by_plain_passes_over_drafting_and_checking(
    case: Case, batch: int, k: int
) -> None:
    tokens, product = 1.0, 1.0
    for j in range(k):
        product *= case.rates[min(j, len(case.rates) - 1)]
        tokens += product
    plain, verify = case.roofs(batch, 1).seconds, case.roofs(batch, 1 + k).seconds
    one = case.drafting
    step = one.share * plain
    if one.model:
        step = case.roofs(batch, 1, one.model).seconds
    drafting = step * min(k, 1) if one.parallel else step * k
    assert case.speedup(batch, k) == pytest.approx(tokens * plain / (drafting + verify))
    assert case.draft_cost(batch) == pytest.approx(step / plain)


@given(cases, batches)
def test_a_row_of_speedups_is_what_each_of_them_is(case: Case, batch: int) -> None:
    each = [case.speedup(batch, k) for k in range(1, LONGEST + 1)]
    assert case.speedups(batch) == pytest.approx(each)


@given(cases, batches, st.integers(1, 32))
def test_a_pass_follows_its_units(case: Case, batch: int, n: int) -> None:
    time = case.roofs(batch, n).seconds
    wider = replace(case, machine=replace(case.machine, bandwidth=case.machine.bandwidth * 2))
    assert wider.roofs(batch, n).seconds <= time
    assert time <= case.roofs(batch, n + 1).seconds
    # A batch shares the weights: more of it never yields fewer tokens a second.
    assert batch / time <= (batch + 1) / case.roofs(batch + 1, n).seconds * (1 + 1e-12)


@given(cases)
def test_a_pass_is_continuous_at_its_knee(case: Case) -> None:
    assume(not case.model.experts)
    alone = replace(case, context=0)
    at = alone.knee * alone.model.parameters / alone.model.active_parameters
    low, high = alone.roofs(1, int(at)), alone.roofs(1, int(at) + 1)
    assert low.arithmetic <= low.memory * (1 + 1e-12)
    assert high.arithmetic >= high.memory * (1 - 1e-12)
    assert high.seconds - low.seconds <= high.arithmetic / int(at + 1) * (1 + 1e-9)


@given(cases, batches, st.integers(1, 33))
def test_a_mixture_costs_between_its_active_weights_and_all(case: Case, batch: int, n: int) -> None:
    assume(case.model.experts)
    model = case.model
    dense = replace(model, experts=0, top=0, expert_parameters=0.0)
    active = replace(dense, parameters=model.active_parameters)
    least, time = case.roofs(batch, n, active), case.roofs(batch, n)
    assert least.seconds <= time.seconds * (1 + 1e-12)
    assert time.seconds <= max(case.roofs(batch, n, dense).memory, time.arithmetic) * (1 + 1e-12)


@settings(max_examples=30)
@given(cases)
def test_best_lengths_are_those_of_brute_force(case: Case) -> None:
    speedups = finish(grid(case, 24))
    for batch, row in enumerate(speedups, 1):
        tried = {k: case.speedup(batch, k) or 0 for k in range(1, LONGEST + 1)}
        best = best_of(row)
        assert best.speedup == pytest.approx(max(1, *tried.values()))
        if best.k:
            assert tried[best.k] == pytest.approx(best.speedup)
            assert all(tried[k] < tried[best.k] * (1 + 1e-12) for k in range(1, best.k))


@settings(max_examples=30)
@given(cases)
def test_lengths_by_ranges_are_near_the_best_and_lose_nowhere(case: Case) -> None:
    speedups = finish(grid(case, 64))
    covered = []
    for first, last, k in lengths(speedups):
        for batch in range(first, last + 1):
            best = best_of(speedups[batch - 1])
            assert k is not None
            assert bool(k) == bool(best.k)
            if k:
                assert (speedups[batch - 1][k - 1] or 0) >= (best.speedup or 0) * (1 - NEAR)
            covered.append(batch)
    assert covered == list(range(1, 65))


@settings(max_examples=25, deadline=None)
@given(cases, batches)
def test_ranges_agree_with_the_best_where_a_batch_is_set(case: Case, batch: int) -> None:
    speedups = finish(grid(case))
    found = agreeing(lengths(speedups), speedups, batch)
    assert [one.first for one in found] == [1, *(one.last + 1 for one in found[:-1])]
    assert found[-1].last == len(speedups)
    for first, last, k in found:
        for other in range(first, last + 1):
            best = best_of(speedups[other - 1])
            assert other != batch or k == best.k
            row = [1.0, *speedups[other - 1]]
            assert (row[k or 0] or 0) >= (best.speedup or 0) * (1 - NEAR)


def test_batches_that_lose_are_told_as_ranges() -> None:
    speedups = finish(grid(LOSES))
    (lost,) = losing(speedups)
    assert lost[1] == 512
    before, first = (speedups[at] for at in (lost[0] - 2, lost[0] - 1))
    assert max(one or 0 for one in first) <= 1 < max(one or 0 for one in before)
    mixed = Case(H100, model_named("Qwen3-30B-A3B"), Drafting(share=0.05), (0.6,))
    assert losing(finish(grid(mixed))) == [(2, 7)], "a mixture loses first and gains later"


def test_without_rates_beyond_the_first_the_last_is_repeated() -> None:
    assert expected_tokens((0.9, 0.5))[:4] == pytest.approx((1, 1.9, 2.35, 2.575))


def test_a_curve_doubles_between_its_points_or_not_at_all() -> None:
    curve = ((1.0, 2.0), (2.0, 3.0), (3.0, 3.5), (5.0, 5.0), (9.0, 9.0))
    assert doubling(curve) == pytest.approx(3 + 2 * 0.5 / 1.5)
    assert doubling(((1.0, 2.0), (33.0, 3.0))) is None
    assert doubling(()) is None


def test_a_curve_is_read_between_its_points_and_nowhere_else() -> None:
    curve = ((1.0, 4.0), (5.0, 6.0), (9.0, 20.0))
    assert [interpolated(curve, n) for n in (1, 3, 5, 7, 9)] == pytest.approx([4, 5, 6, 13, 20])
    assert interpolated(curve, 0.5) is None
    assert interpolated(curve, 10) is None
    case = replace(LOSES, curve=curve, drafting=Drafting(share=0.1))
    assert case.seconds(2, 4) == pytest.approx(0.0165)
    assert case.speedup(1, 4) == pytest.approx(3.3616 * 0.004 / (0.0016 + 0.006))
    assert case.speedups(1)[8:] == [None] * 24
    assert best_of(case.speedups(10)) == (None, None)
    assert losing([case.speedups(10)]) == []
    assert [one.k for one in lengths([case.speedups(1), case.speedups(10)])] == [4, None]


def test_opt_13b_fills_an_a100_with_as_many_tokens_as_kwon_et_al_say() -> None:
    """Their Table 1: 15.7 thousand slots in what 26 GB of weights leave of 40."""
    case = Case(machine_named("A100-40GB"), model_named("OPT-13B"), FREE, (0.8,), 2048)
    assert case.model.kv_bytes() == 819_200
    assert pytest.approx(15_700, rel=0.005) == 12 * GIB / 819_200
    assert case.slots == pytest.approx(15_700, rel=0.01)
    assert case.conversations == case.slots // 2048 == 7


@given(cases, batches)
def test_what_fits_and_what_is_missing_agree(case: Case, batch: int) -> None:
    short, room = case.short_by(batch), FILLED * case.machine.capacity
    if case.context and case.slots:
        assert (short == 0) == (batch <= (case.conversations or 0))
    larger = replace(case, machine=replace(case.machine, capacity=(room + short + 1) / FILLED))
    assert larger.short_by(batch) == 0
    assert bool(case.remedies(batch)) == bool(short)


def test_a_model_that_does_not_fit_says_by_how_much_and_what_would() -> None:
    case = Case(H100, model_named("Llama-3.1-70B"), FREE, (0.8,), 1000)
    missing = 70.55e9 * 2 + 64 * 1000 * 327_680 - 0.9 * 80 * GIB
    assert case.short_by(64) == pytest.approx(missing, abs=1)
    assert case.remedies(64) == ["3 times the memory", "4-bit weights"]
    for machine, width, fits in ((H100.reaching(3), 2.0, True), (H100.reaching(2), 2.0, False)):
        assert (replace(case, machine=machine, width=width).short_by(64) == 0) == fits
    assert replace(case, width=0.5).short_by(64) == 0
    wide = Case(H100, LLAMA, FREE, (0.8,), 4096)
    assert wide.remedies(512)[-1] == f"a batch of {wide.conversations} at most"


@given(st.integers(1, 8), st.integers(1, 64), st.floats(0.01, 1), st.integers(0, 4000))
def test_the_widget_is_set_to_gain_as_much(k: int, batch: int, share: float, context: int) -> None:
    case = Case(H100, LLAMA, Drafting(share=share), (0.8,), context)
    keys = case.as_the_widget(batch, k)
    assert keys is not None
    params = Params(
        draft_length=k,
        draft_cost=float(keys["c"]),  # type: ignore[arg-type]
        batch_size=batch,
        knee=int(keys["knee"]),  # type: ignore[call-overload]
    )
    assert expected_speedup(params) == pytest.approx(case.speedup(batch, k), rel=0.02)


def test_drafts_in_parallel_cost_the_widget_once_a_round() -> None:
    case = replace(LOSES, drafting=Drafting(share=0.2, parallel=True))
    assert case.as_the_widget(8, 4) == {"c": 0.0, "c0": 0.2, "batch": 8, "knee": 298}


def test_the_knee_of_the_widget_counts_the_cache_and_keeps_its_limit() -> None:
    read = (16.06e9 + 64 * 4000 * 131_072) / 16.06e9
    long = replace(LOSES, context=4000).as_the_widget(64, 4)
    assert long is not None
    assert long["knee"] == pytest.approx(295.2 * read, rel=0.12)  # attention is computed too
    longest = replace(LOSES, context=100_000).as_the_widget(512, 4)
    assert longest is not None
    assert longest["knee"] == 4096
