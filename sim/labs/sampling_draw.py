"""Passes of speculative sampling, drawn for many chains at once, and plain sampling beside them.

Each chain is a text of its own. It begins at a word where passes of the rule begin, in their exact
shares, and all of them do a pass in each round, so that the words of all passes together have the
shares that theory gives. A chain whose pass is over is left out of the rest of the round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.labs.sampling_exact import Exact
from sim.labs.speculative import Chances, Inverse
from sim.work import Work

MOST_CHAINS = 1024
WORDS_EACH = 64
"""Words that a chain writes at least, where there are so many to write."""

MOST_DRAFTS = 8192
"""Drafts of a round, of all chains, so that a page can take a round between two frames."""

DRAFT, COIN, REPLACEMENT, PLAIN = range(4)
"""Streams of uniforms: those of plain sampling are its own."""

Whole = NDArray[np.intp]


def streams(seed: int) -> list[np.random.Generator]:
    """Independent streams of one seed."""
    return [np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(4)]


def chains(tokens: int, k: int) -> int:
    """How many texts are written at once, for so many words in all with drafts of length k."""
    return max(1, min(MOST_CHAINS, MOST_DRAFTS // max(1, k), tokens // WORDS_EACH))


class Round(NamedTuple):
    """A pass of each chain."""

    pairs: Whole
    """By position in the pass and chain: the word before · words of the vocabulary + the word; −1
    where none was written."""
    ends: Whole
    """By chain: the position of the pass's own word, k after k kept drafts."""
    words: Whole
    """By chain: that word, where the next pass begins."""


class Drawer:
    """Draws rounds of a rule."""

    def __init__(self, exact: Exact) -> None:
        self.k, self.size, self._goes_on = exact.k, exact.models.size, exact.tables.goes_on
        self._draft = Inverse(exact.tables.draft)
        self._own = Inverse(np.concatenate([exact.tables.instead, exact.tables.last]))
        self._keep = exact.tables.keep.ravel()

    def round(self, words: Whole, drafts: Chances, coins: Chances, own: Chances) -> Round:
        """A pass after each word, given its uniforms: k a chain for drafts and coins, down the
        rows, and one for the pass's own word.
        """
        number, k, size = len(words), self.k, self.size
        pairs = np.full((k + 1, number), -1)
        ends = np.full(number, k)
        rows = np.empty(number, np.intp)  # of `instead`, and behind them of `last`
        going, at, before = np.arange(number), words, words
        for position in range(k):
            if not len(going):
                break
            whole = len(going) == number
            uniforms = drafts[position] if whole else drafts[position, going]
            tossed = coins[position] if whole else coins[position, going]
            drafted = self._draft(at, uniforms)
            kept = tossed < self._keep[at * size + drafted]
            if self._goes_on:
                pairs[position, kept] = (before * size + drafted)[kept]
                before, at = np.where(kept, drafted, before), drafted
                continue
            over = going[~kept]
            ends[over], rows[over] = position, at[~kept]
            going, drafted, at = going[kept], drafted[kept], at[kept]
            pairs[position, going] = at * size + drafted
            at = drafted
        rows[going] = size + at
        found = self._own(rows, own)
        last = before if self._goes_on else rows % size
        pairs[ends, np.arange(number)] = last * size + found
        return Round(pairs, ends, found)


class Drawn:
    """A text of so many words, drawn by a rule: what there is of it so far."""

    def __init__(self, exact: Exact, tokens: int, seed: int) -> None:
        self.exact, self.wanted = exact, tokens
        self.tokens = self.passes = 0
        self.first: list[tuple[int, bool, bool]] = []
        """The first chain's words: each word, whether it is its pass's own, whether it follows k
        kept drafts."""
        self._counts = np.zeros(exact.models.size**2, np.int64)
        self._streams = streams(seed)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each pair was written: (the word before, the word)."""
        return self._counts.reshape(self.exact.models.size, -1)

    def work(self) -> Work[Drawn]:
        """Write all of it, a round at a time; gives itself."""
        number, k = chains(self.wanted, self.exact.k), self.exact.k
        drafts, coins, own = (self._streams[name] for name in (DRAFT, COIN, REPLACEMENT))
        drawer = Drawer(self.exact)
        starts = Inverse(self.exact.starts[None, :])
        words = starts(np.zeros(number, np.intp), own.random(number))
        while self.tokens < self.wanted:
            luck = drafts.random((k, number)), coins.random((k, number)), own.random(number)
            made = drawer.round(words, *luck)
            words = made.words
            self._take(made)
            yield self.tokens / self.wanted
        return self

    def _take(self, made: Round) -> None:
        """Count a round, chain by chain, as far as its words are wanted."""
        written = made.pairs >= 0
        lengths = written.sum(axis=0)
        missing, total = self.wanted - self.tokens, int(lengths.sum())
        if total <= missing:
            found, passes = made.pairs[written], len(lengths)
        else:
            found = made.pairs.T[written.T][:missing]
            passes = int(np.searchsorted(np.cumsum(lengths), missing)) + 1
        self._counts += np.bincount(found, minlength=len(self._counts))
        self.tokens += len(found)
        self.passes += passes
        self._follow(made)

    def _follow(self, made: Round) -> None:
        end = int(made.ends[0])
        for position, pair in enumerate(made.pairs[:, 0].tolist()):
            if pair >= 0 and len(self.first) < self.wanted:
                own = position == end
                self.first.append((pair % self.exact.models.size, own, end == self.exact.k))


class Plain:
    """A text of so many words drawn from the target alone, a word a pass."""

    def __init__(self, exact: Exact, tokens: int, seed: int) -> None:
        self.exact, self.wanted, self.tokens = exact, tokens, 0
        self._counts = np.zeros(exact.models.size**2, np.int64)
        self._luck = streams(seed)[PLAIN]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each pair was written: (the word before, the word)."""
        return self._counts.reshape(self.exact.models.size, -1)

    def work(self) -> Work[Plain]:
        """Write all of it, a word of each chain at a time; gives itself."""
        number, size = chains(self.wanted, 0), self.exact.models.size
        target = Inverse(self.exact.models.target)
        words = Inverse(self.exact.words[None, :])(
            np.zeros(number, np.intp), self._luck.random(number)
        )
        while self.tokens < self.wanted:
            found: NDArray[Any] = target(words, self._luck.random(number))
            pairs = (words * size + found)[: self.wanted - self.tokens]
            self._counts += np.bincount(pairs, minlength=len(self._counts))
            self.tokens += len(pairs)
            words = found
            yield self.tokens / self.wanted
        return self
