"""Recall: questions to answer in one's head, and which of them come first when one returns.

A card gets stronger when it was easy and starts anew when it was not known; the weakest come first.
What is remembered of a reader is one small JSON text, which never leaves their device by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple


class Card(NamedTuple):
    """A question and its answer, with **emphasis**."""

    key: str
    question: str
    answer: str


CARDS = (
    Card(
        "memory",
        "Why does checking five tokens take about as long as writing one?",
        "Both read every weight of the model once, and below the knee that reading is what takes "
        "the time. The arithmetic of four more tokens fits into the wait.",
    ),
    Card(
        "kept",
        "What does a KV cache keep, and why may it?",
        "The key and the value of every earlier token in every layer. They depend on the token "
        "itself and on what stands before it, so a later token never changes them.",
    ),
    Card(
        "square",
        "Without a KV cache, how does the work for n tokens grow?",
        "With the square: each pass computes all known positions again, **n² ÷ 2** in all instead "
        "of n.",
    ),
    Card(
        "evict",
        "What is lost when a cache is evicted, and what is not?",
        "The keys and values are lost; the **tokens** are not. All positions go through the model "
        "again before the next token, unless the engine swapped them out and brings them back.",
    ),
    Card(
        "mismatch",
        "Why is everything after the first rejected draft thrown away?",
        "It was proposed, and checked, as the continuation of a text that is not being written.",
    ),
    Card(
        "rule",
        "With which chance is a draft accepted that target and draft model give p and q?",
        "With **min(1, p ÷ q)**.",
    ),
    Card(
        "residual",
        "What is drawn after a rejection, so that the text stays the target model's own?",
        "A token from **max(0, p − q)**, made to sum to one: what the draft model offered too "
        "little of.",
    ),
    Card(
        "bonus",
        "What is the bonus token, and what follows from it for tokens per pass?",
        "The token that the checking pass itself yields. So a pass yields between **1** and "
        "**k + 1** tokens, never none.",
    ),
    Card(
        "formula",
        "How many tokens does a pass yield on average, at rate α and draft length k?",
        "1 + α + α² + … + αᵏ, which is **(1 − αᵏ⁺¹) ÷ (1 − α)**.",
    ),
    Card(
        "ceiling",
        "At α = 0.7, how much better can a very long draft make it?",
        "No more than 1 ÷ (1 − 0.7), which is **3.33** tokens per pass; the second draft adds "
        "0.49, the eighth 0.06.",
    ),
    Card(
        "alpha",
        "Why is accepted ÷ drafted not α?",
        "α is a chance **given** that all earlier drafts were accepted. Drafts after a rejection "
        "count as drafted whatever they were worth, so the share is lower: 59 % at α = 0.8, k = 4.",
    ),
    Card(
        "lose",
        "Name two ways in which speculation makes things slower.",
        "Drafting costs time: many drafts that are often wrong do not pay for themselves. And in a "
        "**large batch** a pass is past the knee, so checking more tokens takes longer.",
    ),
)
BY_CARD = {card.key: card for card in CARDS}

RATINGS = ("again", "hard", "easy")
STRONGEST = 5

MARK = "bonus-token-recall"
"""The key by which an exported text is known; its value is the version of the format."""

MOST_BRACKETS = 64
"""How many lists and objects a text may open that is read at all; an export opens three."""

LARGEST = 65_536
"""Bytes of the largest file that is read; an export has less than two thousand."""

SELF_RATINGS = ("new to me", "I can follow it", "I can explain it")
"""Where are you with this?"""


@dataclass(frozen=True)
class Memory:
    """What is remembered of a reader."""

    strengths: Mapping[str, int] = field(default_factory=dict)
    """By card, 0 to `STRONGEST`; a card that was never rated is not in it."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """By card, the turn in which it was last rated, counted over all visits."""
    standing: int | None = None
    """An index of `SELF_RATINGS`, or None where nothing was said."""

    def rated(self, key: str, rating: str) -> Memory:
        """After a card was rated: again makes it weakest, hard keeps it, easy makes it stronger."""
        before = self.strengths.get(key, 0)
        after = {"again": 0, "hard": max(1, before), "easy": min(STRONGEST, before + 2)}[rating]
        turn = max(self.turns.values(), default=0) + 1
        return replace(
            self, strengths={**self.strengths, key: after}, turns={**self.turns, key: turn}
        )

    def order(self) -> list[str]:
        """All cards, the weakest first; of equals the one that was longest not asked."""
        return sorted(BY_CARD, key=lambda key: (self.strengths.get(key, 0), self.turns.get(key, 0)))

    @property
    def known(self) -> int:
        """How many cards were easy when they were last rated, or have been before."""
        return sum(strength >= 2 for strength in self.strengths.values())

    def joined(self, other: Memory) -> Memory:
        """With what an exported file holds: of each card the stronger, and the own standing first.

        Turns of two devices cannot be compared, so the later rating is not known. What is here is
        never weakened, and joining the same file twice changes nothing more.
        """
        strengths, turns = dict(self.strengths), dict(self.turns)
        for key, strength in other.strengths.items():
            if strength > strengths.get(key, -1):
                strengths[key], turns[key] = strength, other.turns.get(key, 0)
        standing = other.standing if self.standing is None else self.standing
        return Memory(strengths, turns, standing)

    def write(self) -> str:
        """As JSON, for the device and for export."""
        return json.dumps(
            {
                MARK: 1,
                "strengths": dict(self.strengths),
                "turns": dict(self.turns),
                "standing": self.standing,
            }
        )


def read_memory(text: str | None) -> Memory:
    """Read what `write` wrote; whatever is no part of it is left out. Never raises."""
    held = _held(text)
    standing = held.get("standing")
    return Memory(
        _whole(held.get("strengths"), STRONGEST),
        _whole(held.get("turns"), 10**9),
        standing if standing in range(len(SELF_RATINGS)) and _is_whole(standing) else None,
    )


def read_export(name: str, size: int, text: str) -> tuple[Memory, str]:
    """Read a file, given its name and its size in bytes, as leniently as `read_memory` does.

    Gives an empty memory where there is nothing to add, and why not; else the empty text.
    """
    held = {} if size > LARGEST else _held(text)
    if MARK not in held:
        return Memory(), f"“{name}” is no export of these cards; nothing was changed."
    memory = read_memory(text)
    if memory == Memory():
        return memory, f"“{name}” holds no card that was rated; nothing was changed."
    return memory, ""


def _held(text: str | None) -> dict[str, Any]:
    """The JSON object that a text is, or an empty one."""
    if not text or text.count("[") + text.count("{") > MOST_BRACKETS:
        return {}
    try:
        held = json.loads(text)
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _whole(found: object, most: int) -> dict[str, int]:
    if not isinstance(found, dict):
        return {}
    return {
        key: min(value, most) for key, value in found.items() if key in BY_CARD and _is_whole(value)
    }
