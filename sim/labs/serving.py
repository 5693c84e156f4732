"""Who gets the cache: requests that share one memory, set aside in four ways. The command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sim.catalogue import machine_named, model_named
from sim.labs.arrivals import MOST_REQUESTS, Request, read_requests
from sim.labs.scheduler import SHARES, Server
from sim.labs.service import Asked, report, requests_csv, scene_of, serve
from sim.labs.serving_page import printed
from sim.settings import read, rows, write
from sim.work import finish

__all__ = ["answer", "arguments", "csv", "own_requests", "printed", "told"]

FLAGS = {"running": "max-running"}
"""Flags that have another name than their key in a link."""

NUMBERS = {
    "finished": "requests that are through",
    "refused": "requests that could never be served: with their drafts longer than the memory",
    "tokens": "written in all",
    "preemptions": "times that a request lost its cache to an older one",
    "recomputed": "positions computed again because of that",
    "seconds": "simulated, until the last request was through",
    "tokens_per_second": "of all requests together",
    "mean_running": "requests in a pass, by the time of the passes",
    "mean_wait_s": "seconds from arrival until a request was let in",
    "p95_wait_s": "the same, of which 95 in 100 waited no longer",
    "rate": "arrivals a second; twice what the memory could serve unless said",
}
"""What the report says of a server, but for its shares."""

DRAWN = ("requests", "rate", "lengths")
"""Settings of requests that are drawn: they mean nothing beside a file."""


MOST_BYTES = 20_000_000
"""Of a file of requests."""


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    for row in rows(Asked):
        default = write(row, row.default)
        allowed = row.kind.allowed
        told = f"{row.help} {allowed[0].upper()}{allowed[1:]}"
        told += f"; {default} unless said." if default else "."
        add(_flag(row.key), metavar=row.key.upper(), help=told.replace("%", "%%"))
    add(
        "--file",
        metavar="FILE",
        help="requests of your own, in place of drawn ones: a row of arrival (seconds), prompt and "
        f"output (tokens) each, at most {MOST_REQUESTS}; - is standard input.",
    )
    add(
        "--csv",
        metavar="FILE",
        help="write what became of each request, a row each; for a FILE that ends in .tsv with "
        "tabs and decimal commas. - is standard output, in place of the numbers.",
    )


def _flag(key: str) -> str:
    return f"--{FLAGS.get(key, key)}"


_NAMED: dict[str, Callable[[str], object]] = {"model": model_named, "machine": machine_named}
"""What names the nearest ones where there is none of this name."""


def asked_of(options: Any) -> Asked:
    """The settings that these flags say, read strictly. Raises ValueError."""
    values: dict[str, Any] = {}
    for row in rows(Asked):
        flag = _flag(row.key)
        text = getattr(options, flag.strip("-").replace("-", "_"))
        if text is None:
            continue
        if options.file is not None and row.key in DRAWN:
            raise ValueError(f"{flag} {text}: the requests come from --file; leave one out")
        if row.key in _NAMED:
            _NAMED[row.key](text)
        values[row.name], complaint = read(row, text)
        if complaint or not text.strip():
            raise ValueError(f"{flag} {text}: not {row.kind.allowed}")
    return Asked(**values)


def own_requests(name: str, size: int, text: str) -> tuple[Request, ...]:
    """The requests of a reader's file; `text` is empty where it could not be read.

    Raises ValueError, which names the file, what is wrong with it, and the remedy.
    """
    if size > MOST_BYTES:
        raise ValueError(
            f"{name}: larger than {MOST_BYTES // 1_000_000} MB; leave out what is no request"
        )
    if size and not text:
        raise ValueError(f"{name}: not text in UTF-8; save it as CSV")
    try:
        return tuple(read_requests(text))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _text_of(name: str) -> str:
    """The text of a file of requests. Raises ValueError."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"--file {name}: cannot be read ({error.strerror})") from None
    if len(data) > MOST_BYTES:
        raise ValueError(f"--file {name}: more than {MOST_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"--file {name}: not text in UTF-8") from None


@lru_cache(maxsize=1)
def _served(asked: Asked, file: str | None) -> tuple[Server, float | None]:
    """A server that is through with the requests of these settings, or of a file."""
    own: list[Request] = []
    if file is not None:
        text = _text_of(file)
        try:
            own = read_requests(text)
        except ValueError as error:
            raise ValueError(f"--file {file}: {error}") from None
    scene = scene_of(asked, own)
    return finish(serve(scene.server())), scene.rate


def answer(options: Any) -> dict[str, Any]:
    """What the command prints, as JSON holds it. Raises ValueError."""
    return report(*_served(asked_of(options), options.file))


def csv(options: Any, separator: str, decimal: str) -> str:
    """What `--csv` writes. Raises ValueError."""
    server, _ = _served(asked_of(options), options.file)
    return requests_csv(server, separator, decimal)


def told(report: dict[str, Any]) -> str:
    """The numbers, to be read."""
    lines = [
        f"{name:<20}{_text(report[name]):>14}   {meaning}" for name, meaning in NUMBERS.items()
    ]
    shares = report["shares"]
    lines += ["", "share of the slots, by the time of the passes"]
    lines += [
        f"{name:<20}{_text(shares[name]):>14}   {meaning}" for name, meaning in SHARES.items()
    ]
    return "\n".join(lines)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}" if isinstance(value, float) else f"{value}"
