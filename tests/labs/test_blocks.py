"""The memory that requests share: blocks and their counts, stretches and their holes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.labs.blocks import BLOCK, MAX, ORACLE, POWER, Blocks, Holder, Stretches, blocks_for
from tests.labs.held import check_blocks, check_stretches


def test_a_table_grows_a_block_at_a_time_and_nothing_that_it_has_moves() -> None:
    memory, one, other = Blocks(64), Holder(), Holder()
    assert memory.enter(one, 16)
    assert memory.enter(other, 1)
    assert (one.table, other.table) == ([0], [1])
    assert memory.grow(one, 17)
    assert (one.table, one.room, memory.free) == ([0, 2], 32, 16)
    assert not memory.grow(one, 49)  # it gets nothing where it cannot get all
    assert memory.grow(one, 48)
    assert (one.table, memory.free, memory.copies) == ([0, 2, 3], 0, 0)
    memory.trim(one, 17)
    assert (one.table, memory.counts) == ([0, 2], [1, 1, 1, 0])


def test_what_requests_begin_with_is_kept_once_and_copied_where_one_writes_into_it() -> None:
    memory, one, other, third = Blocks(160, prefix=40), Holder(), Holder(), Holder()
    assert memory.enter(one, 50)
    assert memory.enter(other, 60, common=one)
    assert one.table == [0, 1, 2, 3]
    assert other.table[:2] == [0, 1]  # 32 of the 40 tokens lie in blocks that nobody writes into
    assert other.table[2] not in one.table
    assert (memory.copies, memory.counts[:4]) == (1, [2, 2, 1, 1])
    memory.leave(one)  # who came first may go first
    assert memory.counts[:4] == [1, 1, 0, 0]
    assert memory.enter(third, 50, common=other)
    check_blocks(memory, [other, third])
    memory.write(third, 40)  # it has its own copy by now
    assert memory.copies == 2
    memory.leave(other)
    memory.leave(third)
    assert (memory.free, set(memory.counts)) == (160, {0})


def test_a_prefix_of_whole_blocks_is_never_copied() -> None:
    memory, one, other = Blocks(96, prefix=32), Holder(), Holder()
    assert memory.enter(one, 40)
    assert memory.enter(other, 60, common=one)
    assert (memory.copies, memory.free) == (0, 16)


def test_no_room_for_the_copy_is_no_room() -> None:
    memory, one, other = Blocks(48, prefix=20), Holder(), Holder()
    assert memory.enter(one, 32)
    assert not memory.enter(other, 48, common=one)
    assert memory.counts == [1, 1, 0]
    assert memory.enter(other, 32, common=one)
    assert memory.free == 0


@pytest.mark.parametrize(
    ("policy", "ahead", "needed"),
    [
        (MAX, 0, 128),
        (MAX, 4, 132),
        (POWER, 0, 10 + 32),
        (POWER, 4, 10 + 32 + 4),
        (ORACLE, 0, 10 + 17),
        (ORACLE, 4, 10 + 17 + 4),
    ],
)
def test_a_stretch_is_set_aside_whole(policy: str, ahead: int, needed: int) -> None:
    assert Stretches(512, policy, 128, ahead).needs(10, 17, tokens=10) == needed


@pytest.mark.parametrize(("output", "rounded"), [(1, 1), (2, 2), (3, 4), (64, 64), (65, 128)])
def test_power_rounds_the_output_up(output: int, rounded: int) -> None:
    assert Stretches(512, POWER, 128).needs(5, output, 5) == 5 + rounded


def test_a_stretch_is_never_longer_than_the_memory() -> None:
    assert Stretches(64, POWER, 64).needs(20, 40, 20) == 64
    assert Stretches(64, MAX, 64, ahead=4).needs(1, 1, 1) == 64


def test_a_stretch_lies_at_the_lowest_address_where_it_fits() -> None:
    memory = Stretches(100, ORACLE, 100)
    held = [Holder() for _ in range(5)]
    for holder in held:
        assert memory.enter(holder, 20)
    memory.leave(held[1])
    memory.leave(held[3])
    wide, narrow = Holder(), Holder()
    assert not memory.enter(wide, 30)  # 40 are free, but not together
    assert memory.enter(narrow, 15)
    assert narrow.start == 20
    memory.leave(held[2])
    assert memory.holes == [(35, 45)]
    assert memory.enter(wide, 30)
    assert wide.start == 35


@given(
    st.integers(1, 300),
    st.lists(st.tuples(st.booleans(), st.integers(1, 60), st.integers(0, 99)), max_size=60),
)
def test_first_fit_is_what_looking_at_every_address_finds(
    slots: int, events: list[tuple[bool, int, int]]
) -> None:
    memory, held = Stretches(slots, ORACLE, slots), list[Holder]()
    for leaves, size, which in events:
        if leaves and held:
            memory.leave(held.pop(which % len(held)))
        else:
            taken = {slot for one in held for slot in range(one.start, one.start + one.room)}
            fitting = (
                start
                for start in range(slots - size + 1)
                if taken.isdisjoint(range(start, start + size))
            )
            first, holder = next(fitting, None), Holder()
            assert memory.enter(holder, size) == (first is not None)
            if first is not None:
                assert holder.start == first
                held.append(holder)
        check_stretches(memory, held)


@given(
    st.integers(1, 12),
    st.sampled_from([0, 7, 16, 33]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 99), st.integers(0, 99)), max_size=60),
)
def test_a_block_is_free_or_held_as_often_as_its_count_says(
    blocks: int, prefix: int, events: list[tuple[int, int, int]]
) -> None:
    memory, held = Blocks(BLOCK * blocks, prefix=prefix), list[Holder]()
    for kind, slots, which in events:
        some = held[which % len(held)] if held else None
        if kind == 0 or some is None:
            holder, wanted = Holder(), prefix + slots
            before = memory.free
            entered = memory.enter(holder, wanted, common=some)
            if entered:
                held.append(holder)
                assert holder.room == BLOCK * blocks_for(wanted)
            else:
                assert memory.free == before
        elif kind == 1:
            memory.grow(some, some.room + slots)
        elif kind == 2:
            memory.trim(some, max(prefix + 1, some.room - slots))
        else:
            memory.leave(some)
            held.remove(some)
        check_blocks(memory, held)
    for holder in held:
        memory.leave(holder)
    assert memory.free == memory.slots
