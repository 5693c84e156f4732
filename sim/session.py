"""Every action on a scene: it takes a `Session`, and gives the next and what was wrong with what
was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import floor, isfinite

from sim.clock import CLOSEST, FARTHEST
from sim.labs import of_a_lab
from sim.params import HORIZON, PARAMETERS, Params
from sim.question import Question, kept_as
from sim.rail import STORIES
from sim.reading import UnreadableError
from sim.settings import entered, shown, stepped, write
from sim.state import Kept, Session
from sim.stretch import FILE, read_stretch
from sim.theory import best_length
from sim.verbs import VERB
from sim.view import BY_KEY, NO_LAB, NO_QUESTION, SPEED, THEMES, View, changed, with_lab_keys

VISITED = (*(row.key for row in PARAMETERS), "tick", "speed", "ask", "asktext")
"""What a scene of the text sets, and what it does not name goes back to its default."""

OF_A_STORY = frozenset({"story", *VISITED})
"""Locks that fix the rail: of what its scenes set."""

Step = tuple[Session, list[str]]
"""The next session, and what was wrong with what was asked for."""


def opened(
    asked: Mapping[str, object], moved: Mapping[str, object] | None = None, still: bool = False
) -> Step:
    """The session that a link's keys lead to.

    `moved` is what the reader set before it was there. Such a scene does not begin to play, and
    one with a question stays as it was put.
    """
    params, view, complaints = changed(Params(), View(), asked)
    if view.story:
        params, view, _ = changed(params, view, _scene_of(view.story))
    keys, opening = with_lab_keys((), asked), replace(view, play=False)
    session = Session(
        params, opening, (params, view), still=still, lab_keys=keys, opened_lab_keys=keys
    )
    session = _posed(session)
    if moved and not view.asks:
        session, more = change(session, moved)
        return session, complaints + more
    return (play(session)[0] if view.play and not still else session), complaints


def _posed(session: Session) -> Session:
    """Put the scene's question, if it has one, at the start of the run."""
    view, before = session.view, session.prediction
    tick = before.question.tick if before.question and before.open and not view.tick else view.tick
    words = "" if view.story else view.ask_text
    asked = Question(view.ask, tick, words) if view.asks else None
    session = replace(session, prediction=before.posed(asked))
    if asked is None:
        return session
    session = replace(session, ghost=None)
    return replace(pause(session)[0], view=replace(view, tick=view.first_tick))


def _reached(session: Session) -> Session:
    """Stop where the question is about, and compare."""
    prediction = session.prediction.reached(session.view.tick)
    if prediction == session.prediction:
        return session
    return pause(replace(session, prediction=prediction))[0]


# Settings


def change(session: Session, changes: Mapping[str, object], ghost: bool = False) -> Step:
    """Set parameters and view, by key or full name; with `ghost` in a drag.

    Another tick while a question is open is one to ask about. Another setting leaves the rail, and
    keeps its scene.
    """
    params, view, complaints = changed(session.params, session.view, changes)
    if "story" in changes and view.story:
        keys = with_lab_keys(session.lab_keys, changes)
        asked = replace(session, view=replace(view, play=False), lab_keys=keys)
        return _told(asked, view.story), complaints
    if view.story and params != session.params:
        view = replace(view, story=0)
    session = replace(session, lab_keys=with_lab_keys(session.lab_keys, changes))
    drag = session.before_drag or (session.params, session.view.tick)
    prediction, plays, before = session.prediction, view.play, session.view
    if params != session.params:
        session = replace(session, ghost=None)
    session = replace(
        session, params=params, view=replace(view, play=False), before_drag=drag if ghost else None
    )
    if "ask" in changes:
        session = _posed(session)
    elif prediction.open and (view.tick, view.ask_text) != (before.tick, before.ask_text):
        moved = {"tick": view.tick} if view.tick != before.tick else {}
        prediction = prediction.altered(**moved, words=view.ask_text)
        session = replace(
            session, prediction=prediction, view=replace(session.view, tick=before.tick)
        )
    if session.playing and session.view.tick >= HORIZON:
        session, _ = pause(session)
    if plays and "play" in changes and not session.still:
        session, _ = play(session)
    return _reached(session), complaints


def enter(session: Session, key: str, text: str) -> Step:
    """Take what was written into a field; what is written there already changes nothing."""
    row = BY_KEY[key]
    old = getattr(session.params, row.name)
    if text == write(row, old):
        return session, []
    value, told = entered(row, text, old)
    session, complaints = change(session, {key: value})
    return session, ([told] if told else []) + complaints


def nudge(session: Session, key: str, text: str, up: bool) -> Step:
    """Take the next value up or down from what is written in a field."""
    row = BY_KEY[key]
    value, _ = entered(row, text, getattr(session.params, row.name))
    return change(session, {key: stepped(row, value, up)})


def drag_ends(session: Session) -> Step:
    """Show no more what was before the drag."""
    return replace(session, before_drag=None), []


