"""What the widget is handed of a case on a machine, and where it then says something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.labs.cost_settings import Asked, Priced, priced
from sim.labs.handed import departure, scene
from sim.labs.pricing import best_of
from sim.params import Params
from sim.settings import updated
from sim.theory import best_length, expected_speedup

CURVE = ((1.0, 8.1), (32.0, 8.6), (160.0, 10.4), (512.0, 16.5), (1024.0, 30.2))


def given(**settings: object) -> Priced:
    return priced(Asked(**settings))  # type: ignore[arg-type]


def widget(case: Priced, k: int) -> float:
    keys = scene(case)
    assert keys is not None
    params, told = updated(Params(), keys)
    assert told == []
    return expected_speedup(replace(params, draft_length=k)) or 0


def test_a_curve_with_a_gentle_slope_is_told_with_both_numbers() -> None:
    case = given(machine="A100-80GB", context=2048, curve=CURVE, batch=32)
    here, there = case.speedups[31][2], widget(case, 3)
    assert best_of(case.speedups[31]).k == 3
    assert widget(case, 4) == pytest.approx(case.speedup, rel=0.01)
    assert departure(case) == (
        "The widget knows a knee, not this curve: it is right at k = 4, and gives "
        f"{there:.2f}× at 3 where this gives {here:.2f}×."
    )
    assert there / (here or 0) > 1.03


def test_experts_that_wake_are_told_too() -> None:
    told = departure(given(model="Qwen3-30B-A3B", batch=32, k=6, draft="0.05"))
    assert "not the experts that more positions wake: it is right at k = 6, and gives" in told


def test_the_widgets_own_advice_is_held_to_the_curve_as_well() -> None:
    case = given(curve=CURVE, batch=32, k=4)
    params, _ = updated(Params(), scene(case) or {})
    other = best_length(params)[0]
    assert best_of(case.speedups[31]).k == 4 != other
    assert f"{widget(case, other):.2f}× at {other}" in departure(case)
    short = given(curve=((1.0, 8.0), (24.0, 8.0)), batch=8, k=2)
    assert departure(short).endswith(", of which this curve says nothing.")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"batch": 1},
        {"batch": 512, "k": 1},
        {"model": "Llama-3.1-70B", "machines": 4, "batch": 100, "k": 8},
        {"machine": "A100-80GB", "context": 2048, "batch": 64, "parallel": True},
        {"curve": ((1.0, 4.0),)},
    ],
)
def test_a_dense_model_needs_no_word(settings: dict[str, object]) -> None:
    assert departure(given(**settings)) == ""


def test_figures_beyond_what_the_widget_holds_are_told() -> None:
    case = given(model="Llama-3.2-1B", draft="Qwen3-32B", batch=1)
    assert departure(case).startswith("The widget cannot take all of this scene: it gives ")
