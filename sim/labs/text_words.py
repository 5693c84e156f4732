"""A text as a table: each token that was written, and what else the draft would have said there."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from sim.labs.weights import Array
from sim.labs.writer import Writer, drafts_of
from sim.stretch import HEAD, LINE_END, SPACES, readable
from sim.work import Work


def words_csv(writer: Writer, end: int, separator: str) -> Work[str]:
    """The tokens written before `end`, a line each, as `sim.stretch` reads them between tabs.

    The other token is the likeliest by the draft, given all before it, of those that are read as
    another word.
    """
    tokens, first = writer.tokens[:end], writer.origins.count("prompt")
    cells = [_cell(piece) for piece in writer.models.pairs.bytes_of]
    words = [readable(cell) for cell in cells]
    draft = drafts_of(writer.models)[writer.setting.draft]
    written = StringIO()
    table = csv.writer(written, delimiter=separator, lineterminator="\n")
    table.writerow(HEAD)
    for position in range(first, end):
        chances = yield from draft.chances(tokens[:position], 1.0)
        draft.settle(position)
        token = tokens[position]
        table.writerow((cells[token], cells[_rather(chances, words, words[token])]))
    return written.getvalue()


def _cell(piece: bytes) -> str:
    """A token in one line, signs that are none to be seen as U+FFFD."""
    text = piece.decode(errors="replace").replace("\n", LINE_END)
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _rather(chances: Array, words: Sequence[str], written: str) -> int:
    """The likeliest token that is some word, and not the one that was written."""
    by_chance = (-chances).argsort(kind="stable")
    return next(int(token) for token in by_chance if words[token] not in (SPACES, written))
