"""The memory snapshot that the page starts from: Python as it is once started, ready to be loaded.

It is built here with Node, from the vendored files, and is never needed: without Node, or where it
does not load, the page starts the plain way. Its name holds a key of the runtime and of how it is
made, so a stale one is never asked for. It carries the page's modules and PyScript's, compiled;
Python takes those only for the very source that they were compiled from.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sim.host import PACKAGE, SITE
from sim.host.files import start_files
from sim.host.output import say as say_it
from sim.host.vendor import PARTS_LIST, read_parts, runtime

MODULES = (
    "asyncio", "base64", "bisect", "collections.abc", "contextlib", "dataclasses", "functools",
    "gc", "html", "inspect", "io", "json", "math", "os", "pathlib", "random", "re", "traceback",
    "types", "typing", "urllib.parse", "zipfile",
)  # fmt: skip
"""Standard modules that the page and PyScript import; a test starts the page on these alone."""

BUILDER = PACKAGE / "host" / "snapshot.mjs"


def key(site: Path = SITE, parts_list: Path = PARTS_LIST) -> str:
    """A hash of all that a snapshot is made of: the runtime, the modules, and how it is made."""
    made_of = [part.sha256 for part in read_parts(parts_list)[1] if part.name == "pyodide"]
    made_of += MODULES
    made_of += [file.read_text("utf-8") for file in (BUILDER, site / "static" / "snapshot.mjs")]
    return sha256("\n".join(made_of).encode()).hexdigest()[:16]


def name(site: Path = SITE) -> str:
    """The snapshot's path below the page."""
    return f"static/vendor/start/snapshot-{key(site)}.bin.gz"


def path(site: Path = SITE) -> Path:
    """Where the snapshot belongs."""
    return runtime(site) / name(site)


def is_whole(file: Path) -> bool:
    """Whether the file is there and unpacks to something, its checksum included."""
    try:
        with gzip.open(file) as packed:
            return len(packed.read()) > 0
    except (OSError, EOFError, zlib.error):
        return False


def build(say: Callable[[str], None] = say_it, site: Path = SITE) -> bool:
    """Build the snapshot unless it is there, whole; say so where it cannot be built.

    Returns whether one was built. Never raises for want of Node, or of room: the page does without.
    """
    target = path(site)
    if is_whole(target):
        return False
    node = shutil.which("node")
    if node is None:
        say("Node.js is not installed: without a memory snapshot the page starts more slowly.")
        return False
    say("building the memory snapshot that the page starts from")
    try:
        failed = _build(node, site, target)
    except OSError as error:
        failed = str(error)
    if failed:
        say(f"  it could not be built ({failed}); going on without")
        return False
    say(f"  {target.name}  {target.stat().st_size / 1e6:.2f} MB")
    return True


def _build(node: str, site: Path, target: Path) -> str | None:
    """Build the snapshot and put it in the place of any other; or say why not. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
    os.close(handle)
    try:
        files = [f"{name}={file}" for name, file in start_files(site).items()]
        folders = [str(site), str(runtime(site))]
        command = [node, str(BUILDER), *folders, temporary, ",".join(MODULES), *files]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode or not is_whole(Path(temporary)):
            reason = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            return reason[-1][:200] if reason else "no output"
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
        for stale in target.parent.glob("snapshot-*.bin.gz"):
            if stale != target:
                with suppress(OSError):
                    stale.unlink()
        return None
    finally:
        Path(temporary).unlink(missing_ok=True)
