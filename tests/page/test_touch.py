"""Fingers: a touch that scrolls the page changes nothing, one that drags or taps does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput

from tests import browsers
from tests.course import document, pages
from tests.driver import PageDriver
from tests.faults import WASM, Held, Serve
from tests.labs.charts import come
from tests.shown import touches

WHY = "its driver's touches do not scroll a page"
MOVES = 12
"""Touches between the first and the last of a gesture."""

SLIDERS = ["k", "alpha", "c", "batch", "speed", "tick"]
WATCH = """
if (window.told) { told.length = 0; return; }
window.told = [];
for (const kind of ["input", "pointercancel", "touchend"]) {
  addEventListener(kind, (event) => told.push([kind, event.target.name ?? event.target.id]));
}
"""


@pytest.fixture
def phone(page: PageDriver) -> Iterator[PageDriver]:
    """The page on a phone with a touch screen; Chromium alone has one."""
    assert isinstance(page.driver, webdriver.Chrome)
    touches(page, True)
    browsers.resize(page.driver, 390, 844, 2)
    page.until(lambda: page.run("return matchMedia('(pointer: coarse)').matches"))
    page.run("document.querySelector('.advanced').open = true")
    page.run(WATCH)
    yield page
    page.driver.switch_to.default_content()
    touches(page, False)
    browsers.resize(page.driver, 1280, 720)


def bring(page: PageDriver, selector: str) -> tuple[float, float, float, float]:
    """Scroll the element to the middle of the window; gives its left, top, width, height."""
    page.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
    page.frames(2)
    found = page.run(
        "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [r.left, r.top, r.width, r.height]",
        selector,
    )
    return found[0], found[1], found[2], found[3]


def gesture(page: PageDriver, selector: str, x: float = 0, y: float = 0, at: float = 0.75) -> None:
    """Put a finger on the element, at this share of its width, and move it by so many pixels."""
    left, top, width, height = bring(page, selector)
    finger(page, left + at * width, top + height / 2, x, y)


def finger(page: PageDriver, left: float, top: float, x: float, y: float) -> None:
    """A touch at a point of the window that moves by so many pixels and is lifted."""
    assert isinstance(page.driver, webdriver.Chrome)

    def send(kind: str, *points: tuple[float, float]) -> None:
        page.driver.execute_cdp_cmd(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": point[0], "y": point[1]} for point in points]},
        )

    send("touchStart", (left, top))
    if x or y:
        for move in range(1, MOVES + 1):
            send("touchMove", (left + x * move / MOVES, top + y * move / MOVES))
    send("touchEnd")


def told(page: PageDriver, kind: str) -> list[str]:
    """The names of the elements that such an event came to."""
    return [name for found, name in page.run("return told") if found == kind]


def value(page: PageDriver, name: str) -> str:
    return str(page.run("return document.querySelector(`[name=${arguments[0]}]`).value", name))


def scrolled(page: PageDriver, before: float) -> Callable[[], bool]:
    return lambda: abs(page.run("return scrollY") - before) > 60


def rests(page: PageDriver) -> bool:
    before = page.run("return scrollY")
    page.frames(10)
    return bool(page.run("return scrollY") == before)


@pytest.mark.chromium_only(WHY)
@pytest.mark.parametrize("sideways", [0, 25])
def test_a_finger_that_scrolls_over_a_slider_leaves_it_alone(
    phone: PageDriver, sideways: int
) -> None:
    for name in SLIDERS:
        state, before = phone.state(), value(phone, name)
        bring(phone, f"[name={name}]")
        phone.run("told.length = 0")
        top = phone.run("return scrollY")
        gesture(phone, f"[name={name}]", x=sideways, y=-220)
        phone.until(scrolled(phone, top))
        phone.until(lambda: told(phone, "touchend"))
        phone.frames()
        assert value(phone, name) == before
        assert phone.state() == state, name
        assert told(phone, "input") == [], "what waits for a decision is told to nobody"
        phone.until(lambda: rests(phone))


@pytest.mark.chromium_only(WHY)
def test_a_run_goes_on_while_a_finger_scrolls_over_its_timeline(phone: PageDriver) -> None:
    phone.call("play")
    bring(phone, "[name=tick]")
    top = phone.run("return scrollY")
    gesture(phone, "[name=tick]", y=-220)
    phone.until(scrolled(phone, top))
    phone.frames()
    assert phone.text("#play-label") == "Pause"
    tick = phone.state()["tick"]
    phone.until(lambda: phone.state()["tick"] > tick)
    assert tick < 300


def drag_and_tap(phone: PageDriver, name: str) -> None:
    phone.until(lambda: rests(phone))
    phone.run("told.length = 0")
    before = float(value(phone, name))
    width = bring(phone, f"[name={name}]")[2]
    gesture(phone, f"[name={name}]", x=-0.3 * width, y=8, at=0.6)
    phone.until(lambda: told(phone, "input"))
    dragged = float(value(phone, name))
    assert dragged != before
    gesture(phone, f"[name={name}]", at=0.95)
    phone.until(lambda: float(value(phone, name)) > dragged)
    gesture(phone, f"[name={name}]", at=0.1)
    phone.until(lambda: float(value(phone, name)) < dragged)
    if name == "tick":
        assert phone.state()["tick"] == float(value(phone, name))
    # Keys still work right after a touch.
    low = float(value(phone, name))
    gesture(phone, f"[name={name}]", y=-220)
    phone.until(lambda: told(phone, "pointercancel"))
    phone.one(f"[name={name}]").send_keys(webdriver.Keys.ARROW_RIGHT)
    phone.until(lambda: float(value(phone, name)) > low)


@pytest.mark.chromium_only(WHY)
def test_a_finger_drags_a_slider_and_a_tap_sets_it(phone: PageDriver) -> None:
    for name in SLIDERS:
        drag_and_tap(phone, name)


@pytest.mark.chromium_only(WHY)
def test_a_finger_that_scrolls_while_python_loads_moves_no_control(
    phone: PageDriver, faulty: Serve
) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open(wait=False)
    page.until(lambda: page.driver.find_elements("css selector", "[name=k]"))
    page.until(lambda: page.run("return document.readyState !== 'loading'"))
    page.run(WATCH)
    bring(page, "[name=k]")
    top = page.run("return scrollY")
    gesture(page, "[name=k]", y=-220)
    page.until(scrolled(page, top))
    gesture(page, "[name=alpha]", at=0.25)
    page.until(lambda: told(page, "input"))
    assert page.run("return document.documentElement.dataset.state") == "loading"
    wasm.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    params = page.state()["params"]
    assert params["draft_length"] == 4
    assert params["acceptance_rate"] < 0.4, "and a tap was one"


@pytest.mark.chromium_only(WHY)
def test_a_finger_scrolls_the_page_around_a_widget(phone: PageDriver) -> None:
    frame = (
        '<meta name="viewport" content="width=device-width">'
        f'<p style="height: 300px"></p><iframe id="f" src="{phone.address}?embed=1" width="360"'
        ' height="2200"></iframe><p style="height: 900px"></p>'
    )
    with pages({"/": document(frame)}) as address:
        phone.driver.get(address)
        phone.driver.switch_to.frame(phone.one("#f"))
        assert browsers.until_settled(phone.driver) == "ready"
        phone.run(WATCH)
        state = phone.state()
        for name in ("k", "tick"):
            left, top, width, height = bring(phone, f"[name={name}]")
            phone.driver.switch_to.default_content()
            before = phone.run("return scrollY")
            x, y = phone.run(
                "const r = document.querySelector('#f').getBoundingClientRect();"
                "return [r.left, r.top]"
            )
            point = x + left + 0.75 * width, y + top + height / 2
            finger(phone, *point, 0, -200)
            phone.until(scrolled(phone, before))
            phone.driver.switch_to.frame(phone.one("#f"))
            phone.until(lambda: told(phone, "touchend"))
            phone.frames()
            assert phone.state() == state, name
        assert told(phone, "input") == []


@pytest.mark.chromium_only(WHY)
def test_a_finger_scrolls_over_the_map_and_a_tap_goes_there(phone: PageDriver) -> None:
    phone.call("set", {"c": 0.05})
    come(phone, "map")
    state = phone.state()
    bring(phone, "#chart-map canvas")
    top = phone.run("return scrollY")
    gesture(phone, "#chart-map canvas", y=-200, at=0.5)
    phone.until(scrolled(phone, top))
    phone.frames()
    assert phone.state() == state
    phone.until(lambda: rests(phone))  # a tap on a page that still rolls only stops it
    gesture(phone, "#chart-map canvas", at=0.5)
    phone.until(lambda: phone.state() != state)


@pytest.mark.chromium_only(WHY)
def test_a_finger_scrolls_the_share_dialog_and_changes_nothing_in_it(phone: PageDriver) -> None:
    phone.share()
    phone.until(lambda: phone.one("dialog").is_displayed())
    filled = (
        "return [...document.querySelectorAll('dialog :is(input, select, textarea)')]"
        ".map((e) => e.type === 'checkbox' ? e.checked : e.value)"
    )
    before = phone.run(filled)
    for selector in ("dialog fieldset label", "dialog select", "dialog textarea"):
        phone.run("document.querySelector('dialog').scrollTop = 0")
        gesture(phone, selector, y=-150)
        phone.until(lambda: told(phone, "touchend"))
        phone.frames()
    assert phone.run("return document.querySelector('dialog').scrollTop") > 60
    assert phone.run(filled) == before
    phone.run("document.querySelector('dialog').close()")


@pytest.mark.chromium_only(WHY)
def test_a_tapped_slot_says_what_it_holds_until_another_place_is_tapped(phone: PageDriver) -> None:
    phone.call("seek", 200)
    gesture(phone, "#board", at=0.02)
    phone.until(lambda: told(phone, "touchend"))
    phone.frames()
    assert phone.text("#slot-note").startswith("slot 224, position 224")
    phone.until(lambda: phone.one("#cursor").is_displayed())
    gesture(phone, "#board", at=0.02, y=-100)
    phone.until(lambda: told(phone, "pointercancel"))
    phone.frames()
    assert phone.text("#slot-note").startswith("point at or tap a slot")
    gesture(phone, "#board", at=0.98)
    phone.until(lambda: phone.text("#slot-note").startswith("slot 255, position 255"))
    gesture(phone, '[data-action="start"]', at=0.5)
    phone.until(lambda: phone.text("#slot-note").startswith("point at or tap a slot"))


@pytest.mark.every_engine
def test_two_fingers_may_zoom_where_one_would_drag(page: PageDriver) -> None:
    allowed = page.run(
        "return [...document.querySelectorAll('[type=range], #board')]"
        ".map((e) => getComputedStyle(e).touchAction)"
    )
    assert len(allowed) >= 8
    assert all({"pan-y", "pinch-zoom"} <= set(one.split()) for one in allowed), allowed


@pytest.mark.every_engine
def test_arrow_keys_move_the_speed_too(page: PageDriver) -> None:
    slider = page.one("[name=speed]")
    slider.send_keys(webdriver.Keys.HOME)
    page.until(lambda: page.text("#speed") == "1")
    slider.send_keys(webdriver.Keys.ARROW_RIGHT * 20)
    page.until(lambda: page.text("#speed") == "2")


@pytest.mark.every_engine
def test_a_mouse_moves_a_slider_at_once(page: PageDriver) -> None:
    slider = page.one("[name=k]")
    right = int(slider.size["width"] * 0.4)
    ActionChains(page.driver).move_to_element_with_offset(
        slider, right, 0
    ).click_and_hold().perform()
    page.until(lambda: page.state()["params"]["draft_length"] > 10)
    ActionChains(page.driver).release().perform()


def drag_by_touch(page: PageDriver, x: int, y: int, at: float) -> None:
    """Drag the draft length with a touch of the driver's own."""
    slider = page.one("[name=k]")
    page.run("arguments[0].scrollIntoView({block: 'center'})", slider)
    actions: Any = ActionBuilder(page.driver, mouse=PointerInput(POINTER_TOUCH, "finger"))
    touch = actions.pointer_action
    touch.move_to(slider, int(slider.size["width"] * (at - 0.5)), 0).pointer_down()
    if x or y:
        for _ in range(MOVES):
            touch.move_by(x // MOVES, y // MOVES)
    touch.pointer_up()
    actions.perform()


@pytest.mark.every_engine
def test_a_touch_drags_and_taps_in_every_engine_whose_driver_has_one(page: PageDriver) -> None:
    page.run(WATCH)
    drag_by_touch(page, 0, 0, 0.9)
    if not page.run("return told.some(([kind]) => kind === 'touchend')"):
        pytest.skip(f"{page.engine}: its driver's touches are none")
    page.until(lambda: page.state()["params"]["draft_length"] > 12)
    drag_by_touch(page, -96, 0, 0.9)
    page.until(lambda: page.state()["params"]["draft_length"] < 13)
