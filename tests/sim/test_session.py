"""Every action on a scene, one by one and in any order, without a browser.

`SESSION_EXAMPLES` is how many courses of actions are tried.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sim import asks
from sim import session as actions
from sim.metrics import ANSWERS, METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.question import OPEN, OVER, RUNNING, points
from sim.rail import STORIES
from sim.run import Run
from sim.session import Step, opened
from sim.settings import link, query
from sim.state import Session
from sim.story import figures
from sim.verbs import SCRIPTED, VERBS
from sim.view import BY_KEY, NO_LAB, NO_QUESTION, VIEW, View, asked
from sim.words import figure
from tests.strategies import ANY_PARAMS, ANY_VIEW, values

EXAMPLES = int(os.environ.get("SESSION_EXAMPLES", "25"))
STEPS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a course is short enough to be read as it is
)

ASKING = {"ask": "speedup", "tick": 40, "k": 12, "alpha": 0.6, "c": 0.05}


def after(step: Step) -> Session:
    """The session of a step that nothing was wrong with."""
    session, complaints = step
    assert complaints == []
    return session


def at(**keys: object) -> Session:
    return after(opened(keys))


def then(session: Session, *steps: Callable[[Session], Step]) -> Session:
    for step in steps:
        session = after(step(session))
    return session


# Opening


def test_a_session_opens_where_its_link_leads() -> None:
    session, complaints = opened({"k": "99", "tick": "61", "theme": "dark"})
    assert session.params == Params(draft_length=32)
    assert session.view == View(tick=61, theme="dark")
    assert complaints == ["k=99 is not a whole number from 1 to 32; using 32."]
    assert not session.playing
    assert session.run.params == session.params


def test_it_plays_at_once_where_the_link_says_so_and_the_reader_bears_it() -> None:
    assert at(play="on").playing
    assert not at(play="on").view.play
    assert not after(opened({"play": "on"}, still=True)).playing
    assert not at(play="on", ask="tokens").playing
    assert not after(opened({"play": "on"}, {"k": 7})).playing


def test_what_was_moved_before_it_was_there_is_kept_but_where_a_question_is_put() -> None:
    assert after(opened({"alpha": "0.5"}, {"k": 7})).params == Params(
        draft_length=7, acceptance_rate=0.5
    )
    assert after(opened({"ask": "tokens"}, {"k": 7})).params == Params()
    session, complaints = opened({"k": "99"}, {"c": "9"})
    assert [told.partition(" ")[0] for told in complaints] == ["k=99", "c=9"]
    assert session.params == Params(draft_length=32, draft_cost=8.0)
    assert session.opened[0] == Params(draft_length=32)


# Settings


def test_a_change_is_by_key_or_name_and_mends_what_it_is_given() -> None:
    session, complaints = actions.change(at(), {"k": 7, "acceptance_rate": 7, "Speed": 3})
    assert session.params == Params(draft_length=7, acceptance_rate=1.0)
    assert complaints == [
        "alpha=7 is not a number from 0 to 1; using 1.",
        "Speed is not a key; did you mean speed?",
    ]
    assert session.view == View()


def test_a_change_may_begin_to_play_but_not_for_who_asked_for_less_motion() -> None:
    assert after(actions.change(at(), {"play": True})).playing
    assert not after(actions.change(at(), {"play": False})).playing
    calm = replace(at(), still=True)
    assert not after(actions.change(calm, {"play": True})).playing
    assert after(actions.play(calm)).playing
    playing = after(actions.play(at()))
    assert after(actions.change(playing, {"k": 7})).playing


def test_a_drag_shows_the_numbers_of_before_until_it_ends() -> None:
    before = figures(Run(Params()).report(60), Run(Params()))
    wanted = {name: before[name] for name in ("tokens_per_pass", "speedup")}
    dragged = at()
    assert dragged.ghosts == {}
    for k in (5, 9, 12):
        dragged = after(actions.change(dragged, {"k": k}, ghost=True))
        assert dragged.ghosts == wanted
    assert dragged.params == Params(draft_length=12)
    ends: list[Callable[[Session], Step]] = [
        *(actions.drag_ends, actions.play, actions.reset, lambda s: actions.seek(s, 9)),
        *(lambda s: actions.change(s, {"c": 1}), lambda s: actions.visit(s, {})),
    ]
    for end in ends:
        assert after(end(dragged)).ghosts == {}
    assert after(actions.drag_ends(dragged)).params == dragged.params
    assert after(actions.set_speed(dragged, 1.0)).ghosts == wanted


def test_a_field_is_read_where_it_says_something_new() -> None:
    session = at(k="7")
    assert actions.enter(session, "k", "7") == (session, [])
    assert after(actions.enter(session, "k", "9")).params.draft_length == 9
    assert actions.enter(session, "k", "abc") == (
        session,
        ["k=abc is not a whole number from 1 to 32; it stays 7."],
    )
    mended, complaints = actions.enter(session, "k", "99")
    assert mended.params.draft_length == 32
    assert complaints == ["k=99 is not a whole number from 1 to 32; using 32."]


def test_a_field_is_stepped_from_what_is_written_there() -> None:
    session = at(alpha="0.5")
    assert after(actions.nudge(session, "alpha", "0,7", True)).params.acceptance_rate == 0.71
    assert after(actions.nudge(session, "alpha", "x", False)).params.acceptance_rate == 0.49
    assert after(actions.nudge(session, "k", "32", True)).params.draft_length == 32


def test_an_eviction_is_at_the_tick_and_none_with_the_cache_off() -> None:
    session = then(at(evict="300,100", tick="200"), actions.evict, actions.evict)
    assert session.params.evictions == (100, 200, 300)
    uncached = at(cache="off")
    assert actions.evict(uncached) == (uncached, [])
    assert after(actions.evict(after(actions.play(at())))).playing


# Verdicts set by hand, and runs compared


def verdicts(session: Session) -> tuple[tuple[int, int], ...]:
    return session.params.verdicts


def test_a_press_on_an_accepted_draft_rejects_it_and_on_any_other_accepts_up_to_it() -> None:
    stops = next(
        t for t in range(1, 99) if (p := Run(Params()).verify_pass_at(t)) and p.accepted == 2
    )
    session = at(tick=stops)
    for draft, accepted in ((0, 0), (1, 1), (2, 3), (3, 4)):
        forced = after(actions.force(session, draft))
        assert verdicts(forced) == ((stops, accepted),)
        assert forced.view.tick == stops
        assert forced.ghost == session.params
        again = after(actions.force(forced, draft))
        assert (again.params, again.ghost) == (session.params, None)
    back = then(session, *(partial(actions.force, draft=draft) for draft in (0, 3, 2, 1)))
    assert verdicts(back) == ((stops, 1),)
    given_back = after(actions.force(back, 1))
    assert given_back.params == session.params, "the last press is undone, not the first"
    whole = then(session, lambda s: actions.force(s, 3), lambda s: actions.force(s, 2))
    assert verdicts(whole) == (), "what the coins have anyway is not set by hand"
    changed = then(session, lambda s: actions.force(s, 3), lambda s: actions.force(s, 0))
    assert verdicts(changed) == ((stops, 0),)
    assert changed.ghost == Params(verdicts=((stops, 4),))


def test_the_pass_is_the_one_that_is_shown_whatever_was_recomputed() -> None:
    session = at(evict="30", tick="60", force="9:1")
    record = session.run.verify_pass_at(60)
    assert record
    assert record.number < 60
    forced = after(actions.force(session, 3 if record.accepted < 4 else 0))
    assert dict(verdicts(forced)).keys() == {9, record.number}


@pytest.mark.parametrize(
    "keys",
    [
        *({"tick": 0}, {"evict": "60"}, {"evict": "58"}, {"speculation": "off"}),
        *({"lock": "force"}, {"ask": "speedup"}),
    ],
)
def test_where_there_is_no_verdict_to_set_or_it_is_locked_nothing_is_set(
    keys: dict[str, object],
) -> None:
    session = at(**keys)
    for draft in (-1, 0, 3, 4):
        assert actions.force(session, draft) == (session, [])


def test_a_press_pauses() -> None:
    assert not after(actions.force(after(actions.play(at())), 0)).playing


def test_the_run_as_it_was_is_shown_until_settings_change_or_it_is_dismissed() -> None:
    forced = after(actions.force(at(), 0))
    assert forced.ghost == Params()
    stays: list[Callable[[Session], Step]] = [
        *(lambda s: actions.seek(s, 9), lambda s: actions.step(s, 1), actions.play, actions.pause),
        *(actions.keep, actions.dismiss_kept, actions.next_theme, actions.drag_ends),
        *(lambda s: actions.change(s, {"tick": 90}), lambda s: actions.change(s, {"k": 4})),
    ]
    for step in stays:
        assert after(step(forced)).ghost == Params()
    ends: list[Callable[[Session], Step]] = [
        *(actions.dismiss_ghost, actions.reset, actions.evict, lambda s: actions.visit(s, {})),
        *(lambda s: actions.change(s, {"k": 5}), lambda s: actions.change(s, {"force": None})),
        lambda s: actions.change(s, {"ask": "speedup"}),
    ]
    for step in ends:
        assert after(step(forced)).ghost is None
    assert query(*forced.link[:2]) == {"force": "60:0"}, "a link does not hold it"


def test_a_run_is_kept_for_comparison_until_it_is_dismissed() -> None:
    kept = then(at(k="12"), actions.keep, lambda s: actions.change(s, {"k": 3, "tick": 90}))
    assert kept.kept == (Params(draft_length=12), 60)
    assert kept.kept
    assert kept.kept.run.report(60) == Run(Params(draft_length=12)).report(60)
    assert kept.kept.words == "draft length 12 · acceptance rate 0.8 · seed 0 · tick 60"
    run = Run(Params(draft_length=12))
    told = figures(run.report(60), run)
    assert kept.kept.figures == {metric.name: told[metric.name] for metric in METRICS}
    for step in (actions.reset, actions.play, lambda s: actions.visit(s, {})):
        assert after(step(kept)).kept == kept.kept
    assert after(actions.keep(kept)).kept == (Params(draft_length=3), 90)
    assert after(actions.dismiss_kept(kept)).kept is None
    asked = after(opened(ASKING))
    assert after(actions.keep(asked)).kept is None


def test_luck_rates_and_the_place_in_a_chart_are_settings() -> None:
    session = at(rates="0.9,0.5", k="3")
    assert after(actions.new_luck(session, 7)).params == replace(session.params, seed=7)
    assert after(actions.one_rate(session)).params == Params(draft_length=3)
    there = Params(draft_length=9, acceptance_rate=0.4)
    clicked = {"k": 9, "alpha": 0.4, "rates": None}
    assert after(actions.take(session, clicked)).params == there
    for lock in ("k", "alpha", "rates"):
        locked = after(actions.change(session, {"lock": [lock]}))
        assert actions.take(locked, clicked) == (locked, [])
    alone = after(actions.change(session, {"lab": "convert"}))
    assert after(actions.take(alone, {"k": 9})).view.lab == NO_LAB


def test_a_lab_leads_to_another_one_with_its_settings_and_alone_to_one_alone() -> None:
    keys = {"cost.batch": "8"}
    among_all = after(actions.lead(at(), "cost", keys))
    assert (dict(among_all.lab_keys), among_all.view.lab) == (keys, NO_LAB)
    alone = after(actions.lead(at(lab="text"), "cost", keys))
    assert (dict(alone.lab_keys), alone.view.lab) == (keys, "cost")


def test_a_scene_of_the_text_is_set_whole_and_seen_as_the_page_is_seen() -> None:
    session = then(at(k="9", seed="5", speed="30", ask="tokens", theme="dark"), actions.play)
    visited = after(actions.visit(session, {"alpha": "0.5", "tick": "100"}))
    assert visited.params == Params(acceptance_rate=0.5)
    assert visited.view == View(tick=100, theme="dark")
    assert (visited.playing, visited.prediction.question) == (False, None)


def test_speed_and_theme_go_round() -> None:
    speeds = [after(actions.set_speed(at(), share)).view.speed for share in (0, 0.5, 0.51, 1)]
    assert speeds == [1.0, 8.0, 8.0, 60.0]
    session, seen = at(), []
    for dark in (False, True):  # the first press is one that is seen
        for _ in range(4):
            session = after(actions.next_theme(session, dark))
            seen.append(session.view.theme)
        session = at()
    assert seen == ["dark", "light", "auto", "dark", "light", "dark", "auto", "light"]


# Time


def test_a_seek_pauses_and_is_read_as_a_link_is() -> None:
    session = after(actions.seek(after(actions.play(at())), "61"))
    assert (session.view.tick, session.playing) == (61, False)
    assert after(actions.seek(session, None)).view.tick == 60
    beyond, complaints = actions.seek(session, 5000)
    assert (beyond.view.tick, len(complaints)) == (HORIZON, 1)


@pytest.mark.parametrize(
    ("ticks", "tick"), [(1, 61), (-1, 59), (0.5, 61), (-0.5, 60), (1e9, 1200), (-1e9, 0)]
)
def test_a_step_is_rounded_halves_up_and_stays_within_the_run(ticks: float, tick: int) -> None:
    assert after(actions.step(at(), ticks)).view.tick == tick


@pytest.mark.parametrize("ticks", ["1", True, None, [], math.nan, math.inf, -math.inf])
def test_what_is_no_number_of_ticks_steps_nothing(ticks: object) -> None:
    session = after(actions.play(at()))
    told = f"step({ticks if ticks != [] else ''}): not a number of ticks; nothing was stepped."
    assert actions.step(session, ticks) == (session, [told])


def test_only_one_step_on_to_a_verify_pass_is_told_in_phases() -> None:
    assert after(actions.step(at(), 1)).in_phases == 61
    for ticks in (2, -1, 0):
        assert after(actions.step(at(), ticks)).in_phases is None
    evicted = at(evict="60")
    assert after(actions.step(evicted, 1)).in_phases is None
    stepped = after(actions.step(at(), 1))
    for end in (actions.pause, actions.play, lambda s: actions.seek(s, 61)):
        assert after(end(stepped)).in_phases is None
    assert after(actions.change(stepped, {"k": 5})).in_phases == 61


def test_a_step_that_brings_an_answer_is_told_at_once() -> None:
    running = then(
        after(opened({"ask": "speedup", "tick": "40"})),
        *(lambda s: actions.predict(s, "3"), lambda s: actions.arrive(s, 38)),
    )
    nearly = after(actions.step(running, 1))
    assert nearly.in_phases == 39
    there = after(actions.step(nearly, 1))
    assert there.prediction.phase == OVER
    assert there.in_phases is None


def test_playing_starts_over_at_the_horizon_and_stops_there() -> None:
    over = at(tick="1200")
    assert after(actions.play(over)).view.tick == 0
    playing = after(actions.play(at()))
    assert after(actions.play(playing)) == playing
    assert after(actions.toggle(playing)) == at()
    assert after(actions.toggle(at())) == playing
    assert after(actions.arrive(playing, 70)).view.tick == 70
    assert after(actions.arrive(playing, 70)).playing
    beyond = after(actions.change(playing, {"tick": HORIZON}))  # nothing comes after it
    assert (beyond.view.tick, beyond.playing) == (HORIZON, False)
    ended = after(actions.arrive(playing, HORIZON))
    assert (ended.view.tick, ended.playing) == (HORIZON, False)
    assert after(actions.arrive(at(), 70)) == at()


def test_reset_restores_the_scene_and_leaves_how_it_is_seen() -> None:
    session = at(k="9", tick="77", speed="30", play="on", lock="k", theme="dark", show="board")
    seen = {"lock": "tick", "theme": "light", "show": "pass", "embed": True}
    gone = then(
        session,
        lambda s: actions.change(s, {"k": 3, "c": 1, "speed": 2, **seen}),
        lambda s: actions.change(s, {"alpha": 0.1}, ghost=True),
        actions.reset,
    )
    assert gone.params == Params(draft_length=9)
    assert gone.view == View(
        tick=77, speed=30.0, lock=("tick",), theme="light", show=("pass",), embed=True
    )
    assert (gone.playing, gone.ghosts, gone.opened) == (False, {}, session.opened)


# Locks


def test_a_lock_fixes_its_control_and_the_buttons_that_go_with_it() -> None:
    def fixed(*locks: str) -> set[str]:
        session = at(lock=",".join(locks))
        return {verb.name for verb in VERBS if session.fixed_button(verb.name)}

    assert fixed() == set()
    assert fixed("seed") == {"luck"}
    assert fixed("alpha") == fixed("rates") == {"one-rate"}
    assert fixed("evict", "play", "theme") == {"evict", "play", "theme"}
    assert at(lock="k").fixed("k")
    assert not at(lock="k").fixed("alpha")
    assert at(cache="off").fixed_button("evict")
    per_position = at(rates="0.9,0.5")
    assert per_position.disabled("alpha")
    assert not per_position.fixed("alpha")
    assert not at().disabled("alpha")


def test_a_lock_is_for_the_reader_and_not_for_scripts() -> None:
    session = at(lock="k,seed,evict,reset,play")
    assert after(actions.change(session, {"k": 3})).params.draft_length == 3
    assert after(actions.evict(session)).params.evictions == (60,)
    assert after(asks.call(session, "play", [])).playing


def test_while_a_question_waits_little_can_be_moved() -> None:
    waiting = at(**ASKING)
    allowed = {
        "reset",
        "share",
        "theme",
        "words",
        "closer",
        "unkeep",
        "unghost",
        "farther",
        "predict",
        "skip",
        "dismiss",
        "reload",
    }
    free = {verb.name for verb in VERBS if not waiting.fixed_button(verb.name)}
    assert free == allowed
    assert [key for key in BY_KEY if not waiting.fixed(key)] == ["speed"]
    running = after(actions.predict(waiting, "2"))
    free = {verb.name for verb in VERBS if not running.fixed_button(verb.name)}
    assert free == allowed | {"play"}
    assert running.fixed("k")
    over = after(actions.skip(running))
    assert not over.fixed("k")
    assert not over.fixed_button("step")


# A question


def test_a_question_is_put_at_the_start_and_runs_to_its_tick_once_it_is_answered() -> None:
    session = at(**ASKING)
    question = session.prediction.question
    assert question
    assert (question.name, question.tick, session.prediction.phase) == ("speedup", 40, OPEN)
    assert (session.view.tick, session.playing) == (0, False)
    assert session.prediction.told(session.run) == question.text
    wrong = after(actions.predict(session, "fast"))
    assert wrong.prediction.wrong == "“fast” is not a number. Write one, such as 3."
    assert (wrong.prediction.phase, wrong.playing) == (OPEN, False)
    running = after(actions.predict(wrong, "1,5"))
    assert (running.prediction.wrong, running.prediction.phase) == ("", RUNNING)
    assert running.playing
    assert running.prediction.told(running.run) == "You said **1.5×**. It runs to tick 40 …"
    assert running.prediction.answer(running.run) is None
    assert after(actions.predict(running, "3")) == running
    near = after(actions.arrive(running, 39))
    assert (near.view.tick, near.prediction.phase, near.playing) == (39, RUNNING, True)
    there = after(actions.arrive(near, 300))
    assert (there.view.tick, there.prediction.phase, there.playing) == (40, OVER, False)
    assert there.prediction.told(there.run) == question.verdict(1.5, there.run)
    assert there.prediction.answer(there.run) == {
        "question": "speedup",
        "prediction": 1.5,
        "result": round(there.run.report(40)["speedup"], 2),
        "score": points(1.5, there.run.report(40)["speedup"]),
        "tick": 40,
        "attempts": 1,
    }
    gone = after(actions.done(there))
    assert (gone.prediction.question, gone.view) == (None, there.view)
    assert gone.prediction.told(gone.run) == ""
    again = after(actions.reset(gone))
    assert (again.prediction.phase, again.view.tick) == (OPEN, 0)


def test_a_question_about_any_tick_is_reached() -> None:
    first = after(actions.predict(at(ask="tokens", tick=0), "3"))
    assert (first.prediction.phase, first.view.tick, first.playing) == (OVER, 0, False)
    last = after(actions.skip(at(ask="tokens", tick=HORIZON)))
    assert (last.prediction.phase, last.view.tick) == (OVER, HORIZON)
    sought = then(at(**ASKING), lambda s: actions.predict(s, "2"), lambda s: actions.seek(s, 90))
    assert (sought.prediction.phase, sought.view.tick) == (OVER, 90)


def test_nothing_overtakes_an_open_question_and_another_tick_is_another_question() -> None:
    session = at(**ASKING)
    overtaking: list[Callable[[Session], Step]] = [
        *(actions.play, actions.toggle, lambda s: actions.seek(s, 700)),
        *(lambda s: actions.step(s, 3), lambda s: actions.change(s, {"play": True})),
        lambda s: actions.arrive(s, 700),
    ]
    for way in overtaking:
        assert after(way(session)) == session
    later = after(actions.change(session, {"tick": 300}))
    assert later.prediction.question == session.prediction.question._replace(tick=300)  # type: ignore[union-attr]
    assert (later.view.tick, later.prediction.put) == (0, session.prediction.put)
    assert after(actions.change(session, {"k": 3})).prediction == session.prediction
    # Asked for something else, it is still about the tick that it is about.
    other = after(actions.change(later, {"ask": "accepted"}))
    assert other.prediction.question == later.prediction.question._replace(name="accepted")  # type: ignore[union-attr]
    assert other.prediction.put == later.prediction.put + 1


def test_a_question_can_be_skipped_and_put_again() -> None:
    session = then(at(**ASKING), lambda s: actions.predict(s, "x"), actions.skip)
    assert (session.prediction.phase, session.view.tick) == (OVER, 40)
    told = {"question": "speedup", "prediction": None, "tick": 40, "attempts": 1}
    assert (session.prediction.answer(session.run) or {}).items() >= told.items()
    assert not session.prediction.told(session.run).startswith("You said")
    assert session.prediction.wrong == ""
    playing = after(actions.play(session))
    again = after(actions.ask_again(playing))
    assert (again.prediction.phase, again.view.tick, again.playing) == (OPEN, 0, False)
    assert again.prediction.put == session.prediction.put + 1
    paused = then(again, lambda s: actions.predict(s, "2"), actions.pause, actions.skip)
    assert paused.prediction.said == 2
    assert after(actions.skip(paused)) == paused
    for unasked in (actions.skip, actions.ask_again):
        assert after(unasked(at())) == at()
    assert after(actions.predict(at(), "3")) == at()


def test_a_link_holds_the_question_as_long_as_it_waits() -> None:
    session = at(**ASKING)
    assert query(session.params, session.scene) == {
        name: str(value) for name, value in ASKING.items()
    }
    assert after(actions.predict(session, "2")).scene == session.scene
    over = after(actions.skip(session))
    assert (over.scene.ask, over.scene.tick) == (NO_QUESTION, 40)
    assert after(actions.done(session)).scene.ask == NO_QUESTION


# Who asks


def test_every_call_of_the_api_and_every_plain_button_does_what_its_name_says() -> None:
    session = at()
    for name, values_, same in (
        ("set", [{"k": 7}], actions.change(session, {"k": 7})),
        ("set", [], actions.change(session, {})),
        ("set", [None], actions.change(session, {})),
        ("seek", [9], actions.seek(session, 9)),
        ("seek", [], actions.seek(session, None)),
        ("step", [3], actions.step(session, 3)),
        ("step", [], actions.step(session, 1)),
        ("play", [], actions.play(session)),
        ("pause", [], actions.pause(session)),
        ("evict", [], actions.evict(session)),
        ("reset", [], actions.reset(session)),
        ("state", [], (session, [])),
    ):
        assert asks.call(session, name, values_) == same, name
    told = "set([1]): not an object of settings; nothing was set."
    assert asks.call(session, "set", [[1]]) == (session, [told.replace("[1]", "1")])
    for name in SCRIPTED:
        asks.call(session, name, [])
    press = asks.BUTTONS
    assert press["step"](session) == actions.step(session, 1)
    assert press["back"](session) == actions.step(session, -1)
    assert press["start"](session) == actions.seek(session, 0)
    needy = {"share", "luck", "predict", "return", "dismiss", "reload"}
    assert set(press) | needy | set(SCRIPTED) >= {verb.name for verb in VERBS} - {
        *("picture", "resume"),
    }


def test_nothing_can_be_wrong_with_a_silent_action_and_none_sets_parameters() -> None:
    silent = {action.__name__ for action in asks.SILENT}
    with_more = {"arrive": 90, "set_speed": 0.3, "predict": "many", "note": "2."}
    assert silent > set(with_more)
    for session in (at(), at(**ASKING)):
        for name in silent:
            more = [with_more[name]] if name in with_more else []
            assert after(getattr(actions, name)(session, *more)).params == session.params


# In any order


KEYS = tuple(row.key for row in PARAMETERS + VIEW if row.key not in ("tick", "ask", "play"))
CHANGES = st.fixed_dictionaries({}, optional={key: values(BY_KEY[key]) for key in KEYS}) | (
    st.dictionaries(
        st.sampled_from(list(BY_KEY)), st.none() | st.text(max_size=4) | st.integers(), max_size=3
    )
)
CONTROLS = ("speculation", "k", "alpha", "cache", "c", "batch", "knee", "c0", "chunk", "seed")
TICKS = st.integers(0, HORIZON)
TEXTS = st.sampled_from(["3", "1,5", "59 %", "", "many"])


class Unseen:
    """A run that nobody may look at."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the run's {name} was looked at")


