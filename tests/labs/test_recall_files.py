"""What is remembered of the cards, joined with what an export of it holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.labs.recall import LARGEST, MARK, RATINGS, STRONGEST, Memory, read_export, read_memory
from tests.labs.cards import KEYS

MEMORIES = st.builds(
    Memory,
    st.dictionaries(st.sampled_from(KEYS), st.integers(0, STRONGEST)),
    st.dictionaries(st.sampled_from(KEYS), st.integers(0, 99)),
    st.none() | st.integers(0, 2),
)


def opened(text: str, size: int | None = None) -> tuple[Memory, str]:
    return read_export("x.json", len(text) if size is None else size, text)


@given(MEMORIES, MEMORIES)
def test_a_file_adds_what_it_holds_and_weakens_nothing(here: Memory, file: Memory) -> None:
    both = here.joined(file)
    for key in KEYS:
        sides = [side.strengths[key] for side in (here, file) if key in side.strengths]
        assert both.strengths.get(key) == max(sides, default=None)
    assert both.standing == (file.standing if here.standing is None else here.standing)
    again = both.joined(file)
    assert (again.strengths, again.turns) == (both.strengths, both.turns), "twice is once"
    assert here.joined(Memory()).strengths == here.strengths


def test_of_two_ratings_the_stronger_stays_with_its_own_turn() -> None:
    here = Memory({KEYS[0]: 2, KEYS[1]: 4, KEYS[2]: 3}, {KEYS[0]: 5, KEYS[1]: 6, KEYS[2]: 7})
    file = Memory({KEYS[0]: 3, KEYS[1]: 1, KEYS[2]: 3}, {KEYS[0]: 90, KEYS[1]: 91, KEYS[2]: 92})
    both = here.joined(file)
    assert both.strengths == {KEYS[0]: 3, KEYS[1]: 4, KEYS[2]: 3}
    assert both.turns == {KEYS[0]: 90, KEYS[1]: 6, KEYS[2]: 7}


def test_an_unrated_standing_comes_from_the_file_but_replaces_none() -> None:
    assert Memory().joined(Memory(standing=2)).standing == 2
    assert Memory(standing=0).joined(Memory(standing=2)).standing == 0


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(RATINGS)), min_size=1))
def test_an_export_comes_back_whole(ratings: list[tuple[str, str]]) -> None:
    memory = Memory(standing=1)
    for key, rating in ratings:
        memory = memory.rated(key, rating)
    held, complaint = opened(memory.write())
    assert (held, complaint) == (memory, "")
    assert Memory().joined(held) == memory


@pytest.mark.parametrize(
    "text",
    [
        *("", "\x00\x01", "{", "[]", "null", "7", '{"strengths": {"memory": 2}}'),
        *("[" * 60_000, '{"a":' * 5000 + "1" + "}" * 5000),
    ],
)
def test_a_file_that_is_no_export_says_so_by_its_name(text: str) -> None:
    assert opened(text) == (
        Memory(),
        "“x.json” is no export of these cards; nothing was changed.",
    )


def test_an_export_with_nothing_in_it_is_told_apart() -> None:
    said = "“x.json” holds no card that was rated; nothing was changed."
    assert opened(Memory().write()) == (Memory(), said)
    assert opened(json.dumps({MARK: 1, "strengths": {"unknown": 3}, "turns": 7})) == (
        Memory(),
        said,
    )


def test_a_file_too_large_to_be_an_export_is_not_read() -> None:
    text = Memory().rated(KEYS[0], "easy").write()
    assert opened(text, LARGEST)[1] == ""
    assert "no export" in opened(text, LARGEST + 1)[1]
    whole = Memory(dict.fromkeys(KEYS, STRONGEST), dict.fromkeys(KEYS, 10**9), 2).write()
    assert len(whole) < 2000


def test_what_a_file_holds_is_read_as_leniently_as_what_the_device_holds() -> None:
    text = json.dumps({MARK: 9, "strengths": {KEYS[0]: 77, KEYS[1]: "x"}, "standing": 9, "new": []})
    held, complaint = opened(text)
    assert (held.strengths, held.standing, complaint) == ({KEYS[0]: STRONGEST}, None, "")


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_a_text_nested_without_end_is_an_empty_memory(bracket: str) -> None:
    assert read_memory(bracket * 100_000) == Memory()
