"""Serve the page: the right types, gzip, caching, and nothing but the page's own files."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import socket
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sim.host import PACKAGE, SITE
from sim.host.vendor import runtime

TYPES = {
    ".bin": "application/octet-stream",
    ".css": "text/css; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".zip": "application/zip",
}
PACKED = {".bin", ".gz", ".png", ".whl", ".zip"}
"""Types that are compressed already."""


HERE = "127.0.0.1"
"""Where a server listens unless told otherwise: on this machine alone."""

ELSEWHERE = "192.0.2.1"
"""An address that is nobody's (RFC 5737): nothing is sent there, the way there is looked up."""


def locate(path: str, site: Path = SITE, package: Path = PACKAGE) -> Path | None:
    """The file that a URL path means: index.html, or a known type below static/ or sim/."""
    path = unquote(path)
    parts = [part for part in path.split("/") if part]
    # On Windows a backslash separates folders too, and a colon follows the name of a drive.
    if any(part.startswith(".") or set(part) & set("\\:\0") for part in parts):
        return None
    if parts in ([], ["index.html"]):
        found = site / "index.html"
    elif parts[:2] == ["static", "vendor"]:
        found = runtime(site).joinpath(*parts)
    elif parts[0] in ("static", "sim"):
        found = (site / "static" if parts[0] == "static" else package).joinpath(*parts[1:])
    else:
        return None
    named_as_file = not (parts and path.endswith("/"))
    # Path.is_file raises for a name that is too long.
    known = named_as_file and found.suffix in TYPES and os.path.isfile(found)
    return found if known else None


@lru_cache(maxsize=256)
def _loaded(file: Path, changed: tuple[int, ...], packed: bool) -> tuple[bytes, str]:
    """A file's bytes, gzipped if `packed`, and their tag; read again once it has changed."""
    data = file.read_bytes()
    tag = hashlib.sha256(data).hexdigest()[:16] + ("-gzip" if packed else "")
    return (gzip.compress(data, 6, mtime=0) if packed else data), f'"{tag}"'


def load(file: Path, packed: bool) -> tuple[bytes, str]:
    """A file's bytes as they are now, gzipped if `packed`, and their tag. Raises OSError."""
    now = file.stat()
    # A copy may bring its time along, but not the time of its copying.
    return _loaded(file, (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino), packed)


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding allows gzip: by name or else by `*`, and not at a weight of 0."""
    weights = {}
    for item in accepted.lower().split(","):
        coding, *parameters = (part.strip() for part in item.split(";"))
        weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            weights[coding] = float(weight)
        except ValueError:
            weights[coding] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def has(held: str, tag: str) -> bool:
    """Whether an If-None-Match names this tag: in a list, weakened by a proxy, or as `*`."""
    tags = {item.strip().removeprefix("W/") for item in held.split(",")}
    return tag in tags or "*" in tags


class Handler(BaseHTTPRequestHandler):
    """GET and HEAD of the page's files, for any origin: sandboxed frames have none of their own."""

    protocol_version = "HTTP/1.1"
    # A request that cannot be read gets an answer that can, not one of HTTP/0.9.
    default_request_version = "HTTP/1.0"

    def do_GET(self) -> None:
        """Answer with a file, 304 where the browser has it, or 404."""
        try:
            file = locate(urlsplit(self.path).path)
        except ValueError:  # half an IPv6 address where a host would be
            file = None
        if file is None:
            self._nothing()
            return
        packed = file.suffix not in PACKED and takes_gzip(self._header("Accept-Encoding"))
        try:
            data, tag = load(file, packed)
        except OSError:  # it is gone since, or nobody may read it
            self._nothing()
            return
        if has(self._header("If-None-Match"), tag):
            self._start(HTTPStatus.NOT_MODIFIED, None, None)
            data = b""
        else:
            self._start(HTTPStatus.OK, TYPES[file.suffix], len(data))
            if packed:
                self.send_header("Content-Encoding", "gzip")
        self.send_header("ETag", tag)
        self._end(data)

    do_HEAD = do_GET  # noqa: N815 - the name is the HTTP method's

    def do_POST(self) -> None:
        """Answer that there is nothing to change here."""
        body = b"Only GET and HEAD are answered here.\n"
        self._start(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", len(body))
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Connection", "close")  # and so it is: what was sent along is not read
        self._end(body)

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST  # noqa: N815

    def _header(self, name: str) -> str:
        return ",".join(self.headers.get_all(name, []))

    def _nothing(self) -> None:
        body = b"There is no such file here.\n"
        self._start(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", len(body))
        self._end(body)

    def _start(self, status: HTTPStatus, kind: str | None, length: int | None) -> None:
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Cache-Control", "no-cache")

    def _end(self, body: bytes) -> None:
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: the terminal is for the address."""


class Server(ThreadingHTTPServer):
    """A server of the page's files, a thread a connection."""

    daemon_threads = True
    # Without this a second server could share a port that is taken, on systems that allow it.
    allow_reuse_port = False

    def __init__(self, place: tuple[str, int], handler: type[Handler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        super().__init__(place, handler)

    def server_bind(self) -> None:
        """Bind, for IPv4 too where that is every address; and ask nobody for the machine's name."""
        if self.server_address[0] == "::":
            with suppress(OSError):  # some systems keep the two apart
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is no news."""


def listen(port: int, last: int = 65535, host: str = HERE) -> Server:
    """A server on `port`, or on the next free one. Raises OSError where none is."""
    while True:
        try:
            return Server((host, port), Handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES) or port >= last:
                raise
            port += 1


def resolve(host: str) -> str:
    """The address that a host's name means, or that it is. Raises OSError if none is ours."""
    refused = OSError(errno.EINVAL, "no address")
    try:
        found = socket.getaddrinfo(host.strip("[]"), 0, type=socket.SOCK_STREAM) if host else []
    except UnicodeError:
        raise refused from None
    for family, kind, protocol, _, place in found:
        try:
            with socket.socket(family, kind, protocol) as tried:
                tried.bind(place)
            return socket.getnameinfo(place, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)[0]
        except OSError as error:
            refused = error
    raise refused


class Addresses(NamedTuple):
    """Where a browser finds a server."""

    here: str
    """For a browser on this machine."""
    elsewhere: str | None
    """For those of other machines, if it listens on every address and this machine has one."""


def addresses(host: str, port: int) -> Addresses:
    """Where browsers find a server that listens on `host`, an address."""
    if host not in ("0.0.0.0", "::"):
        return Addresses(f"http://{_written(host)}:{port}/", None)
    here = f"http://{HERE if host == '0.0.0.0' else '[::1]'}:{port}/"
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.connect((ELSEWHERE, 9))
            return Addresses(here, f"http://{asked.getsockname()[0]}:{port}/")
    except OSError:
        return Addresses(here, None)


def _written(host: str) -> str:
    """A host as addresses write it."""
    return f"[{host.replace('%', '%25')}]" if ":" in host else host
