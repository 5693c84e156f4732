"""What is said of a run, asked of it, shared of it and remembered, word for word."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cache import ACCEPTED, BONUS, DISCARDED, EMPTY, EVICTED, PLAIN, PROPOSED, REJECTED
from sim.labs.frames import fitted, frame_height
from sim.labs.recall import BY_CARD, CARDS, RATINGS, Memory, read_memory
from sim.labs.share import (
    ASKED,
    dialog_html,
    page_address,
    picture_name,
    snippets,
)
from sim.marks import LOOKS, PALETTES
from sim.metrics import METRICS
from sim.narrator import sentence
from sim.params import PARAMETERS, Params
from sim.question import LABELS, Question, points
from sim.run import PHASES, Run
from sim.scene import Scene, light_or_dark, passes_csv
from sim.settings import link
from sim.story import figures, split, summary
from sim.story import settings as told_settings
from sim.strip import StripCell, last_eviction, strip
from sim.view import View
from sim.words import count, figure, many
from tests.strategies import params_of_rules

EXAMPLES = int(os.environ.get("BONUS_TOKEN_EXAMPLES", "25"))
examples = settings(max_examples=EXAMPLES)


def run_of(**params: Any) -> Run:
    """A run whose drafts cost nothing unless it says so."""
    return Run(Params(**{"draft_cost": 0.0, **params}))


# The sentence


@pytest.mark.parametrize(
    ("tick", "params", "tone", "text"),
    [
        (
            0,
            {},
            PLAIN,
            "One prompt token is known, and its keys and values are not written yet. "
            "Each tick is one forward pass of the big model.",
        ),
        (
            1,
            {},
            REJECTED,
            "1 pass bought 1 token. Plain decoding would have made 1 in the same time. These four "
            "drafts give 3.36× by theory, 32 would give 5.00×.",
        ),
        (
            60,
            {"draft_length": 5},
            REJECTED,
            "60 passes bought 236 tokens. Plain decoding would have made 60 in the same time. These"
            " five drafts give 3.69× by theory, 32 would give 5.00×.",
        ),
        (
            60,
            {"draft_length": 6},
            REJECTED,
            "60 passes bought 251 tokens. Plain decoding would have made 60 in the same time. These"
            " six drafts give 3.95× by theory, 32 would give 5.00×.",
        ),
        (
            60,
            {"draft_length": 8, "acceptance_rates": (0.9, 0.5)},
            ACCEPTED,
            "60 passes bought 179 tokens. Plain decoding would have made 60 in the same time.",
        ),
        (
            60,
            {"draft_cost": 0.25},
            ACCEPTED,
            "60 passes bought 216 tokens. Plain decoding would have made 120 in the same time.",
        ),
        (  # as fast as plain decoding is not slower
            60,
            {"acceptance_rate": 0.0},
            ACCEPTED,
            "60 passes bought 60 tokens. Plain decoding would have made 60 in the same time.",
        ),
        (
            1,
            {"speculation": False},
            PLAIN,
            "Speculation is off: each forward pass reads every weight of the big model to make one "
            "token. 1 pass, 1 token. 32 drafts would give 5.00×.",
        ),
        (
            60,
            {"speculation": False, "evictions": (9,)},
            PLAIN,
            "Speculation is off: each forward pass reads every weight of the big model to make one "
            "token. 59 passes, 59 tokens. Evictions cost 1 pass, and about 1 token not written. 32 "
            "drafts would give 5.00×.",
        ),
        (
            101,
            {"evictions": (40, 100)},
            EVICTED,
            "The cache was evicted after tick 100. 1 pass so far went into computing the same 64 "
            "positions again; no new token until all are back.",
        ),
        (  # evicted again before all was back: counted from then
            103,
            {"evictions": (100, 101)},
            EVICTED,
            "The cache was evicted after tick 101. 2 passes so far went into computing the same "
            "128 positions again; no new token until all are back.",
        ),
        (
            100,
            {"evictions": (100,)},
            EVICTED,
            "The cache is evicted. 348 positions must be computed again before the next token: "
            "6 passes, 6 units of time without a new token.",
        ),
        (
            9,
            {"evictions": (9,)},
            EVICTED,
            "The cache is evicted. 30 positions must be computed again before the next token: "
            "1 pass, 1 unit of time without a new token.",
        ),
        (
            9,
            {"evictions": (9,), "batch_size": 10},
            EVICTED,
            "The cache is evicted. 30 positions must be computed again before the next token: "
            "1 pass, 1.2 units of time without a new token.",
        ),
        (  # 5 passes of 64 · 8 ÷ 256 = 2 units and one of 28 · 8 ÷ 256
            100,
            {"evictions": (100,), "batch_size": 8, "acceptance_rate": 0.8},
            EVICTED,
            "The cache is evicted. 348 positions must be computed again before the next token: "
            "6 passes, 11 units of time without a new token.",
        ),
        (  # just full passes: 64 · 3
            192,
            {"evictions": (192,), "speculation": False, "batch_size": 16},
            EVICTED,
            "The cache is evicted. 192 positions must be computed again before the next token: "
            "3 passes, 12 units of time without a new token.",
        ),
        (
            106,
            {"evictions": (100,)},
            REJECTED,
            "106 passes bought 348 tokens. Plain decoding would have made 106 in the same time. "
            "Evictions cost 6 passes, and about 20 tokens not written. These four drafts give 3.36×"
            " by theory, 32 would give 5.00×.",
        ),
        (
            60,
            {"kv_cache": False},
            EVICTED,
            "No KV cache: the last pass computed 211 known positions again, 31 a token so far. "
            "Time hides it: below the knee a pass costs the same however many it carries.",
        ),
        (
            300,
            {"kv_cache": False},
            EVICTED,
            "No KV cache: the last pass computed 511 known positions again, 118 a token so far. "
            "Past the knee of 256 tokens that costs time too: 492 units so far.",
        ),
        (
            40,
            {"draft_length": 8, "acceptance_rate": 0.4, "draft_cost": 0.3},
            REJECTED,
            "Slower than plain decoding (0.45×). A verify pass costs 3.40 plain passes (2.40 for 8 "
            "drafts) and yields 1.52 tokens. One draft would give 1.08×.",
        ),
        (
            40,
            {"batch_size": 300},
            REJECTED,
            "Slower than plain decoding (0.74×). A verify pass costs 5.00 plain passes (5.00 to "
            "check 1500 tokens, past the knee of 256) and yields 3.70 tokens. No draft length gains"
            " here.",
        ),
        (
            170,
            {"batch_size": 64, "knee": 32, "draft_cost": 0.5},
            REJECTED,
            "Slower than plain decoding (0.48×). A verify pass costs 7.00 plain passes (2.00 for 4 "
            "drafts, 5.00 to check 320 tokens, past the knee of 32) and yields 3.38 tokens. No "
            "draft length gains here.",
        ),
        (  # just past the knee, and far past it
            30,
            {"batch_size": 64, "draft_cost": 1.0},
            REJECTED,
            "Slower than plain decoding (0.72×). A verify pass costs 5.25 plain passes (4.00 for 4 "
            "drafts, 1.25 to check 320 tokens, past the knee of 256) and yields 3.77 tokens. No "
            "draft length gains here.",
        ),
        (
            30,
            {"batch_size": 512, "draft_length": 32},
            REJECTED,
            "Slower than plain decoding (0.16×). A verify pass costs 33.00 plain passes (33.00 to "
            "check 16,896 tokens, past the knee of 256) and yields 5.33 tokens. No draft length "
            "gains here.",
        ),
        (  # time hides nothing as soon as one pass of two was wider than the knee
            2,
            {"kv_cache": False, "knee": 5},
            EVICTED,
            "No KV cache: the last pass computed 1 known position again, 4 a token so far. "
            "Past the knee of 5 tokens that costs time too: 2 units so far.",
        ),
        (  # a pass yields just what it costs: only the recompute pass makes it slower
            9,
            {"draft_length": 1, "acceptance_rate": 1.0, "draft_cost": 1.0, "evictions": (3,)},
            EVICTED,
            "Slower than plain decoding (0.94×). 1 pass of 9 went into computing evicted positions "
            "again, without a new token.",
        ),
    ],
)
def test_the_sentence_says_word_for_word(
    tick: int, params: dict[str, Any], tone: str, text: str
) -> None:
    found = sentence(run_of(**params), tick)
    assert found.text == text
    assert found.tone == tone


def test_the_last_eviction_is_the_one_that_acts() -> None:
    run = run_of(evictions=(10, 20, 300))
    assert [last_eviction(run, tick) for tick in (10, 19, 20, 299, 300)] == [10, 10, 20, 20, 300]


# Figures and notes


@pytest.mark.parametrize(
    ("params", "note"),
    [
        ({}, "if drafting were free"),
        ({"draft_cost": 0.01}, ""),
        ({"speculation": False}, ""),
        # Five tokens a pass: at the knee a pass still costs what one token does.
        ({"knee": 6}, "if drafting were free"),
        ({"knee": 5}, "if drafting were free"),
        ({"knee": 4}, ""),
        ({"batch_size": 51}, "if drafting were free"),
        ({"batch_size": 52}, ""),
        ({"batch_size": 32, "draft_length": 7}, "if drafting were free"),
        ({"batch_size": 32, "draft_length": 8}, ""),
        # Without a cache there is no theory to be free, only what the speedup is against.
        ({"kv_cache": False}, "against a warm cache"),
        ({"kv_cache": False, "draft_cost": 0.5}, "against a warm cache"),
        ({"kv_cache": False, "speculation": False}, "against a warm cache"),
        # An eviction is paid for by this run alone, once its recompute has begun.
        ({"evictions": (59,), "draft_cost": 0.1}, "against a warm cache"),
        ({"evictions": (60,), "draft_cost": 0.1}, ""),
        ({"evictions": (59,), "speculation": False}, "against a warm cache"),
        ({"evictions": (59,)}, "if drafting were free, never evicted"),
        ({"evictions": (59,), "kv_cache": False}, "against a warm cache"),
    ],
)
def test_the_note_on_theory_says_under_which_terms_it_holds(
    params: dict[str, Any], note: str
) -> None:
    run = run_of(**params)
    told = figures(run.report(60), run)
    assert told["theory_note"] == note
    assert told["theory_times"] == ("×" if run.params.kv_cache else "")
    if note == "if drafting were free":  # it is: theory of time and of passes are one number
        report = run.report(60)
        assert report["theory_speedup"] == report["theory_tokens_per_pass"]


def test_each_place_beside_the_board_has_its_words() -> None:
    run = run_of(draft_cost=0.1234, evictions=(30,), batch_size=8, knee=200)
    told = figures(run.report(60), run)
    assert set(told) == {
        *(metric.name for metric in METRICS),
        *("positions_per_token", "alpha", "advanced", "race_label", "alpha_help"),
        *("theory_times", "theory_note"),
    }
    assert told["alpha"] == "α is 80 %"
    assert told["advanced"] == ": knee 200, seed 0"
    assert told["race_label"] == "speculative"
    assert told["alpha_help"] == "How often the draft model agrees with the big model."
    assert told["positions_per_token"] == "1.94 a token"
    assert told["draft_acceptance"] == "65 %"
    assert told["tokens_per_pass"] == "3.59"

    fine = run_of(acceptance_rate=0.12345)
    assert figures(fine.report(1), fine)["alpha"] == "α is 12.3 %"
    plain = run_of(speculation=False)
    assert figures(plain.report(1), plain)["race_label"] == "one by one"
    assert figures(plain.report(0), plain)["positions_per_token"] == ""
    assert figures(plain.report(0), plain)["tokens_per_pass"] == "–"


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ((0.5,), "per position: 0.5, then 0.5."),
        ((0.9, 0.12345), "per position: 0.9, 0.123, then 0.123."),
        ((0.5,) * 7 + (0.25,), "per position: " + "0.5, " * 7 + "0.25, then 0.25."),
        ((0.5,) * 8 + (0.25,), "per position: " + "0.5, " * 7 + "0.5 and so on."),
    ],
)
def test_rates_are_listed_as_far_as_they_fit(rates: tuple[float, ...], words: str) -> None:
    run = run_of(acceptance_rates=rates)
    told = figures(run.report(60), run)
    assert told["alpha_help"] == words
    assert told["alpha"] == "one rate per position"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (9.5, "10"), (9_999, "9999"), (9_999.6, "10,000"), (1_234_567, "1,234,567")],
)
def test_counts_are_grouped_from_five_digits_on(number: float, words: str) -> None:
    assert count(number) == words


def test_a_count_takes_its_noun_along() -> None:
    assert [many(1, "pass"), many(2, "pass"), many(0, "token")] == [
        "1 pass",
        "2 passes",
        "0 tokens",
    ]
    assert many(12_000, "draft") == "12,000 drafts"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("speedup", 2.345, "2.35"),
        ("theory_speedup", None, "–"),
        ("theory_tokens_per_pass", 3.0, "3.00"),
        ("draft_acceptance", 0.594, "59 %"),
        ("positions_computed", 483_584, "483,584"),
        ("time", 84.4, "84"),
        ("tokens", 0, "0"),
    ],
)
def test_a_number_is_written_as_its_kind_is(name: str, value: float | None, words: str) -> None:
    assert figure(name, value) == words


def test_positions_a_token_keep_about_three_digits() -> None:
    """A number that plays must not jump: 9.99 becomes 10.0, 99.9 becomes 100."""
    found = []
    for tick in (10, 40, 400):
        run = run_of(kv_cache=False, speculation=False)
        per = run.report(tick)["positions_computed"] / run.report(tick)["tokens"]
        found.append((per, figures(run.report(tick), run)["positions_per_token"]))
    assert found == [(5.5, "5.50 a token"), (20.5, "20.5 a token"), (200.5, "200 a token")]
    ten = run_of(kv_cache=False, speculation=False)
    assert figures(ten.report(19), ten)["positions_per_token"] == "10.0 a token"
    assert figures(ten.report(199), ten)["positions_per_token"] == "100 a token"


def test_settings_name_what_differs_and_the_one_rate_or_the_list() -> None:
    assert told_settings(Params()).startswith("draft length 4 · acceptance rate 0.8 · ")
    assert told_settings(Params()).endswith("seed 0")
    params = Params(speculation=False, draft_cost=0.25, knee=5, evictions=(1, 9), seed=7)
    assert told_settings(params) == (
        "speculation off · draft length 4 · acceptance rate 0.8 · draft cost 0.25 · knee 5 · "
        "seed 7 · evictions 1,9"
    )
    params = Params(acceptance_rates=(0.9, 0.5), draft_cost=0.25, kv_cache=False)
    assert told_settings(params) == (
        "draft length 4 · rates per position 0.9,0.5 · KV cache off · draft cost 0.25 · seed 0"
    )


@examples
@given(params_of_rules, st.integers(0, 190))
def test_the_bar_is_shares_of_what_it_shows(params: Params, tick: int) -> None:
    report = Run(params).report(tick)
    shares = split(report)
    if tick:
        assert sum(shares) == pytest.approx(100)
        whole = report["positions_computed"]
        assert shares == pytest.approx(
            (
                100 * report["tokens"] / whole,
                100 * (report["drafted"] - report["accepted"]) / whole,
                100 * report["positions_recomputed"] / whole,
            )
        )
    else:
        assert shares == (0, 0, 0)


@examples
@given(params_of_rules, st.integers(0, 190))
def test_the_summary_counts_every_slot_under_its_legend(params: Params, tick: int) -> None:
    run = Run(params)
    slots = run.slots(tick)
    head, cached, held = summary(run, tick).split(". ")
    assert head == f"Tick {tick}"
    assert cached == f"{run.report(tick)['cached']} of 512 positions cached"
    assert held.endswith(".")
    counts = dict(part.rsplit(": ", 1) for part in held[:-1].split("; "))
    assert counts == {
        look.legend: str(slots.count(state)) for state, look in LOOKS.items() if state in slots
    }


# The strip


@examples
@given(params_of_rules, st.integers(1, 190))
def test_the_strip_tells_a_verify_pass_draft_by_draft_and_phase_by_phase(
    params: Params, tick: int
) -> None:
    run = Run(params)
    record = run.verify_pass_at(tick)
    k = len(params.rates)
    if record is None or run.missing(tick) or k == 0:
        assert strip(run, tick, "draft") == strip(run, tick, "verify") == strip(run, tick)
        assert (strip(run, tick).restored is None) == (strip(run, tick).cells != ())
        if record and not run.missing(tick):
            assert strip(run, tick).cells == (
                StripCell(PLAIN, "•", "token", "the pass's own token"),
            )
        return
    draft, verify, keep = (strip(run, tick, phase) for phase in PHASES)
    verdicts = [ACCEPTED] * record.accepted
    verdicts += [REJECTED, *[DISCARDED] * k][: k - record.accepted]
    full = record.accepted == k
    assert [cell.state for cell in keep.cells] == [*verdicts, BONUS if full else EMPTY]
    assert [cell.state for cell in verify.cells] == [*verdicts, EMPTY]
    assert [cell.state for cell in draft.cells] == [PROPOSED] * k + [EMPTY]
    marks = {ACCEPTED: "✓", REJECTED: "×", DISCARDED: "", BONUS: "•", EMPTY: ""}
    assert [cell.mark for cell in verify.cells] == [marks[cell.state] for cell in verify.cells]
    own = {REJECTED: "×•"}  # the pass's own token stands where the draft was rejected
    assert [cell.mark for cell in keep.cells] == [
        {**marks, **own}[cell.state] for cell in keep.cells
    ]
    assert sum("•" in cell.mark for cell in keep.cells) == 1
    assert [cell.mark for cell in draft.cells] == ["?"] * k + [""]
    assert {cell.coin for cell in draft.cells} == {""}
    for n, (cell, kept) in enumerate(zip(verify.cells[:-1], keep.cells[:-1], strict=True)):
        assert kept.coin == cell.coin
        assert kept.label.partition(";")[0] == cell.label
        assert ("the token recovered stands here" in kept.label) == (cell.state == REJECTED)
        if cell.state == DISCARDED:
            assert cell.coin == "—"
            assert cell.label == f"draft {n + 1}: discarded"
        else:
            coin, sign, _ = cell.coin.split(" ")
            assert 0 <= record.coins[n] - float(coin) < 0.01
            assert sign == ("<" if record.coins[n] < record.rates[n] else "≥")
            against = (record.coins[n] < record.rates[n]) != (cell.state == ACCEPTED)
            by = " by hand, its coin" if against else ""
            assert cell.label == f"draft {n + 1}: {cell.state}{by}, {cell.coin}"
            assert record.by_hand or not against
    assert [cell.label for cell in draft.cells[:-1]] == [
        f"draft {n}: proposed" for n in range(1, k + 1)
    ]
    unknown = "the pass's own token: not yet known"
    none = "no bonus after the drafts: one was rejected"
    assert draft.cells[-1].label == unknown
    assert verify.cells[-1].label == (unknown if full else none)
    assert keep.cells[-1].coin == ("bonus" if full else "")
    assert keep.cells[-1].label == (
        "the pass's own token: a bonus, for all drafts were accepted" if full else none
    )
    assert draft.restored is verify.restored is keep.restored is None


def test_a_verdict_by_hand_says_so_where_its_coin_would_stand() -> None:
    coins, by_hand = Run(Params()), Run(Params(verdicts=((60, 1),)))
    free, told = strip(coins, 60), strip(by_hand, 60)
    assert free.caption.startswith("this pass: **all 4 accepted**")
    assert told.caption.startswith("by hand: **1 accepted**")
    assert "by hand" not in {cell.coin for cell in free.cells}
    assert told.cells[0] == free.cells[0]._replace(press=told.cells[0].press)  # as its coin fell
    assert told.cells[1].coin == "by hand"
    assert told.cells[1].label.startswith(
        f"draft 2: rejected by hand, its coin, {free.cells[1].coin}"
    )
    assert strip(by_hand, 61).caption.startswith("this pass")


@pytest.mark.parametrize(
    ("k", "rate", "phase", "caption"),
    [
        (1, 1.0, "draft", "draft: the draft model proposes **1 token**"),
        (3, 1.0, "draft", "draft: the draft model proposes **3 tokens**"),
        (1, 1.0, "verify", "verify: one pass of the big model checks **it**"),
        (2, 1.0, "verify", "verify: one pass of the big model checks **all 2 at once**"),
        (3, 1.0, "keep", "this pass: **all 3 accepted**, plus its own token: 4 tokens"),
        (3, 0.0, "keep", "this pass: **none accepted**, its own replaces the first: 1 token"),
    ],
)
def test_the_caption_tells_each_phase(k: int, rate: float, phase: str, caption: str) -> None:
    assert strip(run_of(draft_length=k, acceptance_rate=rate), 5, phase).caption == caption


def test_the_caption_tells_a_run_that_stopped_and_a_pass_without_drafts() -> None:
    run = run_of(acceptance_rates=(1.0, 1.0, 0.0))
    assert strip(run, 3).caption == "this pass: **2 accepted**, its own replaces the next: 3 tokens"
    plain = run_of(speculation=False)
    for phase in PHASES:
        assert strip(plain, 3, phase).caption == "this pass: **1 token**, without a draft"
    assert strip(run, 0) == ("no pass yet: press Play or Step", (), None)


def test_the_strip_counts_down_until_the_cache_is_whole() -> None:
    run = run_of(evictions=(100,))
    told = [strip(run, tick) for tick in range(100, 107)]
    assert [one.caption for one in told] == [
        "evicted, **348 still missing**, no new token",
        "recompute: 64 positions, **284 still missing**, no new token",
        "recompute: 64 positions, **220 still missing**, no new token",
        "recompute: 64 positions, **156 still missing**, no new token",
        "recompute: 64 positions, **92 still missing**, no new token",
        "recompute: 64 positions, **28 still missing**, no new token",
        "recompute pass: 28 positions, **the cache is whole again**",
    ]
    assert [one.restored for one in told] == pytest.approx(
        [*(1 - left / 348 for left in (348, 284, 220, 156, 92, 28)), 1]
    )


# Questions


@pytest.mark.parametrize(
    ("prediction", "said"),
    [
        (100, "Spot on (within 2 %)."),
        (102, "Spot on (within 2 %)."),
        (98, "Spot on (within 2 %)."),
        (102.1, "Close (within 10 %)."),
        (110, "Close (within 10 %)."),
        (90, "Close (within 10 %)."),
        (111, "Too high (by 11 %)."),
        (89, "Too low (by 11 %)."),
        (350, "Too high (by 250 %)."),
    ],
)
def test_a_prediction_is_judged_by_its_share_of_the_result(prediction: float, said: str) -> None:
    run = run_of(speculation=False)
    verdict = Question("tokens", 100).verdict(prediction, run)
    assert verdict == f"You said **{prediction}**. It is **100** at tick 100. {said}"


def test_of_nothing_there_is_no_share() -> None:
    ask, run = Question("recompute_passes", 10), run_of()
    for prediction, said in ((0, "Spot on (within 2 %)"), (3, "Too high"), (-1, "Too low")):
        assert ask.verdict(prediction, run) == (
            f"You said **{prediction}**. It is **0** at tick 10. {said}."
        )
    assert Question("speedup", 0).verdict(2.0, run) == (
        "You said **2×**. At tick 0 there is no such number: nothing to divide by."
    )
    assert Question("tokens", 60).verdict(None, run) == "It is **216** at tick 60."


@pytest.mark.parametrize(
    ("prediction", "worth"),
    [
        *((100, 100), (102, 100), (98, 100), (103, 98), (110, 83), (90, 83), (126, 50)),
        *((74, 50), (149, 2), (150, 0), (50, 0), (1000, 0), (-100, 0), (None, 0)),
    ],
)
def test_a_prediction_is_worth_less_the_further_it_is_off(
    prediction: float | None, worth: int
) -> None:
    assert points(prediction, 100) == points(prediction and -prediction, -100) == worth


def test_of_nothing_only_nothing_is_worth_something() -> None:
    assert [points(said, 0) for said in (0, 0.001, -3, None)] == [100, 0, 0, 0]
    assert [points(said, None) for said in (0, 3, None)] == [None] * 3


def test_units_stand_behind_what_has_one_and_theory_beside_what_has_one() -> None:
    run = run_of()
    assert Question("draft_acceptance", 60).verdict(0.655, run) == (
        "You said **65.5 %**. It is **65 %** at tick 60. Spot on (within 2 %)."
    )
    assert Question("speedup", 60).verdict(3.6, run) == (
        "You said **3.6×**. It is **3.60×** at tick 60. Spot on (within 2 %). Theory: 3.36×."
    )
    assert Question("tokens_per_pass", 60).verdict(3.6, run) == (
        "You said **3.6**. It is **3.60** at tick 60. Spot on (within 2 %). Theory: 3.36."
    )
    uncached = run_of(kv_cache=False)
    assert Question("speedup", 60).verdict(None, uncached).endswith("Theory: –.")
    units = {metric.name: Question(metric.name, 1).unit for metric in METRICS}
    assert {name for name, unit in units.items() if unit} == {
        *("speedup", "theory_speedup", "draft_acceptance"),
    }
    assert units["draft_acceptance"] == "%"
    assert units["speedup"] == units["theory_speedup"] == "×"


def test_a_prediction_is_said_with_no_more_digits_than_one_reads() -> None:
    assert Question("draft_acceptance", 1).said(2 / 3) == "66.667 %"
    assert Question("draft_acceptance", 1).said(0.5) == "50 %"
    assert Question("speedup", 1).said(2 / 3) == "0.666667×"
    assert Question("tokens", 1).said(1e-7) == "0"


def test_a_question_is_put_in_words_and_hides_what_would_answer_it() -> None:
    assert Question("tokens_per_pass", 300).text == (
        "Before it runs: what will it say for **tokens / verify pass** at tick 300? "
        "(mean acceptance length, bonus included)"
    )
    theories = {"theory_speedup", "theory_tokens_per_pass"}
    for metric in METRICS:
        hidden = Question(metric.name, 9).hidden
        assert hidden == {metric.name, "speedup", "tokens_per_pass"} | theories
        assert LABELS[metric.name] in Question(metric.name, 9).text
        assert metric.help in Question(metric.name, 9).text
    assert LABELS["theory_tokens_per_pass"] == "theory of tokens / verify pass"
    assert LABELS["theory_speedup"] == "theory of the speedup"
    labels = list(LABELS.values())
    assert len(set(labels)) == len(labels), "each stands alone"


# Snippets and the dialog


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


ADDRESSES = [
    "https://a.org/r&copy;d/l&times/",
    "https://a.org/d'or/?" + "x",
    "https://a.org/no&quot;te/index.html",
]


@pytest.mark.parametrize("typed", ADDRESSES)
def test_an_address_with_marks_of_html_comes_through_every_snippet(typed: str) -> None:
    """A browser reads an attribute's `&copy` as ©, with or without a semicolon."""
    address = page_address(typed)
    params = Params(draft_length=7, evictions=(9,))
    view = View(tick=12, show=("board", "pass"), theme="dark")
    texts = {one.key: one.text for one in snippets(address, params, view)}
    folder = address.removesuffix("index.html")
    frame = dict(Tags(texts["iframe"]).found)["iframe"]
    assert frame["src"] == link(address, params, replace(view, embed=True))
    assert "&amp;k=7" in texts["iframe"] or "?k=7" in texts["iframe"]
    assert "&evict" not in texts["iframe"]
    element = Tags(texts["element"]).found
    assert [tag for tag, _ in element] == ["script", "bonus-token", "a", "img"]
    found = dict(element)
    assert found["script"]["src"] == f"{folder}static/embed.js"
    assert found["a"]["href"] == texts["link"] == link(address, params, view)
    assert found["img"]["alt"] == summary(Run(params), 12)
    for key in ("myst", "quarto"):
        assert dict(Tags(texts[key]).found)["script"]["src"] == f"{folder}static/embed.js"
    tags = Tags(dialog_html(address, params, view)).found
    (field,) = [a for _, a in tags if a.get("data-share") == "address"]
    assert field["value"] == address


