"""What a link of the text moved and is about is marked in the widget, and nothing else."""

from __future__ import annotations

from hypothesis import given

from sim.beside import ABOUT, marks, moved
from sim.face import MAIN
from sim.params import PARAMETERS, Params
from sim.story import ADVANCED
from tests.strategies import params_of_rules


def test_a_control_is_marked_where_it_stands_elsewhere_than_before() -> None:
    before = Params(draft_length=4, draft_cost=0.3, evictions=(9,))
    assert moved(before, before) == []
    after = Params(draft_length=12, draft_cost=0.1, kv_cache=False)
    assert moved(before, after) == ["k", "cache", "c"]  # an eviction has no control
    shown = marks(moved(before, after), ["speedup"])
    assert {place for place, marked in shown.items() if marked} == {
        "[data-control=k]@.marked",
        "[data-control=cache]@.marked",
        "[data-control=c]@.marked",
        "[data-metric=speedup]@.marked",
    }


def test_marks_of_nothing_take_every_mark_away() -> None:
    everything = marks(MAIN + ADVANCED, ABOUT)
    assert all(everything.values())
    assert marks() == dict.fromkeys(everything, False)


@given(params_of_rules, params_of_rules)
def test_what_is_moved_is_what_would_be_moved_back(one: Params, other: Params) -> None:
    keys = moved(one, other)
    assert keys == moved(other, one)
    different = {
        row.key for row in PARAMETERS if getattr(one, row.name) != getattr(other, row.name)
    }
    assert set(keys) == different & {*MAIN, *ADVANCED}
