"""Everything that the widget shows, for scenes chosen to reach each way it can look.

`python3 -m tests.golden` writes golden.json anew: for a change that is meant, whose difference is
then read line by line. A test holds the code to the file. The first scene is there in full, of each
other one what is not as in the first: null where that place is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from sim.cache import EMPTY
from sim.face import OF_A_MOMENT, OF_A_SESSION, Face, Moment, Shown, controls
from sim.marks import LOOKS
from sim.params import Params
from sim.question import Prediction, Question
from sim.run import Run
from sim.settings import updated
from sim.state import Session
from sim.story import figures
from sim.stretch import FILE as WORDS
from sim.stretch import read_stretch
from sim.view import View
from tests.server import ROOT

FILE = Path(__file__).with_name("golden.json")


class Shot(NamedTuple):
    """A scene, and what the page knows of it beyond its link."""

    keys: str = ""
    """The scene's link, after its ?"""
    phase: str = "keep"
    """How far the pass is told."""
    slot: int | None = None
    """The slot pointed at."""
    before: str | None = None
    """The link of the scene whose numbers stand there as ghosts."""
    waits: bool = False
    """Whether the scene's question is yet to be answered."""
    at: int | None = None
    """The tick that the answered question's run has come to."""
    playing: bool = False
    words: bool = False
    """Whether the text has come whose words it has."""


MANY_RATES = "0.95,0.9,0.85,0.8,0.75,0.7,0.65,0.6,0.55,0.5"

