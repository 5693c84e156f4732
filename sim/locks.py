"""What the reader may move: a link may lock it, and a question that waits for its answer does."""

from __future__ import annotations

from sim.params import Params
from sim.view import View

BUTTONS = (
    *("play", "start", "back", "step", "reset", "evict", "luck", "one-rate"),
    *("share", "theme", "return", "dismiss", "reload", "predict", "skip", "done", "again"),
)
"""Every button of the page, as its `data-action` says."""

LOCKED_BY = {"luck": ("seed",), "one-rate": ("alpha", "rates")}
"""Buttons that are locked with a control."""

WHILE_ASKED = ("reset", "share", "theme", "predict", "skip", "dismiss", "reload")
"""Buttons that work while a question waits, and “play” once it runs."""


def fixed(key: str, view: View, waits: bool) -> bool:
    """Whether the reader may not move a control; `waits` says whether a question does."""
    return key in view.lock or (waits and key != "speed")


def fixed_button(name: str, params: Params, view: View, waits: bool, runs: bool) -> bool:
    """Whether the reader may not press a button; `runs` where the waiting question is predicted."""
    if name == "evict" and not params.kv_cache:
        return True
    if not set(LOCKED_BY.get(name, (name,))).isdisjoint(view.lock):
        return True
    return waits and name not in WHILE_ASKED and not (name == "play" and runs)
