"""The requests that come to a server: when, and how long their prompts and outputs are.

Lengths are log-normal with σ = 1, as those of people are skewed; the means of `chat` and `short`
are those that Kwon et al. 2023 (https://arxiv.org/abs/2309.06180, section 6.1) print for ShareGPT
and Alpaca. They belong to requests of at most 2,048 tokens and scale with the longest that is
allowed. Arrivals are Poisson. One seed draws the same requests for every policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from random import Random
from typing import NamedTuple

from sim.reading import UnreadableError, number

LENGTHS = {"chat": (161, 338), "short": (19, 58), "long": (1000, 700)}
"""Mean tokens of prompt and output, by kind."""

OF_LONGEST = 2048
"""The longest request that these means belong to."""

SIGMA = 1.0

MOST_REQUESTS = 100_000
"""In a file, and of those that are drawn."""


class Request(NamedTuple):
    """What is asked of the server."""

    arrival: float
    """Seconds after the start."""
    prompt: int
    """Tokens."""
    output: int
    """Tokens that will have been written at its end."""

    @property
    def total(self) -> int:
        """Tokens at its end."""
        return self.prompt + self.output

    def behind(self, prefix: int) -> Request:
        """The same with so many tokens before its prompt."""
        return self._replace(prompt=prefix + self.prompt)


def drawn_lengths(kind: str, number: int, longest: int, seed: int) -> list[tuple[int, int]]:
    """Prompt and output of so many requests, a token each at least, `longest` together at most.

    What is drawn beyond that is cut off: first of the output, then of the prompt. `longest` is 2 or
    more.
    """
    draw = Random(f"lengths {seed}").gauss
    scale = longest / OF_LONGEST
    means = [log(mean * scale) - SIGMA**2 / 2 for mean in LENGTHS[kind]]
    found = []
    for _ in range(number):
        prompt, output = (max(1, round(exp(draw(mean, SIGMA)))) for mean in means)
        prompt = min(prompt, longest - 1)
        found.append((prompt, min(output, longest - prompt)))
    return found


def poisson(lengths: Sequence[tuple[int, int]], rate: float, seed: int) -> list[Request]:
    """Requests of these lengths that arrive at random, `rate` a second; to the microsecond."""
    draw = Random(f"arrivals {seed}").random
    now, made = 0.0, []
    for prompt, output in lengths:
        now += -log(1 - draw()) / rate
        made.append(Request(round(now, 6), prompt, output))
    return made


def read_requests(text: str) -> list[Request]:
    """Requests from rows of arrival (seconds), prompt and output (tokens), with commas or tabs.

    A first row of names is left out, and so are empty rows and those that begin with #. They are
    sorted by arrival. Raises ValueError, which names the line and what is wrong with it.
    """
    found: list[Request] = []
    lines = text.splitlines()
    for at, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        mark = next((mark for mark in "\t;," if mark in line), ",")
        cells = [cell.strip().strip('"') for cell in line.split(mark)]
        if not found and not any(sign.isdigit() for sign in line):
            continue
        if len(cells) != 3:
            raise ValueError(
                f"line {at}: {len(cells)} values; a request is arrival, prompt, output"
            )
        arrival = _read(at, "arrival", cells[0])
        prompt, output = _tokens(at, "prompt", cells[1]), _tokens(at, "output", cells[2])
        found.append(Request(arrival, prompt, output))
    if not found:
        raise ValueError("no requests; write a row of arrival, prompt, output for each")
    if len(found) > MOST_REQUESTS:
        raise ValueError(f"{len(found):,} requests; at most {MOST_REQUESTS:,}")
    return sorted(found, key=lambda request: request.arrival)


def _read(at: int, name: str, text: str) -> float:
    try:
        value = number(text)
    except UnreadableError:
        raise ValueError(f"line {at}: {name} “{text.strip()[:40]}” is not a number") from None
    if not 0 <= value <= 1e9:
        raise ValueError(f"line {at}: {name} {text.strip()[:40]} is not from 0 to 1,000,000,000")
    return value


def _tokens(at: int, name: str, text: str) -> int:
    value = _read(at, name, text)
    if value != int(value) or not 1 <= value <= 10_000_000:
        raise ValueError(
            f"line {at}: {name} {text.strip()[:40]} is not a whole number from 1 to 10,000,000"
        )
    return int(value)
