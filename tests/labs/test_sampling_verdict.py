"""The verdict: exact p-values, right texts that are seldom called wrong, wrong ones that are."""

from __future__ import annotations

import os
from math import ceil, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from sim.labs.sampling_draw import Drawn, Plain
from sim.labs.sampling_exact import Exact, exact
from sim.labs.sampling_rows import language, made_language
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_settings import BY_RULE, Asked
from sim.labs.sampling_verdict import (
    LEVEL,
    POWER,
    Verdict,
    _shift,
    judged,
    luck,
    pooled,
    tokens_to_find,
    upper_gamma,
)
from sim.work import finish
from tests.labs.sampling import SCENES, WRONG, of_scene

TOKENS = Asked().tokens
SEEDS = 400
POWER_SEEDS = int(os.environ.get("BONUS_TOKEN_SEEDS", "40"))
"""Texts of each wrong rule; 400 say more, and take a minute."""


def verdict(known: Exact, seed: int, tokens: int = TOKENS) -> Verdict:
    return judged(known, finish(Drawn(known, tokens, seed).work()).counts)


@given(st.floats(0.5, 2100), st.floats(0, 6000))
def test_the_gamma_function_is_that_of_scipy(a: float, x: float) -> None:
    wanted = special.gammaincc(a, x)
    assert upper_gamma(a, x) == pytest.approx(wanted, rel=1e-9, abs=1e-280)


@pytest.mark.parametrize("df", [1, 2, 3, 12, 56, 240, 4032])
def test_p_values_are_those_of_scipy_far_out_too(df: int) -> None:
    for chi2 in (0, 0.1, df / 3, df, df + 5, 2 * df, 3 * df + 100, 10 * df + 700):
        assert upper_gamma(df / 2, chi2 / 2) == pytest.approx(
            stats.chi2.sf(chi2, df), rel=1e-9, abs=1e-280
        )
    assert (upper_gamma(df / 2, 0), upper_gamma(df / 2, inf)) == (1, 0)


@pytest.mark.parametrize("df", [1, 6, 12, 240])
def test_how_non_central_a_text_has_to_be_is_that_of_scipy(df: int) -> None:
    critical = stats.chi2.isf(LEVEL, df)
    assert stats.ncx2.sf(critical, df, _shift(df)) == pytest.approx(POWER, abs=1e-6)


def test_the_sum_of_squares_is_that_of_scipy_row_by_row() -> None:
    known = of_scene("3 words", "bonus-from-draft")
    counts = finish(Drawn(known, 3000, 2).work()).counts
    chi2 = sum(
        stats.chisquare(row, row.sum() * p).statistic
        for row, p in zip(counts, known.models.target, strict=True)
    )
    found = judged(known, counts)
    assert found.chi2 == pytest.approx(chi2)
    assert found.df == 6
    assert found.p_value == pytest.approx(stats.chi2.sf(chi2, 6))
    assert found.total_variation == pytest.approx(
        np.abs(counts / 3000 - known.words[:, None] * known.models.target).sum() / 2
    )


def test_cells_that_expect_too_little_are_put_together_within_their_row() -> None:
    expected, found = np.array([50.0, 4.0, 3.0, 43.0]), np.array([48, 5, 2, 45])
    assert sorted(pooled(expected, found)) == [(7, 7), (43, 45), (50, 48)]
    assert pooled(np.array([2.0, 97.0, 6.0]), np.array([1, 100, 4])) == [(8, 5), (97, 100)]
    assert pooled(np.array([0.0, 0.0]), np.array([0, 0])) == [(0, 0)]
    assert pooled(np.array([9.0, 8.0]), np.array([1, 2])) == [(8, 2), (9, 1)]
    known = exact(models_of(language(".9,.05,.05", ".4,.3,.3")), "standard", 2)
    counts = np.array([[40, 3, 1], [1, 2, 0], [2, 0, 0]])
    assert judged(known, counts).df == 0  # 44 expect 2.2 and 2.2, put together 4.4
    assert judged(known, 9 * counts).df == 2  # 27 and 18 are too few
    assert judged(known, 0 * counts) == Verdict(0.5, 0.0, 0, 1.0)


