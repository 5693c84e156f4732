"""Who asks for which action of `sim.session`: buttons, scripts, the page around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim import session as actions
from sim.session import Step
from sim.settings import shown
from sim.state import Session

BUTTONS: dict[str, Callable[[Session], Step]] = {
    "play": actions.toggle,
    "step": lambda session: actions.step(session, 1),
    "back": lambda session: actions.step(session, -1),
    "start": lambda session: actions.seek(session, 0),
    "evict": actions.evict,
    "reset": actions.reset,
    "theme": actions.next_theme,
    "words": actions.switch_words,
    "better": actions.better,
    "keep": actions.keep,
    "unkeep": actions.dismiss_kept,
    "unghost": actions.dismiss_ghost,
    "unpoint": actions.dismiss_point,
    "closer": lambda session: actions.zoom(session, 1),
    "farther": lambda session: actions.zoom(session, -1),
    "one-rate": actions.one_rate,
    "skip": actions.skip,
    "again": actions.ask_again,
    "done": actions.done,
}
"""What a button does that says all by being pressed."""


PLAIN: dict[str, Callable[[Session], Step]] = {
    "play": actions.play,
    "pause": actions.pause,
    "evict": actions.evict,
    "reset": actions.reset,
}
"""Calls that take no argument."""


def call(session: Session, name: str, arguments: list[Any]) -> Step:
    """Do what a script or a host asks for, by the name of a verb; `state` does nothing."""
    first = arguments[0] if arguments else None
    if name == "set":
        if first is None or isinstance(first, dict):
            return actions.change(session, first or {})
        return session, [f"set({shown(first)}): not an object of settings; nothing was set."]
    if name == "seek":
        return actions.seek(session, first)
    if name == "step":
        return actions.step(session, 1 if first is None else first)
    if name == "resume":
        return actions.resume(session, first)
    return PLAIN[name](session) if name in PLAIN else (session, [])


SILENT = frozenset(
    {
        *(actions.play, actions.pause, actions.toggle, actions.arrive, actions.drag_ends),
        *(actions.set_speed, actions.next_theme, actions.keep, actions.dismiss_kept),
        *(actions.dismiss_ghost, actions.dismiss_point),
        *(actions.predict, actions.note, actions.ask_again, actions.done),
        actions.switch_words,
    }
)
"""Actions that nothing can be wrong with: what was complained of before stands."""
