"""The face of a scene: everything the widget shows, by its place on the page, as plain data.

A place is a CSS selector, and its value stands in every element that matches: a text, or `Markup`
where it is HTML. An @ leads to something else of the element:

    [data-metric=tokens]     its text
    #path@d                  its attribute d; for a truth value, whether it has one
    #controls@.replaying     whether it is of that class

The page writes these places, and index.html is printed with them, so that a new value here needs
but its place there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Generic, NamedTuple, TypeVar

from sim import clock
from sim.marks import COLUMNS, ROWS
from sim.markup import escaped
from sim.metrics import METRICS
from sim.narrator import sentence
from sim.params import HORIZON, PARAMETERS, SLOTS
from sim.picture import CSS_COLOURS, bar_parts, board_svg, emphasised, strip_html, tallies
from sim.plot import HEIGHT, band, path, theory_height
from sim.question import Question
from sim.rail import BOARD, CLOCK, STORIES, Point
from sim.run import KEEP, Run
from sim.session import OF_A_STORY
from sim.settings import write
from sim.state import GHOSTS, Kept, Session
from sim.story import ADVANCED, describe_slot, figures, settings, split, summary
from sim.stretch import Stretch
from sim.strip import strip
from sim.verbs import BUTTONS, VERB
from sim.view import SPEED
from sim.words import many

Shown = dict[str, str | bool]
"""What stands in each place."""

MANY_CELLS, CROWD = 9, 17
"""Cells of the strip above which they shrink, and above which they wrap."""

MAIN = ("speculation", "k", "alpha", "c", "batch", "cache")
"""Keys of the settings whose controls are always there."""

PREDICT_FIRST = "no pass yet: predict first"
POINT_AT_ONE = "point at or tap a slot to see what it holds"
UNKNOWN = "?"
"""What stands for a number that would answer the question."""

COLOURS = {
    "auto": "Colours: as the system",
    "light": "Colours: light",
    "dark": "Colours: dark",
}

_METRICS = {metric.name: f"[data-metric={metric.name}]" for metric in METRICS}


class Moment(NamedTuple):
    """A scene, and what the reader is doing with it."""

    run: Run
    tick: int
    phase: str = KEEP
    """How far the pass is told."""
    slot: int | None = None
    """The slot pointed at."""
    ghosts: Mapping[str, str] = {}
    """The figures before the slider moved, while it moves."""
    question: Question | None = None
    """What is yet to be predicted."""
    playing: bool = False
    width: int = clock.WIDTH
    """px that the clock has."""
    zoom: int = 0
    """How often one came closer to it, or went farther."""
    point: Point | None = None
    """What there is to see at the end of a scene of the rail."""
    free: bool = False
    """Whether the reader may set verdicts by hand."""
    ghost: Run | None = None
    """The run as it was before one was."""
    kept: Kept | None = None
    """A run kept for comparison."""
    words: Stretch | None = None
    """What drafts and tokens say."""

    @property
    def known(self) -> int:
        """The tick whose numbers are shown: nothing is told before the phase that brings it."""
        return self.run.known(self.tick, self.phase)


def this_pass(moment: Moment) -> Shown:
    """The pass that the tick was."""
    told = strip(moment.run, moment.tick, moment.phase, moment.ghost, moment.words)
    cells = len(told.cells)
    first = moment.question is not None and moment.tick == 0
    return {
        "#caption": emphasised(PREDICT_FIRST if first else told.caption),
        "#strip": strip_html(told, moment.free, roomy=cells <= CROWD),
        "#strip@class": "strip" + (" crowd" if cells > CROWD else " many" * (cells > MANY_CELLS)),
    }


def slot_note(moment: Moment) -> Shown:
    """What the slot pointed at holds."""
    run, tick, phase, slot = moment.run, moment.tick, moment.phase, moment.slot
    if slot is None:
        return {"#slot-note": POINT_AT_ONE}
    return {"#slot-note": describe_slot(run, tick, slot, phase, moment.words)}


def numbers(moment: Moment) -> Shown:
    """The numbers, what is said of them, and their bars; not those that a question hides."""
    run, tick, question = moment.run, moment.known, moment.question
    report = run.report(tick)
    texts, words, lengths = figures(report, run), sentence(run, tick), split(report)
    if question:
        texts.update(dict.fromkeys(question.hidden, UNKNOWN))
    useful, wasted, redone = lengths
    return {
        **{_METRICS.get(name) or f"[data-text={name}]": text for name, text in texts.items()},
        **{f"[data-ghost={name}]": moment.ghosts.get(name, "") for name in GHOSTS},
        "#controls@.replaying": bool(moment.ghosts),
        "#sentence": words.text,
        "#sentence@class": f"sentence {words.tone}",
        "[data-action=better]": better_label(words.better),
        "[data-action=better]@hidden": words.better is None,
        "#split": bar_parts({"useful": useful, "wasted": wasted, "redone": redone}),
    }


def lanes(moment: Moment) -> Shown:
    """The clock: what each pass spent its time on, beside plain decoding."""
    run, tick, width = moment.run, moment.tick, moment.width
    kept = moment.kept.run if moment.kept else None
    drawn = clock.clock(run, tick, width, moment.zoom, moment.phase, moment.ghost, kept)
    return {
        "#clock@viewBox": f"0 0 {width} {clock.HEIGHT}",
        "#clock-moved@transform": f"translate({drawn.shift:.1f} 0)",
        **{f"#clock-{part}@d": path for part, path in drawn.lane.items()},
        "#clock-evicted@d": drawn.evicted,
        "#clock-ghost@d": drawn.ghost,
        "#clock-kept@d": drawn.kept,
        "#clock-plain@d": drawn.plain,
        "#clock-plain@stroke-dasharray": drawn.dashes,
        "#clock-now@d": drawn.now,
        "#clock-tallies": tallies(drawn.tallies),
    }


def compared(moment: Moment) -> Shown:
    """Runs beside this one: as it was before a verdict was set by hand, and one that was kept."""
    run, tick, ghost, kept = moment.run, moment.known, moment.ghost, moment.kept
    figures_of = kept.figures if kept else {}
    return {
        "#ghost@hidden": ghost is None,
        "#ghost-path@d": path(ghost, tick, run) if ghost else "",
        "#kept@hidden": kept is None,
        "#kept-path@d": path(kept.run, tick, run) if kept else "",
        "#kept-words": f"{figures_of['tokens_per_pass']} tokens a pass, {figures_of['speedup']}× · "
        f"{kept.words}"
        if kept
        else "",
    }


def callouts(moment: Moment) -> Shown:
    """What a scene of the rail points at, beside it."""
    point, run, tick = moment.point, moment.run, moment.tick
    shown: Shown = {
        f"#{place}-callout@hidden": point is None or point.place != place
        for place in (CLOCK, BOARD)
    }
    if point is None:
        return shown
    shown[f"#{point.place}-point"] = point.text
    if point.place == CLOCK:
        x = clock.view(run, tick, moment.width, moment.zoom).x(point.time)
        return {**shown, "#clock-callout@--x": f"{max(0.0, x):.0f}px"}
    row, column = divmod(point.slot % SLOTS, COLUMNS)
    return {
        **shown,
        "#board-callout@--x": f"{100 * (column + 0.5) / COLUMNS:.1f}%",
        "#board-callout@--y": f"{100 * (row + 1) / ROWS:.1f}%",
    }


def better_label(length: int | None) -> str:
    """What the button says that takes another draft length."""
    if not length:
        return "Go without drafts"
    return f"Take {many(length, 'draft')}"


def timeline(moment: Moment) -> Shown:
    """How far the run is."""
    return {
        "[name=tick]@value": str(moment.tick),
        "#tick": str(moment.tick),
        "#path@d": path(moment.run, moment.known),
    }


def plot(moment: Moment) -> Shown:
    """What the run's path is seen against, and the settings that make it."""
    run, params = moment.run, moment.run.params
    return {
        "#band@d": band(run, moment.tick),
        "#theory@d": f"M0 {theory_height(run):.1f}H{HORIZON}",
        "#evictions@d": "".join(f"M{at} 0V{HEIGHT}" for at in params.evictions_made),
        "#settings": settings(params),
    }


