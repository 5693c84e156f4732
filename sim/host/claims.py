"""Every figure in the page's text, computed: printed into index.html, so that no claim goes stale.

Figures that are facts of the world are given here with their source; the rest comes from the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist
from typing import NamedTuple

from sim.catalogue import machine_named
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
from sim.labs.published import DRAFT_MS, PLAIN_MS, SPECULATIVE_MS, TABLE_4
from sim.labs.published import REPORTS as PUBLISHED
from sim.markup import Markup, joined, tag
from sim.params import Params
from sim.plot import STANDARD_ERRORS
from sim.run import Run
from sim.theory import (
    best_length,
    deviation_of_tokens_per_pass,
    expected_speedup,
    expected_tokens_per_pass,
    survival,
)
from sim.words import count, spelled

BANDWIDTH = 2e12
"""Bytes a second, about what the memory of a current data-centre GPU gives."""

LONGEST_SHARE, POWER_SHARE, ORACLE_SHARE, PAGED_SHARE = 20.4, 26.8, 38.2, 96.3
"""Percent of the cache's memory that held tokens, by three ways to reserve, which the authors built
anew, and with paging: Kwon et al. 2023, Figure 2."""

CARDS = tuple(map(machine_named, ("A100-40GB", "H100-SXM")))
"""A position takes two operations a weight, here of 16 bits."""


class Reported(NamedTuple):
    """A measurement that somebody published of a speculative decoder that made things slower."""

    engine: str
    address: str
    tokens_per_pass: float
    speedup: float


def _reported(engine: str, number: str) -> Reported:
    (one,) = [report for report in PUBLISHED if report.address.endswith(f"/{number}")]
    assert one.tokens
    assert one.speedup
    return Reported(engine, one.address, one.tokens, one.speedup)


REPORTS = (
    _reported("SGLang", "29244"),
    _reported("vLLM, four drafts", "53753"),
    _reported("llama.cpp, sixteen drafts", "10455"),
)

LOGGED_RATES = (0.9, 0.8, 0.6)
"""Conditional rates of the text's example."""

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


def _speedup(**settings: float) -> str:
    speedup = expected_speedup(Params(**settings))  # type: ignore[arg-type]
    assert speedup is not None
    return f"{speedup:.2f}"


def _knee(operations: float, bandwidth: float) -> float:
    """Positions whose arithmetic takes as long as reading the weights once."""
    return operations / 2 / (bandwidth / BYTES_EACH)


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _reports() -> Markup:
    """What was measured, each with a link to who says so."""
    parts: list[str] = []
    for one in REPORTS:
        told = f"{one.speedup:.2f}× at {one.tokens_per_pass:.1f} tokens a pass"
        parts += [", " * bool(parts), told, " (", tag("a", one.engine, href=one.address), ")"]
    return joined(parts)


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
    (short_of,) = [one.word for one in words if one.target > one.draft]
    measured = [row.measured / row.expected for row in TABLE_4]
    gains = [PLAIN_MS / found for found in SPECULATIVE_MS.values()]
    wide, narrow = (bytes_per_token(LAYOUTS[name]) for name in ("Llama 2 7B", "Llama 3 8B"))
    conversation = wide * CONTEXT
    default = Params()
    best, best_speedup = best_length(Params(acceptance_rate=0.7))
    even_best, even_speedup = best_length(Params(acceptance_rate=round(break_even(12, 0.1), 2)))
    crowd_best, crowd_speedup = best_length(Params(batch_size=64))
    crowd = 64 * (1 + default.draft_length)
    expected = expected_tokens_per_pass(default.rates)
    return {
        "weights": f"{weights / 1e9:.0f} GB",
        "read": f"{1000 * weights / BANDWIDTH:.0f} ms",
        "knee": str(default.knee),
        "knees": _listed([f"{_knee(card.flops, card.bandwidth):.0f}" for card in CARDS]),
        "warm": count(Run(plain).at(512).positions_computed),
        "cold": count(Run(uncached).at(512).positions_computed),
        "wide": f"{wide // 1024} KiB",
        "narrow": f"{narrow // 1024} KiB",
        "context": f"{conversation / 1024**3:.0f} GiB",
        "cold_speedup": f"{Run(uncached).report(512)['speedup']:.2f}",
        "missing": count(missing),
        "passes": str(ceil(missing / default.recompute_chunk)),
        "passes_256": str(ceil(missing / 256)),
        "chunk": str(default.recompute_chunk),
        "example": rows,
        "overlap": _share(sum(one.kept for one in words)),
        "rejected": _share(1 - sum(one.kept for one in words)),
        "short_of": short_of,
        "second": f"{_gain(0.7, 2):.2f}",
        "eighth": f"{_gain(0.7, 8):.2f}",
        "best": str(best),
        "best_speedup": f"{best_speedup:.2f}",
        **{
            f"{spelled(k)}_speedup": _speedup(acceptance_rate=0.7, draft_length=k)
            for k in (2, 8, 16)
        },
        "ceiling": f"{1 / (1 - 0.7):.2f}",
        **{f"luck_{n}": _nine_in_ten(default, n) for n in LUCK_AFTER},
        "expected": f"{expected:.2f}",
        "accepted": f"{100 * (expected - 1) / default.draft_length:.0f} %",
        "misread": _misread(default, expected),
        "logged": _listed([_share(share) for share in survival(LOGGED_RATES)]),
        "timeline": f"{1000 * (1 - 2 * NormalDist().cdf(-STANDARD_ERRORS)):.0f}",
        "measured": f"{min(measured):.2f} to {max(measured):.2f}",
        "chen_cost": f"{DRAFT_MS / PLAIN_MS:.2f}",
        "chen_gain": f"{min(gains):.1f} to {max(gains):.1f}",
        "reports": _reports(),
        "report_costs": _listed([f"{r.tokens_per_pass / r.speedup:.1f}" for r in REPORTS]),
        "room": str(int((CARD - weights) // conversation)),
        "longest": f"{LONGEST_SHARE:.0f} %",
        "power": f"{POWER_SHARE:.0f} %",
        "oracle": f"{ORACLE_SHARE:.0f} %",
        "paged": f"{PAGED_SHARE:.0f} %",
        "even": f"{break_even(12, 0.1):.2f}",
        "lost": _speedup(draft_length=12, acceptance_rate=0.4, draft_cost=0.1),
        "even_best": spelled(even_best),
        "even_speedup": f"{even_speedup:.2f}",
        "nothing": _speedup(acceptance_rate=0.0),
        "alone": _speedup(),
        "crowd": _speedup(batch_size=64),
        "crowd_positions": count(crowd),
        "crowd_best": spelled(crowd_best),
        "crowd_speedup": f"{crowd_speedup:.2f}",
        "crush": _speedup(batch_size=256),
        "night": _speedup(batch_size=8),
        "noon": _speedup(batch_size=200),
    }
