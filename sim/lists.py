"""Kinds of settings whose values are lists: how they are read, and written with commas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from sim.kinds import Kind, N, Real, Whole, write_number
from sim.reading import UnreadableError


def _items(given: object) -> list[object]:
    if isinstance(given, str):
        return list(given.split(",")) if given.strip() else []
    if isinstance(given, Iterable) and not isinstance(given, Mapping):
        return list(given)
    return [given]


class _Numbers(Kind[tuple[N, ...]]):
    control, held = "field", ", in a tuple"

    def write(self, value: tuple[N, ...]) -> str:
        """A comma list."""
        return ",".join(map(write_number, value))


@dataclass(frozen=True)
class Reals(_Numbers[float]):
    """Numbers like `item`, at most so many, in their order."""

    item: Real
    most: int

    @property
    def allowed(self) -> str:
        """The number of numbers, and their limits."""
        return f"a comma list of up to {self.most} {self.item.noun}s {self.item.limits}"

    def admits(self, value: object) -> bool:
        """A tuple, so that it can be hashed."""
        if not isinstance(value, tuple) or len(value) > self.most:
            return False
        return all(map(self.item.admits, value))

    def read(self, given: object) -> tuple[tuple[float, ...], bool]:
        """One bad item voids the list; what is too many is dropped."""
        found = [self.item.read(item) for item in _items(given)]
        exact = len(found) <= self.most and all(same for _, same in found)
        return tuple(value for value, _ in found[: self.most]), exact


@dataclass(frozen=True)
class Wholes(_Numbers[int]):
    """Whole numbers like `item`, sorted, each once."""

    item: Whole
    held = ", sorted in a tuple, each once"

    @property
    def allowed(self) -> str:
        """The limits of each."""
        return f"a comma list of {self.item.noun}s {self.item.limits}"

    def admits(self, value: object) -> bool:
        """A tuple in ascending order."""
        if not isinstance(value, tuple) or not all(map(self.item.admits, value)):
            return False
        return all(one < following for one, following in pairwise(value))

    def read(self, given: object) -> tuple[tuple[int, ...], bool]:
        """A bad item is dropped."""
        found, exact = set(), True
        for item in _items(given):
            try:
                value, same = self.item.read(item)
            except UnreadableError:
                exact = False
                continue
            found.add(value)
            exact = exact and same
        return tuple(sorted(found)), exact


@dataclass(frozen=True)
class Pairs(Kind[tuple[tuple[int, int], ...]]):
    """Whole numbers for some places, as `place:value`: sorted by place, one value a place."""

    place: Whole
    value: Whole
    names: tuple[str, str]
    """What a place and a value are called where they are written."""
    control, held = "field", ", in a tuple of pairs sorted by the first, which each has once"

    @property
    def allowed(self) -> str:
        """What stands on both sides of the colon, and the limits of each."""
        place, value = self.names
        return f"a comma list of {place}:{value}, {place} {self.place.limits}, " + (
            f"{value} {self.value.limits}"
        )

    def admits(self, value: object) -> bool:
        """A tuple of tuples, so that it can be hashed."""
        if not isinstance(value, tuple) or not all(map(self._is_pair, value)):
            return False
        return all(one[0] < following[0] for one, following in pairwise(value))

    def _is_pair(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        return self.place.admits(item[0]) and self.value.admits(item[1])

    def read(self, given: object) -> tuple[tuple[tuple[int, int], ...], bool]:
        """Of texts, or of lists of two. A bad item is dropped, and so is one of no such place; of
        several for one place the last counts.
        """
        found, exact = dict[int, int](), True
        for item in _items(given):
            try:
                at, value, same = self._pair(item)
            except UnreadableError:
                exact = False
                continue
            found[at] = value
            exact = exact and same
        return tuple(sorted(found.items())), exact

    def _pair(self, item: object) -> tuple[int, int, bool]:
        parts = item.split(":") if isinstance(item, str) else item
        if not isinstance(parts, (list, tuple)) or len(parts) != 2:
            raise UnreadableError
        anywhere = replace(self.place, low=-math.inf, high=math.inf)
        at, whole = anywhere.read(parts[0])
        if not self.place.admits(at):
            raise UnreadableError
        value, same = self.value.read(parts[1])
        return at, value, whole and same

    def write(self, value: tuple[tuple[int, int], ...]) -> str:
        """A comma list."""
        return ",".join(f"{place}:{number}" for place, number in value)


@dataclass(frozen=True)
class Choices(Kind[tuple[str, ...]]):
    """Some of some names, at least so many, in the order of `names`, each once."""

    names: tuple[str, ...]
    least: int = 0
    control, held = "boxes", ", in a tuple in this order, each once"

    @property
    def allowed(self) -> str:
        """The names."""
        return f"a comma list of {', '.join(self.names)}"

    @property
    def empty(self) -> str:
        """Where at least one is due, none given is all."""
        return "all" if self.least else "none"

    def admits(self, value: object) -> bool:
        """A tuple in the order of `names`."""
        if not isinstance(value, tuple):
            return False
        return value == tuple(name for name in self.names if name in value)

    def read(self, given: object) -> tuple[tuple[str, ...], bool]:
        """A bad item is dropped."""
        items = _items(given)
        named = {item.strip() for item in items if isinstance(item, str)}
        found = tuple(name for name in self.names if name in named)
        if len(found) < self.least:
            raise UnreadableError
        return found, len(found) == len(named) and all(isinstance(item, str) for item in items)

    def write(self, value: tuple[str, ...]) -> str:
        """A comma list."""
        return ",".join(value)
