"""Every figure in the page's text, computed: printed into index.html, so that no claim goes stale.

Figures that are facts of the world are given here with their source; the rest comes from the model.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

from sim.labs.facts import (
    BYTES_EACH,
    CARD,
    CONTEXT,
    DRAFT,
    LAYOUTS,
    PARAMETERS,
    TARGET,
    bytes_per_token,
)
from sim.labs.map_chart import LENGTHS
from sim.markup import joined, tag
from sim.params import Params
from sim.run import Run
from sim.theory import deviation_of_tokens_per_pass, expected_speedup, expected_tokens_per_pass
from sim.words import count

BANDWIDTH = 2e12
"""Bytes a second, about what the memory of a current data-centre GPU gives."""

TOKEN_SHARES, PAGED_SHARE = (20.4, 26.8, 38.2), 96.3
"""Percent of the cache's memory that held tokens, without paging (three ways to reserve) and with
it: Kwon et al. 2023, Figure 2."""

PLAIN_MS, DRAFT_MS, SPECULATIVE_MS = 14.1, 1.8, (7.52, 7.00, 5.73)
"""Milliseconds a token of the target and the draft model, and with speculation in three tasks:
Chen et al. 2023, section 5 and Table 1."""

EXPECTED_AND_MEASURED = (
    *((3.2, 3.4), (3.3, 2.8), (2.5, 1.7), (2.3, 2.6), (2.4, 2.4), (2.0, 1.4)),
    *((2.4, 3.1), (2.6, 3.0), (2.0, 2.2), (1.9, 2.3), (1.8, 2.2), (1.6, 1.7)),
)
"""Speedups in Leviathan et al. 2023, Table 4."""

REPORTED_ACCEPTED, REPORTED_DRAFTED, REPORTED_LENGTH = 25, 3652, 4
"""One line of a log in https://github.com/vllm-project/vllm/issues/41789, drafts of four tokens."""

LUCK_AFTER = (10, 60, 1200)
"""Passes after which the text says how far runs are apart."""

NINE_IN_TEN = 1.645
"""Standard deviations within which nine in ten of a normal distribution are."""


class Refilled(NamedTuple):
    """How often a word comes out of accept-or-refill, and by which way."""

    word: str
    target: float
    draft: float
    accept: float
    """Chance that a draft of this word is accepted: min(1, p / q)."""
    kept: float
    """Drafted and accepted: q · min(1, p / q), which is min(p, q)."""
    refilled: float
    """Drawn from the residual, after any rejection."""


def accept_and_refill(target: dict[str, float], draft: dict[str, float]) -> list[Refilled]:
    """Speculative sampling of one word, word by word (Leviathan et al. 2023, Algorithm 1).

    The residual is max(0, p − q), made to sum to 1. `kept + refilled` is always the target's p.
    """
    rejected = 1 - sum(min(target[word], draft[word]) for word in target)
    excess = {word: max(0.0, target[word] - draft[word]) for word in target}
    whole = sum(excess.values())
    return [
        Refilled(
            word,
            p,
            q := draft[word],
            min(1.0, p / q),
            min(p, q),
            rejected * excess[word] / whole if whole else 0.0,
        )
        for word, p in target.items()
    ]


