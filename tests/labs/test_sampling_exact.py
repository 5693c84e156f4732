"""What each rule writes in the long run: known values, and every string of drafts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.labs.sampling_exact import exact, settled, stationary_words
from sim.labs.sampling_rows import language, made_language
from sim.labs.sampling_rules import models_of
from sim.labs.speculative import Inverse, acceptance, cumulated, drawn, residual
from sim.theory import expected_tokens_per_pass
from tests.labs.sampling import NAMES, SCENES, WRONG, brute, of_scene

LENGTHS = {
    "3 words": ((1, 1.771863), (2, 2.367757), (4, 3.184527), (8, 3.968725)),
    "4 words": ((1, 1.7), (2, 2.19), (4, 2.7731), (8, 3.198821)),
}
DISTANCES = {
    "3 words": (0.0782, 0.1807, 0.5673, 0.0252, 0.1252, 0.1370),
    "4 words": (0.1548, 0.2940, 0.7487, 0.0331, 0.2033, 0.1797),
}
TOKENS = {
    "3 words": {
        "replace-from-target": 3.1969,
        "argmax": 1.4677,
        "bonus-from-draft": 3.1793,
        "stale-temperature": 3.432845,
        "keep-after-rejection": 4.089145,
    },
    "4 words": {
        "replace-from-target": 2.7731,
        "argmax": 1.2496,
        "bonus-from-draft": 2.7731,
        "stale-temperature": 2.317831,
        "keep-after-rejection": 3.8,
    },
}


def digits(value: float) -> int:
    return len(str(value).partition(".")[2])


@pytest.mark.parametrize("scene", SCENES)
def test_the_right_rule_writes_what_is_known_of_it(scene: str) -> None:
    for k, wanted in LENGTHS[scene]:
        found = of_scene(scene, "standard", k)
        assert round(found.tokens_per_pass, 6) == wanted
        assert found.total_variation == pytest.approx(0, abs=1e-15)
    alpha = found.models.overlap.tolist()
    assert alpha == pytest.approx([0.7, 0.8, 0.8] if scene == "3 words" else [0.7] * 4)
    words = found.words.tolist()
    three = [0.264706, 0.323529, 0.411765]
    assert words == pytest.approx(three if scene == "3 words" else [0.5, 0.25, 0.15, 0.1], abs=1e-6)


@pytest.mark.parametrize("scene", SCENES)
def test_the_wrong_rules_are_as_far_off_as_is_known(scene: str) -> None:
    for rule, wanted in zip(WRONG, DISTANCES[scene], strict=True):
        assert round(of_scene(scene, rule).total_variation, 4) == wanted
    for rule, tokens in TOKENS[scene].items():
        assert round(of_scene(scene, rule).tokens_per_pass, digits(tokens)) == tokens
    assert of_scene(scene, "always-accept").tokens_per_pass == pytest.approx(5)


def rows(size: int) -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(st.integers(1, 9), min_size=size, max_size=size)
    scaled = row.map(lambda parts: [part / sum(parts) for part in parts])
    return st.lists(scaled, min_size=size, max_size=size)


models = st.integers(2, 3).flatmap(lambda size: st.tuples(rows(size), rows(size)))


@pytest.mark.parametrize("rule", NAMES)
@settings(max_examples=12)
@given(pair=models, k=st.integers(1, 4))
def test_every_string_of_drafts_comes_to_the_same(
    rule: str, pair: tuple[list[list[float]], list[list[float]]], k: int
) -> None:
    p, q = pair
    made = language(*(";".join(",".join(map(repr, row)) for row in one) for one in pair))
    found = exact(models_of(made), rule, k)
    tokens, pairs = brute(p, q, k, rule)
    assert found.tokens_per_pass == pytest.approx(tokens, rel=1e-9)
    assert found.pairs == pytest.approx(pairs, abs=1e-10)


def test_words_that_only_one_model_knows_are_no_obstacle() -> None:
    p, q = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]], [[0.0, 0.5, 0.5]] * 3
    made = language(".5,.5,0;0,.5,.5;1,0,0", "0,.5,.5")
    for rule in NAMES:
        found = exact(models_of(made), rule, 3)
        tokens, pairs = brute(p, q, 3, rule)
        assert found.tokens_per_pass == pytest.approx(tokens)
        assert found.pairs == pytest.approx(pairs, abs=1e-12)
    assert exact(models_of(made), "standard", 3).total_variation == pytest.approx(0, abs=1e-15)


def test_with_one_rate_tokens_per_pass_are_those_of_the_simulator() -> None:
    for k in (1, 3, 32):
        found = of_scene("4 words", "standard", k).tokens_per_pass
        assert found == pytest.approx(expected_tokens_per_pass([0.7] * k))


def test_rates_by_position_make_the_tokens_per_pass_and_one_rate_comes_out_as_one() -> None:
    for rule in ("standard", "replace-from-target", "bonus-from-draft", "stale-temperature"):
        for scene in SCENES:
            found = of_scene(scene, rule, 6)
            tokens = expected_tokens_per_pass(found.rates)
            assert tokens == pytest.approx(found.tokens_per_pass, abs=1e-4)
    assert of_scene("4 words", "standard", 6).rates == [0.7] * 6
    assert len(set(of_scene("3 words", "standard", 6).rates)) > 2
    never = exact(models_of(language("1,0", "0,1")), "standard", 3)
    assert never.rates == [0, 0, 0]


def test_models_that_agree_keep_every_draft_and_write_the_same_by_most_rules() -> None:
    same = language(".5,.5;.25,.75", ".5,.5;.25,.75")
    for rule in NAMES:
        found = exact(models_of(same), rule, 6)
        if rule not in ("argmax", "stale-temperature"):
            assert found.tokens_per_pass == pytest.approx(7)
            assert found.total_variation == pytest.approx(0, abs=1e-12)


def test_a_target_that_goes_round_in_circles_has_its_words_and_pairs() -> None:
    for k in (1, 2, 3):
        found = exact(models_of(language("0,1;1,0", "0,1;1,0")), "standard", k)
        assert found.words == pytest.approx([0.5, 0.5])
        assert found.pairs == pytest.approx(np.array([[0, 0.5], [0.5, 0]]))
        assert found.tokens_per_pass == pytest.approx(k + 1)


def test_a_target_whose_words_never_meet_is_refused_and_the_words_are_named() -> None:
    apart = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0, 0.1, 0.3, 0.6], [0, 0, 0, 1.0]])
    with pytest.raises(ValueError, match=r"target: .* \{1, 2\} and \{4\} for ever"):
        stationary_words(apart)
    passing = np.array([[0.5, 0.5, 0], [1, 0, 0], [0.1, 0.3, 0.6]])
    assert stationary_words(passing) == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-12)
    assert settled(np.array([0.25, 0.75]), np.eye(2)) == pytest.approx([0.25, 0.75])


def test_a_long_draft_over_many_words_is_still_exact() -> None:
    made = models_of(made_language(16, 0.5, 1, 2, 5))
    found = exact(made, "standard", 32)
    assert found.total_variation == pytest.approx(0, abs=1e-13)
    assert found.pairs.sum(axis=1) == pytest.approx(found.words, abs=1e-13)


def test_one_word_is_accepted_and_replaced_as_the_papers_say() -> None:
    p, q = np.array([0.5, 0.25, 0.15, 0.1]), np.array([0.2, 0.5, 0.2, 0.1])
    assert acceptance(p, q) == pytest.approx([1, 0.5, 0.75, 1])
    assert residual(p, q) == pytest.approx([1, 0, 0, 0])
    assert q * acceptance(p, q) + (1 - np.minimum(p, q).sum()) * residual(p, q) == pytest.approx(p)
    assert residual(p, p) == pytest.approx(p)
    none = np.array([0.0, 0.5, 0.3, 0.2])
    assert acceptance(none, q)[0] == 0
    assert acceptance(p, none)[0] == 1
    assert acceptance(np.array([p, none]), q).shape == residual(np.array([p, none]), q).shape


def test_a_uniform_never_stands_for_a_word_that_has_no_chance() -> None:
    row = np.array([0.0, 0.1, 0.0, 0.2, 0.7 - 1e-16, 0.0])
    last = np.nextafter(1.0, 0.0)
    uniforms = 0.0, 0.0999, 0.1001, 0.2999, 0.3001, last
    assert [drawn(row, uniform) for uniform in uniforms] == [1, 1, 3, 3, 4, 4]
    assert cumulated(row)[-2:].tolist() == [1, 1]
    many = np.array([row] * 64)
    at, ends = np.repeat(np.arange(64), 2), np.tile([0.0, last], 64)
    assert Inverse(many)(at, ends).tolist() == [1, 4] * 64
