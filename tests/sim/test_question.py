"""A question beyond one prediction: attempts, its author's words, going on where it was left."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import asks
from sim import session as actions
from sim.face import OF_A_SESSION, Face
from sim.marks import PALETTES
from sim.metrics import METRICS
from sim.params import Params
from sim.question import OPEN, OVER, RUNNING, Prediction, Question, kept_as
from sim.reading import UnreadableError
from sim.run import Run
from sim.scene import picture
from sim.settings import link, query
from sim.state import Session
from sim.view import View, asked
from sim.words import as_shown, figure

ASKING = {"ask": "speedup", "tick": 40, "k": 12}
PLAIN = "**Bold** <b>guess</b>: 50% & more?"


def at(**keys: object) -> Session:
    session, complaints = actions.opened(keys)
    assert complaints == []
    return session


def then(session: Session, *steps: Any) -> Session:
    for step in steps:
        session, complaints = step(session)
        assert complaints == []
    return session


def say(text: str) -> Any:
    return lambda session: actions.predict(session, text)


def arrived(session: Session) -> Session:
    return then(session, lambda s: actions.arrive(s, 1200))


def woken(session: Session, **meanwhile: object) -> Session:
    """The same scene in a page that was opened anew, as an element does it."""
    params, view, _ = session.link
    told = json.loads(json.dumps(session.prediction.kept))
    shown = query(view)
    fields = {"tick": 60, "ask": None, "asktext": None, **query(params), **shown, **meanwhile}
    return then(
        at(**ASKING),
        lambda s: asks.call(s, "set", [fields]),
        lambda s: asks.call(s, "resume", [told]),
    )


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_host_is_told_a_number_of_the_digits_that_the_reader_sees(metric: Any) -> None:
    for params in (Params(draft_length=12), Params(kv_cache=False), Params(speculation=False)):
        value = Run(params).report(77)[metric.name]
        told = as_shown(metric.name, value)
        if told is None:
            assert value is None
            continue
        assert figure(metric.name, told) == figure(metric.name, value)
        assert len(repr(told).lstrip("0.")) <= 7
        assert isinstance(told, int) == metric.is_count


def test_every_attempt_is_counted_and_so_is_having_it_shown() -> None:
    session = at(**ASKING)
    assert session.prediction.attempts == 0
    session = arrived(then(session, say("many"), say("1")))
    assert session.prediction.attempts == 1
    session = then(session, actions.ask_again)
    assert session.prediction.answer(session.run) is None
    session = then(session, actions.skip)
    told = session.prediction.answer(session.run)
    assert told == {
        **{"question": "speedup", "prediction": None, "tick": 40, "attempts": 2},
        **{"result": round(session.run.report(40)["speedup"], 2), "score": 0},
    }
    # Neither going on, nor Reset, nor another question makes it forget.
    session = then(session, actions.done, actions.reset, say("2"), actions.skip)
    assert session.prediction.attempts == 3
    session = then(session, lambda s: actions.change(s, {"ask": "tokens"}), actions.skip)
    assert session.prediction.attempts == 1
    assert then(session, actions.reset, actions.skip).prediction.attempts == 4


def test_what_was_written_and_what_came_of_it_go_on_in_another_page() -> None:
    writing = then(at(**ASKING), lambda s: actions.note(s, "1.4"))
    on = woken(writing).prediction
    assert (on.phase, on.written, on.question, on.attempts) == (
        OPEN,
        "1.4",
        Question("speedup", 40),
        0,
    )
    assert on.put > writing.prediction.put, "so that the field is written"
    running = woken(then(writing, say("1.4"), lambda s: actions.arrive(s, 9)))
    assert (running.prediction.phase, running.prediction.said) == (RUNNING, 1.4)
    assert running.playing
    assert arrived(running).prediction.attempts == 1
    over = arrived(then(writing, say("1.4")))
    on_over = woken(over)
    assert (on_over.prediction.phase, on_over.view.tick) == (OVER, 40)
    assert on_over.prediction.told(on_over.run) == over.prediction.told(over.run)
    assert "You said **1.4×**" in on_over.prediction.told(on_over.run)
    left = woken(then(over, actions.done, lambda s: actions.seek(s, 700)))
    assert (left.prediction.question, left.view.tick) == (None, 700)
    assert then(left, actions.reset, actions.skip).prediction.attempts == 2


def test_another_question_that_was_put_meanwhile_stands() -> None:
    over = arrived(then(at(**ASKING), say("1.4")))
    for left in (over, at(**ASKING)):
        session = woken(left, ask="tokens", tick=20)
        assert session.prediction.question == Question("tokens", 20)
        assert session.prediction.phase == OPEN
        assert session.prediction.tried == left.prediction.tried
    gone = woken(at(**ASKING), ask=None)
    assert (gone.prediction.question, gone.prediction.phase) == (None, OVER)


def test_a_scene_of_the_rail_goes_on_where_it_was() -> None:
    told = then(at(), lambda s: actions.tell(s, 3), say("2"), actions.skip)
    assert told.point
    on = then(
        at(),
        lambda s: actions.change(s, {"story": "3", "tick": None, "ask": None}),
        lambda s: actions.resume(s, told.prediction.kept),
    )
    assert (on.view.story, on.view.tick, on.point) == (3, told.view.tick, told.point)
    assert on.prediction.attempts == 1


KEPT = Prediction().posed(Question("speedup", 40)).kept


@pytest.mark.parametrize(
    "bad",
    [
        *({}, {**KEPT, "phase": "later"}, {**KEPT, "written": None}, {**KEPT, "tried": "many"}),
        *({**KEPT, "question": ["speed", 40, ""]}, {**KEPT, "question": ["speedup", "soon", ""]}),
        *({**KEPT, "question": "speedup"}, {**KEPT, "prediction": "many"}, {**KEPT, "tried": [3]}),
        *(
            {**KEPT, "question": [["speedup"], 40, ""]},
            {**KEPT, "tried": [["speedup", 1, ""]] * 1001},
        ),
    ],
)
def test_what_is_no_question_changes_nothing(bad: dict[str, object]) -> None:
    session = at(**ASKING)
    after, (said,) = asks.call(session, "resume", [bad])
    assert after == session
    assert "no question" in said
    assert asks.call(session, "resume", [])[0] == session


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("speedup"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(KEPT)), inner),
    max_leaves=9,
)


@given(st.fixed_dictionaries({name: anything | st.just(value) for name, value in KEPT.items()}))
def test_whatever_is_told_is_refused_or_can_be_told_on(fields: dict[str, object]) -> None:
    try:
        held = kept_as(fields)
    except UnreadableError:
        return
    assert kept_as(json.loads(json.dumps(held.kept))) == held


def test_a_scene_is_freed_for_its_author_as_it_is_shared() -> None:
    session = at(**ASKING, lock="k,evict", asktext="How?", speed=20)
    freed = then(session, lambda s: actions.enter(s, "k", "12"), actions.edit)
    assert freed.prediction.question is None
    assert query(freed.params, freed.scene) == {
        **{"k": "12", "tick": "40", "speed": "20"},
    }
    assert not freed.fixed("k")
    moved = then(freed, lambda s: actions.change(s, {"k": 5}), actions.reset)
    assert (moved.params.draft_length, moved.view.tick) == (12, 40)
    assert moved.prediction.question is None
    # Of one that plays, where it is; of a scene of the rail, its run.
    playing = then(
        at(lock="k", tick=30), actions.play, lambda s: actions.arrive(s, 33), actions.edit
    )
    assert (playing.view.tick, playing.playing, playing.view.lock) == (33, False, ())
    told = then(at(story="3", lock="k"), actions.edit)
    assert (told.view.story, told.params) == (0, at(story="3").params)


# In its author's words


def test_a_question_stands_in_its_authors_words_as_plain_text() -> None:
    session = at(**ASKING, asktext=PLAIN)
    shown = Face(OF_A_SESSION).turn(session)
    assert shown["#asked"] == "**Bold** &lt;b&gt;guess&lt;/b&gt;: 50% &amp; more?"
    over = Face(OF_A_SESSION).turn(arrived(then(session, say("1"))))
    assert "You said <b>1×</b>. It is <b>" in str(over["#asked"])
    svg = picture(Run(Params()), View(ask="speedup", ask_text=PLAIN), PALETTES["light"])
    assert "**Bold** &lt;b&gt;guess" in svg
    assert "Before it runs" not in svg


@pytest.mark.parametrize(
    "text", [PLAIN, "a&k=3&b", "100%41", "1+1 = 2, or?", "#1: é 中 “x”", "&amp;", "a b%20c"]
)
def test_words_in_a_link_stand_as_they_were_written(text: str) -> None:
    view = View(ask="speedup", ask_text=text)
    search = link("", Params(draft_length=5), view)
    read = asked(search)
    assert read == {"k": "5", "ask": "speedup", "asktext": text}
    assert " " not in search
    # A platform that escapes the whole link once more.
    again = search.replace("%", "%25").replace("&", "&amp;")
    if " " in text and "%20" not in text:
        assert asked(again)["asktext"].split("&")[0] == text.split("&")[0]


def test_words_are_one_line_of_a_certain_length_and_need_a_question() -> None:
    session, told = actions.opened({**ASKING, "asktext": "  How\nmuch\t faster\x00?  "})
    assert (session.view.ask_text, told) == ("How much faster ?", [])
    session, told = actions.opened({**ASKING, "asktext": "long " * 99})
    assert len(session.view.ask_text) == 299
    assert "is not a text of up to 300 characters" in told[0]
    session, told = actions.opened({**ASKING, "asktext": 5})
    assert (session.view.ask_text, len(told)) == ("", 1)
    session, told = actions.opened({"asktext": "How?"})
    assert told == ["asktext words no question; add one, such as ask=speedup."]
    assert session.link[1].ask_text == ""


def test_other_words_for_an_open_question_leave_what_was_written() -> None:
    session = then(at(**ASKING, asktext="How?"), lambda s: actions.note(s, "2"))
    session = then(session, lambda s: actions.change(s, {"asktext": "How much?"}))
    assert session.prediction.question == Question("speedup", 40, "How much?")
    session = then(session, lambda s: actions.change(s, {"tick": 50}))
    assert session.prediction.question == Question("speedup", 50, "How much?")
    assert session.prediction.written == "2"
    assert session.link[1].ask_text == "How much?"
    assert then(session, actions.skip).link[1].ask_text == ""
    # A scene of the rail has words of its own.
    told = then(session, lambda s: actions.tell(s, 2))
    assert told.prediction.question
    assert told.prediction.question.words == ""
    assert told.link[1].ask_text == ""
