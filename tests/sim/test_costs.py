"""What drafting costs, wherever it is told: the sentence, the settings, the charts, the figures."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sim.labs.charts import length_data, length_table
from sim.labs.map_chart import LENGTHS, map_data, map_table
from sim.narrator import sentence
from sim.params import PARAMETERS, Params
from sim.run import Run
from sim.story import figures, settings
from sim.strip import strip
from sim.theory import expected_speedup, verify_time
from sim.view import BY_KEY
from sim.words import figure
from tests.server import ROOT

REPORTED = Params(draft_length=1, acceptance_rate=0.966, draft_cost=4.24)


def test_the_sentence_for_losing_names_both_parts_of_what_drafting_costs() -> None:
    assert "costs 5.24 plain passes (4.24 for 1 draft) and" in sentence(Run(REPORTED), 1200).text
    both = replace(REPORTED, round_cost=0.3)
    told = "costs 5.54 plain passes (0.30 a round for drafting, 4.24 for 1 draft) and"
    assert told in sentence(Run(both), 1200).text
    parallel = Params(acceptance_rate=0.1, draft_cost=0, round_cost=0.3)
    told = "costs 1.30 plain passes (0.30 a round for drafting) and"
    assert told in sentence(Run(parallel), 1200).text


@pytest.mark.parametrize(
    ("params", "note"),
    [
        (Params(), ""),
        (Params(draft_cost=0), "if drafting were free"),
        (Params(draft_cost=0, round_cost=0.01), ""),
        (Params(draft_cost=0, batch_size=51, knee=255), "if drafting were free"),
        (Params(draft_cost=0, batch_size=51, knee=254), ""),
        (Params(draft_cost=0, speculation=False), ""),
        (Params(draft_cost=0, speculation=False, round_cost=0.01), ""),
        (Params(draft_cost=0, kv_cache=False, round_cost=0.01), "against a warm cache"),
    ],
)
def test_drafting_is_called_free_up_to_the_knee_where_neither_part_costs_anything(
    params: Params, note: str
) -> None:
    run = Run(params)
    assert figures(run.report(60), run)["theory_note"] == note


def test_costs_are_written_as_they_were_set() -> None:
    both = replace(REPORTED, round_cost=0.35)
    run = Run(both)
    told = figures(run.report(60), run)
    assert told["advanced"] == ": cost a round 0.35, knee 256, seed 0"
    assert "draft cost 4.24 · cost a round 0.35" in settings(both)
    assert "a round" not in settings(REPORTED)


def test_a_very_small_ratio_is_not_written_as_nothing() -> None:
    dear = Params(draft_length=32, acceptance_rate=0, draft_cost=8, round_cost=8)
    worst = replace(dear, batch_size=512, knee=1)
    assert sentence(Run(worst), 60).text.startswith("Slower than plain decoding (0.0034×).")
    assert [figure("speedup", value) for value in (0, 0.0034, 0.0949, 0.0951, 0.375, 2)] == [
        *("0.00", "0.0034", "0.095", "0.10", "0.38", "2.00")
    ]


def test_without_a_cache_what_drafting_costs_is_not_taken_for_the_knee() -> None:
    costs = Params(kv_cache=False, draft_cost=0.1, round_cost=1.5)
    for tick in range(1, 61):
        assert "Time hides it" in sentence(Run(costs), tick).text, tick


def test_the_map_knows_what_a_round_costs_and_its_rows_lead_there() -> None:
    params = Params(round_cost=0.7, draft_cost=0.05)
    cells = {(row["k"], row["alpha"]): row["speedup"] for row in map_data(params)["cells"]}
    for k in LENGTHS:
        there = replace(params, draft_length=k, acceptance_rate=0.6)
        assert cells[k, 0.6] == pytest.approx(expected_speedup(there) or 0, abs=5e-4)
    links = map_table(params, 60).links
    assert links
    assert all("c0=0.7" in link for link in links)


def test_the_price_of_a_pass_is_added_up_from_left_to_right() -> None:
    prices = [
        verify_time(Params(draft_length=k, draft_cost=c, round_cost=c0), 1 + k)
        for c0, c, k in ((0.1, 0.1, 3), (0.2, 0.1, 4), (0.3, 0.13, 12), (0.7, 0.1, 4))
    ]
    assert prices == [1.4, 1.6, 2.8600000000000003, 2.1]


def test_the_element_passes_every_key_on() -> None:
    (keys,) = re.findall(r'const KEYS = "(.*?)"', (ROOT / "static/embed.js").read_text("utf-8"))
    assert set(keys.split()) == set(BY_KEY) - {"embed"}


def test_the_readme_names_every_key_and_every_flag() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (links,) = re.findall(r"A link may set (.*?)\. What", readme, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", links)) == set(BY_KEY)
    (flags,) = re.findall(r"sim run (\[--k .*?)\n    python3", readme, re.DOTALL)
    assert {row.key for row in PARAMETERS} <= set(re.findall(r"\[--(\w+)", flags))


def test_a_coin_close_to_a_rate_of_three_digits_does_not_seem_to_have_crossed_it() -> None:
    for rate in (0.966, 0.9666, 0.805, 1 / 3):
        cells = [
            c for t in range(1, 1201, 3) for c in strip(Run(Params(acceptance_rate=rate)), t).cells
        ]
        shown = [cell.coin.split() for cell in cells if " " in cell.coin]
        assert len(shown) > 400
        for coin, sign, against in shown:
            assert (float(coin) < float(against)) == (sign == "<"), (coin, sign, against)
            assert len(coin) <= 7


def test_the_tables_of_charts_write_a_number_as_the_page_does() -> None:
    dear = Params(draft_length=1, acceptance_rate=0.1, draft_cost=8, round_cost=8)
    written = figure("speedup", expected_speedup(dear))
    assert written == "0.065"
    assert length_table(length_data(dear)).rows[0] == ["1", "1.10", written]
    assert map_table(dear, 0).rows[0] == ["0.1", "none gains; 1 loses least", written]
