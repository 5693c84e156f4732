"""Kinds of settings: what their values are, how they are read and written, what input sets them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from sim.reading import UnreadableError, number

T = TypeVar("T")
N = TypeVar("N", int, float)


class Kind(ABC, Generic[T]):
    """What the values of a setting are."""

    @property
    @abstractmethod
    def control(self) -> str:
        """The input that sets it: "switch", "range", "field", "choice" or "boxes"."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """What may be written, in words, for messages and help."""

    @property
    def held(self) -> str:
        """How code holds a value, where `allowed` does not say it."""
        return ""

    @property
    def empty(self) -> str:
        """What an empty value is called."""
        return "none"

    @abstractmethod
    def admits(self, value: object) -> bool:
        """Whether this is a value, just as `read` gives it."""

    @abstractmethod
    def read(self, given: object) -> tuple[T, bool]:
        """The value nearest to a text or to what JSON holds, and whether it is just that.

        Raises UnreadableError.
        """

    @abstractmethod
    def write(self, value: T) -> str:
        """A value as URLs, the command line and fields write it; the empty list is empty text."""


_SWITCH = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}


@dataclass(frozen=True)
class Switch(Kind[bool]):
    """On or off."""

    control, allowed, held = "switch", "on or off", ", as True or False"

    def admits(self, value: object) -> bool:
        """No 1 and no 0: a report tells them apart."""
        return value is True or value is False

    def read(self, given: object) -> tuple[bool, bool]:
        """On and off by these names, as true and false, or as 1 and 0."""
        if isinstance(given, (bool, int)) and given in (0, 1):
            return bool(given), True
        text = given.strip().lower() if isinstance(given, str) else ""
        if text not in _SWITCH:
            raise UnreadableError
        return _SWITCH[text], True

    def write(self, value: bool) -> str:
        """On or off."""
        return "on" if value else "off"


@dataclass(frozen=True)
class Number(Kind[N]):
    """A number within inclusive limits.

    `slider` is where its range input stops and its step, or None for a number without one.
    """

    low: float
    high: float
    slider: tuple[float, float] | None = None
    noun = "number"

    @property
    def control(self) -> str:
        """A range input, or else a field."""
        return "range" if self.slider else "field"

    @property
    def limits(self) -> str:
        """The limits in words."""
        return f"from {write_number(self.low)} to {write_number(self.high)}"

    @property
    def allowed(self) -> str:
        """The noun with its limits."""
        return f"a {self.noun} {self.limits}"

    def write(self, value: float) -> str:
        """The shortest text that reads back as the same number."""
        return write_number(value)

    def _limited(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def _finite(self, given: object, most: float | None = None) -> float:
        if isinstance(given, str):
            return number(given, most)
        if isinstance(given, bool) or not isinstance(given, (int, float)):
            raise UnreadableError
        try:
            exact = float(given)
        except OverflowError:
            raise UnreadableError from None
        if not math.isfinite(exact):
            raise UnreadableError
        return exact + 0.0  # and no −0


class Real(Number[float]):
    """A number that may have a fraction."""

    def admits(self, value: object) -> bool:
        """A whole number too; not NaN."""
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            return self.low <= value <= self.high
        return False

    def read(self, given: object) -> tuple[float, bool]:
        """Held to the limits."""
        exact = self._finite(given)
        limited = float(self._limited(exact))
        return limited, limited == exact


class Whole(Number[int]):
    """A whole number."""

    noun = "whole number"

    def admits(self, value: object) -> bool:
        """No float, and no truth."""
        return type(value) is int and self.low <= value <= self.high

    def read(self, given: object) -> tuple[int, bool]:
        """Rounded, halves up, and held to the limits."""
        exact = self._finite(given, self.high)
        limited = int(self._limited(math.floor(exact + 0.5)))
        return limited, limited == exact


def write_number(value: float) -> str:
    """The shortest text that reads back as the same number: 1, not 1.0."""
    return str(int(value)) if value == int(value) else repr(value)


@dataclass(frozen=True)
class Maybe(Kind[T | None]):
    """A value of another kind, or None for what is not given: the empty text."""

    kind: Kind[T]

    @property
    def control(self) -> str:
        """A field, for no other input can be empty."""
        return "field"

    @property
    def allowed(self) -> str:
        """What the other kind allows."""
        return self.kind.allowed

    @property
    def held(self) -> str:
        """As the other kind, or None."""
        return f"{self.kind.held}, or None"

    def admits(self, value: object) -> bool:
        """None, or what the other kind admits."""
        return value is None or self.kind.admits(value)

    def read(self, given: object) -> tuple[T | None, bool]:
        """As the other kind does."""
        if isinstance(given, str) and not given.strip():
            return None, True
        return self.kind.read(given)

    def write(self, value: T | None) -> str:
        """As the other kind does."""
        return "" if value is None else self.kind.write(value)


@dataclass(frozen=True)
class Text(Kind[str]):
    """Words in one line, at most so many characters: each run of white space is one space."""

    most: int
    control = "field"

    @property
    def allowed(self) -> str:
        """How long it may be."""
        return f"a text of up to {self.most} characters"

    def admits(self, value: object) -> bool:
        """A text without white space around it or twice in it."""
        return isinstance(value, str) and self._cut(value) == value

    def read(self, given: object) -> tuple[str, bool]:
        """Cut where it is too long."""
        if not isinstance(given, str):
            raise UnreadableError
        whole = _in_one_line(given)
        text = self._cut(whole)
        return text, text == whole

    def write(self, value: str) -> str:
        """The text."""
        return value

    def _cut(self, text: str) -> str:
        return _in_one_line(text)[: self.most].rstrip()


def _in_one_line(text: str) -> str:
    whole = "".join(" " if ord(sign) < ord(" ") else sign for sign in text)
    return " ".join(whole.encode(errors="replace").decode().split())  # half a character is none


@dataclass(frozen=True)
class Choice(Kind[str]):
    """One of some names."""

    names: tuple[str, ...]
    control = "choice"

    @property
    def allowed(self) -> str:
        """The names."""
        return f"one of {', '.join(self.names)}"

    def admits(self, value: object) -> bool:
        """One of the names."""
        return value in self.names

    def read(self, given: object) -> tuple[str, bool]:
        """A name, to the letter."""
        if given not in self.names:
            raise UnreadableError
        return str(given), True

    def write(self, value: str) -> str:
        """The name."""
        return value
