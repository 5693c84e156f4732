"""Settings and scenes of every kind, for the tests of properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sim.kinds import Choice, Kind, Real, Switch, Text, Whole
from sim.lists import Choices, Pairs, Reals, Wholes
from sim.params import PARAMETERS, Params
from sim.settings import Setting
from sim.view import VIEW, View

rate = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 0.9, 1.0])

gaps = st.lists(st.sampled_from([0, 1, 1, 2, 3, 8, 30, 90]), max_size=12)


def cumulated(steps: list[int]) -> tuple[int, ...]:
    return tuple(sorted({sum(steps[: n + 1]) for n in range(len(steps))}))


verdicts = st.just(()) | st.dictionaries(st.integers(1, 400), st.integers(0, 32), max_size=6).map(
    lambda some: tuple(sorted(some.items()))
)

params_of_rules = st.builds(
    Params,
    speculation=st.sampled_from([True, True, True, False]),
    draft_length=st.integers(1, 32),
    acceptance_rate=rate,
    acceptance_rates=st.lists(rate, max_size=4).map(tuple),
    kv_cache=st.sampled_from([True, True, False]),
    draft_cost=st.sampled_from([0.0, 0.1, 0.37, 1.0]),
    batch_size=st.integers(1, 512),
    knee=st.integers(1, 4096),
    recompute_chunk=st.sampled_from([16, 17, 64, 100, 511, 512]),
    seed=st.integers(0, 2**32 - 1),
    evictions=gaps.map(cumulated),  # close to one another too: before all is back
    verdicts=verdicts,
)

any_rate = st.floats(0, 1, allow_nan=False)

any_params = st.builds(
    Params,
    speculation=st.booleans(),
    draft_length=st.integers(1, 32),
    acceptance_rate=any_rate,
    acceptance_rates=st.lists(any_rate, max_size=5).map(tuple),
    kv_cache=st.booleans() | st.just(True),
    draft_cost=any_rate | st.floats(0, 8, allow_nan=False),
    round_cost=st.just(0.0) | st.floats(0, 8, allow_nan=False),
    batch_size=st.integers(1, 512),
    knee=st.integers(1, 4096),
    recompute_chunk=st.integers(16, 512),
    seed=st.integers(0, 5),
    evictions=st.lists(st.integers(0, 400), max_size=6).map(lambda t: tuple(sorted(set(t)))),
    verdicts=verdicts,
)

ticks = st.integers(0, 420)


def values(row: Setting) -> st.SearchStrategy[Any]:
    """Everything that a setting may be."""
    return values_of(row.kind)


def values_of(kind: Kind[Any]) -> st.SearchStrategy[Any]:
    match kind:
        case Switch():
            return st.booleans()
        case Text(most):
            written = st.text(max_size=most).map(in_a_row)
            return written.filter(lambda text: " " in text or "%20" not in text)
        case Choice(names):
            return st.sampled_from(names)
        case Choices(names, least):
            chosen = st.sets(st.sampled_from(names), min_size=least)
            return chosen.map(lambda some: tuple(name for name in names if name in some))
        case Whole(low, high):
            return st.integers(int(low), int(high))
        case Real(low, high):
            return st.floats(low, high).map(lambda number: number + 0.0)
        case Wholes(item):
            return st.sets(values_of(item), max_size=8).map(lambda some: tuple(sorted(some)))
        case Pairs(place, value):
            given = st.dictionaries(values_of(place), values_of(value), max_size=8)
            return given.map(lambda some: tuple(sorted(some.items())))
        case Reals(item):
            return st.lists(values_of(item), max_size=8).map(tuple)
    raise TypeError(kind)


def in_a_row(text: str) -> str:
    """Printable words of a text, with one space between each two."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def records(kind: Any, rows: tuple[Setting, ...]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{row.name: values(row) for row in rows})


ANY_PARAMS = records(Params, PARAMETERS)
ANY_VIEW = records(View, VIEW).map(
    lambda view: replace(view, story=0, ask_text=view.ask_text if view.asks else "")
)
"""But for a scene of the rail, which says itself what the run is, and for words of no question."""