def test_snippets_are_written_as_their_tools_take_them() -> None:
    """Golden: what is copied is what notebooks, Quarto and plain pages were seen to take."""
    params, view = Params(draft_length=7), View(tick=0, ask="speedup")
    texts = {one.key: one.text for one in snippets("https://a.org/x/", params, view)}
    name, words = picture_name(params, view), summary(Run(params), 0)
    script = '<script async data-external="1" src="https://a.org/x/static/embed.js"></script>'
    named_so = f'id="{name.removesuffix(".svg")}"'
    opening = f'<bonus-token {named_so} k="7" tick="0" ask="speedup">'
    to_scene = "https://a.org/x/?k=7&tick=0&ask=speedup"
    image = f"[![{words}](./{name})]({to_scene})"
    visible = f"[Open the simulator at this scene]({to_scene})"
    framed = "https://a.org/x/?k=7&tick=0&embed=on&ask=speedup"
    frame = (
        f'<iframe {named_so} src="{framed.replace("&", "&amp;")}"\n'
        '  title="Bonus Token: a KV cache and speculative decoding" width="100%"'
    )
    assert texts == {
        "link": to_scene,
        "address": framed,
        "iframe": (
            f'<div style="container-type:inline-size">{frame} height="{frame_height(view)}"\n'
            f'  style="border:0;height:{fitted(view)}" loading="lazy" data-external="1">'
            "</iframe></div>"
        ),
        "slides": (
            f'{frame} height="600"\n  frameborder="0" loading="lazy" data-external="1"></iframe>'
        ),
        "element": (
            f'{script}\n{opening}\n  <a href="https://a.org/x/?k=7&amp;tick=0&amp;ask=speedup">'
            f'<img src="./{name}" width="100%"\n    alt="{words}"/></a>\n</bonus-token>'
        ),
        "myst": f"{script}\n\n{opening}\n\n{image}\n\n</bonus-token>",
        "mystmd": (
            ":::{anywidget} https://a.org/x/static/widget.mjs\n"
            '{\n  "simulator": "https://a.org/x/",\n  "k": "7",\n  "tick": "0",\n'
            '  "ask": "speedup"\n}\n:::'
        ),
        "quarto": (
            f"```{{=html}}\n{script}\n{opening}\n```\n\n{image}\n\n```{{=html}}\n</bonus-token>\n```"
        ),
        "markdown": f"{image}\n\n{visible}",
    }
    embedded = snippets("https://a.org/x/", params, replace(view, embed=True))
    assert [one.text for one in embedded] == list(texts.values()), "a frame is one anyway"


