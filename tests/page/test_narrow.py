"""Narrow windows and fingers: no page scrolls sideways, and no field makes a phone zoom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sim.labs import ALONE
from sim.view import PARTS
from tests import browsers
from tests.course import document, pages
from tests.driver import PageDriver
from tests.faults import WASM, Held, Serve
from tests.labs.cards import come as come_to_cards
from tests.labs.charts import NEAR, come
from tests.shown import touches
from tests.sources import UNCACHED

OUTSIDE = """
const width = innerWidth, page = document.documentElement.scrollWidth, found = [];
if (page > width) found.push(`page ${page}`);
for (const box of document.querySelectorAll('dialog[open]')) {
  if (box.scrollWidth > box.clientWidth) found.push(`dialog ${box.scrollWidth}`);
}
// What scrolls in a box of its own may reach further; the widget only clips.
const scrolls = (box) => ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
const inside = (e) => {
  for (let box = e.parentElement; box; box = box.parentElement) {
    if (scrolls(box) && box.tagName !== 'DIALOG') return true;
  }
};
const kinds = 'button, input, select, textarea, summary, #board, b, .sentence';
for (const e of document.querySelectorAll(kinds)) {
  const { left, right } = e.getBoundingClientRect();
  const seen = e.checkVisibility({ checkVisibilityCSS: true }) && !e.closest('.sr-only');
  if (seen && (right > width + 1 || left < -1) && !inside(e)) found.push(e.outerHTML.slice(0, 90));
}
return found;
"""


def fold_out(page: PageDriver) -> None:
    page.run("for (const one of document.querySelectorAll('details')) one.open = true")


def draw(page: PageDriver) -> None:
    page.call("set", {"show": None})
    for name in NEAR:
        come(page, name)


def reveal(page: PageDriver) -> None:
    come_to_cards(page)
    page.run("document.querySelector('[data-recall=reveal]').click()")
    page.run("document.querySelector('#deck-kept').textContent = `“${'long'.repeat(40)}” is none`")


def share(page: PageDriver) -> None:
    page.run("document.querySelector('[data-action=share]').click()")
    page.until(lambda: page.run("return document.querySelector('dialog[open] .saves')"))


def close(page: PageDriver) -> None:
    page.run("document.querySelector('dialog').close()")


def tell(page: PageDriver) -> None:
    page.run("document.querySelector('[data-story=\"4\"]').click()")
    page.run("document.querySelector('[data-action=skip]').click()")


def compare(page: PageDriver) -> None:
    page.call("set", {"ask": None, "k": 6, "batch": None, "tick": 60})
    page.frames()
    page.run("document.querySelector('[data-action=keep]').click()")
    page.run("document.querySelector('[data-draft=\"1\"]').click()")


def part_with(page: PageDriver) -> None:
    for name in ("unkeep", "unghost"):
        page.run("document.querySelector(`[data-action=${arguments[0]}]`).click()", name)


def setting(**values: object) -> Callable[[PageDriver], None]:
    return lambda page: page.call("set", values)


STATES: dict[str, Callable[[PageDriver], None]] = {
    "ready": lambda page: None,
    "long": setting(k=32, alpha=0.123, c=0.123, batch=512, tick=1200),
    "each rate": setting(k=6, rates=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4]),
    "evicted": lambda page: page.call("evict"),
    "uncached": setting(cache=False, rates=None),
    "folded out": fold_out,
    "mended": setting(k=99, alpha="much" * 20),
    "recalled": reveal,
    "shared": share,
    "closed": close,
    "led": lambda page: page.run("document.querySelector(arguments[0]).click()", UNCACHED),
    "back": lambda page: page.run("document.querySelector('[data-action=return]').click()"),
    "asked": setting(ask="speedup"),
    "not asked": setting(ask=None),
    "told": tell,
    "compared": compare,
    "no longer": part_with,
    **{f"{lab} alone": setting(lab=lab) for lab in ALONE},
    "whole": setting(lab=None),
    **{part: setting(show=part) for part in PARTS},
    "two": setting(show="board,controls"),
    "drawn": draw,
    "embedded": setting(show=",".join(PARTS), embed=True),
}
"""What is done one after the other on one page; each must fit. The charts come late, for from then
on every width draws them anew."""


WINDOW = pytest.mark.chromium_only("other engines' windows cannot be made so narrow")


@contextmanager
def as_wide_as(page: PageDriver, width: int) -> Iterator[None]:
    """The page in a window of this width."""
    try:
        browsers.resize(page.driver, width, 740)
        page.open(wait=False)
        yield
    finally:
        browsers.resize(page.driver, 1280, 720)


WIDTHS = (160, 240, 320, 360, 400, 640, 899, 1000, 1240, 1920)
SOME_WIDTHS = (160, 360, 640, 1000)
AT_EACH_WIDTH = ("ready", "long", "folded out", "recalled", "compared", "drawn", "embedded")
"""States in which all is there that the others have only a part of."""


@WINDOW
def test_nothing_scrolls_sideways_while_it_loads(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    with as_wide_as(page, 160):
        page.until(lambda: page.driver.find_elements("css selector", "#left-out + details"))
        for width in (160, 240, 360):
            browsers.resize(page.driver, width, 740)
            page.frames(2)
            assert page.run("return innerWidth") == width
            assert page.run(OUTSIDE) == [], width
        assert page.run("return document.documentElement.dataset.state") == "loading"
        wasm.let_go()


@WINDOW
def test_nothing_scrolls_sideways_at_any_width(shared: PageDriver) -> None:
    with as_wide_as(shared, WIDTHS[0]):
        assert browsers.until_settled(shared.driver) == "ready"
        for state, reach in STATES.items():
            reach(shared)
            outside = {}
            for width in WIDTHS if state in AT_EACH_WIDTH else SOME_WIDTHS:
                browsers.resize(shared.driver, width, 740)
                shared.frames(2)
                assert shared.run("return innerWidth") == width
                outside[width] = shared.run(OUTSIDE)
            assert not any(outside.values()), (state, outside)


FRAME = '<iframe id="narrow" height="740" style="border: 0" src="{}"></iframe>'


@pytest.fixture
def framed(shared: PageDriver) -> Iterator[Callable[[int], None]]:
    """The page in a frame that can be given any width, which not every engine's window can."""
    with pages({"/": document(FRAME.format(shared.address))}) as host:
        shared.driver.get(host)

        def widen(width: int) -> None:
            shared.driver.switch_to.default_content()
            shared.run("document.querySelector('#narrow').width = arguments[0]", width)
            shared.driver.switch_to.frame(0)
            shared.until(lambda: shared.run("return innerWidth") == width)
            shared.frames(2)

        widen(WIDTHS[0])
        assert browsers.until_settled(shared.driver) == "ready"
        yield widen
        shared.driver.switch_to.default_content()
        shared.driver.get("about:blank")


