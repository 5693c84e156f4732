"""One budget: what the server and one reader get, what limits them, and the frontier."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK
from sim.labs.budget import (
    ARITHMETIC,
    DRAFTS,
    MEMORY,
    WAITING,
    Budget,
    frontier,
    limit_of,
    limit_told,
    point_of,
    reliefs,
    settings_of,
    slots_of,
)
from sim.labs.cost_settings import Asked as Costed
from sim.labs.cost_settings import case_of
from sim.labs.pricing import Drafting
from sim.labs.service import Asked, Scene
from sim.labs.serving_charts import (
    BEST,
    FRONTIER_CHART,
    SHARES_CHART,
    WITHOUT,
    SharesAt,
    frontier_clicked,
    frontier_data,
    shares_data,
)
from sim.labs.serving_shown import Shown, changed, gained
from sim.passes import GIB
from sim.theory import expected_tokens_per_pass
from tests.labs.test_history import opening

OPENING = Shown().budget

BUDGETS = st.builds(
    Budget,
    st.sampled_from(MACHINES),
    st.sampled_from(MODELS),
    st.sampled_from([8, 24, 80, 640]).map(lambda gib: float(gib * GIB)),
    st.integers(1, 20_000),
    st.integers(1, 512),
    st.integers(0, 32),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.sampled_from(
        [Drafting(), Drafting(share=0.1), Drafting(model_named("Llama-3.2-1B")), Drafting(share=1)]
    ),
)


def test_the_slots_of_a_card_are_what_the_weights_leave_of_nine_tenths() -> None:
    left = 0.9 * 80 * 2**30 - 2 * 8.03e9
    assert 0 <= left / 131_072 - slots_of(OPENING) < BLOCK
    assert point_of(OPENING).room == slots_of(OPENING) // 2048
    free = OPENING._replace(drafts=1, drafting=Drafting())
    assert point_of(free).room == slots_of(OPENING) // 2064


def test_a_draft_model_takes_its_part_of_the_memory_and_of_the_time() -> None:
    """Llama-3.2-1B: 16 layers, 8 heads of 64 for keys and values."""
    drafting = OPENING._replace(drafts=4)
    draft = drafting.drafting.model
    assert draft
    left = 0.9 * 80 * 2**30 - 2 * 8.03e9 - 2 * draft.parameters
    assert 0 <= left / (131_072 + 32_768) - slots_of(drafting) < BLOCK
    assert slots_of(drafting) < slots_of(OPENING)
    step = 2 * draft.parameters + 64 * 2048 * 32_768
    seconds = 0.017573 + 4 * step / OPENING.machine.bandwidth
    assert point_of(drafting).seconds == pytest.approx(seconds, abs=2e-6)


@pytest.mark.parametrize("machine", ["A100-80GB", "H100-SXM", "RTX-4090"])
@pytest.mark.parametrize("draft", ["Llama-3.2-1B", "ngram"])
@pytest.mark.parametrize("batch", [1, 8, 32])
def test_it_agrees_with_what_the_costs_on_that_machine_are(
    machine: str, draft: str, batch: int
) -> None:
    memory = round(machine_named(machine).capacity / GIB)
    case = case_of(Costed(machine=machine, draft=draft, context=256, acceptance_rate=0.7))
    budget = Shown(
        machine=machine, memory=memory, draft=draft, context=256, batch=batch, acceptance_rate=0.7
    ).budget
    plain = point_of(budget)
    assert plain.running == batch
    for k in (1, 2, 3, 4, 8):
        point = point_of(budget._replace(drafts=k))
        assert point.server / plain.server == pytest.approx(case.speedup(batch, k))
        assert case.conversations
        assert point.room == (case.slots // BLOCK * BLOCK) // (-(-(256 + k) // BLOCK) * BLOCK)
    best = max(DRAFTS, key=lambda k: point_of(budget._replace(drafts=k)).server)
    assert best == case.best(batch).k


def test_a_pass_takes_what_the_machine_takes() -> None:
    plain = point_of(OPENING)
    drafting = point_of(OPENING._replace(drafts=4, drafting=Drafting(share=0.1)))
    assert plain.seconds == pytest.approx(0.016302, abs=1e-6)
    assert drafting.seconds == pytest.approx(0.017573 + 4 * 0.1 * 0.016302, abs=2e-6)
    assert plain.reader == pytest.approx(1 / plain.seconds)
    tokens = expected_tokens_per_pass((0.8,) * 4)
    assert drafting.server == pytest.approx(64 * tokens / drafting.seconds)


def test_a_full_server_of_such_requests_writes_about_as_much() -> None:
    """All start at once with half the context, and end with one and a half: the same on average."""
    asked = Asked(slots=512 * 64, draft_length=3, acceptance_rate=0.7)
    server = Scene(asked, [Request(0, 256, 256)] * 40, None, 512).server()
    server.step()  # prompts
    began = server.now
    while not server.done:
        server.step()
    drafting = Drafting(share=asked.draft_cost)
    budget = OPENING._replace(context=384, batch=40, drafts=3, rate=0.7, drafting=drafting)
    # Requests that end early leave a smaller batch: it is a little less.
    assert 0.75 < server.written / (server.now - began) / point_of(budget).server < 1.02


@given(BUDGETS)
@settings(max_examples=80)
def test_no_more_run_than_fit_and_a_sentence_says_what_limits(budget: Budget) -> None:
    point, said = point_of(budget), limit_told(budget)
    assert point.running == min(point.room, budget.batch)
    assert point.running * (budget.context + budget.drafts) <= slots_of(budget)
    assert said.startswith(
        {MEMORY: "Memory", ARITHMETIC: "Arithmetic", WAITING: "Reading"}[limit_of(budget)]
    )
    gains = reliefs(budget)
    assert gains[limit_of(budget)] == max(gains.values())
    if point.running:
        assert set(gains) == {MEMORY, ARITHMETIC, WAITING}
        assert all(1 - 1e-9 <= gain <= 2 + 1e-9 for kind, gain in gains.items() if kind != MEMORY)
        if point.room >= budget.batch:
            assert gains[MEMORY] == pytest.approx(1)
    else:
        assert limit_of(budget) == MEMORY
    if point.running:
        assert point.server == pytest.approx(point.running * point.reader)
    made = gained(budget)
    assert made.limit == said


@given(BUDGETS)
@settings(max_examples=15)
def test_nothing_betters_a_setting_of_the_frontier(budget: Budget) -> None:
    points = settings_of(budget._replace(batch=1, drafts=0))
    best = frontier(points)
    assert bool(best) == bool(points)
    for point in best:
        assert not [
            other
            for other in points
            if (other.server > point.server and other.reader >= point.reader)
            or (other.server >= point.server and other.reader > point.reader)
        ]
    for point in points:
        assert any(b.server >= point.server and b.reader >= point.reader for b in best)
    most = max((point.running for point in points if not point.drafts), default=0)
    room = point_of(budget._replace(batch=512, drafts=0)).running
    assert most == room


def test_the_two_numbers_pull_apart_and_drafts_are_for_small_batches() -> None:
    best = frontier(settings_of(OPENING._replace(batch=1)))
    readers, servers = [p.reader for p in best], [p.server for p in best]
    assert readers == sorted(readers, reverse=True)
    assert servers == sorted(servers)
    drafts = [point.drafts for point in best]
    assert drafts == sorted(drafts, reverse=True)
    assert drafts[0] > drafts[-1]


def test_each_limit_is_told_with_what_would_be_better() -> None:
    def told(**changes: object) -> str:
        return limit_told(OPENING._replace(**changes))  # type: ignore[arg-type]

    assert told() == (
        "Reading limits: passes wait for weights and caches to come from the memory, and 78 % of "
        "the arithmetic lies idle. What the server would gain: twice the memory 0 %, twice the "
        "arithmetic 0 %, twice the bandwidth 100 %. "
        "With 3 drafts the server would write 1.83 times as much."
    )
    assert told(batch=226, drafts=4).startswith("Arithmetic limits: the pass computes for longer")
    assert "twice the memory 2 %, twice the arithmetic 29 %" in told(batch=226, drafts=4)
    tight = {"model": model_named("Llama-3.1-70B"), "memory": 160.0 * GIB, "context": 8192}
    assert told(**tight).startswith("Memory limits: no more than 5 conversations of 8192 tokens")
    assert "in the draft steps most of all" in told(drafts=4)
    assert told(drafts=3).endswith("No other draft length gives the server more.")
    assert told(rate=0.0, drafts=4).endswith(
        "Without drafts the server would write 1.89 times as much."
    )
    assert "does not hold one conversation" in told(memory=16.0 * GIB)
    assert "has 15.0 GiB of weights" in told(memory=16.0 * GIB)
    assert "the weights of both models" in told(memory=16.0 * GIB, drafts=2)
    assert point_of(OPENING._replace(memory=1.0)).server == 0


def test_the_best_draft_length_that_is_told_is_best() -> None:
    best = max(DRAFTS, key=lambda k: point_of(OPENING._replace(drafts=k)).server)
    assert f"With {best} drafts" in limit_told(OPENING)


def test_a_click_on_the_frontier_goes_there() -> None:
    data = frontier_data(OPENING)
    assert {row["line"] for row in data["lines"]} == {BEST, WITHOUT}
    for row in data["lines"]:
        shown = Shown()
        for key, text in frontier_clicked(row).items():
            shown, complaint = changed(shown, key.removeprefix("serving."), str(text))
            assert complaint is None
        (here,) = frontier_data(shown.budget)["here"]
        assert (here["reader"], here["server"]) == (row["reader"], row["server"])
    assert frontier_clicked({"line": BEST}) == {}
    assert frontier_data(OPENING._replace(memory=1.0)) == {"lines": [], "here": [], "near": []}
    assert len(FRONTIER_CHART.stops(OPENING, data)) == len(FRONTIER_CHART.table(OPENING, data).rows)


def test_a_click_beside_a_point_goes_to_the_one_that_is_named_there() -> None:
    data = frontier_data(OPENING)
    best = sorted(
        (row for row in data["lines"] if row["line"] == BEST), key=lambda row: row["reader"]
    )
    near = data["near"]
    assert [frontier_clicked(row) for row in near] == [frontier_clicked(row) for row in best]
    assert [row["from"] for row in near[1:]] == [row["to"] for row in near[:-1]]
    assert (near[0]["from"], near[-1]["to"]) == (best[0]["reader"], best[-1]["reader"])
    for share in (0.01, 0.2, 0.5, 0.83, 0.99):
        at = near[0]["from"] ** (1 - share) * near[-1]["to"] ** share
        (hit,) = [row for row in near if row["from"] <= at < row["to"]]
        named = min(best, key=lambda row: abs(log(row["reader"] / at)))
        assert frontier_clicked(hit) == frontier_clicked(named)


def test_the_chart_of_shares_fills_the_memory_at_every_time() -> None:
    history = opening()
    given = SharesAt(history, 0.15)
    data = shares_data(given)
    times = sorted({row["seconds"] for row in data["shares"]})
    assert len(times) == len(history.moments) + 1
    for at in times:
        rows = [row for row in data["shares"] if row["seconds"] == at]
        assert sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-4)
        assert [row["order"] for row in rows] == [0, 1, 2, 3, 4]
    assert data["now"] == [{"seconds": 0.15}]
    assert shares_data(SharesAt(history, None))["now"] == []
    assert len(SHARES_CHART.stops(given, data)) == len(history.moments)
    table = SHARES_CHART.table(given, data)
    assert table.columns == ["from", "token", "reserved", "internal", "external", "free"]
    assert 8 <= len(table.rows) <= 24


def test_models_are_found_for_a_budget_by_name() -> None:
    shown = Shown(model="Qwen3-30B-A3B", machine="H200", memory=141)
    assert shown.budget.model is model_named("Qwen3-30B-A3B")
    assert shown.budget.machine is machine_named("H200")
