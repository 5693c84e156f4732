"""An installed package is not written to: its runtime is in a cache of the user's."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from pathlib import Path

import pytest

import sim.__main__ as cli
from sim import __version__
from sim.host import SITE, output, snapshot, vendor
from sim.host.bundle import RENAMED, STAND_IN
from sim.host.files import start_files
from sim.host.start import START_ARCHIVE
from tests.server import ROOT

ROOT_OBEYS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
"""As root, do without the right to write where nobody may."""

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and not shutil.which("setpriv")),
    reason="there is no way here to be kept from writing",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package as installed, and read-only."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    before = listing(folder)
    subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
    yield folder
    assert listing(folder) == before
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)


@pytest.fixture(scope="module")
def home(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose cache holds the runtime already, but for the snapshot."""
    folder = tmp_path_factory.mktemp("home")
    cache = place(installed, of_home(folder))
    assert cache.is_relative_to(folder)
    assert "bonus-token" in cache.parts
    without = shutil.ignore_patterns("snapshot-*")
    shutil.copytree(SITE / "static/vendor", cache / "static/vendor", ignore=without)
    return folder


def listing(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*")}


def of_home(folder: Path) -> dict[str, str]:
    """The environment of somebody who lives there."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith("XDG_")}
    kept.pop(vendor.CACHE, None)
    return {**kept, "HOME": str(folder), "PYTHONUNBUFFERED": "1"}


def command(*arguments: str) -> list[str]:
    return [*(ROOT_OBEYS if os.geteuid() == 0 else []), sys.executable, *arguments]


def call(installed: Path, environment: Mapping[str, str], *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        command(*arguments),
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def place(installed: Path, environment: Mapping[str, str]) -> Path:
    code = "from sim.host.vendor import runtime; print(runtime())"
    _, out, err = call(installed, environment, "-c", code)
    assert err == ""
    return Path(out.strip())


def test_a_wheel_names_its_version_and_the_one_package_it_needs(wheel: Path) -> None:
    assert wheel.name.startswith(f"bonus_token-{__version__}-")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        told = message_from_bytes(archive.read(name))
    needed = [text for text in told.get_all("Requires-Dist", []) if "extra" not in text]
    assert told["Version"] == __version__
    assert [re.split(r"[<>=]", text)[0] for text in needed] == ["platformdirs"]


def test_a_wheel_holds_the_page_and_not_what_it_is_built_from(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        read = [archive.read(name) for name in held if name.endswith(".py")]
    assert "sim/site/index.html" in held
    assert {f"sim/site/{name}" if name[:3] != "sim" else name for name in start_files()} <= held
    assert not [name for name in held if "sections" in name or "printed" in name]
    assert not [source for source in read if b"jinja2" in source or b"sim.host.printed" in source]


def test_an_installed_package_keeps_its_runtime_in_a_cache_and_serves_it_from_there(
    installed: Path, home: Path, tmp_path: Path
) -> None:
    cache = place(installed, of_home(home))
    code, out, err = call(installed, of_home(home), "-m", "sim", "vendor")
    assert (code, err) == (0, "")
    assert "fetching" not in out
    assert out.splitlines()[-1] == f"It is in {cache}"
    assert snapshot.is_whole(cache / snapshot.name())

    serving = command("-m", "sim", "serve", "--no-open", "--port", "9351")
    with subprocess.Popen(
        serving, cwd=installed, env=of_home(home), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        paths = [part.path for part in vendor.read_parts()[1]]
        said = process.stdout.readline()
        if "is taken" in said:
            said = process.stdout.readline()
        try:
            (address,) = re.findall(r"http://\S+", said)
            for path in ("index.html", *start_files(), *paths, snapshot.name()):
                with urllib.request.urlopen(address + path, timeout=20) as answer:
                    held = cache if path == snapshot.name() else SITE
                    assert answer.read() == (held / path).read_bytes(), path
        finally:
            process.terminate()

    done = subprocess.run(
        command("-m", "sim", "bundle", "-o", "-"),
        cwd=installed,
        env=of_home(home),
        capture_output=True,
        check=True,
    )
    with zipfile.ZipFile(io.BytesIO(done.stdout)) as bundled:
        names = set(bundled.namelist())
        alone = {path: RENAMED.get(path, path) for path in paths if not path.startswith(STAND_IN)}
        assert {*alone.values(), snapshot.name(), "index.html", START_ARCHIVE} <= names
        assert all(bundled.read(name) == (SITE / path).read_bytes() for path, name in alone.items())


def test_a_cache_that_takes_nothing_is_told_in_one_line_with_the_remedy(
    installed: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o555)
    for arguments in ("vendor", "serve --no-open", "bundle -o -"):
        code, out, err = call(installed, of_home(tmp_path), "-m", "sim", *arguments.split())
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert str(place(installed, of_home(tmp_path))) in err
        assert "cannot be written (Permission denied)" in err
        assert "BONUS_TOKEN_CACHE" in err


def test_another_folder_may_be_named_for_the_runtime(
    installed: Path, home: Path, tmp_path: Path
) -> None:
    key = place(installed, of_home(home)).name
    named = {**of_home(home), vendor.CACHE: str(tmp_path)}
    assert place(installed, named) == tmp_path / key
    assert place(installed, {**named, vendor.CACHE: "here"}) == installed / "here" / key
    assert place(installed, {**named, vendor.CACHE: ""}).is_relative_to(home)
    assert place(ROOT, named) == tmp_path / key  # a checkout may be read-only too
    (tmp_path / "file").touch()
    named[vendor.CACHE] = str(tmp_path / "file")
    code, out, err = call(installed, named, "-m", "sim", "vendor")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"{tmp_path / 'file'}" in err


def test_without_platformdirs_an_installed_package_says_what_to_do(
    installed: Path, home: Path
) -> None:
    code, out, err = call(installed, of_home(home), "-S", "-E", "-m", "sim", "vendor")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "platformdirs" in err
    assert "BONUS_TOKEN_CACHE" in err
    named = {**of_home(home), vendor.CACHE: str(place(installed, of_home(home)).parent)}
    assert call(installed, named, "-S", "-E", "-m", "sim", "vendor")[0] == 0


def test_a_checkout_needs_nothing_but_python_and_keeps_its_runtime_beside_the_page(
    home: Path,
) -> None:
    code, out, err = call(ROOT, of_home(home), "-S", "-E", "-m", "sim", "vendor")
    assert (code, out, err) == (0, "The runtime is complete.\n", "")
    assert place(ROOT, of_home(home)) == ROOT


def test_another_list_of_parts_has_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(vendor.CACHE, str(tmp_path))
    found = vendor.runtime.__wrapped__()
    changed = tmp_path / "vendor.json"
    changed.write_bytes(vendor.PARTS_LIST.read_bytes().replace(b'"version": "', b'"version": "9'))
    monkeypatch.setattr(vendor, "PARTS_LIST", changed)
    assert vendor.runtime.__wrapped__() != found
    assert vendor.runtime.__wrapped__(tmp_path) == tmp_path


def test_a_snapshot_that_has_no_room_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "static").mkdir()
    shutil.copy(SITE / "static" / "snapshot.mjs", tmp_path / "static")
    (tmp_path / "static" / "vendor").write_text("no folder")
    said: list[str] = []
    assert snapshot.build(said.append, tmp_path) is False
    assert "could not be built" in said[-1]
    (tmp_path / "static" / "vendor").unlink()
    monkeypatch.setattr(snapshot.shutil, "which", lambda _: str(tmp_path))  # type: ignore[attr-defined]
    assert snapshot.build(said.append, tmp_path) is False
    assert "could not be built" in said[-1]
    assert list(snapshot.path(tmp_path).parent.iterdir()) == []


def test_nothing_is_fetched_for_a_host_or_an_archive_that_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(*_: object) -> int:
        raise AssertionError("fetched something first")

    monkeypatch.setattr(vendor, "vendor", asked)
    monkeypatch.setattr(output, "say", asked)
    for arguments in ("serve --host nowhere.invalid", "bundle --output="):
        with pytest.raises(SystemExit) as left:
            cli.main(arguments.split())
        assert left.value.code == 2
