"""One scene as it stands, without a clock and a page: what the actions of session.py change.

A `Session` never changes. A lock is for the reader's hands: `fixed` and `fixed_button` say what
they may move, while scripts and hosts may do everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sim.metrics import METRICS
from sim.params import Params
from sim.question import NOTHING_ASKED, Prediction
from sim.rail import STORIES, Point
from sim.run import Run, run_of
from sim.story import settings
from sim.stretch import Stretch
from sim.verbs import VERB
from sim.view import NO_QUESTION, VIEW, LabKeys, View
from sim.words import figure

GHOSTS = ("tokens_per_pass", "speedup")
"""Numbers that are shown as they were before a drag."""


class Kept(NamedTuple):
    """A run that is compared with others, and where it stood."""

    params: Params
    tick: int

    @property
    def run(self) -> Run:
        """Its run."""
        return run_of(self.params)

    @property
    def words(self) -> str:
        """Its settings in one line, and where it stood."""
        return f"{settings(self.params)} · tick {self.tick}"

    @property
    def figures(self) -> dict[str, str]:
        """Its numbers where it stood, by the name of each metric, as the page writes them."""
        report = self.run.report(self.tick)
        return {metric.name: figure(metric.name, report[metric.name]) for metric in METRICS}


@dataclass(frozen=True)
class Session:
    """A scene, where it came from, and what is going on in it."""

    params: Params
    view: View
    """Never with `play`, which is only about the moment when a scene is set."""
    opened: tuple[Params, View]
    """The scene that it was opened with, as its link has it."""
    prediction: Prediction = NOTHING_ASKED
    before_drag: tuple[Params, int] | None = None
    """Parameters and tick when a drag began that goes on."""
    playing: bool = False
    in_phases: int | None = None
    """The tick that was just stepped to, if its pass is to be told in phases."""
    still: bool = False
    """Whether the reader asked for less motion: nothing plays by itself."""
    ghost: Params | None = None
    """The parameters before a verdict was set by hand: that run is shown beside, until settings
    change again, a question is put, or the reader dismisses it."""
    kept: Kept | None = None
    """A run kept for comparison, until the reader dismisses it."""
    pointing: bool = True
    """Whether what there is to see at the end of a scene of the rail is pointed at."""
    zoom: int = 0
    """How often one came closer to the clock, or went farther."""
    lab_keys: LabKeys = ()
    """Keys of a link that are settings of labs, and their texts as they were written."""
    opened_lab_keys: LabKeys = ()
    """Those that it was opened with."""
    stretch: Stretch | None = None
    """A text whose words the widget can have, once it is here."""

    @property
    def run(self) -> Run:
        """The run of the parameters."""
        return run_of(self.params)

    @property
    def ghost_run(self) -> Run | None:
        """The run as it was before a verdict was set by hand."""
        return run_of(self.ghost) if self.ghost else None

    @property
    def ghosts(self) -> dict[str, str]:
        """Numbers as they were before the drag that goes on, but for those that are hidden."""
        if self.before_drag is None:
            return {}
        params, tick = self.before_drag
        report = run_of(params).report(tick)
        told = set(GHOSTS) - self.prediction.hidden
        return {name: figure(name, report[name]) for name in GHOSTS if name in told}

    @property
    def words(self) -> Stretch | None:
        """The text whose words are shown, if any; none before a prediction is made."""
        return self.stretch if self.view.words and not self.prediction.open else None

    @property
    def scene(self) -> View:
        """The view that a link to this scene holds: with the question while it waits."""
        question = self.prediction.question
        if question and self.prediction.waiting:
            return replace(self.view, tick=question.tick)
        return replace(self.view, ask=NO_QUESTION, ask_text="")

    @property
    def link(self) -> tuple[Params, View, dict[str, str]]:
        """What a link to this scene is made of: see `settings.link`."""
        scene = self.scene
        if self.view.story:  # which says all about the run
            told = ("tick", "speed", "ask", "asktext")
            plain = {row.name: row.default for row in VIEW if row.key in told}
            return Params(), replace(scene, **plain), dict(self.lab_keys)
        return self.params, scene, dict(self.lab_keys)

    @property
    def next_story(self) -> int:
        """The scene of the rail that comes after this one; 0 after the last, and without a rail."""
        story = self.view.story if "rail" in self.view.parts else 0
        return story + 1 if 0 < story < len(STORIES) else 0

    @cached_property
    def point(self) -> Point | None:
        """What there is to see, where a scene of the rail is over."""
        question = self.prediction.question
        if not self.view.story or not question or self.prediction.waiting or not self.pointing:
            return None
        if self.view.tick != question.tick:
            return None
        return STORIES[self.view.story - 1].point(self.run, question.tick)

    def fixed(self, key: str) -> bool:
        """Whether the reader may not move a control: its link locks it, or a question waits."""
        return key in self.view.lock or (self.prediction.waiting and key != "speed")

    def disabled(self, key: str) -> bool:
        """Whether a control is fixed, or has nothing to say: α, while each position has its own."""
        return self.fixed(key) or (key == "alpha" and bool(self.params.acceptance_rates))

    def fixed_button(self, name: str) -> bool:
        """Whether a button does nothing now; “play” works once a prediction runs."""
        verb = VERB[name]
        if verb.idle(self.params) or not set(verb.locks).isdisjoint(self.view.lock):
            return True
        runs = name == "play" and self.prediction.running
        return self.prediction.waiting and not (verb.while_asked or runs)
