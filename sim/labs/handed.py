"""A case of the costs on a machine as the widget takes it, and where the widget departs from it.

The widget knows a draft cost and a knee: a pass is flat up to it, and rises in proportion beyond.
They are chosen so that a round of the k that is set takes as long. Other k follow from the same
knee, which holds for dense models, not for a curve that was measured, nor where positions wake
experts.
"""

from __future__ import annotations

from dataclasses import replace

from sim.labs.cost_settings import Priced
from sim.labs.pricing import best_of
from sim.params import Params
from sim.settings import updated
from sim.theory import best_length, expected_speedup

APART = 0.03
"""The share by which two speedups may differ before it is told."""


def scene(given: Priced) -> dict[str, object] | None:
    """Settings of the widget that gain as much, by key; None where a pass is not known."""
    asked = given.asked
    k = max(1, asked.k)
    keys = given.case.as_the_widget(asked.batch, k)
    if keys is None:
        return None
    return {**keys, "k": k, "alpha": asked.acceptance_rate, "rates": list(asked.acceptance_rates)}


def departure(given: Priced) -> str:
    """Where the widget, given this scene, says something else of a draft length; empty if nowhere.

    Of the k that is set, the best one here and the best one there.
    """
    keys = scene(given)
    if keys is None:
        return ""
    params, _ = updated(Params(), keys)
    row, k = given.speedups[given.asked.batch - 1], params.draft_length
    there = _at(params, k)
    here = row[k - 1]
    if here is None or _apart(there, here):
        at_k = "" if here is None else f", where this gives {here:.2f}×"
        return f"The widget cannot take all of this scene: it gives {there:.2f}× at k = {k}{at_k}."
    lengths = (best_of(row).k, best_length(params)[0])
    for other in (length for length in lengths if length):
        there, here = _at(params, other), row[other - 1]
        if here is None:
            but = f"gives {there:.2f}× at {other}, of which this curve says nothing"
        elif _apart(there, here):
            but = f"gives {there:.2f}× at {other} where this gives {here:.2f}×"
        else:
            continue
        return f"The widget knows a knee, not {_what(given)}: it is right at k = {k}, and {but}."
    return ""


def _at(params: Params, k: int) -> float:
    found = expected_speedup(replace(params, draft_length=k))
    assert found is not None, "the cache is on"
    return found


def _apart(one: float, other: float) -> bool:
    return abs(one / other - 1) > APART


def _what(given: Priced) -> str:
    if given.asked.curve:
        return "this curve"
    return "the experts that more positions wake" if given.case.model.experts else "this scene"
