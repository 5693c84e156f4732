"""A lab with settings of its own: they follow a link, and a link follows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from sim.settings import changes_of_lab, updated_by_link
from static.loader import LabView, Link

A = TypeVar("A")


class SettledView(LabView, Generic[A]):
    """The view of the lab `name`. Its settings are a dataclass of rows; `blank` has defaults."""

    def __init__(self, section: Any, link: Link, name: str, blank: A) -> None:
        super().__init__(section, link)
        self._name, self._blank, self.asked = name, blank, blank
        self._told: Mapping[str, str] = {}

    def settle(self, keys: Mapping[str, str]) -> None:
        """Take the settings of a link, if they are not those that stand here; it says what was
        wrong with them, and holds them as they were taken.
        """
        if keys == self._told:
            return
        self.asked, complaints = self.read(keys)
        changes = self.changes()
        self.settled()
        if complaints:
            self.link.change({**dict.fromkeys(keys), **changes})
            self.link.complain(complaints)

    def read(self, keys: Mapping[str, str]) -> tuple[A, list[str]]:
        """The settings that a link has, and what was wrong with it."""
        return updated_by_link(self._name, self._blank, keys)

    def settled(self) -> None:
        """Show what a link has set."""

    def changes(self) -> dict[str, str | None]:
        """What a link to these settings holds, by key; it will tell nothing new."""
        changes = changes_of_lab(self._name, self.asked)
        self._told = {key: text for key, text in changes.items() if text is not None}
        return changes

    def keep(self) -> None:
        """Let the link hold these settings."""
        self.link.change(self.changes())
