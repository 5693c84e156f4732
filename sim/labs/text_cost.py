"""What was measured of a text, as settings of the costs on a machine."""

from __future__ import annotations

from dataclasses import replace

from sim.kinds import write_number
from sim.labs.convert import root
from sim.labs.cost_settings import MOST_SHARE, Asked
from sim.labs.text_chart import Timed
from sim.labs.text_measured import Rates


def as_costs(timed: Timed, draft: str, k: int, found: Rates | None) -> Asked:
    """One sequence on this device: its passes, what a step of this draft takes of a plain one, and
    the α at which k drafts yield the tokens per pass that were found, where some were.
    """
    (_, plain), *_ = timed.seconds
    share = float(f"{timed.steps[draft] / plain:.3g}")
    draft = write_number(min(share, MOST_SHARE))
    asked = Asked(draft=draft, k=k, batch=1, curve=timed.curve, device=True)
    if found:
        alpha = round(root(k, found.tokens / found.passes), 3)
        asked = replace(asked, acceptance_rate=alpha)
    return asked
