"""The pass that a tick was: a caption, and a cell for each draft with the coin that decided it."""

from __future__ import annotations

from typing import NamedTuple

from sim.cache import ACCEPTED, BONUS, DISCARDED, EMPTY, PLAIN, PROPOSED, REJECTED
from sim.kinds import write_number
from sim.run import DRAFT, KEEP, VERIFY, Pass, Run
from sim.stretch import Stretch
from sim.words import count, many

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
    press: str = ""
    """What a press on it does, where one may set the verdict by hand."""
    word: str = ""
    """The word that stands in it, where a text lends its words."""
    struck: str = ""
    """The word of a draft that was rejected."""


class Strip(NamedTuple):
    """The pass that a tick was: a caption, and cells; while recomputing, a share that is back."""

    caption: str
    cells: tuple[StripCell, ...] = ()
    restored: float | None = None


def strip(
    run: Run,
    tick: int,
    phase: str = KEEP,
    ghost: Run | None = None,
    words: Stretch | None = None,
) -> Strip:
    """The last pass at `tick`, told up to `phase` of `PHASES` where it has any.

    `ghost` is the run before a verdict was set by hand; `words` are what drafts and tokens say.
    """
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
    phase = phase if run.has_phases(tick) else KEEP
    was = None if ghost is None else ghost.verify_pass_at(tick)
    caption, cells = _caption(record, phase), _cells(record, phase, was)
    if words:
        first = run.at(tick - 1).num_tokens
        if phase == KEEP:
            caption += f" {words.quoted(first, first + record.accepted + 1)}"
        cells = [
            _worded(cell, words, first + index, index < record.accepted, phase)
            for index, cell in enumerate(cells)
        ]
    return Strip(caption, tuple(cells))


def _worded(
    cell: StripCell, words: Stretch, position: int, accepted: bool, phase: str
) -> StripCell:
    """A cell with the word of its position, where it has a token."""
    if cell.state == EMPTY:
        return cell
    said = words.drafted(position, accepted or cell.state in (PLAIN, BONUS))
    word, struck = said, ""
    if cell.state == REJECTED:
        word, struck = words.token(position) if phase == KEEP else "", said
    # In the order in which they are seen, so that who speaks to a button says what stands there.
    told = " → ".join(f"“{one}”" for one in (struck, word) if one)
    name, state, rest = cell.label.partition(cell.state)
    return cell._replace(label=f"{name}{state}, {told}{rest}", word=word, struck=struck)


def _last_chunk(run: Run, tick: int) -> int:
    return run.at(tick).positions_recomputed - run.at(tick - 1).positions_recomputed


def _caption(record: Pass, phase: str) -> str:
    k, accepted = len(record.rates), record.accepted
    if k == 0:
        return "this pass: **1 token**, without a draft"
    if phase == DRAFT:
        return f"draft: the draft model proposes **{many(k, 'token')}**"
    if phase == VERIFY:
        return (
            f"verify: one pass of the big model checks **{'it' if k == 1 else f'all {k} at once'}**"
        )
    made = many(accepted + 1, "token")
    head = "this pass" if accepted == record.by_coins else BY_HAND
    if accepted == k:
        return f"{head}: **all {k} accepted**, plus its own token: {made}"
    if accepted:
        return f"{head}: **{accepted} accepted**, its own replaces the next: {made}"
    return f"{head}: **none accepted**, its own replaces the first: {made}"


def _coin(coin: float, rate: float) -> str:
    """A coin against its rate, with so many digits that it never seems to have crossed it."""
    below = coin < rate
    for digits in range(2, MOST_DIGITS + 1):
        cut, against = int(coin * 10**digits) / 10**digits, round(rate, max(digits, 3))
        if (cut < against) == below:
            break
    return f"{cut:.{digits}f} {'<' if below else '≥'} {write_number(against)}"


OWN = "•"
"""The mark of the pass's own token; beside a ×, of one that replaces a rejected draft."""

BY_HAND = "by hand"
"""What stands below a draft in place of its coin, where the verdict is not the coin's."""


def _cells(record: Pass, phase: str, was: Pass | None) -> list[StripCell]:
    cells = [_draft_cell(record, index, phase) for index in range(len(record.rates))]
    if phase != DRAFT:
        presses = [_press(record, index, was) for index in range(len(cells))]
        cells = [cell._replace(press=does) for cell, does in zip(cells, presses, strict=True)]
    if not record.rates:
        cells.append(StripCell(PLAIN, OWN, "token", "the pass's own token"))
    elif phase == DRAFT or (phase == VERIFY and not record.rejected):
        cells.append(StripCell(EMPTY, "", "", "the pass's own token: not yet known"))
    elif record.rejected:
        cells.append(StripCell(EMPTY, "", "", "no bonus after the drafts: one was rejected"))
    else:
        told = "the pass's own token: a bonus, for all drafts were accepted"
        cells.append(StripCell(BONUS, OWN, BONUS, told))
    return cells


def _press(record: Pass, draft: int, was: Pass | None) -> str:
    accepted = record.pressed(draft, was)
    if accepted == record.by_coins:
        return "press to leave it to the coins"
    return "press to reject it" if accepted <= draft else "press to accept up to here"


def _draft_cell(record: Pass, index: int, phase: str) -> StripCell:
    """A draft, and once it is known the token that takes its place."""
    name, kept = f"draft {index + 1}", index < record.accepted
    if phase == DRAFT:
        return StripCell(PROPOSED, "?", "", f"{name}: proposed")
    if index > record.accepted:
        return StripCell(DISCARDED, "", "—", f"{name}: discarded")
    coin, rate = record.coins[index], record.rates[index]
    text = _coin(coin, rate)
    by_coin = (coin < rate) == kept
    by, small = ("", text) if by_coin else (" by hand, its coin", BY_HAND)
    if kept:
        return StripCell(ACCEPTED, "✓", small, f"{name}: accepted{by}, {text}")
    told = f"{name}: rejected{by}, {text}"
    if phase == KEEP:
        return StripCell(REJECTED, f"×{OWN}", small, f"{told}; the token recovered stands here")
    return StripCell(REJECTED, "×", small, told)