def break_even(draft_length: int, draft_cost: float) -> float:
    """The acceptance rate at which speculation is as fast as plain decoding, to four digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        params = Params(draft_length=draft_length, draft_cost=draft_cost, acceptance_rate=middle)
        speedup = expected_speedup(params)
        assert speedup is not None
        low, high = (middle, high) if speedup < 1 else (low, middle)
    return (low + high) / 2


def _gain(rate: float, drafts: int) -> float:
    """Tokens per pass that the last of so many drafts adds."""
    return expected_tokens_per_pass([rate] * drafts) - expected_tokens_per_pass(
        [rate] * (drafts - 1)
    )


def _expected(**settings: float) -> float:
    speedup = expected_speedup(Params(**settings))  # type: ignore[arg-type]
    assert speedup is not None
    return speedup


def _speedup(**settings: float) -> str:
    return f"{_expected(**settings):.2f}"


def _share(value: float) -> str:
    return f"{value:.2f}"


def _misread(params: Params, expected: float) -> str:
    """What the formula says with accepted ÷ drafted taken for the rate."""
    share = (expected - 1) / params.draft_length
    return f"{expected_tokens_per_pass([share] * params.draft_length):.2f}"


def _nine_in_ten(params: Params, passes: int) -> str:
    """Between which tokens per pass nine runs in ten are: sums of many passes are about normal."""
    mean = expected_tokens_per_pass(params.rates)
    reach = NINE_IN_TEN * deviation_of_tokens_per_pass(params.rates) / sqrt(passes)
    return f"{mean - reach:.1f} and {mean + reach:.1f}"


def claims() -> dict[str, str]:
    """Every figure of the text by its name."""
    weights = PARAMETERS * BYTES_EACH
    plain = Params(speculation=False)
    uncached = Params(speculation=False, kv_cache=False)
    evicted = Run(Params(evictions=(134,)))
    missing = evicted.missing(134)
    words = accept_and_refill(TARGET, DRAFT)
    rows = joined(
        tag(
            "tr",
            tag("th", one.word, scope="row"),
            *(tag("td", _share(n)) for n in (one.target, one.draft, one.accept)),
            *(tag("td", _share(n)) for n in (one.kept, one.refilled)),
            tag("td", tag("b", _share(one.kept + one.refilled))),
        )
        for one in words
    )
    measured = [found / expected for expected, found in EXPECTED_AND_MEASURED]
    gains = [PLAIN_MS / found for found in SPECULATIVE_MS]
    passes = REPORTED_DRAFTED / REPORTED_LENGTH
    wide, narrow = (bytes_per_token(LAYOUTS[name]) for name in ("Llama 2 7B", "Llama 3 8B"))
    conversation = wide * CONTEXT
    dear = {"acceptance_rate": 0.7, "draft_cost": 0.05}
    best = max(LENGTHS, key=lambda k: _expected(**dear, draft_length=k))
    default = Params()
    expected = expected_tokens_per_pass(default.rates)
    return {
        "weights": f"{weights / 1e9:.0f} GB",
        "read": f"{1000 * weights / BANDWIDTH:.0f} ms",
        "warm": count(Run(plain).at(512).positions_computed),
        "cold": count(Run(uncached).at(512).positions_computed),
        "wide": f"{wide // 1024} KiB",
        "narrow": f"{narrow // 1024} KiB",
        "context": f"{conversation / 1024**3:.0f} GiB",
        "cold_speedup": f"{Run(uncached).report(512)['speedup']:.2f}",
        "missing": count(missing),
        "passes": str(ceil(missing / default.recompute_chunk)),
        "example": rows,
        "overlap": _share(sum(one.kept for one in words)),
        "rejected": _share(1 - sum(one.kept for one in words)),
        "second": f"{_gain(0.7, 2):.2f}",
        "eighth": f"{_gain(0.7, 8):.2f}",
        "best": str(best),
        "best_speedup": _speedup(**dear, draft_length=best),
        "ceiling": f"{1 / (1 - 0.7):.2f}",
        **{f"luck_{n}": _nine_in_ten(default, n) for n in LUCK_AFTER},
        "expected": f"{expected:.2f}",
        "accepted": f"{100 * (expected - 1) / default.draft_length:.0f} %",
        "misread": _misread(default, expected),
        "measured": f"{min(measured):.2f} to {max(measured):.2f}",
        "chen_cost": f"{DRAFT_MS / PLAIN_MS:.2f}",
        "chen_gain": f"{min(gains):.1f} to {max(gains):.1f}",
        "report": f"{REPORTED_ACCEPTED} of {REPORTED_DRAFTED:,}",
        "report_length": f"{1 + REPORTED_ACCEPTED / passes:.2f}",
        "room": str(int((CARD - weights) // conversation)),
        "unpaged": f"{min(TOKEN_SHARES):.0f} to {max(TOKEN_SHARES):.0f} %",
        "paged": f"{PAGED_SHARE:.0f} %",
        "even": f"{break_even(12, 0.1):.2f}",
        "lost": _speedup(draft_length=12, acceptance_rate=0.4, draft_cost=0.1),
        "alone": _speedup(),
        "crowd": _speedup(batch_size=64),
        "crush": _speedup(batch_size=256),
    }
