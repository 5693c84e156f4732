"""The converter: every number from every other, the complaints, and the command."""

from __future__ import annotations

import json
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.labs.convert import (
    PRINTED_BY,
    convert,
    from_acceptance,
    from_alpha,
    from_cumulative,
    from_length,
    from_rates,
    root,
    rows,
)
from tests.oracle import VLLM
from tests.server import cli

KS, SHARES = st.integers(1, 32), st.floats(0, 1)


def test_printed_rates_by_position_give_the_numbers_known_of_them() -> None:
    made = from_cumulative(VLLM)
    assert made.conditional_rates == pytest.approx((0.763, 0.816514, 0.736758, 0.862745), abs=1e-6)
    assert made.tokens_per_pass == pytest.approx(3.241)
    assert made.draft_acceptance == pytest.approx(0.56025)
    assert made.cumulative_rates == VLLM
    assert (1 - made.alpha**5) / (1 - made.alpha) == pytest.approx(3.241)


@given(KS, SHARES)
def test_from_one_rate_to_each_number_and_back_is_the_same_rate(k: int, alpha: float) -> None:
    made = from_alpha(k, alpha)
    assert made.tokens_per_pass == pytest.approx(sum(alpha**j for j in range(k + 1)))
    assert made.draft_acceptance == pytest.approx((made.tokens_per_pass - 1) / k, abs=1e-12)
    assert made.cumulative_rates == pytest.approx([alpha**j for j in range(1, k + 1)])
    assert made.conditional_rates == (alpha,) * k
    for other in (
        from_length(k, made.tokens_per_pass),
        from_acceptance(k, made.draft_acceptance),
        from_cumulative(made.cumulative_rates),
    ):
        assert other.tokens_per_pass == pytest.approx(made.tokens_per_pass)
        assert other.alpha == pytest.approx(alpha, abs=1e-7)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=32))
def test_rates_are_what_their_products_come_from(rates: list[float]) -> None:
    made = from_rates(rates)
    assert made.k == len(rates)
    products = [prod(rates[: j + 1]) for j in range(len(rates))]
    assert made.cumulative_rates == pytest.approx(products)
    assert made.tokens_per_pass == pytest.approx(1 + sum(products))
    assert from_cumulative(made.cumulative_rates).conditional_rates == pytest.approx(tuple(rates))


@pytest.mark.parametrize("k", [1, 4, 32])
def test_the_ends_are_nothing_accepted_and_all(k: int) -> None:
    assert (root(k, 1), root(k, k + 1)) == (0, 1)
    nothing, everything = from_acceptance(k, 0), from_length(k, k + 1)
    assert (nothing.alpha, nothing.tokens_per_pass) == (0, 1)
    assert (everything.alpha, everything.draft_acceptance) == (1, 1)


def test_what_is_never_tested_has_no_rate() -> None:
    made = from_cumulative((0.5, 0, 0))
    assert made.conditional_rates == (0.5, 0, None)
    assert made.report()["conditional_rates"] == [0.5, 0, None]
    assert made.scene() == {"k": 3, "rates": [0.5, 0, 0]}


def test_the_widget_gets_one_rate_where_one_is_all_that_is_known() -> None:
    assert from_alpha(7, 0.6).scene() == {"k": 7, "alpha": 0.6, "rates": None}
    assert from_rates((0.6, 0.6)).scene() == {"k": 2, "alpha": 0.6, "rates": None}
    assert from_rates((0.6, 0.5)).scene() == {"k": 2, "rates": [0.6, 0.5]}


def test_numbers_are_read_as_people_write_them() -> None:
    assert convert({"acceptance": "56,025 %"}, "4").draft_acceptance == pytest.approx(0.56025)
    assert convert({"alpha": " .6 "}).k == 4
    assert convert({"rates": ".9; .8; .7", "alpha": " "}).k == 3
    assert convert({"length": "3.0"}, "7").k == 7


@pytest.mark.parametrize(
    ("asked", "k", "told"),
    [
        ({}, "4", "give one of alpha, length, acceptance, rates, cumulative"),
        ({"alpha": ".5", "length": "2"}, "4", "not 2"),
        ({"alpha": "much"}, "4", "“much” is not a number"),
        ({"alpha": "1.2"}, "4", "alpha: 1.2 is not from 0 to 1"),
        ({"alpha": "-0.1"}, "4", "alpha"),
        ({"length": "0.5"}, "4", "length: 0.5 is not from 1 to 5"),
        ({"length": "5.5"}, "4", "length: 5.5 is not from 1 to 5"),
        ({"acceptance": "2"}, "4", "acceptance"),
        ({"rates": ".5,2"}, "", "rates: 2 is not"),
        ({"rates": ".5,.4"}, "3", "k: 3 drafts, but 2 rates"),
        ({"rates": ",".join([".5"] * 33)}, "", "at most 32"),
        ({"cumulative": ".5,.6"}, "", "0.6 is above the 0.5 before it"),
        ({"cumulative": ".5,x"}, "", "“x” is not a number"),
        ({"alpha": ".5"}, "2.5", "not a whole number from 1 to 32"),
        ({"alpha": ".5"}, "0", "k: 0"),
        ({"alpha": ".5"}, "33", "k: 33"),
    ],
)
def test_what_cannot_be_is_told(asked: dict[str, str], k: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        convert(asked, k)
    assert told in str(raised.value)


def test_the_rate_of_sglang_counts_the_bonus_token() -> None:
    shown = {row.name: row for row in rows(from_length(3, 1.95).report())}
    assert shown["the same with bonus"].text == "0.4875"  # printed: accept len 1.95, rate 0.49
    assert [name for name, _ in PRINTED_BY] == list(shown)


def test_the_command_gives_the_same_numbers() -> None:
    written = ",".join(map(str, VLLM))
    code, out, _ = cli("convert", "--k", "4", "--cumulative", written, "--json")
    assert code == 0
    assert json.loads(out) == from_cumulative(VLLM).report()
    code, out, _ = cli("convert", "--alpha=0.8")
    assert code == 0
    for number in ("3.362", "0.5904", "mean acceptance length", "num_speculative_tokens"):
        assert number in out
    code, out, err = cli("convert", "--alpha", "-1")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "alpha: -1 is not from 0 to 1" in err
