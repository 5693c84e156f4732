"""Fetch the pinned browser runtime: every file checked against its hash, or not written at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sim.host import SITE

PARTS_LIST = SITE / "static" / "vendor.json"
CDN_TIMEOUT = 5
"""Seconds to wait for a CDN before the package client is asked instead."""

LARGE = 500_000
"""Bytes from which on a file's arrival is told."""


class VendorError(RuntimeError):
    """A part could not be had, or was not what is pinned. The message says what to do."""


class Part(NamedTuple):
    """One pinned file: a member of a package, and where it goes below the site."""

    name: str
    version: str
    source: str
    member: str
    sha256: str
    bytes: int
    path: str

    def is_whole(self, site: Path) -> bool:
        """Whether the file is there, to the last bit."""
        target = site / self.path
        return (
            target.is_file()
            and target.stat().st_size == self.bytes
            and hashlib.sha256(target.read_bytes()).hexdigest() == self.sha256
        )


def read_parts(parts_list: Path = PARTS_LIST) -> tuple[dict[str, str], list[Part]]:
    """The CDN address of each kind of source, and every pinned part."""
    listed = json.loads(parts_list.read_text(encoding="utf-8"))
    parts = [
        Part(package["name"], package["version"], package["source"], **part)
        for package in listed["packages"]
        for part in package["parts"]
    ]
    return listed["cdn"], parts


def vendor(
    say: Callable[[str], None] = print, site: Path = SITE, parts_list: Path = PARTS_LIST
) -> int:
    """Fetch what is missing or damaged, and return how many files that was.

    Raises VendorError where a part is not to be had. What was written before stays, whole.
    """
    cdn, parts = read_parts(parts_list)
    wanted = [part for part in parts if not part.is_whole(site)]
    packages: dict[tuple[str, str, str], list[Part]] = {}
    for part in wanted:
        packages.setdefault((part.source, part.name, part.version), []).append(part)
    for (source, name, version), group in packages.items():
        size = sum(part.bytes for part in group) / 1e6
        say(f"fetching {name} {version}: {len(group)} files, {size:.1f} MB")
        rest = _from_cdn(cdn[source], group, site, say)
        if rest:
            _from_npm(f"{name}@{version}", rest, site, say)
    return len(wanted)


def _write(part: Part, data: bytes, site: Path) -> None:
    """Put a part in its place in one move, so that nobody ever sees half a file."""
    found = hashlib.sha256(data).hexdigest()
    if found != part.sha256:
        raise VendorError(
            f"{part.name} {part.version}, {part.member}: expected SHA-256 {part.sha256}, "
            f"got {found}. The file was not written; run the command again, or check the source."
        )
    target = site / part.path
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _from_cdn(
    template: str, group: list[Part], site: Path, say: Callable[[str], None]
) -> list[Part]:
    """Fetch parts from the CDN; return those that it did not give as pinned."""
    for index, part in enumerate(group):
        address = template.format(name=part.name, version=part.version, member=part.member)
        try:
            with urllib.request.urlopen(address, timeout=CDN_TIMEOUT) as answer:
                _write(part, answer.read(), site)
        except (urllib.error.URLError, OSError, VendorError) as error:
            say(f"  not from the CDN ({getattr(error, 'reason', error)}); asking npm")
            return group[index:]
        _tell(part, say)
    return []


def _tell(part: Part, say: Callable[[str], None]) -> None:
    if part.bytes >= LARGE:
        say(f"  {part.member}  {part.bytes / 1e6:.1f} MB")


def _from_npm(spec: str, group: list[Part], site: Path, say: Callable[[str], None]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise VendorError(
            f"{spec} could not be had: the CDN did not answer and npm is not installed. "
            "Install Node.js with npm, or connect to the network, and run the command again."
        )
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            [npm, "pack", spec, "--silent", "--pack-destination", folder],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        archives = list(Path(folder).glob("*.tgz"))
        if packed.returncode or len(archives) != 1:
            reason = (packed.stderr or packed.stdout).strip().splitlines()
            raise VendorError(
                f"npm pack {spec} failed: {reason[-1] if reason else 'no archive'}. "
                "Check the network and run the command again."
            )
        with tarfile.open(archives[0]) as archive:
            for part in group:
                try:
                    member = archive.extractfile(f"package/{part.member}")
                except KeyError:
                    member = None
                if member is None:
                    raise VendorError(f"{spec} has no file {part.member}")
                _write(part, member.read(), site)
                _tell(part, say)