def test_a_picture_travels_inside_an_element_and_in_no_plain_frame() -> None:
    params, view = Params(), View()
    with_it = snippets("https://a.org/x/", params, view, svg="<svg/>")
    inside = {one.key for one in with_it if "data:image/svg" in one.text}
    assert inside == {"element", "myst", "mystmd", "quarto"}


def test_a_picture_s_name_is_its_scene_s_alone() -> None:
    params, view = Params(draft_length=7), View(tick=5)
    name = picture_name(params, view)
    assert name == picture_name(Params(draft_length=7), View(tick=5))
    assert name not in {picture_name(params, View(tick=6)), picture_name(Params(), view)}
    assert len(name) == len("bonus-token-12345678.svg")


def test_the_dialog_shows_the_scene_s_own_choices() -> None:
    params = Params(draft_length=7)
    view = View(ask="tokens", theme="dark", lock=("k", "play"), show=("pass", "numbers"))
    tags = Tags(dialog_html("https://a.org/", params, view)).found
    chosen = [a["value"] for tag, a in tags if tag == "option" and "selected" in a]
    assert chosen == ["tokens", "dark", "inside"]
    checked = {(a["data-share"], a["value"]) for _, a in tags if "checked" in a}
    assert checked == {("show", "pass"), ("show", "numbers"), ("lock", "k"), ("lock", "play")}
    areas = {str(a["data-snippet"]): a for tag, a in tags if tag == "textarea"}
    assert list(areas) == [
        *("link", "address", "iframe", "slides", "element", "myst", "mystmd", "quarto", "markdown"),
    ]
    headings = {a["id"] for tag, a in tags if tag == "h3"}
    assert {a["aria-labelledby"] for a in areas.values()} == headings
    assert {key: a["rows"] for key, a in areas.items()} == {
        key: "1" if key in ("link", "address") else "3" for key in areas
    }
    assert [a["data-copy"] for _, a in tags if "data-copy" in a] == list(areas)
    offered = [a["value"] for tag, a in tags if tag == "option"]
    assert offered == ["none", *ASKED, "auto", "light", "dark", "inside", "beside"]
    text = dialog_html("https://a.org/", params, view)
    for words in (
        ">no question<",
        ">as the page or the system<",
        ">this pass<",
        ">timeline, buttons<",
    ):
        assert words in text
    assert ">&lt;bonus-token&gt;, for any HTML page<" in text


