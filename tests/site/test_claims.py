"""What the page's text says is true, and every scene that it offers is one."""

from __future__ import annotations

import re
from dataclasses import replace
from math import sqrt
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.beside import ABOUT
from sim.host.claims import (
    LOGGED_RATES,
    LUCK_AFTER,
    REPORTS,
    accept_and_refill,
    break_even,
    claims,
)
from sim.labs.convert import from_rates
from sim.labs.ensemble import ensemble, spread
from sim.labs.facts import DRAFT, TARGET
from sim.params import Params
from sim.plot import STANDARD_ERRORS
from sim.run import Run
from sim.settings import updated
from sim.theory import (
    LONGEST,
    best_length,
    deviation_of_tokens_per_pass,
    expected_speedup,
    expected_tokens_per_pass,
)
from sim.view import View
from sim.words import spelled
from sim.work import finish
from tests.sources import INDEX, SCENES

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
    assert [(one.tokens_per_pass, one.speedup) for one in REPORTS] == [
        *((2.0, 0.64), (3.1, 0.65), (6.4, 0.98))
    ]
    for one in REPORTS:
        assert f"{one.speedup:.2f}× at {one.tokens_per_pass:.1f} tokens" in said["reports"]
        assert f'href="{one.address}"' in said["reports"]
    assert said["report_costs"] == "3.1, 4.8 and 6.5"  # 2.0 ÷ 0.64, 3.1 ÷ 0.65, 6.4 ÷ 0.98
    # Three ways to reserve, and only the first is as long as the text might ever grow.
    shares = [said[way] for way in ("longest", "power", "oracle", "paged")]
    assert shares == ["20 %", "27 %", "38 %", "96 %"]
    assert said["knees"] == "201 and 295"  # 312 ÷ 1.555 and 989 ÷ 3.35
    # Accepted ÷ drafted in place of α promises less than the runs make.
    made = Run(Params()).report(1200)["tokens_per_pass"]
    assert float(said["misread"]) < 0.75 * made
    assert int(said["room"]) * 2 * 1024**3 < 80e9 - 14e9 < (int(said["room"]) + 1) * 2 * 1024**3


def test_scenes_show_what_the_text_says_of_them() -> None:
    def of(mark: str) -> tuple[Run, int]:
        (query,) = {query for query in SCENES if mark in query}
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
    run, tick = of("k=4&alpha=0.7&")
    assert run.params.draft_length == best_length(run.params)[0]
    assert expected_speedup(run.params) == pytest.approx(float(claims()["best_speedup"]), abs=5e-3)
    for k, name in ((2, "two"), (8, "eight"), (16, "sixteen")):
        run, tick = of(f"k={k}&alpha=0.7&")
        told = float(claims()[f"{name}_speedup"])
        assert run.report(tick)["speedup"] == pytest.approx(told, abs=0.1)
    run, tick = of("k=3&alpha=0.55")  # instead of twelve
    assert run.params.draft_length == best_length(run.params)[0]
    assert run.report(tick)["speedup"] == pytest.approx(float(claims()["even_speedup"]), abs=0.05)
    run, tick = of("k=4&alpha=0.76&c=0.94")  # as dear as one of the reports
    paid = run.report(tick)
    (report,) = [one for one in REPORTS if "four" in one.engine]
    assert paid["theory_tokens_per_pass"] == pytest.approx(report.tokens_per_pass, abs=0.02)
    assert paid["theory_speedup"] == pytest.approx(report.speedup, abs=5e-3)
    assert paid["speedup"] < 0.75
    run, tick = of("alpha=0&")
    assert run.report(tick)["speedup"] == pytest.approx(float(claims()["nothing"]), abs=5e-3)
    low, high = of("tick=10&seed=2"), of("tick=10&seed=11")
    assert low[0].report(10)["tokens_per_pass"] < 2.8 < 3.8 < high[0].report(10)["tokens_per_pass"]
    for batch, name in ((8, "night"), (64, "crowd"), (200, "noon"), (256, "crush")):
        run, tick = of(f"batch={batch}&")
        told = float(claims()[name])
        assert run.report(tick)["speedup"] == pytest.approx(told, abs=0.1)
        assert (told > 1) is (run.report(tick)["speedup"] > 1) is (batch < 200)
    assert best_length(replace(run.params, batch_size=256)) == (0, 1)


