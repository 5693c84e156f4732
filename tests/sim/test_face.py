"""The face of a scene and its places: what changed is shown, and none is passed over."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.face import (
    OF_A_MOMENT,
    Face,
    Moment,
    Shown,
    compared,
    in_words,
    numbers,
    slot_note,
    this_pass,
    timeline,
)
from sim.host.places import PlaceError, elements, filled
from sim.host.printed import ONLY_ALIVE, opening
from sim.markup import Markup
from sim.metrics import METRICS
from sim.params import SLOTS, Params
from sim.plot import scale
from sim.question import Question
from sim.run import Run
from sim.state import Kept
from tests.golden import SHOTS, moment
from tests.sources import INDEX
from tests.strategies import params_of_rules

MOMENTS = [moment(shot) for shot in SHOTS.values()]


def test_whatever_was_shown_before_a_turn_leaves_what_the_scene_shows() -> None:
    face, on_page = Face(OF_A_MOMENT), dict[str, str | bool]()
    for seen in random.Random(1).choices(MOMENTS, k=300):
        on_page |= face.turn(seen)
        whole = Face(OF_A_MOMENT).turn(seen)
        assert {place: on_page[place] for place in whole} == whole


def test_a_turn_gives_only_the_parts_that_may_have_changed() -> None:
    face, first = Face(OF_A_MOMENT), MOMENTS[0]
    face.turn(first)
    assert face.turn(first) == {}
    assert set(face.turn(first._replace(slot=3))) == {"#slot-note"}
    alike = first._replace(run=Run(Params(speculation=False)), slot=3)
    face.turn(alike)
    told = set(face.turn(alike._replace(phase="draft")))
    assert {place for place in told if not place.startswith("#clock")} == {
        *("#caption", "#strip", "#strip@class", "#slot-note")
    }
    wider = face.turn(alike._replace(phase="draft", width=300))
    assert {place.partition("-")[0].partition("@")[0] for place in wider} == {"#clock", "#board"}
    face.turn(first._replace(slot=3))
    playing = face.turn(first._replace(slot=3, tick=61, playing=True))
    assert not {"#summary", "#band@d", "#settings"} & set(playing)
    assert {"#path@d", "#sentence", "[data-metric=tokens]"} < set(playing)


@pytest.mark.parametrize("name", [metric.name for metric in METRICS])
def test_no_number_that_would_answer_a_question_is_shown(name: str) -> None:
    question = Question(name, 300)
    shown = numbers(MOMENTS[0]._replace(run=Run(Params(draft_length=7)), question=question))
    assert {shown[f"[data-metric={hidden}]"] for hidden in question.hidden} == {"?"}


def said(shown: Shown) -> Shown:
    """What is shown but for the pass itself, on strip and clock, and which tick is looked at."""
    told = ("#caption", "#strip", "#strip@class", "#tick", "[name=tick]@value", "#slot-note")
    return {
        place: value
        for place, value in shown.items()
        if place not in told and not place.startswith("#clock-")
    }


@given(params_of_rules, st.integers(1, 300), st.sampled_from(["draft", "verify"]), st.booleans())
def test_nothing_is_told_before_the_phase_that_brings_it(
    params: Params, tick: int, phase: str, playing: bool
) -> None:
    run = Run(params)
    assume(run.has_phases(tick))
    early = Moment(run, tick, phase, playing=playing)
    shown = Face(OF_A_MOMENT).turn(early)
    before = Face(OF_A_MOMENT).turn(early._replace(tick=tick - 1, phase="keep"))
    assert said(shown) == said(before)
    assert shown["#tick"] == str(tick)
    after = Face(OF_A_MOMENT).turn(early._replace(phase="keep"))
    assert after["[data-metric=tokens]"] != before["[data-metric=tokens]"]


@given(params_of_rules, st.integers(1, 300), st.integers(0, 32))
def test_while_drafts_are_proposed_nothing_depends_on_what_becomes_of_them(
    params: Params, tick: int, accepted: int
) -> None:
    run = Run(params)
    assume(run.has_phases(tick))
    record = run.verify_pass_at(tick)
    assert record is not None
    verdicts = {**dict(params.verdicts), record.number: accepted}
    other = Run(replace(params, verdicts=tuple(sorted(verdicts.items()))))
    assume(other.has_phases(tick))  # an eviction with nothing to compute again is none
    whole, its = Moment(run, tick, "draft"), Moment(other, tick, "draft")
    assert run.slots(tick, "draft") == other.slots(tick, "draft")
    for shows in (this_pass, numbers, timeline, in_words):
        assert shows(whole) == shows(its)
    for slot in range(0, SLOTS, 7):
        assert slot_note(whole._replace(slot=slot)) == slot_note(its._replace(slot=slot))


def test_each_draft_is_a_button_that_says_what_a_press_on_it_does() -> None:
    moment = Moment(Run(Params(verdicts=((60, 1),))), 60, free=True)
    free = str(this_pass(moment)["#strip"])
    pressed = re.findall(r'<button [^>]*data-draft="(\d)"[^>]*aria-label="([^"]*)"', free)
    assert [number for number, _ in pressed] == ["0", "1", "2", "3"]
    assert [label.split("; ")[-1] for _, label in pressed] == [
        "press to reject it",
        "press to leave it to the coins",
        "press to accept up to here",
        "press to leave it to the coins",
    ]
    assert "disabled" not in free
    fixed = str(this_pass(moment._replace(free=False))["#strip"])
    assert fixed.count("<button") == fixed.count(" disabled>") == 4
    assert "press" not in fixed
    assert "<button" not in str(this_pass(moment._replace(phase="draft"))["#strip"])
    assert str(this_pass(moment._replace(phase="verify"))["#strip"]).count("<button") == 4


def test_a_pass_without_phases_is_told_at_once() -> None:
    evicted, recomputed = Run(Params(evictions=(60,))), Run(Params(evictions=(59,)))
    for run in (evicted, recomputed, Run(Params(speculation=False))):
        early, late = (Moment(run, 60, phase) for phase in ("draft", "keep"))
        assert Face(OF_A_MOMENT).turn(early) == Face(OF_A_MOMENT).turn(late)


def test_markup_is_told_apart_from_text() -> None:
    shown = Face(OF_A_MOMENT).turn(MOMENTS[0])
    assert {place for place, value in shown.items() if isinstance(value, Markup)} == {
        *("#caption", "#strip", "#split", "#clock-tallies")
    }


def test_runs_beside_are_drawn_on_its_scale_and_told_as_long_as_there_are_any() -> None:
    run, other = Run(Params()), Run(Params(draft_length=12))
    alone = compared(Moment(run, 60))
    assert alone == {
        **{"#ghost@hidden": True, "#ghost-path@d": ""},
        **{"#kept@hidden": True, "#kept-path@d": "", "#kept-words": ""},
    }
    beside = compared(Moment(run, 60, ghost=other, kept=Kept(other.params, 30)))
    assert (beside["#ghost@hidden"], beside["#kept@hidden"]) == (False, False)
    report = other.report(30)
    assert beside["#kept-words"] == (
        f"{report['tokens_per_pass']:.2f} tokens a pass, {report['speedup']:.2f}× · "
        "draft length 12 · acceptance rate 0.8 · seed 0 · tick 30"
    )
    drawn = str(beside["#kept-path@d"])
    assert beside["#ghost-path@d"] == drawn
    at, height = map(float, drawn.rpartition("L")[2].split())
    whole = other.report(60)["tokens_per_pass"]
    assert at == 60
    assert height == pytest.approx(scale(run, whole), abs=0.06)
    assert height != pytest.approx(scale(other, whole), abs=1)
    face = Face(OF_A_MOMENT)
    face.turn(Moment(run, 60))
    lane = face.turn(Moment(run, 60, ghost=other))
    assert lane["#clock-ghost@d"]
    assert lane["#ghost@hidden"] is False
    assert lane["#clock-kept@d"] == ""
    assert face.turn(Moment(run, 60))["#ghost@hidden"] is True


# Places


def test_every_place_of_the_page_is_printed() -> None:
    emptied = re.sub(r"(data-(?:metric|text)=[^>]*>)[^<]+", r"\1", INDEX)
    assert len(emptied) < len(INDEX)
    assert filled(emptied, opening(), ONLY_ALIVE) == INDEX


PAGE = (
    '<html><input name="k" value="1" checked><br><p id="a" class="x y">old <b>bold</b></p>\n'
    '<b class="x" data-metric=tokens data-else>1</b> <path id="p" d=""/>'
    '<b data-metric="tokens">2</b></html>'
)
KNOWN: Shown = {"[data-metric=tokens]": "5 < 6"}


def test_a_place_is_filled_whatever_else_its_element_has() -> None:
    shown: Shown = {
        **KNOWN,
        "#a": Markup("<i>new</i>"),
        "#a@class": 'z "&"',
        "[name=k]@value": "7",
        "[name=k]@checked": True,
        "#p@d": "M0 0",
        ":root@.playing": False,
    }
    assert filled(PAGE, shown) == (
        '<html><input name="k" value="7" checked><br>'
        '<p id="a" class="z &quot;&amp;&quot;"><i>new</i></p>\n'
        '<b class="x" data-metric=tokens data-else>5 &lt; 6</b> <path id="p" d="M0 0"/>'
        '<b data-metric="tokens">5 &lt; 6</b></html>'
    )


@pytest.mark.parametrize(
    ("page", "shown", "told"),
    [
        (PAGE, {**KNOWN, "#gone": ""}, "has 0 places for #gone"),
        (PAGE, {**KNOWN, "[data-text=note]": ""}, r"has 0 places for \[data-text=note\]"),
        (PAGE, {}, "nothing is known of data-metric=tokens"),
        (PAGE.replace("</html>", '<i id="a"></i></html>'), {**KNOWN, "#a": ""}, "2 places for #a"),
        (PAGE.replace("</html>", "<i data-ghost=x></i></html>"), KNOWN, "known of data-ghost=x"),
        (PAGE, {**KNOWN, "#a@d": ""}, "#a@d: no such attribute"),
        (PAGE, {**KNOWN, "[name=k]@checked": False}, "not printed in this state"),
        (PAGE, {**KNOWN, "#a@.y": False}, "not printed in this state"),
        (PAGE, {**KNOWN, "p": ""}, "p is no selector"),
        ("<p><b></p>", {}, "</p> closes what is not open, in line 1"),
        ("<p>", {}, "<p> is not closed"),
        ("<p id=a><b id=b></b></p>", {"#a": "", "#b": ""}, "a place is inside of another"),
    ],
)
def test_what_does_not_fit_is_not_passed_over(page: str, shown: Shown, told: str) -> None:
    with pytest.raises(PlaceError, match=told):
        filled(page, shown)


def test_a_place_for_later_must_be_there_and_stays() -> None:
    page = '<p id="a">loading</p>'
    assert filled(page, {}, ["#a"]) == page
    with pytest.raises(PlaceError, match="0 places for #b"):
        filled(page, {}, ["#b"])


def test_an_id_of_the_page_is_one_element_s() -> None:
    ids = [one.attributes["id"] for one in elements(INDEX) if "id" in one.attributes]
    assert len(ids) == len(set(ids))