def play_button(moment: Moment) -> Shown:
    """What pressing Play does."""
    return {
        ":root@.playing": moment.playing,
        "#play-label": "Pause" if moment.playing else "Play",
    }


def in_words(moment: Moment) -> Shown:
    """The board for those who do not see it; while the run plays, as it was."""
    if moment.playing:
        return {}
    run, tick = moment.run, moment.known
    return {"#summary": summary(run, tick), "#clock@aria-label": clock.in_words(run, tick)}


S = TypeVar("S")


class Part(NamedTuple, Generic[S]):
    """Places that change together, and what they depend on."""

    shows: Callable[[S], Shown]
    on: Callable[[S], object]


OF_A_MOMENT: tuple[Part[Moment], ...] = (
    Part(this_pass, lambda m: (m.run, m.tick, m.phase, m.question, m.free, m.ghost, m.words)),
    Part(
        slot_note, lambda m: m.slot if m.slot is None else (m.run, m.tick, m.phase, m.slot, m.words)
    ),
    Part(numbers, lambda m: (m.run, m.known, m.ghosts, m.question)),
    Part(lanes, lambda m: (m.run, m.tick, m.phase, m.width, m.zoom, m.ghost, m.kept)),
    Part(compared, lambda m: (m.run, m.known, m.ghost, m.kept)),
    Part(callouts, lambda m: (m.point, m.width, m.zoom)),
    Part(timeline, lambda m: (m.run, m.tick, m.known)),
    Part(plot, lambda m: (m.run, m.run.at(m.tick).recompute_passes)),
    Part(play_button, lambda m: m.playing),
    Part(in_words, lambda m: (m.run, m.known) if not m.playing else None),
)


