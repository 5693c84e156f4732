"""Numbers as text: counts with their nouns, settings in prose, and each metric as it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from sim.kinds import write_number
from sim.metrics import BY_NAME

SMALL = 0.095
"""Ratios below which two digits after the point say too little."""

RATES_SHOWN = 8
"""How many rates per position fit beside their control."""


def count(number: float) -> str:
    """A count, rounded; grouped from five digits on."""
    whole = round(number)
    return f"{whole:,}" if whole >= 10_000 else str(whole)


SPELLED = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
)


def spelled(number: int) -> str:
    """A small number as a word, a larger one in figures."""
    return SPELLED[number] if number < len(SPELLED) else count(number)


def listed(rates: Sequence[float]) -> str:
    """Rates per position: the first `RATES_SHOWN`, and that the last one is repeated."""
    shown = ", ".join(map(short, rates[:RATES_SHOWN]))
    return shown + (" and so on" if len(rates) > RATES_SHOWN else f", then {short(rates[-1])}")


def short(number: float) -> str:
    """A setting in a running text: no more digits than one reads."""
    return write_number(round(number, 3))


def three_digits(number: float) -> str:
    """About three digits, and always as many after the point: a number that plays must not jump."""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else count(number)


def duration(seconds: float) -> str:
    """A time in milliseconds, or, from ten seconds on, in seconds."""
    if seconds < 10:
        return f"{three_digits(1000 * seconds)} ms" if seconds else "0 ms"
    return f"{three_digits(seconds)} s"


def many(number: int, noun: str) -> str:
    """A count with its noun: 1 pass, 2 passes."""
    if number == 1:
        return f"1 {noun}"
    return f"{count(number)} {noun}{'es' if noun.endswith('s') else 's'}"


def figure(name: str, value: float | None) -> str:
    """A metric as the page writes it, where a × has its own place; “–” where there is none."""
    metric = BY_NAME[name]
    if value is None:
        return "–"
    if metric.unit == "%":
        return f"{100 * value:.{metric.digits}f} %"
    if metric.is_count:
        return count(value)
    return f"{value:.2g}" if 0 < value < SMALL else f"{value:.{metric.digits}f}"


def as_shown(name: str, value: float | None) -> float | None:
    """A metric as a number of no more digits than the page shows; a percentage is a share."""
    metric = BY_NAME[name]
    if value is None or metric.is_count:
        return None if value is None else round(value)
    if metric.unit == "%":
        return round(value, metric.digits + 2)
    return float(figure(name, value))


def figure_with_unit(name: str, value: float | None) -> str:
    """A metric where it stands alone."""
    times = "×" if BY_NAME[name].unit == "×" and value is not None else ""
    return figure(name, value) + times