SHOTS = {
    # Defaults, and ticks
    "default": Shot(),
    "tick 0": Shot("tick=0"),
    "tick 1": Shot("tick=1"),
    "tick 2": Shot("tick=2"),
    "tick 121, where the path is drawn in strides": Shot("tick=121"),
    "board just full": Shot("tick=143"),
    "board rolled on": Shot("tick=200"),
    "horizon": Shot("tick=1200"),
    "playing": Shot("tick=61", playing=True),
    # Switches
    "no speculation": Shot("speculation=off"),
    "no speculation at tick 1": Shot("speculation=off&tick=1"),
    "no speculation, with costs": Shot("speculation=off&c=0.25&c0=1.5&batch=9&tick=300"),
    "no cache": Shot("cache=off"),
    "no cache at tick 0": Shot("cache=off&tick=0"),
    "no cache, past the knee": Shot("cache=off&batch=8&tick=600"),
    "no cache, evicted all the same": Shot("cache=off&evict=10,40&tick=45"),
    "no cache and no speculation": Shot("cache=off&speculation=off&tick=512"),
    # Draft lengths: the strip shrinks above 8 cells and wraps above 16
    "k 1": Shot("k=1&tick=3"),
    "k 1, accepted": Shot("k=1&alpha=1&tick=3"),
    "k 5": Shot("k=5&tick=30"),
    "k 6": Shot("k=6&tick=30"),
    "k 7": Shot("k=7&tick=30"),
    "k 8": Shot("k=8&tick=30"),
    "k 15": Shot("k=15&tick=30"),
    "k 16": Shot("k=16&tick=30"),
    "k 32": Shot("k=32&tick=90"),
    "k 32, all accepted": Shot("k=32&alpha=1&tick=17"),
    # Rates
    "nothing accepted": Shot("alpha=0&tick=30"),
    "everything accepted": Shot("alpha=1&tick=30"),
    "hardly anything accepted": Shot("alpha=0.03&c=0.1&tick=600"),
    "a rate of three digits": Shot("alpha=0.966&tick=40"),
    "falling rates": Shot("k=6&rates=0.9,0.8,0.7,0.6,0.5&tick=600"),
    "more rates than are told": Shot(f"k=12&rates={MANY_RATES}&tick=100"),
    "rates of three drafts, losing": Shot("k=3&rates=0.2,0.1&c=0.3&tick=100"),
    # Evictions
    "evicted": Shot("evict=134&tick=134"),
    "evicted, half back": Shot("evict=134&tick=138"),
    "evicted, one pass to go": Shot("evict=134&tick=141"),
    "evicted, whole again": Shot("evict=134&tick=142"),
    "evicted, and on": Shot("evict=134&tick=143"),
    "evicted, back in one pass": Shot("evict=134&tick=135&chunk=512"),
    "evicted later than shown": Shot("evict=134&tick=100"),
    "evicted while it recomputes": Shot("evict=134,138&tick=140"),
    "evicted at the start": Shot("evict=0,1&tick=1"),
    "evicted at the horizon": Shot("evict=1200&tick=1200"),
    "evicted so often that it loses": Shot("k=1&alpha=0.2&evict=40,60,80&chunk=16&tick=90"),
    "evicted in a batch past the knee": Shot("evict=134&tick=136&batch=64&chunk=100"),
    # Costs
    "dear drafts": Shot("k=12&alpha=0.4&c=0.1&tick=600"),
    "verdicts set by hand": Shot("force=59:4,60:0"),
    "a verdict set by hand to all": Shot("force=60:32&seed=3&k=5"),
    "a verdict set by hand without drafts": Shot("force=60:0&speculation=off"),
    "drafts for free": Shot("c=0"),
    "a round that costs": Shot("c0=0.3&alpha=0.1&tick=200"),
    "slower than can be said in two digits": Shot("k=32&alpha=0&c=8&c0=8&batch=512&knee=1"),
    "a batch below the knee": Shot("batch=51&knee=255"),
    "a batch past the knee": Shot("batch=64&tick=600"),
    "a batch far past the knee": Shot("batch=256&tick=600"),
    "all that is advanced": Shot("c=0.05&c0=0.125&batch=12&knee=100&chunk=32&seed=4294967295"),
    # Phases
    "proposed": Shot("tick=61", "draft"),
    "verified": Shot("tick=61", "verify"),
    "one draft proposed": Shot("k=1&tick=3", "draft"),
    "one draft verified": Shot("k=1&tick=3", "verify"),
    "proposed, but it is evicted": Shot("evict=134&tick=134", "draft"),
    "proposed, over discarded drafts": Shot("alpha=0.3&k=8&tick=50", "draft"),
    "a phase of a pass without drafts": Shot("speculation=off&tick=5", "verify"),
    # Slots pointed at
    "the prompt's slot": Shot(slot=0),
    "the newest slot": Shot(slot=216),
    "an empty slot": Shot(slot=400),
    "a slot discarded": Shot("alpha=0&tick=30", slot=32),
    "a slot proposed": Shot("tick=61", "draft", slot=217),
    "a slot of the next token, not yet known": Shot("tick=5&alpha=1", "verify", slot=25),
    "a token in place of a rejected draft": Shot("alpha=0", slot=9),
    "a token after a full accept": Shot("alpha=1", slot=5),
    "verified, all accepted": Shot("alpha=1&tick=9", "verify"),
    "a slot evicted": Shot("evict=134&tick=134", slot=100),
    "a slot that was used before": Shot("tick=400", slot=511),
    "a slot without a cache": Shot("cache=off", slot=3),
    # Words
    "words": Shot("tick=62", words=True),
    "words proposed": Shot("tick=62", "draft", words=True),
    "words verified": Shot("tick=62", "verify", words=True),
    "words of one by one": Shot("speculation=off", words=True),
    "words of a long pass": Shot("k=32&alpha=1&tick=17", words=True),
    "the word of a slot": Shot(slot=9, words=True),
    "words switched off": Shot("words=off", words=True),
    # Questions
    "asked for the speedup": Shot("ask=speedup&tick=300", waits=True),
    "asked for a count": Shot("ask=positions_wasted&k=7&tick=300", waits=True),
    "asked for the share accepted": Shot("ask=draft_acceptance&tick=90&lock=k", waits=True),
    "asked, and on its way": Shot("ask=speedup&tick=300", at=150, playing=True),
    "asked and answered": Shot("ask=speedup&tick=300"),
    # Ghosts
    "ghosts of another rate": Shot("alpha=0.5", before=""),
    "ghosts without a number": Shot("alpha=0.5&tick=0", before="tick=0"),
    # Locks and views
    "locked": Shot("k=7&lock=k,alpha,evict,tick,play,share"),
    "verdicts locked": Shot("lock=force"),
    "a verdict that can be given back": Shot("force=60:1"),
    "luck and rates locked": Shot("rates=0.9,0.5&lock=seed,rates,speed,theme"),
    "embedded, in parts": Shot("embed=1&show=board,timeline&theme=dark"),
    "slow": Shot("speed=1"),
    "fast": Shot("speed=60&theme=light"),
}


