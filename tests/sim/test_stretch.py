"""Words on drafts and slots: whence they come, what says which, and that they change nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import asks
from sim import session as actions
from sim.cache import ACCEPTED, BONUS, DISCARDED, EMPTY, PLAIN, PROPOSED, REJECTED
from sim.face import OF_A_MOMENT, Face, Moment, lent, slot_note, this_pass
from sim.params import SLOTS, Params
from sim.reading import UnreadableError
from sim.run import DRAFT, KEEP, PHASES, VERIFY, Run
from sim.session import opened
from sim.settings import query
from sim.state import Session
from sim.story import describe_slot
from sim.stretch import FILE, MOST, Stretch, read_stretch, readable
from sim.strip import strip
from sim.view import View
from tests.server import ROOT
from tests.strategies import params_of_rules

EXAMPLES = int(os.environ.get("BONUS_TOKEN_EXAMPLES", "25"))
examples = settings(max_examples=EXAMPLES)

WORDS = Stretch(
    tuple(f" t{position}." for position in range(5000)),
    tuple(f" o{position}." for position in range(5000)),
)
"""Words that say where they are: more than any run here comes to."""

DATA = (ROOT / FILE).read_bytes()


# The table


def test_the_stretch_of_the_project_is_whole_and_small() -> None:
    stretch = read_stretch(DATA)
    assert len(stretch.tokens) == len(stretch.others) == 1000
    assert len(DATA) < 10_000
    assert stretch.quoted(0, 15).startswith("“MESSENGER. ↵")
    for position in range(1000):
        assert stretch.token(position) != stretch.other(position)
        assert 1 <= len(stretch.token(position)) <= 12
    assert "**" not in "".join(stretch.tokens), "which would be emphasis"


def test_a_position_beyond_the_stretch_begins_it_again() -> None:
    stretch = Stretch((" my", " lord"), (" the", " king"))
    assert [stretch.token(at) for at in range(4)] == ["my", "lord"] * 2
    assert [stretch.other(at) for at in range(4)] == ["the", "king"] * 2
    assert stretch.drafted(3, True) == "lord"
    assert stretch.drafted(3, False) == "king"
    assert stretch.quoted(1, 4) == "“lord my lord”"


@pytest.mark.parametrize(
    ("token", "shown"), [(" king", "king"), ("ing", "ing"), ("↵↵", "↵↵"), (" ", "␣"), ("  ", "␣")]
)
def test_a_token_by_itself_is_never_empty(token: str, shown: str) -> None:
    assert readable(token) == shown
    assert Stretch((token,), ("x",)).token(0) == shown


def test_a_long_text_is_quoted_by_its_two_ends() -> None:
    whole = Stretch(tuple(f" {'x' * (at % 7 + 1)}" for at in range(40)), ("o",) * 40)
    for end in range(1, 40):
        quoted = whole.quoted(0, end)
        assert len(quoted) <= MOST + 3
        assert ("…" in quoted) == (len("".join(whole.tokens[:end])) - 1 > MOST)
    assert Stretch(("O", "!", "↵↵", "K", "ING"), ("o",) * 5).quoted(0, 5) == "“O! ↵ KING”"


DAMAGED = {
    "nothing": b"",
    "a page": b"<!doctype html>\n<title>404</title>\n",
    "no rows": b"token\tother\n",
    "cut": DATA[:-1],
    "cut in a row": DATA[:501],
    "another head": DATA.replace(b"other", b"others", 1),
    "a token too few": DATA + b" my\n",
    "a token too many": DATA + b" my\t the\t a\n",
    "an empty one": DATA + b"\t the\n",
    "no text": DATA[:500] + b"\xff" + DATA[500:],
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_table_is_none(how: str) -> None:
    with pytest.raises(UnreadableError):
        read_stretch(DAMAGED[how])
    before = opened({})[0]
    told = "static/words.tsv is damaged; drafts and slots go without words."
    assert actions.lend(before, DAMAGED[how]) == (before, [told])


def test_line_ends_of_another_system_are_read() -> None:
    assert read_stretch(DATA.replace(b"\n", b"\r\n")) == read_stretch(DATA)


# What says which word


@examples
@given(params_of_rules, st.integers(1, 190), st.sampled_from(PHASES))
def test_words_are_of_their_positions_and_change_nothing_else(
    params: Params, tick: int, phase: str
) -> None:
    run = Run(params)
    bare, told = strip(run, tick, phase), strip(run, tick, phase, words=WORDS)
    assert told.restored == bare.restored
    for one, other in zip(told.cells, bare.cells, strict=True):
        assert one._replace(word="", struck="", label="") == other._replace(label="")
    record = run.verify_pass_at(tick)
    if record is None or run.missing(tick):
        assert told == bare
        return
    first = run.at(tick - 1).num_tokens
    for at, (one, other) in enumerate(zip(told.cells, bare.cells, strict=True), first):
        own, rather = f"t{at}.", f"o{at}."
        said = {
            PROPOSED: own if at < first + record.accepted else rather,
            **{ACCEPTED: own, DISCARDED: rather, PLAIN: own, BONUS: own, EMPTY: ""},
            REJECTED: own if phase == KEEP else "",
        }[one.state]
        assert (one.word, one.struck) == (said, rather if one.state == REJECTED else "")
        seen = " → ".join(f"“{word}”" for word in (one.struck, one.word) if word)
        assert one.label.replace(f", {seen}", "", 1) == other.label
        assert one.label.startswith(other.label.partition(one.state)[0])
    written = WORDS.quoted(first, first + record.accepted + 1)
    settled = phase == KEEP or not run.has_phases(tick)
    assert told.caption == bare.caption + (f" {written}" if settled else "")


@examples
@given(params_of_rules, st.integers(1, 190), st.sampled_from(PHASES))
def test_a_slot_says_the_word_of_its_position_and_none_before_its_phase(
    params: Params, tick: int, phase: str
) -> None:
    run = Run(params)
    record, first = run.verify_pass_at(tick), run.at(tick - 1).num_tokens
    told = phase if run.has_phases(tick) else KEEP
    end = run.at(tick).num_tokens
    own = {position % SLOTS: f"t{position}." for position in range(first if told != KEEP else end)}
    if record and told != KEEP:
        for at in range(first, first + len(record.rates)):
            own[at % SLOTS] = f"{'t' if at < end - 1 else 'o'}{at}."
    if record and told == KEEP and not run.missing(tick):
        own |= {at % SLOTS: f"o{at}." for at in range(end, first + len(record.rates))}
    for slot in {*range(40), *(at % SLOTS for at in range(first - 3, first + 34))}:
        bare = describe_slot(run, tick, slot, phase)
        said = describe_slot(run, tick, slot, phase, WORDS)
        word = "" if bare.endswith(": empty") else f", “{own[slot]}”"
        assert said == bare.replace(":", f"{word}:", 1)


def test_nothing_says_the_own_token_of_a_pass_before_it_is_kept() -> None:
    for params in (Params(), Params(acceptance_rate=0.3), Params(acceptance_rate=1.0)):
        run = Run(params)
        for tick in (1, 2, 60, 133, 200):
            own = f"t{run.at(tick).num_tokens - 1}."
            for phase in (DRAFT, VERIFY):
                seen = Moment(run, tick, phase, words=WORDS)
                texts = [str(this_pass(seen)[place]) for place in ("#caption", "#strip")]
                texts += [
                    str(slot_note(seen._replace(slot=slot))["#slot-note"]) for slot in range(SLOTS)
                ]
                assert not [text for text in texts if own in text], (tick, phase)
            assert own in str(this_pass(Moment(run, tick, words=WORDS))["#strip"])


# How they are shown


def test_a_rejected_word_is_struck_and_the_own_one_stands_under_it() -> None:
    run = Run(Params(acceptance_rate=0.0))
    words = Stretch((" <b>",) * 9, (" a&b",) * 9)
    shown = str(this_pass(Moment(run, 3, free=True, words=words))["#strip"])
    assert "<b>× <s>a&amp;b</s> <span>&lt;b&gt;</span></b>" in shown
    assert shown.count("<s>") == 1
    assert shown.count("<b><span>a&amp;b</span></b>") == 3, "the discarded ones"
    assert "draft 1: rejected, “a&b” → “<b>”, 0." in unescape(shown)
    verified = str(this_pass(Moment(run, 3, VERIFY, words=words))["#strip"])
    assert "<b>×<span><s>a&amp;b</s></span></b>" in verified
    assert "&lt;b&gt;" not in verified


def test_a_crowd_of_cells_has_room_for_marks_alone() -> None:
    for k, roomy in ((15, True), (16, True), (17, False), (32, False)):
        seen = Moment(Run(Params(draft_length=k, acceptance_rate=0.0)), 3, words=WORDS)
        shown = str(this_pass(seen)["#strip"])
        assert ("worded" in shown) == roomy
        assert ("<b>×•</b>" in shown) != roomy
        assert "“o3.”" in shown, "which its label says all the same"


def test_without_words_everything_is_as_it_was() -> None:
    seen = Moment(Run(Params()), 60, slot=3)
    worded = Face(OF_A_MOMENT).turn(seen._replace(words=WORDS))
    bare = Face(OF_A_MOMENT).turn(seen)
    assert {place for place in bare if bare[place] != worded[place]} == {
        *("#caption", "#strip", "#slot-note")
    }
    assert "worded" in str(worded["#strip"])
    assert "worded" not in str(bare["#strip"])


def test_words_that_come_or_go_are_shown_at_once() -> None:
    face, seen = Face(OF_A_MOMENT), Moment(Run(Params()), 60, slot=3)
    face.turn(seen)
    assert set(face.turn(seen._replace(words=WORDS))) == {
        *("#caption", "#strip", "#strip@class", "#slot-note")
    }
    assert face.turn(seen._replace(words=WORDS)) == {}
    assert "“" not in str(face.turn(seen)["#slot-note"])


# The reader's switch


def lent_to(session: Session) -> Session:
    after, complaints = actions.lend(session, DATA)
    assert complaints == []
    return after


def test_words_are_there_once_they_came_and_as_long_as_they_are_wanted() -> None:
    before = opened({})[0]
    assert before.words is None
    assert lent(before)["[data-action=words]@hidden"] is True
    session = lent_to(before)
    assert session.words == read_stretch(DATA)
    assert lent(session) == {
        "[data-action=words]@hidden": False,
        "[data-action=words]@aria-pressed": "true",
    }
    off = asks.BUTTONS["words"](session)[0]
    assert (off.words, off.view.words) == (None, False)
    assert lent(off)["[data-action=words]@aria-pressed"] == "false"
    assert asks.BUTTONS["words"](off)[0] == session
    assert lent_to(opened({"words": "off"})[0]).words is None


def test_a_link_keeps_words_off_and_nothing_of_the_run_does() -> None:
    off = lent_to(opened({"words": "off", "k": "7"})[0])
    assert query(*off.link[:2]) == {"k": "7", "words": "off"}
    for step in (actions.reset, actions.play, lambda s: actions.visit(s, {}), actions.evict):
        assert step(off)[0].view.words is False
        assert step(off)[0].stretch is off.stretch
    on = actions.change(off, {"words": None})[0]
    assert on.words
    assert actions.reset(on)[0].words, "how the widget is seen stays"
    assert on.run.report(60) == off.run.report(60)
    told = actions.tell(off, 3)[0]
    assert query(*told.link[:2]) == {"story": "3", "words": "off"}


def test_no_word_is_told_before_a_prediction_is_made() -> None:
    asked = lent_to(opened({"ask": "speedup", "tick": "40"})[0])
    assert asked.words is None
    assert not asked.fixed_button("words")
    running = actions.predict(asked, "2")[0]
    assert running.prediction.running
    assert running.words


def test_a_lock_fixes_the_switch() -> None:
    locked = lent_to(opened({"lock": "words", "words": "off"})[0])
    assert locked.fixed_button("words")
    assert replace(locked, view=View()).fixed_button("words") is False