UNSEEN: Any = Unseen()


class Courses(RuleBasedStateMachine):
    """Readers, scripts and hosts at the same scene, with no lock that holds them."""

    session: Session

    def go(self, step: Step) -> Session:
        self.session = step[0]
        return self.session

    @initialize(params=ANY_PARAMS, view=ANY_VIEW)
    def open(self, params: Params, view: View) -> None:
        keys = asked(link("", params, view))
        self.session = after(opened(keys))
        assert self.session.opened == (params, view)

    @rule(story=st.integers(1, len(STORIES)))
    def tell(self, story: int) -> None:
        self.go(actions.tell(self.session, story))

    @rule(changes=CHANGES)
    def change(self, changes: dict[str, Any]) -> None:
        after = self.go(actions.change(self.session, changes))
        assert after.ghosts == {}

    @rule(tick=TICKS)
    def set_tick(self, tick: int) -> None:
        was = self.session
        after = self.go(actions.change(was, {"tick": tick}))
        if was.prediction.open:
            assert after.scene.tick == tick or after.prediction == was.prediction
        else:
            assert after.view.tick == tick

    @rule(k=st.integers(1, 32), c=st.floats(0, 8))
    def drag(self, k: int, c: float) -> None:
        was = self.session
        params, tick = was.before_drag or (was.params, was.view.tick)
        dragged = self.go(actions.change(was, {"k": k, "c": c}, ghost=True))
        report = Run(params).report(tick)
        for name, text in dragged.ghosts.items():
            assert text == figure(name, report[name])
        assert set(dragged.ghosts) == {"tokens_per_pass", "speedup"} - dragged.prediction.hidden

    @rule()
    def drag_ends(self) -> None:
        was = self.session
        assert self.go(actions.drag_ends(was)) == replace(was, before_drag=None)

    @rule(step=st.sampled_from([actions.toggle, actions.play, actions.pause]))
    def play(self, step: Callable[[Session], Step]) -> None:
        self.go(step(self.session))

    @rule(ticks=st.integers(1, 400))
    @precondition(lambda self: self.session.playing)
    def arrive(self, ticks: int) -> None:
        was = self.session
        there = self.go(actions.arrive(was, min(HORIZON, was.view.tick + ticks)))
        assert there.params == was.params
        assert was.view.tick < there.view.tick <= was.view.tick + ticks
        assert there.before_drag == was.before_drag

    @rule(there=TICKS, ticks=st.lists(st.integers(-3, 400), max_size=4))
    @precondition(lambda self: not self.session.prediction.waiting)
    def play_and_seek_back(self, there: int, ticks: list[int]) -> None:
        began = self.go(actions.seek(self.session, there))
        for ahead in ticks:
            self.go(actions.step(self.session, ahead))
            self.go(actions.play(self.session))
            self.go(actions.arrive(self.session, min(HORIZON, self.session.view.tick + ahead + 3)))
        assert self.go(actions.seek(self.session, there)) == began

    @rule(ticks=st.integers(-20, 20))
    def step(self, ticks: int) -> None:
        was = self.session
        after = self.go(actions.step(was, ticks))
        if was.prediction.open:
            assert after == was
        else:
            assert after.view.tick == max(0, min(HORIZON, was.view.tick + ticks))
            assert not after.playing

    @rule()
    def evict_once(self) -> None:
        was = self.session
        once = self.go(actions.evict(was))
        assert actions.evict(once) == (once, [])
        if was.params.kv_cache:
            assert set(once.params.evictions) == {*was.params.evictions, was.view.tick}
        else:
            assert once == was

    @rule(draft=st.integers(0, 4))
    def force(self, draft: int) -> None:
        was = self.session
        self.go(actions.force(was, draft))
        params, tick = self.session.params, was.view.tick
        if params != was.params:
            before, record = was.run.verify_pass_at(tick), self.session.run.verify_pass_at(tick)
            assert before
            assert record
            assert record._replace(accepted=before.accepted, by_hand=before.by_hand) == before
            again, _ = actions.force(self.session, draft)
            assert again.run.verify_pass_at(tick) in (
                before,
                before._replace(accepted=before.by_coins, by_hand=False),
            )

    @rule(seed=st.integers(0, 2**32 - 1))
    def new_luck(self, seed: int) -> None:
        was = self.session.params
        assert self.go(actions.new_luck(self.session, seed)).params == replace(was, seed=seed)

    @rule(name=st.sampled_from(sorted(asks.BUTTONS)))
    def press(self, name: str) -> None:
        if not self.session.fixed_button(name):
            self.go(asks.BUTTONS[name](self.session))

    @rule(params=ANY_PARAMS, tick=TICKS)
    def visit(self, params: Params, tick: int) -> None:
        visited = self.go(actions.visit(self.session, query(params, View(tick=tick))))
        assert (visited.params, visited.view.tick) == (params, tick)
        assert not visited.prediction.waiting

    @rule()
    def reset(self) -> None:
        was = self.session
        params, view = was.opened
        back = self.go(actions.reset(was))
        assert back.params == params
        assert (back.view.speed, back.view.ask) == (view.speed, view.ask)
        assert back.view.tick == view.first_tick
        for kept in ("theme", "show", "lock", "embed"):
            assert getattr(back.view, kept) == getattr(was.view, kept)
        assert (back.playing, back.ghosts) == (False, {})
        assert back.prediction.open == view.asks

    @rule(name=st.sampled_from([metric.name for metric in METRICS]), tick=TICKS)
    def ask(self, name: str, tick: int) -> None:
        posed = self.go(actions.change(self.session, {"ask": name, "tick": tick}))
        assert posed.prediction.open
        question = posed.prediction.question
        assert question
        assert question.name == name

    @rule(text=TEXTS)
    def predict(self, text: str) -> None:
        self.go(actions.predict(self.session, text))

    @rule(step=st.sampled_from([actions.skip, actions.ask_again, actions.done]))
    def leave(self, step: Callable[[Session], Step]) -> None:
        self.go(step(self.session))

    @invariant()
    def its_link_leads_back(self) -> None:
        session = self.session
        leads = link("", *session.link)
        again = after(opened(asked(leads)))
        assert again.params == session.params
        assert link("", *again.link) == leads
        if not session.view.story:  # which begins anew
            assert again.scene == session.scene

    @invariant()
    def an_open_question_shows_nothing_of_its_answer(self) -> None:
        session = self.session
        question = session.prediction.question
        if question is None or not session.prediction.open:
            return
        assert (session.view.tick, session.playing) == (0, False)
        assert session.prediction.hidden == {question.name} | ANSWERS
        assert session.prediction.answer(UNSEEN) is None
        assert not session.prediction.hidden & set(session.ghosts)
        assert session.prediction.told(UNSEEN) == question.text
        assert query(session.params, session.scene)["ask"] == question.name

    @invariant()
    def a_waiting_question_stops_the_run_at_its_tick(self) -> None:
        session = self.session
        question = session.prediction.question
        if question and session.prediction.waiting:
            assert session.scene == replace(session.view, tick=question.tick)
            assert session.view.ask == question.name
            assert session.view.tick < question.tick or session.prediction.open
        if session.playing:
            assert session.view.tick < HORIZON
        assert not session.view.play