def test_the_dialog_is_whole_and_each_choice_is_labelled() -> None:
    """Golden: every label in the order of the dialog; and every tag that opens closes."""

    class Whole(HTMLParser):
        def __init__(self, html: str) -> None:
            super().__init__()
            self.open: list[str] = []
            self.said: dict[str, list[str]] = {}
            self.feed(html)

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag != "input":
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_data(self, data: str) -> None:
            assert not set(data) & set('<>"=~'), data
            self.said.setdefault(self.open[-1], []).append(data)

    view = View(ask="tokens", theme="dark")
    whole = Whole(
        dialog_html("https://a.org/", Params(), view).replace("&lt;", "").replace("&gt;", "")
    )
    assert whole.open == []
    labels = {row.key: row.label for row in PARAMETERS} | {"evict": "Evict"}
    assert whole.said["legend"] == ["Show", "Lock"]
    locks = [labels[row.key] for row in PARAMETERS if row.key != "rates"]
    assert whole.said["label"] == [
        *("rail", "board", "this pass", "numbers", "controls", "clock", "timeline, buttons"),
        *locks,
        *("timeline", "speed", "rail", "Play", "Step", "Back", "to the start", "Reset"),
        *("words", "Keep for comparison"),
        *("Ask to predict", "… in your own words", "Colours", "The picture"),
        *("Start playing at once", "Where this page is hosted"),
    ]
    assert whole.said["h3"] == [
        *("Link", "Notion, Google Sites: an address", "iframe, as high as its column asks for"),
        "Slides (reveal.js, Quarto), and places of a fixed height",
        "bonus-token, for any HTML page",
        *("MyST in Sphinx, Jupyter Book 1", "Jupyter Book 2, mystmd", "Quarto", "GitHub Markdown"),
    ]
    asked = [LABELS[name] for name in ASKED]
    assert whole.said["option"] == [
        *("no question", *asked, "as the page or the system", "light", "dark"),
        *("inside the snippet", "a file beside the page"),
    ]
    assert {"rates", "theme", "share"} & {
        str(a["value"])
        for _, a in Tags(dialog_html("https://a.org/", Params(), view)).found
        if a.get("data-share") == "lock"
    } == set()


