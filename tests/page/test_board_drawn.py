"""The board in a real browser: its pixels, what is pointed at, and that only changes are drawn."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from sim.cache import PROPOSED
from sim.marks import LOOKS, PALETTES
from sim.params import Params
from sim.run import Run
from sim.settings import updated
from tests.driver import PageDriver
from tests.shown import close, distance, pixels, rgb


@pytest.mark.every_engine
def test_the_pixels_of_each_state_match_the_legend(page: PageDriver) -> None:
    for theme in ("light", "dark"):
        page.call("set", {"theme": theme})
        check_pixels(page, theme)
        page.call("reset")
    page.call("set", {"theme": None})


def check_pixels(page: PageDriver, theme: str) -> None:
    """Every state is on the board as the legend and the colours of this theme say."""
    palette = PALETTES[theme]
    seen = set()
    scenes: list[tuple[dict[str, Any], int]] = [
        *(({}, 60), ({}, 80), ({"evict": [90]}, 92), ({"speculation": "off", "evict": None}, 5)),
    ]
    for changes, tick in scenes:
        page.call("set", {"tick": tick, **changes})
        page.frames()
        slots = Run(updated(Params(), changes)[0]).slots(tick)
        for state in sorted(set(slots)):
            look = LOOKS[state]
            where = [slot for slot, shown in enumerate(slots) if shown == state]
            body = look.colour if look.filled else "ground"
            body_at = (0.2, 0.55) if look.filled else (0.5, 0.5)
            expected = rgb(palette[body])
            assert all(close(p, expected) for p in pixels(page, where, *body_at)), state
            if state in ("bonus", "plain", "rejected", "evicted"):
                on = rgb(palette["on"])
                for mark in pixels(page, where, 0.45, 0.5):
                    assert distance(mark, on) < distance(mark, expected) / 2, state
            seen.add(state)
        legend = page.run(
            "return Object.fromEntries([...document.querySelectorAll('#legend li')].map((li) =>"
            " [li.className, getComputedStyle(li.querySelector('svg').firstElementChild).fill]))"
        )
        for state, fill in legend.items():
            if state != "hollow" and LOOKS[state].filled:
                assert fill == "rgb({}, {}, {})".format(*rgb(palette[LOOKS[state].colour])), state
    assert seen == set(LOOKS) - {PROPOSED}  # which is of a moment


@pytest.mark.every_engine
def test_pointing_and_arrow_keys_say_what_a_slot_is(page: PageDriver) -> None:
    board = page.one("#board")
    size = board.size
    ActionChains(page.driver).move_to_element_with_offset(
        board, 5 - size["width"] // 2, 5 - size["height"] // 2
    ).perform()
    page.until(lambda: page.text("#slot-note").startswith("slot 0, position 0"))
    assert ": ordinary token; the prompt" in page.text("#slot-note")
    page.run("document.querySelector('#board').focus()")
    ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT * 3).perform()
    page.until(lambda: page.text("#slot-note").startswith("slot 3, position 3"))
    ActionChains(page.driver).send_keys(Keys.ARROW_DOWN, Keys.ARROW_LEFT).perform()
    page.until(lambda: page.text("#slot-note").startswith("slot 34, position 34"))
    assert page.one("#cursor").is_displayed()


@pytest.mark.chromium_only("what the page calls cannot be replaced from outside")
def test_only_changed_cells_are_drawn(page: PageDriver) -> None:
    page.run(
        "const c = document.querySelector('#board').getContext('2d'); window.drawn = 0;"
        "const real = c.drawImage.bind(c);"
        "c.drawImage = (...values) => { drawn += 1; return real(...values); }"
    )
    page.call("seek", 61)
    page.frames()
    changed = page.run("return drawn")
    page.frames(5)
    assert page.run("return drawn") == changed
    assert 1 <= changed <= 8
    page.run("delete document.querySelector('#board').getContext('2d').drawImage")
