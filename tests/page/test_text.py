"""The text leads to its scenes and back, beside the simulator or above it, and onto paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

import pytest
from selenium.webdriver.common.keys import Keys

from sim.labs.charts import CHARTS
from sim.labs.recall import CARDS
from sim.marks import PALETTES
from tests import browsers
from tests.driver import PageDriver
from tests.shown import on_paper, scene, words_of
from tests.sources import SCENES, UNCACHED


@pytest.fixture
def narrow(page: PageDriver) -> Iterator[PageDriver]:
    """The page where there is no room beside the text."""
    browsers.resize(page.driver, 1000, 720)
    page.frames()
    yield page
    browsers.resize(page.driver, 1280, 720)


def middle(page: PageDriver, selector: str) -> None:
    """Scroll an element to the middle of the window."""
    page.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
    page.frames(4)


@contextmanager
def leaping(page: PageDriver) -> Iterator[Callable[[], list[list[str]]]]:
    """Let the page scroll at once, for a slow scroll has no end to wait for; gives where to."""
    page.run(
        "window.ledTo = []; window.scrolls = Element.prototype.scrollIntoView;"
        "Element.prototype.scrollIntoView = function (asked) {"
        "  if (asked?.behavior !== 'smooth') return scrolls.call(this, asked);"
        "  ledTo.push([this.dataset.metric || this.id, asked.block]);"
        "  scrolls.call(this, { ...asked, behavior: 'instant' }); }"
    )
    try:
        yield lambda: list(page.run("return ledTo"))
    finally:
        page.run("Element.prototype.scrollIntoView = scrolls")


def box(page: PageDriver, selector: str) -> tuple[float, float]:
    """Where the upper and the lower edge of an element are in the window."""
    top, bottom = page.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.top, box.bottom]",
        selector,
    )
    return top, bottom


def at_the_end(page: PageDriver) -> bool:
    """Scroll to the end of the page, which labs that come near move on; whether it is there."""
    page.run("scrollTo(0, document.documentElement.scrollHeight)")
    return bool(
        page.run("return scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
    )


def marked(page: PageDriver) -> set[str]:
    """What is marked and can be seen."""
    return set(
        page.run(
            "return [...document.querySelectorAll('.widget .marked')]"
            "  .filter((one) => one.checkVisibility())"
            "  .map((one) => one.dataset.control || one.dataset.metric || one.id)"
        )
    )


OPEN = "return document.documentElement.matches('.peeking')"


@pytest.mark.every_engine
def test_a_link_of_the_text_brings_its_scene_to_the_reader(narrow: PageDriver) -> None:
    narrow.call("set", {"seed": 5, "c": 0.3})
    middle(narrow, UNCACHED)
    before = narrow.run("return scrollY")
    narrow.one(UNCACHED).click()
    narrow.until(lambda: narrow.state()["tick"] == 512)
    assert narrow.state() == scene({"speculation": "off", "cache": "off"}, 512)
    narrow.frames()
    for selector in ("#board", "#clock", "#sentence", ".widget [data-metric=positions_computed]"):
        top, bottom = box(narrow, selector)
        assert 200 < top < bottom <= 720, selector
    assert marked(narrow) == {"positions_computed"}
    # The reader is where they were, and can read on to the end above the panel.
    y = narrow.run("return scrollY")
    assert y == before
    assert box(narrow, UNCACHED)[1] < box(narrow, "#widget")[0]
    narrow.until(
        lambda: at_the_end(narrow) and box(narrow, "#text")[1] < box(narrow, "#widget")[0] + 1
    )
    narrow.run("scrollTo(0, arguments[0])", y)
    narrow.until(lambda: "cache=off" in narrow.run("return location.search"))
    narrow.action("return")
    assert not narrow.run(OPEN)
    assert not narrow.one("[data-action=return]").is_displayed()
    assert narrow.run("return document.activeElement.matches(arguments[0])", UNCACHED)
    assert abs(narrow.run("return scrollY") - y) < 60
    assert narrow.run("return getComputedStyle(widget).position") == "static"


def test_who_goes_back_up_has_the_simulator_in_its_place(narrow: PageDriver) -> None:
    middle(narrow, UNCACHED)
    narrow.one(UNCACHED).click()
    narrow.until(lambda: narrow.run(OPEN))
    narrow.run("scrollTo(0, 0)")
    narrow.until(lambda: not narrow.run(OPEN))
    assert 0 < box(narrow, "#widget")[0] < 100


@pytest.mark.chromium_only("the window cannot be made so narrow")
def test_on_a_phone_the_board_with_its_verdict_is_there_after_every_link(
    narrow: PageDriver,
) -> None:
    browsers.resize(narrow.driver, 390, 844)
    narrow.frames()
    with leaping(narrow) as led_to:
        for query in ("k=12&amp;alpha=0.4&amp;tick=600", "evict=134&amp;tick=134"):
            link = f".try[href='./?{query.replace('&amp;', '&')}']"
            middle(narrow, link)
            y = narrow.run("return scrollY")
            narrow.run("document.querySelector(arguments[0]).click()", link)
            narrow.frames(4)
            for selector in ("#board", "#clock", ".clock-part .speedup", "#sentence"):
                top, bottom = box(narrow, selector)
                assert 300 < top < bottom <= 844, selector
            assert box(narrow, link)[1] <= box(narrow, "#widget")[0]
            assert abs(narrow.run("return scrollY") - y) < 844
        # Where a chart is the point, it is above a panel that is low.
        long = '.try[href*="k=8&alpha=0.7"]'
        middle(narrow, long)
        narrow.run("document.querySelector(arguments[0]).click()", long)
        narrow.frames(4)
        assert led_to()[-1] == ["chart-length", "nearest"]
    assert narrow.state()["params"]["draft_length"] == 8
    assert not narrow.one("#board").is_displayed()
    assert narrow.one("#clock").is_displayed()
    assert marked(narrow) == {"tokens_per_pass"}
    assert box(narrow, "#chart-length .drawing")[1] <= box(narrow, "#widget")[0]
    assert not narrow.one("#failure").is_displayed()


def test_beside_the_text_what_moved_is_marked_until_the_next_action(page: PageDriver) -> None:
    middle(page, UNCACHED)
    page.until(lambda: page.run("return document.documentElement.matches('.reading')"))
    page.one(UNCACHED).click()
    assert marked(page) == {"speculation", "cache", "positions_computed"}
    for selector in ("[data-control=cache]", ".widget [data-metric=positions_computed]"):
        top, bottom = box(page, selector)
        assert 0 < top < bottom <= 720, selector
    page.one('.try[href="./?speculation=off&tick=512"]').click()
    assert marked(page) == {"cache", "positions_computed"}
    page.one("[name=cache]").click()  # it stays where it is pressed, and does what it says
    assert page.state()["params"]["kv_cache"] is False
    assert marked(page) == set()
    assert page.one("[name=cache]").is_displayed()
    page.action("step")
    assert marked(page) == set()
    page.one('.try[href*="k=8&alpha=0.6"]').click()
    assert marked(page) == {"speculation", "cache", "k", "alpha", "caption"}
    page.call("seek", 9)
    assert marked(page) == set()


def test_a_link_to_the_scene_that_is_shown_says_so(page: PageDriver) -> None:
    here = "return [...document.querySelectorAll('.try[aria-current]')].map((one) => one.search)"
    assert page.run(here) == []
    page.call("set", {"k": 12, "alpha": 0.4, "tick": 600})
    page.until(lambda: set(page.run(here)) == {"?k=12&alpha=0.4&tick=600"})
    with page.clock() as passes:
        page.call("play")
        assert page.run(here) == []
        passes(1)
        page.call("pause")
    assert page.run(here) == []
    middle(page, UNCACHED)
    page.one(UNCACHED).click()
    assert page.run(here) == ["?speculation=off&cache=off&tick=512"]
    page.call("set", {"ask": "tokens"})
    assert page.run(here) == []


def test_a_wide_page_goes_to_where_the_simulator_is_beside_the_text(page: PageDriver) -> None:
    first = '.try[href="./?k=12"]'
    with leaping(page) as led_to:
        middle(page, first)
        assert not page.run("return document.documentElement.matches('.reading')")
        page.run("document.querySelector(arguments[0]).click()", first)
        page.until(lambda: led_to() == [["text", "start"]])
        page.until(lambda: page.run("return document.documentElement.matches('.reading')"))
        page.frames()
    assert marked(page) == {"speedup", "k"}
    assert 0 < box(page, first)[0] < 720


@pytest.mark.every_engine
def test_who_reads_on_has_the_simulator_beside_the_text(page: PageDriver) -> None:
    page.run("scrollTo(0, 0)")
    page.frames(4)
    height = page.run("return document.documentElement.scrollHeight")
    middle(page, UNCACHED)
    page.until(lambda: page.run("return document.documentElement.matches('.reading')"))
    page.frames(4)
    before = page.run("return scrollY")
    with leaping(page) as led_to:
        page.one(UNCACHED).click()
        page.until(lambda: page.state()["tick"] == 512)
        assert led_to() == []
    page.frames()
    assert page.run("return scrollY") == before
    assert abs(page.run("return document.documentElement.scrollHeight") - height) <= 1  # rounding
    for selector in ("#board", "#strip", ".big", "[data-action=evict]", "[name=tick]"):
        box = page.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "const text = document.querySelector('#text').getBoundingClientRect();"
            "return [box.top, innerHeight - box.bottom, box.left - text.right,"
            " innerWidth - box.right]",
            selector,
        )
        assert min(box) >= 0, (selector, box)
    assert not page.one(".advanced").is_displayed()
    assert not page.one("[data-action=return]").is_displayed()
    page.run("scrollTo(0, 0)")
    page.until(lambda: page.one(".advanced").is_displayed())
    assert abs(page.run("return document.documentElement.scrollHeight") - height) <= 1  # rounding


@pytest.mark.chromium_only("the window cannot be made so high")
@pytest.mark.parametrize(("height", "keys"), [(720, ["k", "alpha"]), (950, ["speculation", "c"])])
def test_a_higher_window_has_the_sliders_beside_the_text_too(
    page: PageDriver, height: int, keys: list[str]
) -> None:
    try:
        browsers.resize(page.driver, 1280, height)
        middle(page, UNCACHED)
        page.until(lambda: page.run("return document.documentElement.matches('.reading')"))
        page.run("document.querySelector('.advanced').open = true")
        page.frames(4)
        for key in keys:
            control = page.one(f"[name={key}]")
            assert control.is_displayed()
            bottom = "return arguments[0].getBoundingClientRect().bottom"
            assert page.run(bottom, control) <= page.run("return innerHeight")
        page.one(f"[name={keys[0]}]").send_keys(" " if keys[0] == "speculation" else Keys.RIGHT)
        page.until(lambda: page.state()["params"] != scene({}, 60)["params"])
    finally:
        browsers.resize(page.driver, 1280, 720)


def test_every_link_of_the_text_works(page: PageDriver) -> None:
    for query in SCENES:
        page.run(
            "document.querySelector(`.try[href='./?${arguments[0]}']`).click()",
            query.replace("&amp;", "&"),
        )
        keys = dict(parse_qsl(query.replace("&amp;", "&")))
        tick = int(keys.pop("tick", 60))
        keys.pop("speed", None)
        assert page.state() == scene(keys, tick), query
    assert not page.one("#notice").is_displayed()


@pytest.mark.every_engine
def test_paper_has_what_is_folded_and_the_screen_has_it_folded_again(page: PageDriver) -> None:
    page.run("document.querySelector('#chart-luck details').open = true")
    opened = "return [...document.querySelectorAll('#text details')].map((d) => d.open)"
    before = page.run(opened)
    assert before.count(True) == 1
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert all(page.run(opened))
    assert len(before) > len(CHARTS) + len(CARDS)  # labs have theirs
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(opened) == before


@pytest.mark.every_engine
def test_print_shows_board_numbers_settings_and_link(shared: PageDriver) -> None:
    if shared.engine == "webkit":
        pytest.skip("webkit: its driver does not print")
    shared.open("?k=7&evict=50&tick=52&theme=dark&seed=5")
    shared.call("step", 1)
    shared.frames()
    shared.until(lambda: "tick=53" in shared.run("return location.search"))
    page = on_paper(shared)
    text = words_of(page)
    now = scene({"k": 7, "evict": [50], "seed": 5}, 53)
    for word in (
        f"KV cache {now['cached']} / 512",
        "draft length 7",
        "seed 5",
        "evictions 50",
        str(now["positions_computed"]),
        "?k=7",
        "evict=50",
        "tick=53",
    ):
        assert word.replace(" ", "") in text, word
    assert "notloaded" not in text
    red = [int(PALETTES["light"]["evicted"][i : i + 2], 16) / 255 for i in (1, 3, 5)]
    content = page.get_contents()
    assert content is not None
    drawn = content.get_data().decode("latin1")
    fills = [tuple(map(float, found)) for found in re.findall(r"(\S+) (\S+) (\S+) rg", drawn)]
    assert any(fill == pytest.approx(red, abs=0.002) for fill in fills)
    assert list(page.images) == []  # the board is drawn, not photographed
