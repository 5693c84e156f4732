"""Rules of the page that nobody misses until one is broken: what stays, what goes, what waits.

Python alone decides them, so one engine is enough. Where time matters, the test holds the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from sim.marks import PALETTES
from sim.narrator import sentence
from sim.params import Params
from sim.plot import HEIGHT, band, path
from sim.run import Run
from sim.settings import updated
from sim.story import split, summary
from tests import browsers
from tests.driver import PageDriver
from tests.faults import WASM, Held, Serve
from tests.labs.charts import come
from tests.shown import (
    close,
    enabled,
    pixels,
    rgb,
    scene,
    search,
    stays,
    value,
    visible,
)
from tests.sources import UNCACHED

pytestmark = pytest.mark.chromium_only("Python alone decides this")


def attribute(page: PageDriver, selector: str, name: str) -> Any:
    return page.one(selector).get_attribute(name)


def drag(page: PageDriver, key: str, to: object) -> None:
    """Move a slider as a hand does that has not let go."""
    page.run(
        "const control = document.querySelector(`[name='${arguments[0]}']`);"
        "control.value = arguments[1]; control.dispatchEvent(new Event('input', {bubbles: true}))",
        key,
        to,
    )


# What is drawn


def test_the_plot_is_that_of_the_run_before_while_and_after_a_recompute(page: PageDriver) -> None:
    page.call("set", {"tick": 300, "evict": [60, 300]})
    run = Run(Params(evictions=(60, 300)))
    for tick in (300, 301, 302, 308, 309, 59, 61):
        page.call("seek", tick)
        page.frames()
        assert attribute(page, "#path", "d") == path(run, tick), tick
        assert attribute(page, "#band", "d") == band(run, tick), tick
    assert attribute(page, "#evictions", "d") == f"M60 0V{HEIGHT}M300 0V{HEIGHT}"
    page.call("set", {"cache": "off"})  # where evictions do nothing
    page.frames()
    assert attribute(page, "#evictions", "d") == ""


def test_bars_and_sentence_look_as_the_numbers_say(page: PageDriver) -> None:
    for query in ({}, {"k": 12, "alpha": 0.1, "c": 0.5}, {"evict": [60]}, {"cache": "off"}):
        page.call("reset")
        page.call("set", {**query, "tick": 70})
        page.frames()
        run = Run(updated(Params(), query)[0])
        drawn = page.run(
            "return [...document.querySelectorAll('#split rect')]"
            ".map((e) => ['x', 'width'].map((name) => Number(e.getAttribute(name))))"
        )
        assert [width for _, width in drawn] == [
            pytest.approx(length, abs=0.05) for length in split(run.report(70))
        ]
        ends = [left + width for left, width in drawn]
        assert [left for left, _ in drawn][1:] == [pytest.approx(end, abs=0.11) for end in ends[:2]]
        assert page.one("#sentence").get_attribute("class") == f"sentence {sentence(run, 70).tone}"


def test_every_control_is_where_the_scene_is_whoever_set_it(page: PageDriver) -> None:
    page.call("set", {"k": 9, "alpha": 0.35, "cache": "off", "speculation": "off", "speed": 60})
    page.call("set", {"seed": 41, "knee": 1000})
    assert [value(page, f"[name={key}]") for key in ("k", "alpha", "knee")] == ["9", "0.35", "1000"]
    assert [value(page, f"[data-number={key}]") for key in ("k", "seed")] == ["9", "41"]
    assert not page.one("[name=cache]").is_selected()
    assert not page.one("[name=speculation]").is_selected()
    assert float(value(page, "[name=speed]")) == 1
    page.call("set", {"cache": "on", "speculation": "on", "speed": 1})
    assert page.one("[name=cache]").is_selected()
    assert page.one("[name=speculation]").is_selected()
    assert float(value(page, "[name=speed]")) == 0


def test_with_the_cache_off_the_page_says_what_that_means(page: PageDriver) -> None:
    def legend() -> list[bool]:
        return [page.one(f".legend .{name}").is_displayed() for name in ("known", "hollow")]

    assert (legend(), attribute(page, "[data-action=evict]", "title")) == ([True, False], "")
    page.call("set", {"cache": "off"})
    assert legend() == [False, True]
    said = "Nothing is kept while the KV cache is off."
    assert attribute(page, "[data-action=evict]", "title") == said
    # By a script neither: an eviction that did nothing would act once the cache is on again.
    page.call("evict")
    assert page.state() == scene({"cache": "off"}, 60)
    page.call("set", {"cache": "on"})
    assert (legend(), attribute(page, "[data-action=evict]", "title")) == ([True, False], "")


# What plays, and what does not


def test_a_step_of_a_fraction_is_rounded_halves_up(page: PageDriver) -> None:
    at = 60
    for ticks, gone in [(1.5, 2), (0.5, 1), (0.49, 0), (2.4, 2), (-0.5, 0), (-1.5, -1), (-1.6, -2)]:
        page.call("step", ticks)
        at += gone
        assert page.state()["tick"] == at, ticks


def test_only_a_step_to_a_verify_pass_is_told_in_phases(page: PageDriver) -> None:
    def told() -> str:
        return page.text("#caption").split(":")[0]

    with page.clock() as passes:
        page.call("step", 1)
        passes(0.1)
        assert told() == "draft"
        for far in (2, -1, 0):
            page.call("step", far)
            passes(0.1)
            assert told() == "this pass", far
        page.call("evict")
        page.call("step", 1)
        passes(0.1)  # a recompute pass is done as soon as it is seen
        filled = rgb(PALETTES["light"]["accepted"])
        slots = Run(Params(evictions=(62,))).slots(63)[:64]
        accepted = [slot for slot, state in enumerate(slots) if state == "accepted"]
        assert len(accepted) > 30
        assert all(close(seen, filled) for seen in pixels(page, accepted, 0.2, 0.55))


def test_who_asked_for_less_motion_sees_no_phases_and_nothing_plays_by_itself(
    page: PageDriver,
) -> None:
    def captions(passes: Callable[[float], None]) -> set[str]:
        seen = set()
        for _ in range(40):
            passes(0.1)
            seen.add(page.text("#caption").split(":")[0])
        return seen

    page.call("set", {"speed": 1})
    with page.clock() as passes:
        page.call("play")
        assert captions(passes) == {"draft", "verify", "this pass"}
        page.call("pause")
        try:
            browsers.prefer(page.driver, prefers_reduced_motion="reduce")
            began = page.state()["tick"]
            page.call("set", {"play": True})
            assert stays(page, passes, began)
            page.call("play")
            assert captions(passes) == {"this pass"}
            assert page.state()["tick"] > began
            page.call("pause")
            page.call("step")
            assert captions(passes) == {"this pass"}
        finally:
            browsers.prefer(page.driver)


def test_the_summary_for_screen_readers_rests_while_the_run_plays(page: PageDriver) -> None:
    run = Run(Params())
    assert page.text("#summary") == summary(run, 60)
    with page.clock() as passes:
        page.call("play")
        passes(2)
        assert page.state()["tick"] > 66
        assert page.text("#tick") == str(page.state()["tick"])
        assert page.text("#summary") == summary(run, 60)
        page.call("pause")
        passes(0.1)
        assert page.text("#summary") == summary(run, page.state()["tick"])


@pytest.mark.parametrize("how", ["seek", "scrub", "ask", "text", "share", "print"])
def test_what_takes_the_reader_elsewhere_pauses(page: PageDriver, how: str) -> None:
    acts: dict[str, Callable[[], object]] = {
        "seek": lambda: page.call("seek", 100),
        "scrub": lambda: drag(page, "tick", 100),
        "ask": lambda: page.call("set", {"ask": "speedup", "tick": 100}),
        "text": lambda: page.run("document.querySelector('.try').click()"),
        "share": lambda: page.share(),
        "print": lambda: page.run("dispatchEvent(new Event('beforeprint'))"),
    }
    page.until(lambda: search(page) == "")  # what went before has been followed
    with page.clock() as passes:
        page.call("play")
        passes(1)
        assert page.text("#play-label") == "Pause"
        acts[how]()
        tick = page.state()["tick"]
        if how == "print":  # the link on paper is that of the scene on it
            assert search(page) == f"?tick={tick}"
        assert stays(page, passes, tick)
    if how == "share":
        page.run("document.querySelector('#share').close()")
    page.run("dispatchEvent(new Event('afterprint'))")
    page.call("set", {"ask": None})


def test_the_address_is_that_of_the_end_once_the_run_is_over(page: PageDriver) -> None:
    page.call("set", {"tick": 1195, "speed": 60})
    with page.clock() as passes:
        page.call("play")
        passes(2)
        assert page.text("#play-label") == "Play"
    page.until(lambda: search(page) == "?tick=1200&speed=60")


def test_play_by_a_script_is_no_part_of_the_scene(page: PageDriver) -> None:
    page.call("set", {"k": 6, "play": True})
    page.call("pause")
    page.until(lambda: "k=6" in search(page))
    assert "play" not in search(page)


# Ghosts and notices


def test_ghosts_go_with_the_drag_they_belong_to(page: PageDriver) -> None:
    def ghost() -> str:
        page.frames()
        return page.text("[data-ghost=tokens_per_pass]")

    ends: list[Callable[[], object]] = [
        lambda: page.call("set", {"c": 0.2}),
        lambda: page.call("seek", 90),
        lambda: page.call("evict"),
        lambda: page.action("reset"),
    ]
    for end in ends:
        before = page.metric("tokens_per_pass")
        drag(page, "k", 2)
        assert ghost() == before
        drag(page, "k", 11)
        assert ghost() == before  # what it was when the hand took hold
        end()
        assert ghost() == ""
        assert not page.one("#replay").is_displayed()
    drag(page, "k", 2)
    assert ghost() != ""
    page.call("play")
    assert ghost() == ""
    page.call("pause")


def test_a_notice_goes_with_the_next_change_that_needs_none(page: PageDriver) -> None:
    ends: list[Callable[[], object]] = [
        lambda: page.call("set", {"k": 5}),
        lambda: page.call("seek", 70),
        lambda: page.action("reset"),
    ]
    for end in ends:
        page.call("set", {"k": 99})
        assert page.one("#notice").is_displayed()
        end()
        assert not page.one("#notice").is_displayed()
    page.call("seek", "far")
    assert page.one("#notice").is_displayed()
    assert "tick=far" in page.text("#notice p")
    page.action("reset")


# Locks


def test_a_locked_control_keeps_the_links_value_whatever_happens_while_loading(
    faulty: Serve,
) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open("?lock=k,seed&k=7", wait=False)
    page.until(lambda: page.run("return document.readyState") == "complete")
    for selector, to in (("[name=k]", 12), ("[data-number=seed]", 9), ("[name=alpha]", 0.3)):
        page.run(
            "const [selector, to] = arguments, control = document.querySelector(selector);"
            "control.value = to; control.dispatchEvent(new Event('input', {bubbles: true}))",
            selector,
            to,
        )
    assert page.run("return document.documentElement.dataset.state") == "loading"
    wasm.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state() == scene({"k": 7, "alpha": 0.3}, 60)
    assert value(page, "[name=k]") == "7"


def test_the_map_heeds_a_lock_of_either_of_its_sides(shared: PageDriver) -> None:
    shared.open("?c=0.1&rates=0.9,0.5&lock=k")
    come(shared, "map")
    press = (
        "const canvas = document.querySelector('#chart-map canvas');"
        "const box = canvas.getBoundingClientRect();"
        "const at = {clientX: box.left + box.width * 0.5, clientY: box.top + box.height * 0.5,"
        "  bubbles: true};"
        "for (const kind of ['pointermove', 'mousemove', 'pointerdown', 'mousedown', 'pointerup',"
        "  'mouseup', 'click']) canvas.dispatchEvent(new MouseEvent(kind, at))"
    )
    row = "document.querySelectorAll('#chart-map tbody a')[6].click()"
    before = shared.state()
    for way in (press, row):
        for lock in ("k", "alpha"):
            shared.call("set", {"lock": lock})
            shared.run(way)
            assert shared.state() == before, (way, lock)
        shared.call("set", {"lock": None})
        shared.run(way)  # and it takes no time to do what it may
        assert shared.state()["params"]["acceptance_rates"] == [], way
        shared.call("reset")


def test_each_lock_locks_its_own(page: PageDriver) -> None:
    def locked(**view: Any) -> list[str]:
        page.call("set", view)
        names = ("[name=tick]", "[name=speed]", "[name=alpha]", "[data-action=one-rate]")
        return [name for name in names if not enabled(page, name)]

    assert locked(lock=["tick"]) == ["[name=tick]"]
    assert locked(lock=["speed"]) == ["[name=speed]"]
    assert locked(lock=["alpha"]) == ["[name=alpha]", "[data-action=one-rate]"]
    assert locked(lock=["rates"]) == ["[data-action=one-rate]"]
    # While there is a rate for each position, the one for all has nothing to say.
    assert not visible(page, "[data-action=one-rate]")
    assert locked(lock=[], rates=[0.9, 0.5]) == ["[name=alpha]"]
    page.action("one-rate")
    assert page.state() == scene({}, 60)
    assert locked() == []
    # Whoever goes back to the start goes back to its scene, seen as it is seen now.
    assert locked(lock=["tick"], theme="dark", k=9) == ["[name=tick]"]
    page.action("reset")
    assert page.state() == scene({}, 60)
    assert locked() == ["[name=tick]"]
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    assert locked(lock=None, theme=None) == []


# The reader's hands


def test_nothing_is_written_again_that_is_there_already(page: PageDriver) -> None:
    page.run(
        "window.written = []; window.watch = new MutationObserver((seen) => written.push("
        "  ...seen.map(({ target, attributeName }) =>"
        "    `${target.id || target.className || target.localName} ${attributeName}`)));"
        "watch.observe(document.querySelector('#widget'), {subtree: true, childList: true,"
        "  characterData: true, attributeFilter: ['d', 'x', 'width', 'class', 'href']})"
    )
    with page.clock() as passes:
        for _ in range(3):
            page.call("step", 0)
        assert page.run("return byHand.asked.length") == 1
        passes(0.3)
        assert page.run("return written") == []
        page.call("step", -1)
        passes(0.1)
        assert "path d" in page.run("return written")
    page.run("watch.disconnect()")


def test_who_asked_for_less_motion_is_put_at_once_where_a_link_leads(page: PageDriver) -> None:
    led = (
        "window.led = []; window.scrolls = Element.prototype.scrollIntoView;"
        "Element.prototype.scrollIntoView = function (asked) {"
        "  led.push(asked.behavior); scrolls.call(this, {...asked, behavior: 'instant'}); }"
    )
    try:
        browsers.resize(page.driver, 1000, 720)
        page.frames()
        page.run(led)
        for motion, behaviour in (("no-preference", "smooth"), ("reduce", "auto")):
            browsers.prefer(page.driver, prefers_reduced_motion=motion)
            page.run(
                "led.length = 0; const link = document.querySelector(arguments[0]);"
                "scrolls.call(link); link.click()",
                UNCACHED,
            )
            assert page.run("return led") == [behaviour]
            page.action("return")
    finally:
        page.run("Element.prototype.scrollIntoView = scrolls")
        browsers.prefer(page.driver)
        browsers.resize(page.driver, 1280, 720)


def test_two_new_lucks_are_two(page: PageDriver) -> None:
    page.run("document.querySelector('.advanced').open = true")
    seeds = {page.state()["params"]["seed"]}
    for _ in range(2):
        page.action("luck")
        seeds.add(page.state()["params"]["seed"])
    assert len(seeds) == 3


def test_a_speed_set_by_hand_is_in_the_address(page: PageDriver) -> None:
    drag(page, "speed", 1)
    page.until(lambda: search(page) == "?speed=60")


def test_the_theme_button_says_which_colours_there_are(page: PageDriver) -> None:
    button = "[data-action=theme]"
    said = []
    for _ in range(3):
        said.append(attribute(page, button, "aria-label"))
        assert attribute(page, button, "title") == said[-1]
        page.action("theme")
    assert said == ["Colours: as the system", "Colours: dark", "Colours: light"]


def test_arrow_keys_begin_at_the_newest_slot_go_round_and_do_not_scroll(page: PageDriver) -> None:
    page.run("document.activeElement.blur()")
    page.until(lambda: "point at" in page.text("#slot-note"))
    page.run(
        "window.kept = [];addEventListener('keydown', (event) => kept.push(event.defaultPrevented))"
    )
    board = page.one("#board")
    newest = 216
    board.send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: page.text("#slot-note").startswith(f"slot {newest}, "))
    board.send_keys(Keys.ARROW_UP * 7)  # 216 - 7 * 32 is before the first
    page.until(lambda: page.text("#slot-note").startswith("slot 504: "))
    board.send_keys(Keys.ARROW_RIGHT * 8)
    page.until(lambda: page.text("#slot-note").startswith("slot 0, "))
    board.send_keys(Keys.HOME)
    assert page.run("return kept") == [True] * 16 + [False]
    page.run("document.activeElement.blur()")
    page.until(lambda: "point at" in page.text("#slot-note"))
    assert not page.one("#cursor").is_displayed()


def test_a_link_of_the_text_can_be_opened_elsewhere(page: PageDriver) -> None:
    page.run(
        "window.kept = []; window.keeping = (event) => {"
        "  kept.push(event.defaultPrevented); event.preventDefault(); };"
        "document.addEventListener('click', keeping)"
    )
    for held in ("ctrlKey", "metaKey", "shiftKey"):
        page.run(
            "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click',"
            "  {bubbles: true, cancelable: true, [arguments[1]]: true}))",
            UNCACHED,
            held,
        )
        assert page.state() == scene({}, 60), held
    page.run("document.querySelector(arguments[0]).click()", UNCACHED)
    page.run("document.removeEventListener('click', keeping)")
    assert page.run("return kept") == [False, False, False, True]
    assert page.state() == scene({"speculation": "off", "cache": "off"}, 512)
