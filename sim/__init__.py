"""Bonus Token: a simulator of the KV cache and of speculative decoding, one forward pass at a time.

Imports run one way: `params` (what may be set) → `theory` (closed forms and pass times) → `cache`
(the rolling window) → `metrics` (counters and what they mean) → `run` (one tick, and a whole run)
→ `marks`, `strip`, `story`, `picture` and `plot` (how a run is drawn and told, as plain data).
Nothing here knows a browser or a clock; `sim.host` alone touches the machine it runs on.
"""

__version__ = "0.1.0"
