"""What a link of the text did to the widget: the controls that it moved and the numbers that it is
about, by their places, so that the page can mark them."""

from __future__ import annotations

from collections.abc import Collection

from sim.face import MAIN, Shown
from sim.params import PARAMETERS, Params
from sim.story import ADVANCED

NUMBERS = ("tokens_per_pass", "speedup", "draft_acceptance", "positions_computed", "cached")

ABOUT = {
    **{name: f"[data-metric={name}]" for name in NUMBERS},
    "caption": "#caption",
}
"""What a link of the text may be about, and its place in the widget."""


def moved(before: Params, after: Params) -> list[str]:
    """Keys of the controls that stand elsewhere than before."""
    return [
        row.key
        for row in PARAMETERS
        if row.key in MAIN + ADVANCED and getattr(before, row.name) != getattr(after, row.name)
    ]


def marks(keys: Collection[str] = (), about: Collection[str] = ()) -> Shown:
    """Mark these controls and these numbers, and nothing else."""
    return {
        **{f"[data-control={key}]@.marked": key in keys for key in MAIN + ADVANCED},
        **{f"{place}@.marked": name in about for name, place in ABOUT.items()},
    }
