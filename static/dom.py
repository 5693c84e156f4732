"""Places of the page, as `sim.face` names them, and what stands in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.markup import Markup
from static.browser import every

MOVED = ("value", "checked")
"""What the reader changes too: the page itself is asked whether it has to be written."""


class Places:
    """Writes only what changed; finds each place once, at its first writing."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[list[Any], str]] = {}
        self._shown: dict[str, str | bool] = {}

    def write(self, shown: Mapping[str, str | bool]) -> None:
        """Show this, in every element of each place."""
        before = self._shown
        for place, value in shown.items():
            if before.get(place) != value:
                elements, name = self._find(place)
                if name not in MOVED:
                    before[place] = value
                for element in elements:
                    _put(element, name, value)

    def _find(self, place: str) -> tuple[list[Any], str]:
        if place not in self._found:
            selector, _, name = place.partition("@")
            self._found[place] = every(selector), name
        return self._found[place]


def _put(element: Any, name: str, value: str | bool) -> None:
    if name in MOVED:
        if getattr(element, name) != value:
            setattr(element, name, value)
    elif name.startswith("--"):
        element.style.setProperty(name, value)
    elif name.startswith("."):
        element.classList.toggle(name[1:], value)
    elif isinstance(value, bool):
        element.toggleAttribute(name, value)
    elif name:
        element.setAttribute(name, value)
    elif isinstance(value, Markup):
        element.innerHTML = str(value)
    else:
        element.textContent = value
