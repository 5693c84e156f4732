"""What is drawn is what the run is: plot, marks, board, bars, and how long each tick stays."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import floor, sqrt
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cache import EMPTY, REJECTED
from sim.clock import clock
from sim.marks import BLOCK, COLUMNS, LOOKS, PALETTES, ROWS, Shape, columns, shapes
from sim.params import HORIZON, SLOTS, Params
from sim.picture import (
    CSS_COLOURS,
    LANES_TOLD,
    bar_parts,
    board_svg,
    scene_svg,
    strip_html,
    swatch,
)
from sim.plot import HEIGHT, band, path, scale, theory_height
from sim.run import Run
from sim.story import settings as told_settings
from sim.strip import Strip, StripCell
from sim.theory import expected_tokens_per_pass
from static.playback import Playback
from tests.oracle import chances
from tests.strategies import params_of_rules

EXAMPLES = int(os.environ.get("BONUS_TOKEN_EXAMPLES", "25"))
examples = settings(max_examples=EXAMPLES)
SVG = "{http://www.w3.org/2000/svg}"

# The plot


def height_of(run: Run, tokens_per_pass: float) -> float:
    """The plot's scale, from its words: one token per pass lies at the foot; the range ends at the
    most that a pass can yield, or at twice the theory's gain where that is less, but spans half a
    token at least; a tenth is left above it."""
    k = len(run.params.rates)
    gain, product = 0.0, 1.0
    for rate in run.params.rates:
        product *= rate
        gain += product
    span = min(max(k, 1), max(0.5, 2 * gain))
    return 100 - 100 / 1.1 * min(max((tokens_per_pass - 1) / span, 0), 1)


def points(data: str) -> list[tuple[int, float]]:
    """The corners of a path of straight lines."""
    found = [tuple(pair.split()) for pair in data.strip("MZ").split("L")]
    return [(int(x), float(y)) for x, y in found]


@examples
@given(params_of_rules, st.floats(0, 40))
def test_the_plot_spans_what_can_happen_and_shows_low_rates_large(
    params: Params, value: float
) -> None:
    run = Run(params)
    assert scale(run, value) == pytest.approx(height_of(run, value), abs=1e-9)
    assert scale(run, 1) == scale(run, 0.5) == HEIGHT == 100
    assert theory_height(run) == pytest.approx(
        height_of(run, expected_tokens_per_pass(params.rates)), abs=1e-9
    )
    assert min(scale(run, more) for more in (2, 5, 40)) > 0, "a perfect draft stays off the edge"


@examples
@given(params_of_rules, st.integers(1, HORIZON))
def test_the_path_goes_through_the_run_s_own_numbers_up_to_the_tick(
    params: Params, tick: int
) -> None:
    run = Run(params)
    drawn = points(path(run, tick))
    ticks = [at for at, _ in drawn]
    fine = [at for at in range(1, tick + 1) if at <= 120]
    coarse = [at for at in range(121, tick + 1) if at % 6 == 0]
    assert ticks == sorted({*fine, *coarse, tick})
    for at, y in drawn:
        assert y == pytest.approx(height_of(run, run.report(at)["tokens_per_pass"]), abs=0.0501)


@examples
@given(params_of_rules, st.integers(0, 30) | st.integers(0, HORIZON))
def test_the_band_is_three_standard_errors_of_as_many_verify_passes(
    params: Params, tick: int
) -> None:
    """Passes that are still to come are taken for verify passes."""
    run = Run(params)
    told = chances(params.rates)
    mean = sum(n * chance for n, chance in enumerate(told, start=1))
    variance = sum((n - mean) ** 2 * chance for n, chance in enumerate(told, start=1))
    drawn = band(run, tick)
    assert drawn.startswith("M")
    assert drawn.endswith("Z")
    corners = points(drawn)
    upper, lower = corners[: len(corners) // 2], corners[len(corners) // 2 :]
    xs = [x for x, _ in upper]
    assert xs == [x for x, _ in lower[::-1]] == sorted(set(xs))
    assert xs[:3] == [1, 2, 3]
    assert xs[-1] == HORIZON
    assert all(after <= 1.5 * before + 1 for before, after in pairwise(xs)), "dense where it bends"
    for (x, top), (_, foot) in zip(upper, lower[::-1], strict=True):
        passes = x - run.report(min(x, tick))["recompute_passes"]
        reach = 3 * sqrt(max(variance, 0) / passes)
        assert top == pytest.approx(height_of(run, mean + reach), abs=0.06)
        assert foot == pytest.approx(height_of(run, mean - reach), abs=0.06)


def test_the_drawn_band_holds_the_paths_of_its_own_model_and_not_of_another() -> None:
    """Of 60 seeds at one tick, three standard errors leave out 2 at most (1 in 370 strays).

    The control: the same paths stray from the band of a rate a little lower.
    """
    tick, seeds = 420, 60

    def outside(drawn: Params) -> int:
        corners = points(band(Run(drawn), tick))
        top, foot = (y for x, y in corners if x == tick)
        ys = [points(path(Run(Params(draft_cost=0, seed=s)), tick))[-1][1] for s in range(seeds)]
        return sum(not top <= y <= foot for y in ys)

    assert outside(Params()) <= 2
    # Two rates whose plots have one scale, so that heights can be compared.
    assert scale(Run(Params(acceptance_rate=0.75)), 4) == scale(Run(Params()), 4)
    assert outside(Params(acceptance_rate=0.75)) > 20


# Marks and the board


@pytest.mark.parametrize("state", LOOKS)
def test_with_the_cache_off_a_kept_token_is_drawn_hollow(state: str) -> None:
    """Known, not kept: an outline in its colour around the ground, the same mark in its colour."""
    full, hollow, look = shapes(state, False), shapes(state, True), LOOKS[state]
    if not look.filled or state == EMPTY:
        assert hollow == full
        assert full[0] == ("cell", "empty" if state == EMPTY else "ground")
        assert tuple(full[1:]) == look.mark
        return
    assert full == [("cell", look.colour), *look.mark]
    ground, edge, *marks = hollow
    assert ground == ("cell", "ground")
    assert (edge[0], edge[-1]) == ("edge", look.colour)
    assert [mark[:-1] for mark in marks] == [mark[:-1] for mark in look.mark]
    assert {mark[-1] for mark in marks} <= {look.colour}


def test_every_shape_is_inside_its_cell_and_in_a_colour_of_every_palette() -> None:
    def extent(shape: Shape) -> tuple[float, float]:
        kind, *n, _ = shape
        if kind == "cell":
            return 0, 1
        if kind == "edge":
            return n[0], 1 - n[0]
        if kind == "line":
            return min(n[:4]), max(n[:4])
        reach = n[2] + (n[3] / 2 if kind == "ring" else 0)
        return min(n[:2]) - reach, max(n[:2]) + reach

    for state in LOOKS:
        for hollow in (False, True):
            for shape in shapes(state, hollow):
                low, high = extent(shape)
                assert low >= 0
                assert high <= 1
                assert all(shape[-1] in palette for palette in PALETTES.values())
                assert shape[-1] in CSS_COLOURS


@given(st.integers(96, 4000), st.floats(0.5, 0.95))
def test_cells_fill_the_width_with_even_gaps_and_a_wider_one_between_blocks(
    width: int, share: float
) -> None:
    cell = max(2, floor(width / COLUMNS * share))
    lefts = columns(width, cell)
    assert (COLUMNS, ROWS, COLUMNS * ROWS, BLOCK) == (32, 16, SLOTS, 16)
    assert len(lefts) == COLUMNS
    assert lefts[0] == 0
    assert lefts[-1] + cell == width
    assert all(left == int(left) for left in lefts)
    gap = (width - 32 * cell) / 33
    for column, (left, right) in enumerate(pairwise(lefts), start=1):
        assert abs(right - left - cell - gap * (3 if column == BLOCK else 1)) <= 1


def read_board(
    root: ElementTree.Element, left: float = 0, top: float = 0
) -> dict[int, Counter[str]]:
    """Which shapes are drawn in which slot: the colour of each, by slot."""
    lefts = columns(744, 20)
    found: dict[int, Counter[str]] = {}
    for drawn in root.iter(f"{SVG}path"):
        pen = drawn.attrib
        kind = "cell" if pen.get("stroke-linejoin") else "dot" if "fill" not in pen else "line"
        for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", pen["d"]):
            column = max(c for c, edge in enumerate(lefts) if edge <= float(x) - left + 1e-6)
            row = int((float(y) - top + 1e-6) // 23)
            assert float(x) - left <= lefts[column] + 20
            assert float(y) - top <= row * 23 + 20
            found.setdefault(row * 32 + column, Counter())[f"{kind} {pen['stroke']}"] += 1
    return found


def wanted(state: str, hollow: bool) -> Counter[str]:
    kinds = {"cell": "cell", "dot": "dot"}
    return Counter(
        f"{kinds.get(shape[0], 'line')} {CSS_COLOURS[shape[-1]]}" for shape in shapes(state, hollow)
    )


@examples
@given(st.integers(0, 10**9), st.booleans())
def test_the_board_s_picture_has_each_slot_s_marks_in_its_place(seed: int, hollow: bool) -> None:
    slots = Random(seed).choices(list(LOOKS), k=SLOTS)
    root = ElementTree.fromstring(board_svg(slots, hollow, CSS_COLOURS, "a \"b\" & 'c' <d>"))
    assert root.attrib["aria-label"] == "a \"b\" & 'c' <d>"
    assert root.attrib["viewBox"] == "0 0 744 365"
    drawn = read_board(root)
    assert [drawn[slot] for slot in range(SLOTS)] == [wanted(state, hollow) for state in slots]


def test_a_cell_is_drawn_to_its_measure() -> None:
    """Golden: a bonus, a rejected, a newest and a hollow plain cell, 100 px wide."""
    plain = {role: role for role in CSS_COLOURS}

    def drawn(state: str, hollow: bool = False) -> list[str]:
        root = ElementTree.fromstring(swatch(state, hollow, 100, plain))
        assert root.attrib["viewBox"] == "0 0 100 100"
        assert (root.attrib["width"], root.attrib["height"]) == ("100", "100")
        return [
            " ".join([one.attrib["d"], *(f"{k}={v}" for k, v in one.attrib.items() if k != "d")])
            for one in root
        ]

    cell = "M20 20h60v60h-60z fill={0} stroke={0} stroke-width=40 stroke-linejoin=round"
    assert drawn("bonus") == [
        cell.format("bonus"),
        "M50 50h0 stroke=on stroke-width=26 stroke-linecap=round",
    ]
    assert drawn("rejected") == [
        cell.format("rejected"),
        "M30 30L70 70 fill=none stroke=on stroke-width=12",
        "M30 70L70 30 fill=none stroke=on stroke-width=12",
    ]
    assert drawn("newest") == [
        cell.format("ground"),
        "M20 5h60a15 15 0 0 1 15 15v60a15 15 0 0 1 -15 15h-60a15 15 0 0 1 -15 -15v-60"
        "a15 15 0 0 1 15 -15z fill=none stroke=bonus stroke-width=10",
        "M30 50a20 20 0 1 0 40 0a20 20 0 1 0 -40 0 fill=none stroke=bonus stroke-width=10",
    ]
    assert drawn("plain", hollow=True) == [
        cell.format("ground"),
        "M20 6h60a14 14 0 0 1 14 14v60a14 14 0 0 1 -14 14h-60a14 14 0 0 1 -14 -14v-60"
        "a14 14 0 0 1 14 -14z fill=none stroke=muted stroke-width=12",
        "M28 50L72 50 fill=none stroke=muted stroke-width=14",
    ]


@pytest.mark.parametrize(
    ("params", "tick"),
    [
        (Params(draft_cost=0.1), 60),
        (Params(kv_cache=False), 9),
        (Params(evictions=(100,)), 103),
        (Params(speculation=False), 600),
    ],
)
def test_a_scene_s_picture_shows_its_board_its_words_and_its_numbers(
    params: Params, tick: int
) -> None:
    run = Run(params)
    text = scene_svg(run, tick, CSS_COLOURS)
    root = ElementTree.fromstring(text)
    ground, heading, board, *rest = root
    assert ground.attrib["fill"] == CSS_COLOURS["ground"]
    assert (ground.attrib["width"], ground.attrib["height"]) == (
        root.attrib["width"],
        root.attrib["height"],
    )
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    assert heading.attrib["font-weight"] == "600"
    assert board.attrib["transform"] == "translate(20 42)"
    hollow = not params.kv_cache
    drawn = read_board(board)
    assert [drawn[slot] for slot in range(SLOTS)] == [
        wanted(state, hollow) for state in run.slots(tick)
    ]
    report = run.report(tick)
    lines = [word for word in rest if word.tag == f"{SVG}text"]
    legend = [state for state in LOOKS if state in run.slots(tick) and state != EMPTY]
    assert [word.text for word in lines[: len(legend)]] == [LOOKS[s].legend for s in legend]
    swatches = [one for one in rest if one.tag == f"{SVG}g"]
    assert len(swatches) == len(legend)
    for state, one, word in zip(legend, swatches, lines, strict=False):
        assert Counter(f"{_kind(p)} {p.attrib['stroke']}" for p in one) == wanted(state, hollow)
        x, y = map(float, re.findall(r"[\d.]+", one.attrib["transform"]))
        assert (float(word.attrib["x"]) - x, float(word.attrib["y"]) - y) == (22, 12)
        assert word.attrib["fill"] == CSS_COLOURS["muted"]
        assert y > 42 + 365, "below the board"
    told = " ".join(
        word.text or "" for word in lines[len(legend) :] if "ink" in word.attrib["fill"]
    )
    theory = report["theory_speedup"]
    assert told == (
        f"tokens / verify pass {report['tokens_per_pass']:.2f} "
        f"(theory {report['theory_tokens_per_pass']:.2f}) · speedup {report['speedup']:.2f}× "
        f"(theory {f'{theory:.2f}×' if theory else '–'}) · {report['tokens']} tokens · "
        f"{report['positions_computed']} positions computed"
    )
    set_to = " ".join(
        word.text or "" for word in lines[len(legend) :] if "muted" in word.attrib["fill"]
    )
    assert set_to == f"{LANES_TOLD} {told_settings(params)}"
    (lanes,) = (one for one in rest if one.tag == f"{SVG}svg")
    clocked = clock(run, tick, int(lanes.attrib["width"]))
    paths = {path.attrib["d"] for path in lanes.iter(f"{SVG}path")}
    assert {path for path in clocked.lane.values() if path} <= paths
    assert {clocked.plain, clocked.now, *filter(None, [clocked.evicted])} <= paths
    tokens = [word.text for word in lanes.iter(f"{SVG}text")]
    assert tokens == [f"+{number}" for _, number in clocked.tallies]
    # No two words lie on one another.
    places = [(float(word.attrib["x"]), float(word.attrib["y"])) for word in (heading, *lines)]
    assert len(set(places)) == len(places)
    assert max(y for _, y in places) + 20 == float(root.attrib["height"])


def _kind(drawn: ElementTree.Element) -> str:
    pen = drawn.attrib
    return "cell" if pen.get("stroke-linejoin") else "dot" if "fill" not in pen else "line"


def test_what_is_told_in_place_of_the_numbers_is_escaped_and_wrapped() -> None:
    told = 'is 1 < 2 & "3"? ' * 30
    root = ElementTree.fromstring(scene_svg(Run(Params()), 0, PALETTES["light"], told))
    lines = [word.text or "" for word in root.iter(f"{SVG}text")]
    shown = [line for line in lines if "is 1" in line or "1 <" in line]
    assert len(shown) > 3
    assert " ".join(shown) == told.strip()
    assert max(map(len, shown)) <= 101
    assert not any("theory" in line for line in lines)


def test_a_bar_is_laid_part_behind_part() -> None:
    parts = bar_parts({"useful": 50, "wasted": 20.25, "redone": 9})
    root = ElementTree.fromstring(f"<svg>{parts}</svg>")
    assert [(r.attrib["class"], r.attrib["x"], r.attrib["width"]) for r in root] == [
        ("useful", "0.0", "50.0"),
        ("wasted", "50.0", "20.2"),
        ("redone", "70.2", "9.0"),
    ]


def test_the_strip_s_cells_carry_their_words_escaped() -> None:
    """Coins are written with < and ≥, and a title may hold anything."""
    cell = StripCell(REJECTED, "×", "0.85 ≥ 0.8", 'draft 1: "rejected" <0.85 & more>')
    accepted = StripCell("accepted", "✓", "0.12 < 0.8", "")
    plain = StripCell("discarded", "", "—", "")
    root = ElementTree.fromstring(f"<p>{strip_html(Strip('', (cell, accepted, plain)))}</p>")
    assert [one.attrib["class"] for one in root] == [
        "cell rejected",
        "cell accepted",
        "cell discarded",
    ]
    assert root[0].attrib["title"] == cell.label
    assert ["".join(one.itertext()) for one in root] == ["×0.85 ≥ 0.8", "✓0.12 < 0.8", "—"]
    assert [(one.findtext("small/i") or "") for one in root] == [" ≥ 0.8", " < 0.8", ""]
    back = ElementTree.fromstring(strip_html(Strip("", (), 0.75)))
    assert [(r.attrib["class"], r.attrib["width"]) for r in back] == [
        ("useful", "75.0"),
        ("redone", "25.0"),
    ]


# Playback: times here are sums of 1/64 s, which add up exactly

FRAME = 1 / 64


def played(run: Run, speed: float, frames: int, tick: int = 0) -> list[int]:
    """The tick that each frame shows, the first at the moment of the press."""
    playback, shown = Playback(), []
    playback.play()
    for frame in range(frames + 1):
        tick = playback.advance(100 + frame * FRAME, run, tick, speed)
        shown.append(tick)
    return shown


@pytest.mark.parametrize("speed", [1.0, 4.0, 8.0, 32.0])
@pytest.mark.parametrize(
    "params",
    [
        Params(draft_cost=0),
        Params(draft_cost=0.5, draft_length=2),
        Params(draft_cost=0, batch_size=64, knee=16, draft_length=3),  # 16 units: two seconds each
        Params(draft_cost=0, evictions=(4,), batch_size=2, knee=16, recompute_chunk=16),
    ],
)
def test_each_tick_stays_as_long_as_the_pass_after_it_takes(params: Params, speed: float) -> None:
    run, frames = Run(params), 64 * 9
    ends, clock = [], 0.0
    for tick in range(400):
        clock += min(2, (run.at(tick + 1).time - run.at(tick).time) / speed)
        ends.append(clock)
    assert played(run, speed, frames) == [
        sum(end <= frame * FRAME for end in ends) for frame in range(frames + 1)
    ]


def test_one_frame_catches_up_with_a_quarter_of_a_second_at_most() -> None:
    run, playback = Run(Params(draft_cost=0)), Playback()
    playback.play()
    assert playback.advance(5, run, 0, 16) == 0, "the first frame has nothing to catch up with"
    assert playback.advance(5.25, run, 0, 16) == 4
    assert playback.advance(9999, run, 4, 16) == 8
    assert playback.advance(9999 + FRAME, run, 8, 64) == 9


def test_a_press_on_play_starts_a_whole_tick_and_forgets_the_time_between() -> None:
    run, playback = Run(Params(draft_cost=0)), Playback()
    playback.play()
    playback.advance(0, run, 10, 4)
    assert playback.advance(0.125, run, 10, 4) == 10  # half of a tick
    playback.pause()
    assert not playback.moving
    playback.play()
    assert playback.advance(7, run, 10, 4) == 10
    assert playback.advance(7.1875, run, 10, 4) == 10
    assert playback.advance(7.25, run, 10, 4) == 11


def test_it_stops_at_the_horizon_and_moves_only_while_something_does() -> None:
    run, playback = Run(Params(draft_cost=0)), Playback()
    assert not playback.moving
    assert not playback.playing
    assert playback.phase(0, run, 60, 1) == "keep"
    playback.play()
    assert playback.moving
    assert playback.advance(0, run, HORIZON - 1, 8) == HORIZON - 1
    assert playback.playing
    assert playback.advance(0.25, run, HORIZON - 1, 8) == HORIZON
    assert not playback.moving
    playback.step()
    assert playback.moving
    assert not playback.playing
    playback.pause()
    assert not playback.moving
    playback.step()
    playback.play()
    playback.pause()
    assert playback.phase(0, run, 60, 8) == "keep", "playing ends the phases of a step"


@pytest.mark.parametrize(("cost", "speed"), [(0, 1.0), (0, 4.0), (0.25, 1.0), (0, 0.5)])
def test_a_pass_played_slowly_has_three_phases_of_one_length(cost: float, speed: float) -> None:
    """Thirds of the time that the tick stays, however dear its pass is."""
    run = Run(Params(draft_cost=cost))
    stays = (1 + 4 * cost) / speed
    playback = Playback()
    playback.play()
    for frame in range(int(stays / FRAME)):
        assert playback.advance(frame * FRAME, run, 7, speed) == 7
        third = int(3 * frame * FRAME / stays)
        assert playback.phase(frame * FRAME, run, 7, speed) == ("draft", "verify", "keep")[third]


def test_quick_playing_and_the_ends_of_a_run_have_no_phases() -> None:
    run, playback = Run(Params(draft_cost=0)), Playback()
    playback.play()
    playback.advance(0, run, 5, 4)
    assert playback.phase(0, run, 5, 4) == "draft"
    assert playback.phase(0, run, 1, 4) == "draft"
    assert playback.phase(0, run, HORIZON - 1, 4) == "draft"
    assert playback.phase(0, run, 5, 4.01) == "keep"
    assert playback.phase(0, run, 0, 4) == "keep", "no pass has been made yet"
    assert playback.phase(0, run, HORIZON, 4) == "keep"


def test_a_step_is_told_in_three_phases_from_its_first_frame_and_then_rests() -> None:
    run, playback = Run(Params()), Playback()
    playback.step()
    told = [(at, playback.phase(50 + at, run, 5, 8)) for at in (0, 0.79, 0.81, 1.59, 1.61, 2.39)]
    assert [phase for _, phase in told] == ["draft", "draft", "verify", "verify", "keep", "keep"]
    assert playback.moving
    assert playback.phase(52.41, run, 5, 8) == "keep"
    assert not playback.moving
    playback.step()
    assert playback.phase(60, run, 6, 8) == "draft", "each step begins anew"
    playback.step()
    assert playback.phase(61.5, run, 7, 8) == "draft"


def test_with_a_step_open_the_speed_does_not_matter() -> None:
    run = Run(replace(Params(), draft_cost=0))
    for speed in (1.0, 60.0):
        playback = Playback()
        playback.step()
        assert playback.phase(0, run, 3, speed) == "draft"
        assert playback.phase(1, run, 3, speed) == "verify"
