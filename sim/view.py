"""What a link holds beside the run: where it stands, how it is shown, what it asks; its keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from sim.kinds import Choice, Real, Switch, Text, Whole
from sim.labs import ALONE, of_a_lab
from sim.lists import Choices
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.rail import STORIES
from sim.reading import LONGEST_WORD, keys_of, misspelled
from sim.settings import check, rows, setting, shown, updated
from sim.verbs import LOCKABLE

PARTS = ("rail", "board", "pass", "numbers", "controls", "clock", "timeline")
"""Parts of the widget that a link may choose."""

LOCKS = tuple(
    dict.fromkeys([*(row.key for row in PARAMETERS), "tick", "speed", "theme", "story", *LOCKABLE])
)
"""Controls and buttons that a link may lock; “evict” is both."""

NO_QUESTION = NO_LAB = "none"

THEMES = ("auto", "light", "dark")

SPEED = Real(1, 60)

WORDS = Text(300)
"""A question in its author's own words."""


@dataclass(frozen=True)
class View:
    """Everything in a link that the run does not depend on.

    Raises ValueError for a value outside the table, as `Params` does.
    """

    tick: int = setting(
        60,
        "tick",
        Whole(0, HORIZON, slider=(HORIZON, 1)),
        "tick",
        "Forward passes of the big model so far.",
    )
    speed: float = setting(
        8.0,
        "speed",
        SPEED,
        "speed",
        "Units of model time played per second.",
    )
    play: bool = setting(False, "play", Switch(), "play", "Start playing at once.")
    embed: bool = setting(False, "embed", Switch(), "embed", "The widget alone, for a frame.")
    show: tuple[str, ...] = setting(
        (),
        "show",
        Choices(PARTS, least=1),
        "show",
        "Parts of the widget to show, if not all; transport and Evict belong to the timeline.",
    )
    lock: tuple[str, ...] = setting(
        (),
        "lock",
        Choices(LOCKS),
        "lock",
        "Controls and buttons that are shown, but fixed.",
    )
    ask: str = setting(
        NO_QUESTION,
        "ask",
        Choice((NO_QUESTION, *(metric.name for metric in METRICS))),
        "ask",
        "A number to predict before the run plays up to the tick.",
    )
    ask_text: str = setting(
        "",
        "asktext",
        WORDS,
        "own words",
        "The question in other words, as plain text.",
    )
    story: int = setting(
        0,
        "story",
        Whole(0, len(STORIES)),
        "rail",
        "A scene of the rail: its settings, its question, and what there is to see.",
    )
    theme: str = setting(
        "auto",
        "theme",
        Choice(THEMES),
        "theme",
        "Colours of the page.",
    )

    lab: str = setting(
        NO_LAB,
        "lab",
        Choice((NO_LAB, *ALONE)),
        "lab",
        "A lab to show alone.",
    )
    words: bool = setting(
        True,
        "words",
        Switch(),
        "words",
        "Words of a text on drafts and slots; they change no number.",
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts that are there; where none is asked for, all, but no rail in a frame."""
        return self.show or (PARTS[1:] if self.embed else PARTS)

    @property
    def asks(self) -> bool:
        """Whether the reader is to predict a number before the run is seen."""
        return self.ask != NO_QUESTION

    @property
    def first_tick(self) -> int:
        """Where the scene opens: a run that is to be predicted has not begun."""
        return 0 if self.asks else self.tick


VIEW = rows(View)
TEXTS = {name for row in VIEW if isinstance(row.kind, Text) for name in (row.key, row.name)}
"""Settings in which any sign may stand."""

BY_KEY = {row.key: row for row in PARAMETERS + VIEW}
NAMES = {name for row in BY_KEY.values() for name in (row.key, row.name)}
"""What a setting may be called: its key or its full name."""

SYNONYMS = {
    "k": (
        "γ gamma draft drafts draft_tokens num_draft_tokens num_speculative_tokens "
        "speculative_num_draft_tokens speculative_num_steps num_assistant_tokens "
        "draft_max draft_n spec_draft_n_max max_draft_len lookahead"
    ),
    "alpha": (
        "α rate acceptance accept_rate acceptance_prob acceptance_probability "
        "synthetic_acceptance_rate alfa"
    ),
    "rates": "alphas synthetic_acceptance_rates",
    "c": "cost cost_ratio cost_coefficient",
    "c0": "c₀ overhead fixed_cost cost_per_round",
    "batch": "bs max_num_seqs concurrency",
    "knee": "ridge ridge_point",
    "chunk": "chunk_size chunked_prefill_size max_num_batched_tokens",
    "seed": "random_seed rng_seed",
    "evict": "eviction preempt preemption preemptions",
    "force": "forced forced_verdicts verdict",
    "speculation": "spec speculative speculative_decoding spec_decode",
    "cache": "kv use_cache",
    "tick": "ticks",
    "play": "autoplay",
    "lock": "locks locked",
    "ask": "question",
}
"""What else people call a setting, in papers and engines, by its key."""


MOST_TOLD = 5
"""How many names that are none are pointed out at once."""


def _folded(name: str) -> str:
    """A name without what people spell in different ways."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


_MEANT = {
    **{_folded(word): key for key, words in SYNONYMS.items() for word in words.split()},
    **{_folded(name): row.key for row in BY_KEY.values() for name in (row.key, row.name)},
}


@lru_cache(200)
def _key_meant(name: str) -> str | None:
    """The key that somebody meant who wrote this name, which is none."""
    folded = _folded(name)
    if folded in _MEANT or len(folded) > LONGEST_WORD:
        return _MEANT.get(folded)
    return _MEANT.get(misspelled(folded, _MEANT) or "")


MOST_READ = 50
"""How many names that are none are looked at."""


def pointed_out(names: Iterable[object]) -> list[str]:
    """Complaints about names that are no setting's, but a slip or a synonym away from one.

    At most `MOST_TOLD`, of the first `MOST_READ`. Names that have nothing to do with it, such as
    `utm_source`, are no matter.
    """
    strange = (name for name in names if isinstance(name, str) and name not in NAMES)
    found = [
        f"{shown(name)} is not a key; did you mean {key}?"
        for name in islice(strange, MOST_READ)
        if not of_a_lab(name) and (key := _key_meant(name))
    ]
    return found[:MOST_TOLD]


class _Known:
    """Names of settings, the own ones of labs among them."""

    def __contains__(self, name: object) -> bool:
        return name in NAMES or of_a_lab(str(name))


def asked(search: str, fragment: str = "") -> dict[str, str]:
    """The settings that an address names, given what follows its ? and its #; with other names."""
    return keys_of(search, fragment, _Known(), TEXTS)


def changed(
    params: Params, view: View, changes: Mapping[str, object]
) -> tuple[Params, View, list[str]]:
    """A scene with `changes` (by key or full name) read leniently, and what was wrong with them."""
    after, complaints = updated(params, changes)
    shown_as, more = updated(view, changes)
    if not TEXTS.isdisjoint(changes) and shown_as.ask_text and not shown_as.asks:
        more.append("asktext words no question; add one, such as ask=speedup.")
    return after, shown_as, complaints + more + pointed_out(changes)


LabKeys = tuple[tuple[str, str], ...]
"""Settings of labs in a link: keys and texts."""


def with_lab_keys(before: LabKeys, changes: Mapping[str, object]) -> LabKeys:
    """These keys after changes, in which None drops one; only its lab knows what a text means."""
    kept = dict(before)
    for key, value in changes.items():
        if not of_a_lab(key):
            continue
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value if isinstance(value, str) else shown(value)
    return tuple(kept.items())
