"""What may be set is held to its table, in code too."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.params import PARAMETERS, Params
from sim.settings import read
from sim.view import VIEW, View

BY_NAME = {row.name: row for row in PARAMETERS + VIEW}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("draft_length", 40, "k=40 is not a whole number from 1 to 32"),
        ("draft_length", 4.0, "k=4.0 is not a whole number from 1 to 32"),
        ("draft_length", True, "k=True is not a whole number from 1 to 32"),
        ("draft_length", "4", "k='4' is not a whole number from 1 to 32"),
        ("draft_length", None, "k=None is not a whole number from 1 to 32"),
        pytest.param(
            *("draft_length", 10**5000, "k=… is not a whole number from 1 to 32"), id="digits"
        ),
        ("recompute_chunk", 0, "chunk=0 is not a whole number from 16 to 512"),
        ("acceptance_rate", math.nan, "alpha=nan is not a number from 0 to 1"),
        ("acceptance_rate", 1.01, "alpha=1.01 is not a number from 0 to 1"),
        ("acceptance_rate", -1e-9, "alpha=-1e-09 is not a number from 0 to 1"),
        ("acceptance_rate", False, "alpha=False is not a number from 0 to 1"),
        ("draft_cost", math.inf, "c=inf is not a number from 0 to 8"),
        ("speculation", 1, "speculation=1 is not on or off, as True or False"),
        (
            *("acceptance_rates", [0.5]),
            "rates=[0.5] is not a comma list of up to 32 numbers from 0 to 1, in a tuple",
        ),
        (
            *("acceptance_rates", (0.5, math.nan)),
            "rates=(0.5, nan) is not a comma list of up to 32 numbers from 0 to 1, in a tuple",
        ),
        (
            *("acceptance_rates", (0.5,) * 33),
            "rates=(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5… is not a comma list of up to 32 "
            "numbers from 0 to 1, in a tuple",
        ),
        (
            *("evictions", (3, 1)),
            "evict=(3, 1) is not a comma list of whole numbers from 0 to 1200, sorted in a tuple, "
            "each once",
        ),
        (
            *("evictions", (1, 1)),
            "evict=(1, 1) is not a comma list of whole numbers from 0 to 1200, sorted in a tuple, "
            "each once",
        ),
        *(
            (
                *("verdicts", bad),
                f"force={bad!r} is not a comma list of pass:accepted, pass from 1 to 1200, "
                "accepted from 0 to 32, in a tuple of pairs sorted by the first, which each has "
                "once",
            )
            for bad in (((3, 1), (1, 1)), ((3, 1), (3, 2)), ((0, 1),), ([3, 1],), ((3, True),))
        ),
    ],
)
def test_params_outside_the_table_are_refused(name: str, value: Any, said: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(said) + "$"):
        Params(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tick", 1201),
        ("speed", 0.5),
        ("play", 1),
        ("theme", "pink"),
        ("ask", ""),
        ("show", ["board"]),
        ("show", ("pass", "board")),
        ("lock", ["k"]),
        ("lock", ("k", "k")),
    ],
)
def test_a_view_outside_its_table_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{BY_NAME[name].key}=.* is not "):
        View(**{name: value})


def test_what_is_at_the_limits_is_allowed() -> None:
    params = Params(
        draft_length=32, acceptance_rate=1, draft_cost=8.0, seed=2**32 - 1, recompute_chunk=16
    )
    assert params.rates == (1,) * 32
    assert Params(acceptance_rates=(0, 1.0) * 16, evictions=(0, 1, 1200)).evictions[0] == 0


@given(
    st.sampled_from(PARAMETERS + VIEW),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
)
def test_whatever_is_read_may_be_held(row: Any, value: Any) -> None:
    assert row.kind.admits(read(row, value)[0])
