"""What a user may set: the one table behind the sliders, the URL keys, the CLI flags and the docs.

Each field of `Params` is a row: its name in code, its default, and through `setting` its key,
limits, label and help. `PARAMETERS` are these rows as data. What a link holds beside the run is in
view.py, in rows of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

SLOTS = 512
"""Positions the rolling KV cache keeps."""

HORIZON = 1200
"""Last tick of every run."""

DRAWS_PER_PASS = 32
"""Uniform draws per verify pass, whatever the draft length: so that settings share their luck."""

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """One row of the table.

    `kind` is "switch", "whole", "real", "wholes" (sorted, unique), "reals", "choice" or "choices"
    (unique, in the order of the table); `low` and `high` are inclusive limits; `slider` is where
    the range input stops and its step, or None for a setting without one; `choices` are the values
    of a "choice" or the items of "choices".
    """

    name: str
    default: Any
    key: str
    kind: str
    label: str
    help: str
    low: float = 0
    high: float = 1
    slider: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What may be written, in words, for messages and help."""
        if self.kind == "switch":
            return "on or off"
        if self.kind.startswith("choice"):
            some = "one" if self.kind == "choice" else "a comma list"
            return f"{some} of {', '.join(self.choices)}"
        noun = "whole number" if self.kind.startswith("whole") else "number"
        limits = f"from {write_number(self.low)} to {write_number(self.high)}"
        if self.kind.endswith("s"):
            return f"a comma list of {noun}s {limits}"
        return f"a {noun} {limits}"


def setting(default: T, key: str, kind: str, label: str, help: str, **limits: Any) -> T:
    """Declare a row of the table as a dataclass field."""
    row = dict(key=key, kind=kind, label=label, help=help, **limits)
    return field(default=default, metadata=row)


@dataclass(frozen=True)
class Params:
    """Everything a run depends on. Two equal `Params` make the same run, to the last digit."""

    speculation: bool = setting(
        True,
        "speculation",
        "switch",
        "speculation",
        "When off: one token per forward pass of the big model.",
    )
    draft_length: int = setting(
        4,
        "k",
        "whole",
        "draft length",
        "How many tokens the draft model guesses before the big model checks.",
        low=1,
        high=32,
        slider=(16, 1),
    )
    acceptance_rate: float = setting(
        0.8,
        "alpha",
        "real",
        "acceptance rate",
        "How often the draft model agrees with the big model.",
        slider=(1, 0.01),
    )
    acceptance_rates: tuple[float, ...] = setting(
        (),
        "rates",
        "reals",
        "rates per position",
        "One acceptance rate per draft position, the last one repeated; "
        "replaces the acceptance rate.",
    )
    kv_cache: bool = setting(
        True,
        "cache",
        "switch",
        "KV cache",
        "When off: nothing is kept, every pass computes every known position again.",
    )
    draft_cost: float = setting(
        0.0,
        "c",
        "real",
        "draft cost",
        "Time of one draft step ÷ time of one plain pass of the big model.",
        high=8,
        slider=(1, 0.01),
    )
    round_cost: float = setting(
        0.0,
        "c0",
        "real",
        "cost a round",
        "Time that drafting takes once a verify pass, whatever k is ÷ time of one plain pass.",
        high=8,
        slider=(1, 0.01),
    )
    batch_size: int = setting(
        1,
        "batch",
        "whole",
        "batch size",
        "Sequences that share each pass; all alike, one is drawn and counted.",
        low=1,
        high=512,
        slider=(512, 1),
    )
    knee: int = setting(
        256,
        "knee",
        "whole",
        "knee",
        "Tokens per pass up to which a pass is memory-bound.",
        low=1,
        high=4096,
        slider=(4096, 1),
    )
    recompute_chunk: int = setting(
        64,
        "chunk",
        "whole",
        "recompute chunk",
        "Positions that a recompute pass takes at once.",
        low=16,
        high=512,
        slider=(512, 1),
    )
    seed: int = setting(
        0,
        "seed",
        "whole",
        "seed",
        "The luck: the same seed draws the same coins for every setting.",
        high=2**32 - 1,
    )
    evictions: tuple[int, ...] = setting(
        (),
        "evict",
        "wholes",
        "evictions",
        "Ticks right after which the KV cache is evicted.",
        high=HORIZON,
    )

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """Conditional acceptance rate of each drafted position; empty with speculation off.

        Its length is the draft length k in effect.
        """
        if not self.speculation:
            return ()
        given = self.acceptance_rates or (self.acceptance_rate,)
        return tuple(given[min(i, len(given) - 1)] for i in range(self.draft_length))


@cache
def rows(record: type) -> tuple[Setting, ...]:
    """The table that a dataclass of settings is."""
    return tuple(Setting(f.name, f.default, **f.metadata) for f in fields(record))