# Scenes and tables


def test_a_scene_is_drawn_in_its_theme_and_light_where_nothing_is_said() -> None:
    assert [light_or_dark(theme) for theme in ("auto", "light", "dark")] == ["light"] * 2 + ["dark"]
    for theme in ("auto", "light", "dark"):
        assert PALETTES[light_or_dark(theme)]["ground"] in Scene(theme=theme).svg()
    with pytest.raises(TypeError, match=r"^beta is no setting; there are speculation, k, "):
        Scene(zeta=1, beta=2)
    with pytest.raises(ValueError, match=r"^tick=1201 is not a whole number from 0 to 1200$"):
        Scene(tick=1201)


def test_a_table_of_passes_tells_each_pass_for_itself() -> None:
    run = Run(Params(evictions=(3, 1200), recompute_chunk=16, draft_cost=0.0))
    head, *lines = passes_csv(run).splitlines()
    assert head.split(",")[:4] == ["tick", "pass", "kept", "tokens"]
    assert head.split(",")[3:] == [metric.name for metric in METRICS]
    assert passes_csv(run).endswith("\n")
    assert len(lines) == 1200
    for tick in (1, 2, 3, 4, 5, 6, 1200):
        before, after = run.at(tick - 1), run.at(tick)
        kind = "verify" if after.verify_passes > before.verify_passes else "recompute"
        kept = after.accepted - before.accepted
        assert lines[tick - 1].startswith(f"{tick},{kind},{kept},{after.num_tokens - 1},")
    assert lines[3].startswith("4,recompute,0,")


