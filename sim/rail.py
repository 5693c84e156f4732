"""The rail: six scenes in reading order, each to be predicted, played to where it is decided, and
told there why it came so.

A scene is the keys of a link, with a question; what is said at its end is computed from its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from sim.params import Params
from sim.run import Run, run_of
from sim.theory import pass_time, plain_pass
from sim.words import count, figure_with_unit, many, spelled

HOOK = "A small model guesses, a big one checks.", "When does that pay?"

BOARD, CLOCK = "board", "clock"
"""Where the point of a scene is seen."""

SPEED = "20"
"""Units of time a second: a scene is over before one looks away."""


LATER = 512
"""A tick at which each pass has long carried a full window."""


class Point(NamedTuple):
    """What there is to see at the end of a scene, and where."""

    text: str
    place: str
    time: float = 0.0
    """Where on the clock, in model time."""
    slot: int = 0
    """Where on the board."""


class Story(NamedTuple):
    """A scene of the rail."""

    title: str
    lead: str
    """What is other in it than in the first one, before the question."""
    keys: dict[str, str]
    """Of its link, the question included."""
    point: Callable[[Run, int], Point]
    """What there is to see at its last tick."""


def _now(text: str, run: Run, tick: int) -> Point:
    """What is seen at the end of the clock."""
    return Point(text, CLOCK, run.at(tick).time)


def _speedup(run: Run, tick: int) -> str:
    return figure_with_unit("speedup", run.report(tick)["speedup"])


def _four(tick: int) -> str:
    """What the first scene came to, in words."""
    return _speedup(run_of(Params()), tick)


def _guess(run: Run, tick: int) -> Point:
    report = run.report(tick)
    return _now(
        f"{spelled(run.params.draft_length).capitalize()} guesses and one check write "
        f"{report['tokens_per_pass']:.1f} tokens a pass, where a plain pass writes one: "
        f"{count(report['tokens'])} tokens in the time of {count(report['plain_tokens'])}.",
        run,
        tick,
    )


def _stretch(run: Run, tick: int) -> Point:
    params, report = run.params, run.report(tick)
    k = params.draft_length
    thrown = report["positions_wasted"] / report["drafted"]
    return _now(
        f"{spelled(k).capitalize()} guesses cost {k * params.draft_cost:.1f} passes each time, and "
        f"{100 * thrown:.0f} % of them are thrown away: {_speedup(run, tick)}, "
        f"where four made it {_four(tick)}.",
        run,
        tick,
    )


def _pay(run: Run, tick: int) -> Point:
    params, report = run.params, run.report(tick)
    k = params.draft_length
    return _now(
        f"{spelled(k).capitalize()} guesses cost {k * params.draft_cost:.1f} of a pass, and bring "
        f"{report['accepted'] / report['verify_passes']:.1f} tokens more: "
        f"{_speedup(run, tick)}. Without any guess it would be 1×.",
        run,
        tick,
    )


def _share(run: Run, tick: int) -> Point:
    params = run.params
    width = params.batch_size * (1 + params.draft_length)
    longer = pass_time(width, params.knee) / plain_pass(params)
    twice = replace(params, batch_size=2 * params.batch_size)
    return _now(
        f"{params.batch_size} texts share each pass. With the guesses that is {width} tokens, and "
        f"past {params.knee} arithmetic takes longer than reading the weights: a check costs "
        f"{longer:.1f} plain passes. {_speedup(run, tick)}; alone it was {_four(tick)}, and with "
        f"{twice.batch_size} texts it is {_speedup(run_of(twice), tick)}.",
        run,
        tick,
    )


def _forget(run: Run, tick: int) -> Point:
    evicted = run.params.evictions_made[0]
    before, after = run.at(evicted), run.at(tick)
    spent = after.time - before.time
    lost = spent * (before.num_tokens - 1) / before.time
    return Point(
        f"The cache was gone: {many(after.recompute_passes, 'pass')} computed "
        f"{count(after.positions_recomputed)} positions again and wrote nothing. "
        f"The price: about {count(lost)} tokens.",
        CLOCK,
        (before.time + after.time) / 2,
    )


def _uncached(run: Run, tick: int) -> Point:
    report = run.report(tick)
    kept = run_of(replace(run.params, kv_cache=True)).report(tick)["positions_computed"]
    return Point(
        f"Every pass computes all of these again: {count(report['positions_computed'])} positions "
        f"for {count(report['tokens'])} tokens; with the cache, {count(kept)}. Up to "
        f"{run.params.knee} a pass cost no more time, so it is {_speedup(run, tick)} still; by "
        f"tick {LATER} it is {_speedup(run, LATER)}.",
        BOARD,
        slot=run.at(tick).num_tokens - 1,
    )


def _asks(metric: str, tick: int, **keys: str) -> dict[str, str]:
    return {**keys, "tick": str(tick), "ask": metric, "speed": SPEED}


STORIES = (
    Story(
        "Guess",
        "Four drafts a pass, each right eight times in ten.",
        _asks("tokens_per_pass", 60),
        _guess,
    ),
    Story("Stretch it", "Twelve drafts instead of four.", _asks("speedup", 60, k="12"), _stretch),
    Story(
        "Pay for it",
        "Eight drafts of a poor model, right four times in ten.",
        _asks("speedup", 60, k="8", alpha="0.4"),
        _pay,
    ),
    Story("Share it", "128 texts share each pass.", _asks("speedup", 60, batch="128"), _share),
    Story(
        "Forget everything",
        "After 450 tokens the cache is evicted.",
        _asks("recompute_passes", 142, evict="134"),
        _forget,
    ),
    Story(
        "Without a cache",
        "Nothing is kept of any pass.",
        _asks("positions_computed", 60, cache="off"),
        _uncached,
    ),
)
