"""The server among odd clients: never stale, never a stranger's file, never without an answer."""

from __future__ import annotations

import gzip
import io
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest

import sim.__main__ as cli
from sim.host import SITE, serve, snapshot, vendor
from sim.host.serve import Handler, Server, addresses, has, listen, load, locate, resolve
from tests.server import ROOT

PLAIN = "/static/hosting.html"
COMMON = {
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    "vary": "Accept-Encoding",
    "cache-control": "no-cache",
}
"""Headers that every answer of ours carries."""

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()


def ask(port: int, *lines: str, body: bytes = b"", close: bool = True) -> bytes:
    """Everything the server says to a request of these lines, until it hangs up."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        asked = ["Connection: close"] if close else []
        head = "\r\n".join([*lines, *asked, "", ""]).encode("latin-1")
        connection.sendall(head + body)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def split(answer: bytes) -> Answer:
    """Status, headers and body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {key.lower(): value for key, value in (line.split(": ", 1) for line in lines)}
    return int(first.split()[1]), headers, body


def get(port: int, path: str, *lines: str, method: str = "GET") -> Answer:
    return split(ask(port, f"{method} {path} HTTP/1.1", "Host: x", *lines))


# What is answered


@pytest.mark.parametrize("path", ["/", PLAIN, "/static/page.png", "/nothing", "/%00"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_head_has_the_headers_of_get_and_no_body(port: int, path: str, encoding: str) -> None:
    line = f"Accept-Encoding: {encoding}"
    status, headers, body = get(port, path, line)
    told = get(port, path, line, method="HEAD")
    del headers["date"], told[1]["date"]
    assert told == (status, headers, b"")
    assert int(headers["content-length"]) == len(body) > 0


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/none", 404), ("HEAD", "/", 200), ("POST", "/", 405)],
)
def test_every_answer_carries_the_same_rules(
    port: int, method: str, path: str, status: int
) -> None:
    found = get(port, path, method=method)
    assert found[0] == status
    assert found[1].items() >= COMMON.items()
    tag = get(port, "/")[1]["etag"]
    unchanged = get(port, "/", f"If-None-Match: {tag}")
    assert (unchanged[0], unchanged[2]) == (304, b"")
    assert unchanged[1].items() >= {**COMMON, "etag": tag}.items()
    assert not {"content-length", "content-type", "content-encoding"} & set(unchanged[1])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused_and_what_they_sent_is_no_request(port: int, method: str) -> None:
    hidden = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    lines = f"{method} / HTTP/1.1", "Host: x", f"Content-Length: {len(hidden)}"
    status, headers, body = split(ask(port, *lines, body=hidden, close=False))
    assert (status, headers["allow"], headers["connection"]) == (405, "GET, HEAD", "close")
    assert int(headers["content-length"]) == len(body)


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        (["gzip"], True),
        (["GZip;Q=0.5"], True),
        (["br, gzip"], True),
        (["br", "gzip"], True),
        (["*"], True),
        (["gzip;q=0"], False),
        (["gzip; q=0.000, *"], False),
        (["*;q=0"], False),
        (["gzip;q=much"], False),
        (["identity"], False),
        (["x-not-gzip"], False),
        ([""], False),
        ([], False),
    ],
)
def test_gzip_is_sent_to_those_that_take_it(port: int, accepted: list[str], packed: bool) -> None:
    lines = [f"Accept-Encoding: {value}" for value in accepted]
    status, headers, body = get(port, PLAIN, *lines)
    assert (status, headers.get("content-encoding")) == (200, "gzip" if packed else None)
    data = (SITE / "static" / "hosting.html").read_bytes()
    assert (gzip.decompress(body) if packed else body) == data


def test_what_is_packed_already_is_not_packed_again(port: int) -> None:
    wheels = [part.path for part in vendor.read_parts()[1] if part.path.endswith(".whl")]
    for path in ("static/page.png", snapshot.name(), *wheels):
        status, headers, _ = get(port, f"/{path}", "Accept-Encoding: gzip")
        assert (status, headers.get("content-encoding")) == (200, None)


