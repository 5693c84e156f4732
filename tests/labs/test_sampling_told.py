"""What the lab of sampling says and draws: passes, texts, verdicts, looks, its charts."""

from __future__ import annotations

import json
import re
from math import inf
from typing import Any

import pytest

from sim.chart import Chart
from sim.labs.sampling_chart import (
    COIN,
    NEXT,
    RESIDUAL,
    RULE_S,
    TARGET_S,
    WRITTEN,
    next_data,
    written_data,
)
from sim.labs.sampling_draw import Drawn
from sim.labs.sampling_exact import exact
from sim.labs.sampling_rows import OF_THE_TEXT, language, made_language
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_section import VERDICT, WORDS_SHOWN, next_of, printed, rule_html, write_label
from sim.labs.sampling_settings import RULES, Asked
from sim.labs.sampling_steps import one_pass
from sim.labs.sampling_told import (
    Frame,
    Look,
    frames,
    looks_told,
    next_at,
    said_before,
    text_html,
    told,
    verdict_html,
    written,
)
from sim.labs.sampling_verdict import Verdict, judged, luck
from sim.marks import PALETTES
from sim.work import finish
from tests.labs.sampling import NAMES, THREE, of_scene
from tests.labs.specs import validator

GOOD, BAD = Verdict(0.01, 5.0, 6, 0.4), Verdict(0.2, 900.0, 6, 1e-9)


def of_rule(rule: str, drafts: list[float], coins: list[float], own: float) -> list[Frame]:
    known = of_scene("4 words", rule, len(drafts))
    return frames(known, one_pass(known, 0, drafts, coins, own))


def test_a_pass_is_told_draft_by_draft_with_its_coin_and_what_replaces_it() -> None:
    shown = of_rule("standard", [0.1, 0.3], [0.9, 0.6], 0.5)  # the: kept; a: p ÷ q is .5
    assert [frame.text for frame in shown] == [
        "After “the” the draft model draws “the”: chance 0.200.",
        "p ÷ q = 0.500 ÷ 0.200 = 2.500. The coin is 0.900, below it: kept.",
        "After “the” the draft model draws “a”: chance 0.500.",
        "p ÷ q = 0.250 ÷ 0.500 = 0.500. The coin is 0.600, not below it: rejected.",
        "What p has more than q is cut out and made to sum to 1. From it comes “the”, chance "
        "1.000.",
    ]
    words, heights = zip(*(frame.shown.coin or ("", 0) for frame in shown), strict=True)
    assert words == ("", "the", "", "a", "")
    assert heights == pytest.approx((0, 0.18, 0, 0.3, 0))
    assert shown[-1].shown.residual == (("the", 1), ("a", 0), ("his", 0), ("no", 0))
    kinds = [re.findall('class="draft ([a-z]+)"', frame.cells) for frame in shown]
    assert kinds == [
        ["proposed"],
        ["accepted"],
        ["accepted", "proposed"],
        ["accepted", "rejected"],
        ["accepted", "rejected", "bonus"],
    ]
    assert of_rule("standard", [0.1], [0.0], 0.8)[-1].text == (
        "After the last draft the big model gives one word more: “his”."
    )


def test_a_wrong_rule_s_pass_is_told_as_that_rule_does_it() -> None:
    assert "from p itself" in of_rule("replace-from-target", [0.3], [0.9], 0.9)[-1].text
    assert of_rule("always-accept", [0.3], [0.9], 0.9)[1].text.startswith("It is kept, whatever")
    told = [frame.text for frame in of_rule("argmax", [0.3], [0.1], 0.9)]
    assert told[1] == "The big model’s likeliest word is “the”; this is another: not kept."
    assert told[2] == "The likeliest word takes its place: “the”."
    assert "the draft model gives" in of_rule("bonus-from-draft", [0.1], [0.0], 0.9)[-1].text
    assert of_rule("argmax", [0.3], [0.1], 0.9)[1].shown.coin is None
    stale = of_rule("stale-temperature", [0.3], [0.9], 0.5)
    assert "chance 0.735" in stale[0].text  # .25 of .34
    goes_on = of_rule("keep-after-rejection", [0.3, 0.1], [0.9, 0.1], 0.9)
    assert goes_on[-1].text.startswith("After the last draft")
    assert [re.findall('class="draft ([a-z]+)"', goes_on[-1].cells)] == [
        ["rejected", "accepted", "bonus"]
    ]


