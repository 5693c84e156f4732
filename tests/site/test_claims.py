"""What the page's text says is true, and every scene that it offers is one."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.host.claims import LUCK_AFTER, accept_and_refill, break_even, claims
from sim.labs.ensemble import ensemble, spread
from sim.labs.facts import DRAFT, TARGET
from sim.params import Params
from sim.run import Run
from sim.settings import updated
from sim.theory import expected_speedup
from sim.view import View
from sim.work import finish
from tests.sources import SCENES

weights = st.lists(st.integers(1, 50), min_size=2, max_size=6)


@given(weights, weights)
def test_accept_or_refill_gives_the_target_s_own_chances(one: list[int], other: list[int]) -> None:
    size = min(len(one), len(other))
    p = {str(i): weight / sum(one[:size]) for i, weight in enumerate(one[:size])}
    q = {str(i): weight / sum(other[:size]) for i, weight in enumerate(other[:size])}
    rows = accept_and_refill(p, q)
    for row in rows:
        assert row.kept == pytest.approx(row.draft * row.accept)
        assert row.kept + row.refilled == pytest.approx(row.target, abs=1e-12)
    # Keeping whatever is drafted would not: the rule is what makes it so.
    assert (p == q) or any(row.draft != pytest.approx(row.target) for row in rows)


def test_the_worked_example_can_be_checked_by_hand() -> None:
    assert sum(TARGET.values()) == pytest.approx(1)
    assert sum(DRAFT.values()) == pytest.approx(1)
    first = accept_and_refill(TARGET, DRAFT)[0]
    assert (first.kept, first.accept) == (0.2, 1.0)
    assert first.refilled == pytest.approx(0.3)
    assert [row.refilled for row in accept_and_refill(TARGET, DRAFT)[1:]] == [0, 0, 0]


@pytest.mark.parametrize(("cost", "rate"), [(0.02, 0.19), (0.05, 0.38), (0.1, 0.55), (0.2, 0.71)])
def test_break_even_is_where_the_speedup_is_one(cost: float, rate: float) -> None:
    found = break_even(12, cost)
    assert round(found, 2) == rate
    speedup = expected_speedup(Params(draft_length=12, draft_cost=cost, acceptance_rate=found))
    assert speedup == pytest.approx(1, abs=1e-3)


def test_figures_of_the_text_agree_with_the_runs_behind_them() -> None:
    said = claims()
    assert said["cold"] == f"{512 * 513 // 2:,}"
    assert said["warm"] == "512"
    assert int(said["passes"]) == -(-int(said["missing"]) // 64)
    long = Run(Params()).report(1200)
    assert abs(long["draft_acceptance"] - float(said["accepted"].split()[0]) / 100) < 0.02
    assert abs(long["tokens_per_pass"] - float(said["expected"])) < 0.14  # 3 standard errors
    assert float(said["lost"]) < 1
    assert float(said["crush"]) < 1 < float(said["crowd"]) < float(said["alone"])


def test_how_far_luck_goes_is_seen_in_a_thousand_runs() -> None:
    said = claims()
    runs = finish(ensemble(Params()))
    for passes in LUCK_AFTER:
        told = [float(number) for number in said[f"luck_{passes}"].split(" and ")]
        assert spread(runs.tokens_per_pass(passes)) == pytest.approx(told, abs=0.06)


def test_figures_from_elsewhere_agree_with_one_another_and_with_the_model() -> None:
    said = claims()
    # The report's own line gives the length that is made of its counts.
    assert said["report_length"] == "1.03"
    accepted = Run(Params(acceptance_rate=0.027)).report(1200)
    assert accepted["tokens_per_pass"] == pytest.approx(float(said["report_length"]), abs=0.02)
    # Accepted ÷ drafted in place of α promises less than the runs make.
    made = Run(Params()).report(1200)["tokens_per_pass"]
    assert float(said["misread"]) < 0.75 * made
    assert int(said["room"]) * 2 * 1024**3 < 80e9 - 14e9 < (int(said["room"]) + 1) * 2 * 1024**3


def test_scenes_show_what_the_text_says_of_them() -> None:
    def of(mark: str) -> tuple[Run, int]:
        (query,) = [query for query in SCENES if mark in query]
        keys = dict(parse_qsl(query.replace("&amp;", "&")))
        return Run(updated(Params(), keys)[0]), int(keys["tick"])

    run, tick = of("k=8&alpha=0.6")  # a pass that stops early
    record = run.verify_pass_at(tick)
    assert record
    assert 0 < record.accepted < 7
    run, tick = of("evict=134&tick=138")  # after four of the eight
    assert run.at(tick).recompute_passes == 4
    assert (run.missing(134), run.at(142).recompute_passes, run.missing(142)) == (453, 8, 0)
    run, tick = of("tick=135&chunk=512")  # in one pass
    assert (run.at(tick).recompute_passes, run.missing(tick)) == (1, 0)
    run, tick = of("k=12&alpha=0.55")  # even
    assert run.report(tick)["speedup"] == pytest.approx(1, abs=0.06)
    run, tick = of("k=12&alpha=0.4")
    assert run.report(tick)["speedup"] < 0.9
    run, tick = of("k=6&alpha=0.7&c=0.05")
    assert str(run.params.draft_length) == claims()["best"]
    assert expected_speedup(run.params) == pytest.approx(float(claims()["best_speedup"]), abs=5e-3)
    low, high = of("tick=10&seed=2"), of("tick=10&seed=11")
    assert low[0].report(10)["tokens_per_pass"] < 2.8 < 3.8 < high[0].report(10)["tokens_per_pass"]
    for batch, wins in (("8", True), ("200", False)):
        run, tick = of(f"batch={batch}&c=0.05")
        assert (run.report(tick)["speedup"] > 1) is wins


def test_every_scene_of_the_text_is_exact() -> None:
    assert len(SCENES) >= 18
    for query in SCENES:
        keys = dict(parse_qsl(query.replace("&amp;", "&")))
        params, complaints = updated(Params(), keys)
        view, more = updated(View(), keys)
        assert complaints + more == [], query
        assert set(keys) <= {"k", "alpha", "rates", "c", "batch", "chunk", "speculation", "cache",
                             "evict", "tick", "speed", "seed"}  # fmt: skip
        assert Run(params).at(view.tick)
