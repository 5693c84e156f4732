"""What leaves the program: text in any encoding, data for a pipe, files whole or not at all."""

from __future__ import annotations

import codecs
import errno
import io
import os
import secrets
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TypeVar

from sim.work import Work

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds of work before a terminal is shown how far it has come."""

BAR = 30
"""Characters of the bar that shows it."""

STDOUT = "-"
"""What names standard output where a file is asked for."""

PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "÷": "/",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "α": "alpha",
}
"""What stands for a character that an encoding lacks, where Unicode itself has no plainer form."""


class OutputError(RuntimeError):
    """Standard output takes nothing more. The message says why."""


class ClosedPipeError(OutputError):
    """Whoever read standard output has enough of it, which is no fault: `| head -1`."""


def plain(error: UnicodeError) -> tuple[str, int]:
    """The codec error handler that writes ₁ as 1 and what has no plain form as its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    simpler = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    numbered = character.encode("ascii", "backslashreplace").decode()
    return PLAIN.get(character) or simpler or numbered, error.start + 1


def speak_any_encoding() -> None:
    """Let no character be the end of the program; what the user chose to replace them stays."""
    codecs.register_error("plain", plain)
    fatal = "strict", "surrogateescape"
    # On standard error Python has its own numbers for them, which nobody chose.
    for stream, replaced in (sys.stdout, fatal), (sys.stderr, (*fatal, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in replaced:
            stream.reconfigure(errors="plain")


@contextmanager
def _standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # What is still held back would be tried, and complained about, again at exit.
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
        if error.errno in (errno.EPIPE, errno.EINVAL):  # the latter is Windows' word for it
            raise ClosedPipeError from None
        raise OutputError(f"standard output cannot be written ({error.strerror})") from None


def say(text: str) -> None:
    """Print a line to standard output, at once. Raises OutputError."""
    with _standard_output():
        print(text, flush=True)


def complain(text: str) -> None:
    """Print a line to standard error; where there is none, nobody wants to know."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def send(data: bytes) -> None:
    """Write data to standard output, to the byte. Raises OutputError."""
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    with _standard_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def finished(work: Work[T], clock: Callable[[], float] = monotonic) -> T:
    """Do all of a work and give its result; a terminal sees how far a long one has come."""
    watched = sys.stderr is not None and sys.stderr.isatty()
    began, shown = clock(), ""
    while True:
        try:
            share = next(work)
        except StopIteration as end:
            if shown:
                print("\r" + " " * len(shown) + "\r", end="", file=sys.stderr, flush=True)
            return end.value  # type: ignore[no-any-return]  # what it was typed to return
        if watched and clock() - began > PATIENCE:
            done = int(BAR * share)
            line = f"[{'#' * done}{' ' * (BAR - done)}] {100 * share:3.0f} %"
            if line != shown:
                print("\r" + line, end="", file=sys.stderr, flush=True)
                shown = line


def flush() -> None:
    """Hand on what standard output holds back. Raises OutputError."""
    if sys.stdout is not None:
        with _standard_output():
            sys.stdout.flush()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one move: whatever interrupts it, what was there before stays, or nothing.

    Links are followed. A device or a pipe is written to as it is, and so is a file in a folder
    that takes no other. Raises OSError.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        try:
            temporary.write_bytes(data)
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY) or not path.is_file():
            raise
        path.write_bytes(data)