def test_the_bars_after_a_word_are_its_rows() -> None:
    known = exact(models_of(THREE), "standard", 4)
    for after in range(3):
        assert next_at(known, after) == next_of(THREE, after)
        assert [p for _, p in next_of(THREE, after).target] == list(THREE.target[after])
    assert next_of(OF_THE_TEXT, 3) == next_of(OF_THE_TEXT, 0)


def test_the_text_shows_where_each_word_comes_from() -> None:
    drawn = finish(Drawn(of_scene("4 words", "standard"), 20_000, 3).work())
    html = text_html(drawn)
    kinds = re.findall(r'<i class="([a-z]+)">', html)
    assert len(kinds) == min(WORDS_SHOWN, len(drawn.first))
    assert set(kinds) == {"accepted", "replaced", "bonus"}
    assert "accepted bonus" not in " ".join(kinds[:-5]).replace("accepted " * 4 + "bonus", "")
    assert not html.startswith("…")
    long = finish(Drawn(of_scene("4 words", "standard"), 500_000, 3).work())
    assert text_html(long).startswith("… ")


def test_the_verdict_says_what_was_found_and_what_it_would_take() -> None:
    right, wrong = Asked(), Asked(rule="bonus-from-draft", k=8)
    assert told(right, GOOD, inf) == "Not found, and there is nothing to find."
    assert "With these models this rule does nothing wrong" in told(wrong, GOOD, inf)
    assert "it would take about 246,107 words" in told(wrong, GOOD, 246_107)
    assert "about 7e+12 words" in told(wrong, GOOD, 7.2e12)
    assert "about 9000 words show it 19 times in 20" in told(wrong, GOOD, 9000)
    assert told(wrong, BAD, 9000).startswith("Found: the big model’s own text looks as strange")
    assert "by luck alone" in told(right, BAD, inf)
    assert "never writes" in told(wrong, Verdict(0.3, None, 6, 0), 9000)


@pytest.mark.parametrize(
    ("answer", "needed", "said"),
    [
        ("", inf, ""),
        ("same", inf, "You said the same: right. "),
        ("same", 900.0, "You said the same: not so. "),
        ("other", 900.0, "You said another text: right. "),
        ("other", inf, "You said another text: not so. "),
    ],
)
def test_an_answer_is_compared(answer: str, needed: float, said: str) -> None:
    assert said_before(answer, needed) == said


def test_looks_are_counted_and_what_looking_does_is_told() -> None:
    assert looks_told([]) == ""
    right = [Look(True, p_value) for p_value in (0.5, 0.03, *[0.2] * 12)]
    said = looks_told([*right, Look(False, 0.0), Look(False, 0.4)])
    assert "right: 14; p-values below 0.05: 1, the smallest 0.030" in said
    assert "a chance of 51 %, and one below 0.001" in said  # 1 − .95¹⁴
    assert "with 1.4 %" in said
    assert said.endswith("Looks at what is wrong: 2; found: 1.")
    assert "over 99 %" in looks_told([Look(True, 0.5)] * 200)


def test_the_table_holds_this_text_the_rule_luck_and_plain_sampling() -> None:
    known = of_scene("3 words", "stale-temperature")
    drawn = finish(Drawn(known, 5000, 1).work())
    verdict, band = judged(known, drawn.counts), luck(known, 5000)
    html = verdict_html(known, drawn, verdict, GOOD, band, False)
    for number in (
        *("5000", f"{5000 / drawn.passes:.4f}", "3.4328", "0.700 to 0.800", "0.1252"),
        *(f"{verdict.total_variation:.4f}", f"{band.mean:.4f}", "6 ± 3.5", "0.400"),
    ):
        assert f">{number}" in html, number
    secret = verdict_html(known, None, None, None, band, True)
    assert "3.4328" not in secret
    assert "0.1252" not in secret
    assert secret.count("<td>?</td>") == 2
    assert verdict_html(known, drawn, Verdict(0.3, None, 6, 0), None, None, False).count("–") >= 3


