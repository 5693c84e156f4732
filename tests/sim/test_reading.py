"""What people and other programs write is read as they mean it, or refused; nothing breaks it."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.lists import Choices, Pairs, Wholes
from sim.params import PARAMETERS, Params
from sim.question import Question
from sim.reading import DEEPEST, UnreadableError, cut_off, message, number, slips
from sim.scene import Scene
from sim.settings import entered, query, read, shown, stepped, updated
from sim.view import BY_KEY, NAMES, SYNONYMS, VIEW, View, asked, changed, pointed_out

# Numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.6", 0.6),
        ("0,6", 0.6),
        (",6", 0.6),
        ("5,", 5),
        (" 0,6\u00a0", 0.6),
        ("80 %", 0.8),
        ("80%", 0.8),
        ("66,5\u202f%", 0.665),
        ("2,5 ×", 2.5),
        ("2.5x", 2.5),
        ("−3", -3),
        ("1e-3", 0.001),
        ("4.028", 4.028),
        ("4,028", 4.028),
        ("0.800", 0.8),
        ("1 234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("1\u2009234\u2009567", 1234567),
        ("1'234,5", 1234.5),
        ("1.234.567", 1234567),
    ],
)
def test_a_number_is_read_as_people_write_it(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4028", 4028),
        ("4.028", 4028),
        ("4,028", 4028),
        ("4 028", 4028),
        ("4\u202f028", 4028),
        ("4'028", 4028),
        ("4’028", 4028),
        ("-4.028", -4028),
        ("483,584", 483584),
        ("4,294,967,295", 4294967295),
        ("4.294.967.295", 4294967295),
        ("4.294.967.295,0", 4294967295),
        ("1,5", 1.5),
        ("4.0", 4),
        ("4.02", 4.02),
        ("4.0280", 4.028),
        ("0.500", 0.5),
        ("4028.000", 4028),
    ],
)
def test_a_count_may_be_written_in_groups_of_three(text: str, value: float) -> None:
    assert number(text, math.inf) == value


def test_a_point_groups_no_count_beyond_its_limit_where_a_program_wrote_a_fraction() -> None:
    assert number("2.499", 32) == 2.499
    assert number("1.200", 1200) == 1200
    assert number("1.201", 1200) == 1.201
    assert number("1,201", 1200) == 1201


@pytest.mark.parametrize(
    "text",
    ["", " ", "%", "x", "four", "nan", "inf", "-Infinity", "1e400", "0,6,7", "1.2.3", "1 2", "½",
     "1,23,456", "0x10", "5 5 %", "9" * 400, "1" + " " * 100_000 + "2"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        number(text)


def test_a_share_is_no_count() -> None:
    with pytest.raises(UnreadableError):
        number("50 %", math.inf)


@pytest.mark.parametrize("text", ["-0", "-0.0", "−0", "-0,0", "-0 %", "-1e-999"])
def test_no_text_is_minus_zero(text: str) -> None:
    assert math.copysign(1, number(text)) == 1


@given(st.text())
def test_any_text_is_a_number_or_none(text: str) -> None:
    for most in (None, 32, math.inf):
        with suppress(UnreadableError):
            assert math.isfinite(number(text, most))


@given(st.floats(0, 1e9), st.integers(0, 2**32))
def test_what_is_written_in_either_manner_is_the_same(real: float, count: int) -> None:
    assert number(repr(real).replace(".", ",")) == number(repr(real)) == real
    for mark in ",. '’\u00a0":
        assert number(f"{count:,}".replace(",", mark), math.inf) == count


@pytest.mark.parametrize("value", [-0.0, "-0", "-0.0", "−0", [-0.0], ["-0.0"], "-0.0,-0"])
def test_minus_zero_is_never_kept(value: Any) -> None:
    for row in PARAMETERS + VIEW:
        found, _ = read(row, value)
        for item in found if isinstance(found, tuple) else (found,):
            if isinstance(item, float):
                assert math.copysign(1, item) == 1, row.key
    assert json.dumps(read(BY_KEY["rates"], "-0.0,0.5,-1,2")[0]) == "[0.0, 0.5, 0.0, 1.0]"


@pytest.mark.parametrize(
    ("key", "given_", "value"),
    [
        ("alpha", "0,6", 0.6),
        ("alpha", "60 %", 0.6),
        ("alpha", " 0.6 ", 0.6),
        ("c", "4,24", 4.24),
        ("k", "4,0", 4),
        ("k", "12.000", 12),
        ("k", "4x", 4),
        ("knee", "4.028", 4028),
        ("tick", "1.200", 1200),
        ("seed", "4 294 967 295", 4294967295),
        ("rates", "0.9,0.8", (0.9, 0.8)),
        ("rates", "90 %, 80 %", (0.9, 0.8)),
        ("evict", "100,200", (100, 200)),
    ],
)
def test_a_value_of_a_link_is_read_in_the_same_manner_and_without_a_word(
    key: str, given_: str, value: Any
) -> None:
    assert read(BY_KEY[key], given_) == (value, None)


# Fields


def test_what_a_field_cannot_read_leaves_the_old_value_and_says_so() -> None:
    assert entered(BY_KEY["k"], "9", 7) == (9, None)
    assert entered(BY_KEY["alpha"], "0,65", 0.5) == (0.65, None)
    said = "k=abc is not a whole number from 1 to 32; it stays 7."
    assert entered(BY_KEY["k"], "abc", 7) == (7, said)
    said = "alpha is empty, not a number from 0 to 1; it stays 0.5."
    assert entered(BY_KEY["alpha"], " ", 0.5) == (0.5, said)
    said = "k=99 is not a whole number from 1 to 32; using 32."
    assert entered(BY_KEY["k"], "99", 7) == (32, said)
    assert read(BY_KEY["k"], "")[1] == "k is empty, not a whole number from 1 to 32; using 4."


@pytest.mark.parametrize(
    ("key", "value", "up", "down"),
    [
        ("k", 4, 5, 3),
        ("k", 1, 2, 1),
        ("k", 32, 32, 31),
        ("alpha", 0.8, 0.81, 0.79),
        ("alpha", 0.805, 0.81, 0.8),
        ("alpha", 0.966, 0.97, 0.96),
        ("alpha", 1, 1, 0.99),
        ("alpha", 0, 0.01, 0),
        ("alpha", 0.29, 0.3, 0.28),
        ("c", 4.24, 4.25, 4.23),
        ("c", 8, 8, 7.99),
        ("chunk", 16, 17, 16),
        ("seed", 4294967295, 4294967295, 4294967294),
    ],
)
def test_an_arrow_goes_to_the_next_stop_of_the_slider(
    key: str, value: float, up: float, down: float
) -> None:
    row = BY_KEY[key]
    assert (stepped(row, value, True), stepped(row, value, False)) == (up, down)


def test_a_prediction_and_a_field_are_read_alike() -> None:
    assert Question("tokens", 1200).read("4.028") == 4028
    assert Question("tokens", 1200).read("4\u202f028") == 4028
    assert Question("speedup", 60).read("4.028") == 4.028
    assert Question("tokens_per_pass", 60).read("3,36") == 3.36
    assert Question("draft_acceptance", 60).read("59") == 0.59
    assert Question("draft_acceptance", 60).read("59 %") == 0.59
    assert Question("speedup", 60).read("240 %") == 2.4


# Complaints


def test_what_a_complaint_repeats_is_cut() -> None:
    long = "9" * 39 + "x" * 1000
    assert shown(long) == "9" * 39 + "…"
    assert shown("9" * 40) == "9" * 40
    assert str(read(BY_KEY["k"], "z" * 1000)[1]) == (
        f"k={'z' * 39}… is not a whole number from 1 to 32; using 4."
    )
    ticks = [*range(1200), "x"]
    told = str(read(BY_KEY["evict"], ticks)[1])
    assert "using 0,1,2," in told
    assert len(told) < 200
    assert shown([0.5] * 10**6).startswith("0.5,0.5,")
    assert shown("a\ud800b") == "a?b"


def test_a_full_name_never_wins_over_a_key() -> None:
    for other in (9, "x"):
        for changes in ({"k": 7, "draft_length": other}, {"draft_length": other, "k": 7}):
            assert updated(Params(), changes) == (Params(draft_length=7), [])
    assert updated(Params(), {"k": None, "draft_length": 9})[0].draft_length == 4


def nested(depth: int, kind: type) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind is list else {"k": value}
    return value


@pytest.mark.parametrize("kind", [list, dict])
@pytest.mark.parametrize("depth", [3, 30, 5000, 100_000])
def test_no_depth_breaks_the_reading_of_a_value(kind: type, depth: int) -> None:
    value = nested(depth, kind)
    for row in PARAMETERS + VIEW:
        if not isinstance(
            row.kind, (Choices, Pairs, Wholes)
        ):  # of which what cannot be read is dropped
            assert read(row, value)[0] == row.default, row.key
        complaint = read(row, value)[1]
        assert complaint
        assert len(complaint) < 500
    while value != 1:  # taken apart by hand: freeing it at once would go as deep
        value = value[0] if kind is list else value["k"]


def test_numbers_of_too_many_digits_are_refused() -> None:
    for row in PARAMETERS + VIEW:
        _, complaint = read(row, 10**5000)
        assert complaint


def test_rates_beyond_the_longest_draft_are_not_kept() -> None:
    found, complaint = read(BY_KEY["rates"], [0.5] * 33)
    assert found == (0.5,) * 32
    assert "up to 32 numbers" in str(complaint)
    assert read(BY_KEY["rates"], [0.5] * 32) == ((0.5,) * 32, None)


# Messages


def test_a_message_is_what_json_holds() -> None:
    held = {"k": 7, "evict": [1, 2], 'a"[{\\': ["]", '"'], "verdicts": [[i, 0] for i in range(90)]}
    for indent in (None, 1):
        assert message(json.dumps(held, indent=indent)) == held
    assert message("[]") == []
    assert message("NaN") != message("NaN")


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}"), ('[{"\\"[":', "}]")])
@pytest.mark.parametrize("depth", [5000, 100_000])
def test_what_is_too_deep_in_a_message_is_nothing_and_the_rest_of_it_counts(
    left: str, right: str, depth: int
) -> None:
    deep = left * depth + "1" + right * depth
    found = message(f'{{"k": 7, "alpha": {deep}, "c": [{deep}, {deep}], "tick": 9}}')
    assert (found["k"], found["tick"], len(found["c"])) == (7, 9, 2)
    params, view, complaints = changed(Params(), View(), found)
    assert (params, view) == (Params(draft_length=7), View(tick=9))
    assert [complaint.partition("=")[0] for complaint in complaints] == ["alpha", "c"]


def test_all_that_is_not_too_deep_is_kept() -> None:
    most = nested(DEEPEST, list)
    assert message(json.dumps(most)) == most
    crowd: list[list[int]] = [[] for _ in range(100)]
    assert message(json.dumps(crowd)) == crowd
    assert message(json.dumps([nested(DEEPEST - 1, list)] * 9)) == [nested(DEEPEST - 1, list)] * 9
    assert "…" in json.dumps(message(json.dumps(nested(DEEPEST + 1, list))), ensure_ascii=False)


# Links

WANTED = {"embed": "1", "k": "12", "lock": "alpha,k", "ask": "speedup", "tick": "100"}
PLAIN = "embed=1&k=12&lock=alpha,k&ask=speedup&tick=100"


@pytest.mark.parametrize(
    "search",
    [
        PLAIN,
        PLAIN.replace("&", "&amp;"),
        PLAIN.replace("&", "&amp;amp;"),
        PLAIN.replace("&", "&AMP;"),
        PLAIN.replace("&", "&amp;amp;amp;"),
        PLAIN.replace("&", "&amp%3B"),
        PLAIN.replace("&", "&%2338;"),
        PLAIN.replace("&", "&%23038%3B"),
        PLAIN.replace("&", "&%23x26;"),
        PLAIN.replace("&", "%26"),
        PLAIN.replace("&", "%26amp%3B"),
        PLAIN.replace("&", "%26amp;"),
        PLAIN.replace("&", "%2526"),
        PLAIN.replace("&", "%26").replace("=", "%3D"),
        quote(PLAIN),
        quote(PLAIN.replace("&", "&amp;")),
        quote(quote(PLAIN)),
        PLAIN.replace(",", "%2C"),
        PLAIN.replace(",", "%252C"),
        PLAIN.replace(",", "%25252C"),
        PLAIN.replace(",", "%26%2344%3B"),
        PLAIN.replace(",", "%26%23x2C%3B"),
        "utm_source=a&amp;" + PLAIN.replace("&", "&amp;"),
        "k=3&" + PLAIN,
    ],
)
def test_a_link_escaped_once_too_often_leads_to_the_same_scene(search: str) -> None:
    found = {name: value for name, value in asked("?" + search).items() if name in NAMES}
    assert found == WANTED
    assert changed(Params(), View(), found)[2] == []


@pytest.mark.parametrize("amp", ["#038;", "#38;", "#x26;", "#X26;", "#038;amp;"])
def test_what_was_taken_for_the_end_of_the_query_is_read_too(amp: str) -> None:
    search, _, fragment = PLAIN.replace("&", "&" + amp).partition("#")
    assert asked("?" + search, "#" + fragment) == WANTED


def test_other_ends_of_an_address_are_no_part_of_the_query() -> None:
    for fragment in ("", "#recall", "#k=9", "#amp;k=9", "#039;k=9", "#38", "#text&k=9"):
        assert not cut_off(fragment)
        assert asked("?k=4", fragment) == {"k": "4"}
    assert cut_off("#038;k=9")


def test_the_address_inside_another_key_is_not_this_ones() -> None:
    inner = quote("https://example.org/?k=12&alpha=0.3&amp;tick=9", safe="")
    found = asked(f"?url={inner}&k=3&=5&&x")
    assert {name: value for name, value in found.items() if name in NAMES} == {"k": "3"}


@given(st.text(), st.text())
def test_any_address_is_read_and_any_scene_in_it(search: str, fragment: str) -> None:
    found = asked("?" + search, "#" + fragment)
    assert all(isinstance(value, str) for value in found.values())
    changed(Params(), View(), found)


def test_a_link_of_the_pages_own_is_read_as_it_was_written_however_often_it_is_escaped() -> None:
    params = Params(draft_length=7, acceptance_rates=(0.9, 0.5), kv_cache=False, evictions=(3, 9))
    view = View(tick=12, theme="dark", lock=("k", "evict"), ask="speedup")
    keys = query(params, view)
    for link in (urlencode(keys), urlencode(keys, safe=","), escape(escape(urlencode(keys)))):
        assert changed(Params(), View(), asked("?" + link)) == (params, view, [])


# Names


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("K", "k"),
        ("Alpha", "alpha"),
        ("TICK", "tick"),
        ("C0", "c0"),
        ("draftLength", "k"),
        ("Draft-Length", "k"),
        ("num_speculative_tokens", "k"),
        ("gamma", "k"),
        ("γ", "k"),
        ("Γ", "k"),
        ("α", "alpha"),
        ("acceptance", "alpha"),
        ("acceptanceRate", "alpha"),
        ("rate", "alpha"),
        ("cost", "c"),
        ("BatchSize", "batch"),
        ("eviction", "evict"),
        ("Evictions", "evict"),
        ("speculative", "speculation"),
        ("kv-cache", "cache"),
        ("autoplay", "play"),
        ("alhpa", "alpha"),
        ("alfa", "alpha"),
        ("Spekulation", "speculation"),
        ("lokc", "lock"),
        ("seeds", "seed"),
        ("draft_lenght", "k"),
        ("acceptence_rat", "alpha"),
        ("num_speculativ_token", "k"),
    ],
)
def test_a_letter_case_or_a_synonym_away_is_pointed_out_and_not_applied(
    name: str, key: str
) -> None:
    said = [f"{name} is not a key; did you mean {key}?"]
    assert changed(Params(), View(), {name: "1"}) == (Params(), View(), said)


def test_keys_full_names_and_what_is_none_of_ours_are_passed_in_silence() -> None:
    others = ["utm_source", "fbclid", "v", "n", "__proto__", "constructor", "", "kk", "lab.k", "id"]
    assert pointed_out([*NAMES, *others, 3, None]) == []
    found, _, complaints = changed(Params(), View(), {"draft_length": "9", "acceptance_rate": 0.5})
    assert (found, complaints) == (Params(draft_length=9, acceptance_rate=0.5), [])


def test_a_word_of_somebody_else_is_no_slip() -> None:
    others = (
        "utm_source utm_medium utm_campaign utm_term utm_content fbclid gclid msclkid mc_cid "
        "ref referrer source src page lang locale date feed need shop post host most sort slot "
        "clock block stock plan plot back pick tab type name class style title start role search "
        "session sessionid token tokens speedup state scene view width height origin redirect"
    )
    assert pointed_out(others.split()) == []
    assert pointed_out(["a" * 10**6, "utm_source", "alph" + "a" * 10**6]) == []


def test_slips_are_counted() -> None:
    pairs = {("seed", "seed"): 0, ("sede", "seed"): 1, ("sed", "seed"): 1, ("seeed", "seed"): 1}
    pairs |= {("seat", "seed"): 2, ("", "seed"): 4, ("alfa", "alpha"): 2}
    for (one, other), count in pairs.items():
        assert slips(one, other) == slips(other, one) == count


def test_no_synonym_is_a_key_and_none_has_two_meanings() -> None:
    words = [word for listed in SYNONYMS.values() for word in listed.split()]
    assert len(words) == len(set(words))
    assert not set(words) & NAMES
    assert set(SYNONYMS) <= set(BY_KEY)
    for key, listed in SYNONYMS.items():
        for word in listed.split():
            assert pointed_out([word]) == [f"{word} is not a key; did you mean {key}?"]


def test_a_thousand_names_that_are_none_do_not_fill_the_page() -> None:
    many = {"K" + "_" * count: 1 for count in range(1, 1000)}
    told = pointed_out(many)
    assert len(told) == 5
    assert all(len(complaint) < 90 for complaint in told)


def test_a_scene_in_code_takes_what_a_link_takes() -> None:
    assert Scene(alpha="0,6").params.acceptance_rate == 0.6
    with pytest.raises(TypeError, match="K is no setting"):
        Scene(K=3)
