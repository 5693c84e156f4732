"""The simulator on a slide: it fits, and a click into it leaves the slides their keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from sim.params import Params
from sim.view import View
from tests.course import Notes, document, element, pages, snippet
from tests.driver import PageDriver
from tests.node import PACKAGES, need

REVEAL = "reveal.js/dist"

START = "<script>Reveal.initialize({ controls: false, transition: 'none' })</script>"


def slides(*held: str) -> dict[str, str]:
    """A deck with each of these on a slide of its own, and the real files that show it."""
    dist: Path = PACKAGES / REVEAL
    shown = "".join(f"<section>{one}</section>" for one in held)
    head = (
        f"<style>{(dist / 'reset.css').read_text()}{(dist / 'reveal.css').read_text()}</style>"
        f"<script>{(dist / 'reveal.js').read_text()}</script>"
    )
    deck = f'<div class="reveal"><div class="slides">{shown}</div></div>{START}'
    return {"/": document(deck, head)}


def index(notes: Notes) -> int:
    return int(notes.run("return Reveal.getIndices().h"))


def press(page: PageDriver, key: str) -> None:
    ActionChains(page.driver).send_keys(key).perform()


@pytest.mark.every_engine
def test_a_click_into_the_simulator_leaves_the_slides_their_keys(
    shared: PageDriver, simulator: str
) -> None:
    need("reveal.js")
    low = snippet("slides", simulator, Params(), View())
    with pages(slides("<p>Before.</p>", low, "<p>After.</p>")) as address:
        notes = Notes(shared, address)
        notes.run("Reveal.slide(1)")
        with notes.inside() as page:
            # All of it is seen, on a slide of the usual 960 by 700.
            room = page.run("return [document.documentElement.scrollHeight, innerHeight]")
            assert room[0] <= room[1] == 600
            assert page.one("[data-action=evict]").is_displayed()
            page.one("[name=k]").click()
            length = page.state()["params"]["draft_length"]
            press(page, Keys.PAGE_DOWN)
        shared.until(lambda: index(notes) == 2)
        assert [one["key"] for one in notes.heard("key")] == ["PageDown"]
        notes.run("Reveal.slide(1)")
        with notes.inside() as page:
            assert page.state()["params"]["draft_length"] == length, "no slider moved"
            page.one("[name=k]").click()
            press(page, Keys.PAGE_UP)
        shared.until(lambda: index(notes) == 0)
        notes.run("Reveal.slide(1)")
        with notes.inside() as page:
            page.one("[name=k]").click()
            press(page, Keys.ESCAPE)
            page.until(lambda: page.run("return document.activeElement === document.body"))
        shared.until(lambda: notes.run("return document.activeElement === document.body"))
        assert index(notes) == 1
        press(shared, Keys.ARROW_RIGHT)
        shared.until(lambda: index(notes) == 2)


def test_escape_leaves_an_element_too(shared: PageDriver, simulator: str) -> None:
    held = element(simulator, 'id="a" show="board,controls">')
    with pages({"/": document(held)}) as address:
        notes = Notes(shared, address)
        notes.start("a")
        with notes.inside("a") as page:
            page.one("[name=k]").click()
            assert page.driver.find_element(By.CSS_SELECTOR, "[name=k]").is_enabled()
            press(page, Keys.ESCAPE)
        shared.until(lambda: notes.run("return document.activeElement === document.body"))
        assert notes.heard("key")[-1]["key"] == "Escape"
