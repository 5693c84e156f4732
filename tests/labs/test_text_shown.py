"""How a text is told: tokens and their origins, what two models said, what was measured."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from html import unescape
from itertools import count
from typing import Any

import pytest

from sim.cache import ACCEPTED, BONUS
from sim.labs.text import command_of
from sim.labs.text_chart import CARD_KNEE, WIDTH_CHART, WIDTHS, Timed, measure, measured_said
from sim.labs.text_measured import costs, rates
from sim.labs.text_run import both_ways, models_of
from sim.labs.text_settings import Asked
from sim.labs.text_shown import (
    Spelling,
    kept_said,
    lines,
    named,
    numbers_html,
    said_html,
    tokens_html,
)
from sim.labs.weights import Array
from sim.theory import expected_tokens_per_pass
from sim.work import Work, finish
from tests.labs.written import PAIRS, file_of_models, models, text


def test_bytes_that_are_no_character_yet_wait_for_the_next() -> None:
    spelling = Spelling()
    assert spelling.of([b"a\xc3", b"\xa9b"]) == ["a", "éb"]
    assert spelling.of([b"\xff"]) == ["\ufffd"]


def test_tokens_are_elements_with_their_origin_and_number() -> None:
    html = str(tokens_html(["a", "<b>"], [ACCEPTED, BONUS], 7))
    assert html == '<i class="accepted" data-at="7">a</i><i class="bonus" data-at="8">&lt;b&gt;</i>'


@pytest.mark.parametrize("texts", [[], ["a"], ["a\n"], ["a", "\n", "b\nc", "d\n", "\n\n", "e"]])
def test_tokens_are_shown_by_lines_and_none_is_left_out(texts: list[str]) -> None:
    parts = [texts[part] for part in lines(texts)]
    assert [text for part in parts for text in part] == texts
    assert all(text[-1] != "\n" for part in parts for text in part[:-1])
    assert all(part[-1].endswith("\n") for part in parts[:-1])


def test_of_every_token_is_said_how_it_came() -> None:
    writer = text(k=3, draft="small", temperature=1.0, tokens=150)
    found = set()
    for at, origin in enumerate(writer.origins):
        said = str(said_html(writer, at))
        own = named(PAIRS.bytes_of[writer.tokens[at]])
        assert unescape(said).startswith(f"<p>{own}")
        number, place = writer.sources[at]
        if origin == "prompt":
            assert "stands in the prompt" in said
            continue
        drafts = writer.passed[number].drafts
        if origin == ACCEPTED:
            assert drafts[place].token == writer.tokens[at]
            assert f"its coin {drafts[place].coin:.2f}" in said
            found.add("accepted")
        elif place < 3:
            rejected = named(PAIRS.bytes_of[drafts[place].token])
            assert f"in place of the draft {rejected}" in unescape(said)
            found.add("instead")
        else:
            assert "after 3 drafts accepted: the bonus token" in said
            found.add("bonus")
    assert found == {"accepted", "instead", "bonus"}
    plain = text(speculation=False, tokens=3)
    assert "one token a pass" in str(said_html(plain, len(plain.tokens) - 1))


def test_the_chances_that_are_told_are_those_of_the_place() -> None:
    writer = text(k=2, draft="small", temperature=0.5, tokens=20)
    at = writer.origins.index(ACCEPTED)
    number, place = writer.sources[at]
    p = writer.passed[number].drafts[place].p
    likeliest = max(range(len(p)), key=lambda token: p[token])
    row = re.search(
        r"<tbody><tr[^>]*><th[^>]*>(.*?)</th><td>(.*?)</td>", str(said_html(writer, at))
    )
    assert row is not None
    assert unescape(row[1]) == named(PAIRS.bytes_of[likeliest])
    assert row[2] == f"{100 * p[likeliest]:.1f} %"


def test_rates_are_those_of_the_draft_length_that_is_set() -> None:
    writer = text(k=3, draft="small", temperature=1.0, tokens=60)
    before = rates(writer.passed, 3)
    writer.set(writer.setting._replace(k=5))
    for _ in range(30):
        finish(writer.tick())
    assert rates(writer.passed, 3) == before
    found = rates(writer.passed, 5)
    assert found is not None
    assert (found.passes, found.tested[0]) == (30, 30)
    assert found.tokens == sum(1 + one.accepted for one in writer.passed[-30:])
    assert rates(writer.passed, 4) is None
    assert rates(writer.passed, 0) is None


def test_numbers_hold_theory_beside_what_was_measured() -> None:
    writer = text(k=2, draft="small", temperature=1.0, tokens=80)
    found = rates(writer.passed, 2)
    assert found is not None
    told = re.sub(r"<[^>]+>", " ", str(numbers_html(writer, 2)))
    assert f"{found.tokens / found.passes:.2f}" in told
    assert f"theory at the rates below {expected_tokens_per_pass(found.rates):.2f}" in told
    # Both count the same coins: they differ by nothing but rounding.
    assert found.tokens / found.passes == pytest.approx(expected_tokens_per_pass(found.rates))
    assert kept_said(writer).startswith(f"KV cache: {len(writer.tokens) - 1} / 512 positions")
    writer.evict()
    assert kept_said(writer) == f"{len(writer.tokens) - 1} positions must be computed again " + (
        "before the next token."
    )


def test_seconds_are_told_apart_by_drafts_and_by_what_was_kept() -> None:
    writer = text(k=2, tokens=12)
    plain = writer.setting._replace(speculation=False)
    for setting in (plain, plain._replace(kv_cache=False)):
        writer.set(setting)
        for _ in range(4):
            finish(writer.tick())
    spent = costs(writer.passed)
    assert set(spent) == {0, 2, None}
    assert spent[0].tokens == spent[None].tokens == 4
    assert spent[0].drafting == 0 < spent[2].drafting
    written = len(writer.tokens) - writer.origins.count("prompt")
    assert sum(cost.tokens for cost in spent.values()) == written


class Slow:
    """A transformer that takes some milliseconds for each position, by a clock of its own."""

    def __init__(self, model: Any, each: float) -> None:
        self.shape, self.weights, self._model, self._each = model.shape, model.weights, model, each
        self.now = 0.0

    def forward(self, tokens: Sequence[int], kept: Any, wanted: int | None = None) -> Work[Array]:
        self.now += self._each * len(tokens)
        return self._model.forward(tokens, kept, wanted)  # type: ignore[no-any-return]


@pytest.mark.parametrize("unit", [1e-6, 1e-3])
def test_passes_and_drafts_are_timed_even_by_a_clock_that_counts_milliseconds(unit: float) -> None:
    slow = models_of(file_of_models())
    target, small = Slow(slow.target, 4e-4), Slow(slow.small, 1e-4)
    slow.target, slow.small = target, small  # type: ignore[assignment]
    looks = count()

    def clock() -> float:
        now = target.now + small.now + 1e-5 * next(looks)
        return round(now // unit) * unit

    timed = finish(measure(slow, clock))
    assert [width for width, _ in timed.seconds] == list(WIDTHS)
    for width, seconds in timed.seconds:
        assert seconds == pytest.approx(4e-4 * width, rel=0.15)
    assert timed.steps["small"] == pytest.approx(1e-4, rel=0.25)
    assert 0 < timed.steps["ngram"] < 1e-4


def test_a_pass_is_told_to_double_where_it_does() -> None:
    timed = Timed(((1, 2.0), (2, 3.0), (3, 3.5), (5, 5.0), (9, 9.0)))
    assert "2.5 times that. It has doubled at about 4 positions" in measured_said(timed)
    assert f"begun to rise before {CARD_KNEE}" in measured_said(timed)
    data = WIDTH_CHART.data(timed)
    assert [row["times"] for row in data["points"][:5]] == [1, 1.5, 1.75, 2.5, 4.5]
    assert {row["times"] for row in data["points"][5:]} == {1}
    assert [stop.x for stop in WIDTH_CHART.stops(timed, data)] == [1, 2, 3, 5, 9]
    assert WIDTH_CHART.data(Timed()) == {"points": []}


def test_both_ways_write_the_same_and_say_so() -> None:
    said = finish(both_ways(models(), Asked(draft="small", temperature=1.2, cache=False), float))
    assert said.startswith(
        "The likeliest 60 tokens are the same, one by one. Plain decoding took 60"
    )


def test_the_command_that_is_told_writes_the_same() -> None:
    assert command_of(Asked()) == "python3 -m sim text"
    asked = Asked(prompt="It's\n\\ “a” $x", k=7, draft="small", evict=(3, 9), cache=False)
    told = command_of(asked).replace("python3 -m sim text", "printf '%s|'")
    shown = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True).stdout
    given = ["--prompt", asked.prompt, "--k", "7", "--draft", "small"]
    assert shown.split("|")[:-1] == [*given, "--cache", "off", "--evict", "3,9"]