# Recall


def recalled(ratings: list[tuple[str, str]]) -> tuple[dict[str, int], list[str]]:
    """What the cards' strengths are after these ratings, and the order in which they come."""
    strengths: dict[str, int] = {}
    for key, rating in ratings:
        if rating == "again":
            strengths[key] = 0
        elif rating == "hard":
            strengths[key] = strengths.get(key) or 1
        else:
            strengths[key] = min(5, strengths.get(key, 0) + 2)
    asked = {key: turn for turn, (key, _) in enumerate(ratings, start=1)}
    keys = [card.key for card in CARDS]
    return strengths, sorted(
        keys, key=lambda key: (strengths.get(key, 0), asked.get(key, 0), keys.index(key))
    )


@given(st.lists(st.tuples(st.sampled_from(list(BY_CARD)), st.sampled_from(RATINGS)), max_size=40))
def test_cards_get_stronger_and_weaker_and_come_the_weakest_and_longest_unasked_first(
    ratings: list[tuple[str, str]],
) -> None:
    memory = Memory(standing=2)
    for key, rating in ratings:
        memory = memory.rated(key, rating)
    strengths, order = recalled(ratings)
    assert dict(memory.strengths) == strengths
    assert memory.order() == order
    assert memory.known == len([key for key, strength in strengths.items() if strength >= 2])
    assert memory.standing == 2
    assert read_memory(memory.write()) == memory


