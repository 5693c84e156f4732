"""Text by the widget's rules: the same words whatever is cached, drafted or evicted."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim.cache import ACCEPTED, BONUS, EVICTED, PLAIN
from sim.labs.text_settings import DRAFTS, Asked
from sim.labs.transformer import Kept
from sim.labs.writer import Writer, warmed
from sim.params import SLOTS, Params
from sim.run import Run
from sim.work import finish
from tests.labs.written import PAIRS, models, numbers, text

SHORT = int(os.environ.get("BONUS_TOKEN_TEXT_TOKENS", "52"))
"""Tokens of texts that every setting must write alike; 200 say more, and take a few minutes."""

LONG = 10 * SHORT
"""The same with the cache kept, beyond the window."""

SETTINGS: list[dict[str, Any]] = [
    {"speculation": False},
    *({"draft": draft, "k": k} for draft in DRAFTS for k in (1, 4, 17)),
]
KEPT: list[dict[str, Any]] = [
    {},
    {"cache": False},
    {"evict": (0, 3, 4, 11)},
]


def greedy(**changes: Any) -> Writer:
    return text(temperature=0.0, **changes)


@pytest.mark.parametrize("kept", KEPT)
def test_greedy_text_is_the_same_for_every_draft_length_cache_and_eviction(
    kept: dict[str, Any],
) -> None:
    plain = greedy(tokens=SHORT, speculation=False)
    assert plain.first_close is None
    for setting in SETTINGS:
        other = greedy(tokens=SHORT, **setting, **kept)
        assert other.tokens[: len(plain.tokens)] == plain.tokens


@pytest.mark.parametrize("setting", SETTINGS[1:])
def test_beyond_the_window_greedy_text_is_the_same_for_every_draft_with_the_cache_kept(
    setting: dict[str, Any],
) -> None:
    plain = greedy(tokens=LONG, speculation=False)
    assert len(plain.tokens) > SLOTS
    assert plain.first_close is None
    assert greedy(tokens=LONG, **setting).tokens[: len(plain.tokens)] == plain.tokens


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        (600, {}),
        (60, {"cache": False}),
        (600, {"evict": (0, 3, 4, 11)}),
        (600, {"draft": "small", "k": 9, "evict": (50, 51)}),
    ],
)
def test_counters_and_board_are_the_widgets_with_the_same_verdicts(
    tokens: int, kept: dict[str, Any]
) -> None:
    """A prompt of one token, and as many drafts accepted by hand as the model accepted."""
    asked = Asked(
        prompt="a", temperature=0.7, tokens=600 if kept.get("cache", True) else 60, **kept
    )
    writer = text(asked)
    verdicts = [one.accepted for one in writer.passed if not one.recompute]
    run = Run(
        Params(
            draft_length=asked.k,
            kv_cache=asked.cache,
            evictions=asked.evict,
            verdicts=tuple(enumerate(verdicts, 1)),
        )
    )
    tick = len(writer.passed)
    assert writer.state == run.at(tick)
    assert writer.slots() == run.slots(tick)
    assert [run.origin(position)[0] for position in range(1, len(writer.tokens))] == writer.origins[
        1:
    ]


def test_an_evicted_board_fills_again_in_the_widgets_chunks() -> None:
    writer = text(prompt="xyz" * 100, tokens=5)
    assert [one.width for one in writer.passed[:5]] == [64, 64, 64, 64, 299 - 256]
    assert writer.kept_bytes == writer.models.target.bytes_per_position() * (len(writer.tokens) - 1)
    writer.evict()
    assert writer.kept_bytes == 0
    assert writer.missing == len(writer.tokens) - 1
    assert set(writer.slots()[: len(writer.tokens)]) == {EVICTED}
    finish(writer.tick())
    assert writer.slots().count(EVICTED) == len(writer.tokens) - 64


def test_a_prompt_beyond_the_window_is_filled_from_the_windows_start() -> None:
    prompt = "uvwxyz" * 100
    writer = text(prompt=prompt, tokens=3)
    known = len(PAIRS.encode(prompt))
    assert known > SLOTS
    assert sum(one.width for one in writer.passed if one.recompute) == SLOTS - 1


def test_the_text_is_cut_exactly_and_its_numbers_are_those_of_its_passes() -> None:
    found = numbers(k=4, draft="small", tokens=101, temperature=1.0)
    written = len(found["tokens"]) - found["origins"].count("prompt")
    assert written == 101
    assert found["tokens_per_pass"] == 101 / found["passes"]
    (first, tested), *others = found["alpha_by_position"]
    assert tested == found["passes"]
    for rate, following in others:
        assert following == round(first * tested)
        first, tested = rate, following
    assert found["text"].startswith(Asked().prompt)
    prompt = len(PAIRS.encode(Asked().prompt))
    assert found["positions_computed"] == prompt - 1 + 5 * found["passes"]
    widths = [width for width, _, _ in found["seconds_by_width"]]
    assert widths == sorted({5, prompt - 1})
    assert set(found["origins"]) == {"prompt", ACCEPTED, BONUS}
    assert set(numbers(tokens=9, speculation=False)["origins"]) == {"prompt", PLAIN}


def test_the_same_seed_writes_the_same_and_another_one_something_else() -> None:
    assert text(seed=3).tokens == text(seed=3).tokens != text(seed=4).tokens


def test_settings_that_change_on_the_way_leave_the_words_alone() -> None:
    plain = greedy(tokens=80, speculation=False)
    asked = Asked(temperature=0.0)
    writer = Writer(models(), PAIRS.encode(asked.prompt), asked.writing(), lambda: 0.0)
    changes: list[dict[str, Any]] = [
        {"cache": False},
        {"draft": "small"},
        {"cache": True, "k": 8},
        {"speculation": False},
        {"draft": "ngram", "speculation": True},
        {"draft": "small"},
    ]
    for change in changes:
        asked = replace(asked, **change)
        writer.set(asked.writing())
        for _ in range(6):
            finish(writer.tick())
    known = min(len(writer.tokens), len(plain.tokens))
    assert known > 24
    assert writer.tokens[:known] == plain.tokens[:known]


# Sampled text


class Careless(Writer):
    """A control: accepts every draft."""

    def _test(self, proposed: Any, p: Any) -> Any:
        kept = super()._test(proposed, p)
        return tuple(draft._replace(accepted=True) for draft in kept)


def first_pairs(kind: type[Writer], runs: int, **changes: Any) -> dict[tuple[int, int], int]:
    """How often each pair of first two tokens is written, by seed."""
    asked = Asked(prompt="q", temperature=0.35, **changes)
    prompt = PAIRS.encode(asked.prompt)
    found: dict[tuple[int, int], int] = {}
    for seed in range(runs):
        writer = kind(models(), prompt, replace(asked, seed=seed).writing(), lambda: 0.0)
        while len(writer.tokens) < len(prompt) + 2:
            finish(writer.tick())
        pair = writer.tokens[len(prompt)], writer.tokens[len(prompt) + 1]
        found[pair] = found.get(pair, 0) + 1
    return found


def chi_squared(found: dict[tuple[int, int], int]) -> tuple[float, int]:
    """Of the pairs found against the target's exact chances, those expected below 5 as one."""
    runs = sum(found.values())
    prompt = PAIRS.encode("q")
    target = models().target
    logits = finish(target.forward(prompt, Kept(target.shape)))[-1]
    first = warmed(logits, 0.35)
    rare_expected, rare_found, chi2, cells = float(runs), runs, 0.0, 0
    for one in np.flatnonzero(first * runs >= 5):
        logits = finish(target.forward([*prompt, int(one)], Kept(target.shape)))[-1]
        expected = runs * first[one] * warmed(logits, 0.35)
        for other in np.flatnonzero(expected >= 5):
            seen = found.get((int(one), int(other)), 0)
            chi2 += (seen - expected[other]) ** 2 / expected[other]
            rare_expected -= float(expected[other])
            rare_found -= seen
            cells += 1
    return chi2 + (rare_found - rare_expected) ** 2 / rare_expected, cells


@pytest.mark.parametrize(
    "changes", [{"draft": "small", "k": 2}, {"draft": "ngram", "k": 1}, {"speculation": False}]
)
def test_the_first_two_tokens_have_the_targets_chances(changes: dict[str, Any]) -> None:
    """3 in 10,000 seeds would have more than mean + 4 standard deviations."""
    chi2, freedom = chi_squared(first_pairs(Writer, 600, **changes))
    assert freedom >= 10
    assert chi2 < freedom + 4 * (2 * freedom) ** 0.5


def test_a_replacement_that_is_drawn_from_the_target_itself_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sim.labs.writer.residual", lambda p, _q: p)
    chi2, freedom = chi_squared(first_pairs(Writer, 600, draft="small", k=2))
    assert chi2 > 3 * freedom


def test_a_writer_that_accepts_every_draft_is_found_out() -> None:
    chi2, freedom = chi_squared(first_pairs(Careless, 600, draft="small", k=2))
    assert chi2 > 3 * freedom
