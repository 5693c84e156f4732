"""Raw counters of a run, and every number derived from them.

Counters follow the one drawn sequence; they are never multiplied by the batch.
0 ÷ 0 is None here, `null` in JSON and “–” on the page.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sim.cache import window_start
from sim.params import PARAMETERS, Params
from sim.theory import expected_speedup, expected_tokens_per_pass, plain_pass


class Counters(NamedTuple):
    """A run after some tick: the sequence, its cache, and what has been counted since tick 0."""

    num_tokens: int = 1
    """Tokens of the sequence, the prompt token included."""
    num_computed_tokens: int = 0
    """How many of them have been through the target model; catches up with `num_tokens`."""
    verify_passes: int = 0
    recompute_passes: int = 0
    drafted: int = 0
    accepted: int = 0
    positions_computed: int = 0
    positions_recomputed: int = 0
    time: float = 0.0
    """In memory-bound target passes."""


class Metric(NamedTuple):
    """A number that is shown: its name in code and JSON, how people call it, what it is."""

    name: str
    label: str
    help: str
    unit: str = ""
    """What stands behind it: × or %; a % is of a share."""
    digits: int = 0
    """Digits after the point, in its unit; a number with none and without a unit is a count."""
    theory: str = ""
    """The metric that theory says of it."""
    alone: str = ""
    """What it is called where it stands alone, if the label is not enough there."""

    @property
    def is_count(self) -> bool:
        """Whether it counts something, so that it has no fraction worth telling."""
        return not (self.unit or self.digits)


METRICS = (
    Metric("tokens", "tokens", "output tokens so far"),
    Metric("verify_passes", "verify passes", "passes that checked drafts and made tokens"),
    Metric("recompute_passes", "recompute passes", "passes that filled the cache again"),
    Metric("drafted", "drafted", "draft tokens proposed"),
    Metric("accepted", "accepted", "draft tokens accepted"),
    Metric("cached", "cached", "positions whose keys and values are kept"),
    Metric("positions_computed", "positions computed", "positions pushed through the target model"),
    Metric("positions_recomputed", "redone", "positions computed before"),
    Metric("positions_wasted", "wasted", "positions of drafts that were not accepted"),
    Metric("positions_useful", "useful", "positions that became tokens"),
    Metric("time", "time", "in memory-bound target passes"),
    Metric("plain_tokens", "plain tokens", "what plain decoding would have made in that time"),
    Metric(
        *("tokens_per_pass", "tokens / verify pass", "mean acceptance length, bonus included"),
        digits=2,
        theory="theory_tokens_per_pass",
    ),
    Metric(
        *("theory_tokens_per_pass", "its theory", "1 + r₁ + r₁r₂ + …"),
        digits=2,
        alone="theory of tokens / verify pass",
    ),
    Metric(
        *("speedup", "speedup", "against plain decoding with a warm cache, on one clock"),
        unit="×",
        digits=2,
        theory="theory_speedup",
    ),
    Metric(
        *("theory_speedup", "its theory", "without evictions; none with the cache off"),
        unit="×",
        digits=2,
        alone="theory of the speedup",
    ),
    Metric("draft_acceptance", "draft accepted", "accepted ÷ drafted; not α", unit="%"),
)

BY_NAME = {metric.name: metric for metric in METRICS}

ANSWERS = {name for metric in METRICS if metric.theory for name in (metric.name, metric.theory)}
"""Numbers that theory knows, and its own: one gives the others away."""


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def numbers(counters: Counters, params: Params) -> dict[str, Any]:
    """Every metric by name, in the order of `METRICS`."""
    c = counters
    tokens = c.num_tokens - 1
    wasted = c.drafted - c.accepted
    return {
        "tokens": tokens,
        "verify_passes": c.verify_passes,
        "recompute_passes": c.recompute_passes,
        "drafted": c.drafted,
        "accepted": c.accepted,
        "cached": c.num_computed_tokens - window_start(c.num_tokens) if params.kv_cache else 0,
        "positions_computed": c.positions_computed,
        "positions_recomputed": c.positions_recomputed,
        "positions_wasted": wasted,
        "positions_useful": c.positions_computed - c.positions_recomputed - wasted,
        "time": c.time,
        "plain_tokens": c.time / plain_pass(params),
        "tokens_per_pass": _ratio(tokens, c.verify_passes),
        "theory_tokens_per_pass": expected_tokens_per_pass(params.rates),
        "speedup": _ratio(tokens * plain_pass(params), c.time),
        "theory_speedup": expected_speedup(params),
        "draft_acceptance": _ratio(c.accepted, c.drafted),
    }


def report(counters: Counters, params: Params, tick: int) -> dict[str, Any]:
    """The flat object that `run --json` prints and the page's `state()` returns."""
    settings = {row.name: getattr(params, row.name) for row in PARAMETERS}
    return {**numbers(counters, params), "tick": tick, "params": settings}
