"""How what people and other programs write is read: numbers, keys of a link, messages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, unquote

DEEPEST = 20
"""Levels of a message that are read; nothing that may be set has more than two."""

ESCAPES = 3
"""How many times too often a value may have been escaped."""

LONGEST_WORD = 40
"""Letters of a name beyond which it is no slip of any."""

_GROUPED = re.compile(r"([-+]?[1-9]\d{0,2})(([ '’.,])\d{3}(?:\3\d{3})*)(?:(?!\3)[.,](\d*))?")
_SPACE = re.compile(r"\s")
_AMPERSANDS = re.compile(r"^(?:(?:amp|#0*38|#x0*26);)+", re.IGNORECASE)
_CODED = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_CODED_SPACE = "%20"
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


class UnreadableError(ValueError):
    """A text that is no value of its kind at all."""


def number(text: str, most: float | None = None) -> float:
    """A number as people write it: with a decimal comma, in groups of three, with a % or a ×.

    A percentage is a share. Of 4.028 and 4,028 only the reader knows what they are: a fraction,
    but where a count is due, which is when `most` says how large it may be, they are grouped;
    with a point not beyond `most`, for programs write fractions so. Raises UnreadableError.
    """
    bare = _SPACE.sub(" ", text.strip()).replace("−", "-")
    percent = bare.endswith("%")
    if bare.endswith(("%", "×", "x")):
        bare = bare[:-1].rstrip()
    counted = most is not None
    found = _GROUPED.fullmatch(bare)
    if found:
        digits = found[1] + re.sub(r"\D", "", found[2])
        mark, decimals = found[3], found[4]
        sure = mark in " '’" or len(found[2]) > 4 or decimals is not None
        if sure or (most is not None and (mark == "," or float(digits) <= most)):
            bare = f"{digits}.{decimals or 0}"
    try:
        read = float(bare.replace(",", "."))
    except ValueError:
        raise UnreadableError from None
    if not math.isfinite(read) or (percent and counted):
        raise UnreadableError
    return (read / 100 if percent else read) + 0.0  # and no −0


SURE, LONG = 4, 8
"""Letters of a word from which on a slip can be told from another word, and two slips can."""


def slips(one: str, other: str) -> int:
    """How many letters are wrong, too many, missing or swapped with the next (Damerau, 1964)."""
    earlier, before, row = [0], [0], list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            best = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], against):
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
    return row[-1]


def misspelled(name: str, words: Iterable[str]) -> str | None:
    """The word that a name was meant to be, where it may as well be a word of somebody else.

    Both begin alike, for that letter is seldom wrong. At `SURE` letters none may be another one
    (shop is not show), from `LONG` on two slips may be.
    """

    def near(word: str) -> bool:
        short, long = sorted((len(name), len(word)))
        if short < SURE or name[0] != word[0] or long - short > 2:
            return False
        count = slips(name, word)
        if long == SURE:
            return count == 1 and sorted(name) == sorted(word)
        return count <= (2 if short >= LONG else 1)

    return min(filter(near, words), key=lambda word: slips(name, word), default=None)


def cut_off(fragment: str) -> bool:
    """Whether what stands behind a # is the rest of a query: `&#038;` was taken for its end."""
    return bool(_AMPERSANDS.match(fragment))


def keys_of(
    search: str, fragment: str, known: Container[str], texts: Container[str] = ()
) -> dict[str, str]:
    """The keys of an address, given what follows its ? and its #; of a repeated key the last.

    Course platforms and editors escape links once too often: `&amp;` and `&#038;` stand for `&`,
    and of keys that are `known` the values may still be coded, with all keys behind them. Values of
    `texts` stand as they are, for any sign may be theirs, unless their spaces too are still coded.
    """
    text = search.removeprefix("?") + ("&" + fragment if cut_off(fragment) else "")
    found: dict[str, str] = {}
    for whole, value in parse_qsl(text, keep_blank_values=True):
        name = _AMPERSANDS.sub("", whole)
        if name in texts and (" " in value or _CODED_SPACE not in value):
            found[name] = value
        elif name in known:
            value, _, rest = _bare(value).partition("&")
            found.update({name: value, **keys_of(rest, "", known, texts)})
        elif not value and _bare(name).partition("=")[0] in known:  # all of it is coded
            found.update(keys_of(_bare(name), "", known, texts))
        else:
            found[name] = value
    return found


def _bare(text: str) -> str:
    for _ in range(ESCAPES):
        text = unescape(unquote(text) if _CODED.search(text) else text)
    return text


def message(text: str) -> Any:
    """What JSON text holds. What is nested deeper than `DEEPEST` is read as “…”, which is nothing
    that could be set: no reader of JSON goes down any depth.
    """
    if text.count("[") + text.count("{") > DEEPEST:
        text = _flat(text)
    return json.loads(text)


def _flat(text: str) -> str:
    kept, depth, begin = [], 0, 0
    for found in _BRACKETS.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            if depth == DEEPEST + 1:
                kept.append(text[begin : found.start()] + '"…"')
        elif found[0] in ("]", "}"):
            if depth == DEEPEST + 1:
                begin = found.end()
            depth -= 1
    return "".join(kept) + text[begin:]
