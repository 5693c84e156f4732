"""A server of many requests: its rules, whatever comes, and the numbers that follow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.catalogue import model_named
from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK, PAGED, POLICIES, Blocks, blocks_for
from sim.labs.scheduler import SHARES, Server, coin_seed
from sim.labs.service import Asked, Costs, costs_of, report, requests_csv, scene_of, serve
from sim.params import Params
from sim.passes import Machine, pass_roofs
from sim.run import Run
from sim.work import finish
from tests.labs.held import check_blocks, check_stretches
from tests.labs.served import (
    ASKED,
    REQUESTS,
    every_slot,
    passes,
    server_for,
    told_shares,
)


@given(ASKED, REQUESTS)
@settings(max_examples=100)
def test_in_every_pass_the_memory_is_what_those_who_run_hold(
    asked: Asked, requests: list[Request]
) -> None:
    server = server_for(asked, requests)
    for told in passes(server):
        running = server.running
        if isinstance(server.memory, Blocks):
            check_blocks(server.memory, running)
        else:
            check_stretches(server.memory, running)
        shares = told_shares(told)
        assert sum(told.shares) == asked.slots
        assert shares == {**dict.fromkeys(SHARES, 0), **every_slot(server)}
        for served in running:
            assert served.tokens + asked.draft_length <= served.room or server.memory.slots == (
                served.room
            )
    assert server.memory.free == asked.slots


@given(ASKED, REQUESTS)
@settings(max_examples=100)
def test_each_request_is_through_once_with_all_its_tokens_or_refused(
    asked: Asked, requests: list[Request]
) -> None:
    server = finish(serve(server_for(asked, requests)))
    room = asked.slots - asked.prefix - asked.draft_length
    assert [served.request.total - asked.prefix > room for served in server.refused] == (
        [True] * len(server.refused)
    )
    assert len(server.coming) + len(server.refused) == len(requests)
    for served in server.coming:
        assert served.request.total - asked.prefix <= room
        assert served.tokens == served.last
        assert served.admitted is not None
        assert served.finished is not None
        assert served.request.arrival <= served.admitted < served.finished <= server.now
    assert (server.ended, server.running, len(server.queue)) == (len(server.coming), [], 0)
    assert server.preemptions == sum(served.preemptions for served in server.coming)


@given(ASKED, REQUESTS)
@settings(max_examples=100)
def test_nobody_overtakes_and_the_oldest_always_gets_on(
    asked: Asked, requests: list[Request]
) -> None:
    server = server_for(asked, requests)
    oldest, tokens, waited = None, 0, 0
    for told in passes(server):
        order = [served.number for served in (*server.running, *server.queue)]
        assert order == sorted(order)
        assert not (told.preempted and told.entered)
        assert server.running
        first = server.running[0]
        if (first, first.tokens) == (oldest, tokens):
            waited += 1
            assert waited == 1  # a prompt is one pass
        else:
            oldest, tokens, waited = first, first.tokens, 0
        if asked.most_running is not None:
            assert len(server.running) <= asked.most_running


@given(ASKED, REQUESTS)
@settings(max_examples=60)
def test_the_same_seed_gives_the_same_events(asked: Asked, requests: list[Request]) -> None:
    first, again = (server_for(asked, requests) for _ in range(2))
    assert list(passes(first)) == list(passes(again))
    assert requests_csv(first) == requests_csv(again)


@given(REQUESTS, st.sampled_from([0, 3, 20]))
@settings(max_examples=60)
def test_paging_wastes_less_than_a_block_a_request_beside_the_drafts(
    requests: list[Request], drafts: int
) -> None:
    asked = Asked(slots=512, draft_length=drafts)
    server = server_for(asked, requests)
    for told in passes(server):
        wasted = told.shares[1] + told.shares[2]
        assert wasted < len(server.running) * (BLOCK + drafts)
        for served in server.running:
            assert served.room == BLOCK * blocks_for(served.tokens + drafts)


def kwon(policy: str) -> dict[str, float]:
    made = finish(serve(scene_of(Asked(policy=policy, slots=8192, requests=400)).server()))
    shares: dict[str, float] = report(made, None)["shares"]
    return shares


def test_shares_are_about_those_of_kwon_et_al_at_chat_lengths_with_the_memory_full() -> None:
    printed = {"max": 0.204, "power": 0.268, "oracle": 0.382, "paged": 0.963}  # their Figure 2
    found = {policy: kwon(policy) for policy in POLICIES}
    tokens = {policy: shares["token"] for policy, shares in found.items()}
    assert tokens == pytest.approx(printed, abs=0.13)
    assert tokens["max"] < tokens["power"] < tokens["oracle"] < tokens["paged"]
    assert found["max"]["internal"] == pytest.approx(0.573, abs=0.08)
    assert found["max"]["reserved"] == pytest.approx(0.133, abs=0.08)
    assert found["power"]["internal"] == pytest.approx(0.136, abs=0.08)
    assert found["oracle"]["internal"] == 0
    assert found["paged"]["reserved"] + found["paged"]["internal"] < 0.04
    for shares in found.values():
        assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("slots", [512, 4096])
def test_the_order_of_the_policies_does_not_hang_on_the_size(slots: int) -> None:
    made = {
        policy: finish(serve(scene_of(Asked(policy=policy, slots=slots, requests=200)).server()))
        for policy in POLICIES
    }
    tokens = [server.slot_seconds[0] / server.busy for server in made.values()]
    assert tokens == sorted(tokens)
    assert [server.now for server in made.values()] == sorted(
        (server.now for server in made.values()), reverse=True
    )


@pytest.mark.parametrize(
    ("k", "alpha", "seed"), [(4, 0.8, 0), (1, 0.3, 7), (32, 0.95, 3), (8, 1, 1)]
)
def test_one_request_alone_counts_as_the_widget_does(k: int, alpha: float, seed: int) -> None:
    params = Params(draft_length=k, acceptance_rate=alpha, seed=seed)
    run = Run(params)
    widget = run.report(40)
    asked = Asked(slots=4096, draft_length=k, acceptance_rate=alpha, seed=seed)
    server = finish(serve(server_for(asked, [Request(0, 1, widget["tokens"])])))
    (served,) = server.coming
    assert served.passes == widget["verify_passes"]
    assert served.accepted == widget["accepted"]
    assert k * served.passes == widget["drafted"]
    assert served.filled + (1 + k) * served.passes == widget["positions_computed"]
    assert served.recomputed == widget["positions_recomputed"] == 0
    cells = requests_csv(server).splitlines()[1].split(",")
    assert cells[-3:] == [str(widget[n]) for n in ("drafted", "accepted", "positions_computed")]


def test_without_drafts_it_counts_as_plain_decoding_does() -> None:
    widget = Run(Params(speculation=False)).report(300)
    server = finish(serve(server_for(Asked(), [Request(0, 1, 300)])))
    (served,) = server.coming
    assert (served.passes, served.filled) == (widget["verify_passes"], 0)


def test_an_evicted_request_computes_what_the_widget_does_after_an_eviction() -> None:
    """An older one grows until the newer one has to go: as if the widget's cache were evicted."""
    asked = Asked(slots=64, draft_length=0)
    server = server_for(asked, [Request(0, 17, 40), Request(0, 1, 60)])
    while not server.preemptions:
        server.begin()
        server.end()
    (younger,) = server.queue
    written = younger.passes
    widget = Run(Params(speculation=False, evictions=(written,), recompute_chunk=512))
    finish(serve(server))
    assert younger.recomputed == widget.report(written + 1)["positions_recomputed"] == written
    assert server.preemptions == 1


