"""Where things stand: all fits, and nothing jumps or scrolls sideways."""

from __future__ import annotations

from typing import Any

import pytest

from sim.params import PARAMETERS
from tests import browsers
from tests.driver import PageDriver

SCENES: list[dict[str, Any]] = [
    {},
    {"k": 32},
    {"k": 12, "alpha": 0.1, "c": 0.123},
    {"cache": False},
    {"evict": [60]},
    {"batch": 512, "knee": 7, "k": 32},
    {"rates": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]},
]


@pytest.mark.every_engine
def test_the_widget_fits_a_laptop_and_nothing_jumps(sized: PageDriver) -> None:
    boxes = (
        "return ['#board', '#legend', '#strip', '.transport', '.timeline', '#clock', '#sentence',"
        " '#controls'].map((s) => document.querySelector(s).getBoundingClientRect().top)"
    )
    tops = sized.run(boxes)
    for query in SCENES:
        for tick in (0, 1, 60, 61, 1200):
            sized.call("set", {**{row.key: None for row in PARAMETERS}, **query, "tick": tick})
            sized.frames(2)
            assert (
                sized.run("return document.querySelector('#widget').getBoundingClientRect().bottom")
                <= 720
            )
            assert sized.run(boxes) == tops, (query, tick)
            assert sized.run("return document.documentElement.scrollWidth") <= 1280


@pytest.mark.every_engine
def test_no_width_scrolls_sideways_or_jumps(sized: PageDriver) -> None:
    narrowest = 0
    for width in (1600, 1000, 768, 645, 520, 390, 360):
        browsers.resize(sized.driver, width, 800)
        sized.frames(4)
        if sized.run("return innerWidth") != width:  # the window cannot be made so narrow
            assert sized.engine != "chromium"
            break
        narrowest = width
        boxes = (
            "return ['#strip', '.transport', '.timeline', '#sentence', '#controls']"
            ".map((s) => document.querySelector(s).getBoundingClientRect().top + scrollY)"
        )
        sized.call("reset")
        sized.frames(2)
        tops = sized.run(boxes)
        for query in SCENES:
            sized.call("set", {**{row.key: None for row in PARAMETERS}, **query, "tick": 1200})
            sized.frames(2)
            assert sized.run("return document.documentElement.scrollWidth") <= width, query
            assert (
                sized.run("return document.querySelector('#board').getBoundingClientRect().right")
                <= width
            )
            assert sized.run(boxes) == tops, (width, query)
    assert 0 < narrowest <= 768


@pytest.mark.chromium_only("the pixel ratio cannot be set")
def test_on_a_phone_the_board_stays_in_view_while_controls_scroll(sized: PageDriver) -> None:
    browsers.resize(sized.driver, 390, 844, 3)
    sized.frames(4)
    sized.run("document.querySelector('#cache').scrollIntoView({block: 'end'})")
    sized.frames()
    top = sized.run("return document.querySelector('#board').getBoundingClientRect().top")
    assert 0 <= top < 60
    ratio = "const b = document.querySelector('#board'); return b.width / b.clientWidth"
    sized.until(lambda: sized.run(ratio) == pytest.approx(3, abs=0.02))


@pytest.mark.chromium_only("the window cannot be made so narrow")
@pytest.mark.parametrize("width", [320, 360, 640, 760, 1024, 1280])
def test_every_cell_of_a_pass_is_seen(page: PageDriver, width: int) -> None:
    try:
        browsers.resize(page.driver, width, 720)
        for k in (*range(1, 10), 12, 16, 17, 32):
            page.call("set", {"k": k, "alpha": 0.8, "tick": 3})
            page.frames(2)
            boxes = page.run(
                "const strip = document.querySelector('#strip');"
                "const { left, right, top, bottom } = strip.getBoundingClientRect();"
                "return [...strip.querySelectorAll('b')].map((cell) => {"
                "  const box = cell.getBoundingClientRect();"
                "  return [box.left - left + 1, right - box.right + 1, box.top - top + 1,"
                "    bottom - box.bottom + 1, box.width - 8]; })"
            )
            assert len(boxes) == k + 1
            assert min(map(min, boxes)) >= 0, (k, boxes)
    finally:
        browsers.resize(page.driver, 1280, 720)
