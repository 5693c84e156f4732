"""What two models say of the next word: rows of chances, as people write them or made from a seed.

A row is the distribution of the word after one word; one row alone means “whatever the word
before”.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from random import Random

from sim.kinds import Kind, write_number
from sim.labs.facts import DRAFT, TARGET
from sim.reading import UnreadableError, number

Rows = tuple[tuple[float, ...], ...]

LEAST, MOST = 2, 64
"""Words of a vocabulary."""

TOLERANCE = 1e-6
"""How far from 1 a row may sum up."""

EXACT = 1e-12
"""How far from 1 the last digits of a row may bring it."""

WORDS = (
    *(*TARGET, "man", "sea", "old", "saw"),
    *("went", "and", "ship", "of", "in", "home", "was", "it"),
)
"""Names for words, the first four those of the text's example."""

PARTS = 1000
"""Chances of a made language are whole multiples of one in so many, so that they can be written."""


def names(size: int) -> tuple[str, ...]:
    """What the words of a vocabulary are called: by number where there are many."""
    return WORDS[:size] if size <= len(WORDS) else tuple(str(n) for n in range(1, size + 1))


def rows_of(name: str, text: str) -> Rows:
    """Rows as people write them, `.6,.3,.1;.2,.5,.3;.1,.2,.7`, each made to sum to 1.

    Raises ValueError, which begins with `name` and names row and entry, counted from 1.
    """
    rows = [
        [_entry(name, row, place, one) for place, one in enumerate(line.split(","), start=1)]
        for row, line in enumerate(text.strip().rstrip(";").split(";"), start=1)
    ]
    size = len(rows[0])
    if not LEAST <= size <= MOST:
        many = "1 word" if size == 1 else f"{size} words"
        raise ValueError(f"{name}: row 1 has {many}; a row has {LEAST} to {MOST}")
    for row, chances in enumerate(rows, start=1):
        if len(chances) != size:
            raise ValueError(f"{name}: row {row} has {len(chances)} entries, but row 1 has {size}")
        whole = sum(chances)
        if abs(whole - 1) > TOLERANCE:
            raise ValueError(f"{name}: row {row} sums to {whole:.7g}; its entries must sum to 1")
    if len(rows) not in (1, size):
        raise ValueError(
            f"{name}: {len(rows)} rows of {size} words; give a row for each word, or one for all"
        )
    return tuple(map(_whole, rows))


def _whole(row: Sequence[float]) -> tuple[float, ...]:
    """A row made to sum to 1; one that does but for the last digit stays as it is."""
    whole = sum(row)
    exact = abs(whole - 1) < EXACT
    return tuple(row) if exact else tuple(chance / whole for chance in row)


def _entry(name: str, row: int, place: int, text: str) -> float:
    where = f"{name}: row {row}, entry {place}"
    try:
        chance = number(text)
    except UnreadableError:
        raise ValueError(f"{where}: “{text.strip()}” is not a number") from None
    if chance < 0:
        raise ValueError(f"{where}: {chance:g} is negative; a chance is 0 to 1")
    return chance


def written(rows: Rows) -> str:
    """Rows as `rows_of` reads them."""
    return ";".join(",".join(map(write_number, row)) for row in rows)


@dataclass(frozen=True)
class Written(Kind[str]):
    """Rows as a text that `rows_of` reads, or the empty text."""

    name: str
    control = "field"

    @property
    def allowed(self) -> str:
        """How they are written."""
        return f"rows of {LEAST} to {MOST} chances such as .6,.4;.3,.7, each row with the sum 1"

    def admits(self, value: object) -> bool:
        """A text that can be read."""
        try:
            return isinstance(value, str) and self.read(value)[1]
        except UnreadableError:
            return False

    def read(self, given: object) -> tuple[str, bool]:
        """The text itself, without spaces."""
        if not isinstance(given, str):
            raise UnreadableError
        text = "".join(given.split())
        try:
            if text:
                rows_of(self.name, text)
        except ValueError:
            raise UnreadableError from None
        return text, True

    def write(self, value: str) -> str:
        """The text."""
        return value


@dataclass(frozen=True)
class Language:
    """A target and a draft model over the same words."""

    target: Rows
    draft: Rows

    @property
    def size(self) -> int:
        """Words of the vocabulary."""
        return len(self.target[0])


def language(target: str, draft: str) -> Language:
    """Two models as people write them. Raises ValueError."""
    made = Language(rows_of("target", target), rows_of("draft", draft))
    if len(made.draft[0]) != made.size:
        raise ValueError(f"draft: {len(made.draft[0])} words, but the target has {made.size}")
    return made


OF_THE_TEXT = Language((_whole(tuple(TARGET.values())),), (_whole(tuple(DRAFT.values())),))
"""The four words of the text's example."""


def made_language(
    size: int, alike: float, temperature: float, draft_temperature: float, seed: int
) -> Language:
    """Two models over `size` words, at most `PARTS`, from a seed.

    The logits of the target are normal, those of the draft correlate with them by `alike`, 0 to 1;
    each model has its temperature. Every word has a chance.
    """
    luck = Random(seed)
    target, draft = [], []
    for _ in range(size):
        logits = [luck.gauss(0, 1) for _ in range(size)]
        others = [luck.gauss(0, 1) for _ in range(size)]
        mixed = [
            alike * one + sqrt(1 - alike * alike) * other
            for one, other in zip(logits, others, strict=True)
        ]
        target.append(_softmax(logits, temperature))
        draft.append(_softmax(mixed, draft_temperature))
    return Language(tuple(target), tuple(draft))


def _softmax(logits: list[float], temperature: float) -> tuple[float, ...]:
    """Chances in whole parts, at least one each; the largest takes what rounding leaves."""
    highest = max(logits)
    weights = [exp((one - highest) / temperature) for one in logits]
    free, whole = PARTS - len(weights), sum(weights)
    parts = [1 + int(free * weight / whole) for weight in weights]
    parts[logits.index(highest)] += PARTS - sum(parts)
    return _whole([part / PARTS for part in parts])