def test_coins_hang_on_seed_and_request_whatever_the_order_of_events() -> None:
    requests = [Request(0, 5 + n, 30 + n) for n in range(8)]
    asked = Asked(slots=128, draft_length=4)
    crowded = finish(serve(server_for(asked, requests)))
    roomy = finish(serve(server_for(replace(asked, slots=4096), requests)))
    assert crowded.preemptions > 0 == roomy.preemptions
    for one, other in zip(crowded.coming, roomy.coming, strict=True):
        assert (one.passes, one.accepted) == (other.passes, other.accepted)
    assert coin_seed(7, 0) == 7
    assert len({coin_seed(seed, n) for seed in range(20) for n in range(20)}) == 400


def alone(**changes: object) -> Server:
    asked = replace(Asked(slots=512, **changes))  # type: ignore[arg-type]
    return server_for(asked, [Request(0, 1, 100)])


def test_drafts_take_slots_while_they_are_checked_and_give_them_back() -> None:
    server = alone(draft_length=20, acceptance_rate=0.0)
    (served,) = server.coming
    while not server.done:
        told = server.begin()
        assert sum(told.shares[:3]) == BLOCK * blocks_for(served.tokens + 20)
        server.end()
        if not server.done:
            assert served.room == BLOCK * blocks_for(served.tokens)
    plain = alone()
    for told in passes(plain):
        assert sum(told.shares[:3]) == BLOCK * blocks_for(plain.running[0].tokens)


def test_more_drafts_leave_room_for_fewer_requests() -> None:
    running = [
        report(finish(serve(scene_of(Asked(requests=200, draft_length=k)).server())), None)
        for k in (0, 8, 32)
    ]
    assert [made["mean_running"] for made in running] == sorted(
        (made["mean_running"] for made in running), reverse=True
    )


