"""The numbers of the charts, of their tables and of the text, found again another way."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.chart import OTHERS, Chart, Table, table_html
from sim.labs.charts import CHARTS, length_data, length_table
from sim.labs.ensemble import ensemble, spread
from sim.labs.map_chart import HIGHEST, LENGTHS, LOWEST, RATES, Costs, best_at, map_data, map_table
from sim.labs.run_charts import (
    TICKS,
    TOLD_TICKS,
    RunAt,
    luck_data,
    luck_spread,
    luck_table,
    yield_data,
    yield_spread,
    yield_table,
)
from sim.params import HORIZON, Params
from sim.run import Run
from sim.settings import updated
from sim.view import View
from sim.work import finish
from tests.labs.cells import Cells
from tests.oracle import chances
from tests.strategies import params_of_rules

EXAMPLES = int(os.environ.get("BONUS_TOKEN_EXAMPLES", "25"))
few = settings(max_examples=max(4, EXAMPLES // 3))

SETTINGS = [
    Params(draft_cost=0.0),
    Params(draft_length=12, acceptance_rate=0.6, draft_cost=0.1, evictions=(20, 400)),
    Params(batch_size=64, knee=32, draft_cost=0.05, draft_length=17),
    Params(kv_cache=False, draft_length=3, acceptance_rates=(0.95, 0.2)),
    Params(speculation=False, evictions=(3,)),
]
every_setting = pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))


def theory(rates: tuple[float, ...]) -> float:
    return sum(n * chance for n, chance in enumerate(chances(rates), start=1))


def worth(params: Params, k: int, rate: float | None = None) -> float:
    """The speedup to expect of k drafts, from the model's own words."""
    given = (rate,) if rate is not None else params.acceptance_rates or (params.acceptance_rate,)
    rates = tuple([*given, *[given[-1]] * k][:k])

    def pass_time(tokens: int) -> float:
        return max(1, tokens / params.knee)

    plain = pass_time(params.batch_size)
    drafting = (getattr(params, "round_cost", 0.0) + k * params.draft_cost) * plain
    return theory(rates) * plain / (drafting + pass_time(params.batch_size * (1 + k)))


# What another draft buys; where speculation wins


@every_setting
def test_each_draft_length_has_what_it_would_bring_whatever_the_scene_s_is(params: Params) -> None:
    given = params.acceptance_rates or (params.acceptance_rate,)
    rows = length_table(length_data(params)).rows
    assert [row[0] for row in rows] == [str(k) for k in range(1, 17)]
    for k, row in enumerate(rows, start=1):
        assert row[1] == f"{theory(tuple([*given, *[given[-1]] * k][:k])):.2f}"
        assert row[2] == (f"{worth(params, k):.2f}" if params.kv_cache else "–")
    here = length_data(params)["here"]
    assert {row["k"] for row in here} == (
        {params.draft_length} if params.speculation and params.draft_length <= 16 else set()
    )


@every_setting
def test_the_map_crosses_one_where_the_speedup_does(params: Params) -> None:
    data = map_data(params)
    crossings: dict[int, float] = {}
    for k in LENGTHS:
        low, high = 0.01, 0.99
        if worth(params, k, low) < 1 <= worth(params, k, high):
            while high - low > 1e-7:
                middle = (low + high) / 2
                low, high = (middle, high) if worth(params, k, middle) < 1 else (low, middle)
            crossings[k] = high
    assert {row["k"]: row["alpha"] for row in data["even"]} == pytest.approx(crossings, abs=2e-4)
    placed = params.speculation and not params.acceptance_rates and params.draft_length <= 16
    here = [{"k": params.draft_length, "alpha": params.acceptance_rate}]
    assert data["here"] == (here if placed else [])


