"""What is said of a run is what happened in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from sim import session as actions
from sim.cache import ACCEPTED, BONUS, DISCARDED, EMPTY, EVICTED, PLAIN, PROPOSED, REJECTED
from sim.narrator import sentence
from sim.params import HORIZON, Params
from sim.picture import CSS_COLOURS, board_svg, emphasised, strip_html
from sim.plot import HEIGHT, band, path, scale
from sim.run import Run
from sim.session import opened
from sim.story import describe_slot, figures, summary
from sim.strip import strip
from sim.theory import best_length, expected_speedup
from static.playback import LONGEST, Playback
from tests.strategies import any_params, ticks


def said(tick: int, **params: Any) -> tuple[str, str]:
    return sentence(Run(Params(**params)), tick)[:2]


def test_the_sentence_says_why_speculation_loses() -> None:
    tone, text = said(1200, acceptance_rate=0.1, draft_length=12, draft_cost=0.1)
    assert tone == REJECTED
    assert "Slower than plain decoding (0.50×)" in text
    assert "2.20 plain passes (1.20 for 12 drafts)" in text
    tone, text = said(170, batch_size=64, knee=32, draft_cost=0.05, evictions=(100,))
    assert "5.00 to check 320 tokens, past the knee of 32" in text
    tone, text = said(12, draft_cost=0, acceptance_rate=0.2, evictions=tuple(range(1, 11)))
    assert tone == EVICTED
    assert "computing evicted positions again" in text


def test_the_better_length_is_named_with_its_gain_and_taken() -> None:
    session = opened({"k": "12", "alpha": "0.55"})[0]
    told = sentence(session.run, 60)
    assert told.text.endswith(" These twelve drafts give 1.01× by theory, three would give 1.55×.")
    assert (told.tone, told.better) == (REJECTED, 3)
    taken, _ = actions.better(session)
    assert taken.params == Params(draft_length=3, acceptance_rate=0.55)
    assert sentence(taken.run, 60).better is None
    without, _ = actions.better(opened({"batch": "300"})[0])
    assert not without.params.speculation
    again, _ = actions.better(replace(without, params=Params(speculation=False)))
    assert again.params == Params(draft_length=6)


@given(any_params)
def test_no_length_is_better_than_the_better_one(params: Params) -> None:
    length, speedup = best_length(params)
    cached = replace(params, kv_cache=True, speculation=True)
    by_length = [1.0] + [
        expected_speedup(replace(cached, draft_length=k)) or 0 for k in range(1, 33)
    ]
    assert speedup == max(by_length)
    assert length == by_length.index(speedup)


def test_the_sentence_tells_what_an_eviction_costs() -> None:
    assert said(300, evictions=(300,))[1].startswith(
        "The cache is evicted. 511 positions must be computed again before the next token: "
        "8 passes, 8 units of time"
    )
    assert (
        "5 passes so far went into computing the same 320 positions"
        in said(139, evictions=(134,))[1]
    )
    batch = said(300, evictions=(300,), batch_size=64, knee=64, recompute_chunk=512)[1]
    assert "1 pass, 511 units of time" in batch


def test_without_a_cache_time_hides_the_work_until_the_knee() -> None:
    assert "Time hides it" in said(60, kv_cache=False)[1]
    assert "Past the knee of 256" in said(300, kv_cache=False)[1]


@settings(max_examples=60)
@given(any_params, ticks)
def test_every_scene_can_be_told_and_drawn(params: Params, tick: int) -> None:
    run = Run(params)
    texts = [sentence(run, tick).text, strip(run, tick).caption, summary(run, tick)]
    texts += figures(run.report(tick), run).values()
    texts += [describe_slot(run, tick, slot) for slot in (0, 37, 511)]
    for text in texts:
        assert not re.search(r"None|nan|inf\b|-\d", text), text
    assert len(texts[0]) < 240
    assert path(run, tick).count("L") <= 400
    assert "nan" not in band(run, tick)


def test_the_strip_shows_each_coin_against_its_rate_and_where_the_run_stops() -> None:
    run = Run(Params())
    tick = next(t for t in range(1, 99) if run.at(t).accepted - run.at(t - 1).accepted == 2)
    told = strip(run, tick)
    assert [cell.state for cell in told.cells] == [
        ACCEPTED, ACCEPTED, REJECTED, DISCARDED, EMPTY,
    ]  # fmt: skip
    assert re.fullmatch(r"0\.\d\d < 0\.8", told.cells[0].coin)
    assert re.fullmatch(r"0\.\d\d ≥ 0\.8", told.cells[2].coin)
    assert told.cells[3].coin == "—"
    assert "**2 accepted**" in told.caption


def test_a_coin_never_seems_to_have_crossed_its_rate() -> None:
    coins = [cell.coin for t in range(1, 400) for cell in strip(Run(Params()), t).cells]
    shown = [coin.split() for coin in coins if "0.8" in coin]
    assert len(shown) > 500
    assert all((float(coin) < float(rate)) == (sign == "<") for coin, sign, rate in shown)


def test_phases_hold_back_verdicts_and_the_passes_own_token() -> None:
    run = Run(Params(acceptance_rate=1))
    draft, verify, keep = (strip(run, 9, phase) for phase in ("draft", "verify", "keep"))
    assert [cell.state for cell in draft.cells] == [PROPOSED] * 4 + [EMPTY]
    assert verify.cells[:-1] == keep.cells[:-1]
    assert verify.cells[-1].state == EMPTY
    assert keep.cells[-1].state == BONUS


def test_the_strip_counts_what_is_missing_until_the_cache_is_whole() -> None:
    run = Run(Params(evictions=(134,)))
    assert strip(run, 134).restored == 0
    assert "133 still missing" in strip(run, 139).caption
    assert "whole again" in strip(run, 142).caption
    assert strip(run, 143).cells
    assert strip(run, 0).cells == ()
    assert strip(Run(Params(speculation=False)), 3).cells[0].state == PLAIN


def test_a_slot_is_described_by_position_state_and_tick() -> None:
    run = Run(Params())
    assert describe_slot(run, 60, 0) == "slot 0, position 0: ordinary token; the prompt"
    assert describe_slot(run, 60, 3).startswith("slot 3, position 3: ")
    assert describe_slot(run, 60, 400) == "slot 400: empty"
    assert "position 515" in describe_slot(run, 160, 3)


def test_the_plot_covers_one_token_to_all_drafts_and_a_bonus() -> None:
    run = Run(Params())
    assert scale(run, 1) == HEIGHT
    assert scale(run, 3) > scale(run, 4) > scale(run, 5) == scale(run, 6) > 0
    assert path(run, 0) == ""
    assert path(run, 500).endswith(f"500 {scale(run, run.report(500)['tokens_per_pass']):.1f}")


def test_recompute_passes_do_not_narrow_the_band() -> None:
    often = Params(evictions=tuple(range(100, 400, 10)))
    assert band(Run(often), 400) != band(Run(Params()), 400)
    assert band(Run(often), 99) == band(Run(Params()), 99)


def test_svg_and_html_are_well_formed() -> None:
    from xml.etree import ElementTree

    run = Run(Params(evictions=(30,), kv_cache=True))
    for tick in (0, 29, 30, 31, 60):
        ElementTree.fromstring(board_svg(run.slots(tick), tick == 60, CSS_COLOURS, "a < b & c"))
        ElementTree.fromstring("<div>" + strip_html(strip(run, tick), free=True) + "</div>")
    assert emphasised("a **b** < c") == "a <b>b</b> &lt; c"


# Playback


def play(run: Run, speed: float, seconds: float, fps: int = 50, tick: int = 0) -> int:
    playback = Playback()
    playback.play()
    for frame in range(round(seconds * fps) + 1):
        tick = playback.advance(frame / fps, run, tick, speed)
    return tick


def test_playing_spends_model_time_at_its_speed_whatever_the_frame_rate() -> None:
    run = Run(Params(draft_cost=0))
    assert play(run, 8, 10) in (79, 80)
    assert play(run, 8, 10, fps=7) in (79, 80)
    costly = Run(Params(draft_cost=0.5))
    assert play(costly, 8, 12) in (31, 32)


def test_no_pass_is_shown_for_more_than_two_seconds() -> None:
    run = Run(Params(batch_size=512, knee=1))
    assert play(run, 1, 10) in (10 / LONGEST, 10 / LONGEST - 1)


def test_a_tab_that_slept_does_not_leap_and_the_horizon_stops() -> None:
    playback, run = Playback(), Run(Params())
    playback.play()
    playback.advance(0, run, 0, 8)
    assert playback.advance(3600, run, 0, 8) <= 2
    assert playback.advance(3600.5, run, HORIZON, 8) == HORIZON
    assert not playback.playing


def test_phases_follow_a_slow_pass_and_a_step_and_end() -> None:
    playback, run = Playback(), Run(Params())
    playback.play()
    seen = []
    tick = 1
    for frame in range(11):
        tick = playback.advance(frame / 10, run, 1, 1.0)
        seen.append(playback.phase(frame / 10, run, tick, 1.0) if tick == 1 else "next")
    assert list(dict.fromkeys(seen))[:3] == ["draft", "verify", "keep"]
    assert playback.phase(9, run, 1, 30) == "keep"
    playback.pause()
    playback.step()
    assert [playback.phase(at, run, 5, 8) for at in (10, 11, 12, 13)] == [
        "draft", "verify", "keep", "keep",
    ]  # fmt: skip
    assert not playback.moving
