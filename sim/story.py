"""A run in words: figures as text, a slot, a summary.

Everything said here is computed from the run; the page and the printed scene only place it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.cache import BONUS, DISCARDED, PROPOSED, REJECTED, position_in
from sim.kinds import write_number
from sim.marks import LOOKS
from sim.metrics import METRICS
from sim.params import PARAMETERS, SLOTS, Params
from sim.run import DRAFT, KEEP, VERIFY, Run
from sim.settings import write
from sim.stretch import Stretch
from sim.view import BY_KEY
from sim.words import figure, listed, short, three_digits

ADVANCED = ("knee", "c0", "chunk", "seed")
"""Keys of the settings behind “advanced”; those of ADVANCED_ALWAYS are told beside the word."""

ADVANCED_ALWAYS = ("knee", "seed")


def figures(report: Mapping[str, Any], run: Run) -> dict[str, str]:
    """Every text beside the board by the name of its place: metrics, and what is said of them."""
    params: Params = run.params
    texts = {metric.name: figure(metric.name, report[metric.name]) for metric in METRICS}
    tokens = report["tokens"]
    texts["positions_per_token"] = (
        f"{three_digits(report['positions_computed'] / tokens)} a token" if tokens else ""
    )
    texts["alpha"] = (
        "one rate per position"
        if params.acceptance_rates
        else f"α is {write_number(round(100 * params.acceptance_rate, 1))} %"
    )
    texts["advanced"] = ": " + ", ".join(
        f"{row.label} {short(getattr(params, row.name))}"
        for row in PARAMETERS
        if row.key in ADVANCED_ALWAYS
        or (row.key in ADVANCED and getattr(params, row.name) != row.default)
    )
    texts["race_label"] = "speculative" if params.speculation else "one by one"
    texts["alpha_help"] = (
        f"per position: {listed(params.acceptance_rates)}."
        if params.acceptance_rates
        else BY_KEY["alpha"].help
    )
    texts["theory_times"] = "" if report["theory_speedup"] is None else "×"
    free = "if drafting were free" if _is_free(params) else ""
    if not params.kv_cache:
        texts["theory_note"] = "against a warm cache"
    elif report["recompute_passes"]:
        texts["theory_note"] = f"{free}, never evicted" if free else "against a warm cache"
    else:
        texts["theory_note"] = free
    return texts


ALWAYS_TOLD = ("k", "alpha", "seed")
"""Keys of the settings that are told even where they are the default."""


def settings(params: Params) -> str:
    """The settings of a run in one line: what differs from the default, and `ALWAYS_TOLD`."""
    replaced = "alpha" if params.acceptance_rates else "rates"
    return " · ".join(
        f"{row.label} {write(row, getattr(params, row.name))}"
        for row in PARAMETERS
        if row.key != replaced
        and (row.key in ALWAYS_TOLD or getattr(params, row.name) != row.default)
    )


def split(report: Mapping[str, Any]) -> tuple[float, float, float]:
    """Positions computed that were useful, wasted and computed again, in percent."""
    whole = max(report["positions_computed"], 1)
    names = ("positions_useful", "positions_wasted", "positions_recomputed")
    useful, wasted, redone = (100 * report[name] / whole for name in names)
    return useful, wasted, redone


def _is_free(params: Params) -> bool:
    """Whether a verify pass costs just what a plain pass does, however many drafts it checks."""
    k = len(params.rates)
    free = params.draft_cost == 0 and params.round_cost == 0
    return free and k > 0 and params.batch_size * (k + 1) <= params.knee


def describe_slot(
    run: Run, tick: int, slot: int, phase: str = KEEP, words: Stretch | None = None
) -> str:
    """What a slot holds: position, its word if `words` are lent, state, the pass that made it."""
    state = run.slots(tick, phase)[slot]
    num_tokens = run.at(run.known(tick, phase) if phase == DRAFT else tick).num_tokens
    if phase == VERIFY and run.known(tick, phase) != tick:  # without the token not there yet
        num_tokens = min(num_tokens, run.at(tick - 1).num_tokens + len(run.params.rates))
    if state in (DISCARDED, PROPOSED):
        said = _drafted(run, tick, slot, words) if words else ""
        return f"slot {slot}{said}: {LOOKS[state].meaning}"
    position = position_in(slot, num_tokens)
    if position is None:
        return f"slot {slot}: empty"
    _, made = run.origin(position)
    by = f"made at tick {made}" if made else "the prompt"
    kind = f", {_own_token(run, made)}" if state == BONUS else ""
    said = ""
    if words and state == REJECTED and phase == VERIFY and made == tick:
        said = _drafted(run, tick, slot, words)
    elif words:
        said = f", “{words.token(position)}”"
    return f"slot {slot}, position {position}{said}: {LOOKS[state].legend}{kind}; {by}"


def _drafted(run: Run, tick: int, slot: int, words: Stretch) -> str:
    """What the draft in a slot said in the verify pass that `tick` was."""
    first = run.at(tick - 1).num_tokens
    position = first + (slot - first) % SLOTS
    accepted = position < run.at(tick).num_tokens - 1
    return f", “{words.drafted(position, accepted)}”"


def _own_token(run: Run, tick: int) -> str:
    """Which of the two the token is that the verify pass `tick` itself yielded."""
    record = run.verify_pass_at(tick)
    replaces = record is not None and record.rejected
    return "in place of a rejected draft" if replaces else "after a full accept"


def summary(run: Run, tick: int) -> str:
    """The board for those who do not see it."""
    slots = run.slots(tick)
    counts = [(state, slots.count(state)) for state in LOOKS]
    held = "; ".join(f"{look.legend}: {n}" for state, n in counts if n for look in [LOOKS[state]])
    return f"Tick {tick}. {run.report(tick)['cached']} of {SLOTS} positions cached. {held}."