class Face(Generic[S]):
    """What has yet to be shown, from one moment, or from one session, to the next."""

    def __init__(self, parts: tuple[Part[S], ...]) -> None:
        self._parts = parts
        self._on: list[object] = [self] * len(parts)

    def turn(self, seen: S) -> Shown:
        """The places of every part that depends on something else than at the last call."""
        found: Shown = {}
        for index, part in enumerate(self._parts):
            on = part.on(seen)
            if on != self._on[index]:
                self._on[index] = on
                found.update(part.shows(seen))
        return found


def controls(session: Session) -> Shown:
    """Where the controls stand. The reader moves them too: they are shown at every change."""
    params, places = session.params, Shown()
    for row in PARAMETERS:
        if row.key not in MAIN + ADVANCED:
            continue
        value = getattr(params, row.name)
        if row.kind.control == "switch":
            places[f"[name={row.key}]@checked"] = value
            continue
        text = write(row, value)
        if row.kind.control == "range":
            places[f"[name={row.key}]@value"] = text
        places[f"[data-number={row.key}]@value"] = text
        places[f"[data-number={row.key}]@aria-valuenow"] = text
    share = log(session.view.speed / SPEED.low) / log(SPEED.high / SPEED.low)
    return {**places, "[name=speed]@value": f"{share:.2f}", **speed(session)}


def speed(session: Session) -> Shown:
    """How fast it plays, in words."""
    number = SPEED.write(session.view.speed)
    return {
        "#speed": number,
        "[name=speed]@aria-valuetext": f"{number} units of time a second",
    }


