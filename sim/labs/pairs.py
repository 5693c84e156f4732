"""Byte pairs: text as whole numbers, and back.

Sennrich et al. 2016, on bytes as in Radford et al. 2019: the first 256 tokens are the bytes
themselves, every later one is a pair of earlier tokens. So every text has tokens, and every row of
tokens has bytes. Pairs are joined within a piece only: a word with the space before it, a run of
other signs, of spaces, or of line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

PIECE = r"\n+| ?[A-Za-z]+| ?[^A-Za-z \n]+| +"
"""Every text is a row of such pieces, without a gap."""

BYTES = 256


class Pairs:
    """The tokens of some joined pairs, in the order in which they are joined."""

    def __init__(self, joined: Sequence[tuple[int, int]]) -> None:
        """Raises ValueError for a pair of tokens that are not there before it."""
        self.joined = tuple((left, right) for left, right in joined)
        self._rank = {pair: BYTES + number for number, pair in enumerate(self.joined)}
        self.bytes_of = [bytes([byte]) for byte in range(BYTES)]
        for number, pair in enumerate(self.joined):
            if not all(0 <= token < BYTES + number for token in pair):
                raise ValueError(f"pair {number}: {pair} names a token that is not there yet")
            left, right = pair
            self.bytes_of.append(self.bytes_of[left] + self.bytes_of[right])
        self._piece = lru_cache(maxsize=20_000)(self._joined)

    def __len__(self) -> int:
        return len(self.bytes_of)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; of half a surrogate pair, those of a question mark."""
        tokens: list[int] = []
        for piece in re.findall(PIECE, text):
            tokens += self._piece(piece)
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of these tokens; bytes that are no text show as U+FFFD."""
        return b"".join([self.bytes_of[token] for token in tokens]).decode(errors="replace")

    def _joined(self, piece: str) -> tuple[int, ...]:
        """Join the pair that comes first in the list, and again, until there is none."""
        tokens = list(piece.encode(errors="replace"))
        while len(tokens) > 1:
            rank, place = min(
                (self._rank.get((tokens[i], tokens[i + 1]), len(self)), i)
                for i in range(len(tokens) - 1)
            )
            if rank == len(self):
                break
            tokens[place : place + 2] = [rank]
        return tuple(tokens)
