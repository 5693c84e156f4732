"""What a user may set of a run: the widget's table. Its rows are told in settings.py.

What a link holds beside the run is in view.py, in rows of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sim.kinds import Real, Switch, Whole
from sim.lists import Pairs, Reals, Wholes
from sim.settings import check, rows, setting

SLOTS = 512
"""Positions the rolling KV cache keeps."""

HORIZON = 1200
"""Last tick of every run."""

DRAWS_PER_PASS = 32
"""Uniform draws per verify pass, whatever the draft length: so that settings share their luck."""


@dataclass(frozen=True)
class Params:
    """Everything a run depends on. Two equal `Params` make the same run, to the last digit.

    Raises ValueError, which names key, value and what is allowed, for a value outside the table.
    """

    speculation: bool = setting(
        True,
        "speculation",
        Switch(),
        "speculation",
        "Off: one token per forward pass of the big model.",
    )
    draft_length: int = setting(
        4,
        "k",
        Whole(1, 32, slider=(16, 1)),
        "draft length",
        "How many tokens the draft model guesses before the big model checks.",
    )
    acceptance_rate: float = setting(
        0.8,
        "alpha",
        Real(0, 1, slider=(1, 0.01)),
        "acceptance rate",
        "How often the draft model agrees with the big model.",
    )
    acceptance_rates: tuple[float, ...] = setting(
        (),
        "rates",
        Reals(Real(0, 1), most=DRAWS_PER_PASS),
        "rates per position",
        "One acceptance rate per draft position, given that all before it were accepted (engines "
        "log cumulative ones), the last one repeated; replaces the acceptance rate.",
    )
    kv_cache: bool = setting(
        True,
        "cache",
        Switch(),
        "KV cache",
        "Switched off, every pass computes all again.",
    )
    draft_cost: float = setting(
        0.1,
        "c",
        Real(0, 8, slider=(1, 0.01)),
        "draft cost",
        "Time of one draft step ÷ time of one plain pass of the big model.",
    )
    round_cost: float = setting(
        0.0,
        "c0",
        Real(0, 8, slider=(1, 0.01)),
        "cost a round",
        "Time of drafting, paid once a verify pass ÷ time of one plain pass of the big model.",
    )
    batch_size: int = setting(
        1,
        "batch",
        Whole(1, 512, slider=(512, 1)),
        "batch size",
        "Sequences that share each pass; all alike, one is drawn and counted.",
    )
    knee: int = setting(
        256,
        "knee",
        Whole(1, 4096, slider=(4096, 1)),
        "knee",
        "Tokens per pass up to which a pass is memory-bound.",
    )
    recompute_chunk: int = setting(
        64,
        "chunk",
        Whole(16, 512, slider=(512, 1)),
        "recompute chunk",
        "Positions that a recompute pass takes at once.",
    )
    seed: int = setting(
        0,
        "seed",
        Whole(0, 2**32 - 1),
        "seed",
        "The luck: the same seed draws the same coins for every setting.",
    )
    evictions: tuple[int, ...] = setting(
        (),
        "evict",
        Wholes(Whole(0, HORIZON)),
        "evictions",
        "Ticks right after which the KV cache is evicted.",
    )

    verdicts: tuple[tuple[int, int], ...] = setting(
        (),
        "force",
        Pairs(Whole(1, HORIZON), Whole(0, DRAWS_PER_PASS), ("pass", "accepted")),
        "verdicts set by hand",
        "How many drafts a verify pass accepts, at most all, whatever its coins say.",
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def evictions_made(self) -> tuple[int, ...]:
        """Ticks right after which there is something to evict: none with the KV cache off."""
        return self.evictions if self.kv_cache else ()

    @cached_property
    def rates(self) -> tuple[float, ...]:
        """Conditional acceptance rate of each drafted position; empty with speculation off.

        Its length is the draft length k in effect.
        """
        if not self.speculation:
            return ()
        given = self.acceptance_rates or (self.acceptance_rate,)
        return tuple(given[min(i, len(given) - 1)] for i in range(self.draft_length))

    @cached_property
    def set_by_hand(self) -> dict[int, int]:
        """Drafts accepted, at most k, by the number of each verify pass that no coins decide.

        Passes are counted from 1. Empty with speculation off.
        """
        k = len(self.rates)
        return {number: min(accepted, k) for number, accepted in self.verdicts} if k else {}


PARAMETERS = rows(Params)