def test_the_best_lengths_of_the_text_are_no_ties() -> None:
    said = claims()
    for name, params in (
        ("best", Params(acceptance_rate=0.7)),
        ("even_best", Params(acceptance_rate=0.55)),
        ("crowd_best", Params(batch_size=64)),
    ):
        lengths = range(1, LONGEST + 1)
        there = {k: expected_speedup(replace(params, draft_length=k)) or 0 for k in lengths}
        best, second = sorted(there, key=there.__getitem__, reverse=True)[:2]
        assert said[name] in (str(best), spelled(best))
        assert f"{there[best]:.2f}" != f"{there[second]:.2f}"


def test_where_one_word_is_certain_the_same_rule_keeps_the_text_itself() -> None:
    for drafted in ("his", "the"):
        draft = {word: float(word == drafted) or 1e-9 for word in TARGET}
        rows = accept_and_refill({word: float(word == "his") for word in TARGET}, draft)
        for row in rows:
            certain = float(row.word == "his")
            assert row.accept == certain
            assert row.kept + row.refilled == pytest.approx(certain)


def test_rates_of_a_log_are_the_products_of_the_conditional_ones() -> None:
    logged = [float(part) for part in re.findall(r"[.0-9]+", claims()["logged"])]
    assert logged == pytest.approx(from_rates(LOGGED_RATES).cumulative_rates, abs=5e-3)
    rates = ",".join(map(str, LOGGED_RATES))
    assert f"<code>?rates={rates}</code>" in section("rate")


def test_the_timeline_s_band_holds_as_many_runs_as_the_text_says() -> None:
    told = int(claims()["timeline"])
    assert told == 997
    rates = Params().rates
    runs = finish(ensemble(Params()))
    for passes in LUCK_AFTER:
        reach = STANDARD_ERRORS * deviation_of_tokens_per_pass(rates) / sqrt(passes)
        mean = expected_tokens_per_pass(rates)
        values = runs.tokens_per_pass(passes)
        held = sum(abs(value - mean) <= reach for value in values)
        # Of a thousand, 997 ± 5 are three standard errors and one more.
        assert told - 7 <= held <= 1000
        assert sum(abs(value - mean) <= reach / 2 for value in values) < told - 60


DOING = {
    *("Accept", "Break", "Compare", "Compute", "Draft", "Evict", "Fill", "Go", "Let", "Lose"),
    *("Pay", "Run", "Serve", "Share", "Switch", "Watch", "Write"),
}


def test_links_to_scenes_say_what_to_do_and_what_to_look_at() -> None:
    links = re.findall(r'class="try" href="[^"]*" data-scene="([^"]*)">(\w+)', INDEX)
    assert len(links) == len(SCENES)
    for about, verb in links:
        assert verb in DOING
        assert set(about.split()) <= {*ABOUT, "chart"}
        assert set(about.split()) & set(ABOUT)


def test_no_link_of_the_text_leads_to_the_scene_that_the_page_opens_with() -> None:
    for query in SCENES:
        keys = dict(parse_qsl(query.replace("&amp;", "&")))
        params, tick = updated(Params(), keys)[0], updated(View(), keys)[0].tick
        assert (params, tick) != (Params(), View().tick), query


def section(name: str) -> str:
    return INDEX.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def test_the_text_begins_with_what_it_says_in_short() -> None:
    places = [INDEX.index(f'<section id="{name}"') for name in ("say", "memory", "left-out")]
    assert places == sorted(places)
    assert places[0] < INDEX.index('<nav class="contents"') < places[1]
    names = re.findall(r'<li><a href="#([^"]*)">([^<]*)</a></li>', INDEX)
    assert len(names) == 14
    for name, title in names:
        assert f"<h3>{title}</h3>" in INDEX.partition(f'id="{name}"')[2][:200], name


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
