"""The cards on the page: a round, what is kept of it, and what stands in their place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sim.labs.recall import CARDS, read_memory
from tests import browsers
from tests.driver import PageDriver
from tests.faults import Serve, page_with
from tests.labs.cards import KEYS, asked, come, press


@pytest.fixture
def deck(shared: PageDriver) -> Iterator[PageDriver]:
    """The cards, with nothing remembered."""
    shared.open()
    shared.run("localStorage.clear()")
    come(shared)
    yield shared
    shared.run("localStorage.clear()")


def test_without_python_the_cards_can_be_read(shared: PageDriver) -> None:
    shared.open()
    shown = shared.run(
        "return [...document.querySelectorAll('#cards summary')].map((e) => e.textContent)"
    )
    assert shown == [card.question for card in CARDS]


@pytest.mark.every_engine
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


@pytest.mark.every_engine
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
