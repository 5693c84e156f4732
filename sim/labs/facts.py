"""Facts of the world that the text and its charts share, with their sources."""

from __future__ import annotations

from collections.abc import Sequence

PARAMETERS, BYTES_EACH = 7e9, 2
"""A model of seven billion weights, two bytes each."""

LAYOUTS = {"Llama 2 7B": (32, 32, 128), "Llama 3 8B": (32, 8, 128)}
"""Layers, heads that keep keys and values, size of each: the models' published configurations."""

CONTEXT = 4096
"""Tokens of one long conversation."""

TARGET = {"the": 0.5, "a": 0.25, "his": 0.15, "no": 0.1}
DRAFT = {"the": 0.2, "a": 0.5, "his": 0.2, "no": 0.1}
"""What the two models of the worked example say of the next word."""

CARD = 80e9
"""Bytes of memory of a large data-centre GPU."""


def bytes_per_token(layout: Sequence[int]) -> int:
    """What a token's keys and values take: layers × heads × size, twice, `BYTES_EACH`."""
    layers, heads, size = layout
    return 2 * layers * heads * size * BYTES_EACH