@every_setting
def test_the_table_of_the_map_leads_to_the_best_draft_length_and_keeps_the_rest(
    params: Params,
) -> None:
    table = map_table(params, 77)
    assert [row[0] for row in table.rows] == [f"0.{n}" for n in range(1, 10)]
    for (told, best, brings), address in zip(table.rows, table.links, strict=True):
        rate = float(told)
        most = max(worth(params, k, rate) for k in LENGTHS)
        (found,) = map(int, re.findall(r"\d+", best))
        assert worth(params, found, rate) == pytest.approx(most, rel=1e-14)
        free = params.draft_cost == 0
        assert best == (
            f"none gains; {found} loses least"
            if most <= 1
            else f"the longer, the better; {found} here"
            if free
            else str(found)
        )
        assert brings == f"{most:.2f}"
        keys = dict(parse_qsl(address.removeprefix("?")))
        place = replace(
            params,
            speculation=True,
            draft_length=found,
            acceptance_rate=rate,
            acceptance_rates=(),
        )
        assert updated(Params(), keys) == (place, [])
        assert updated(View(), keys) == (View(tick=77), [])


def test_the_map_s_rates_are_rows_that_meet() -> None:
    """From one row's foot to the next row's, with none cut off at either end."""
    assert [row["alpha"] for row in map_data(SETTINGS[0])["cells"][:99]] == list(RATES)
    assert pytest.approx((0.005, 0.995)) == (LOWEST, HIGHEST)
    assert [after - before for before, after in pairwise(RATES)] == pytest.approx([0.01] * 98)


def test_a_map_on_which_no_length_gains_has_no_ridge_and_says_so() -> None:
    """Far past the knee, with drafts for nothing, one draft loses least and none wins."""
    data = map_data(Params(batch_size=512, knee=1, draft_cost=0.0))
    assert data["best"] == []
    ((said,),) = [row.values() for row in data["none"]]
    assert "none is faster" in said
    assert best_at(Costs(0.0, 0.0, 512, 1), 0.3)[::2] == (1, "loses")


def test_a_map_of_free_drafts_has_no_ridge_of_rounding_noise_and_says_so() -> None:
    """Powers of a small rate are lost in the sum: the gains are there, and never end."""
    data = map_data(Params(draft_cost=0.0, batch_size=15, knee=256))
    assert data["best"] == []
    ((said,),) = [row.values() for row in data["none"]]
    assert "longer ones never slower" in said
    # One position more in each sequence is past the knee, and costs time.
    past = map_data(Params(draft_cost=0.0, batch_size=16, knee=256))
    assert past["none"] == []
    assert {row["k"] for row in past["best"] if row["alpha"] < 0.5} == {15}


def test_the_ridge_begins_where_a_length_gains_compared_unrounded() -> None:
    """One draft at α = c is exactly even: (1 + α) ÷ (1 + c)."""
    for cost in (0.1, 0.07, 0.3):
        rates = [row["alpha"] for row in map_data(Params(draft_cost=cost))["best"]]
        assert rates == [rate for rate in RATES if rate > cost]
        assert map_data(Params(draft_cost=cost))["none"] == []


# What a pass yields; how luck evens out


def per_cent(share: float) -> str:
    return f"{100 * share:.0f} %"


@every_setting
@pytest.mark.parametrize("tick", [0, 1, 25, 410])
def test_yields_are_shares_of_this_run_s_verify_passes(params: Params, tick: int) -> None:
    run = Run(params)
    k = len(params.rates)
    data = yield_data(run, tick)
    assert [row["share"] for row in data["theory"]] == pytest.approx(chances(params.rates))
    assert [row["tokens"] for row in data["theory"]] == list(range(1, k + 2))
    records = [one for at in range(1, tick + 1) if (one := run.verify_pass_at(at))]
    made = Counter(one.accepted + 1 for one in records)
    shares = [made[n] / len(records) for n in range(1, k + 2)] if records else []
    assert [row["share"] for row in data["here"]] == shares
    assert [row["tokens"] for row in data["here"]] == (list(range(1, k + 2)) if records else [])
    others = finish(yield_spread(run, tick))
    plain, full = yield_table(run, tick, data), yield_table(run, tick, {**data, OTHERS: others})
    assert [row[3] for row in plain.rows] == ["–"] * (k + 1)
    for n, row in enumerate(full.rows):
        assert row[0] == str(n + 1)
        assert row[1] == (per_cent(shares[n]) if shares else "–")
        assert row[2] == per_cent(chances(params.rates)[n])
    if tick:
        columns = finish(finish(ensemble(params)).shares(tick))
        for row, runs in zip(full.rows, columns, strict=True):
            ordered = sorted(float(share) for share in runs)
            assert row[3] == f"{per_cent(ordered[50])} to {per_cent(ordered[949])}"


