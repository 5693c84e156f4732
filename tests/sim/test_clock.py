"""The clock: its blocks are the time that the run took, and it tells nothing before its phase."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.clock import (
    CLOSEST,
    DRAFT,
    FARTHEST,
    PARTS,
    REDONE,
    REJECTED,
    VERIFY,
    WASTED,
    WIDTH,
    blocks,
    clock,
    in_words,
    view,
)
from sim.params import HORIZON, Params
from sim.run import PHASES, Run
from sim.theory import pass_time, plain_pass
from tests.strategies import ANY_PARAMS

TICKS = st.integers(1, 150)


@given(ANY_PARAMS, TICKS)
def test_the_blocks_of_all_passes_add_up_to_the_time(params: Params, last: int) -> None:
    run = Run(params)
    spent = 0.0
    for tick in range(1, last + 1):
        parts = blocks(run, tick)
        assert all(part in PARTS and length >= 0 for part, length in parts)
        length = sum(length for _, length in parts)
        assert length == pytest.approx(run.at(tick).time - run.at(tick - 1).time, abs=1e-6)
        spent += length
    assert spent == pytest.approx(run.at(last).time)


def lengths(run: Run, tick: int) -> dict[str, float]:
    return {part: length for part, length in blocks(run, tick) if length > 1e-9}


def test_a_pass_below_the_knee_is_its_drafts_and_one_unit() -> None:
    run = Run(Params(draft_cost=0.1, round_cost=0.5))
    accepted = run.at(1).accepted
    assert lengths(run, 1) == pytest.approx(
        {
            part: length
            for part, length in {
                DRAFT: 0.5 + 0.1 * accepted,
                REJECTED: 0.1 * (4 - accepted),
                VERIFY: 1.0,
            }.items()
            if length
        }
    )


def test_past_the_knee_what_rejected_drafts_cost_is_told_apart() -> None:
    run = Run(Params(batch_size=128, draft_cost=0.0))
    for tick in range(1, 40):
        kept = run.at(tick).accepted - run.at(tick - 1).accepted
        useful = pass_time(128 * (1 + kept), 256)
        expected = {VERIFY: useful} | ({WASTED: 2.5 - useful} if kept < 4 else {})
        assert lengths(run, tick) == pytest.approx(expected)


def test_what_is_computed_again_has_its_own_part_in_a_recompute_pass_and_without_a_cache() -> None:
    run = Run(Params(evictions=(20,)))
    assert lengths(run, 21) == {REDONE: 1.0}
    uncached = Run(Params(kv_cache=False, batch_size=8))
    assert REDONE in lengths(uncached, 30)


def test_with_speculation_off_a_pass_is_the_big_model_alone() -> None:
    run = Run(Params(speculation=False, draft_cost=0.5, round_cost=2.0))
    assert lengths(run, 5) == {VERIFY: 1.0}


BOX = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h(-?[\d.]+)v([\d.]+)h-[\d.]+z")


def boxes(path: str) -> list[tuple[float, ...]]:
    found = BOX.findall(path)
    assert "".join(f"M{x} {y}h{w}v{h}h-{w}z" for x, y, w, h in found) == path
    return [tuple(map(float, box)) for box in found]


@given(ANY_PARAMS, st.integers(0, HORIZON), st.integers(200, 1600), st.integers(-8, 5))
def test_what_is_drawn_lies_between_the_edges_and_reaches_now(
    params: Params, tick: int, width: int, zoom: int
) -> None:
    run = Run(params)
    drawn, seen = clock(run, tick, width, zoom), view(run, tick, width, zoom)
    assert seen.end == run.at(tick).time
    assert 0 <= seen.x(seen.end) <= width
    found = [box for path in drawn.lane.values() for box in boxes(path)]
    assert len(found) <= 6 * width / 4 + 60  # however much there is, so much at most is drawn
    if tick:
        right = max(x + w for x, _, w, _ in found) + drawn.shift
        assert right == pytest.approx(seen.x(seen.end), abs=2)
        left = min(x for x, *_ in found) + drawn.shift
        assert left <= 1


def test_one_comes_as_close_as_one_pass_and_as_far_as_the_whole_run() -> None:
    run = Run(Params())
    near = view(run, 100, WIDTH, CLOSEST)
    last = run.at(100).time - run.at(99).time
    assert WIDTH / 2 < last * near.scale < WIDTH
    far = view(run, HORIZON, WIDTH, FARTHEST)
    assert far.start == 0
    assert WIDTH * 0.9 < far.x(far.end) < WIDTH


def test_the_same_is_drawn_whichever_way_one_came_to_it() -> None:
    params = Params(draft_cost=0.1, evictions=(300, 700))
    for zoom in (0, -4, -8):
        played = Run(params)
        for tick in range(1, 900, 7):
            last = clock(played, tick, WIDTH, zoom)
            if tick % 70 == 1:
                assert clock(Run(params), tick, WIDTH, zoom) == last
        for tick in range(890, 0, -97):  # and back
            assert clock(played, tick, WIDTH, zoom) == clock(Run(params), tick, WIDTH, zoom)


def test_no_part_is_drawn_before_its_phase() -> None:
    run = Run(Params(draft_cost=0.1))
    for tick in range(1, 60):
        before = clock(run, tick - 1)
        now = run.at(tick - 1).time
        for phase in PHASES[:2]:
            drawn = clock(run, tick, phase=phase)
            assert len(drawn.tallies) <= len(before.tallies) + 1
            new = [b for b in boxes(drawn.lane[REJECTED]) if b[0] >= now * 36 - 0.1]
            assert not new
            checked = [b for b in boxes(drawn.lane[VERIFY]) if b[0] >= now * 36 - 0.1]
            assert bool(checked) == (phase == "verify")
        tokens = [number for _, number in clock(run, tick).tallies]
        assert tokens[-1] == run.at(tick).num_tokens - run.at(tick - 1).num_tokens


def test_plain_decoding_is_blocks_of_its_own_length_up_to_now() -> None:
    run = Run(Params(batch_size=512))
    drawn, seen = clock(run, 30), view(run, 30, WIDTH, 0)
    dash, gap = map(float, drawn.dashes.split())
    assert dash + gap == pytest.approx(plain_pass(run.params) * seen.scale, abs=0.01)
    (start, end) = map(float, re.fullmatch(r"M(\S+) \S+H(\S+)", drawn.plain).groups())  # type: ignore[union-attr]
    assert end == pytest.approx(seen.x(seen.end), abs=0.1)
    assert start <= 0.1
    blocks_before = (start / seen.scale + seen.start) / 2.0
    assert blocks_before == pytest.approx(round(blocks_before), abs=0.01)


def test_another_run_is_drawn_up_to_the_same_time() -> None:
    run, other = Run(Params(draft_cost=0.1)), Run(Params(draft_cost=0.1, draft_length=12))
    drawn, seen = clock(run, 60, ghost=other, kept=run), view(run, 60, WIDTH, 0)
    ghost = boxes(drawn.ghost)
    kept = [x for x, *_ in boxes(drawn.kept)]
    assert kept == [x for x in kept if x < seen.end * seen.scale]
    assert {x for x, y, *_ in boxes(drawn.lane[DRAFT] + drawn.lane[REJECTED])} & set(kept)
    assert max(x + w for x, _, w, _ in ghost) + drawn.shift <= seen.x(seen.end) + 0.1
    starts = [x / seen.scale for x, *_ in ghost]
    passes = [other.at(tick).time for tick in range(HORIZON)]
    assert all(min(abs(start - at) for at in passes) < 0.01 for start in starts)
    assert (clock(run, 60).ghost, clock(run, 60).kept) == ("", "")


def test_it_is_told_in_words() -> None:
    assert in_words(Run(Params()), 0) == "The clock has not started."
    told = in_words(Run(Params(draft_cost=0.1)), 60)
    assert told == (
        "The last pass took 0.40 for drafting, 1.00 for the pass of the big model. In 84.0 units "
        "of time 216 tokens were written; plain decoding would have written 84."
    )
