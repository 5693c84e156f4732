"""Vendoring never leaves half a file, and the server gives what the page needs and nothing else."""

from __future__ import annotations

import errno
import gzip
import hashlib
import http.client
import io
import json
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sim.host import SITE, bundle, snapshot, vendor
from sim.host.files import lab_files, start_files
from sim.host.serve import Handler, Server, listen
from sim.host.start import START_ARCHIVE, lab_archive
from sim.labs import LABS
from sim.stretch import FILE as WORDS
from tests.server import ROOT, serving

PARTS = {"a.txt": b"first part", "folder/b.bin": bytes(range(256))}


@pytest.fixture
def cdn(tmp_path: Path) -> Iterator[dict[str, bytes]]:
    """What a small local CDN serves; the parts list of the test names it."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    served = {f"/thing@1.0/{name}": data for name, data in PARTS.items()}

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = served.get(self.path)
            self.send_response(404 if data is None else 200)
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    listed = {
        "cdn": {
            "npm": f"http://127.0.0.1:{server.server_address[1]}/{{name}}@{{version}}/{{member}}"
        },
        "packages": [
            {
                "name": "thing",
                "version": "1.0",
                "source": "npm",
                "parts": [
                    {
                        "member": name,
                        "sha256": hashlib.sha256(data).hexdigest(),
                        "bytes": len(data),
                        "path": f"static/vendor/{name}",
                    }
                    for name, data in PARTS.items()
                ],
            }
        ],
    }
    (tmp_path / "list.json").write_text(json.dumps(listed))
    yield served
    server.shutdown()
    server.server_close()


def fetch(folder: Path) -> tuple[int, list[str]]:
    said: list[str] = []
    return vendor.vendor(said.append, folder, folder / "list.json"), said


def files(folder: Path) -> dict[str, bytes]:
    root = folder / "static" / "vendor"
    return {str(f.relative_to(root)): f.read_bytes() for f in root.rglob("*") if f.is_file()}


def test_vendoring_fetches_all_then_nothing_then_repairs(
    tmp_path: Path, cdn: dict[str, bytes]
) -> None:
    fetched, said = fetch(tmp_path)
    assert (fetched, files(tmp_path)) == (2, PARTS)
    assert any("thing 1.0" in line for line in said)
    cdn.clear()
    assert fetch(tmp_path) == (0, [])
    (tmp_path / "static/vendor/a.txt").write_bytes(b"first pert")
    cdn["/thing@1.0/a.txt"] = PARTS["a.txt"]
    assert fetch(tmp_path)[0] == 1
    assert files(tmp_path) == PARTS


def test_a_wrong_file_from_the_cdn_is_not_taken(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    cdn["/thing@1.0/a.txt"] = b"something else"
    monkeypatch.setattr(vendor.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    with pytest.raises(vendor.VendorError, match="npm is not installed"):
        fetch(tmp_path)
    assert files(tmp_path) == {} or "a.txt" not in files(tmp_path)


def test_a_part_inside_a_wheel_is_taken_out_of_it(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = json.loads((tmp_path / "list.json").read_text())
    cdn.clear()
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "carrier-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in PARTS.items():
            wheel.writestr(f"carrier/inside/{name}", data)
        wheel.writestr("carrier-1.0.dist-info/METADATA", "Name: carrier\nVersion: 1.0\n")
        wheel.writestr("carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        wheel.writestr("carrier-1.0.dist-info/RECORD", "")
    listed["cdn"]["pyodide"] = listed["cdn"]["npm"]
    wheel_of = {"source": "pyodide", "wheel": "carrier==1.0", "folder": "carrier/inside"}
    listed["packages"][0].update(wheel_of)
    (tmp_path / "list.json").write_text(json.dumps(listed))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    fetched, said = fetch(tmp_path)
    assert (fetched, files(tmp_path)) == (2, PARTS)
    assert any("asking pip for carrier==1.0" in line for line in said)

    shutil.rmtree(tmp_path / "static")
    listed["packages"][0]["wheel"] = "carrier==2.0"
    (tmp_path / "list.json").write_text(json.dumps(listed))
    with pytest.raises(vendor.VendorError, match=r"pip could not fetch carrier==2\.0"):
        fetch(tmp_path)
    monkeypatch.setattr(vendor.importlib.util, "find_spec", lambda _: None)  # type: ignore[attr-defined]
    with pytest.raises(vendor.VendorError, match="has no pip"):
        fetch(tmp_path)


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(vendor.os, "replace", interrupted)  # type: ignore[attr-defined]
        with pytest.raises(KeyboardInterrupt):
            fetch(tmp_path)
    assert files(tmp_path) == {}
    assert fetch(tmp_path)[0] == 2


def test_the_pinned_list_is_whole_here_and_checking_it_needs_no_network() -> None:
    _, parts = vendor.read_parts()
    assert {part.name for part in parts} == {
        *("pyodide", "@pyscript/core", "fake-indexeddb", "vega", "vega-lite", "vega-embed"),
        "numpy",
    }
    subprocess.run(
        [sys.executable, "-m", "sim", "vendor"], cwd=ROOT, check=True, capture_output=True
    )
    code = (
        "import socket, subprocess\n"
        "def no(*a, **k): raise AssertionError('asked for something')\n"
        "socket.socket.connect = subprocess.run = no\n"
        "from sim.host.vendor import vendor\n"
        "assert vendor() == 0"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


# The memory snapshot


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with what a snapshot's key is made of, but no runtime."""
    (tmp_path / "static").mkdir()
    shutil.copy(SITE / "static" / "snapshot.mjs", tmp_path / "static")
    return tmp_path


