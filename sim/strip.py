"""The pass that a tick was: a caption, and a cell for each draft with the coin that decided it."""

from __future__ import annotations

from typing import NamedTuple

from sim.cache import ACCEPTED, BONUS, DISCARDED, PLAIN, REJECTED
from sim.kinds import write_number
from sim.run import Pass, Run
from sim.words import count, many

PHASES = ("draft", "verify", "keep")
"""How a pass is told when there is time for it."""

DRAFT = "draft"
"""A draft that the strip shows before its verdict."""

MOST_DIGITS = 9
"""Digits of a coin that are ever told."""


def last_eviction(run: Run, tick: int) -> int:
    """The last tick up to `tick` at which the cache was evicted."""
    return max(evicted for evicted in run.params.evictions_made if evicted <= tick)


class StripCell(NamedTuple):
    """One large cell of the strip: its state, its mark, and the coin that decided."""

    state: str
    mark: str
    coin: str
    label: str


class Strip(NamedTuple):
    """The pass that a tick was: a caption, and cells; while recomputing, a share that is back."""

    caption: str
    cells: tuple[StripCell, ...] = ()
    restored: float | None = None


def strip(run: Run, tick: int, phase: str = "keep") -> Strip:
    """The last pass at `tick`, told up to `phase` of `PHASES`; a recompute pass has no phases."""
    missing = run.missing(tick)
    if missing:
        evicted = last_eviction(run, tick)
        whole = run.missing(evicted)
        made = (
            "evicted"
            if tick == evicted
            else f"recompute: {many(_last_chunk(run, tick), 'position')}"
        )
        return Strip(
            f"{made}, **{count(missing)} still missing**, no new token", (), 1 - missing / whole
        )
    record = run.verify_pass_at(tick)
    if record is None:
        if tick == 0:
            return Strip("no pass yet: press Play or Step")
        return Strip(
            f"recompute pass: {count(_last_chunk(run, tick))} positions, "
            "**the cache is whole again**",
            (),
            1.0,
        )
    return Strip(_caption(record, phase), tuple(_cells(record, phase)))


def _last_chunk(run: Run, tick: int) -> int:
    return run.at(tick).positions_recomputed - run.at(tick - 1).positions_recomputed


def _caption(record: Pass, phase: str) -> str:
    k, accepted = len(record.rates), record.accepted
    if k == 0:
        return "this pass: **1 token**, without a draft"
    if phase == "draft":
        return f"draft: the draft model proposes **{many(k, 'token')}**"
    if phase == "verify":
        return (
            f"verify: one pass of the big model checks **{'it' if k == 1 else f'all {k} at once'}**"
        )
    made = many(accepted + 1, "token")
    if accepted == k:
        return f"this pass: **all {k} accepted**, plus its own token: {made}"
    if accepted:
        return f"this pass: **{accepted} accepted**, its own replaces the next: {made}"
    return f"this pass: **none accepted**, its own replaces the first: {made}"


def _coin(coin: float, rate: float) -> str:
    """A coin against its rate, with so many digits that it never seems to have crossed it."""
    below = coin < rate
    for digits in range(2, MOST_DIGITS + 1):
        cut, against = int(coin * 10**digits) / 10**digits, round(rate, max(digits, 3))
        if (cut < against) == below:
            break
    return f"{cut:.{digits}f} {'<' if below else '≥'} {write_number(against)}"


def _cells(record: Pass, phase: str) -> list[StripCell]:
    cells = []
    for index, (coin, rate) in enumerate(zip(record.coins, record.rates, strict=True)):
        name = f"draft {index + 1}"
        if phase == "draft":
            cells.append(StripCell(DRAFT, "?", "", f"{name}: proposed"))
        elif index <= record.accepted:
            text, kept = _coin(coin, rate), index < record.accepted
            state, mark, word = (ACCEPTED, "✓", "accepted") if kept else (REJECTED, "×", "rejected")
            by = "" if (coin < rate) == kept else " by hand, its coin"
            cells.append(StripCell(state, mark, text, f"{name}: {word}{by}, {text}"))
        else:
            cells.append(StripCell(DISCARDED, "", "—", f"{name}: discarded"))
    own = BONUS if record.rates else PLAIN
    if phase == "keep":
        cells.append(StripCell(own, "•", own if record.rates else "token", "the pass's own token"))
    else:
        cells.append(StripCell(DRAFT, "", "", "the pass's own token: not yet known"))
    return cells
