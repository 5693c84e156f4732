"""The real server, as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def serving(port: int = 8765, root: Path = ROOT) -> Iterator[str]:
    """Run `serve` of this project on this port or the next free one; gives the address."""
    command = [sys.executable, "-m", "sim", "serve", "--no-open", "--port", str(port)]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"http://\S+", line):
                yield found[0]
                return
        raise RuntimeError("The server did not start: " + "".join(said))
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def cli(
    *arguments: str, program: tuple[str, ...] = (sys.executable, "-m", "sim")
) -> tuple[int, str, str]:
    done = subprocess.run(
        [*program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def python(folder: Path, *arguments: str, code: int = 0, **more: str) -> str:
    """What Python prints in this folder; on its error channel where another `code` is awaited."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr
