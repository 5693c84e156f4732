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
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlencode

from sim.reading import UnreadableError, number

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
    (unique, in the order of the table); `low` and `high` are inclusive limits; `most` is how many
    items "reals" may have; `slider` is where the range input stops and its step, or None for a
    setting without one; `choices` are the values of a "choice" or the items of "choices".
    """

    name: str
    default: Any
    key: str
    kind: str
    label: str
    help: str
    low: float = 0
    high: float = 1
    most: int = 0
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
            many = f"up to {self.most} " if self.most else ""
            return f"a comma list of {many}{noun}s {limits}"
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
        most=DRAWS_PER_PASS,
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
        "Time of drafting, paid once a verify pass ÷ time of one plain pass of the big model.",
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


def _number(row: Setting, value: object) -> float:
    if isinstance(value, str):
        return number(value, row.high if row.kind.startswith("whole") else None)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnreadableError
    try:
        exact = float(value)
    except OverflowError:
        raise UnreadableError from None
    if not math.isfinite(exact):
        raise UnreadableError
    return exact + 0.0  # and no −0


def _limited(row: Setting, number: float) -> float:
    """Nearest allowed value: rounded halves up where whole, then held to the limits."""
    if row.kind.startswith("whole"):
        number = math.floor(number + 0.5)
    return min(max(number, row.low), row.high)


def _items(value: object) -> list[object]:
    if isinstance(value, str):
        return list(value.split(",")) if value.strip() else []
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return list(value)
    return [value]


_SWITCH = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}


def _taken(row: Setting, value: object) -> tuple[Any, bool]:
    """A value as its row has it, and whether it is just what was given. Raises UnreadableError."""
    if row.kind == "switch":
        if isinstance(value, (bool, int)) and value in (0, 1):
            return bool(value), True
        text = value.strip().lower() if isinstance(value, str) else ""
        if text not in _SWITCH:
            raise UnreadableError
        return _SWITCH[text], True
    if row.kind == "choice":
        if value not in row.choices:
            raise UnreadableError
        return value, True
    if row.kind == "choices":
        return _read_choices(row, _items(value))
    if row.kind.endswith("s"):
        return _read_list(row, _items(value))
    number = _number(row, value)
    limited = _limited(row, number)
    return (int(limited) if row.kind == "whole" else float(limited)), limited == number


def read(row: Setting, value: object) -> tuple[Any, str | None]:
    """Read a value leniently: the nearest sensible one, and a complaint where that is another.

    `value` may be a text or what JSON holds; None means the default. A complaint names the key,
    the value, what is allowed and what is used instead. Never raises.
    """
    if value is None:
        return row.default, None
    try:
        result, exact = _taken(row, value)
    except UnreadableError:
        result, exact = row.default, False
    return result, None if exact else _complaint(row, value, f"using {_told(row, result)}")


def entered(row: Setting, text: str, old: Any) -> tuple[Any, str | None]:
    """Read what was written into a field, as `read` does; but what cannot be read leaves `old`."""
    try:
        result, exact = _taken(row, text)
    except UnreadableError:
        return old, _complaint(row, text, f"it stays {_told(row, old)}")
    return result, None if exact else _complaint(row, text, f"using {_told(row, result)}")


def _told(row: Setting, value: Any) -> str:
    return shown(write(row, value)) or "none"


def _complaint(row: Setting, value: object, outcome: str) -> str:
    if isinstance(value, str) and not value.strip():
        return f"{row.key} is empty, not {row.allowed}; {outcome}."
    return f"{row.key}={shown(value)} is not {row.allowed}; {outcome}."


def stepped(row: Setting, value: float, up: bool) -> float:
    """The next value up or down that a slider of this setting stops at, within its limits."""
    step = row.slider[1] if row.slider else 1
    place = round(value / step, 9)
    following = math.floor(place) + 1 if up else math.ceil(place) - 1
    return min(max(round(following * step, 9), row.low), row.high)


def _read_list(row: Setting, items: list[object]) -> tuple[tuple[float, ...], bool]:
    """Rates: one bad item voids the list. Evictions: a bad item is dropped; sorted, unique."""
    numbers, exact = [], True
    for item in items:
        try:
            number = _number(row, item)
        except UnreadableError:
            if row.kind == "reals":
                raise
            exact = False
            continue
        limited = _limited(row, number)
        exact = exact and limited == number
        numbers.append(limited)
    if row.kind == "wholes":
        return tuple(sorted({int(n) for n in numbers})), exact
    kept = numbers[: row.most] if row.most else numbers
    return tuple(float(n) for n in kept), exact and len(kept) == len(numbers)


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
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for row in _rows_of(record):
        name = row.key if row.key in changes else row.name  # where both are given, the key counts
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
