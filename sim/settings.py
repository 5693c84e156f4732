"""A dataclass of settings as a table: its rows, what is wrong with a value, changes, links.

A field made by `setting` is a row: its name in code, its default, and its key, kind, label and
help. From the rows follow URL keys, CLI flags, sliders, complaints and docs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from sim.kinds import Kind, Number
from sim.reading import UnreadableError

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """One row of a table."""

    name: str
    default: Any
    key: str
    kind: Kind[Any]
    label: str
    help: str


def setting(default: T, key: str, kind: Kind[T], label: str, help: str) -> T:
    """Declare a row of the table as a dataclass field."""
    row = {"key": key, "kind": kind, "label": label, "help": help}
    return field(default=default, metadata=row)


@cache
def rows(record: type) -> tuple[Setting, ...]:
    """The table that a dataclass of settings is."""
    return tuple(Setting(f.name, f.default, **f.metadata) for f in fields(record))


LONGEST = 40
"""Characters of a bad value, and of what is used instead, that are repeated."""


def shown(value: object) -> str:
    """A value as a complaint repeats it: cut where it is long. Never raises."""
    try:
        items = value if isinstance(value, (list, tuple)) else [value]
        text = ",".join(str(item) for item in islice(items, LONGEST + 1))
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        text = "…"
    text = text.encode(errors="replace").decode()  # half a character is none
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def write(row: Setting, value: Any) -> str:
    """A value of the setting as URLs, the command line and fields write it."""
    return row.kind.write(value)


def read(row: Setting, value: object) -> tuple[Any, str | None]:
    """Read a value leniently: the nearest sensible one, and a complaint where that is another.

    `value` may be a text or what JSON holds; None means the default. A complaint names the key,
    the value, what is allowed and what is used instead. Never raises.
    """
    if value is None:
        return row.default, None
    try:
        result, exact = row.kind.read(value)
    except UnreadableError:
        result, exact = row.default, False
    return result, None if exact else _complaint(row, value, f"using {_told(row, result)}")


def entered(row: Setting, text: str, old: Any) -> tuple[Any, str | None]:
    """Read what was written into a field, as `read` does; but what cannot be read leaves `old`."""
    try:
        result, exact = row.kind.read(text)
    except UnreadableError:
        return old, _complaint(row, text, f"it stays {_told(row, old)}")
    return result, None if exact else _complaint(row, text, f"using {_told(row, result)}")


def check(record: object) -> None:
    """Raise ValueError where a value of this record is not just as its row allows."""
    for row in _rows_of(record):
        value = getattr(record, row.name)
        if not row.kind.admits(value):
            kind = row.kind
            raise ValueError(f"{row.key}={_named(value)} is not {kind.allowed}{kind.held}")


def _named(value: object) -> str:
    try:
        return shown(repr(value))
    except (RecursionError, ValueError):
        return shown(value)


def _told(row: Setting, value: Any) -> str:
    return shown(write(row, value)) or row.kind.empty


def _complaint(row: Setting, value: object, outcome: str) -> str:
    if isinstance(value, str) and not value.strip():
        return f"{row.key} is empty, not {row.kind.allowed}; {outcome}."
    return f"{row.key}={shown(value)} is not {row.kind.allowed}; {outcome}."


def stepped(row: Setting, value: float, up: bool) -> float:
    """The next value up or down that a slider of this setting stops at, within its limits.

    Raises TypeError for a setting that is no number.
    """
    kind = row.kind
    if not isinstance(kind, Number):
        raise TypeError(f"{row.key} is no number")
    step = kind.slider[1] if kind.slider else 1
    place = round(value / step, 9)
    following = math.floor(place) + 1 if up else math.ceil(place) - 1
    return min(max(round(following * step, 9), kind.low), kind.high)


def _rows_of(record: object) -> tuple[Setting, ...]:
    return rows(type(record))  # type: ignore[arg-type]  # every class can be hashed


R = TypeVar("R")


def updated(record: R, changes: Mapping[str, object]) -> tuple[R, list[str]]:
    """`record` with `changes` (by key or full name) read leniently, and what was wrong with them.

    `record` is a dataclass of settings. Names that are not the record's are ignored.
    """
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for row in _rows_of(record):
        name = row.key if row.key in changes else row.name  # where both are given, the key counts
        if name in changes:
            values[row.name], complaint = read(row, changes[name])
            complaints += [complaint] if complaint else []
    return (replace(record, **values) if values else record), complaints  # type: ignore[type-var]


def updated_by_link(name: str, record: R, keys: Mapping[str, str]) -> tuple[R, list[str]]:
    """The settings of the lab `name` with its keys of a link, `name.key`, and what was wrong."""
    given = {key.removeprefix(f"{name}."): text for key, text in keys.items()}
    own = [row.key for row in _rows_of(record)]
    after, complaints = updated(record, {key: given[key] for key in own if key in given})
    told = [f"{name}.{complaint}" for complaint in complaints]
    listed = ", ".join(own)
    unknown = [shown(key) for key in given if key not in own]
    return after, told + [f"{name}.{key} is not a key; {name} has {listed}." for key in unknown]


def changes_of_lab(name: str, record: object) -> dict[str, str | None]:
    """What a link to these settings of the lab `name` holds, by key; None for a default."""
    return {
        f"{name}.{row.key}": None if value == row.default else write(row, value)
        for row in _rows_of(record)
        for value in [getattr(record, row.name)]
    }


def query(*records: object) -> dict[str, str]:
    """The keys of a link that leads to these records; defaults are left out.

    A record is a dataclass of settings, or a mapping of keys that stand as they are: those of labs.
    """
    found: dict[str, str] = {}
    for record in records:
        if isinstance(record, Mapping):
            found.update(record)
            continue
        for row in _rows_of(record):
            value = getattr(record, row.name)
            if value != row.default:
                found[row.key] = write(row, value)
    return found


def link(address: str, *records: object) -> str:
    """The link at `address` that leads to these records."""
    keys = query(*records)
    return address + ("?" + urlencode(keys, safe=",:", quote_via=quote) if keys else "")
