"""Published measurements beside the formula: what was printed, each miss, and what explains it."""

from __future__ import annotations

import pytest

from sim.labs.published import REPORTS, TABLE_4, nearest
from tests.oracle import chances


def test_predictions_are_the_expected_speedups_that_were_printed() -> None:
    """Within the rounding of the rates and costs that they follow from."""
    assert len(TABLE_4) == 12
    for row in TABLE_4:
        tokens = sum(n * chance for n, chance in enumerate(chances([row.alpha] * row.k), 1))
        assert row.predicted == pytest.approx(tokens / (row.k * row.c + 1))
        assert row.predicted == pytest.approx(row.expected, abs=0.07)
        assert row.measured == pytest.approx(row.predicted * (1 + row.miss))
    misses = [row.miss for row in TABLE_4]
    assert min(misses) == pytest.approx(-0.32, abs=0.01)
    assert max(misses) == pytest.approx(0.29, abs=0.03)


def test_a_round_costs_what_tokens_and_speedup_leave_for_it() -> None:
    cost = {one.name: one.beside_the_pass for one in REPORTS}
    assert cost["llama.cpp, issue 27836"] == pytest.approx(2.8 / 0.24 - 1)
    assert cost["SGLang, issue 29244"] == pytest.approx(2.125)
    assert cost["vLLM, pull request 53753"] == pytest.approx(3.1 / 0.65 - 1)
    assert cost["llama.cpp, pull request 10455"] == pytest.approx(6.4 / 0.98 - 1)
    assert cost["llama.cpp, pull request 22673"] == pytest.approx(4 * 0.53)


def test_chen_et_al_left_a_cost_a_round_at_the_readers_rate() -> None:
    nucleus, greedy, code = REPORTS[:3]
    assert nucleus.speedup == pytest.approx(1.875)
    assert nucleus.drafting == pytest.approx(4 * 1.8 / 14.1)
    assert nucleus.tokens_needed == pytest.approx(1.875 * (1 + 4 * 1.8 / 14.1))
    assert nucleus.round_cost([0.8]) == pytest.approx(3.3616 / 1.875 - 1 - 4 * 1.8 / 14.1)
    assert (greedy.round_cost([0.8]) or 0) > 0 > (code.round_cost([0.8]) or 0)
    assert nucleus.round_cost([0.9, 0.5]) == pytest.approx(
        (1 + 0.9 + 0.45 + 0.225 + 0.1125) / 1.875 - 1 - 4 * 1.8 / 14.1
    )
    assert REPORTS[-1].round_cost([0.8]) is None


def test_the_nearest_measurement_is_the_scenes_own_where_it_is_one() -> None:
    for row in TABLE_4:
        found = nearest(row.k, row.tokens, row.k * row.c + 1)
        assert (found.measured, found.predicted) == (row.measured, row.predicted)
    slow = nearest(2, 2.8, 11)
    assert slow.name == "llama.cpp, issue 27836"
    assert slow.predicted is None