def test_a_pair_that_the_target_never_writes_settles_it() -> None:
    known = exact(models_of(language(".5,.5,0;.5,0,.5;0,.5,.5", ".4,.3,.3")), "always-accept", 4)
    found = verdict(known, 1, 500)
    assert (found.chi2, found.p_value, found.found) == (None, 0, True)
    right = exact(known.models, "standard", 4)
    assert not verdict(right, 1).found
    assert right.pairs[right.models.target == 0].sum() == 0


def test_p_values_of_the_right_rule_are_uniform_over_400_seeds() -> None:
    """Kolmogorov–Smirnov: the largest distance of 400 uniform values is above .0972 once in a
    thousand; of values a tenth of which are set to 0 it is not below.
    """
    known = of_scene("3 words", "standard")
    values = np.array([verdict(known, seed).p_value for seed in range(SEEDS)])
    bound = stats.kstwo.isf(0.001, SEEDS)
    assert bound == pytest.approx(0.0972, abs=1e-3)
    assert stats.kstest(values, "uniform").statistic < bound
    assert stats.kstest(np.where(np.arange(SEEDS) % 8, values, 0), "uniform").statistic > bound


def test_plain_sampling_and_many_rare_words_give_uniform_p_values_too() -> None:
    """With 100 texts the bound is .195; pairs of 8 words in 2,000 have cells that are pooled."""
    known = exact(models_of(made_language(8, 0.7, 0.8, 1.2, 3)), "standard", 4)
    bound = stats.kstwo.isf(0.001, 100)
    values = [verdict(known, seed, 2000).p_value for seed in range(100)]
    assert stats.kstest(values, "uniform").statistic < bound
    plain = [judged(known, finish(Plain(known, 2000, s).work()).counts).p_value for s in range(100)]
    assert stats.kstest(plain, "uniform").statistic < bound


@pytest.mark.parametrize("rule", WRONG)
def test_each_wrong_rule_is_found_in_19_texts_of_20(rule: str) -> None:
    known = of_scene("4 words", rule)
    found = sum(verdict(known, seed).found for seed in range(POWER_SEEDS))
    assert found >= POWER * POWER_SEEDS
    assert tokens_to_find(known) < TOKENS


def test_how_many_words_it_takes_to_find_a_rule_is_about_right() -> None:
    """Of 100 texts of that size 95 are found, give or take four standard errors; of texts of a
    third of it clearly fewer.
    """
    for rule in ("bonus-from-draft", "replace-from-target"):
        known = of_scene("3 words", rule)
        needed = ceil(tokens_to_find(known))
        found = sum(verdict(known, seed, needed).found for seed in range(100))
        assert found >= 86
        assert sum(verdict(known, seed, needed // 3).found for seed in range(100)) < 60


def test_a_longer_draft_hides_its_bonus_token_and_what_is_right_is_never_found() -> None:
    by_length = [tokens_to_find(of_scene("4 words", "bonus-from-draft", k)) for k in (1, 4, 8)]
    assert by_length == sorted(by_length)
    assert by_length[0] < TOKENS < by_length[2] == pytest.approx(246_107, rel=1e-3)
    assert round(by_length[1], -3) == 11_000
    assert "11,000 words at k = 4, in 246,000 at k = 8" in BY_RULE["bonus-from-draft"].shipped
    same = models_of(language(".5,.5;.25,.75", ".5,.5;.25,.75"))
    for rule in ("standard", "replace-from-target", "always-accept", "bonus-from-draft"):
        assert tokens_to_find(exact(same, rule, 4)) == inf
    never = exact(models_of(language("1,0;.5,.5", ".9,.1;.5,.5")), "always-accept", 4)
    assert 10 < tokens_to_find(never) < 100


@pytest.mark.parametrize("scene", SCENES)
def test_luck_stays_within_its_band(scene: str) -> None:
    """The mean of 100 texts within a tenth; at most three of them above the band."""
    known = of_scene(scene, "standard")
    band = luck(known, 5000)
    found = [verdict(known, seed, 5000).total_variation for seed in range(100)]
    assert np.mean(found) == pytest.approx(band.mean, rel=0.1)
    assert sum(one > band.high for one in found) <= 3
    assert luck(known, 500_000).mean == pytest.approx(band.mean / 10)
    assert luck(known, 0).high == 1
    wrong = of_scene(scene, "stale-temperature")
    assert all(verdict(wrong, seed, 5000).total_variation > band.high for seed in range(20))
