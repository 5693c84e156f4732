"""Canvases are drawn anew when what they hold is lost, or has another number of pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from sim.marks import LOOKS, PALETTES
from sim.params import SLOTS, Params
from sim.run import Run
from tests import browsers
from tests.driver import PageDriver
from tests.labs.charts import come
from tests.shown import close, pixels, rgb

BLANK = (
    "const c = document.querySelector(arguments[0]);"
    "c.getContext('2d').clearRect(0, 0, c.width, c.height)"
)
DENSITY = (
    "const c = document.querySelector(arguments[0]);"
    "return c.width / c.getBoundingClientRect().width"
)
MIDDLE = (
    "const canvas = document.querySelector('#chart-map canvas'), r = devicePixelRatio;"
    "const at = [canvas.width - 40 * r, canvas.height - 60 * r, 1, 1];"
    "return [...canvas.getContext('2d').getImageData(...at).data]"
)
EVENTS = {
    "restored": "document.querySelector('CANVAS').dispatchEvent(new Event('contextrestored'))",
    "seen again": "document.dispatchEvent(new Event('visibilitychange'))",
    "from the history": ("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"),
}


def bodies() -> list[tuple[int, int, int]]:
    """The colour of each slot's body at the opening scene, where it is filled."""
    palette = PALETTES["light"]
    looks = [LOOKS[state] for state in Run(Params()).slots(60)]
    found = [rgb(palette[look.colour if look.filled else "ground"]) for look in looks]
    return [(colour[0], colour[1], colour[2]) for colour in found]


def is_drawn(page: PageDriver) -> bool:
    """Whether every slot of the opening scene is on the board, but the hollow newest one."""
    newest = Run(Params()).slots(60).index("newest")
    seen = pixels(page, range(SLOTS), 0.2, 0.55)
    return all(
        close(pixel, body)
        for slot, (pixel, body) in enumerate(zip(seen, bodies(), strict=True))
        if slot != newest
    )


def is_blank(page: PageDriver) -> bool:
    return not any(map(any, pixels(page, range(SLOTS), 0.2, 0.55)))


OUT_OF_SIGHT = """
const [selector, done] = arguments;
new IntersectionObserver(([seen], own) => {
  if (!seen.isIntersecting) { own.disconnect(); done(); }
}, { rootMargin: "400px" }).observe(document.querySelector(selector));
"""
"""Wait until the page knows that an element is far: its own observer is older, so told first."""


def has_a_map(page: PageDriver) -> bool:
    return bool(page.run(MIDDLE)[3])


def has_density(page: PageDriver, selector: str, ratio: float) -> bool:
    return bool(page.run(DENSITY, selector) == pytest.approx(ratio, abs=0.02))


def points_at(page: PageDriver, slot: int) -> bool:
    return page.text("#slot-note").startswith((f"slot {slot},", f"slot {slot}:"))


@pytest.mark.every_engine
@pytest.mark.parametrize("happened", EVENTS)
def test_a_board_that_was_lost_is_drawn_whole(page: PageDriver, happened: str) -> None:
    page.call("set", {"theme": "light"})
    page.until(lambda: is_drawn(page))
    page.run(BLANK, "#board")
    page.frames()
    assert is_blank(page), "nothing else draws it"
    page.run(EVENTS[happened].replace("CANVAS", "#board"))
    page.until(lambda: is_drawn(page))


def test_a_map_that_was_lost_is_drawn_whole(shared: PageDriver) -> None:
    shared.open("?c=0.05&theme=light")
    come(shared, "map")
    before = shared.until(lambda: shared.run(MIDDLE)[3] and shared.run(MIDDLE))
    for event in EVENTS.values():
        shared.run(BLANK, "#chart-map canvas")
        shared.frames()
        assert shared.run(MIDDLE) == [0, 0, 0, 0], "nothing else draws it"
        shared.run(event.replace("CANVAS", "#chart-map canvas"))
        shared.until(lambda: shared.run(MIDDLE) == before)


