"""A stretch of text that lends its words to the widget: coins and rates decide, as without it.

The model of the text lab wrote it, a token a position; of each position the table also holds what
the draft would rather have said there. Position p of a run has row p of it, and after the last row
comes the first again.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sim.reading import UnreadableError

FILE = "static/words.tsv"
"""Where it is, below the page."""

HEAD = ("token", "other")
LINE_END, SPACES = "↵", "␣"

MOST = 24
"""Characters of a text that are quoted; of a longer one, its two ends."""


def readable(token: str) -> str:
    """A token as it is shown by itself: without the space before it, if it is more than that."""
    return token.strip() or SPACES


class Stretch(NamedTuple):
    """Tokens by their position, `LINE_END` for the end of a line; both are as long."""

    tokens: tuple[str, ...]
    others: tuple[str, ...]

    def token(self, position: int) -> str:
        """The word that the text has there."""
        return readable(self.tokens[position % len(self.tokens)])

    def other(self, position: int) -> str:
        """The word that the draft would have there, which is not the text's."""
        return readable(self.others[position % len(self.others)])

    def drafted(self, position: int, accepted: bool) -> str:
        """What a draft there says: an accepted one the text's own word."""
        return self.token(position) if accepted else self.other(position)

    def quoted(self, start: int, end: int) -> str:
        """The text from position `start` up to `end`, in quotation marks, cut where it is long."""
        whole = "".join(self.tokens[at % len(self.tokens)] for at in range(start, end))
        text = " ".join(re.sub(f"{LINE_END}+", f" {LINE_END} ", whole).split())
        if len(text) > MOST:
            text = f"{text[: MOST // 2].rstrip()}…{text[-MOST // 2 :].lstrip()}"
        return f"“{text}”"


def read_stretch(data: bytes) -> Stretch:
    """The stretch in a table: a head, then a line for each position, with tabs.

    Raises UnreadableError for what is not whole: another head, a line with more or fewer tokens
    than two, no line at all, a last one without its end.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise UnreadableError from None
    rows = [tuple(line.split("\t")) for line in text.splitlines()]
    whole = all(len(row) == len(HEAD) and all(row) for row in rows)
    if not text.endswith("\n") or not whole or rows[0] != HEAD or len(rows) == 1:
        raise UnreadableError
    tokens, others = zip(*rows[1:], strict=True)
    return Stretch(tokens, others)
