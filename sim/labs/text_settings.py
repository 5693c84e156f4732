"""The settings of the lab with a real model: what is written, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sim.kinds import Choice, Kind, Real, Switch, Whole
from sim.lists import Wholes
from sim.params import HORIZON, Params
from sim.reading import UnreadableError
from sim.settings import rows, setting

NGRAM, SMALL = DRAFTS = "ngram", "small"
MOST_TOKENS = 10_000


@dataclass(frozen=True)
class Prose(Kind[str]):
    """Any text that is not empty, cut where it is too long."""

    most: int
    control = "field"

    @property
    def allowed(self) -> str:
        """How long it may be."""
        return f"a text of 1 to {self.most} characters"

    def admits(self, value: object) -> bool:
        """A text of that length."""
        return isinstance(value, str) and 0 < len(value) <= self.most

    def read(self, given: object) -> tuple[str, bool]:
        """Cut; of the line ends that systems have, one."""
        if not isinstance(given, str) or not given:
            raise UnreadableError
        text = given.replace("\r\n", "\n").replace("\r", "\n")
        return text[: self.most], len(text) <= self.most

    def write(self, value: str) -> str:
        """The text."""
        return value


class Setting(NamedTuple):
    """How a text is written."""

    k: int = 4
    draft: str = SMALL
    temperature: float = 0.8
    seed: int = 0
    speculation: bool = True
    kv_cache: bool = True

    def params(self) -> Params:
        """The widget's parameters of the same name."""
        return Params(
            draft_length=self.k,
            seed=self.seed,
            speculation=self.speculation,
            kv_cache=self.kv_cache,
        )


@dataclass(frozen=True)
class Asked:
    """How a text is to be written."""

    prompt: str = setting(
        "KING.\nWhat news?\n\n", "prompt", Prose(2000), "prompt", "What the text begins with."
    )
    k: int = setting(
        4,
        "k",
        Whole(1, 32, slider=(16, 1)),
        "draft length k",
        "Tokens that the draft proposes before each pass.",
    )
    draft: str = setting(
        "ngram",
        "draft",
        Choice(DRAFTS),
        "draft",
        "Who proposes: a table of which token follows which, or a small transformer.",
    )
    temperature: float = setting(
        0.8,
        "temperature",
        Real(0, 1.5, slider=(1.5, 0.1)),
        "temperature",
        "0 always takes the likeliest token; 1 draws as the model says.",
    )
    seed: int = setting(
        0, "seed", Whole(0, 2**32 - 1), "seed", "The luck: the same seed writes the same text."
    )
    speculation: bool = setting(
        True, "speculation", Switch(), "speculation", "Off: one token a pass, no draft."
    )
    cache: bool = setting(
        True, "cache", Switch(), "KV cache", "Off: every pass computes the whole window again."
    )
    evict: tuple[int, ...] = setting(
        (),
        "evict",
        Wholes(Whole(0, HORIZON)),
        "evictions",
        "Ticks right after which the KV cache is evicted.",
    )
    tokens: int = setting(
        200, "tokens", Whole(1, MOST_TOKENS), "tokens", "How many tokens are written."
    )

    def writing(self) -> Setting:
        """The same for the writer."""
        return Setting(
            self.k, self.draft, self.temperature, self.seed, self.speculation, self.cache
        )


ROWS = {row.key: row for row in rows(Asked)}
"""By their keys."""
