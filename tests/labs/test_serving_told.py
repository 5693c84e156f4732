"""Sentences beside a server's numbers: what was read, what is refused, and what paging is for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.labs.arrivals import Request
from sim.labs.blocks import PAGED, POLICIES
from sim.labs.history import History, record
from sim.labs.service import Asked, Scene, longest_of, scene_of
from sim.labs.serving import MOST_BYTES, own_requests
from sim.labs.serving_shown import LARGE, Shown, columns_told, compared, numbers_told, sized
from sim.labs.serving_told import missing_told, paging_told, read_told, refused_told
from sim.work import finish

BUSY = Shown(slots=2**16, requests=700)


def served(asked: Asked, own: list[Request] | None = None, moments: bool = False) -> History:
    scene = Scene(asked, own, None, longest_of(asked, own)) if own else scene_of(asked)
    return finish(record(scene, moments=moments))


@pytest.mark.parametrize(
    ("size", "text", "said"),
    [
        (0, "", "my.csv: no requests; write a row of arrival, prompt, output for each"),
        (MOST_BYTES + 1, "", "my.csv: larger than 20 MB; leave out what is no request"),
        (9, "", "my.csv: not text in UTF-8; save it as CSV"),
        (5, "0,x,9", "my.csv: line 1: prompt “x” is not a number"),
    ],
)
def test_a_file_that_cannot_be_read_says_which_and_why_once(
    size: int, text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=r"^my\.csv: ") as raised:
        own_requests("my.csv", size, text)
    assert str(raised.value) == said


def test_a_file_that_was_read_is_told_with_its_rows() -> None:
    own = own_requests("my.csv", 20, "0,300,700\n1,1024,476\n")
    assert read_told("my.csv", own) == (
        "my.csv is read: 2 requests, 1250 tokens on average, 1500 at most. "
        "They are served in place of drawn ones."
    )


@pytest.mark.parametrize(("prefix", "k"), [(0, 0), (64, 0), (0, 3), (20, 4)])
def test_the_remedy_for_refused_requests_lets_all_in(prefix: int, k: int) -> None:
    own = [Request(0, 300, 1000), Request(0, 20, 30)]
    asked = Asked(prefix=prefix, draft_length=k)
    said = refused_told(served(asked, own))
    assert said.startswith("1 request is refused: too long for the memory. With prompt and output")
    assert f"the longest needs {1300 + prefix + k} slots, and there are 512" in said
    slots = int(said.partition("Set slots to ")[2].split()[0])
    assert refused_told(served(replace(asked, slots=slots), own)) == ""
    assert refused_told(served(replace(asked, slots=slots - 16), own))


def test_what_no_memory_holds_is_to_be_left_out() -> None:
    own = [Request(0, 10_000_000, 10_000_000), Request(0, 5, 5)]
    assert refused_told(served(Asked(), own)).endswith("leave such requests out.")


def test_why_paging_writes_less_where_it_does_and_what_it_gains() -> None:
    """Its arithmetic is used up, and what was preempted is computed again."""
    large = sized(Shown(), LARGE)
    histories = {policy: served(replace(large, policy=policy)) for policy in (PAGED, "max")}
    assert paging_told(histories) == (
        "In the end paged writes 7.8 % less a second than max: the passes of max already compute "
        "for longer than they read, so more requests at once write no more; and paged computed "
        "308,265 positions again after preemptions, about 15.9 s of arithmetic. What it gains: a "
        "request waits 43.8 s on average until it is let in, against 75.7 s."
    )
    assert paging_told({PAGED: histories[PAGED]}) == ""
    assert paging_told({"max": histories["max"]}) == ""
    assert paging_told({policy: served(Shown(policy=policy)) for policy in POLICIES}) == ""


def test_a_large_scene_says_which_ways_it_was_not_served_with() -> None:
    large = served(BUSY)
    assert missing_told({PAGED: large}).startswith(
        "Not served with these settings yet: max, power, oracle. "
    )
    assert missing_told(dict.fromkeys(POLICIES, large)) == ""
    assert missing_told({}) == ""
    assert missing_told({PAGED: served(Shown(), moments=True)}) == ""


def test_a_mean_and_a_moment_are_told_apart() -> None:
    large = {PAGED: served(BUSY)}
    assert compared(large, 0)[0][1].endswith(" on average")
    assert "means over the time of all passes" in columns_told(watched=False)
    assert "of this moment" in columns_told(watched=True)
    assert "of those who were let in by then" in columns_told(watched=True)
    said = numbers_told(large[PAGED])
    assert "ran at once on average" in said
    assert "of the whole memory held tokens on average" in said