def evict(session: Session) -> Step:
    """Evict the cache right after the current tick."""
    if VERB["evict"].idle(session.params):
        return session, []
    return change(session, {"evictions": [*session.params.evictions, session.view.tick]})


def better(session: Session) -> Step:
    """Take the draft length that theory finds fastest, or no drafts."""
    length, _ = best_length(session.params)
    return change(session, {"k": length, "speculation": True} if length else {"speculation": False})


def force(session: Session, draft: int) -> Step:
    """Set the verdict of the pass shown by a press on one of its drafts, counted from 0.

    What the coins have anyway is no verdict set by hand. The run as it was becomes the ghost,
    unless this one is given back to the coins.
    """
    run, tick = session.run, session.view.tick
    record = run.verify_pass_at(tick) if run.has_phases(tick) else None
    if session.fixed("force") or record is None or not 0 <= draft < len(record.rates):
        return session, []
    before, verdicts = session.params, dict(session.params.verdicts)
    was = None if session.ghost_run is None else session.ghost_run.verify_pass_at(tick)
    verdicts[record.number] = record.pressed(draft, was)
    if verdicts[record.number] == record.by_coins:
        del verdicts[record.number]
    session, told = change(pause(session)[0], {"verdicts": list(verdicts.items())})
    by_hand = record.number in verdicts
    return replace(session, ghost=before if by_hand else None), told


def dismiss_ghost(session: Session) -> Step:
    """Show the run as it was no longer."""
    return replace(session, ghost=None), []


def keep(session: Session) -> Step:
    """Keep this run for comparison, in place of one that was kept; not while a question waits."""
    if session.prediction.waiting:
        return session, []
    return replace(session, kept=Kept(session.params, session.view.tick)), []


def dismiss_point(session: Session) -> Step:
    """Point no longer at what there is to see."""
    return replace(session, pointing=False), []


def dismiss_kept(session: Session) -> Step:
    """Compare no longer."""
    return replace(session, kept=None), []


def new_luck(session: Session, seed: int) -> Step:
    """Draw other coins."""
    return change(session, {"seed": seed})


def one_rate(session: Session) -> Step:
    """Go back to one acceptance rate for all positions."""
    return change(session, {"rates": None})


def take(session: Session, changes: Mapping[str, object]) -> Step:
    """Set what the reader chose in a lab, if nothing of it is fixed; the widget comes back.

    What are settings of labs alone is nothing of the widget's.
    """
    if all(map(of_a_lab, changes)):
        return replace(session, lab_keys=with_lab_keys(session.lab_keys, changes)), []
    if any(map(session.fixed, changes)):
        return session, []
    return change(session, {**changes, "lab": None})


def lead(session: Session, name: str, changes: Mapping[str, object]) -> Step:
    """Set another lab, by the keys of its settings; where a lab is alone, that one is instead."""
    session, complaints = take(session, changes)
    if session.view.lab != NO_LAB:
        session = replace(session, view=replace(session.view, lab=name))
    return session, complaints


def visit(session: Session, keys: Mapping[str, object]) -> Step:
    """Set a scene of the text; how the page is shown stays."""
    return change(pause(session)[0], {**dict.fromkeys(VISITED), **keys})


def _scene_of(story: int) -> dict[str, object]:
    """The keys of a scene of the rail, those that it does not name included."""
    return {**dict.fromkeys(VISITED), **STORIES[story - 1].keys}


def tell(session: Session, story: int) -> Step:
    """Put a scene of the rail before the reader, if nothing that it sets is fixed."""
    return (session if OF_A_STORY & set(session.view.lock) else _told(session, story)), []


def _told(session: Session, story: int) -> Session:
    session = replace(pause(session)[0], prediction=session.prediction.posed(None), pointing=True)
    session, _ = change(session, _scene_of(story))
    return replace(session, view=replace(session.view, story=story))


def set_speed(session: Session, share: float) -> Step:
    """Set the speed by the place of its slider, 0 to 1; whole speeds only."""
    speed = float(round(SPEED.low * (SPEED.high / SPEED.low) ** share))
    return replace(session, view=replace(session.view, speed=speed)), []


def next_theme(session: Session, dark: bool = False) -> Step:
    """Go on to the next of the colours; first to those that the system, `dark` or not, has not."""
    auto, *others = THEMES if dark else (THEMES[0], *reversed(THEMES[1:]))
    order = [auto, *others, auto]
    following = order[order.index(session.view.theme) + 1]
    return replace(session, view=replace(session.view, theme=following)), []


def lend(session: Session, data: bytes) -> Step:
    """Have the words of a stretch of text, as `read_stretch` takes it."""
    try:
        return replace(session, stretch=read_stretch(data)), []
    except UnreadableError:
        return session, [f"{FILE} is damaged; drafts and slots go without words."]


def switch_words(session: Session) -> Step:
    """Show words where there were none, and none where there were."""
    return replace(session, view=replace(session.view, words=not session.view.words)), []


