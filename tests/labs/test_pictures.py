"""The pictures of acceptance and of memory: true to the model, and to the figures of the text."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from sim.host.claims import accept_and_refill, claims
from sim.labs.facts import CONTEXT, DRAFT, TARGET
from sim.labs.memory_chart import CONVERSATIONS, FREE, WEIGHTS, memory_data, memory_table
from sim.labs.overlap_chart import KEPT, REDRAWN, REJECTED, overlap_data, overlap_table
from sim.labs.survival_chart import survival_data, survival_table
from sim.params import Params
from tests.labs.charts import texts
from tests.labs.scenes import every_setting
from tests.oracle import chances


def test_the_overlap_is_what_accept_or_redraw_keeps_word_by_word() -> None:
    bars = overlap_data()["bars"]
    for one in accept_and_refill(TARGET, DRAFT):
        parts = {
            (row["model"], row["part"]): row["high"] - row["low"]
            for row in bars
            if row["word"] == one.word
        }
        assert parts["p", KEPT] == parts["q", KEPT] == one.kept
        assert parts.get(("p", REDRAWN), 0) == pytest.approx(one.refilled)
        assert sum(h for (model, _), h in parts.items() if model == "p") == pytest.approx(
            one.target
        )
        assert sum(h for (model, _), h in parts.items() if model == "q") == pytest.approx(one.draft)
        rejected = one.draft * (1 - one.accept)
        assert parts.get(("q", REJECTED), 0) == pytest.approx(rejected)
    assert {row["part"] for row in bars} == {KEPT, REDRAWN, REJECTED}
    *words, whole = overlap_table().rows
    assert whole == ["in all", "1.00", "1.00", claims()["overlap"]]
    assert [row[0] for row in words] == list(TARGET)


@every_setting
def test_survival_is_how_often_so_many_drafts_are_accepted(params: Params) -> None:
    data = survival_data(params)
    there = replace(params, speculation=True)
    told = chances(there.rates)
    for i, row in enumerate(data["bars"], start=1):
        assert row["position"] == i
        assert row["chance"] == pytest.approx(sum(told[i:]))  # of more than i tokens
    assert [row["chance"] for row in data["rates"]] == list(there.rates)
    for rate, bar in zip(data["rates"], data["bars"], strict=True):
        assert bar["chance"] == pytest.approx(prod(there.rates[: rate["position"]]))
    *_, whole = survival_table(data).rows
    mean = sum(n * chance for n, chance in enumerate(told, start=1))
    assert float(whole[-1]) == pytest.approx(mean, abs=0.0006)


def test_the_memory_is_filled_with_what_the_text_says_and_to_its_brim() -> None:
    said = claims()
    bars: dict[int, dict[str, tuple[float, float]]] = {}
    for row in memory_data()["bars"]:
        bars.setdefault(row["conversations"], {})[row["part"]] = row["low"], row["high"]
    assert list(bars) == [0, 5, 10, 15, 20, 25, 30]
    assert str(max(bars)) == said["room"]
    for conversations, parts in bars.items():
        assert list(parts) == [WEIGHTS, CONVERSATIONS, FREE]
        (foot, weights), (low, filled), (free, top) = parts.values()
        assert (foot, top) == (0, 80)
        assert (low, free) == (weights, filled)
        assert said["weights"] == f"{weights:.0f} GB"
        each = int(said["context"].removesuffix(" GiB")) * 2**30
        assert filled - weights == pytest.approx(conversations * each / 1e9)
    last = memory_table(memory_data()).rows[-1]
    assert last == ["30", "14.0", "64.4", "1.6"]
    assert 31 * each / 1e9 + 14 > 80
    assert CONTEXT == 4096


def test_what_is_pointed_at_in_them_is_told_in_figures() -> None:
    assert texts("overlap")["the"] == "“the”: p 0.50, q 0.20; 0.20 kept, 0.30 redrawn."
    assert texts("overlap")["a"] == "“a”: p 0.25, q 0.50; 0.25 kept, 0.25 rejected."
    assert texts("survival")[2] == "Draft 2: 0.800 given all before it, 0.640 at all."
    gigabytes = "weights 14.0 GB, keys and values 10.7 GB, free 55.3 GB"
    assert texts("memory")[5] == f"5 conversations: {gigabytes}."