def test_the_snapshot_is_whole_here_and_damage_is_seen(tmp_path: Path) -> None:
    here = snapshot.path()
    assert snapshot.is_whole(here)
    whole = here.read_bytes()
    for damaged in (whole[:-1000], whole[:1000] + b"\0" + whole[1001:], b"", b"not packed"):
        (tmp_path / "damaged").write_bytes(damaged)
        assert not snapshot.is_whole(tmp_path / "damaged")
    assert not snapshot.is_whole(tmp_path / "nothing")


def test_without_node_there_is_no_snapshot_and_that_is_said(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    said: list[str] = []
    assert snapshot.build(said.append, site) is False
    assert "Node.js is not installed" in said[0]


def test_a_snapshot_that_cannot_be_built_leaves_nothing(site: Path) -> None:
    said: list[str] = []
    assert snapshot.build(said.append, site) is False  # there is no runtime to build it from
    assert "could not be built" in said[-1]
    assert list(snapshot.path(site).parent.iterdir()) == []


def test_a_new_snapshot_takes_the_place_of_stale_ones(tmp_path: Path) -> None:
    shutil.copytree(SITE / "static", tmp_path / "static")
    held = snapshot.path(tmp_path)
    held.write_bytes(held.read_bytes()[:-1000])
    stale = held.with_name("snapshot-0123456789abcdef.bin.gz")
    stale.write_bytes(b"")
    assert snapshot.build(lambda _: None, tmp_path) is True
    assert list(held.parent.iterdir()) == [held]
    assert snapshot.is_whole(held)


def test_a_snapshot_that_could_not_be_loaded_again_is_refused_with_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = tmp_path / "big.py"
    big.write_text(f"TEXT = {'x' * 6_000_000!r}\n")
    shutil.copytree(SITE / "static", tmp_path / "static")
    held = snapshot.path(tmp_path)
    monkeypatch.setattr(snapshot, "start_files", lambda _: {"sim/big.py": big})
    before = held.read_bytes()
    said: list[str] = []
    assert snapshot.build(said.append, tmp_path) is False
    grown, room, over = map(int, re.findall(r"\b\d{4,}\b", said[-1]))
    assert (room, over) == (30 * 2**20, grown - room)
    assert over > 0
    assert held.read_bytes() == before


def test_after_an_edit_a_snapshot_keeps_its_name_and_is_built_anew(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("static/vendor/start", "static/vendor/pyscript"):
        (site / folder).mkdir(parents=True)
    page = site / "static" / "page.py"
    page.write_text("first")
    held, built = snapshot.path(site), []
    shutil.copy(snapshot.path(), held)

    def build(*_: object) -> None:
        built.append(page.read_text())
        with (
            held.open("wb") as file,
            gzip.GzipFile(snapshot.sources(site), "wb", 9, file) as packed,
        ):
            packed.write(b"image")

    monkeypatch.setattr(snapshot, "start_files", lambda _: {"static/page.py": page})
    monkeypatch.setattr(snapshot, "_build", build)
    assert [snapshot.build(lambda _: None, site) for _ in range(2)] == [True, False]
    page.write_text("second")
    assert snapshot.path(site) == held
    assert [snapshot.build(lambda _: None, site) for _ in range(2)] == [True, False]
    assert built == ["first", "second"]
    assert snapshot.compiled_from(held) == snapshot.sources(site)


def test_where_none_can_be_built_the_one_of_earlier_files_stays(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = snapshot.path(site)
    held.parent.mkdir(parents=True)
    held.write_bytes(gzip.compress(b"image"))  # which does not say what it was compiled from
    said: list[str] = []
    assert snapshot.build(said.append, site) is False
    assert "with the one of earlier files" in said[-1]
    monkeypatch.setattr(snapshot.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    del said[:]
    assert snapshot.build(said.append, site) is False
    assert said == []
    assert snapshot.is_whole(held)


def test_another_runtime_has_another_key(site: Path, tmp_path: Path) -> None:
    text = vendor.PARTS_LIST.read_text()
    parts = [part for part in vendor.read_parts()[1] if part.name == "pyodide"]
    changed = tmp_path / "changed.json"
    changed.write_text(text.replace(parts[0].sha256, "0" * 64))
    assert snapshot.key(site, changed) != snapshot.key(site)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request(
            "GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/?k=7", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/static/style.css", "text/css; charset=utf-8"),
        ("/static/boot.js", "text/javascript; charset=utf-8"),
        ("/static/vendor/pyodide/pyodide.mjs", "text/javascript; charset=utf-8"),
        ("/static/vendor/pyodide/pyodide.asm.wasm", "application/wasm"),
        ("/sim/run.py", "text/x-python; charset=utf-8"),
    ],
)
def test_files_come_with_their_type_for_any_origin(address: str, path: str, kind: str) -> None:
    status, headers, body = get(address, path)
    assert (status, headers["content-type"]) == (200, kind)
    assert headers["access-control-allow-origin"] == "*"
    assert int(headers["content-length"]) == len(body)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../tests/server.py", "/sim/%2e%2e/tests/server.py", "/nothing",
        "/tests/server.py", "/.git/config", "/static/../pyproject.toml", "/static",
        "/sim/..%2fpyproject.toml", "/static/%2e%2e/README.md", "//etc/passwd",
        "/static/vendor.json/x",
        "/pyproject.toml", "/sim/__pycache__", "/%00", "/static/.hidden.js",
    ],
)  # fmt: skip
def test_nothing_else_is_served(address: str, path: str) -> None:
    assert get(address, path)[0] == 404


def test_text_is_gzipped_and_what_the_browser_has_is_not_sent_again(address: str) -> None:
    _, _, plain = get(address, "/static/style.css")
    _, headers, packed = get(address, "/static/style.css", Accept_Encoding="gzip, br")
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 2
    status, _, body = get(
        address, "/static/style.css", Accept_Encoding="gzip", If_None_Match=headers["etag"]
    )
    assert (status, body) == (304, b"")
    assert get(address, "/static/style.css", If_None_Match=headers["etag"])[0] == 200


def test_a_taken_port_gives_the_next_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = listen(port)
        assert server.server_address[1] > port
        server.server_close()
        with serving(port) as address:
            assert urlsplit(address).port != port


# The bundle


def test_a_bundle_holds_the_page_the_runtime_and_the_hash_of_every_file(tmp_path: Path) -> None:
    made = bundle.contents()
    listed = json.loads(made["bundle.json"])
    assert set(listed["files"]) == set(made) - {"bundle.json"}
    for name, digest in listed["files"].items():
        assert hashlib.sha256(made[name]).hexdigest() == digest, name
    held = snapshot.path().relative_to(SITE).as_posix()
    assert listed["snapshot"] == listed["files"][held]
    index = made["index.html"].decode()
    wanted = set(re.findall(r'(?:src|href)="\./([^"?]+)"', index))
    parts = {bundle.RENAMED.get(part.path, part.path) for part in vendor.read_parts()[1]}
    stand_in = {name for name in parts if name.startswith(bundle.STAND_IN)}
    assert wanted | (parts - stand_in) <= set(made)
    assert stand_in & set(made) == {
        f"{bundle.STAND_IN}{name}" for name in ("LICENSE.txt", "auto/index.js")
    }
    packed = {
        START_ARCHIVE: start_files(),
        **{lab_archive(lab.name): lab_files(lab) for lab in LABS},
    }
    for name, files in packed.items():
        with zipfile.ZipFile(io.BytesIO(made[name])) as archive:
            inside = {path: archive.read(path) for path in archive.namelist()}
        assert inside == {path: file.read_bytes() for path, file in files.items()}
        assert list(inside) == list(files)  # which can be imported in this order
    assert not [name for name in made if name.endswith(".py")]
    (config,) = re.findall(r"<py-config[^>]*>(.*?)</py-config>", index)
    assert json.loads(config)["files"] == {}
    assert f'href="./{START_ARCHIVE}" data-start>' in index
    (listed,) = re.findall(r'id="labs">(.*?)</script>', index)
    assert json.loads(listed) == {lab.name: [lab_archive(lab.name)] for lab in LABS}
    assert made[WORDS] == (SITE / WORDS).read_bytes()
    assert len(made) < 100
    assert {".nojekyll", ".github/workflows/pages.yml", "static/embed.js"} <= set(made)
    assert "include-hidden-files: true" in made[".github/workflows/pages.yml"].decode()
    assert not set(bundle.RENAMED) & set(made)
    for name in ("index.html", "static/start.js", "static/interpreter.js", "static/boot.js"):
        assert b".mjs" not in made[name], name
    assert not [name for name in made if name.startswith(("tests", "sim/host", "sim/__main__"))]
    assert not [name for name in made if "sections" in name]
    texts = made["LICENCES.txt"].decode()
    for package in json.loads((SITE / "static/vendor.json").read_text("utf-8"))["packages"]:
        assert f"{package['name']} {package['version']}, licence {package['licence']}" in texts
        assert package["code"] in texts
    for text, inside in re.findall(r"licence text: ([^\s,]+)(?:, in (\S+))?", texts):
        told = made[text]
        if inside:
            told = zipfile.ZipFile(io.BytesIO(told)).read(f"{inside}LICENSE.txt")
        assert any(word in told for word in (b"Apache License", b"Redistribution and use"))
    assert "MIT License" in texts


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    made, again = bundle.contents(), bundle.contents()
    first = bundle.archive(made)
    assert bundle.archive(again) == first
    assert bundle.archive({"a": b"1"}) != bundle.archive({"a": b"2"})
    bundle.write(tmp_path / "site.zip", made)
    with zipfile.ZipFile(tmp_path / "site.zip") as packed:
        assert packed.testzip() is None
        assert {entry.filename for entry in packed.infolist()} == set(made)
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert [file.name for file in tmp_path.iterdir()] == ["site.zip"]


def test_a_folder_is_brought_up_to_date_and_a_strangers_is_left_alone(tmp_path: Path) -> None:
    def listed(**held: bytes) -> dict[str, bytes]:
        return {**held, "bundle.json": json.dumps({"files": dict.fromkeys(held, "")}).encode()}

    folder = tmp_path / "deep" / "site"
    bundle.write(folder, listed(a=b"1", old=b"2"))
    (folder / "mine.txt").write_text("a note")
    bundle.write(folder, listed(a=b"3"))
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".json"}
    assert found == {"a": b"3", "mine.txt": b"a note"}
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "thesis.tex").write_text("years")
    with pytest.raises(bundle.BundleError, match="not empty and holds no bundle"):
        bundle.write(stranger, listed(a=b"1"))
    assert [file.name for file in stranger.iterdir()] == ["thesis.tex"]
    (folder / "bundle.json").write_text('{"files": {"../../stranger/thesis.tex": ""}}')
    bundle.write(folder, listed(a=b"1"))
    assert (stranger / "thesis.tex").exists()
    (folder / "bundle.json").write_text(json.dumps({"files": {str(stranger / "thesis.tex"): ""}}))
    bundle.write(folder, listed(a=b"1"))
    assert (stranger / "thesis.tex").exists()
    for odd in ('{"files": 3}', '{"files": [3]}', "[]", "{"):
        (folder / "bundle.json").write_text(odd)
        with pytest.raises(bundle.BundleError, match="holds no bundle"):
            bundle.write(folder, listed(a=b"1"))
    with pytest.raises(bundle.BundleError, match="cannot be written"):
        bundle.write(stranger / "thesis.tex" / "site", listed(a=b"1"))


