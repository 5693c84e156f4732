"""The face of a scene and its places: what changed is shown, and none is passed over."""

from __future__ import annotations

import random
import re

import pytest

from sim.face import OF_A_MOMENT, Face, Shown, numbers
from sim.host.places import PlaceError, elements, filled
from sim.host.printed import ONLY_ALIVE, opening
from sim.markup import Markup
from sim.metrics import METRICS
from sim.params import Params
from sim.question import Question
from sim.run import Run
from tests.golden import SHOTS, moment
from tests.sources import INDEX

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
    told = set(face.turn(first._replace(slot=3, phase="draft")))
    assert {place for place in told if not place.startswith("#clock")} == {
        *("#caption", "#strip", "#strip@class")
    }
    wider = face.turn(first._replace(slot=3, phase="draft", width=300))
    assert {place.partition("-")[0].partition("@")[0] for place in wider} == {"#clock", "#board"}
    playing = face.turn(first._replace(slot=3, tick=61, playing=True))
    assert not {"#summary", "#band@d", "#settings"} & set(playing)
    assert {"#path@d", "#sentence", "[data-metric=tokens]"} < set(playing)


@pytest.mark.parametrize("name", [metric.name for metric in METRICS])
def test_no_number_that_would_answer_a_question_is_shown(name: str) -> None:
    question = Question(name, 300)
    shown = numbers(MOMENTS[0]._replace(run=Run(Params(draft_length=7)), question=question))
    assert {shown[f"[data-metric={hidden}]"] for hidden in question.hidden} == {"?"}


def test_markup_is_told_apart_from_text() -> None:
    shown = Face(OF_A_MOMENT).turn(MOMENTS[0])
    assert {place for place, value in shown.items() if isinstance(value, Markup)} == {
        *("#caption", "#strip", "#split", "#clock-tallies")
    }


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
