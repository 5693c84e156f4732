"""Every figure of the text, by hand, and the models that it tells of."""

from __future__ import annotations

from math import sqrt

import pytest

from sim.host.claims import accept_and_refill, break_even, claims
from sim.params import Params
from sim.run import Run
from sim.theory import expected_speedup
from tests.labs.cells import Cells
from tests.oracle import chances


def normal(passes: int) -> str:
    told = chances((0.8,) * 4)
    mean = sum(n * chance for n, chance in enumerate(told, start=1))
    deviation = sqrt(sum((n - mean) ** 2 * chance for n, chance in enumerate(told, start=1)))
    reach = 1.645 * deviation / sqrt(passes)
    return f"{mean - reach:.1f} and {mean + reach:.1f}"


def test_every_figure_of_the_text_comes_out_by_hand() -> None:
    """Each is worked out here from what the text says of it, not from the code that prints it."""
    said = claims()
    gigabyte, kibibyte, gibibyte = 1e9, 1024, 1024**3
    weights = 7e9 * 2  # bytes
    # Layers, heads and sizes as published; a key and a value, of two bytes each
    wide, narrow = (2 * 32 * heads * 128 * 2 for heads in (32, 8))
    cold = 512 / sum(max(1, n / 256) for n in range(1, 513))
    c = Params().draft_cost
    assert said["weights"] == f"{weights / gigabyte:.0f} GB" == "14 GB"
    assert said["read"] == f"{weights / 2e12 * 1000:.0f} ms" == "7 ms"
    assert said["wide"] == f"{wide // kibibyte} KiB" == "512 KiB"
    assert said["narrow"] == f"{narrow // kibibyte} KiB" == "128 KiB"
    assert said["context"] == f"{wide * 4096 // gibibyte} GiB" == "2 GiB"
    assert said["room"] == str(int((80e9 - weights) / (wide * 4096))) == "30"
    assert said["warm"] == "512"
    assert said["cold"] == f"{sum(range(1, 513)):,}"
    assert said["cold_speedup"] == f"{cold:.2f}" == "0.80"
    assert said["missing"] == str(Run(Params()).report(134)["tokens"])
    assert said["passes"] == str(-(-int(said["missing"]) // 64))
    assert said["overlap"] == f"{0.2 + 0.25 + 0.15 + 0.1:.2f}"
    assert said["rejected"] == f"{1 - 0.7:.2f}"
    assert said["second"] == f"{0.7**2:.2f}"
    assert said["eighth"] == f"{0.7**8:.2f}"
    assert said["ceiling"] == "3.33"
    dear = {k: (1 - 0.7 ** (k + 1)) / 0.3 / (1 + 0.1 * k) for k in range(1, 33)}
    assert said["best"] == str(max(dear, key=lambda k: dear[k])) == "4"
    assert said["best_speedup"] == f"{dear[4]:.2f}"
    told = [float(said[f"{k}_speedup"]) for k in ("two", "eight", "sixteen")]
    assert told == pytest.approx([dear[k] for k in (2, 8, 16)], abs=0.0051)
    assert {n: said[f"luck_{n}"] for n in (10, 60, 1200)} == {n: normal(n) for n in (10, 60, 1200)}
    expected = (1 - 0.8**5) / 0.2
    assert said["expected"] == f"{expected:.2f}"
    assert said["accepted"] == f"{(expected - 1) / 4 * 100:.0f} %"
    share = (expected - 1) / 4
    assert said["misread"] == f"{(1 - share**5) / (1 - share):.2f}"
    assert said["measured"] == f"{1.7 / 2.5:.2f} to {3.1 / 2.4:.2f}"
    assert said["chen_cost"] == f"{1.8 / 14.1:.2f}"
    assert said["chen_gain"] == f"{14.1 / 7.52:.1f} to {14.1 / 5.73:.1f}"
    assert said["report_costs"] == f"{2.0 / 0.64:.1f}, {3.1 / 0.65:.1f} and {6.4 / 0.98:.1f}"
    reserved = [said[way] for way in ("longest", "power", "oracle", "paged")]
    assert reserved == ["20 %", "27 %", "38 %", "96 %"]
    assert said["knees"] == f"{312 / 1.555:.0f} and {989 / 3.35:.0f}"
    assert said["logged"] == f"0.90, {0.9 * 0.8:.2f} and {0.9 * 0.8 * 0.6:.2f}"
    assert (said["passes_256"], said["chunk"], said["knee"]) == (str(-(-453 // 256)), "64", "256")
    lost = (1 - 0.4**13) / 0.6 / (1 + 12 * 0.1)
    assert said["lost"] == f"{lost:.2f}"
    assert said["even"] == f"{break_even(12, 0.1):.2f}" == "0.55"
    three = (1 - 0.55**4) / 0.45 / (1 + 3 * 0.1)
    assert (said["even_best"], said["even_speedup"]) == ("three", f"{three:.2f}")
    assert said["nothing"] == f"{1 / (1 + 4 * c):.2f}"
    assert said["alone"] == said["night"] == f"{expected / (1 + 4 * c):.2f}"
    assert said["crowd"] == f"{expected / (64 * 5 / 256 + 4 * c):.2f}"
    assert said["crowd_positions"] == str(64 * 5)
    crowd = (1 - 0.8**4) / 0.2 / (max(1, 64 * 4 / 256) + 3 * c)
    assert (said["crowd_best"], said["crowd_speedup"]) == ("three", f"{crowd:.2f}")
    assert said["noon"] == f"{expected / (200 * 5 / 256 + 4 * c):.2f}"
    assert said["crush"] == f"{expected / (256 * 5 / 256 + 4 * c):.2f}"
    words = Cells(said["example"])
    shown = [text for tag, _, text in words.seen if tag in ("th", "td", "b") and text]
    assert shown == [
        *("the", "0.50", "0.20", "1.00", "0.20", "0.30", "0.50"),
        *("a", "0.25", "0.50", "0.50", "0.25", "0.00", "0.25"),
        *("his", "0.15", "0.20", "0.75", "0.15", "0.00", "0.15"),
        *("no", "0.10", "0.10", "1.00", "0.10", "0.00", "0.10"),
    ]


def test_models_that_agree_reject_nothing_and_refill_nothing() -> None:
    same = {"a": 0.25, "b": 0.75}
    for row in accept_and_refill(same, same):
        assert (row.accept, row.kept, row.refilled) == (1, row.target, 0)


@pytest.mark.parametrize(("k", "cost"), [(1, 0.02), (4, 0.1), (12, 0.2), (32, 0.01)])
def test_break_even_is_found_to_four_digits(k: int, cost: float) -> None:
    found = break_even(k, cost)

    def speedup(rate: float) -> float:
        of = Params(draft_length=k, draft_cost=cost, acceptance_rate=rate)
        return expected_speedup(of) or 0

    assert speedup(found - 1e-5) < 1 < speedup(found + 1e-5)
