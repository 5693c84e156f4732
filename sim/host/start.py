"""What the page asks for at its start and later, as index.html says it: preloads, lists of files.

In a checkout each file is itself. In a bundle the Python of the start travels as one archive, and
that of each lab as one more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sim.host import snapshot
from sim.host.files import lab_files, start_files
from sim.host.vendor import read_parts
from sim.labs import LABS

INTERPRETER = "./static/interpreter.mjs"
MODULES = (
    "start.mjs",
    "vendor/pyscript/core.js",
    "vendor/pyscript/core-C9KDLldu.js",
    "vendor/pyscript/error-D2315lOB.js",
    "interpreter.mjs",
    "snapshot.mjs",
    "vendor/pyodide/pyodide.mjs",
    "vendor/pyodide/pyodide.asm.mjs",
)
"""Scripts below static/ that the start needs, in the order in which it does."""

WASM = "static/vendor/pyodide/pyodide.asm.wasm"
SNAPSHOT_BYTES = 3_500_000
"""About what a snapshot weighs: progress is shown against it before its size is known."""

START_ARCHIVE = "static/start.zip"
"""The archive of the start in a bundle."""

PLUGINS_OFF = (
    "codemirror",
    "deprecations-manager",
    "donkey",
    "error",
    "py-editor",
    "py-game",
    "py-terminal",
)


def preloads() -> str:
    """The links that start the two longest downloads before anything else."""
    (wasm,) = [part for part in read_parts()[1] if part.path == WASM]
    held = snapshot.name()
    fetched = '<link rel="preload" as="fetch" crossorigin href="./'
    return (
        f'{fetched}{held}" data-snapshot data-bytes="{SNAPSHOT_BYTES}">\n'
        f'{fetched}{wasm.path}" data-bytes="{wasm.bytes}">'
    )


def small_preloads(python: list[str]) -> str:
    """The links to everything else that the start needs, in the order in which it does."""
    lines = [f'<link rel="modulepreload" href="./static/{name}">' for name in MODULES]
    for name in python:
        unpacked = " data-start" if name == START_ARCHIVE else ""
        lines.append(f'<link rel="preload" as="fetch" crossorigin href="./{name}"{unpacked}>')
    return "\n".join(lines)


def python_config(names: list[str]) -> str:
    """PyScript's configuration: the interpreter, no plugins, and every file that Python needs but
    those that the interpreter unpacks from an archive.

    PyScript loads its plugins once for MicroPython too, which is not used here, unless told off.
    """
    off = {"plugins": [f"!{name}" for name in PLUGINS_OFF]}
    files = {f"./{name}": f"./{name}" for name in names}
    written = {"mpy": off, "py": {"interpreter": INTERPRETER, **off, "files": files}}
    return "\n".join(
        f'<{kind}-config type="json" hidden>{json.dumps(config)}</{kind}-config>'
        for kind, config in written.items()
    )


def lab_archive(lab: str) -> str:
    """The name of a lab's archive in a bundle."""
    return f"static/labs/{lab}.zip"


def regions(archives: bool = False) -> dict[str, str]:
    """The print regions about files, for single files or for archives."""
    python = [START_ARCHIVE] if archives else list(start_files())
    labs = {lab.name: [lab_archive(lab.name)] if archives else list(lab_files(lab)) for lab in LABS}
    return {
        "preload": preloads(),
        "modules": small_preloads(python),
        "python": python_config([] if archives else python),
        "labs": f'<script type="application/json" id="labs">{json.dumps(labs)}</script>',
    }


def filled(html: str, regions: Mapping[str, str]) -> str:
    """`html` with these print regions filled. Raises ValueError where there is not one of each."""
    for name, text in regions.items():
        mark = re.compile(rf"(<!--print {name}-->).*?(<!--/print-->)", re.DOTALL)
        html, found = mark.subn(lambda m, text=text: m[1] + text + m[2], html)  # type: ignore[misc]
        if found != 1:
            raise ValueError(f"index.html has {found} places for {name!r}, not one")
    return html