def test_ticks_are_dense_at_first_and_end_at_the_horizon() -> None:
    assert TICKS[0] == 1
    assert TICKS[-1] == TOLD_TICKS[-1] == HORIZON == 1200
    assert list(TICKS) == sorted(set(TICKS))
    assert all(after <= 1.13 * before + 1 for before, after in pairwise(TICKS))
    assert 40 < len(TICKS) <= 60


@every_setting
@pytest.mark.parametrize("tick", [0, 1, 10, 77, 1200])
def test_the_line_of_luck_and_its_table_stop_where_the_run_is(params: Params, tick: int) -> None:
    run = Run(params)
    data = luck_data(run, tick)
    ticks = sorted({at for at in TICKS if at <= tick} | ({tick} if tick else set()))
    assert [row["tick"] for row in data["run"]] == ticks
    per_pass = {at: run.report(at)["tokens_per_pass"] for at in range(1, tick + 1)}
    assert [row["value"] for row in data["run"]] == [per_pass[at] for at in ticks]
    assert data["here"] == data["run"][-1:]
    expected = pytest.approx(theory(params.rates))
    assert [(row["tick"], row["value"]) for row in data["theory"]] == [
        (1, expected),
        (1200, expected),
    ]
    least, most = (row["value"] for row in data["range"])
    told = chances(params.rates)
    usual = min(n for n in range(1, len(told) + 1) if sum(told[:n]) >= 0.95 or n == len(told))
    assert (least, most) == (1, usual)

    others = finish(luck_spread(run, tick))
    table = luck_table(run, tick, {**data, OTHERS: others})
    assert [int(row[0]) for row in table.rows] == sorted({*TOLD_TICKS, *([tick] if tick else [])})
    runs = finish(ensemble(params))
    for at, here, of_theory, nine in table.rows:
        assert here == (f"{per_pass[int(at)]:.2f}" if int(at) <= tick else "–")
        assert of_theory == f"{theory(params.rates):.2f}"
        ordered = sorted(float(value) for value in runs.tokens_per_pass(int(at)))
        assert nine == f"{ordered[50]:.2f} to {ordered[949]:.2f}"
    assert {row[3] for row in luck_table(run, tick, data).rows} == {"–"}