def test_what_is_exported_says_what_it_is() -> None:
    held = json.loads(Memory().rated("rule", "easy").rated("bonus", "hard").write())
    assert held["bonus-token-recall"] == 1
    assert held["strengths"] == {"rule": 2, "bonus": 1}
    assert held["turns"] == {"rule": 1, "bonus": 2}
    assert held["standing"] is None
    assert RATINGS == ("again", "hard", "easy")


@pytest.mark.parametrize(
    ("held", "memory"),
    [
        ('{"strengths": {"rule": 99, "bonus": 5}}', Memory({"rule": 5, "bonus": 5})),
        ('{"strengths": {"rule": -1, "bonus": true, "x": 3, "alpha": 2.0}}', Memory()),
        ('{"turns": {"rule": 2000000000, "bonus": 0}}', Memory(turns={"rule": 10**9, "bonus": 0})),
        ('{"standing": 0}', Memory(standing=0)),
        ('{"standing": 2}', Memory(standing=2)),
        ('{"standing": 3}', Memory()),
        ('{"standing": -1}', Memory()),
        ('{"standing": true}', Memory()),
        ('{"standing": 1.0}', Memory()),
        ('{"standing": [1]}', Memory()),
        ('{"strengths": [1], "turns": "x"}', Memory()),
    ],
)
def test_of_what_is_held_only_what_can_be_is_taken(held: str, memory: Memory) -> None:
    assert read_memory(held) == memory


def test_each_number_is_called_what_people_call_it() -> None:
    assert {metric.name: metric.label for metric in METRICS} == {
        **{name: name for name in ("tokens", "drafted", "accepted", "cached", "time", "speedup")},
        "verify_passes": "verify passes",
        "recompute_passes": "recompute passes",
        "positions_computed": "positions computed",
        "positions_recomputed": "redone",
        "positions_wasted": "wasted",
        "positions_useful": "useful",
        "plain_tokens": "plain tokens",
        "tokens_per_pass": "tokens / verify pass",
        "theory_tokens_per_pass": "its theory",
        "theory_speedup": "its theory",
        "draft_acceptance": "draft accepted",
    }


def test_a_setting_has_one_key_and_every_state_a_look() -> None:
    keys = [row.key for row in PARAMETERS]
    assert len(set(keys)) == len(keys)
    states = {ACCEPTED, BONUS, DISCARDED, EMPTY, EVICTED, PLAIN, REJECTED, "newest"}
    assert states <= set(LOOKS)
