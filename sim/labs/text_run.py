"""Texts from the stored models, by the settings of the lab: begun, gone on with, written whole.

Nothing here asks for NumPy before a text is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sim.labs.stored import DamagedError, opened
from sim.labs.text_settings import Asked
from sim.work import Work, within

if TYPE_CHECKING:
    from sim.labs.writer import Models, Writer

WEIGHTS = "plays.bin"
"""The file of the models, beside this one."""


def stored() -> bytes:
    """The file of the models, which is beside this one, whole. Raises ValueError."""
    file = Path(__file__).with_name(WEIGHTS)
    try:
        data = file.read_bytes()
        opened(data)
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from None
    except DamagedError as damage:
        raise ValueError(f"sim/labs/{WEIGHTS} is damaged: {damage}") from None
    return data


def models_of(data: bytes) -> Models:
    """What a file of models holds. Raises ValueError where it is damaged."""
    from sim.labs.weights import unpack
    from sim.labs.writer import Models

    return Models(unpack(data))


def go_on(
    writer: Writer,
    wanted: Callable[[], int],
    evictions: Collection[int],
    orders: list[Callable[[Writer], object]],
) -> Work[None]:
    """Write until there are as many tokens as are `wanted`, which is asked at every tick.

    `orders` are obeyed between two ticks, the first one first; then the cache is evicted if its
    tick is one of `evictions`, at which evictions with the cache off do nothing.
    """
    while True:
        while orders:
            orders.pop(0)(writer)
        if writer.cached and len(writer.passed) in evictions:
            writer.evict()
        if len(writer.tokens) >= wanted():
            return
        for _ in writer.tick():
            yield min(1.0, len(writer.tokens) / max(1, wanted()))


def begun(models: Models, asked: Asked, clock: Callable[[], float]) -> Writer:
    """A text of which nothing is written yet but its prompt."""
    from sim.labs.writer import Writer

    return Writer(models, models.pairs.encode(asked.prompt), asked.writing(), clock)


def write(models: Models, asked: Asked, clock: Callable[[], float]) -> Work[Writer]:
    """All of a text: the writer, at the end of it."""
    writer = begun(models, asked, clock)
    wanted = len(writer.tokens) + asked.tokens
    yield from go_on(writer, lambda: wanted, asked.evict, [])
    return writer


BOTH_WAYS = 60
"""Tokens that are written both ways, to be held beside each other."""


def both_ways(models: Models, asked: Asked, clock: Callable[[], float]) -> Work[str]:
    """The likeliest text, plain and with drafts: whether they are the same, in a sentence."""
    same = replace(asked, temperature=0.0, tokens=BOTH_WAYS, evict=(), cache=True)
    plain = yield from within(write(models, replace(same, speculation=False), clock), 0, 0.5)
    other = yield from within(write(models, replace(same, speculation=True), clock), 0.5, 1)
    end = len(plain.tokens)
    apart = next((at for at in range(end) if plain.tokens[at] != other.tokens[at]), None)
    passes = plain.state.verify_passes, other.state.verify_passes
    told = f"Plain decoding took {passes[0]} passes for it, with drafts it took {passes[1]}."
    text = models.pairs.decode(plain.tokens[plain.origins.count("prompt") :])
    if apart is None:
        return f"The likeliest {BOTH_WAYS} tokens are the same, one by one. {told} “{text}”"
    close = plain.first_close is not None and plain.first_close <= apart
    why = "there the two best are nearer than 0.0001" if close else "which should not be"
    return f"They part at token {apart - plain.origins.count('prompt') + 1}: {why}. {told}"
