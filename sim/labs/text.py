"""A real model in the page: its command, and its section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sim.labs.text_measured import by_position, by_width
from sim.labs.text_run import models_of, stored, write
from sim.labs.text_section import printed as section
from sim.labs.text_settings import ROWS, Asked
from sim.markup import Markup
from sim.settings import read
from sim.work import finish

if TYPE_CHECKING:
    from sim.labs.writer import Writer


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


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    for row in ROWS.values():
        allowed = row.kind.allowed
        default = repr(row.default)[1:-1] if row.key == "prompt" else row.kind.write(row.default)
        add(
            f"--{row.key}",
            metavar=row.key.upper(),
            help=f"{row.help} {allowed[0].upper()}{allowed[1:]}; {default or 'none'} unless said.",
        )
    add(
        "--csv",
        metavar="FILE",
        help="write each token, and what else the draft would have said there, with commas; for a "
        "FILE that ends in .tsv with tabs. - is standard output, in place of the numbers.",
    )


@lru_cache(maxsize=1)
def _written(asked: Asked, clock: Callable[[], float]) -> Writer:
    """A text, written to its end."""
    return finish(write(models_of(stored()), asked, clock))


def asked_of(options: Any) -> Asked:
    """The settings that flags ask for. Raises ValueError."""
    given = {}
    for row in ROWS.values():
        text = getattr(options, row.key)
        given[row.name], complaint = read(row, text)
        if complaint:
            raise ValueError(f"--{row.key} {text}: not {row.kind.allowed}")
    return Asked(**given)


def answer(options: Any) -> dict[str, Any]:
    """What the command prints, as JSON holds it. Raises ValueError.

    `options.clock` counts seconds.
    """
    asked = asked_of(options)
    return report(_written(asked, options.clock), asked)


def csv(options: Any, separator: str, decimal: str) -> str:
    """What `--csv` writes. Raises ValueError."""
    from sim.labs.text_words import words_csv

    asked = asked_of(options)
    writer = _written(asked, options.clock)
    return finish(words_csv(writer, writer.origins.count("prompt") + asked.tokens, separator))


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


def command_of(asked: Asked) -> str:
    """The command that writes the same, as a shell takes it."""
    parts = ["python3 -m sim text"]
    for row in ROWS.values():
        value = getattr(asked, row.name)
        if value != row.default:
            text = row.kind.write(value)
            # $'…' holds line ends, and Python writes a text as it reads it.
            parts.append(f"--{row.key} " + (f"${_escaped(text)}" if row.key == "prompt" else text))
    return " ".join(parts)


def _escaped(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


# The section


def printed() -> Markup:
    """What is set, written and measured, at the opening settings."""
    return section()
