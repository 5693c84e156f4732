"""Settings of every kind, for the pictures of the text."""

from __future__ import annotations

import pytest

from sim.params import Params

SETTINGS = [
    Params(),
    Params(draft_length=12, acceptance_rate=0.6, evictions=(20, 60)),
    Params(batch_size=64, knee=32, draft_length=7),
    Params(kv_cache=False, draft_length=3, acceptance_rates=(0.95, 0.2)),
    Params(speculation=False, evictions=(3, 400), recompute_chunk=16),
    Params(draft_length=2, recompute_chunk=512, evictions=tuple(range(50, 60))),
]
every_setting = pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