def test_bands_are_quantiles_of_the_thousand_at_every_tick_told() -> None:
    params = SETTINGS[1]
    rows = finish(luck_spread(Run(params), 333))
    assert [row["tick"] for row in rows] == sorted({*TICKS, *TOLD_TICKS, 333})
    for row in rows[:: len(rows) // 9]:
        ordered = sorted(map(float, finish(ensemble(params)).tokens_per_pass(row["tick"])))
        found = [row[name] for name in ("low", "lower", "upper", "high")]
        assert found == [ordered[50], ordered[250], ordered[749], ordered[949]]
    assert finish(luck_spread(Run(params), 0))[0]["tick"] == 1


@few
@given(params_of_rules, st.sampled_from([1, 40, 200, 600, 1200]))
def test_the_thousand_live_by_the_rules_too(params: Params, tick: int) -> None:
    """What holds for any run: no more verify passes than ticks, one token and k more at most each.

    Evictions cost every run alike what its own window holds; shares add up.
    """
    runs = finish(ensemble(params))
    passes, tokens = runs.verify_passes(tick), runs.tokens(tick)
    assert len(passes) == len(tokens) == 1000
    assert (passes <= tick).all()
    assert (passes >= 1).all()
    assert (tokens >= passes).all()
    assert (tokens <= passes * (1 + len(params.rates))).all()
    assert (runs.tokens_per_pass(tick) == tokens / passes).all()
    shares = finish(runs.shares(tick))
    assert shares.shape == (1 + len(params.rates), 1000)
    assert shares.sum(axis=0) == pytest.approx(1)
    yields = np.arange(1, 2 + len(params.rates)) @ shares
    assert yields == pytest.approx(tokens / passes)
    quiet = finish(ensemble(replace(params, evictions=())))
    assert (quiet.verify_passes(tick) == tick).all()
    if not params.kv_cache:
        assert (passes == tick).all()


@pytest.mark.parametrize(("chunk", "passes"), [(510, 2), (511, 1), (512, 1), (73, 7), (16, 32)])
def test_a_full_window_is_filled_again_but_for_its_newest_position(chunk: int, passes: int) -> None:
    params = Params(evictions=(400,), recompute_chunk=chunk)
    assert set(finish(ensemble(params)).verify_passes(900)) == {900 - passes}
    assert Run(params).at(900).recompute_passes == passes


def test_a_quantile_is_a_value_that_a_run_has() -> None:
    low, high = spread(np.array([[5.0, 1.0, 4.0, 2.0, 3.0], [9.0] * 5]), 0.25, 0.75)
    assert low.tolist() == [2.0, 9.0]
    assert high.tolist() == [4.0, 9.0]


# Tables


def test_a_table_is_written_cell_by_cell_and_escaped() -> None:
    chart = replace_title(CHARTS[0], "a < b & c")
    table = Table(["<k>", "x & y"], [["1 < 2", "3 & 4"], ["5", "<6>"]], ["?k=1&alpha=2", ""])
    found = Cells(table_html(chart, table)).seen
    assert [tag for tag, _, _ in found] == [
        *("caption", "thead", "tr", "th", "th", "tbody"),
        *("tr", "th", "a", "td", "tr", "th", "td"),
    ]
    assert [text for tag, _, text in found if tag in ("caption", "th", "td", "a")] == [
        "a < b & c", "<k>", "x & y", "", "1 < 2", "3 & 4", "5", "<6>",
    ]  # fmt: skip
    scopes = [attrs.get("scope") for tag, attrs, _ in found if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    (place,) = [attrs for tag, attrs, _ in found if tag == "a"]
    assert place == {"href": "./?k=1&alpha=2", "data-scene": "chart"}
    assert "<a " not in table_html(chart, Table(["a"], [["1"]]))
    with pytest.raises(ValueError, match="zip"):
        table_html(chart, Table(["a"], [["1"], ["2"]], ["?k=1"]))


def replace_title(chart: Chart[RunAt], title: str) -> Chart[RunAt]:
    return chart._replace(title=title)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_each_chart_tells_its_scene_s_own_run_and_tick(chart: Chart[RunAt]) -> None:
    """Its data follow the run; a chart of runs follows the tick too, and no other does."""
    one = Run(Params(draft_cost=0.0))
    other = Run(Params(draft_cost=0.3, acceptance_rate=0.6, batch_size=8))
    of_no_scene = chart.name in ("overlap", "memory")
    assert (chart.data(RunAt(one, 60)) != chart.data(RunAt(other, 60))) != of_no_scene
    follows = chart.name in ("positions", "yields", "luck")
    assert (chart.data(RunAt(one, 60)) != chart.data(RunAt(one, 61))) == follows
    assert chart.renderer == ("canvas" if chart.name == "map" else "svg")
    assert (chart.spread is not None) == (chart.name in ("yields", "luck"))
    assert len({chart.title for chart in CHARTS}) == len(CHARTS)
