"""The page and everything it needs as one folder or archive, for any static host and any path.

The same files give the same bytes: names are sorted and no time is written. The memory snapshot is
one of these files; its hash is in the bundle's own list, with that of every other file. The Python
of the page's start is one archive in it, and that of each lab one more, and the stand-in for
storage is one script, because some hosts take so many files and no more. Modules are named .js,
because some send .mjs as something that no browser runs.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sim.host import SITE, snapshot
from sim.host.files import lab_files, start_files
from sim.host.joined import joined
from sim.host.output import write_whole
from sim.host.start import MODULES, START_ARCHIVE, filled, lab_archive, regions
from sim.host.vendor import PARTS_LIST, read_parts, runtime
from sim.labs import LABS

LIST = "bundle.json"
LICENCES = "LICENCES.txt"
KINDS = (".css", ".js", ".mjs", ".svg", ".html", ".json", ".tsv")
"""What belongs to the page of the files directly below static/; its Python is listed elsewhere."""

WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive: the earliest there is."""

STAND_IN, STAND_IN_ENTRY = "static/vendor/fake-indexeddb/", "auto/index.mjs"
"""The package of what stands in for storage where there is none, and its module to import."""

RENAMED = {
    name: name.removesuffix(".mjs") + ".js"
    for name in (
        *(f"static/{name}" for name in MODULES),
        "static/charts.mjs",
        STAND_IN + STAND_IN_ENTRY,
    )
    if name.endswith(".mjs")
}
"""Modules of the page, and what they are called in a bundle."""

STORED = (".gz", ".png", ".whl", ".zip")
"""Kinds that are compressed already."""


class BundleError(RuntimeError):
    """A bundle cannot be written there. The message says what to do."""


def contents(site: Path = SITE) -> dict[str, bytes]:
    """Every file of a bundle by its path there, the list of all others last. Raises BundleError."""
    found = page_files(site)
    found[".nojekyll"] = b""  # GitHub's own builder would leave out __init__.py
    found[".github/workflows/pages.yml"] = (site / "static" / "pages.yml").read_bytes()
    return listed(found, site)


def page_files(site: Path = SITE) -> dict[str, bytes]:
    """The page and everything it needs, by path. Raises BundleError."""
    files = {"index.html": site / "index.html"}
    for file in (site / "static").iterdir():
        if file.suffix in KINDS:
            files[f"static/{file.name}"] = file
    for part in read_parts(PARTS_LIST)[1]:
        files[part.path] = runtime(site) / part.path
    held = snapshot.path(site)
    if held.exists():
        files[snapshot.name(site)] = held
    try:
        found = {name: file.read_bytes() for name, file in files.items()}
    except OSError as error:
        raise BundleError(f"{error.filename} cannot be read ({error.strerror})") from error
    found["index.html"] = filled(found["index.html"].decode(), regions(archives=True)).encode()
    found[START_ARCHIVE] = _python(start_files(site))
    for lab in LABS:
        found[lab_archive(lab.name)] = _python(lab_files(lab, site))
    # The page tells its host what to do about a missing file, which differs here.
    failure = found["static/failure.js"]
    found["static/failure.js"] = failure.replace(b"BUNDLED = false;", b"BUNDLED = true;")
    own = (site / "LICENSE").read_text(encoding="utf-8")
    return {
        **_renamed(_with_one_stand_in(found)),
        LICENCES: licences(_packages(), own).encode(),
    }


def _packages() -> list[dict[str, Any]]:
    """The pinned packages, as their list has them."""
    found: list[dict[str, Any]] = json.loads(PARTS_LIST.read_text(encoding="utf-8"))["packages"]
    return found


def listed(files: Mapping[str, bytes], site: Path = SITE) -> dict[str, bytes]:
    """These files in the order of their names, and last the list of them, with their hashes."""
    hashes = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    inside = [one for one in _packages() if any(part["path"] in hashes for part in one["parts"])]
    told = {
        "name": "Bonus Token",
        "runtime": {package["name"]: package["version"] for package in inside},
        "snapshot": hashes.get(snapshot.name(site)),
        "files": hashes,
    }
    found = {name: files[name] for name in hashes}
    return {**found, LIST: (json.dumps(told, indent=2) + "\n").encode()}