def test_a_page_that_is_hidden_or_only_shown_first_draws_nothing_anew(page: PageDriver) -> None:
    page.run(BLANK, "#board")
    page.run("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: false}))")
    page.run("Object.defineProperty(document, 'hidden', {configurable: true, value: true})")
    try:
        page.run(EVENTS["seen again"])
        page.frames(5)
        assert is_blank(page)
    finally:
        page.run("delete document.hidden")
    page.run(EVENTS["seen again"])
    page.until(lambda: not is_blank(page))


def test_a_sheet_that_was_lost_is_drawn_anew(page: PageDriver) -> None:
    page.run(
        "window.made = []; const real = Document.prototype.createElement;"
        "document.createElement = function (...names) {"
        "  const element = real.apply(document, names);"
        "  if (names[0] === 'canvas') made.push(element);"
        "  return element; }"
    )
    try:
        page.run(EVENTS["seen again"])
        page.until(lambda: page.run("return made.length") == 1)
        page.run(
            "const c = made[0]; c.getContext('2d').clearRect(0, 0, c.width, c.height);"
            "c.dispatchEvent(new Event('contextrestored'))"
        )
        page.until(lambda: page.run("return made.length") == 2)
        page.frames()
        page.call("set", {"theme": "light"})
        page.until(lambda: is_drawn(page))
    finally:
        page.run("delete document.createElement")


@pytest.fixture
def dense(shared: PageDriver) -> Iterator[Callable[[float], None]]:
    """Gives what sets the device pixels of a CSS pixel, and nothing else."""
    yield lambda ratio: browsers.resize(shared.driver, 1280, 720, ratio)
    browsers.resize(shared.driver, 1280, 720, 1)


@pytest.mark.chromium_only("the pixel ratio cannot be set")
def test_the_board_is_sharp_again_after_each_change_of_the_pixel_ratio(
    page: PageDriver, dense: Callable[[float], None]
) -> None:
    for ratio in (2, 1, 1.5, 3, 1):
        dense(ratio)
        page.until(partial(has_density, page, "#board", ratio))
        page.call("set", {"theme": "light"})
        page.until(lambda: is_drawn(page))


@pytest.mark.chromium_only("the pixel ratio cannot be set")
def test_the_map_is_sharp_again_after_each_change_of_the_pixel_ratio(
    shared: PageDriver, dense: Callable[[float], None]
) -> None:
    shared.open("?c=0.05")
    come(shared, "map")
    for ratio in (2, 1, 3):
        dense(ratio)
        shared.until(partial(has_density, shared, "#chart-map canvas", ratio))
        shared.until(partial(has_a_map, shared))
    # Out of sight it waits until it is near again.
    shared.run("scrollTo(0, 0)")
    shared.driver.execute_async_script(OUT_OF_SIGHT, "#chart-map")
    dense(2)
    shared.until(partial(has_density, shared, "#board", 2))
    come(shared, "map")
    shared.until(partial(has_density, shared, "#chart-map canvas", 2))


@pytest.mark.chromium_only("the pixel ratio cannot be set")
@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_pointing_finds_each_slot_at_every_pixel_ratio(
    page: PageDriver, dense: Callable[[float], None], ratio: int
) -> None:
    dense(ratio)
    page.until(partial(has_density, page, "#board", ratio))
    for slot in (0, 15, 16, 31, 32, 271, 480, 496, 511):
        row, column = divmod(slot, 32)
        page.run(
            "const board = document.querySelector('#board'), r = board.getBoundingClientRect();"
            "const [x, y] = arguments[0];"
            "board.dispatchEvent(new PointerEvent('pointermove', {pointerType: 'mouse',"
            " clientX: r.left + x * r.width, clientY: r.top + y * r.height, bubbles: true}))",
            [((column + 0.5) / 32), (row + 0.5) / 16],
        )
        page.until(partial(points_at, page, slot))
        page.frames()
        around = page.run(
            "const b = document.querySelector('#board').getBoundingClientRect();"
            "const c = document.querySelector('#cursor').getBoundingClientRect();"
            "return [(c.left + c.width / 2 - b.left) / b.width,"
            " (c.top + c.height / 2 - b.top) / b.height, c.width / b.width]"
        )
        assert around[0] == pytest.approx((column + 0.5) / 32, abs=0.016), slot
        assert around[1] == pytest.approx((row + 0.5) / 16, abs=0.012), slot
        assert 0.02 < around[2] < 0.05, slot
