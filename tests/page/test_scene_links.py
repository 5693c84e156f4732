"""What a link of a scene holds beside the run: its parts, its locks, its question."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from sim.narrator import sentence
from sim.params import Params
from sim.question import Question
from sim.run import Run
from sim.settings import link
from sim.view import PARTS, View
from tests.driver import PageDriver
from tests.shown import enabled, phase, scene, visible

PART_BOXES = {
    "rail": [".rail"],
    "board": [".board-part", ".legend"],
    "pass": [".pass"],
    "numbers": [".numbers", ".sentence"],
    "controls": [".controls"],
    "clock": [".clock-part"],
    "timeline": [".timeline-part"],
}


# Links


def has_followed(page: PageDriver, opened: str) -> bool:
    """Whether the address is another one than the page was opened with."""
    return bool(page.run("return location.search") != opened)


def test_a_scene_survives_the_way_through_the_address(shared: PageDriver) -> None:
    params = Params(
        draft_length=17,
        acceptance_rates=(0.458, 0.907),
        kv_cache=False,
        draft_cost=0.123,
        evictions=(12, 345, 678),
        seed=4_000_000_000,
    )
    view = View(
        tick=1011,
        speed=37.0,
        embed=True,
        show=("board", "numbers", "timeline"),
        lock=("k", "seed", "step"),
        theme="dark",
    )
    written = link("", params, view)
    opened = f"{written}&of-another=page"
    shared.open(opened)
    shared.call("step", 0)  # a change, so that the address follows
    shared.until(partial(has_followed, shared, opened))
    assert shared.run("return location.search") == written
    assert shared.state() == dict(json.loads(json.dumps(Run(params).report(view.tick))))
    assert shared.run("return document.documentElement.dataset.show") == " ".join(view.show)
    assert shared.run("return 'embed' in document.documentElement.dataset")
    assert shared.run("return document.documentElement.dataset.theme") == "dark"
    assert shared.text("#speed") == "37"


def test_a_link_chooses_parts(shared: PageDriver) -> None:
    shared.open("?show=board")
    for parts in (("board",), ("pass", "timeline"), ("numbers", "controls"), PARTS):
        shared.call("set", {"show": parts} if parts != ("board",) else {})
        shared.frames()
        for part, boxes in PART_BOXES.items():
            for box in boxes:
                assert visible(shared, box) == (part in parts), (parts, box)
        assert not shared.one("#notice").is_displayed()
        assert shared.run("return document.documentElement.scrollWidth <= innerWidth")


def test_a_link_for_a_frame_leaves_the_widget_alone(shared: PageDriver) -> None:
    shared.open("?embed=1&seed=5")
    assert not visible(shared, "[data-action=share]")
    assert not visible(shared, ".text")
    assert "seed 5" in shared.one(".scene").text
    assert shared.one("#scene").get_property("href") == f"{shared.address}?seed=5"
    shared.action("step")
    shared.until(lambda: "tick=61" in str(shared.one("#scene").get_property("href")))


def test_what_is_locked_is_shown_but_fixed(shared: PageDriver) -> None:
    shared.open("?lock=k,alpha,evict,seed,tick,speed,play,step,cache&rates=0.9,0.5&k=6")
    shared.run("document.querySelector('.advanced').open = true")
    for selector in (
        *("[name=k]", "[data-number=k]", "[name=alpha]", "[name=cache]", "[name=tick]"),
        *("[name=speed]", "[data-number=seed]", "[data-action=luck]", "[data-action=one-rate]"),
        *("[data-action=evict]", "[data-action=play]", "[data-action=step]"),
    ):
        assert visible(shared, selector), selector
        assert not enabled(shared, selector), selector
    for selector in ("[name=speculation]", "[name=c]", "[data-action=back]", "[data-action=reset]"):
        assert enabled(shared, selector), selector
    assert "(fixed)" in shared.run(
        "return getComputedStyle(document.querySelector('label[for=k]'), '::after').content"
    )
    shared.one("[name=speculation]").click()
    shared.action("back")
    assert shared.state() == scene({"rates": [0.9, 0.5], "k": 6, "speculation": "off"}, 59)
    # A lock is for the reader: a host and a script may still set the scene.
    shared.call("set", {"k": 3})
    assert shared.state()["params"]["draft_length"] == 3
    shared.action("reset")
    assert shared.state() == scene({"rates": [0.9, 0.5], "k": 6}, 60)
    shared.call("set", {"lock": None, "rates": None})
    assert enabled(shared, "[name=k]")


def test_bad_values_of_a_view_are_mended_and_named(shared: PageDriver) -> None:
    shared.open("?show=board,sound&lock=k,door&embed=maybe&ask=luck&theme=pink")
    notice = shared.text("#notice p")
    for said in ("show=board,sound", "lock=k,door", "embed=maybe", "ask=luck", "theme=pink"):
        assert said in notice
    assert "using board." in notice
    assert visible(shared, ".board-part")
    assert not visible(shared, ".controls")
    assert not enabled(shared, "[name=k]")
    shared.action("dismiss")
    assert not shared.one("#notice").is_displayed()


def test_set_reaches_what_a_link_reaches(page: PageDriver) -> None:
    page.call("set", {"show": ["board"], "theme": "dark", "lock": ["step"], "speed": 30})
    assert not visible(page, ".controls")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    assert not enabled(page, "[data-action=step]")
    page.call("set", {"play": True})
    page.until(lambda: page.state()["tick"] > 65)
    page.call("pause")
    page.call("reset")
    assert page.state() == scene({}, 60)
    assert not visible(page, ".controls")  # how it is shown is the host's, not the scene's
    page.call("set", {"show": None, "theme": None, "lock": None})
    assert visible(page, ".controls")
    assert enabled(page, "[data-action=step]")


# Predict, then run


OVERTAKING: list[tuple[str, list[Any]]] = [
    *(("play", []), ("seek", [700]), ("step", [3]), ("set", [{"play": True}])),
]


@pytest.mark.every_engine
def test_a_question_hides_the_answer_runs_and_compares(shared: PageDriver) -> None:
    shared.open("?ask=speedup&k=12&alpha=0.6&c=0.05&tick=40&speed=60")
    assert "speedup** at tick 40" in Question("speedup", 40).text
    assert "speedup at tick 40?" in shared.text("#asked")
    assert shared.state()["tick"] == 0
    for name in ("speedup", "theory_speedup", "tokens_per_pass", "theory_tokens_per_pass"):
        shown = shared.run(
            "return [...document.querySelectorAll(`[data-metric=${arguments[0]}]`)]"
            ".map((e) => e.textContent)",
            name,
        )
        assert set(shown) == {"?"}, name
    for selector in ("[name=k]", "[data-action=play]", "[data-action=step]", "[name=tick]"):
        assert not enabled(shared, selector)
    assert not visible(shared, "#sentence")
    field = shared.one("#prediction")
    field.send_keys("fast" + Keys.ENTER)
    assert shared.text("#wrong") == "“fast” is not a number. Write one, such as 3."
    assert phase(shared) == "open"
    field.clear()
    field.send_keys("1,5" + Keys.ENTER)
    shared.until(lambda: phase(shared) == "running" or shared.state()["tick"] == 40)
    assert shared.text("#wrong") == ""
    shared.until(lambda: phase(shared) == "over")
    run = Run(Params(draft_length=12, acceptance_rate=0.6, draft_cost=0.05))
    assert shared.state() == scene({"k": 12, "alpha": 0.6, "c": 0.05}, 40)
    verdict = Question("speedup", 40).verdict(1.5, run).replace("**", "")
    assert shared.text("#asked") == f"{verdict} {sentence(run, 40).text}"
    assert enabled(shared, "[data-action=play]")
    assert shared.metric("speedup") != "?"
    assert enabled(shared, "[name=k]")
    shared.action("done")
    assert not visible(shared, "#question")
    assert visible(shared, "#sentence")
    shared.action("reset")
    assert phase(shared) == "open"
    assert shared.state()["tick"] == 0


def test_a_question_can_be_left_skipped_and_put_by_a_script(shared: PageDriver) -> None:
    shared.open("?ask=tokens&tick=500")
    assert "tick=500" in str(shared.one("#scene").get_property("href"))
    shared.action("skip")
    shared.until(lambda: phase(shared) == "over")
    assert shared.state() == scene({}, 500)
    tokens = scene({}, 500)["tokens"]
    assert shared.text("#asked") == (
        f"It is {tokens} at tick 500. {sentence(Run(Params()), 500).text}"
    )
    shared.action("again")
    assert (phase(shared), shared.state()["tick"]) == ("open", 0)
    shared.action("skip")
    shared.until(lambda: phase(shared) == "over")
    shared.action("done")
    assert not visible(shared, "#question")
    shared.until(lambda: shared.run("return location.search") == "?tick=500")
    # Nothing plays, seeks or steps past an open question; another tick is another question.
    shared.call("set", {"ask": "draft_acceptance", "tick": 250, "speed": 1})
    with shared.clock() as passes:
        for name, values in OVERTAKING:
            shared.call(name, *values)
            passes(3)
            assert (phase(shared), shared.state()["tick"]) == ("open", 0), name
    assert "at tick 250?" in shared.text("#asked")
    shared.call("set", {"tick": 300})
    assert shared.state()["tick"] == 0
    assert "at tick 300?" in shared.text("#asked")
    assert shared.text("#unit") == "%"
    shared.one("#prediction").send_keys("59 %")
    shared.action("predict")
    playing = "return document.documentElement.matches('.playing')"
    shared.until(lambda: phase(shared) == "running" and shared.run(playing))
    assert enabled(shared, "[data-action=play]")
    shared.action("play")
    shared.until(lambda: not shared.run(playing))
    shared.action("skip")
    shared.until(lambda: phase(shared) == "over")
    assert shared.state()["tick"] == 300
    assert "You said 59 %." in shared.text("#asked")
    shared.until(lambda: shared.run("return location.search") == "?tick=300&speed=1")


def test_the_question_has_the_room_of_the_sentence(page: PageDriver) -> None:
    page.call("set", {"ask": "positions_recomputed", "tick": 200, "evict": 100})
    page.frames()
    assert page.one("#question").is_displayed()
    assert (
        page.run("return document.querySelector('#widget').getBoundingClientRect().bottom") <= 720
    )
    assert page.run("return document.documentElement.scrollWidth") <= 1280
    page.call("set", {"ask": None})
