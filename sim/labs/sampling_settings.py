"""The settings of the lab of sampling: its rules by name, its languages, how much is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.kinds import Choice, Real, Switch, Whole
from sim.labs.sampling_rows import (
    OF_THE_TEXT,
    Language,
    Written,
    language,
    made_language,
    written,
)
from sim.settings import setting

STANDARD = "standard"


class Rule(NamedTuple):
    """A rule of speculative sampling: the right one, or one that somebody ships."""

    name: str
    title: str
    does: str
    """What it does, or does wrong."""
    shipped: str = ""
    """Who has it, and what came of it."""
    source: str = ""
    """Where that is told."""


RULES = (
    Rule(
        STANDARD,
        "The right rule",
        "A draft is kept with chance min(1, p ÷ q). A rejected one is replaced by a word from what "
        "p has more than q, made to sum to 1, and the pass ends; after k kept ones comes a word "
        "from p.",
        "Engines use it, and nothing should find it out.",
    ),
    Rule(
        "replace-from-target",
        "Replace from p",
        "After a rejection it draws from p itself, not from what p has more than q. What q offers "
        "too often was kept already, and now comes on top.",
        "Spec-RL does so on purpose: it wants speed in training, not the same text.",
        "https://github.com/ShopeeLLM/Spec-RL/issues/14",
    ),
    Rule(
        "always-accept",
        "Keep every draft",
        "It keeps every draft, whatever the big model says. The text is the draft model’s, with a "
        "word of the big one after each k.",
        "Transformers did so when sampling until January 2024: a count of matches was tested the "
        "wrong way round.",
        "https://github.com/huggingface/transformers/pull/28508",
    ),
    Rule(
        "argmax",
        "Compare with the likeliest",
        "It keeps a draft only where it is the big model’s likeliest word, and else writes that "
        "word. Right for greedy text; when sampling, the rare words go missing.",
        "ATOM was seen to check so at any temperature, and to sample only its bonus token.",
        "https://github.com/ROCm/ATOM/pull/2318",
    ),
    Rule(
        "bonus-from-draft",
        "Bonus token from q",
        "After k kept drafts it takes the next word from the draft model, which has that row at "
        "hand, and not from the verify pass. The longer the draft, the better it hides.",
        "Nobody is known to ship it, but a row too far in a table of chances is enough. With the "
        "four words of the text it shows in about 11,000 words at k = 4, in 246,000 at k = 8.",
    ),
    Rule(
        "stale-temperature",
        "Drafts at another temperature",
        "Drafts are drawn at another temperature than the q that they are tested with. The rule "
        "holds for the q that was drawn from, and for no other.",
        "In DFlash the user’s temperature reached the big model and not the drafts; Transformers "
        "had three drafters whose q was not what they drew from.",
        "https://github.com/huggingface/transformers/issues/47932",
    ),
    Rule(
        "keep-after-rejection",
        "Go on after a rejection",
        "It leaves a rejected draft out and keeps those after it, which were drawn to follow a "
        "word that is not there.",
        "A sum over all drafts where the first rejection should end it; vLLM’s first sampler "
        "counted so, though it did not write so.",
        "https://github.com/vllm-project/vllm/pull/2658",
    ),
)
"""The right rule first."""

BY_RULE = {rule.name: rule for rule in RULES}

TEXT, MADE, OWN = "text", "made", "own"

MOST_TOKENS = 10_000_000


@dataclass(frozen=True)
class Asked:
    """What is to be drawn, and how much of it."""

    rule: str = setting(
        STANDARD, "rule", Choice(tuple(BY_RULE)), "rule", "The rule that keeps and replaces drafts."
    )
    k: int = setting(4, "k", Whole(1, 32, slider=(16, 1)), "draft length k", "Drafts in each pass.")
    tokens: int = setting(
        20_000, "tokens", Whole(1, MOST_TOKENS), "words", "How many words are written."
    )
    seed: int = setting(
        0, "seed", Whole(0, 2**32 - 1), "seed", "The luck: the same seed draws the same words."
    )
    ask: bool = setting(
        False,
        "ask",
        Switch(),
        "question",
        "Whether the reader is to say first if it is the big model’s own text.",
    )
    stale: float = setting(
        0.5,
        "stale",
        Real(0.05, 20),
        "draft temperature",
        "What drafts are drawn at, where it is another one.",
    )
    language: str = setting(
        TEXT,
        "language",
        Choice((TEXT, MADE, OWN)),
        "language",
        "The four words of the text, one made from a seed, or rows of your own.",
    )
    words: int = setting(
        8, "words", Whole(2, 16, slider=(16, 1)), "words it has", "Words of a made language."
    )
    alike: float = setting(
        0.7,
        "alike",
        Real(0, 1, slider=(1, 0.05)),
        "how alike",
        "How far the draft model agrees with the big one, 0 to 1.",
    )
    warm: float = setting(
        1.0,
        "warm",
        Real(0.2, 5, slider=(3, 0.1)),
        "temperature of p",
        "Of the big model: low is sure of its words.",
    )
    draftwarm: float = setting(
        1.0,
        "draftwarm",
        Real(0.2, 5, slider=(3, 0.1)),
        "temperature of q",
        "Of the draft model.",
    )
    made: int = setting(1, "made", Whole(0, 2**32 - 1), "its seed", "Each makes another language.")
    target: str = setting(
        written(OF_THE_TEXT.target),
        "target",
        Written("target"),
        "rows of p",
        "The big model: a row for each word before, or one for all.",
    )
    draft: str = setting(
        written(OF_THE_TEXT.draft),
        "draft",
        Written("draft"),
        "rows of q",
        "The draft model, in the same way.",
    )


def language_of(asked: Asked) -> Language:
    """The language that is asked for. Raises ValueError where rows of one's own do not fit."""
    if asked.language == TEXT:
        return OF_THE_TEXT
    if asked.language == MADE:
        heats = asked.warm, asked.draftwarm
        return made_language(asked.words, asked.alike, *heats, asked.made)
    return language(asked.target, asked.draft)
