"""A question on the page: when it stops, waits, lets go, and is left.

Python alone decides, so one engine is enough. Where time matters, the test holds the clock.
"""

from __future__ import annotations

import pytest

from sim.params import Params
from sim.settings import link
from sim.view import View
from tests.driver import PageDriver
from tests.shown import (
    enabled,
    phase,
    search,
    stays,
    value,
    visible,
)

pytestmark = pytest.mark.chromium_only("Python alone decides this")


@pytest.fixture
def asking(page: PageDriver) -> PageDriver:
    """The page with a question about tick 40; tokens cost one unit each, six come at a glance."""
    page.call("set", {"ask": "tokens", "tick": 40, "c": 0, "speed": 60})
    return page


def predict(page: PageDriver, text: str) -> None:
    page.run(
        "document.querySelector('#prediction').value = arguments[0];"
        "document.querySelector('#question').requestSubmit()",
        text,
    )


def leave(page: PageDriver) -> None:
    page.call("set", {"ask": None})
    page.action("reset")


def test_a_question_stops_at_its_tick_and_not_behind_it(asking: PageDriver) -> None:
    page = asking
    page.until(lambda: "ask=tokens" in search(page))
    with page.clock() as passes:
        predict(page, "150")
        assert "You said 150" in page.text("#asked")
        assert "runs to tick 40" in page.text("#asked")
        ticks = []
        while phase(page) == "running":
            passes(0.1)
            ticks.append(page.state()["tick"])
            assert len(ticks) < 100
        assert ticks == sorted(ticks)
        assert ticks[-2] < ticks[-1] == 40
        assert stays(page, passes, 40)
    over = link("", Params(draft_cost=0), View(tick=40, speed=60))
    page.until(lambda: search(page) == over)
    leave(page)


def test_a_question_waits_with_what_was_written_and_lets_go_of_it_when_it_is_over(
    asking: PageDriver,
) -> None:
    page = asking
    page.frames()
    assert page.text("#caption") == "no pass yet: predict first"
    assert page.text("[data-action=skip]") == "Just show me"
    for name in ("[name=speed]", "[data-action=reset]", "[data-action=share]"):
        assert enabled(page, name), name
    predict(page, "some")
    assert "“some” is not a number" in page.text("#wrong")
    assert page.run("return document.activeElement.id") == "prediction"
    # Another question about the same tick; other settings ask nothing anew.
    page.call("set", {"ask": "accepted"})
    assert "at tick 40?" in page.text("#asked")
    assert (value(page, "#prediction"), page.text("#wrong")) == ("", "")
    page.one("#prediction").send_keys("1")
    page.call("set", {"k": 3})
    assert (value(page, "#prediction"), phase(page)) == ("1", "open")
    with page.clock() as passes:
        predict(page, "12")
        assert page.text("[data-action=skip]") == "Skip to the end"
        predict(page, "13")  # too late
        assert "You said 12." in page.text("#asked")
        passes(3)
    assert (phase(page), page.state()["tick"]) == ("over", 40)
    page.call("set", {"k": 5})
    assert phase(page) == "over"
    # Asked again while it plays on, it stands at the start; what was said before is forgotten.
    with page.clock() as passes:
        page.action("play")
        passes(0.5)
        assert page.text("#play-label") == "Pause"
        page.action("again")
        assert stays(page, passes, 0)
        predict(page, "many")
        assert page.text("#wrong") != ""
        page.action("skip")
        assert page.text("#wrong") == ""
        passes(0.1)
    assert phase(page) == "over"
    assert "You said" not in page.text("#asked")
    page.action("done")
    assert page.run("return document.activeElement.dataset.action") == "play"
    leave(page)


def test_a_question_about_the_last_tick_is_answered_there(page: PageDriver) -> None:
    page.call("set", {"ask": "tokens", "tick": 1200})
    with page.clock() as passes:
        page.action("skip")
        passes(0.1)
    assert (phase(page), page.state()["tick"]) == ("over", 1200)
    leave(page)


def test_a_link_of_the_text_leaves_the_question(asking: PageDriver) -> None:
    page = asking
    page.run("document.querySelector('.try').click()")
    assert not page.one("#question").is_displayed()
    assert page.state()["tick"] > 0
    assert visible(page, "#sentence")
    page.call("reset")