def zoom(session: Session, closer: int) -> Step:
    """Come closer to the clock, or go farther: a factor of two."""
    return replace(session, zoom=max(FARTHEST, min(CLOSEST, session.zoom + closer))), []


# Time


def seek(session: Session, tick: object) -> Step:
    """Go to a tick, and stay there; not while a question waits for its prediction."""
    if session.prediction.open:
        return session, []
    return change(pause(session)[0], {"tick": tick})


def step(session: Session, ticks: object) -> Step:
    """Go on by some ticks, or back; a fraction is rounded, halves up."""
    if isinstance(ticks, bool) or not isinstance(ticks, (int, float)) or not isfinite(ticks):
        told = f"step({shown(ticks)}): not a number of ticks; nothing was stepped."
        return session, [told]
    target = session.view.tick + floor(ticks + 0.5)
    after, complaints = seek(session, max(0, min(HORIZON, target)))
    tick = after.view.tick
    answered = after.prediction != session.prediction  # and knows what phases only lead to
    if not answered and target == session.view.tick + 1 and after.run.has_phases(tick):
        after = replace(after, in_phases=tick)
    return after, complaints


def play(session: Session) -> Step:
    """Play from here; from the start where the run is over. Not before a prediction is made."""
    if session.prediction.open:
        return session, []
    view = session.view
    if view.tick >= HORIZON:
        view = replace(view, tick=0)
    return replace(session, view=view, playing=True, before_drag=None, in_phases=None), []


def pause(session: Session) -> Step:
    """Stay here."""
    return replace(session, playing=False, in_phases=None), []


def toggle(session: Session) -> Step:
    """Play or pause."""
    return pause(session) if session.playing else play(session)


def arrive(session: Session, tick: int) -> Step:
    """Be where the playback came to; it stops at the horizon, and where a question is about."""
    if not session.playing:
        return session, []
    question = session.prediction.question
    if question and session.prediction.running:
        tick = min(tick, question.tick)
    view = replace(session.view, tick=tick)
    return _reached(replace(session, view=view, playing=tick < HORIZON)), []


def reset(session: Session) -> Step:
    """Back to the scene that it was opened with, paused; shown as it is now."""
    params, view = session.opened
    now = session.view
    looks = {name: getattr(now, name) for name in ("embed", "show", "lock", "theme", "words")}
    view = replace(view, play=False, **looks)
    keys = session.opened_lab_keys
    session = replace(
        session, params=params, view=view, lab_keys=keys, before_drag=None, ghost=None
    )
    session, _ = pause(session)
    return _posed(session), []


# The question


def predict(session: Session, text: str) -> Step:
    """Take a prediction as the reader writes it, and run; what is wrong with it the panel says."""
    prediction = session.prediction.answered(text)
    runs = session.prediction.open and prediction.running
    session = replace(session, prediction=prediction)
    return (_reached(play(session)[0]) if runs else session), []


def note(session: Session, text: str) -> Step:
    """Remember what the reader has written so far."""
    return replace(session, prediction=session.prediction.noted(text)), []


def resume(session: Session, fields: object) -> Step:
    """Go on with the question where another page left it, as `Prediction.kept` told there.

    A question that was put here meanwhile stands; attempts are counted on in any case.
    """
    now = session.prediction
    try:
        held = kept_as(fields if isinstance(fields, dict) else {})
    except UnreadableError:
        return session, ["resume: this is no question as a picture told it; nothing was changed."]
    held = replace(held, put=now.put + 1)
    if held.question == now.question or (now.question is None and not held.waiting):
        session = replace(session, prediction=held)
    else:
        session = replace(session, prediction=replace(now, tried=held.tried))
    if session.prediction.running:
        return play(session)
    if held.question and held.question == now.question and not held.waiting:
        return seek(session, held.question.tick)
    return session, []


def skip(session: Session) -> Step:
    """Go to the tick of the question, and its answer."""
    question = session.prediction.question
    if question is None or not session.prediction.waiting:
        return session, []
    return seek(replace(session, prediction=session.prediction.given_up()), question.tick)


def ask_again(session: Session) -> Step:
    """Put the same question once more, at the start of the run."""
    prediction = session.prediction
    if prediction.question is None:
        return session, []
    view = replace(session.view, tick=0)
    asked = replace(session, view=view, prediction=prediction.posed(prediction.question))
    return pause(asked)


def done(session: Session) -> Step:
    """Go on: to the next scene of the rail, or without the question."""
    if session.next_story:
        return tell(session, session.next_story)
    view = replace(session.view, story=0)
    return replace(session, view=view, prediction=session.prediction.posed(None)), []


def edit(session: Session) -> Step:
    """Free the scene for its author: no locks, no question, and Reset leads back to this one."""
    view = replace(session.scene, lock=(), ask=NO_QUESTION, ask_text="", story=0)
    session = replace(session, view=view, prediction=session.prediction.posed(None))
    return pause(replace(session, opened=(session.params, view), opened_lab_keys=session.lab_keys))
