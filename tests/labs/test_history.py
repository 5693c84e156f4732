"""A server's passes as the page shows them: the board, the rows, the words, and over time."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK, PAGED, POLICIES
from sim.labs.history import HUES, MOST_STRETCHES, History, Moment, Timeline, record
from sim.labs.scheduler import Pass
from sim.labs.service import Asked, Scene, longest_of, scene_of
from sim.labs.serving_shown import (
    MOST_ROWS,
    PREEMPTED,
    RUNNING,
    Shown,
    changed,
    compared,
    numbers_told,
    request_rows,
    same_arrivals,
    sized,
)
from sim.labs.slots import BOARD_LOOKS, board, owner, pass_told, slot_told
from sim.marks import PALETTES
from sim.params import SLOTS
from sim.words import count
from sim.work import finish
from tests.labs.served import ASKED, REQUESTS, passes


def history_of(asked: Asked, requests: list[Request]) -> History:
    return finish(record(Scene(asked, requests, None, longest_of(asked, requests))))


@cache
def opening(policy: str = PAGED) -> History:
    return finish(record(scene_of(Shown(policy=policy))))


@given(ASKED, REQUESTS)
@settings(max_examples=60)
def test_the_board_shows_as_many_slots_of_each_kind_as_are_counted(
    asked: Asked, requests: list[Request]
) -> None:
    history = history_of(asked, requests)
    for moment in history.moments[:40]:
        drawn = board(asked, moment)
        assert len(drawn.states) == SLOTS
        counted = Counter(state.rstrip("01234567") for state in drawn.states)
        assert counted.pop("absent", 0) == SLOTS - asked.slots
        tokens = counted["held"] + counted["filled"] + counted["common"]
        assert tokens == moment.shares[0]
        ahead = counted["draft"] + counted["reserved"] + counted["internal"]
        assert ahead == moment.shares[1] + moment.shares[2]
        assert (counted["external"], counted["free"]) == moment.shares[3:]
        if not asked.draft_length:
            assert (counted["reserved"], counted["internal"]) == moment.shares[1:3]
        for slot in range(0, asked.slots, 7):
            found = owner(asked, moment, slot)
            assert (found is None) == (drawn.states[slot] in ("free", "external"))
            assert slot_told(asked, moment, slot).startswith(f"Slot {slot + 1}")


@given(ASKED, REQUESTS)
@settings(max_examples=40)
def test_a_history_is_the_server_pass_by_pass(asked: Asked, requests: list[Request]) -> None:
    history = history_of(asked, requests)
    again = list(passes(history.scene.server()))
    assert [(m.start, m.seconds, m.shares) for m in history.moments] == [told[:3] for told in again]
    for at, moment in enumerate(history.moments):
        assert history.at(moment.start) == history.at(moment.end - 1e-9) == at
    if history.moments:
        assert history.at(-1) == 0
        assert history.at(1e9) == len(history.moments) - 1
        last = history.moments[-1]
        assert isclose(last.end, history.numbers["seconds"])
        assert last.preemptions == history.numbers["preemptions"]
    unseen = finish(record(history.scene, moments=False))
    assert (unseen.moments, unseen.numbers) == ([], history.numbers)


@given(st.lists(st.tuples(st.floats(0.001, 1), st.integers(0, 99)), min_size=1, max_size=1200))
@settings(max_examples=30)
def test_a_timeline_keeps_its_length_and_the_share_of_each_kind(
    told: list[tuple[float, int]],
) -> None:
    timeline, now = Timeline(100), 0.0
    for seconds, tokens in told:
        timeline.add(Pass(now, seconds, (tokens, 1, 0, 0, 99 - tokens), 0, 0))
        now += seconds
    found = timeline.stretches
    assert len(found) <= 2 * MOST_STRETCHES
    if len(told) <= 2 * MOST_STRETCHES:
        assert len(found) == len(told)
    else:  # as long as a share of the time, or a pass
        longest = max(seconds for seconds, _ in told)
        assert max(stretch.seconds for stretch in found) <= now / MOST_STRETCHES + longest
    assert sum(stretch.seconds for stretch in found) == pytest.approx(now)
    held = sum(stretch.seconds * stretch.shares[0] for stretch in found)
    assert held == pytest.approx(sum(seconds * tokens / 100 for seconds, tokens in told))
    starts = [stretch.start for stretch in found]
    assert starts == sorted(starts)
    assert all(sum(stretch.shares) == pytest.approx(1) for stretch in found)


def test_every_look_has_its_colours_and_no_two_of_a_request_are_alike() -> None:
    for look in BOARD_LOOKS.values():
        for role in (look.colour, *(shape[-1] for shape in look.mark)):
            assert role in PALETTES["light"]
    own = [look for state, look in BOARD_LOOKS.items() if state.endswith("0")]
    assert len(own) == len({(look.filled, look.mark) for look in own}) == 5
    hues = {BOARD_LOOKS[f"held{n}"].colour for n in range(8)}
    for palette in (PALETTES["light"], PALETTES["dark"]):
        assert len({palette[hue] for hue in hues}) == 8


def moment_of(asked: Shown, requests: list[Request], at: int = 0) -> Moment:
    return history_of(asked, requests).moments[at]


def test_a_slot_says_whose_it_is_and_why() -> None:
    asked = Shown(policy="max", slots=256, longest=100, draft_length=2)
    moment = moment_of(asked, [Request(0, 9, 21), Request(0, 1, 30), Request(0, 3, 3)], at=1)
    told = {slot: slot_told(asked, moment, slot) for slot in (3, 9, 10, 11, 12, 29, 30, 101, 210)}
    assert told[3] == "Slot 4: token 4 of request 1, of its prompt."
    assert told[9] == "Slot 10: held for draft 1 of request 1, until its verdict."
    assert told[11] == "Slot 12: reserved: it will hold token 12 of the 30 of request 1."
    assert told[29] == "Slot 30: reserved: it will hold token 30 of the 30 of request 1."
    assert told[30] == (
        "Slot 31: never used: request 1 holds 102 slots and ends with its token 30."
    )
    assert "request 2" in told[101] or "request 1" in told[101]
    assert told[210] == "Slot 211: free."
    assert slot_told(asked, moment, 300) == "This memory has no such slot."
    paged = Shown(slots=64)
    first = moment_of(paged, [Request(0, 9, 21)])
    assert slot_told(paged, first, 2) == (
        "Slot 3, block 1: token 3 of request 1, whose 8 positions are computed in this pass."
    )
    shared = Shown(slots=256, prefix=32)
    together = moment_of(shared, [Request(0, 5, 9), Request(0, 5, 9)], at=1)
    assert slot_told(shared, together, 20) == (
        "Slot 21, block 2: token 21 of the common prefix, held once for two requests."
    )


def test_a_torn_memory_says_why_it_is_of_no_use() -> None:
    asked = Shown(policy="oracle", slots=96)
    requests = [Request(0, 1, 19), Request(0, 1, 39), Request(0, 1, 29), Request(0, 1, 49)]
    history = history_of(asked, requests)
    torn = next(moment for moment in history.moments if moment.shares[3])
    free = board(asked, torn).states.index("external")
    assert slot_told(asked, torn, free).endswith(
        "request 4 needs 50 slots in one piece, and no piece is so long."
    )
    assert pass_told(torn, 30).endswith(
        f"Request 4 is refused 50 slots in one piece, while {torn.shares[3]} are free."
    )
    assert [border.role for border in board(asked, torn).borders] == ["hue2"]


def test_a_pass_is_told_in_a_few_words() -> None:
    requests = [Request(0, 17, 40), Request(0, 1, 60), Request(0, 1, 9)]
    history = history_of(Shown(slots=64, most_running=2), requests)
    told = [pass_told(moment, at) for at, moment in enumerate(history.moments)]
    assert told[0] == (
        "Pass 1: 1 request writes, two requests enter. Request 3 waits, because two are all that "
        "may run."
    )
    assert told[1].startswith("Pass 2: 2 requests write.")
    lost = next(text for text in told if "full" in text)
    assert lost.endswith("The memory is full: request 2 loses its cache to older ones.")
    waits = told[told.index(lost) + 1]
    assert "Request 2 waits for" in waits


def test_blocks_have_the_border_of_who_holds_them() -> None:
    history = opening()
    moment = history.moments[history.at(0.15)]
    drawn = board(history.scene.asked, moment)
    assert [(border.first, border.last) for border in drawn.borders] == [
        (at, at + BLOCK - 1) for at in range(0, SLOTS, BLOCK)
    ]
    for border in drawn.borders:
        hue = drawn.states[border.first][-1]
        assert border.role == (f"hue{int(hue) + 1}" if hue.isdigit() else "line")


def test_who_is_let_in_gets_the_colour_that_the_fewest_have_and_keeps_it() -> None:
    history = opening()
    known: dict[int, int] = {}
    for moment in history.moments:
        had = Counter(seat.hue for seat in moment.seats if seat.number in known)
        for seat in moment.seats:
            if seat.number not in known:
                assert had[seat.hue] == min(had[hue] for hue in range(HUES))
                had[seat.hue] += 1
                known[seat.number] = seat.hue
            assert seat.hue == known[seat.number]
    assert known == history.hues
    assert len(known) == 50


def test_rows_stand_in_the_order_in_which_requests_are_served() -> None:
    history = opening()
    for moment in history.moments:
        rows, more = request_rows(history, moment)
        running = [row for row in rows if row.state == RUNNING]
        waiting = [row for row in rows if row.state != RUNNING]
        assert [row.place for row in running] == list(range(len(running)))
        assert [row.place for row in waiting] == list(range(len(waiting)))
        assert len(running) + more[0] == len(moment.seats)
        assert len(waiting) + more[1] == len(moment.queue)
        assert max(len(running), len(waiting)) <= MOST_ROWS
        assert [row.number for row in waiting] == list(moment.queue[:MOST_ROWS])
        lost = [row.state == PREEMPTED for row in waiting]
        assert lost == sorted(lost, reverse=True)
        for row in waiting:
            assert ("needs" in row.text) == (row.place == 0)


def test_the_four_ways_are_compared_at_the_same_moment() -> None:
    histories = {policy: opening(policy) for policy in POLICIES}
    at = histories[PAGED].moments[20].start
    lines = {name: cells for name, *cells in compared(histories, at)}
    assert list(lines) == list(POLICIES)
    running = [int(cells[0]) for cells in lines.values()]
    written = [int(cells[3]) for cells in lines.values()]
    for found in (running, written):
        assert found[0] < min(found[1:])
        assert found[-1] > max(found[:-1])
    over = compared(histories, 99.0)
    assert {tuple(cells[1:4]) for cells in over} == {("0", "0", "–")}
    assert {cells[4] for cells in over} == {str(histories[PAGED].numbers["tokens"])}
    unseen = finish(record(histories["max"].scene, moments=False))
    assert {cells[5] for cells in over} == {
        f"{count(h.numbers['tokens'] / h.numbers['seconds'])}" for h in histories.values()
    }
    ((_, ran, waiting, held, *_rest),) = compared({"max": unseen}, at)
    assert (ran, waiting) == ("3.63 on average", "–")
    assert held.endswith("%")
    assert "50 requests are through" in numbers_told(unseen)


def test_a_memory_that_none_fits_shows_that_all_are_refused() -> None:
    history = finish(record(scene_of(Shown(slots=16, prefix=64))))
    assert (history.moments, history.at(1)) == ([], 0)
    assert compared({"paged": history}, 1) == [["paged", "–", "–", "–", "0", "–", "0 ms", "0 ms"]]
    assert "0 requests are through, 50 refused" in numbers_told(history)


def test_a_setting_is_read_as_a_field_is_and_a_machine_brings_its_memory() -> None:
    shown, complaint = changed(Shown(), "k", "99")
    assert (shown.draft_length, complaint) == (
        32,
        "draft length: 99 is not a whole number from 0 to 32; using 32.",
    )
    assert changed(Shown(slots=64), "slots", "many")[0].slots == 64
    empty = changed(Shown(), "k", "")[1]
    assert empty
    assert empty.startswith("draft length is empty, not a whole number")
    assert changed(Shown(), "machine", "H200")[0].memory == 141
    assert changed(Shown(memory=40), "model", "OPT-13B")[0].memory == 40
    assert changed(Shown(), "rate", "")[0].rate is None


def test_arrivals_are_the_same_for_every_way_and_budget_but_not_for_other_luck() -> None:
    same = same_arrivals(Shown())
    for shown in (Shown(policy="max"), Shown(batch=9), Shown(at=5.0), Shown(memory=9)):
        assert same_arrivals(shown) == same
    assert same_arrivals(Shown(seed=1)) != same
    assert sized(Shown(longest=9, seed=3), (1024, 70)) == Shown(slots=1024, requests=70, seed=3)
