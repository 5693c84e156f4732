"""Servers for tests: of any settings, with prices one can count, looked at pass by pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import strategies as st

from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK, PAGED, POLICIES, Blocks
from sim.labs.scheduler import EXTERNAL, FREE, INTERNAL, RESERVED, SHARES, TOKEN, Pass, Server
from sim.labs.service import Asked, Scene, longest_of

REQUESTS = st.lists(
    st.builds(
        Request,
        st.sampled_from([0.0, 0.0, 0.005, 0.01, 0.03, 0.2, 5.0]),
        st.integers(1, 60) | st.integers(1, 300),
        st.integers(1, 40) | st.integers(1, 200),
    ),
    min_size=1,
    max_size=14,
).map(lambda some: sorted(some, key=lambda request: request.arrival))

ASKED = st.builds(
    Asked,
    policy=st.sampled_from([*POLICIES, PAGED, PAGED, PAGED]),
    slots=st.integers(1, 24).map(lambda blocks: BLOCK * blocks),
    most_running=st.none() | st.integers(1, 5),
    draft_length=st.sampled_from([0, 0, 1, 4, 32]),
    acceptance_rate=st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    prefix=st.sampled_from([0, 0, 5, 16, 40]),
    preempt=st.sampled_from(["recompute", "swap"]),
    seed=st.integers(0, 9),
)


def server_for(asked: Asked, requests: list[Request]) -> Server:
    return Scene(asked, requests, None, longest_of(asked, requests)).server()


def passes(server: Server) -> Iterator[Pass]:
    """Each pass before its verdicts."""
    while not server.done:
        told = server.begin()
        yield told
        server.end()


def torn(server: Server) -> bool:
    """Whether the head of the queue would have room if what is free lay together."""
    if not server.queue or len(server.running) == server.most_running:
        return False
    return server.needs(server.queue[0]) <= server.memory.free


def every_slot(server: Server) -> Counter[str]:
    """What the slots are, one by one, from what each request holds alone."""
    memory, found = server.memory, dict[int, str]()
    for served in server.running:
        for position in range(served.room):
            if isinstance(memory, Blocks):
                slot = BLOCK * served.table[position // BLOCK] + position % BLOCK
            else:
                slot = served.start + position
            kind = INTERNAL if position >= served.last else RESERVED
            kind = TOKEN if position < served.tokens else kind
            assert found.get(slot, kind) == kind
            assert isinstance(memory, Blocks) or slot not in found
            found[slot] = kind
    counted = Counter(found.values())
    counted[EXTERNAL if torn(server) else FREE] = memory.slots - len(found)
    return counted


def told_shares(told: Pass) -> dict[str, int]:
    return dict(zip(SHARES, told.shares, strict=True))
