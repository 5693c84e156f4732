"""The text leads to its scenes and back, beside the simulator or above it, and onto paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl

import pytest
from selenium.webdriver.common.keys import Keys

from sim.labs.charts import CHARTS
from sim.labs.recall import CARDS
from tests import browsers
from tests.driver import PageDriver
from tests.shown import scene
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


@pytest.mark.every_engine
def test_a_link_of_the_text_sets_its_scene_and_leads_back(narrow: PageDriver) -> None:
    narrow.call("set", {"seed": 5, "c": 0.3})
    middle(narrow, UNCACHED)
    narrow.one(UNCACHED).click()
    narrow.until(lambda: narrow.state()["tick"] == 512)
    assert narrow.state() == scene({"speculation": "off", "cache": "off"}, 512)
    narrow.until(lambda: 0 <= narrow.run("return widget.getBoundingClientRect().top") < 720)
    assert narrow.run("return document.activeElement.dataset.action") == "play"
    narrow.until(lambda: "cache=off" in narrow.run("return location.search"))
    narrow.action("return")
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    narrow.until(lambda: 0 < narrow.run(top, UNCACHED) < 720)
    assert narrow.run("return document.activeElement.matches(arguments[0])", UNCACHED)
    assert not narrow.one("[data-action=return]").is_displayed()


def test_links_lead_to_what_they_are_about(narrow: PageDriver) -> None:
    browsers.resize(narrow.driver, 620, 500)
    narrow.frames()
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    middle(narrow, UNCACHED)
    with leaping(narrow) as led_to:
        narrow.one(UNCACHED).click()
        narrow.until(lambda: led_to() == [["positions_computed", "center"]])
    narrow.frames()
    assert 0 <= narrow.run(box, ".widget [data-metric=positions_computed]") < 480
    # Where a chart is the point, the reader stays with it.
    long = '.try[href*="k=8&alpha=0.7"]'
    middle(narrow, long)
    narrow.call("set", {"k": 3})
    with leaping(narrow) as led_to:
        narrow.one(long).click()
        narrow.until(lambda: led_to() == [["chart-length", "nearest"]])
    narrow.frames()
    assert narrow.state()["params"]["draft_length"] == 8
    assert -300 < narrow.run(box, "#chart-length") < 480
    assert narrow.run("return widget.getBoundingClientRect().bottom") < 0
    assert not narrow.one("#failure").is_displayed()


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
    assert len(before) == len(CHARTS) + len(CARDS) + 1
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(opened) == before
