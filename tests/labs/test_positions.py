"""The picture of what each pass computes: its columns hold the positions of the run's passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.chart import Stop
from sim.labs.position_chart import position_data, position_stops, position_table
from sim.params import HORIZON, Params
from sim.run import Run
from tests.labs.scenes import every_setting


def positions_of(run: Run, tick: int) -> tuple[set[int], set[int]]:
    """The positions that the pass of this tick computes, new ones and known ones, one by one."""
    before, after, params = run.at(tick - 1), run.at(tick), run.params
    if after.recompute_passes > before.recompute_passes:
        start, end = before.num_computed_tokens, before.num_tokens - 1
        return set(), set(range(start, min(start + params.recompute_chunk, end)))
    newest = before.num_tokens - 1
    new = {newest + i for i in range(len(params.rates) + 1)}
    known = set() if params.kv_cache else set(range(max(0, before.num_tokens - 512), newest))
    return new, known


def column(rows: list[dict[str, Any]], number: int) -> set[int]:
    """The positions in one column of the chart."""
    return {p for row in rows if row["pass"] == number for p in range(row["first"], row["end"])}


@every_setting
def test_each_column_holds_the_positions_of_its_pass(params: Params) -> None:
    data = position_data(Run(params), 30)
    for kept in (True, False):
        run = Run(replace(params, kv_cache=kept))
        last = next(t for t in range(1, HORIZON + 1) if run.report(t)["tokens"] >= 512)
        area = 0
        for tick in range(1, last + 1):
            new, known = positions_of(run, tick)
            area += len(new) + len(known)
            assert column(data["again" if kept else "without"], tick - 1) == known
            if kept:
                assert column(data["new"], tick - 1) == new
        assert area == run.report(last)["positions_computed"]
        closed = data["new" if kept else "without"]
        assert [row["pass"] for row in closed] == list(range(last + 1))
        assert closed[-1] == {**closed[-2], "pass": last}


@pytest.mark.parametrize("tick", [0, 1, 60, 152, 153, 1200])
def test_the_run_is_put_at_its_pass_and_newest_token_while_the_chart_spans_it(tick: int) -> None:
    for params in (Params(), Params(kv_cache=False)):
        tokens = Run(params).report(tick)["tokens"]
        here = position_data(Run(params), tick)["here"]
        shown = [{"pass": tick - 0.5, "position": tokens}] if 0 < tokens <= 512 else []
        assert here == shown
    assert position_data(Run(Params()), 60)["here"]
    assert not position_data(Run(Params()), 1200)["here"]


@every_setting
def test_the_table_of_positions_tells_what_each_length_took(params: Params) -> None:
    rows = position_table(Run(params)).rows
    assert [row[0] for row in rows] == ["64", "128", "256", "512", "1,024"]
    for tokens, *cells in rows:
        on, off = (
            next(
                report["positions_computed"]
                for report in map(Run(replace(params, kv_cache=kept)).report, range(HORIZON + 1))
                if report["tokens"] >= int(tokens.replace(",", ""))
            )
            for kept in (True, False)
        )
        assert cells == [f"{on:,}", f"{off:,}", f"{off / on:,.0f} ×"]


def test_the_table_of_positions_ends_where_a_run_does() -> None:
    often = tuple(range(400, 1200, 100))
    slow = Params(speculation=False, evictions=often, recompute_chunk=16)
    assert [row[0] for row in position_table(Run(slow)).rows] == ["64", "128", "256", "512"]


@every_setting
def test_a_pass_pointed_at_tells_how_many_positions_it_computes_either_way(params: Params) -> None:
    stops = position_stops(Run(params), position_data(Run(params), 30))
    for tick in (1, 2, 21, 22, 61, 62):
        counts = [
            sum(map(len, positions_of(Run(replace(params, kv_cache=kept)), tick)))
            for kept in (True, False)
        ]
        on, off = (f"{n} position{'s' * (n > 1)}" for n in counts)
        told = f"Pass {tick}: with the cache {on}, without {off}."
        assert stops[tick - 1] == Stop(tick - 0.5, told)


def test_past_its_last_pass_a_run_computes_none_any_more() -> None:
    run = Run(Params(evictions=(100,)))
    stops = position_stops(run, position_data(run, 1))
    assert stops[-1].text.endswith("with the cache 5 positions, without none any more.")
