"""A real model in the page: its settings, its command, its section.

The text is written by writer.py. Here nothing asks for NumPy before a text is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from sim.kinds import Choice, Kind, Real, Switch, Whole
from sim.lists import Wholes
from sim.params import HORIZON
from sim.reading import UnreadableError
from sim.settings import read, rows, setting
from sim.work import Work, finish

if TYPE_CHECKING:
    from sim.labs.writer import Models, Passed, Setting, Writer

WEIGHTS = "plays.bin"
"""The file of the models, beside this one."""

DRAFTS = ("ngram", "small")
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
        from sim.labs.writer import Setting

        return Setting(
            self.k, self.draft, self.temperature, self.seed, self.speculation, self.cache
        )


def models_of(data: bytes) -> Models:
    """What a file of weights holds. Raises ValueError, which says what to do."""
    from sim.labs.weights import DamagedError, unpack
    from sim.labs.writer import Models

    try:
        return Models(unpack(data))
    except DamagedError as damage:
        raise ValueError(f"{WEIGHTS} is damaged: {damage}. Fetch it again.") from None


def write(models: Models, asked: Asked, clock: Callable[[], float]) -> Work[Writer]:
    """All of a text: the writer, at the end of it."""
    from sim.labs.writer import Writer

    prompt = models.pairs.encode(asked.prompt)
    writer = Writer(models, prompt, asked.writing(), clock)
    wanted = len(prompt) + asked.tokens
    evictions = set(asked.evict) if asked.cache else set()
    while True:
        if len(writer.passed) in evictions:
            writer.evict()
        if len(writer.tokens) >= wanted:
            return writer
        for _ in writer.tick():
            yield len(writer.tokens) / wanted


# What is measured


def by_position(passed: Sequence[Passed], k: int) -> list[tuple[float | None, int]]:
    """For each position of a draft: the share accepted of those tested, and how many were.

    Tested is what follows accepted drafts only, so the rates are conditional; None for none.
    """
    tested, kept = [0] * k, [0] * k
    for one in passed:
        for position, draft in enumerate(one.drafts):
            if draft.accepted is not None:
                tested[position] += 1
                kept[position] += draft.accepted
    return [(n / of if of else None, of) for n, of in zip(kept, tested, strict=True)]


def by_width(passed: Sequence[Passed]) -> list[tuple[int, float, int]]:
    """For each number of positions: the median seconds of the target's passes, and how many."""
    widths: dict[int, list[float]] = {}
    for one in passed:
        widths.setdefault(one.width, []).append(one.target_seconds)
    return [(width, median(found), len(found)) for width, found in sorted(widths.items())]


def report(writer: Writer, asked: Asked) -> dict[str, Any]:
    """Every number of a text, as JSON holds it: its tokens cut where they were asked to end."""
    prompt = writer.origins.count("prompt")
    end = prompt + asked.tokens
    tokens, origins = writer.tokens[:end], writer.origins[:end]
    passes = writer.state.verify_passes
    return {
        "text": writer.models.pairs.decode(tokens),
        "tokens": tokens,
        "origins": origins,
        "passes": passes,
        "tokens_per_pass": (len(tokens) - prompt) / passes,
        "alpha_by_position": by_position(writer.passed, asked.k if asked.speculation else 0),
        "positions_computed": writer.state.positions_computed,
        "kv_bytes": writer.kept_bytes,
        "first_close": writer.first_close,
        "seconds": sum(one.draft_seconds + one.target_seconds for one in writer.passed),
        "seconds_by_width": by_width(writer.passed),
    }


# The command

_ROWS = rows(Asked)


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    for row in _ROWS:
        allowed = row.kind.allowed
        default = repr(row.default)[1:-1] if row.key == "prompt" else row.kind.write(row.default)
        add(
            f"--{row.key}",
            metavar=row.key.upper(),
            help=f"{row.help} {allowed[0].upper()}{allowed[1:]}; {default or 'none'} unless said.",
        )


def answer(options: Any) -> dict[str, Any]:
    """What the command prints, as JSON holds it. Raises ValueError."""
    from time import perf_counter

    given = {}
    for row in _ROWS:
        text = getattr(options, row.key)
        given[row.name], complaint = read(row, text)
        if complaint:
            raise ValueError(f"--{row.key} {text}: not {row.kind.allowed}")
    asked = Asked(**given)
    return report(finish(write(stored_models(), asked, perf_counter)), asked)


def stored_models() -> Models:
    """The models of the file beside this one. Raises ValueError where it cannot be read."""
    from pathlib import Path

    file = Path(__file__).with_name(WEIGHTS)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror})") from None
    return models_of(data)


def told(report: dict[str, Any]) -> str:
    """The same, to be read."""
    written = len(report["tokens"]) - report["origins"].count("prompt")
    lines = [report["text"], ""]
    lines += [f"{name:<22}{value:>12}   {what}" for name, value, what in _numbers(report, written)]
    return "\n".join(lines)


def _numbers(report: dict[str, Any], written: int) -> Iterator[tuple[str, str, str]]:
    yield "tokens", str(written), "written after the prompt"
    yield "verify passes", str(report["passes"]), "of the target, without recompute passes"
    yield "tokens / verify pass", f"{report['tokens_per_pass']:.2f}", "cut where the text was"
    for position, (rate, tested) in enumerate(report["alpha_by_position"], 1):
        share = "–" if rate is None else f"{rate:.3f}"
        yield f"α of draft {position}", share, f"of {tested} tested"
    yield "positions computed", str(report["positions_computed"]), "the prompt's included"
    yield "KV cache", f"{report['kv_bytes']}", "bytes kept at the end"
    yield "seconds", f"{report['seconds']:.2f}", "drafts and passes"
    yield "ms / token", f"{1000 * report['seconds'] / written:.2f}", "on this machine"
    for width, seconds, passes in report["seconds_by_width"]:
        yield f"pass of {width:.0f}", f"{1000 * seconds:.2f}", f"ms, median of {passes:.0f}"