def test_a_tag_is_known_in_a_list_weakened_and_as_any(port: int) -> None:
    tag = get(port, PLAIN)[1]["etag"]
    packed = get(port, PLAIN, "Accept-Encoding: gzip")[1]["etag"]
    assert re.fullmatch(r'"[0-9a-f]{16}"', tag)
    assert packed != tag
    for held in (tag, f"W/{tag}", f'"a", {tag}', f'W/"a",W/{tag} , "b"', "*", ' "a",*'):
        assert has(held, tag)
        assert get(port, PLAIN, f"If-None-Match: {held}")[0] == 304
    assert get(port, PLAIN, 'If-None-Match: "a"', f"If-None-Match: {tag}")[0] == 304
    for held in ("", '"a"', tag.strip('"'), f'"{tag}"', packed):
        assert not has(held, tag)
        assert get(port, PLAIN, f"If-None-Match: {held}")[0] == 200


ODD = [
    *("/%", "/%zz", "/%ff%fe", "/%C0%AE%C0%AE/x", "/%00", "/static/%00.js", "/static/style.css%00"),
    *("/" + "a" * 5000 + ".js", "/static/" + "a" * 300 + ".js", "/static/" + "a/" * 9000 + "b.js"),
    *("/..", "/../..", "/static/../../etc/passwd", "/static/..%2f..%2fpyproject.toml"),
    *("/static/%2e%2e/%2e%2e/x.js", "/static/..\\..\\x.js", "/static/..%5c..%5cindex.html"),
    *("/static/C:/Windows/x.txt", "/static/c%3a/x.js", "/sim/host/%2e%2e/%2e%2e/tests/server.py"),
    *("/static/", "/static/vendor", "/static/vendor/", "/sim/", "/sim/host", "/index.html/"),
    *("/static/style.css/", "/static/style.css%2f", "/static//", "/static/style.css/x"),
    *("http://[", "http://[/static/style.css", "*", "/[", "/static/.hidden", "/.git/HEAD"),
    *("/static/vendor/.part", "/static/vendor/../../pyproject.toml", "/sim/__pycache__/x.pyc"),
]


@pytest.mark.parametrize("path", ODD, ids=lambda path: path[:40])
def test_an_odd_path_is_no_file_and_no_fault(port: int, path: str) -> None:
    for method in ("GET", "HEAD"):
        assert get(port, path, method=method)[0] == 404


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET /" + "a" * 70000 + " HTTP/1.1", 414),
        ("GET / HTTP/9.9", 505),
        ("GET / HTTP/x", 400),
        ("GET / / HTTP/1.1", 400),
        ("BREW / HTTP/1.1", 501),
        ("GET http://elsewhere.example/ HTTP/1.1", 200),
        ("GET ?k=7 HTTP/1.1", 200),
        ("GET //index.html HTTP/1.1", 200),
        ("GET /sim//run.py HTTP/1.0", 200),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_odd_request_has_an_answer(port: int, request_line: str, status: int) -> None:
    assert split(ask(port, request_line, "Host: x"))[0] == status


def test_a_range_is_ignored(port: int) -> None:
    assert get(port, PLAIN, "Range: bytes=0-3")[::2] == get(port, PLAIN)[::2]


def test_only_known_kinds_of_the_sites_own_files_are_given_out(tmp_path: Path) -> None:
    site, package = tmp_path / "site", tmp_path / "package"
    names = "run.py", "notes.md", "key.pem", "half.js.part", "bare", "x.zip", "a.mjs"
    for folder in (site, site / "static", site / "static" / "vendor", site / "sim", package):
        folder.mkdir(exist_ok=True)
        for name in (*names, "index.html"):
            (folder / name).write_text(folder.name)
    found = {
        path: file.relative_to(tmp_path).as_posix()
        for folder in ("", "static/", "static/vendor/", "sim/", "package/", "site/")
        for name in ("", *names, "index.html")
        if (file := locate(path := f"/{folder}{name}", site, package)) is not None
    }
    known = "run.py", "x.zip", "a.mjs", "index.html"
    assert found == {
        "/": "site/index.html",
        "/index.html": "site/index.html",
        **{f"/static/{name}": f"site/static/{name}" for name in known},
        **{f"/static/vendor/{name}": f"site/static/vendor/{name}" for name in known},
        **{f"/sim/{name}": f"package/{name}" for name in known},
    }


