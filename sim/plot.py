"""The timeline's plot as SVG path data: tokens per pass so far, its theory, and plain luck.

x is the tick, 0 to `HORIZON`; y runs from `HEIGHT`, one token per pass, up to the most that a pass
can yield, or twice the theory's gain where that is less, so that a low rate shows too.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from sim.params import HORIZON
from sim.run import Run
from sim.theory import deviation_of_tokens_per_pass, expected_tokens_per_pass

HEIGHT = 100
STANDARD_ERRORS = 3
"""Half the height of the band: an honest band at one tick."""

HEADROOM = 1.1
"""The plot's height over the range that it shows, so that a perfect draft stays off its edge."""

LEAST_RANGE = 0.5
"""Tokens per pass that the plot spans at least."""

FINE, STRIDE = 120, 6
"""Every tick up to FINE, where the path still jumps; then every STRIDE-th."""


def scale(run: Run, tokens_per_pass: float) -> float:
    """Height in the plot of a number of tokens per pass, held to the plot."""
    return _heights(run, [tokens_per_pass])[0]


def _heights(run: Run, values: Iterable[float]) -> list[float]:
    gain = expected_tokens_per_pass(run.params.rates) - 1
    most = min(max(1, len(run.params.rates)), max(LEAST_RANGE, 2 * gain))
    shares = [min(max(value - 1, 0), most) / most for value in values]
    return [HEIGHT * (1 - share / HEADROOM) for share in shares]


def path(run: Run, tick: int, plotted: Run | None = None) -> str:
    """The line of tokens per pass from the first verify pass to `tick`, in the plot of a run.

    That is its own, unless another is `plotted` and this one compared with it.
    """
    ticks = [*range(1, min(tick, FINE) + 1), *range(FINE + STRIDE, tick + 1, STRIDE)]
    if ticks and ticks[-1] != tick:
        ticks.append(tick)
    run.at(tick)  # the whole way at once
    states = map(run.at, ticks)
    values = [(state.num_tokens - 1) / state.verify_passes for state in states]
    heights = _heights(plotted or run, values)
    points = [f"{at} {height:.1f}" for at, height in zip(ticks, heights, strict=True)]
    return "M" + "L".join(points) if points else ""


def theory_height(run: Run) -> float:
    """Height of the theory line."""
    return scale(run, expected_tokens_per_pass(run.params.rates))


def band(run: Run, tick: int) -> str:
    """The band of plain luck about the theory: ± 3 standard errors after as many verify passes.

    Recompute passes up to `tick` make no tokens and do not narrow it.
    """
    mean = expected_tokens_per_pass(run.params.rates)
    deviation = deviation_of_tokens_per_pass(run.params.rates)
    ticks = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 90, 128, *range(180, HORIZON + 1, 60)]
    passes = [at - run.at(min(at, tick)).recompute_passes for at in ticks]
    halves = [STANDARD_ERRORS * deviation / sqrt(count) for count in passes]
    upper = _heights(run, [mean + half for half in halves])
    lower = _heights(run, [mean - half for half in halves])
    over = [f"{at} {height:.1f}" for at, height in zip(ticks, upper, strict=True)]
    under = [f"{at} {height:.1f}" for at, height in zip(ticks, lower, strict=True)]
    return "M" + "L".join(over + under[::-1]) + "Z"
