"""Whether a text is the target's: χ² of its pairs of words, with what luck alone would do.

Of each word, the words after it are held to the target's row: Σ (n_ij − n_i P_ij)² ÷ (n_i P_ij).
Under the right rule that is χ²-distributed, whatever the words before. χ² of words, or of pairs
together, is not, because the words of a text depend on one another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, exp, inf, lgamma, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.labs.sampling_exact import Exact
from sim.labs.speculative import Chances

LEAST = 5.0
"""What a cell has to expect, or it is pooled with others of its row."""

LEVEL = 0.001
"""A p-value below it counts as found: one right text in a thousand."""

POWER = 0.95
"""How surely a wrong rule is to be found."""


class Verdict(NamedTuple):
    """What the pairs of a text say of it."""

    total_variation: float
    """Of its pairs from the target's, 0 to 1; above 0 by luck alone."""
    chi2: float | None
    """None where a pair was written that the target never writes."""
    df: int
    p_value: float
    """The chance that a text of the target's looks at least as strange."""

    @property
    def found(self) -> bool:
        """Whether it looks wrong."""
        return self.p_value < LEVEL


def judged(exact: Exact, counts: NDArray[np.int64]) -> Verdict:
    """Hold counts of pairs, a row for the word before, to the target."""
    target, tokens = exact.models.target, int(counts.sum())
    shares = counts / tokens if tokens else counts.astype(np.float64)
    distance = float(np.abs(shares - exact.wanted).sum()) / 2
    chi2, df = 0.0, 0
    for row, found in zip(target, counts, strict=True):
        cells = pooled(row[row > 0] * found.sum(), found[row > 0])
        df += len(cells) - 1
        for expected, number in cells:
            chi2 += (number - expected) ** 2 / expected if expected else 0.0
    if counts[target == 0].any():
        return Verdict(distance, None, df, 0.0)
    return Verdict(distance, chi2, df, upper_gamma(df / 2, chi2 / 2) if df else 1.0)


def pooled(expected: Chances, found: NDArray[np.int64]) -> list[tuple[float, int]]:
    """Cells of a row, what is expected with what was found, those below `LEAST` put together.

    If they still expect less than that, the smallest other cell joins them.
    """
    cells = sorted(zip(expected.tolist(), found.tolist(), strict=True))
    few = [cell for cell in cells if cell[0] < LEAST]
    if not few:
        return cells
    while sum(cell[0] for cell in few) < LEAST and len(few) < len(cells):
        few.append(cells[len(few)])
    together = sum(cell[0] for cell in few), sum(cell[1] for cell in few)
    return [together, *cells[len(few) :]]


def upper_gamma(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function Q(a, x), for a above 0 and x from 0 on.

    Its series below a + 1 and its continued fraction above: DLMF 8.11.4 and 8.9.2.
    """
    if x <= 0:
        return 1.0
    if x == inf:
        return 0.0
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        step = a
        while term > total * 1e-17:
            step += 1
            term *= x / step
            total += term
        return max(0.0, 1 - front * total)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction, n = d, 0
    while n < 100_000:
        n += 1
        weight = n * (a - n)
        b += 2
        d = 1 / _off_zero(weight * d + b, tiny)
        c = _off_zero(b + weight / c, tiny)
        fraction *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * fraction


def _off_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


class Band(NamedTuple):
    """What luck alone does to the total variation of a text of this size."""

    mean: float
    high: float
    """About three standard deviations above."""


def luck(exact: Exact, tokens: int) -> Band:
    """How far the pairs of so many of the target's own words are from their shares.

    The counts of pairs are normal in the long run, with the variance that a chain gives them:
    words depend on one another, so it is not that of single draws. How the pairs depend on each
    other is left out of the deviation of their sum.
    """
    target, words = exact.models.target, exact.words
    size = len(target)
    fundamental = np.linalg.inv(np.eye(size) - target + words[None, :])
    lasting = fundamental - words[None, :]
    """By how much more often a word comes, after another, than it would anyway, in all."""
    shares = exact.wanted
    variance = shares * (1 - shares) + 2 * shares * target * lasting.T
    deviations = np.sqrt(np.maximum(0.0, variance) / max(1, tokens))
    mean = float(deviations.sum()) * sqrt(2 / np.pi) / 2
    deviation = sqrt(float((deviations**2).sum()) * (1 - 2 / np.pi)) / 2
    return Band(min(1.0, mean), min(1.0, mean + 3 * deviation))


def tokens_to_find(exact: Exact) -> float:
    """About how many words a rule has to write until its pairs give it away, as surely as `POWER`.

    Infinite where they are the target's own. The χ² of a wrong rule is about non-central, by what
    each word adds to it.
    """
    target = exact.models.target
    before = exact.pairs.sum(axis=1, keepdims=True)
    expected = before * target
    impossible = float(exact.pairs[target == 0].sum())
    by_those = log(1 - POWER) / log(1 - impossible) if 0 < impossible < 1 else inf
    possible = expected > 0
    off = (exact.pairs - expected)[possible]
    each = float((off**2 / expected[possible]).sum())
    if each < 1e-15:
        return by_those if impossible < 1 else 1.0
    df = int((possible.sum(axis=1) - 1).clip(0).sum())
    return min(by_those, ceil(_shift(df) / each)) if df else by_those


@cache
def _shift(df: int) -> float:
    """How non-central χ² has to be to be above its `LEVEL` as surely as `POWER`."""
    critical = _where(lambda x: upper_gamma(df / 2, x / 2) <= LEVEL)
    return _where(lambda shift: _above(df, shift, critical) >= POWER)


def _where(holds: Callable[[float], bool]) -> float:
    """From where on, above 0, it holds; by halving."""
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _above(df: int, shift: float, x: float) -> float:
    """The chance that χ², non-central by `shift`, is above x.

    It is central with df + 2n degrees of freedom, n Poisson-distributed with mean shift ÷ 2; and
    Q(a + 1, x) is Q(a, x) + x^a e^−x ÷ Γ(a + 1) (DLMF 8.8.6).
    """
    a, half, mean = df / 2, x / 2, shift / 2
    weight, tail, step = exp(-mean), upper_gamma(a, half), exp(a * log(half) - half - lgamma(a + 1))
    total = left = 0.0
    n = 0
    while n < mean or weight > 1e-12:
        total += weight * tail
        left += weight
        n += 1
        weight *= mean / n
        tail += step
        step *= half / (a + n)
    return total + max(0.0, 1 - left)