@pytest.mark.every_engine
def test_in_a_narrow_frame_nothing_scrolls_sideways_and_fields_are_seen_whole(
    shared: PageDriver, framed: Callable[[int], None]
) -> None:
    for state, reach in STATES.items():
        reach(shared)
        for width in (160, 200, 360):
            framed(width)
            assert shared.run(OUTSIDE) == [], (state, width)
        if state == "folded out":
            shared.call("set", LONGEST)
            for width in (360, 390):
                framed(width)
                assert cut_short(shared) == [], width


LONGEST = {"k": 32, "alpha": 0.123, "c": 0.123, "batch": 512, "knee": 4096, "chunk": 512}
"""Values as long as they get."""


def cut_short(page: PageDriver) -> list[str]:
    """Fields that are shown and have less room than what they hold; there are some at all."""
    fields = page.run(
        "const pen = document.createElement('canvas').getContext('2d');"
        "return [...document.querySelectorAll('[data-number]')].map((field) => {"
        "  const style = getComputedStyle(field);"
        "  pen.font = `${style.fontSize} ${style.fontFamily}`;"
        "  const room = ['paddingLeft', 'paddingRight', 'borderLeftWidth', 'borderRightWidth']"
        "    .reduce((left, side) => left - parseFloat(style[side]), field.offsetWidth);"
        "  const { number } = field.dataset;"
        "  return [number, number !== 'seed' && pen.measureText(field.value).width > room];"
        "})"
    )
    assert {key for key, _ in fields} >= set(LONGEST)
    return [key for key, cut in fields if cut]


SIZES = (
    "return [...document.querySelectorAll('input, select, textarea')]"
    ".filter((e) => !['range', 'checkbox', 'radio', 'file'].includes(e.type))"
    ".map((e) => [e.outerHTML.slice(0, 60), parseFloat(getComputedStyle(e).fontSize)])"
)


def too_small(page: PageDriver) -> list[str]:
    """Fields at which a phone would enlarge the page; there are some fields at all."""
    fields = page.run(SIZES)
    assert len(fields) >= 12
    return [field for field, size in fields if size < 16]


@WINDOW
def test_no_field_on_a_phone_makes_it_zoom(shared: PageDriver) -> None:
    with as_wide_as(shared, 360):
        assert browsers.until_settled(shared.driver) == "ready"
        shared.call("set", {"ask": "speedup"})
        share(shared)
        for width in (360, 600):
            browsers.resize(shared.driver, width, 740)
            shared.frames(2)
            assert too_small(shared) == [], width


@pytest.mark.chromium_only("it alone has a touch screen")
@pytest.mark.parametrize("size", [(820, 1180), (1280, 720)])
def test_no_field_on_a_tablet_makes_it_zoom_and_the_widget_still_fits(
    page: PageDriver, size: tuple[int, int]
) -> None:
    try:
        touches(page, True)
        browsers.resize(page.driver, *size)
        page.until(lambda: page.run("return matchMedia('(any-pointer: coarse)').matches"))
        if size == (1280, 720):
            bottom = "return document.querySelector('#widget').getBoundingClientRect().bottom"
            assert page.run(bottom) <= 720
        page.call("set", {"ask": "speedup"})
        share(page)
        assert too_small(page) == []
        assert page.run(OUTSIDE) == []
    finally:
        close(page)
        page.call("set", {"ask": None})
        touches(page, False)
        browsers.resize(page.driver, 1280, 720)
