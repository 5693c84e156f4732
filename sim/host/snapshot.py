"""The memory snapshot that the page starts from: Python as it is once started, ready to be loaded.

It is built here with Node, from the vendored files, and is never needed: without Node, or where it
does not load, the page starts the plain way. Its name holds a key of the runtime and of how it is
made, so one of another runtime is never asked for. It carries the page's modules and PyScript's,
compiled; Python takes those only for the very source that they were compiled from, so after an edit
it is slower and still right. What it was compiled from stands in its head, and it is built anew
where that is something else by now.
"""

from __future__ import annotations

import gzip
import json
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
    "asyncio", "base64", "bisect", "collections.abc", "contextlib", "dataclasses",
    "encodings.cp437", "functools", "gc", "html", "inspect", "io", "json", "math", "os", "pathlib",
    "random", "re", "traceback", "types", "typing", "urllib.parse", "zipfile",
)  # fmt: skip
"""Standard modules that the page and PyScript import; a test starts the page on these alone. In
cp437 are the names of files in an archive."""

WITHOUT_NODE = "Node.js is not installed: without a memory snapshot the page starts more slowly."

BUILDER = PACKAGE / "host" / "snapshot.mjs"


def key(site: Path = SITE, parts_list: Path = PARTS_LIST) -> str:
    """A hash of all that a snapshot is made of: the runtime, the modules, and how it is made."""
    made_of = [part.sha256 for part in read_parts(parts_list)[1] if part.name == "pyodide"]
    made_of += MODULES
    made_of += [file.read_text("utf-8") for file in (BUILDER, site / "static" / "snapshot.mjs")]
    return sha256("\n".join(made_of).encode()).hexdigest()[:16]


def sources(site: Path = SITE, parts_list: Path = PARTS_LIST) -> str:
    """A hash of the files that a snapshot holds compiled."""
    made_of = [part.sha256 for part in read_parts(parts_list)[1] if part.name == "@pyscript/core"]
    for name, file in start_files(site).items():
        made_of += [name, sha256(file.read_bytes()).hexdigest()]
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


def compiled_from(file: Path) -> str | None:
    """The `sources` that a snapshot was compiled from; None where it does not say."""
    named, fixed = 8, 10  # the flag of a name in the head of a gzip file, and the bytes before it
    try:
        with file.open("rb") as packed:
            head = packed.read(100)
    except OSError:
        return None
    if len(head) < fixed or not head[3] & named:
        return None
    return head[fixed:].partition(b"\0")[0].decode("latin-1")


def build(say: Callable[[str], None] = say_it, site: Path = SITE) -> bool:
    """Build the snapshot unless it is there, whole and of today's files; say so where that fails.

    Returns whether one was built. Never raises for want of Node, or of room: the page does without,
    or with one of earlier files.
    """
    target = path(site)
    whole = is_whole(target)
    if whole and compiled_from(target) == sources(site):
        return False
    node = shutil.which("node")
    if node is None:
        if not whole:
            say(WITHOUT_NODE)
        return False
    say("building the memory snapshot that the page starts from")
    try:
        failed = _build(node, site, target, say)
    except OSError as error:
        failed = str(error)
    if failed:
        instead = "with the one of earlier files" if whole else "without"
        say(f"  it could not be built ({failed}); going on {instead}")
        return False
    return True


def _build(node: str, site: Path, target: Path, say: Callable[[str], None]) -> str | None:
    """Build the snapshot and put it in the place of any other; or say why not. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
    os.close(handle)
    try:
        compiled = sources(site)
        files = [f"{name}={file}" for name, file in start_files(site).items()]
        folders = [str(site), str(runtime(site))]
        command = [node, str(BUILDER), *folders, temporary, ",".join(MODULES), *files]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            reason = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            return reason[-1][:200] if reason else "no output"
        image = Path(temporary).read_bytes()
        with (
            open(temporary, "wb") as file,
            gzip.GzipFile(compiled, "wb", 9, file, mtime=0) as packed,
        ):
            packed.write(image)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
        for stale in target.parent.glob("snapshot-*.bin.gz"):
            if stale != target:
                with suppress(OSError):
                    stale.unlink()
        taken = json.loads(done.stdout)
        say(
            f"  {target.name}  {target.stat().st_size / 1e6:.2f} MB; it takes "
            f"{taken['used'] / 1e6:.1f} of {taken['room'] / 1e6:.1f} MB of memory"
        )
        return None
    finally:
        Path(temporary).unlink(missing_ok=True)