@pytest.mark.parametrize("name", ["C:", "a\\b", "x.js:stream.js"])
def test_what_windows_reads_as_another_place_is_not_given_out(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "static" / name
    folder.mkdir(parents=True)
    (folder / "x.js").touch()
    assert locate(f"/static/{name}/x.js", tmp_path, tmp_path) is None


def test_a_site_without_its_page_has_no_page(tmp_path: Path) -> None:
    assert locate("/", tmp_path, tmp_path) is None
    assert locate("/index.html", tmp_path, tmp_path) is None


# What is on the disk now


def test_a_changed_file_is_sent_as_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "x.js"
    file.write_bytes(b"old")
    os.utime(file, ns=(10**18, 10**18))
    seen = {load(file, False)}
    file.write_bytes(b"new")
    seen.add(load(file, False))
    assert {data for data, _ in seen} == {b"old", b"new"}
    os.utime(file, ns=(10**18, 10**18))
    other = tmp_path / "other"
    other.write_bytes(b"two")
    os.utime(other, ns=(10**18, 10**18))  # a copy that brought its time along, of the same size
    os.replace(other, file)
    seen.add(load(file, False))
    assert {data for data, _ in seen} == {b"old", b"new", b"two"}
    assert len({tag for _, tag in seen}) == 3
    packed, tag = load(file, True)
    assert gzip.decompress(packed) == b"two"
    assert tag == load(file, False)[1].removesuffix('"') + '-gzip"'


def test_a_file_changed_under_a_running_server_is_not_stale(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.js"
    monkeypatch.setattr(serve, "locate", lambda _: file)
    file.write_bytes(b"one")
    first = get(port, "/x.js")
    file.write_bytes(b"two, and longer")
    second = get(port, "/x.js", f"If-None-Match: {first[1]['etag']}")
    assert (second[0], second[2]) == (200, b"two, and longer")


def test_a_file_that_went_meanwhile_or_that_nobody_may_read_is_not_there(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (tmp_path / "gone.js", tmp_path):
        monkeypatch.setattr(serve, "locate", lambda _, place=place: place)
        status, headers, body = get(port, "/x.js")
        assert (status, len(body)) == (404, int(headers["content-length"]))


# Where it listens


def started(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[str, list[str]]:
    """The address that `serve` listens on, and what it opens in a browser."""
    opened: list[str] = []
    listening: list[str] = []

    def stop(server: Server) -> None:
        listening.append(str(server.server_address[0]))
        raise KeyboardInterrupt

    def fetched(_: object) -> bool:
        return False

    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(Server, "serve_forever", stop)
    monkeypatch.setattr(vendor, "vendor", fetched)
    monkeypatch.setattr(snapshot, "build", fetched)
    with pytest.raises(SystemExit):
        cli.main(arguments)
    (address,) = listening
    return address, opened


def test_a_browser_is_opened_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in ("", "serve", "--port 9331", "serve --host 0.0.0.0"):
        _, opened = started(monkeypatch, *arguments.split())
        (shown,) = re.findall(r"is at (\S+)", capsys.readouterr().out)
        assert opened == [shown]
    for arguments in ("--no-open", "serve --no-open --port 9331"):
        assert started(monkeypatch, *arguments.split())[1] == []


def test_it_listens_on_this_machine_alone_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(monkeypatch, "--no-open")[0] == "127.0.0.1"
    assert "Other machines" not in capsys.readouterr().out
    assert started(monkeypatch, "--no-open", "--host", "0.0.0.0")[0] == "0.0.0.0"
    assert started(monkeypatch, "--no-open", "--host=localhost")[0] in ("127.0.0.1", "::1")
    server = listen(9335)
    server.server_close()
    assert server.server_address[0] == "127.0.0.1"


def test_every_address_may_be_listened_on_and_the_one_told_can_be_opened() -> None:
    command = [sys.executable, "-m", "sim", "serve", "--no-open", "--port", "9341"]
    hosts = ["0.0.0.0", "127.0.0.1", *(["::", "::1", "[::1]"] if has_ipv6() else [])]
    for host in hosts:
        with subprocess.Popen(
            [*command, "--host", host], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            said = process.stdout.readline()
            if "is taken" in said:
                said = process.stdout.readline()
            try:
                address = re.findall(r"http://\S+", said)[0]
                with urllib.request.urlopen(address, timeout=20) as answer:
                    assert answer.read() == (SITE / "index.html").read_bytes()
                if host in ("0.0.0.0", "::"):
                    other = re.findall(r":\d+/", address)[0]
                    with urllib.request.urlopen(f"http://127.0.0.1{other}", timeout=20) as answer:
                        assert answer.status == 200
            finally:
                process.terminate()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
        return True
    except OSError:
        return False


def test_the_address_told_for_every_address_is_one_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert addresses("127.0.0.1", 8000) == ("http://127.0.0.1:8000/", None)
    assert addresses("10.1.2.3", 1) == ("http://10.1.2.3:1/", None)
    assert addresses("::1", 8000) == ("http://[::1]:8000/", None)
    assert addresses("fe80::1%eth0", 8000) == ("http://[fe80::1%25eth0]:8000/", None)

    class Route(io.StringIO):
        """A datagram socket that was given a way."""

        def connect(self, place: tuple[str, int]) -> None:
            if not found:
                raise OSError("no network")

        def getsockname(self) -> tuple[str, int]:
            return found, 1

    monkeypatch.setattr(socket, "socket", lambda *_: Route())
    found = "10.20.30.40"
    told = addresses("0.0.0.0", 8000)
    assert told == ("http://127.0.0.1:8000/", "http://10.20.30.40:8000/")
    assert addresses("::", 8000) == ("http://[::1]:8000/", "http://10.20.30.40:8000/")
    found = ""
    assert addresses("0.0.0.0", 8000) == ("http://127.0.0.1:8000/", None)


@pytest.mark.parametrize(
    "host", ["203.0.113.9", "256.1.1.1", "", "a" * 300, "-x", "α", "no.such.name.invalid"]
)
def test_a_host_that_is_not_ours_is_refused_in_one_line(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(*_: object) -> int:
        raise AssertionError("fetched something first")

    monkeypatch.setattr(vendor, "vendor", asked)
    with pytest.raises(SystemExit) as left:
        cli.main(["serve", "--no-open", "--host", host])
    told = capsys.readouterr()
    assert (left.value.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert f"--host {host}: no address of this machine" in told.err


def test_a_name_is_tried_at_each_of_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(*_: object, **__: object) -> list[object]:
        kind = socket.AF_INET, socket.SOCK_STREAM, 6, ""
        return [(*kind, ("203.0.113.9", 0)), (*kind, ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    assert resolve("lab") == "127.0.0.1"


def test_no_free_port_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vendor, "vendor", lambda _: 0)
    monkeypatch.setattr(snapshot, "build", lambda _: False)
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", 65535))
            taken.listen()
        except OSError:
            pass  # someone else has it, which will do
        with pytest.raises(SystemExit) as left:
            cli.main(["serve", "--no-open", "--port", "65535"])
    told = capsys.readouterr()
    assert (left.value.code, told.out, told.err.count("\n")) == (1, "", 1)
    assert "no port from 65535 on is free" in told.err


def test_nobody_is_asked_for_the_machines_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: str = "") -> str:
        raise AssertionError("a name server that does not answer would hold up the start")

    monkeypatch.setattr(socket, "getfqdn", asked)
    Server(("127.0.0.1", 0), Handler).server_close()