def test_any_course_of_actions_keeps_what_a_scene_promises() -> None:
    run_state_machine_as_test(Courses, settings=STEPS)


class LockedCourses(RuleBasedStateMachine):
    """A reader's hands alone, at a scene whose link locks some of it."""

    session: Session

    def go(self, step: Step) -> None:
        before, (self.session, _) = self.session, step
        if before.prediction.waiting and self.session.prediction.waiting:
            assert self.session.params in (before.params, before.opened[0])  # by a reset

    @initialize(params=ANY_PARAMS, view=ANY_VIEW)
    def open(self, params: Params, view: View) -> None:
        self.session = after(opened(query(params, view)))

    @rule(key=st.sampled_from(CONTROLS), data=st.data(), ghost=st.booleans())
    def move(self, key: str, data: st.DataObject, ghost: bool) -> None:
        value = data.draw(values(BY_KEY[key]))
        if not self.session.disabled(key):
            self.go(actions.change(self.session, {key: value}, ghost))

    @rule(tick=TICKS)
    def scrub(self, tick: int) -> None:
        if not self.session.fixed("tick"):
            self.go(actions.seek(self.session, tick))

    @rule(share=st.floats(0, 1))
    def speed(self, share: float) -> None:
        if not self.session.fixed("speed"):
            self.go(actions.set_speed(self.session, share))

    @rule(name=st.sampled_from(sorted(asks.BUTTONS)))
    def press(self, name: str) -> None:
        if not self.session.fixed_button(name):
            self.go(asks.BUTTONS[name](self.session))

    @rule(seed=st.integers(0, 2**32 - 1))
    def new_luck(self, seed: int) -> None:
        if not self.session.fixed_button("luck"):
            self.go(actions.new_luck(self.session, seed))

    @rule(draft=st.integers(0, 31))
    def force(self, draft: int) -> None:
        before = self.session
        self.go(actions.force(before, draft))
        assert before.params == self.session.params or not before.fixed("force")

    @rule(k=st.integers(1, 16), alpha=st.floats(0, 1))
    def click_in_a_chart(self, k: int, alpha: float) -> None:
        self.go(actions.take(self.session, {"k": k, "alpha": alpha, "rates": None}))

    @rule(text=TEXTS)
    def predict(self, text: str) -> None:
        self.go(actions.predict(self.session, text))

    @rule(ticks=st.integers(1, 1200))
    def arrive(self, ticks: int) -> None:
        self.go(actions.arrive(self.session, min(HORIZON, self.session.view.tick + ticks)))

    @invariant()
    def what_is_locked_is_as_it_was_opened(self) -> None:
        session = self.session
        params, view = session.opened
        assert session.view.lock == view.lock
        for key in set(session.view.lock) & {*CONTROLS, "evict"}:
            name = BY_KEY[key].name
            assert getattr(session.params, name) == getattr(params, name), key
        for key in {"speed", "theme"} & set(session.view.lock):
            assert getattr(session.view, key) == getattr(view, key), key


def test_no_hand_moves_what_a_link_locks() -> None:
    run_state_machine_as_test(LockedCourses, settings=STEPS)