LETTERS = dict(zip(LOOKS, "abrdpnxo.", strict=True))
"""One letter for each state of a slot, in the order of the legend."""

assert LETTERS[EMPTY] == "."


def scene(keys: str) -> tuple[Params, View]:
    """What a link names; it must be right in every part."""
    read = dict(parse_qsl(keys, keep_blank_values=True))
    (params, wrong), (view, more) = updated(Params(), read), updated(View(), read)
    assert not wrong + more, keys
    return params, view


def moment(shot: Shot) -> Moment:
    """A scene as the page has it."""
    params, view = scene(shot.keys)
    run, tick = Run(params), 0 if shot.waits else view.tick if shot.at is None else shot.at
    question = Question(view.ask, view.tick) if shot.waits else None
    ghosts, free = {}, not (shot.waits or "force" in view.lock)
    if shot.before is not None:
        earlier, then = scene(shot.before)
        ghosts = figures(Run(earlier).report(then.tick), Run(earlier))
    told = run, tick, shot.phase, shot.slot, ghosts, question, shot.playing
    return Moment(*told, free=free, words=session(shot).words)


def session(shot: Shot) -> Session:
    """A scene as it was opened, its question as far as the shot says."""
    params, view = scene(shot.keys)
    prediction = Prediction()
    if shot.waits or shot.at is not None:
        prediction = prediction.posed(Question(view.ask, view.tick))
    if shot.at is not None:
        prediction = prediction.given_up()
    stretch = read_stretch((ROOT / WORDS).read_bytes()) if shot.words else None
    return Session(params, view, (params, view), prediction, stretch=stretch)


def shown(shot: Shot) -> Shown:
    """Everything that the page shows of a scene, by its place."""
    seen, opened = moment(shot), session(shot)
    drawn = _board(seen.run, seen.tick, seen.phase)
    faced = Face(OF_A_MOMENT).turn(seen) | Face(OF_A_SESSION).turn(opened)
    return {"board": drawn} | faced | controls(opened)


def _board(run: Run, tick: int, phase: str) -> str:
    slots = run.slots(tick, phase)
    hollow = "" if run.params.kv_cache else "hollow "
    return hollow + "".join(LETTERS[state] for state in slots).rstrip(".")


def everything() -> dict[str, Shown]:
    """All that is shown of all scenes."""
    return {name: shown(shot) for name, shot in SHOTS.items()}


def kept() -> dict[str, Shown]:
    """What was shown when the file was written."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    first = next(iter(found.values()))
    return {
        name: {place: value for place, value in (first | own).items() if value is not None}
        for name, own in found.items()
    }


def _shortened(scenes: Mapping[str, Shown]) -> dict[str, dict[str, str | bool | None]]:
    (name, first), *others = scenes.items()
    short: dict[str, dict[str, str | bool | None]] = {name: dict(first)}
    for name, own in others:
        new = {place: value for place, value in own.items() if first.get(place) != value}
        short[name] = {**new, **dict.fromkeys(place for place in first if place not in own)}
    return short


def differences(before: Mapping[str, Shown], now: Mapping[str, Shown]) -> list[str]:
    """What is shown otherwise, a line for each place of each scene."""
    lines = []
    for name in [*before, *(name for name in now if name not in before)]:
        was, is_now = before.get(name, {}), now.get(name, {})
        for place in [*was, *(place for place in is_now if place not in was)]:
            old: Any = was.get(place, "nothing")
            new: Any = is_now.get(place, "nothing")
            if old != new:
                lines.append(f"scene “{name}”, place {place}: was {old!r}, is {new!r}")
    return lines


def main() -> None:
    """Write the file, and say what is new in it."""
    now = everything()
    for line in differences(kept() if FILE.exists() else {}, now):
        print(line)
    FILE.write_text(
        json.dumps(_shortened(now), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
