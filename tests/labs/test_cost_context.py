"""What is said of the draft lengths by batch at another context."""

from __future__ import annotations

import pytest

from sim.labs.cost_context import elsewhere
from sim.labs.cost_settings import Asked, Priced, priced
from sim.labs.pricing import Range


def given(**settings: object) -> Priced:
    return priced(Asked(**settings))  # type: ignore[arg-type]


def test_a_short_context_is_held_against_a_long_one() -> None:
    short, long = given(acceptance_rate=0.7), given(acceptance_rate=0.7, context=2048)
    assert [one.k for one in short.fitting] == [3, 2, 1, 0]
    assert long.fitting == [Range(1, 175, 3)]
    assert elsewhere(short) == (
        "The context decides: this is for 256 tokens of each sequence. At 2048 the lengths "
        "would be 3 drafts up to a batch of 175, the largest that fits."
    )


def test_a_long_context_is_held_against_a_short_one() -> None:
    told = elsewhere(given(acceptance_rate=0.7, context=2048))
    ends = [one.last for one in given(acceptance_rate=0.7).fitting]
    assert told == (
        "The context decides: this is for 2048 tokens of each sequence. At 256 the lengths "
        f"would be 3 drafts up to a batch of {ends[0]}, 2 up to a batch of {ends[1]}, "
        f"1 up to a batch of {ends[2]}, none up to a batch of 512."
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"acceptance_rate": 0.0},
        {"draft": "0.1", "curve": ((1.0, 8.0), (20_000.0, 80.0))},
        {"model": "Llama-3.1-70B"},
    ],
)
def test_nothing_is_said_where_it_decides_nothing(settings: dict[str, object]) -> None:
    assert elsewhere(given(**settings)) == ""