PARAMETERS = rows(Params)


def write_number(value: float) -> str:
    """The shortest text that reads back as the same number: 1, not 1.0."""
    return str(int(value)) if value == int(value) else repr(value)


def write(row: Setting, value: Any) -> str:
    """A value as URLs, the command line and fields write it; the empty list is the empty text."""
    if row.kind == "switch":
        return "on" if value else "off"
    if row.kind == "choice":
        return str(value)
    if row.kind == "choices":
        return ",".join(value)
    if row.kind.endswith("s"):
        return ",".join(map(write_number, value))
    return write_number(value)


class UnparsableError(ValueError):
    """A text that is no value of its kind at all."""


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnparsableError
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise UnparsableError from None
    if not math.isfinite(number):
        raise UnparsableError
    return number


def _limited(row: Setting, number: float) -> float:
    """Nearest allowed value: rounded halves up where whole, then held to the limits."""
    if row.kind.startswith("whole"):
        number = math.floor(number + 0.5)
    return min(max(number, row.low), row.high)


def _items(value: object) -> list[object]:
    if isinstance(value, str):
        return list(value.split(",")) if value.strip() else []
    if isinstance(value, Iterable):
        return list(value)
    return [value]


_SWITCH = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}


def read(row: Setting, value: object) -> tuple[Any, str | None]:
    """Read a value leniently: the nearest sensible one, and a complaint where that is another.

    `value` may be a text or what JSON holds; None means the default. A complaint names the key,
    the value, what is allowed and what is used instead. Never raises.
    """
    if value is None:
        return row.default, None
    exact = True
    result: Any
    try:
        if row.kind == "switch":
            text = str(value).strip().lower()
            if text not in _SWITCH:
                raise UnparsableError
            result = _SWITCH[text]
        elif row.kind == "choice":
            if value not in row.choices:
                raise UnparsableError
            result = value
        elif row.kind == "choices":
            result, exact = _read_choices(row, _items(value))
        elif row.kind.endswith("s"):
            result, exact = _read_list(row, _items(value))
        else:
            number = _number(value)
            result = _limited(row, number)
            exact = result == number
            result = int(result) if row.kind == "whole" else result + 0.0
    except UnparsableError:
        result, exact = row.default, False
    if exact:
        return result, None
    shown = value if isinstance(value, str) else ",".join(map(str, _items(value)))
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    return result, f"{row.key}={shown} is not {row.allowed}; using {write(row, result) or 'none'}."


def _read_list(row: Setting, items: list[object]) -> tuple[tuple[float, ...], bool]:
    """Rates: one bad item voids the list. Evictions: a bad item is dropped; sorted, unique."""
    numbers, exact = [], True
    for item in items:
        try:
            number = _number(item)
        except UnparsableError:
            if row.kind == "reals":
                raise
            exact = False
            continue
        limited = _limited(row, number)
        exact = exact and limited == number
        numbers.append(limited)
    if row.kind == "wholes":
        return tuple(sorted({int(n) for n in numbers})), exact
    return tuple(n + 0.0 for n in numbers), exact


def _read_choices(row: Setting, items: list[object]) -> tuple[tuple[str, ...], bool]:
    """A bad item is dropped; where a setting is never empty, nothing left means the default."""
    names = {item.strip() for item in items if isinstance(item, str)}
    found = tuple(name for name in row.choices if name in names)
    exact = len(found) == len(names) and all(isinstance(item, str) for item in items)
    return (found or row.default), exact and bool(found or not row.default)


def _rows_of(record: object) -> tuple[Setting, ...]:
    return rows(type(record))  # type: ignore[arg-type]  # every class can be hashed


R = TypeVar("R")


def updated(record: R, changes: Mapping[str, object]) -> tuple[R, list[str]]:
    """`record` with `changes` (by key or full name) read leniently, and what was wrong with them.

    `record` is a dataclass of settings. Names that are not the record's are ignored.
    """
    values, complaints = {}, []
    for row in _rows_of(record):
        for name in dict.fromkeys((row.name, row.key)):  # where both are given, the key counts
            if name in changes:
                values[row.name], complaint = read(row, changes[name])
                complaints += [complaint] if complaint else []
    return (replace(record, **values) if values else record), complaints  # type: ignore[type-var]


def query(*records: object) -> dict[str, str]:
    """The keys of a link that leads to these records; defaults are left out."""
    found = {}
    for record in records:
        for row in _rows_of(record):
            value = getattr(record, row.name)
            if value != row.default:
                found[row.key] = write(row, value)
    return found


def link(address: str, *records: object) -> str:
    """The link at `address` that leads to these records."""
    keys = query(*records)
    return address + ("?" + urlencode(keys, safe=",") if keys else "")
