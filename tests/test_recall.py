"""Recall: the weakest cards come first, and what is remembered stays on the device."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.host.claims import claims
from sim.labs.recall import CARDS, RATINGS, SELF_RATINGS, STRONGEST, Memory, read_memory
from tests import browsers
from tests.conftest import PageDriver
from tests.test_failures import Serve, faulty, page_with

__all__ = ["faulty"]

KEYS = [card.key for card in CARDS]
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


# The page


@pytest.fixture
def deck(shared: PageDriver) -> Iterator[PageDriver]:
    """The cards, with nothing remembered."""
    shared.open()
    shared.run("localStorage.clear()")
    come(shared)
    yield shared
    shared.run("localStorage.clear()")


def come(page: PageDriver) -> None:
    page.run("document.querySelector('#recall').scrollIntoView()")
    page.until(lambda: page.one("#deck").is_displayed())


def press(page: PageDriver, name: str) -> None:
    button = page.one(f"[data-recall={name}]")
    page.run("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()


def asked(page: PageDriver) -> str:
    return page.text("#deck-question")


def test_without_python_the_cards_can_be_read(shared: PageDriver) -> None:
    shared.open()
    shown = shared.run(
        "return [...document.querySelectorAll('#cards summary')].map((e) => e.textContent)"
    )
    assert shown == [card.question for card in CARDS]


def test_a_round_goes_through_all_cards_and_repeats_what_was_not_known(deck: PageDriver) -> None:
    assert asked(deck) == CARDS[0].question
    assert not deck.one("#deck-answer").is_displayed()
    assert not deck.one("[data-recall=easy]").is_displayed()
    for index, card in enumerate(CARDS):
        assert asked(deck) == card.question
        press(deck, "reveal")
        assert deck.text("#deck-answer") == card.answer.replace("**", "")
        press(deck, "again" if index == 2 else "easy")
    assert asked(deck) == CARDS[2].question
    press(deck, "reveal")
    press(deck, "hard")
    assert "all for now" in asked(deck)
    assert deck.text("#deck-count") == f"{len(CARDS) - 1} of {len(CARDS)} known"
    press(deck, "reveal")
    assert asked(deck) == CARDS[2].question


def test_what_was_weak_comes_first_on_return_and_can_be_erased(deck: PageDriver) -> None:
    for _ in range(3):
        press(deck, "reveal")
        press(deck, "easy")
    press(deck, "reveal")
    press(deck, "again")
    deck.run("document.querySelectorAll('[name=standing]')[1].click()")
    assert "on this device" in deck.text("#deck-kept")
    deck.open()
    come(deck)
    assert asked(deck) == CARDS[4].question
    assert deck.run("return document.querySelector('[name=standing]:checked').value") == "1"
    held = read_memory(deck.run("return localStorage.getItem('bonus-token-recall')"))
    assert held.order()[-3:] == [KEYS[0], KEYS[1], KEYS[2]]
    assert (held.standing, held.known) == (1, 3)
    press(deck, "erase")
    assert asked(deck) == CARDS[4].question, "one press erases nothing"
    press(deck, "erase")
    assert asked(deck) == CARDS[0].question
    assert deck.run("return localStorage.length") == 0
    assert deck.run("return document.querySelector('[name=standing]:checked')") is None


def test_it_works_for_the_visit_where_storage_is_blocked(faulty: Serve) -> None:
    denied = (
        "Object.defineProperty(window, 'localStorage',"
        " {get() { throw new DOMException('denied', 'SecurityError') }})"
    )
    page = faulty(page_with(denied))
    page.open()
    come(page)
    press(page, "reveal")
    press(page, "easy")
    assert asked(page) == CARDS[1].question
    assert "storage is blocked" in page.text("#deck-kept")
    assert page.run("return document.documentElement.dataset.state") == "ready"


def test_a_frame_has_no_cards(shared: PageDriver) -> None:
    shared.open("?embed=1")
    shared.frames(5)
    assert not shared.one("#recall").is_displayed()
    assert browsers.until_settled(shared.driver) == "ready"
