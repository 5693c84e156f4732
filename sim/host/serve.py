"""Serve the page: the right types, gzip, caching, and nothing but the page's own files."""

from __future__ import annotations

import errno
import gzip
import hashlib
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sim.host import PACKAGE, SITE

TYPES = {
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
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".zip": "application/zip",
}
PACKED = {".gz", ".png", ".whl", ".zip"}
"""Types that are compressed already."""


def locate(path: str, site: Path = SITE, package: Path = PACKAGE) -> Path | None:
    """The file that a URL path means: index.html, or a known type below static/ or sim/."""
    parts = [part for part in unquote(path).split("/") if part]
    if any(part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    if parts in ([], ["index.html"]):
        return site / "index.html"
    roots = {"static": site / "static", "sim": package}
    if parts[0] not in roots:
        return None
    found = roots[parts[0]].joinpath(*parts[1:])
    return found if found.is_file() and found.suffix in TYPES else None


@lru_cache(maxsize=256)
def _loaded(file: Path, changed: int, packed: bool) -> tuple[bytes, str]:
    """A file's bytes, gzipped if `packed`, and their tag; read again once it has changed."""
    data = file.read_bytes()
    tag = hashlib.sha256(data).hexdigest()[:16] + ("-gzip" if packed else "")
    return (gzip.compress(data, 6, mtime=0) if packed else data), f'"{tag}"'


class Handler(BaseHTTPRequestHandler):
    """GET and HEAD of the page's files, for any origin: sandboxed frames have none of their own."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a file, 304 where the browser has it, or 404."""
        file = locate(urlsplit(self.path).path)
        if file is None:
            body = b"There is no such file here.\n"
            self._start(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", len(body))
            self._end(body)
            return
        packed = file.suffix not in PACKED and "gzip" in self.headers.get("Accept-Encoding", "")
        data, tag = _loaded(file, file.stat().st_mtime_ns, packed)
        if self.headers.get("If-None-Match") == tag:
            self._start(HTTPStatus.NOT_MODIFIED, None, None)
            data = b""
        else:
            self._start(HTTPStatus.OK, TYPES[file.suffix], len(data))
            if packed:
                self.send_header("Content-Encoding", "gzip")
        self.send_header("ETag", tag)
        self._end(data)

    do_HEAD = do_GET  # noqa: N815 - the name is the HTTP method's

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
    """A server on this machine alone, a thread a connection."""

    daemon_threads = True
    # Without this a second server could share a port that is taken, on systems that allow it.
    allow_reuse_port = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up is no news."""


def listen(port: int, last: int = 65535) -> Server:
    """A server on `port`, or on the next free one. Raises OSError where none is."""
    while True:
        try:
            return Server(("127.0.0.1", port), Handler)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES) or port >= last:
                raise
            port += 1