# Vendoring where things go wrong


def test_a_folder_that_takes_no_files_is_told_before_anything_is_fetched(
    tmp_path: Path, cdn: dict[str, bytes]
) -> None:
    asked: list[str] = []
    for place in (tmp_path / "static", tmp_path / "static" / "vendor"):
        place.write_bytes(b"no folder")
        with pytest.raises(vendor.VendorError, match="cannot be written") as refused:
            vendor.vendor(asked.append, tmp_path, tmp_path / "list.json")
        assert str(tmp_path / "static" / "vendor") in str(refused.value)
        assert "BONUS_TOKEN_CACHE" in str(refused.value)
        place.unlink()
        (tmp_path / "static").mkdir(exist_ok=True)
    assert asked == []


def test_a_part_that_cannot_be_written_is_not_blamed_on_the_network(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(vendor, "write_whole", full)
        said: list[str] = []
        with pytest.raises(vendor.VendorError, match=r"a\.txt cannot be written \(No space left"):
            vendor.vendor(said.append, tmp_path, tmp_path / "list.json")
    assert not any("CDN" in line for line in said)
    assert files(tmp_path) == {}
    assert fetch(tmp_path)[0] == 2


@pytest.mark.parametrize("odd", ["cut short", "no protocol", "bad proxy", "hung up"])
def test_a_cdn_that_answers_oddly_is_one_that_does_not(
    odd: str, tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "cut short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst",
        "no protocol": b"what?\r\n\r\n",
        "hung up": b"",
    }
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answers[odd])

        if odd == "bad proxy":
            monkeypatch.setenv("http_proxy", "http://127.0.0.1:no-number")
            monkeypatch.setattr("urllib.request._opener", None)  # it remembers the proxy of its day
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
        else:
            threading.Thread(target=answer, daemon=True).start()
            listed = json.loads((tmp_path / "list.json").read_text())
            listed["cdn"]["npm"] = f"http://127.0.0.1:{server.getsockname()[1]}/{{member}}"
            (tmp_path / "list.json").write_text(json.dumps(listed))
        monkeypatch.setattr(vendor.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
        with pytest.raises(vendor.VendorError, match="npm is not installed"):
            fetch(tmp_path)
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo gone >&2; exit 3", r"npm could not fetch thing@1\.0: gone\."),
        ("exit 0", "no archive"),
        ("printf '\\377\\n'; exit 1", "npm could not fetch"),
        ("echo x > $4/thing.tgz", "an archive of thing@1.0 that cannot be read"),
        ("cp $ARCHIVE $4/thing.tgz", "has no file folder/b.bin"),
        (None, "npm could not fetch"),
    ],
)
def test_a_client_that_does_not_deliver_is_told_in_one_line(
    script: str | None,
    told: str,
    tmp_path: Path,
    cdn: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cdn.clear()
    npm, archive = tmp_path / "npm", tmp_path / "held.tgz"
    npm.write_text(f"#!/bin/sh\n{script}\n" if script else "")
    npm.chmod(0o755 if script else 0o644)
    (tmp_path / "a.txt").write_bytes(PARTS["a.txt"])
    with tarfile.open(archive, "w:gz") as made:
        made.add(tmp_path / "a.txt", "package/a.txt")
    monkeypatch.setenv("ARCHIVE", str(archive))
    monkeypatch.setattr(vendor.shutil, "which", lambda _: str(npm))  # type: ignore[attr-defined]
    with pytest.raises(vendor.VendorError, match=told) as refused:
        fetch(tmp_path)
    assert "\n" not in str(refused.value)
    assert files(tmp_path) == {}


def test_a_client_may_deliver_what_the_cdn_does_not_but_nothing_else(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    npm, archive = tmp_path / "npm", tmp_path / "held.tgz"
    npm.write_text("#!/bin/sh\ncp $ARCHIVE $4/thing.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("ARCHIVE", str(archive))
    monkeypatch.setattr(vendor.shutil, "which", lambda _: str(npm))  # type: ignore[attr-defined]

    def pack(parts: dict[str, bytes]) -> None:
        with tarfile.open(archive, "w:gz") as made:
            for name, data in parts.items():
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size = len(data)
                made.addfile(entry, io.BytesIO(data))

    del cdn["/thing@1.0/folder/b.bin"]
    pack({**PARTS, "folder/b.bin": b"something else"})
    with pytest.raises(vendor.VendorError, match="expected SHA-256"):
        fetch(tmp_path)
    assert files(tmp_path) == {"a.txt": PARTS["a.txt"]}
    pack(PARTS)
    fetched, said = fetch(tmp_path)
    assert (fetched, files(tmp_path)) == (1, PARTS)
    assert "asking npm for thing@1.0" in said[-1]


def test_no_room_for_temporary_files_is_told(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    cdn.clear()
    monkeypatch.setattr(vendor.tempfile, "TemporaryDirectory", none)  # type: ignore[attr-defined]
    monkeypatch.setattr(vendor.shutil, "which", lambda name: name)  # type: ignore[attr-defined]
    with pytest.raises(vendor.VendorError, match="TMPDIR"):
        fetch(tmp_path)


def test_large_parts_are_told_as_they_arrive(
    tmp_path: Path, cdn: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendor, "LARGE", 200)
    assert fetch(tmp_path)[1] == [
        "fetching thing 1.0: 2 files, 0.0 MB",
        "  folder/b.bin  0.0 MB",
    ]


def test_a_part_of_another_size_or_in_a_folders_place_is_not_whole(
    tmp_path: Path, cdn: dict[str, bytes]
) -> None:
    fetch(tmp_path)
    _, (first, second) = vendor.read_parts(tmp_path / "list.json")
    assert first.is_whole(tmp_path)
    assert second.is_whole(tmp_path)
    assert not first._replace(bytes=first.bytes + 1).is_whole(tmp_path)
    assert not first._replace(sha256=second.sha256).is_whole(tmp_path)
    (tmp_path / first.path).unlink()
    assert not first.is_whole(tmp_path)
    (tmp_path / first.path).mkdir()
    assert not first.is_whole(tmp_path)
    with pytest.raises(vendor.VendorError, match=r"a\.txt cannot be written"):
        fetch(tmp_path)
    assert files(tmp_path) == {"folder/b.bin": PARTS["folder/b.bin"]}
