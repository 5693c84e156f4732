"""What the reader may move, by lock and by question: as places of the page, without a page."""

from __future__ import annotations

import pytest

from sim.face import Shown, locks, look, rail
from sim.params import Params
from sim.question import Prediction, Question
from sim.session import OF_A_STORY
from sim.state import Session
from sim.verbs import BUTTONS
from sim.view import LOCKS, View

CONTROLS = ("speculation", "k", "alpha", "cache", "c", "batch", "knee", "c0", "chunk", "seed")
ASKED = Prediction().posed(Question("speedup", 60))


def scene(
    params: Params = Params(),  # noqa: B008 - it never changes
    view: View = View(),  # noqa: B008
    prediction: Prediction = Prediction(),  # noqa: B008
) -> Session:
    return Session(params, view, (params, view), prediction)


FREE = locks(scene())


def off(shown: Shown) -> set[str]:
    """Places that are switched off here and not by default."""
    return {place for place, value in shown.items() if value is True and FREE[place] is False}


@pytest.mark.parametrize("key", [key for key in LOCKS if key != "force"])  # of no control
def test_each_lock_locks_its_own(key: str) -> None:
    expected = {f"[data-action={key}]@disabled"} if key in BUTTONS else set()
    for name in ("name", "data-number"):
        expected |= {f"[{name}={key}]@disabled"} & set(FREE)
    if key in CONTROLS:
        expected.add(f"[data-control={key}]@.fixed")
    button = {"seed": "luck", "alpha": "one-rate", "rates": "one-rate"}.get(key)
    button = "better" if key in ("k", "speculation") else button
    expected |= {f"[data-action={button}]@disabled"} if button else set()
    expected |= {"#strip@data-fixed"} if key == "force" else set()
    expected |= {"#scene@hidden"} if key == "share" else set()
    session = scene(view=View(lock=(key,)))
    assert off(locks(session)) == expected
    assert rail(session)[":root@.unrailed"] == (key in OF_A_STORY)
    assert expected or key == "story"


def test_nothing_is_locked_by_default_and_nothing_said_to_be_missing() -> None:
    assert not [place for place in FREE if place.endswith(("@disabled", "@.fixed")) and FREE[place]]
    assert FREE["[data-action=one-rate]@hidden"] is True
    assert FREE["[data-action=evict]@title"] == ""


def test_while_a_question_waits_only_what_gives_nothing_away_can_be_moved() -> None:
    shown = locks(scene(prediction=ASKED))
    of_the_clock = ("closer", "farther", "unkeep", "unghost")
    left = {place for place, value in shown.items() if value is False and "@disabled" in place}
    buttons = (
        "reset",
        "share",
        "theme",
        "words",
        "closer",
        "farther",
        "dismiss",
        "reload",
        "predict",
        "skip",
    )
    assert left == {
        "[name=speed]@disabled",
        *(f"[data-action={name}]@disabled" for name in (*buttons, *of_the_clock)),
    }
    running = locks(scene(prediction=ASKED.given_up()))
    assert set(shown.items()) - set(running.items()) == {("[data-action=play]@disabled", True)}


def test_one_rate_per_position_leaves_the_one_rate_alone_and_can_be_given_up() -> None:
    shown = locks(scene(Params(acceptance_rates=(0.9, 0.5))))
    assert off(shown) == {"[name=alpha]@disabled", "[data-number=alpha]@disabled"}
    assert shown["[data-action=one-rate]@hidden"] is False


def test_without_a_cache_there_is_nothing_to_evict() -> None:
    shown = locks(scene(Params(kv_cache=False)))
    assert off(shown) == {"[data-action=evict]@disabled", ":root@.uncached"}
    assert shown["[data-action=evict]@title"] == "Nothing is kept while the KV cache is off."


def test_a_theme_of_the_system_is_none_of_the_page() -> None:
    assert look(scene())[":root@data-theme"] is False
    assert look(scene(view=View(theme="dark")))[":root@data-theme"] == "dark"
    assert look(scene(view=View(show=("pass",))))[":root@data-show"] == "pass"
