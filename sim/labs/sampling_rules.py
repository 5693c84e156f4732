"""The rule of speculative sampling, and six ways to get it wrong, as tables to draw from.

In a pass, drafts are drawn one after another; a draft j after word i is kept with a chance, at the
first one that is not the word comes from another row, and after k kept ones from one more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.labs.sampling_rows import Language, Rows
from sim.labs.speculative import Chances, acceptance, residual


@dataclass(frozen=True)
class Models:
    """Two models as square matrices: row i is the distribution of the word after word i."""

    target: Chances
    draft: Chances

    @property
    def size(self) -> int:
        """Words of the vocabulary."""
        return len(self.target)

    @property
    def overlap(self) -> Chances:
        """α after each word: the chance that a draft there is accepted."""
        found: Chances = np.minimum(self.target, self.draft).sum(axis=1)
        return found


def models_of(language: Language) -> Models:
    """The models of a language; one row alone becomes every row."""

    def square(rows: Rows) -> Chances:
        return np.array(np.broadcast_to(rows, (language.size, language.size)), np.float64)

    return Models(square(language.target), square(language.draft))


class Tables(NamedTuple):
    """What a rule draws from, a row for the word before, and what it keeps."""

    draft: Chances
    """Drafts come from here."""
    keep: Chances
    """The chance that draft j after word i is kept."""
    instead: Chances
    """The word that a draft which is not kept is replaced by comes from here."""
    last: Chances
    """The word after k drafts comes from here."""
    goes_on: bool = False
    """Whether a draft that is not kept is left out, and those after it are tried all the same."""

    @property
    def kept(self) -> Chances:
        """The chance that word j is drafted after word i and kept."""
        return self.draft * self.keep

    @property
    def replaced(self) -> Chances:
        """The chance that the draft after word i is not kept, and word j put in its place."""
        made: Chances = (1 - self.kept.sum(axis=1, keepdims=True)) * self.instead
        return made


def tables(models: Models, rule: str, draft_temperature: float) -> Tables:
    """What a rule, one of `RULES`, draws from; only `stale-temperature` has a temperature."""
    p, q = models.target, models.draft
    right = Tables(q, acceptance(p, q), residual(p, q), p)
    if rule == "replace-from-target":
        return right._replace(instead=p)
    if rule == "always-accept":
        return right._replace(keep=np.ones_like(p))
    if rule == "argmax":
        likeliest = np.eye(len(p))[p.argmax(axis=1)]
        return right._replace(keep=likeliest, instead=likeliest)
    if rule == "bonus-from-draft":
        return right._replace(last=q)
    if rule == "stale-temperature":
        hot = (q / q.max(axis=1, keepdims=True)) ** (1 / draft_temperature)
        return right._replace(draft=hot / hot.sum(axis=1, keepdims=True))
    if rule == "keep-after-rejection":
        return right._replace(goes_on=True)
    return right
