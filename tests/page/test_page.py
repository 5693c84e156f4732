"""The page in a real browser: what people touch does what it says."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from sim.marks import PALETTES
from sim.narrator import sentence
from sim.params import PARAMETERS, SLOTS, Params
from sim.run import Run
from sim.settings import updated
from sim.story import figures
from tests import browsers
from tests.driver import PageDriver
from tests.faults import LIBRARY, SNAPSHOT
from tests.shown import close, pixels, rgb, scene

# Start


@pytest.mark.every_engine
def test_the_page_starts_without_an_error_or_a_request_to_another_origin(
    shared: PageDriver,
) -> None:
    shared.open()
    shared.frames()
    assert not shared.one("#failure").is_displayed()
    asked = shared.run("return performance.getEntriesByType('resource').map((file) => file.name)")
    assert len(asked) > 20
    assert all(url.startswith(shared.address) for url in asked)
    # The snapshot holds all that the start imports.
    assert [url for url in asked if url.endswith(SNAPSHOT)]
    assert [url for url in asked if url.endswith((LIBRARY, "pyodide-lock.json"))] == []
    assert shared.driver.execute_async_script(
        "bonusToken.ready.then((api) => arguments[0](api === bonusToken))"
    )


@pytest.mark.chromium_only("its console cannot be read")
def test_the_console_stays_empty_and_the_network_agrees(shared: PageDriver) -> None:
    driver = browsers.launch(logs=("browser", "performance"))
    assert isinstance(driver, webdriver.Chrome)
    try:
        page = PageDriver(driver, shared.address)
        page.open()
        page.frames()
        assert browsers.console_errors(driver) == []
        entries = driver.get_log("performance")
    finally:
        driver.quit()
    asked = set()
    for entry in entries:
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    foreign = {url for url in asked if not url.startswith((shared.address, "data:", "blob:"))}
    assert len(asked) > 20
    assert foreign == set()


def test_it_opens_on_tick_60_of_the_default_run(page: PageDriver) -> None:
    assert page.state() == scene({}, 60)
    assert page.metric("tokens") == "216"
    assert page.text("#tick") == "60"
    assert page.text("#board-title") == "KV cache 216 / 512"


# The same numbers in the page as in CPython


def some_scenes() -> Iterator[tuple[dict[str, Any], int]]:
    yield {}, 0
    yield {}, 1200
    yield {"rates": [0.85] * 26 + [0.1], "k": 32}, 1200
    chance = random.Random(7)
    for _ in range(24):
        query: dict[str, Any] = {
            "k": chance.randint(1, 32),
            "alpha": round(chance.random(), 3),
            "c": round(chance.random() ** 3, 3),
            "batch": chance.randint(1, 64),
            "knee": chance.randint(1, 400),
            "chunk": chance.randint(16, 512),
            "seed": chance.randint(0, 2**32 - 1),
            "speculation": chance.random() < 0.9,
            "cache": chance.random() < 0.8,
            "evict": sorted(chance.sample(range(1200), chance.randint(0, 5))),
        }
        if chance.random() < 0.3:
            query["rates"] = [round(chance.random(), 3) for _ in range(chance.randint(1, 6))]
        yield query, chance.randint(0, 1200)


@pytest.mark.every_engine
def test_the_same_parameters_give_the_same_state_as_cpython_to_the_last_digit(
    page: PageDriver,
) -> None:
    scenes = list(some_scenes())
    assert len(scenes) >= 20
    defaults = {row.key: None for row in PARAMETERS}
    for query, tick in scenes:
        page.call("set", {**defaults, **query})
        page.call("seek", tick)
        assert page.state() == scene(query, tick)


@pytest.mark.every_engine
def test_what_is_shown_is_what_the_state_says(page: PageDriver) -> None:
    for query, tick in list(some_scenes())[:8]:
        page.call("set", {**{row.key: None for row in PARAMETERS}, **query})
        page.call("seek", tick)
        page.frames()
        params, _ = updated(Params(), query)
        run = Run(params)
        texts = figures(run.report(tick), run)
        for name in run.report(tick):
            if name not in ("tick", "params"):
                shown = page.run(
                    "return [...document.querySelectorAll(`[data-metric='${arguments[0]}']`)]"
                    ".map((e) => e.textContent)",
                    name,
                )
                assert set(shown) == {texts[name]}, name
        assert page.text("#sentence") == sentence(run, tick).text


# Controls


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("key", "name", "value"),
    [
        ("k", "draft_length", 5),
        ("alpha", "acceptance_rate", 0.81),
        ("c", "draft_cost", 0.11),
        ("c0", "round_cost", 0.01),
        ("batch", "batch_size", 2),
        ("knee", "knee", 257),
        ("chunk", "recompute_chunk", 65),
    ],
)
def test_a_slider_moved_by_hand_replays_the_run(
    page: PageDriver, key: str, name: str, value: float
) -> None:
    page.run("document.querySelector('.advanced').open = true")
    page.one(f'[name="{key}"]').send_keys(Keys.ARROW_RIGHT)
    assert page.state() == scene({key: value}, 60)
    assert page.state()["params"][name] == value
    assert float(str(page.one(f'[data-number="{key}"]').get_property("value"))) == value


@pytest.mark.every_engine
def test_dragging_with_the_pointer_shows_the_previous_numbers_as_ghosts(page: PageDriver) -> None:
    slider = page.one("[name=k]")
    hand = ActionChains(page.driver).click_and_hold(slider).move_by_offset(60, 0)
    hand.perform()
    page.until(lambda: page.state()["params"]["draft_length"] > 8)
    page.frames()
    assert page.text('[data-ghost="tokens_per_pass"]') == "3.60"
    assert page.one("#replay").is_displayed()
    ActionChains(page.driver).release().perform()
    page.frames()
    assert page.text('[data-ghost="tokens_per_pass"]') == ""
    assert not page.one("#replay").is_displayed()


@pytest.mark.every_engine
def test_switches_work_and_say_so(page: PageDriver) -> None:
    page.one("[name=speculation]").click()
    page.frames()
    assert page.state() == scene({"speculation": "off"}, 60)
    assert "Speculation is off" in page.text("#sentence")
    assert page.text("#caption").startswith("this pass: 1 token")
    page.one("[name=speculation]").click()
    page.one("[name=cache]").click()
    page.frames()
    assert page.state() == scene({"cache": "off"}, 60)
    assert not page.one("[data-action=evict]").is_enabled()
    assert page.metric("theory_speedup") == "–"


@pytest.mark.every_engine
def test_a_field_takes_what_a_slider_cannot_and_mends_bad_input(page: PageDriver) -> None:
    field = page.one("[data-number=k]")

    def enter(text: str) -> None:
        hands = ActionChains(page.driver).click(field)
        hands.key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(text).perform()

    enter("24" + Keys.ENTER)
    assert page.state()["params"]["draft_length"] == 24
    assert page.one("[name=k]").get_property("value") == "16"
    assert field.get_property("value") == "24"
    enter("99" + Keys.ENTER)
    page.frames()
    assert page.state()["params"]["draft_length"] == 32
    assert field.get_property("value") == "32"
    assert page.one("#notice").is_displayed()
    assert "k=99 is not a whole number from 1 to 32; using 32." in page.text("#notice p")
    page.action("dismiss")
    assert not page.one("#notice").is_displayed()


def test_new_luck_changes_only_the_seed(page: PageDriver) -> None:
    page.run("document.querySelector('.advanced').open = true")
    page.action("luck")
    seed = page.state()["params"]["seed"]
    assert seed != 0
    assert page.state() == scene({"seed": seed}, 60)


def test_rates_per_position_take_over_from_alpha(shared: PageDriver) -> None:
    shared.open("?rates=0.9,0.5")
    assert shared.state() == scene({"rates": "0.9,0.5"}, 60)
    assert not shared.one("[name=alpha]").is_enabled()
    assert not shared.one("[data-number=alpha]").is_enabled()
    assert "per position: 0.9, 0.5" in shared.text("#alpha-help")
    shared.action("one-rate")
    assert shared.state() == scene({}, 60)
    assert shared.one("[name=alpha]").is_enabled()
    assert not shared.one("[data-action=one-rate]").is_displayed()


# Transport


@pytest.mark.every_engine
def test_step_back_start_and_the_timeline(page: PageDriver) -> None:
    page.action("step")
    assert page.state() == scene({}, 61)
    page.action("back")
    page.action("back")
    assert page.state() == scene({}, 59)
    page.action("start")
    assert page.state() == scene({}, 0)
    page.action("back")
    assert page.state()["tick"] == 0
    page.frames()
    assert page.metric("tokens_per_pass") == "–"
    page.one("[name=tick]").send_keys(Keys.ARROW_RIGHT * 3)
    assert page.state()["tick"] == 3
    page.one("[name=tick]").send_keys(Keys.END)
    assert page.state() == scene({}, 1200)
    page.action("step")
    assert page.state()["tick"] == 1200


@pytest.mark.every_engine
def test_play_runs_pauses_and_starts_over_at_the_horizon(page: PageDriver) -> None:
    assert page.text("#play-label") == "Play"
    page.action("play")
    page.until(lambda: page.text("#play-label") == "Pause")
    page.until(lambda: page.state()["tick"] >= 66)
    page.action("play")
    stopped = page.state()["tick"]
    with page.clock() as passes:
        passes(3)
        assert page.text("#play-label") == "Play"
        assert page.state()["tick"] == stopped
    page.call("seek", 1200)
    page.action("play")
    page.until(lambda: 0 < page.state()["tick"] < 100)
    page.call("pause")


def test_speed_sets_how_much_model_time_a_second_takes(page: PageDriver) -> None:
    page.one("[name=speed]").send_keys(Keys.END)
    page.action("play")
    began, first = time.monotonic(), page.state()["tick"]
    page.until(lambda: page.state()["tick"] - first > 60)
    assert page.state()["tick"] - first < 75 * (time.monotonic() - began) + 15
    page.call("pause")
    assert "60 units" in str(page.one("[name=speed]").get_attribute("aria-valuetext"))


def test_a_step_is_told_in_three_phases(page: PageDriver) -> None:
    page.run(
        "window.told = []; const caption = document.querySelector('#caption');"
        "new MutationObserver(() => told.push(caption.textContent.split(':')[0]))"
        ".observe(caption, {childList: true})"
    )
    page.action("step")
    told = page.until(
        lambda: [t for t in page.run("return told") if t][2:] and page.run("return told")
    )
    assert list(dict.fromkeys(told)) == ["draft", "verify", "this pass"]


@pytest.mark.every_engine
def test_a_press_on_a_draft_sets_its_verdict_by_mouse_and_by_key(page: PageDriver) -> None:
    def draft(number: int) -> Any:
        return page.one(f'#strip [data-draft="{number}"]')

    def held() -> str:
        return str(page.run("return document.activeElement.dataset.draft"))

    before = page.state()
    draft(0).click()
    page.frames()
    assert page.state() == scene({"force": "60:0"}, 60)
    assert page.state()["accepted"] == before["accepted"] - 4
    assert "none accepted" in page.text("#caption")
    assert held() == "0"
    draft(2).send_keys(Keys.ENTER)
    page.frames()
    assert page.state() == scene({"force": "60:3"}, 60)
    assert held() == "2"
    draft(2).send_keys(Keys.SPACE)
    page.frames()
    assert page.state() == before
    page.call("set", {"lock": "force"})
    page.frames()
    assert not draft(0).is_enabled()


@pytest.mark.every_engine
def test_evict_turns_every_cached_slot_evicted_and_generation_waits(page: PageDriver) -> None:
    page.call("seek", 300)
    tokens = page.state()["tokens"]
    page.action("evict")
    page.frames()
    assert page.state() == scene({"evict": "300"}, 300)
    assert page.state()["cached"] == 0
    assert page.text("#board-title") == "KV cache 0 / 512"
    red = rgb(PALETTES["light"]["evicted"])
    assert all(close(seen, red) for seen in pixels(page, range(SLOTS), 0.2, 0.55))
    assert "511 still missing" in page.text("#caption")
    for _ in range(8):
        page.action("step")
        assert page.state()["tokens"] == tokens
    page.action("step")
    assert page.state()["tokens"] > tokens
    page.action("evict")
    page.action("evict")
    assert page.state()["params"]["evictions"] == [300, 309]


def test_reset_restores_the_scene_it_was_opened_with(shared: PageDriver) -> None:
    shared.open("?k=6&tick=80&speed=4")
    before = shared.state()
    shared.one("[name=k]").send_keys(Keys.ARROW_RIGHT)
    shared.action("evict")
    shared.action("play")
    shared.action("reset")
    assert shared.state() == before
    with shared.clock() as passes:
        passes(3)
    assert shared.state() == before


# Links


@pytest.mark.every_engine
def test_reloading_the_address_restores_the_scene(page: PageDriver) -> None:
    page.call("set", {"k": 7, "alpha": 0.65, "c": 0.05, "seed": 42})
    page.call("seek", 200)
    page.action("evict")
    page.call("seek", 260)
    before = page.state()
    page.until(lambda: "tick=260" in page.run("return location.search"))
    query = page.run("return location.search")
    assert query == "?k=7&alpha=0.65&c=0.05&seed=42&evict=200&tick=260"
    page.driver.refresh()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state() == before


def test_the_address_is_left_alone_while_playing_and_never_says_play(shared: PageDriver) -> None:
    shared.open("?play=1")
    shared.until(lambda: shared.state()["tick"] > 66)
    assert shared.run("return location.search") == "?play=1"
    shared.action("play")
    shared.until(lambda: "tick=" in shared.run("return location.search"))
    assert "play" not in shared.run("return location.search")


def test_a_bad_link_is_mended_and_said(shared: PageDriver) -> None:
    shared.open("?k=99&alpha=much&nonsense=1&evict=5,x")
    assert shared.state() == scene({"k": 32, "evict": "5"}, 60)
    said = shared.text("#notice p")
    assert "k=99 is not a whole number from 1 to 32; using 32." in said
    assert "alpha=much" in said
    assert "evict=5,x" in said
    assert "nonsense" not in said


@pytest.mark.chromium_only("media features cannot be set")
def test_the_theme_follows_link_button_and_system(shared: PageDriver) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    shared.open("?theme=dark")
    assert shared.run(ground) == "rgb(19, 21, 26)"
    shared.action("theme")
    assert shared.run(ground) == "rgb(250, 249, 246)"
    shared.action("theme")  # as the system has it
    try:
        browsers.prefer(shared.driver, prefers_color_scheme="dark")
        shared.until(lambda: shared.run(ground) == "rgb(19, 21, 26)")
        shared.until(lambda: close(pixels(shared, [511])[0], rgb(PALETTES["dark"]["empty"])))
    finally:
        browsers.prefer(shared.driver)


@pytest.mark.chromium_only("media features cannot be set")
def test_reduced_motion_ignores_play_in_a_link_but_not_the_button(shared: PageDriver) -> None:
    try:
        browsers.prefer(shared.driver, prefers_reduced_motion="reduce")
        shared.open("?play=1")
        with shared.clock() as passes:
            passes(3)
        assert shared.state()["tick"] == 60
        shared.action("play")
        shared.until(lambda: shared.state()["tick"] > 62)
        shared.action("play")
    finally:
        browsers.prefer(shared.driver)


# The API


def test_the_api_mends_what_it_is_given(page: PageDriver) -> None:
    page.call("set", {"k": 7, "acceptance_rate": 0.6, "speculation": "off", "unknown": {}})
    params = page.state()["params"]
    assert (params["draft_length"], params["acceptance_rate"], params["speculation"]) == (
        7,
        0.6,
        False,
    )
    page.call("set", {"k": None, "alpha": "abc", "speculation": None})
    assert page.state()["params"]["draft_length"] == 4
    assert page.state()["params"]["acceptance_rate"] == 0.8
    assert "alpha=abc" in page.text("#notice p")
    for odd in (None, 5, "x", [1]):
        page.call("set", odd)
    page.call("seek", 99999)
    assert page.state()["tick"] == 1200
    page.call("step", -1000000)
    assert page.state()["tick"] == 0
    page.call("step", 12)
    assert page.state()["tick"] == 12
    for odd in ("far", "700", True, [3]):
        page.call("step", odd)
        assert page.state()["tick"] == 12
    assert "nothing was stepped" in page.text("#notice p")
    page.call("play")
    page.until(lambda: page.state()["tick"] > 14)
    page.call("pause")
    page.call("reset")
    assert page.state() == scene({}, 60)