def _with_one_stand_in(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """These files with the modules of the stand-in as one."""
    parts = {
        name.removeprefix(STAND_IN): data.decode()
        for name, data in files.items()
        if name.startswith(STAND_IN) and name.endswith((".js", ".mjs"))
    }
    rest = {n: data for n, data in files.items() if n.removeprefix(STAND_IN) not in parts}
    return {**rest, STAND_IN + STAND_IN_ENTRY: joined(STAND_IN_ENTRY, parts).encode()}


def _renamed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """These files with modules under names that every host sends as scripts."""
    names = "|".join(re.escape(name.rpartition("/")[2]) for name in RENAMED)
    named = re.compile(rf"\b({names})\b".encode())
    own = re.compile(r"index\.html|static/[^/]+\.m?js")
    return {
        RENAMED.get(name, name): named.sub(lambda found: found[0][:-3] + b"js", data)
        if own.fullmatch(name)
        else data
        for name, data in files.items()
    }


def _python(files: Mapping[str, Path]) -> bytes:
    """An archive of Python files, in the order in which they can be imported."""
    return archive({name: file.read_bytes() for name, file in files.items()})


def licences(packages: list[dict[str, Any]], own: str) -> str:
    """What is in the bundle, under which licence, and where its source is."""
    fetched = (
        "Fetched parts, unchanged, but that .mjs is named .js, and fake-indexeddb is one file:"
    )
    lines = ["Bonus Token", "", own.strip(), "", fetched]
    for package in packages:
        texts = [part["path"] for part in package["parts"] if part["member"] == "LICENSE"]
        texts += [package["text"]] if "text" in package else []
        lines += [
            "",
            f"{package['name']} {package['version']}, licence {package['licence']}",
            f"  source: {package['code']}",
            *(f"  licence text: {text}" for text in texts),
        ]
    lines += [
        "",
        "The MPL-2.0 is at https://mozilla.org/MPL/2.0/. Pyodide contains CPython and its standard",
        "library (PSF-2.0, https://docs.python.org/3/license.html).",
    ]
    return "\n".join(lines) + "\n"


def archive(files: dict[str, bytes]) -> bytes:
    """These files as a ZIP archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, WHEN)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            entry.compress_type = (
                zipfile.ZIP_STORED if name.endswith(STORED) else zipfile.ZIP_DEFLATED
            )
            packed.writestr(entry, content, compresslevel=9)
    return data.getvalue()


def write(target: Path, files: dict[str, bytes]) -> None:
    """Write a bundle: an archive where `target` ends in .zip, else a folder.

    A folder is a new or an empty one, or holds a bundle, which is brought up to date; nothing else
    is touched. What cannot be written to its end leaves things as they were. Raises BundleError.
    """
    try:
        if target.suffix.lower() == ".zip":
            write_whole(target, archive(files))
        else:
            _write_folder(target, files)
    except OSError as error:
        raise BundleError(f"{target} cannot be written ({error.strerror})") from error


def _write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files beside their places first, so that a full disk is met before any is moved."""
    earlier = _held(folder)
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(".part", ".", folder) as staged:
            for name, content in files.items():
                file = Path(staged, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            for name in files:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(staged, name), folder / name)
    except BaseException:
        if earlier is None:
            for name in {name.partition("/")[0] for name in files}:
                shutil.rmtree(folder / name, ignore_errors=True)
                with suppress(OSError):
                    (folder / name).unlink()
        for place in new:
            with suppress(OSError):
                place.rmdir()
        raise
    for name in earlier or ():
        stale = (folder / name).resolve()
        if name not in files and stale.is_relative_to(folder.resolve()) and stale.is_file():
            stale.unlink()


def _held(folder: Path) -> list[str] | None:
    """The files of the bundle in a folder; None if it is new or empty. Raises BundleError."""
    if not folder.exists() or not any(folder.iterdir()):
        return None
    try:
        return list(json.loads((folder / LIST).read_text(encoding="utf-8"))["files"].keys())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BundleError(
            f"{folder} is not empty and holds no bundle; name a new folder, or one of a bundle"
        ) from None
