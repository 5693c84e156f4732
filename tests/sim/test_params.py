"""What a user may set is read leniently everywhere but on the command line."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.params import PARAMETERS, Params
from sim.settings import query, read, stepped, updated, write
from sim.view import BY_KEY, VIEW, View

ROWS = PARAMETERS + VIEW


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("k", "7", 7),
        ("k", "99", 32),
        ("k", "0", 1),
        ("k", "-3", 1),
        ("k", "4.5", 5),
        ("k", "4.49", 4),
        ("k", "abc", 4),
        ("k", "", 4),
        ("k", "nan", 4),
        ("k", "inf", 4),
        ("k", "1e400", 4),
        ("k", True, 4),
        ("k", [], 4),
        ("k", {"a": 1}, 4),
        ("k", None, 4),
        ("alpha", "0.65", 0.65),
        ("alpha", "1.5", 1.0),
        ("alpha", -0.0, 0.0),
        ("alpha", "NaN", 0.8),
        ("speculation", "off", False),
        ("speculation", "0", False),
        ("speculation", "False", False),
        ("speculation", True, True),
        ("speculation", 0, False),
        ("speculation", "maybe", True),
        ("rates", "0.9,0.5", (0.9, 0.5)),
        ("rates", "0.9,x", ()),
        ("rates", "0.9,,0.5", ()),
        ("rates", "0.9,7", (0.9, 1.0)),
        ("rates", "", ()),
        ("rates", [0.25], (0.25,)),
        ("rates", 0.25, (0.25,)),
        ("evict", "300,100,100", (100, 300)),
        ("evict", "100,x,nan,5000,-1", (0, 100, 1200)),
        ("evict", "10.5", (11,)),
        ("evict", "", ()),
        ("force", "60:0,10:4", ((10, 4), (60, 0))),
        ("force", "60:0,60:3", ((60, 3),)),
        ("force", "60:99,61:-1,62:1.5", ((60, 32), (61, 0), (62, 2))),
        ("force", "0:1,1201:1,1.5:2,9,9:1:1,x:1,9:x,:,nan:1", ((2, 2),)),
        (
            "force",
            [[60, 0], ["61", "2"], "62:1", [1], [1, 2, 3], None, 7],
            ((60, 0), (61, 2), (62, 1)),
        ),
        ("force", [60, 0], ()),
        ("force", {"60": 0}, ()),
        ("force", "", ()),
        ("seed", "4294967296", 4294967295),
        ("tick", "1201", 1200),
        ("speed", "0", 1.0),
        ("theme", "dark", "dark"),
        ("theme", "pink", "auto"),
        ("show", "numbers,board,board", ("board", "numbers")),
        ("show", "board,sound", ("board",)),
        ("show", "", ()),
        ("show", "sound", ()),
        ("show", ["pass"], ("pass",)),
        ("lock", "evict,k", ("k", "evict")),
        ("lock", "", ()),
        ("lock", [["k"], 3], ()),
        ("ask", "speedup", "speedup"),
        ("ask", "luck", "none"),
        ("embed", "1", True),
    ],
)
def test_a_value_is_read_as_the_nearest_sensible_one(key: str, given: Any, value: Any) -> None:
    assert read(BY_KEY[key], given)[0] == value


def test_a_mended_value_is_told_with_its_key_itself_and_what_is_used() -> None:
    assert read(BY_KEY["k"], "99")[1] == "k=99 is not a whole number from 1 to 32; using 32."
    assert "using none" in str(read(BY_KEY["rates"], "x")[1])
    assert "using all" in str(read(BY_KEY["show"], "x")[1])
    assert read(BY_KEY["k"], "9")[1] is None


@pytest.mark.parametrize("given", ["60:33", "0:1", "1201:0", "60:0.5", "6.5:1", "60", "x:1", [1]])
def test_what_is_dropped_or_limited_of_verdicts_set_by_hand_is_told(given: Any) -> None:
    told = str(read(BY_KEY["force"], given)[1])
    allowed = "a comma list of pass:accepted, pass from 1 to 1200, accepted from 0 to 32; using "
    assert f"is not {allowed}" in told
    assert read(BY_KEY["force"], "3:1,60:0,3:2") == (((3, 2), (60, 0)), None)


def test_minus_zero_never_shows() -> None:
    value, _ = read(BY_KEY["alpha"], "-0.0")
    assert math.copysign(1, value) == 1


@given(
    st.sampled_from(ROWS),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    ),
)
def test_nothing_that_json_holds_breaks_reading(row: Any, value: Any) -> None:
    read_value, _ = read(row, value)
    again, complaint = read(row, write(row, read_value))
    assert again == read_value
    assert complaint is None or row.kind.empty == "all"  # which no text says


def test_a_link_holds_only_what_is_not_the_default_and_leads_back() -> None:
    assert query(Params(), View()) == {}
    params = Params(draft_length=7, acceptance_rates=(0.9, 0.5), kv_cache=False, evictions=(3, 9))
    view = View(tick=12, theme="dark")
    keys = query(params, view)
    assert keys == {
        "k": "7",
        "rates": "0.9,0.5",
        "cache": "off",
        "evict": "3,9",
        "tick": "12",
        "theme": "dark",
    }
    assert updated(Params(), keys) == (params, [])
    assert updated(View(), keys) == (view, [])


def test_fields_are_set_by_key_or_full_name_and_none_is_the_default() -> None:
    params, complaints = updated(Params(), {"k": 7, "acceptance_rate": 0.6, "nonsense": 1})
    assert (params.draft_length, params.acceptance_rate, complaints) == (7, 0.6, [])
    assert updated(params, {"draft_length": None})[0].draft_length == 4


def test_rates_never_edit_the_draft_length_and_the_last_is_repeated() -> None:
    assert Params(acceptance_rates=(0.9, 0.5)).rates == (0.9, 0.5, 0.5, 0.5)
    assert Params(draft_length=1, acceptance_rates=(0.9, 0.5)).rates == (0.9,)
    assert Params(speculation=False).rates == ()


def test_a_setting_names_the_input_that_sets_it() -> None:
    controls = {key: row.kind.control for key, row in BY_KEY.items()}
    assert {key for key, control in controls.items() if control == "switch"} == {
        *("speculation", "cache", "play", "embed", "words")
    }
    assert (controls["k"], controls["seed"], controls["rates"]) == ("range", "field", "field")
    assert (controls["theme"], controls["lock"]) == ("choice", "boxes")


def test_only_a_number_can_be_stepped() -> None:
    assert stepped(BY_KEY["seed"], 7, True) == 8
    with pytest.raises(TypeError, match="cache is no number"):
        stepped(BY_KEY["cache"], True, False)
