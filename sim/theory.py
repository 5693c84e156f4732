"""Closed forms of speculative decoding, and what a forward pass costs.

Expected tokens per pass and speedup follow Leviathan et al. 2023 (https://arxiv.org/abs/2211.17192),
Eq. 1 and Theorem 3.8, here with one rate per draft position and with a batch.
Sums are accumulated in a loop: the last digit of `**` and `sum()` differs between Pythons.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from sim.params import Params


def survival(rates: Sequence[float]) -> list[float]:
    """r₁, r₁r₂, …: the chance that at least so many drafts are accepted."""
    chances, product = [], 1.0
    for rate in rates:
        product *= rate
        chances.append(product)
    return chances


def expected_tokens_per_pass(rates: Sequence[float]) -> float:
    """1 + r₁ + r₁r₂ + …: every prefix that may be accepted, and the pass's own token.

    With k equal rates α it is (1 − α^(k+1)) / (1 − α), and k + 1 at α = 1.
    """
    total = 1.0
    for chance in survival(rates):
        total += chance
    return total


def chances_of_tokens(rates: Sequence[float]) -> list[float]:
    """The chance that a verify pass yields 1, 2, …, k + 1 tokens."""
    reached = [1.0, *survival(rates), 0.0]
    return [more - most for more, most in pairwise(reached)]


def deviation_of_tokens_per_pass(rates: Sequence[float]) -> float:
    """Standard deviation of the tokens one verify pass yields, from the exact distribution.

    P(at least j drafts accepted) is the product of the first j rates; E[n²] = Σ (2j + 1)·P(n > j).
    """
    mean = square = 1.0
    for j, chance in enumerate(survival(rates), start=1):
        mean += chance
        square += (2 * j + 1) * chance
    return sqrt(max(0.0, square - mean * mean))


def pass_time(tokens: int, knee: int) -> float:
    """Time of one target pass over `tokens` positions, in memory-bound passes.

    A roofline: the weights are read once (1), until past the knee arithmetic takes over.
    """
    return max(1.0, tokens / knee)


def plain_pass(params: Params) -> float:
    """Time that plain decoding with a warm cache pays per token."""
    return pass_time(params.batch_size, params.knee)


def draft_time(params: Params) -> float:
    """Time of the k draft steps of a round, and of what it costs besides: nothing without drafts.

    With `pass_time` of what is checked then it makes `verify_time`, to the last digit.
    """
    k, plain = len(params.rates), plain_pass(params)
    return (params.round_cost if k else 0.0) * plain + k * params.draft_cost * plain


def verify_time(params: Params, width: int) -> float:
    """Time of a round of k draft steps and the pass that verifies them.

    `width` is in positions per sequence. What a round costs is not paid where nothing is drafted.
    """
    k = len(params.rates)
    once = params.round_cost if k else 0.0
    return _verify_time(k, once, params.draft_cost, params.batch_size, params.knee, width)


@lru_cache(maxsize=2048)  # a replay asks for the same few prices over a thousand times
def _verify_time(
    k: int, round_cost: float, draft_cost: float, batch_size: int, knee: int, width: int
) -> float:
    plain = pass_time(batch_size, knee)
    return round_cost * plain + k * draft_cost * plain + pass_time(batch_size * width, knee)


def expected_speedup(params: Params) -> float | None:
    """Speedup over plain decoding without evictions; None with the KV cache off."""
    if not params.kv_cache:
        return None
    tokens = expected_tokens_per_pass(params.rates)
    return tokens * plain_pass(params) / verify_time(params, 1 + len(params.rates))


LONGEST = 32
"""The longest draft that a length is chosen from."""


def best_length(params: Params) -> tuple[int, float]:
    """The draft length with the highest expected speedup, and that speedup; 0 and 1 for no drafts.

    Compared unrounded, the shorter of two that are equal. With the cache on, without evictions.
    """
    given = params.acceptance_rates or (params.acceptance_rate,)
    plain, batch, knee = plain_pass(params), params.batch_size, params.knee
    best, most = 0, 1.0
    tokens = chance = 1.0
    for k in range(1, LONGEST + 1):
        chance *= given[min(k, len(given)) - 1]
        tokens += chance
        time = (
            params.round_cost * plain
            + k * params.draft_cost * plain
            + pass_time(batch * (1 + k), knee)
        )
        if tokens * plain / time > most:
            best, most = k, tokens * plain / time
    return best, most
