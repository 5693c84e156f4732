"""The rail leads through its scenes, and the clock shows their time, in a browser."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from sim import session as actions
from sim.clock import PARTS, clock
from sim.rail import STORIES
from sim.session import opened
from tests import browsers
from tests.driver import PageDriver

NUMBERS = range(1, len(STORIES) + 1)

BOX = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"


def point_of(story: int) -> str:
    session, _ = actions.skip(opened({"story": str(story)})[0])
    assert session.point
    return session.point.text


def told(page: PageDriver) -> list[str]:
    """The callouts that are seen."""
    return [
        page.text(f"#{place}-point")
        for place in ("board", "clock")
        if page.one(f"#{place}-callout").is_displayed()
    ]


def press(page: PageDriver, selector: str) -> None:
    page.run("document.querySelector(arguments[0]).click()", selector)
    page.frames()


@pytest.mark.every_engine
def test_each_scene_asks_and_points_at_its_answer_and_is_left_with_a_slider(
    page: PageDriver,
) -> None:
    for story in NUMBERS:
        press(page, f"[data-story='{story}']")
        assert page.one("#question").is_displayed()
        assert page.run("return bonusToken.state().tick") == 0
        assert told(page) == []
        current = page.driver.find_elements(By.CSS_SELECTOR, ".rail [aria-current]")
        assert [one.get_attribute("data-story") for one in current] == [str(story)]
        press(page, "[data-action=skip]")
        assert told(page) == [point_of(story)]
        assert page.run("return bonusToken.state().tick") == int(STORIES[story - 1].keys["tick"])
    page.one("[name=k]").send_keys(Keys.ARROW_RIGHT)
    page.frames()
    assert told(page) == []
    assert not page.driver.find_elements(By.CSS_SELECTOR, ".rail [aria-current]")
    assert page.run("return bonusToken.state().params.kv_cache") is False  # the scene is kept


@pytest.mark.every_engine
def test_a_link_opens_a_scene_that_is_played_to_where_it_is_decided(shared: PageDriver) -> None:
    shared.open("?story=4")
    assert shared.run("return bonusToken.state().params.batch_size") == 128
    shared.one("#prediction").send_keys("2", Keys.ENTER)
    shared.until(lambda: told(shared))
    assert told(shared) == [point_of(4)]
    assert "You said 2×" in shared.text("#asked")
    assert shared.run("return location.search") in ("?story=4", "")
    shared.open()


def test_the_rail_is_reached_by_keyboard_and_a_new_tab_opens_a_scene(page: PageDriver) -> None:
    page.one("[data-action=theme]").send_keys(Keys.TAB)
    assert page.run("return document.activeElement.dataset.story") == "1"
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.frames()
    assert page.run("return bonusToken.state().params.draft_length") == 12
    assert page.one("[data-story='3']").get_attribute("href") == page.address + "?story=3"


def test_locks_and_show_leave_the_rail_out_and_a_frame_goes_without(shared: PageDriver) -> None:
    for query, there in (
        ("", True),
        ("?lock=story", False),
        ("?lock=k", False),
        ("?show=board,clock", False),
        ("?embed=1", False),
        ("?embed=1&show=rail,board,numbers", True),
    ):
        shared.open(query)
        assert shared.one(".rail").is_displayed() == there, query
    shared.open()


def inside(inner: dict[str, float], outer: dict[str, float]) -> bool:
    return (
        inner["left"] >= outer["left"] - 1
        and inner["right"] <= outer["right"] + 1
        and inner["top"] >= outer["top"] - 1
        and inner["bottom"] <= outer["bottom"] + 1
    )


@pytest.mark.parametrize("size", [(1280, 720), (768, 900), (390, 844), (320, 640)])
def test_a_callout_covers_nothing_that_it_speaks_of_and_is_seen_whole(
    sized: PageDriver, size: tuple[int, int]
) -> None:
    browsers.resize(sized.driver, *size)
    for story in NUMBERS:
        press(sized, f"[data-story='{story}']")
        press(sized, "[data-action=skip]")
        place = "board" if story == 6 else "clock"
        sized.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", "#clock"
        )
        box = sized.run(BOX, f"#{place}-callout span")
        screen = {"left": 0.0, "top": 0.0, "right": float(size[0]), "bottom": float(size[1])}
        assert inside(box, screen), (story, box)
        if place == "clock" and size[0] < 640:
            assert box["top"] >= sized.run(BOX, ".keys")["bottom"], story
        elif place == "clock":
            assert box["bottom"] <= sized.run(BOX, "#clock")["top"] + 14, story
            x = sized.run(
                "return getComputedStyle(document.querySelector('#clock-callout'))"
                ".getPropertyValue('--x')"
            )
            at = sized.run(BOX, "#clock")["left"] + float(x.removesuffix("px"))
            assert box["left"] - 1 <= at <= box["right"] + 24, story
        press(sized, f"#{place}-callout button")
        assert not sized.one(f"#{place}-callout").is_displayed()


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_speedup_and_clock_are_in_view_while_a_main_control_moves(
    sized: PageDriver, size: tuple[int, int]
) -> None:
    browsers.resize(sized.driver, *size)
    for key in ("k", "alpha", "c", "batch"):
        control = sized.one(f"[name={key}]")
        sized.run("arguments[0].scrollIntoView({block: 'nearest'}); arguments[0].focus()", control)
        control.send_keys(Keys.ARROW_RIGHT)
        sized.frames()
        seen = "#clock", ".clock-part .speedup" if size[0] < 640 else "[data-metric=speedup]"
        for selector in seen:
            box = sized.run(BOX, selector)
            assert box["height"] > 8, (key, selector)
            assert 0 <= box["top"] < box["bottom"] <= size[1], (key, selector, box)
        box = sized.run(BOX, f"[name={key}]")
        hidden = sized.run(BOX, "#clock")["bottom"] if size[0] < 640 else 0
        assert box["top"] >= hidden, (key, box)


def test_beside_the_text_speedup_clock_and_main_controls_are_in_view(page: PageDriver) -> None:
    page.run("document.querySelector('#text').scrollIntoView()")
    page.until(lambda: page.run("return document.documentElement.classList.contains('reading')"))
    page.frames()
    for selector in ("#board", "#clock", "[data-metric=speedup]", "#sentence"):
        box = page.run(BOX, selector)
        assert box["height"] > 8, selector
        assert 0 <= box["top"] < box["bottom"] <= 720, (selector, box)
    for key in ("k", "alpha", "c", "batch"):
        box = page.run(BOX, f"[name={key}]")
        assert box["height"] > 8
        assert box["bottom"] <= 720, (key, box)


@pytest.mark.every_engine
def test_the_clock_is_drawn_as_the_model_says_at_its_own_width_and_zoom(sized: PageDriver) -> None:
    sized.call("set", {"k": 6, "alpha": 0.7, "evict": [50], "tick": 70})
    run = opened({"k": "6", "alpha": "0.7", "evict": "50"})[0].run
    for width, presses in ((1280, []), (700, []), (1280, ["closer"]), (1280, ["farther"] * 5)):
        browsers.resize(sized.driver, width, 720)
        for name in presses:
            press(sized, f"[data-action={name}]")
        zoom = sum({"closer": 1, "farther": -1}[name] for name in presses)
        px = round(sized.run(BOX, "#clock")["width"])
        drawn = clock(run, 70, px, zoom)
        sized.until(
            lambda drawn=drawn: all(  # type: ignore[misc]
                (sized.one(f"#clock-{part}").get_attribute("d") or "") == drawn.lane[part]
                for part in PARTS
            )
        )
        seen = sized.run("return document.querySelector('#clock').getAttribute('viewBox')")
        assert seen == f"0 0 {px} 70"
        tallied = sized.run(
            "return [...document.querySelectorAll('#clock tspan')].map((e) => e.textContent)"
        )
        assert tallied == [f"+{tokens}" for _, tokens in drawn.tallies]
        for name in presses:  # and back
            press(sized, f"[data-action={'farther' if name == 'closer' else 'closer'}]")


def test_one_press_takes_the_better_draft_length(page: PageDriver) -> None:
    page.call("set", {"k": 12, "alpha": 0.55})
    page.frames()
    assert page.text("[data-action=better]") == "Take 3 drafts"
    page.action("better")
    page.frames()
    assert page.run("return bonusToken.state().params.draft_length") == 3
    assert not page.one("[data-action=better]").is_displayed()
