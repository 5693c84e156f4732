"""What a link holds beside the run: where it stands, how it is shown, and what it asks."""

from __future__ import annotations

from dataclasses import dataclass

from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, rows, setting

PARTS = ("board", "pass", "numbers", "controls", "timeline")
"""Parts of the widget that a link may choose."""

ACTIONS = ("play", "step", "back", "start", "reset", "share")
"""Buttons that a link may lock; “evict” is a parameter's key as well."""

LOCKS = (*(row.key for row in PARAMETERS), "tick", "speed", "theme", *ACTIONS)

NO_QUESTION = "none"


@dataclass(frozen=True)
class View:
    """Everything in a link that the run does not depend on."""

    tick: int = setting(
        60,
        "tick",
        "whole",
        "tick",
        "Forward passes of the big model so far.",
        high=HORIZON,
        slider=(HORIZON, 1),
    )
    speed: float = setting(
        8.0,
        "speed",
        "real",
        "speed",
        "Units of model time played per second.",
        low=1,
        high=60,
    )
    play: bool = setting(False, "play", "switch", "play", "Start playing at once.")
    embed: bool = setting(False, "embed", "switch", "embed", "The widget alone, for a frame.")
    show: tuple[str, ...] = setting(
        PARTS,
        "show",
        "choices",
        "show",
        "Parts of the widget to show; transport and Evict belong to the timeline.",
        choices=PARTS,
    )
    lock: tuple[str, ...] = setting(
        (),
        "lock",
        "choices",
        "lock",
        "Controls and buttons that are shown, but fixed.",
        choices=LOCKS,
    )
    ask: str = setting(
        NO_QUESTION,
        "ask",
        "choice",
        "ask",
        "A number to predict before the run plays up to the tick.",
        choices=(NO_QUESTION, *(metric.name for metric in METRICS)),
    )
    theme: str = setting(
        "auto",
        "theme",
        "choice",
        "theme",
        "Colours of the page.",
        choices=("auto", "light", "dark"),
    )

    @property
    def asks(self) -> bool:
        """Whether the reader is to predict a number before the run is seen."""
        return self.ask != NO_QUESTION

    @property
    def first_tick(self) -> int:
        """Where the scene opens: a run that is to be predicted has not begun."""
        return 0 if self.asks else self.tick


VIEW = rows(View)
BY_KEY = {row.key: row for row in PARAMETERS + VIEW}
