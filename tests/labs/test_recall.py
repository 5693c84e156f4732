"""Recall: the weakest cards come first, and whatever is remembered can be read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.host.claims import claims
from sim.labs.recall import CARDS, RATINGS, SELF_RATINGS, STRONGEST, Memory, read_memory
from tests.labs.cards import KEYS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*KEYS, "x"]), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(["strengths", "turns", "standing", "else"])


def test_there_are_enough_cards_and_their_figures_are_computed_ones() -> None:
    assert len(CARDS) == len(set(KEYS)) >= 10
    assert len(SELF_RATINGS) == 3
    said = claims()
    answers = {card.key: card.answer for card in CARDS}
    for name in ("second", "eighth", "ceiling"):
        assert said[name] in answers["ceiling"]
    assert said["accepted"] in answers["alpha"]


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(RATINGS))))
def test_the_weakest_come_first_and_all_come(ratings: list[tuple[str, str]]) -> None:
    memory = Memory()
    for key, rating in ratings:
        memory = memory.rated(key, rating)
    order = memory.order()
    assert sorted(order) == sorted(KEYS)
    strengths = [memory.strengths.get(key, 0) for key in order]
    assert strengths == sorted(strengths)
    assert max(strengths) <= STRONGEST
    if ratings and ratings[-1][1] == "again":
        assert memory.strengths[ratings[-1][0]] == 0
    assert read_memory(memory.write()) == memory


def test_a_card_that_was_easy_comes_after_one_that_was_hard_or_not_known() -> None:
    memory = Memory().rated(KEYS[0], "easy").rated(KEYS[1], "hard").rated(KEYS[2], "again")
    order = memory.order()
    assert order[-2:] == [KEYS[1], KEYS[0]]
    assert order.index(KEYS[3]) < order.index(KEYS[2]) < order.index(KEYS[1])
    assert memory.known == 1
    assert memory.rated(KEYS[0], "again").known == 0


@given(st.dictionaries(FIELDS, JSON) | JSON)
def test_nothing_that_a_device_may_hold_breaks_reading(held: object) -> None:
    memory = read_memory(json.dumps(held))
    assert read_memory(memory.write()) == memory
    assert set(memory.order()) == set(KEYS)


@pytest.mark.parametrize("text", [None, "", "{", "[]", "null", "\x00"])
def test_what_is_no_memory_is_an_empty_one(text: str | None) -> None:
    assert read_memory(text) == Memory()
