"""Measured pass times, as people write them: positions of all sequences together, milliseconds.

A line each, `64 5.1` or `64;5,1` or `64,5.1`; in a link `1:4.8,64:5.1`. What stands behind a #,
empty lines, and a first line without a digit, which is a header, say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sim.kinds import Kind, write_number
from sim.labs.pricing import Curve
from sim.reading import UnreadableError, number
from sim.words import count

MOST = 512
"""Points that a curve may have."""

HIGHEST = 1e9
"""Positions, and milliseconds, beyond which nothing is read."""

_BETWEEN = re.compile(r"[;:\s]+")


def read_curve(text: str) -> Curve:
    """The curve that a text of lines holds. Raises ValueError, which names the line."""
    return _sorted(enumerate(text.splitlines(), 1))


def _sorted(lines: Iterable[tuple[int, str]]) -> Curve:
    found: dict[float, tuple[float, int]] = {}
    given = [(at, line.partition("#")[0].strip()) for at, line in lines]
    given = [(at, bare) for at, bare in given if bare]
    headed = len(given) > 1 and not any(sign.isdigit() for sign in given[0][1])
    for at, bare in given[headed:]:
        positions, milliseconds = _point(bare, at)
        if positions in found:
            raise ValueError(
                f"curve, line {at}: {positions:g} positions stand in line {found[positions][1]} "
                "already; leave one of them out"
            )
        found[positions] = milliseconds, at
        if len(found) > MOST:
            raise ValueError(f"curve, line {at}: more than {MOST} points; leave some out")
    return tuple((positions, found[positions][0]) for positions in sorted(found))


def _point(bare: str, at: int) -> tuple[float, float]:
    parts = _BETWEEN.split(bare.strip(";:"))
    if len(parts) == 1:
        parts = bare.split(",")
    try:
        positions, milliseconds = map(number, parts)
    except ValueError:  # not two of them, or not numbers
        raise ValueError(
            f"curve, line {at}: “{bare[:40]}” is not positions and milliseconds, such as 64 5.1"
        ) from None
    if not (1 <= positions <= HIGHEST and 0 < milliseconds <= HIGHEST):
        raise ValueError(
            f"curve, line {at}: {positions:g} positions in {milliseconds:g} ms; positions are at "
            "least 1, and milliseconds more than 0"
        )
    return positions, milliseconds


def to_three_digits(curve: Curve) -> Curve:
    """The same, its times as exact as a clock is, and short enough for a link."""
    return tuple((positions, float(f"{ms:.3g}")) for positions, ms in curve)


def doubling(curve: Curve) -> float | None:
    """About at how many positions a pass takes twice as long as the first one that was measured."""
    for (low, before), (high, after) in pairwise(curve):
        twice = 2 * curve[0][1]
        if before <= twice < after:
            return low + (high - low) * (twice - before) / (after - before)
    return None


FALL = 0.05
"""The share by which a longer pass may be faster before it is told: times are never quite even."""


def doubtful(curve: Curve) -> str:
    """The first place where more positions take clearly less time, by its lines; else empty."""
    for at, ((low, before), (high, after)) in enumerate(pairwise(curve), 1):
        if after < before * (1 - FALL):
            return (
                f"Look at your curve: {low:g} positions take {before:g} ms in line {at}, and "
                f"{high:g} only {after:g} ms in the next."
            )
    return ""


def uncovered(curve: Curve, passes: Sequence[int]) -> str:
    """Which of these passes a curve does not cover, and what to measure; empty where it does."""
    low, high = curve[0][0], curve[-1][0]
    below = sorted({n for n in passes if n < low})
    above = sorted({n for n in passes if n > high})
    if not below and not above:
        return ""
    missed = " or over ".join(f"{count(n)}" for n in [*below, *above])
    needed = [f"at {count(below[0])} or fewer"] if below else []
    needed += [f"at {count(above[-1])} or more"] if above else []
    return (
        f"Your curve says nothing of a pass over {missed} positions. "
        f"Add a measurement {', and one '.join(needed)}."
    )


@dataclass(frozen=True)
class Measured(Kind[Curve]):
    """A curve as a setting."""

    control = "field"
    allowed = "a comma list of positions:milliseconds"
    held = ", in a tuple of pairs of numbers, by rising positions"

    def admits(self, value: object) -> bool:
        """A tuple of pairs, as `read_curve` gives it."""
        return isinstance(value, tuple) and value == _sorted(enumerate(_lines(value), 1))

    def read(self, given: object) -> tuple[Curve, bool]:
        """All of it, or nothing."""
        if not isinstance(given, str):
            raise UnreadableError
        try:
            return _sorted(enumerate(re.split(r"[,\n]", given), 1)), True
        except ValueError:
            raise UnreadableError from None

    def write(self, value: Curve) -> str:
        """A comma list."""
        return ",".join(_lines(value))


def _lines(curve: Curve) -> list[str]:
    return [f"{write_number(n)}:{write_number(ms)}" for n, ms in curve]


def lines_of(curve: Curve) -> str:
    """A curve as lines to be read and changed."""
    return "\n".join(line.replace(":", " ") for line in _lines(curve))