def test_every_rule_is_described_with_its_source() -> None:
    for rule in RULES:
        html = rule_html(rule)
        assert rule.does in html
        assert f'href="{rule.source}"' in html or not rule.source
    assert write_label(1) == "Write 1 word"
    assert write_label(20_000) == "Write 20,000 words"


def test_the_section_can_be_read_before_python_comes() -> None:
    html = printed()
    for rule in RULES:
        assert f'data-rule="{rule.name}"' in html
    assert html.count("disabled") == 5
    assert "Write 20,000 words" in html
    assert html.count("<td>–</td>") == 4 * len(VERDICT) + 4  # and nothing written of four words
    for share in ("0.50", "0.25", "0.15", "0.10"):
        assert share in html
    for key in ("language", "k", "tokens", "seed", "words", "alike", "target", "draft"):
        assert f'id="sampling-{key}"' in html


@pytest.mark.parametrize("theme", PALETTES)
def test_its_charts_are_valid_with_their_data(theme: str) -> None:
    schema = validator()
    shown = of_rule("standard", [0.1, 0.3], [0.9, 0.6], 0.5)
    known = of_scene("3 words", "argmax")
    text = written(known, finish(Drawn(known, 500, 1).work()), False)
    inputs: list[tuple[Chart[Any], object]] = [
        (NEXT, shown[-1].shown),
        (NEXT, shown[1].shown),
        (WRITTEN, text),
    ]
    for chart, given in inputs:
        data = chart.data(given)
        spec = {**chart.spec(PALETTES[theme]), "datasets": data}
        assert schema.is_valid(json.loads(json.dumps(spec)))
        named = {layer["data"]["name"] for layer in spec["layer"]}
        assert named == set(data)
        table = chart.table(given, data)
        assert all(len(row) == len(table.columns) for row in table.rows)
        stops = chart.stops(given, data)
        assert len(stops) == len({stop.x for stop in stops}) >= 3
    assert not schema.is_valid({**spec, "layer": [{"mark": "blob"}]})


def test_the_bars_of_a_draw_hold_the_coin_and_what_is_cut_out() -> None:
    shown = of_rule("standard", [0.3], [0.6], 0.5)
    coin = next_data(shown[1].shown)["coin"]
    assert coin == [{"word": "a", "model": "q", "height": pytest.approx(0.3), "part": COIN}]
    instead = next_data(shown[-1].shown)["instead"]
    assert instead == [{"word": "the", "model": "p", "chance": 1.0, "part": RESIDUAL}]
    data = next_data(next_of(language(".6,.4,0", ".1,.5,.4"), 0))
    assert (data["coin"], data["instead"]) == ([], [])
    assert max(row["high"] for row in data["bars"]) == 0.6


@pytest.mark.parametrize("rule", NAMES)
def test_the_words_that_were_written_stand_beside_what_they_come_to(rule: str) -> None:
    known = exact(models_of(made_language(8, 0.7, 1, 1, 1)), rule, 4)
    drawn = finish(Drawn(known, 1000, 1).work())
    given = written(known, drawn, False)
    data = written_data(given)
    assert sum(row["share"] for row in data["found"]) == pytest.approx(1)
    assert {row["who"] for row in data["target"]} == {TARGET_S}
    assert [row["share"] for row in data["target"]] == known.words.tolist()
    assert {row["who"] for row in data["rule"]} == (set() if rule == "standard" else {RULE_S})
    hidden = written_data(written(known, drawn, True))
    assert (hidden["rule"], hidden["found"]) == ([], data["found"])
    assert {row["share"] for row in written_data(written(known, None, False))["found"]} == {0}
