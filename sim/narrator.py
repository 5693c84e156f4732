"""The sentence beside the numbers: what is going on, why, in time, and what would do better."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

from sim.cache import ACCEPTED, EVICTED, PLAIN, REJECTED
from sim.kinds import write_number
from sim.params import Params
from sim.run import Run
from sim.strip import last_eviction
from sim.theory import (
    best_length,
    expected_speedup,
    expected_tokens_per_pass,
    pass_time,
    plain_pass,
    verify_time,
)
from sim.words import count, figure_with_unit, many, spelled

WORTH, FAR = 0.02, 0.1
"""Shares of the speedup that another draft length must bring to be spoken of, and to be urged."""


class Sentence(NamedTuple):
    """What is going on, and the state whose colour it is told in."""

    tone: str
    text: str
    better: int | None = None
    """The draft length that would be faster, 0 for none at all; None where none would."""


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
    better = _better(params)
    if report["speedup"] < 1 and params.speculation:
        return _losing(run, report, better)
    told = (
        f"{many(tick, 'pass')} bought {many(report['tokens'], 'token')}. "
        f"Plain decoding would have made {count(report['plain_tokens'])} in the same time."
        if params.speculation
        else "Speculation is off: each forward pass reads every weight of the big model to make "
        f"one token. {many(state.verify_passes, 'pass')}, {many(report['tokens'], 'token')}."
    )
    tone = ACCEPTED if params.speculation else PLAIN
    if params.speculation and better.gain > FAR:
        tone = REJECTED
    return Sentence(tone, told + _cost_of_evictions(run, tick) + better.text, better.length)


class Better(NamedTuple):
    """What another draft length would bring, by theory."""

    length: int | None
    """None where nothing better is worth a word."""
    text: str
    short: str
    """The same where it is known already that this loses."""
    gain: float = 0.0
    """Share of the speedup that it would bring."""


def _better(params: Params) -> Better:
    """What there is to say of the draft length."""
    now = expected_speedup(params)
    length, speedup = best_length(params)
    k = len(params.rates)
    if now is None or speedup < now * (1 + WORTH) or length == k:
        return Better(None, "", "")
    is_now = figure_with_unit("theory_speedup", now)
    would_be = figure_with_unit("theory_speedup", speedup)
    gain = speedup / now - 1
    if length == 0:
        none = " No draft length gains here."
        return Better(0, none, none, gain)
    short = f" {spelled(length).capitalize()} draft{'s' * (length > 1)} would give {would_be}."
    if k == 0:
        return Better(length, short, short, gain)
    these = f"These {spelled(k)} drafts give" if k > 1 else "This one draft gives"
    told = f" {these} {is_now} by theory, {spelled(length)} would give {would_be}."
    return Better(length, told, short, gain)


def _cost_of_evictions(run: Run, tick: int) -> str:
    """What evictions cost so far: passes, and the tokens that were not written meanwhile."""
    params, state = run.params, run.at(tick)
    if not state.recompute_passes:
        return ""
    each = verify_time(params, 1 + len(params.rates))
    spent = state.time - state.verify_passes * each
    lost = spent * expected_tokens_per_pass(params.rates) / each
    return (
        f" Evictions cost {many(state.recompute_passes, 'pass')}, "
        f"and about {many(round(lost), 'token')} not written."
    )


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


def _losing(run: Run, report: Mapping[str, Any], better: Better) -> Sentence:
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
            f"into computing evicted positions again, without a new token.{better.short}",
            better.length,
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
        f"{report['tokens_per_pass']:.2f} tokens.{better.short}",
        better.length,
    )
