"""A run in words: figures as text, the sentence, a slot, a summary.

Everything said here is computed from the run; the page and the printed scene only place it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

from sim.cache import ACCEPTED, BONUS, DISCARDED, EVICTED, PLAIN, PROPOSED, REJECTED, position_in
from sim.kinds import write_number
from sim.marks import LOOKS
from sim.metrics import METRICS
from sim.params import PARAMETERS, SLOTS, Params
from sim.run import DRAFT, KEEP, VERIFY, Run
from sim.settings import write
from sim.strip import last_eviction
from sim.theory import expected_tokens_per_pass, pass_time, plain_pass, verify_time
from sim.view import BY_KEY
from sim.words import count, figure, figure_with_unit, listed, many, short, three_digits

LONG_DRAFT, SHORT_DRAFT = 6, 5
"""From how many drafts on the sentence compares with how many."""

ADVANCED = ("c", "batch", "knee", "c0", "chunk", "seed")
"""Keys of the settings behind “advanced”; those of ADVANCED_ALWAYS are told beside the word."""

ADVANCED_ALWAYS = ("c", "batch", "seed")


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
    if not params.kv_cache:
        texts["theory_note"] = "against a warm cache"
    else:
        texts["theory_note"] = "if drafting were free" if _is_free(params) else ""
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


class Bars(NamedTuple):
    """Lengths of the bars beside the numbers, in percent."""

    race: tuple[float, float]
    """Tokens with speculation and with plain decoding, of the larger."""
    split: tuple[float, float, float]
    """Positions computed that were useful, wasted, redone."""


def bars(report: Mapping[str, Any]) -> Bars:
    """The race on one clock, and what became of the positions computed."""
    tokens, plain = report["tokens"], report["plain_tokens"]
    most = max(tokens, plain, 1)
    whole = max(report["positions_computed"], 1)
    names = ("positions_useful", "positions_wasted", "positions_recomputed")
    useful, wasted, redone = (100 * report[name] / whole for name in names)
    return Bars((100 * tokens / most, 100 * plain / most), (useful, wasted, redone))


def _is_free(params: Params) -> bool:
    """Whether a verify pass costs just what a plain pass does, however many drafts it checks."""
    k = len(params.rates)
    free = params.draft_cost == 0 and params.round_cost == 0
    return free and k > 0 and params.batch_size * (k + 1) <= params.knee


class Sentence(NamedTuple):
    """What is going on, and the state whose colour it is told in."""

    tone: str
    text: str


def sentence(run: Run, tick: int) -> Sentence:
    """What is going on at `tick`, from the numbers."""
    params, state = run.params, run.at(tick)
    if tick == 0 and not run.missing(tick):
        return Sentence(
            PLAIN,
            "One prompt token is known, and its keys and values are not written yet. "
            "Each tick is one forward pass of the big model.",
        )
    if run.missing(tick):
        return _recomputing(run, tick)
    report = run.report(tick)
    if not params.kv_cache:
        return _uncached(run, tick, report)
    if not params.speculation:
        return Sentence(
            PLAIN,
            f"Speculation is off: each forward pass reads every weight of the big model to make "
            f"one token. {many(state.verify_passes, 'pass')}, {many(report['tokens'], 'token')}.",
        )
    if report["speedup"] is not None and report["speedup"] < 1:
        return _losing(run, report)
    k = params.draft_length
    if k >= LONG_DRAFT:
        gain = expected_tokens_per_pass(params.rates) - expected_tokens_per_pass(
            params.rates[:SHORT_DRAFT]
        )
        return Sentence(
            ACCEPTED,
            f"{_at_rates(params)}, {k} drafts buy {gain:.2f} tokens a pass more than "
            f"{SHORT_DRAFT} drafts would. Computed and thrown away so far: "
            f"{many(report['positions_wasted'], 'draft')}.",
        )
    again = ""
    if state.recompute_passes:
        again = f", {count(state.recompute_passes)} of them to compute evicted positions again,"
    return Sentence(
        ACCEPTED,
        f"{many(tick, 'pass')}{again} bought {many(report['tokens'], 'token')}. "
        f"Plain decoding would have made {count(report['plain_tokens'])} in the same time.",
    )


def _at_rates(params: Params) -> str:
    if params.acceptance_rates:
        return "At these rates"
    return f"At α = {short(params.acceptance_rate)}"


def _recomputing(run: Run, tick: int) -> Sentence:
    params, missing, evicted = run.params, run.missing(tick), last_eviction(run, tick)
    if tick == evicted:
        passes = ceil(missing / params.recompute_chunk)
        full, rest = divmod(missing, params.recompute_chunk)
        time = full * pass_time(params.batch_size * params.recompute_chunk, params.knee)
        time += pass_time(params.batch_size * rest, params.knee) if rest else 0
        told = write_number(round(time, 1))
        units = f"{told} unit{'' if told == '1' else 's'}"
        return Sentence(
            EVICTED,
            f"The cache is evicted. {many(missing, 'position')} must be computed again before the "
            f"next token: {many(passes, 'pass')}, {units} of time "
            f"without a new token.",
        )
    done = run.at(tick).positions_recomputed - run.at(evicted).positions_recomputed
    return Sentence(
        EVICTED,
        f"The cache was evicted after tick {evicted}. {many(tick - evicted, 'pass')} so far went "
        f"into computing the same {many(done, 'position')} again; no new token until all are back.",
    )


def _uncached(run: Run, tick: int, report: Mapping[str, Any]) -> Sentence:
    redone = run.at(tick).positions_recomputed - run.at(tick - 1).positions_recomputed
    least = report["verify_passes"] * verify_time(run.params, 1 + len(run.params.rates))
    hidden = report["time"] <= least * (1 + 1e-9)  # the time is a sum of many terms
    cost = (
        "Time hides it: below the knee a pass costs the same however many it carries."
        if hidden
        else f"Past the knee of {run.params.knee} tokens that costs time too: "
        f"{count(report['time'])} units so far."
    )
    return Sentence(
        EVICTED,
        f"No KV cache: the last pass computed {many(redone, 'known position')} again, "
        f"{report['positions_computed'] / report['tokens']:.0f} a token so far. {cost}",
    )


def _losing(run: Run, report: Mapping[str, Any]) -> Sentence:
    params, k = run.params, len(run.params.rates)
    plain = plain_pass(params)
    cost = verify_time(params, 1 + k) / plain
    drafting, width = k * params.draft_cost, params.batch_size * (1 + k)
    checking = pass_time(width, params.knee) / plain
    head = f"Slower than plain decoding ({figure_with_unit('speedup', report['speedup'])})."
    if report["tokens_per_pass"] >= cost:
        return Sentence(
            EVICTED,
            f"{head} {many(report['recompute_passes'], 'pass')} of {count(report['tick'])} went "
            "into computing evicted positions again, without a new token.",
        )
    reasons = []
    if params.round_cost:
        reasons.append(f"{params.round_cost:.2f} a round for drafting")
    if drafting:
        reasons.append(f"{drafting:.2f} for {many(k, 'draft')}")
    if checking > 1:
        reasons.append(
            f"{checking:.2f} to check {count(width)} tokens, past the knee of {params.knee}"
        )
    return Sentence(
        REJECTED,
        f"{head} A verify pass costs {cost:.2f} plain passes ({', '.join(reasons)}) and yields "
        f"{report['tokens_per_pass']:.2f} tokens.",
    )


def describe_slot(run: Run, tick: int, slot: int, phase: str = KEEP) -> str:
    """What a slot holds: position, state, and the pass that made it."""
    state = run.slots(tick, phase)[slot]
    num_tokens = run.at(run.known(tick, phase) if phase == DRAFT else tick).num_tokens
    if phase == VERIFY and run.known(tick, phase) != tick:  # without the token not there yet
        num_tokens = min(num_tokens, run.at(tick - 1).num_tokens + len(run.params.rates))
    if state in (DISCARDED, PROPOSED):
        return f"slot {slot}: {LOOKS[state].meaning}"
    position = position_in(slot, num_tokens)
    if position is None:
        return f"slot {slot}: empty"
    _, made = run.origin(position)
    by = f"made at tick {made}" if made else "the prompt"
    kind = f", {_own_token(run, made)}" if state == BONUS else ""
    return f"slot {slot}, position {position}: {LOOKS[state].legend}{kind}; {by}"


def _own_token(run: Run, tick: int) -> str:
    """Which of the two the token is that the verify pass `tick` itself yielded."""
    record = run.verify_pass_at(tick)
    replaces = record is not None and record.rejected
    return "recovered in place of a rejected draft" if replaces else "after a full accept"


def summary(run: Run, tick: int) -> str:
    """The board for those who do not see it."""
    slots = run.slots(tick)
    counts = [(state, slots.count(state)) for state in LOOKS]
    held = "; ".join(f"{look.legend}: {n}" for state, n in counts if n for look in [LOOKS[state]])
    return f"Tick {tick}. {run.report(tick)['cached']} of {SLOTS} positions cached. {held}."