def test_a_pass_takes_what_the_sums_over_its_requests_cost() -> None:
    asked = Asked(slots=512, draft_length=4)
    prices, requests = costs_of(asked), [Request(0, 9, 50), Request(0, 1, 50)]
    server = server_for(asked, requests)
    first = server.begin()
    # One fills 8 positions in, the other checks 5; its cache is empty.
    assert first.seconds == prices.pass_seconds(1, 0, 8, 0, 32.0)
    server.end()
    second = server.begin()
    written = server.running[1].tokens - 1
    assert second.seconds == prices.pass_seconds(2, 8 + written, 0, 0, 0.0)
    assert second.start == first.seconds


def test_past_the_knee_a_pass_takes_the_arithmetic_over_all_it_computes() -> None:
    slow, model = Machine("slow", 1e18, 1e12, 1e12), model_named("Llama-3.1-8B")
    price = Costs(slow, model, drafts=4, draft_cost=0.25).pass_seconds(3, 700, 50, 20, 900.0)
    checked = pass_roofs(slow, model, 65, 720, 5 * 700 + 900, model.weights_read(65)).seconds
    plain = pass_roofs(slow, model, 3, 700, 700, model.weights_read(3)).seconds
    assert price == checked + 4 * 0.25 * plain


def test_waits_are_from_arrival_to_first_admission() -> None:
    requests = [Request(n / 1000, 1, 10) for n in range(20)]
    server = finish(serve(server_for(Asked(most_running=1), requests)))
    ends = [served.finished for served in server.coming]
    waits = [0.0, *(end - n / 1000 for n, end in enumerate(ends[:-1], start=1) if end is not None)]
    made = report(server, None)
    assert made["mean_wait_s"] == pytest.approx(sum(waits) / 20)
    assert made["p95_wait_s"] == pytest.approx(waits[18])  # the nineteenth of twenty
    assert made["mean_running"] == pytest.approx(1)


def test_swapping_moves_the_cache_out_and_in_over_the_link() -> None:
    requests = [Request(0, 17, 40), Request(0, 1, 60)]
    asked = Asked(slots=64, preempt="swap", link=1.0)
    server, prices = server_for(asked, requests), costs_of(asked)
    seconds = [told.seconds for told in passes(server)]
    swapped = [second for second in seconds if second > 1.05 * seconds[0]]
    (_, younger) = server.coming
    assert younger.preemptions == 1
    assert (younger.recomputed, len(swapped)) == (0, 2)
    moved = younger.passes - 1  # it waited while the other wrote
    assert prices.swap_seconds(1) == pytest.approx(131072 / 1e9)
    assert moved > 0
    again = finish(serve(server_for(replace(asked, preempt="recompute"), requests)))
    assert again.coming[1].recomputed > 0


def test_a_common_prefix_is_computed_and_kept_once_in_blocks() -> None:
    requests = [Request(0, 10, 20)] * 6
    for prefix in (160, 150):
        paged = server_for(Asked(slots=2048, prefix=prefix), requests)
        told = paged.begin()
        whole = prefix - prefix % BLOCK
        assert told.shares[0] == 6 * (prefix + 10) - 5 * whole
        assert [served.filled for served in paged.running] == [prefix + 9, *[9] * 5]
        assert isinstance(paged.memory, Blocks)
        assert paged.memory.copies == (0 if prefix == whole else 5)
        oracle = server_for(Asked(policy="oracle", slots=2048, prefix=prefix), requests)
        assert oracle.begin().shares[0] == 6 * (prefix + 10)
    assert scene_of(Asked(prefix=64)).requests == scene_of(Asked()).requests


def test_the_same_requests_come_whatever_serves_them() -> None:
    first = scene_of(Asked())
    for changes in ({"policy": "max"}, {"draft_length": 8}, {"preempt": "swap"}):
        asked = replace(Asked(), **changes)
        assert scene_of(asked).requests == first.requests
    assert scene_of(Asked(seed=1)).requests != first.requests


def test_nothing_served_has_no_ratios() -> None:
    made = report(finish(serve(server_for(Asked(slots=16), [Request(3, 100, 100)]))), None)
    assert (made["finished"], made["refused"], made["tokens"], made["seconds"]) == (0, 1, 0, 0)
    for name in ("tokens_per_second", "mean_running", "mean_wait_s", "p95_wait_s"):
        assert made[name] is None
    assert made["shares"] == dict.fromkeys(SHARES)


def test_paging_is_the_default() -> None:
    assert Asked().policy == PAGED
