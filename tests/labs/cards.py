"""The cards of the page, and how a reader goes through them."""

from __future__ import annotations

from sim.labs.recall import CARDS
from tests.driver import PageDriver

KEYS = [card.key for card in CARDS]


def come(page: PageDriver) -> None:
    page.run("document.querySelector('#recall').scrollIntoView()")
    page.until(lambda: page.one("#deck").is_displayed())


def press(page: PageDriver, name: str) -> None:
    button = page.one(f"[data-recall={name}]")
    page.until(button.is_displayed)
    page.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)


def asked(page: PageDriver) -> str:
    return page.text("#deck-question")
