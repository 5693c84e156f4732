"""What is measured of a text: what was accepted, and where the seconds went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sim.labs.writer import Passed


def by_position(passed: Sequence[Passed], k: int) -> list[tuple[float | None, int]]:
    """For each position of a draft: the share accepted of those tested, and how many were.

    Tested is what follows accepted drafts only, so the rates are conditional; None for none.
    """
    tested, kept = [0] * k, [0] * k
    for one in passed:
        for position, draft in enumerate(one.drafts):
            if draft.accepted is not None:
                tested[position] += 1
                kept[position] += draft.accepted
    return [(n / of if of else None, of) for n, of in zip(kept, tested, strict=True)]


def by_width(passed: Sequence[Passed]) -> list[tuple[int, float, int]]:
    """For each number of positions: the median seconds of the target's passes, and how many."""
    from statistics import median  # the page, which does not ask this, would fetch it

    widths: dict[int, list[float]] = {}
    for one in passed:
        widths.setdefault(one.width, []).append(one.target_seconds)
    return [(width, median(found), len(found)) for width, found in sorted(widths.items())]


class Cost(NamedTuple):
    """Seconds of some passes, and the tokens that they wrote."""

    tokens: int = 0
    drafting: float = 0.0
    verifying: float = 0.0

    @property
    def each(self) -> float:
        """Milliseconds a token."""
        return 1000 * (self.drafting + self.verifying) / self.tokens


def costs(passed: Iterable[Passed]) -> dict[int | None, Cost]:
    """What passes over a cache that was whole took, by their number of drafts; by None those that
    computed the whole window again. Recompute passes write no token and are left out.
    """
    found: dict[int | None, Cost] = {}
    for one in passed:
        if not one.recompute:
            drafts = len(one.drafts)
            kind = drafts if one.width == 1 + drafts else None
            tokens, drafting, verifying = found.get(kind, Cost())
            found[kind] = Cost(
                tokens + 1 + one.accepted,
                drafting + one.draft_seconds,
                verifying + one.target_seconds,
            )
    return found


class Rates(NamedTuple):
    """What was accepted at one draft length."""

    rates: list[float]
    """Conditional, by position, as far as they are known."""
    tested: list[int]
    tokens: int
    passes: int

    @property
    def scene(self) -> dict[str, object]:
        """What the widget is to be set to, by key."""
        return {"k": len(self.rates), "rates": [round(rate, 4) for rate in self.rates]}


def rates(passed: Iterable[Passed], k: int) -> Rates | None:
    """Of the passes with k drafts; None where there is none yet."""
    drafted = [one for one in passed if len(one.drafts) == k]
    if not k or not drafted:
        return None
    found = [(rate, of) for rate, of in by_position(drafted, k) if rate is not None]
    tokens = sum(1 + one.accepted for one in drafted)
    return Rates([r for r, _ in found], [of for _, of in found], tokens, len(drafted))