def look(session: Session) -> Shown:
    """The parts of the widget that a link wants, and its colours."""
    view = session.view
    return {
        ":root@data-show": " ".join(view.parts),
        ":root@data-embed": view.embed,
        ":root@data-theme": view.theme != "auto" and view.theme,
        "[data-action=theme]@aria-label": COLOURS[view.theme],
        "[data-action=theme]@title": COLOURS[view.theme],
    }


def lent(session: Session) -> Shown:
    """The button for words, once there are some."""
    return {
        "[data-action=words]@hidden": session.stretch is None,
        "[data-action=words]@aria-pressed": "true" if session.view.words else "false",
    }


def locks(session: Session) -> Shown:
    """What the reader may move."""
    places: Shown = {}
    for row in PARAMETERS:
        key = row.key
        if key not in MAIN + ADVANCED:
            continue
        off = session.disabled(key)
        if row.kind.control in ("range", "switch"):
            places[f"[name={key}]@disabled"] = off
        if row.kind.control != "switch":
            places[f"[data-number={key}]@disabled"] = off
        places[f"[data-control={key}]@.fixed"] = key in session.view.lock
    for key in ("tick", "speed"):
        places[f"[name={key}]@disabled"] = session.fixed(key)
    for name in BUTTONS:
        places[f"[data-action={name}]@disabled"] = session.fixed_button(name)
    params = session.params
    return {
        **places,
        "[data-action=one-rate]@hidden": not params.acceptance_rates,
        "[data-action=evict]@title": VERB["evict"].idle(params),
        "#scene@hidden": "share" in session.view.lock,
        ":root@.uncached": not params.kv_cache,
    }


def rail(session: Session) -> Shown:
    """The scenes of the rail: which one it is, and whether they may be gone to."""
    view = session.view
    current: Shown = {
        f"#story-{number}@aria-current": number == view.story and "true"
        for number in range(1, len(STORIES) + 1)
    }
    return {**current, ":root@.unrailed": bool(OF_A_STORY & set(view.lock))}


def _locked_by(session: Session) -> object:
    params, asked = session.params, session.prediction
    return session.view.lock, asked.waiting, asked.open, params.kv_cache, params.acceptance_rates


def asked(session: Session) -> Shown:
    """The panel of a question: how far it is, and what is said of it."""
    prediction = session.prediction
    question = prediction.question
    why, lead = "", ""
    if session.view.story and prediction.open:
        lead = f"{STORIES[session.view.story - 1].lead} "
    if question and not prediction.waiting and not session.view.story:
        why = f" {sentence(session.run, question.tick).text}"
    told = emphasised(lead + prediction.told(session.run) + why)
    if question and question.words and prediction.open:
        told = escaped(question.words)
    return {
        "#question@hidden": question is None,
        "#question@data-phase": prediction.phase,
        ":root@.asking": question is not None,
        ":root@.predicting": prediction.open,
        "#asked": told,
        "#unit": question.unit if question else "",
        "#wrong": prediction.wrong,
        "[data-action=done]": "Next scene" if session.next_story else "Go on",
        "[data-action=skip]": "Skip to the end"
        if question and not prediction.open
        else "Just show me",
    }


OF_A_SESSION: tuple[Part[Session], ...] = (
    Part(look, lambda s: (s.view.show, s.view.embed, s.view.theme)),
    Part(lent, lambda s: (s.stretch is None, s.view.words)),
    Part(locks, _locked_by),
    Part(rail, lambda s: (s.view.story, s.view.lock)),
    Part(speed, lambda s: s.view.speed),
    Part(
        asked, lambda s: (s.prediction, s.view.story, s.params if s.prediction.question else None)
    ),
)
"""What an action changes beside the moment; where its controls stand is shown in any case."""


def paper(run: Run, tick: int) -> Shown:
    """The board where it is not drawn: before Python has come, and in print."""
    hollow = not run.params.kv_cache
    return {"#printed": board_svg(run.slots(tick), hollow, CSS_COLOURS, summary(run, tick))}
