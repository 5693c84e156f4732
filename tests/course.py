"""Where teachers put the simulator: a bundle on a plain static host, pages of another origin."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from selenium.common.exceptions import WebDriverException

from sim.labs.share import snippets
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.scene import light_or_dark, picture
from sim.view import View
from tests import browsers
from tests.driver import PageDriver
from tests.server import ROOT

STAND_IN = (ROOT / "tests" / "misbehaving.html").read_text("utf-8")
"""A page that is not the simulator, and comes at once."""

WIDE = 720
"""Width of the text column of the notes, in px."""

COLUMN = f"<style>body {{ width: {WIDE}px; margin: 0 auto }}</style>"

SUB_PATH = "/course/week-7/simulator/"
"""Where the bundle is, below its host."""


class Quiet(ThreadingHTTPServer):
    """A server that takes a browser's hanging up for no news."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


SOON = 0.02
"""Seconds after which a server notices that it is to stop."""


@contextmanager
def hosting(handler: Any, name: str) -> Iterator[str]:
    """A server with this handler; gives its address, at this name of this machine."""
    server = Quiet(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(SOON,), daemon=True).start()
    try:
        yield f"http://{name}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class Plain(SimpleHTTPRequestHandler):
    """What `python3 -m http.server` does, without its log."""

    headers_for_all: Mapping[str, str] = {}

    def end_headers(self) -> None:
        """Add what this host sends with every file."""
        for name, value in self.headers_for_all.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@contextmanager
def static_host(root: Path, name: str = "127.0.0.1", **headers: str) -> Iterator[str]:
    """A plain static server for a folder; gives its address."""
    sent = {key.replace("_", "-"): value for key, value in headers.items()}
    handler = type("Host", (Plain,), {"headers_for_all": sent})
    with hosting(functools.partial(handler, directory=str(root)), name) as address:
        yield address


@contextmanager
def pages(held: Mapping[str, str], policy: str = "") -> Iterator[str]:
    """Pages by path on another origin, with a Content-Security-Policy where one is given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = held.get(urlsplit(self.path).path)
            body = (text or "").encode()
            self.send_response(404 if text is None else 200)
            kind = {"svg": "image/svg+xml", "mjs": "text/javascript"}.get(
                self.path[-3:], "text/html"
            )
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

    with hosting(Handler, "localhost") as address:
        yield address


RECORD = (
    "window.heard ??= (() => { const heard = [];"
    "addEventListener('message', ({data}) => heard.push(data));"
    "for (const kind of ['ready', 'state', 'answer', 'picture', 'resize', 'key'])"
    "  addEventListener(`bonus-token:${kind}`, ({target, detail, type}) =>"
    "    heard.push({event: type, id: target.id, ...detail}));"
    "return heard })()"
)
"""Keep every message and event, from the start where the policy of the page allows that."""


def document(body: str, head: str = "") -> str:
    """A page of course notes."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Notes</title>'
        f"<script>{RECORD}</script>{head}</head><body>{body}</body></html>"
    )


class Notes:
    """A page of course notes in the browser, and the simulators in it."""

    def __init__(self, page: PageDriver, address: str) -> None:
        self.page, self.driver = page, page.driver
        self.driver.get(address)
        self.driver.execute_script(RECORD)

    def run(self, script: str, *values: Any) -> Any:
        """Run JavaScript in the notes."""
        self.driver.switch_to.default_content()
        return self.driver.execute_script(script, *values)

    def heard(self, name: str) -> list[dict[str, Any]]:
        """What the notes were told under this type, in order."""
        asked = "return heard.filter((m) => m.type === arguments[0] || m.event === arguments[0])"
        return list(self.run(asked, f"bonus-token:{name}"))

    def post(self, name: str, index: int = 0, **fields: Any) -> None:
        """Send a message to a plain frame."""
        self.run(
            "frames[arguments[0]].postMessage(arguments[1], '*')",
            index,
            {"type": f"bonus-token:{name}", **fields},
        )

    def start(self, name: str) -> None:
        """Press the button of an element."""
        self.run(
            "document.getElementById(arguments[0]).shadowRoot.querySelector('button').click()", name
        )

    def is_running(self, name: str) -> bool:
        """Whether an element has a frame."""
        asked = "return !!document.getElementById(arguments[0]).shadowRoot.querySelector('iframe')"
        return bool(self.run(asked, name))

    @contextmanager
    def inside(self, name: str = "") -> Iterator[PageDriver]:
        """The simulator in an element, or in the first plain frame, once it is ready."""
        self.page.until(lambda: self._enter(name))
        state = browsers.until_settled(self.driver)
        assert state == "ready", self.page.text("#failure") or state
        yield self.page
        self.driver.switch_to.default_content()

    def _enter(self, name: str) -> bool:
        """Go into a frame, once it is there and has left the empty page that it begins with."""
        find = (
            "return (arguments[0] ? document.getElementById(arguments[0]).shadowRoot : document)"
            ".querySelector('iframe')"
        )
        frame = self.run(find, name)
        if frame is None:
            return False
        with suppress(WebDriverException):
            self.driver.switch_to.frame(frame)
            return bool(self.driver.execute_script("return location.protocol !== 'about:'"))
        return False


def element(address: str, *elements: str) -> str:
    """The script, and elements with these attributes and contents."""
    script = f'<script async src="{address}static/embed.js"></script>'
    return script + "".join(f"<bonus-token {one}</bonus-token>" for one in elements)


def snippet(kind: str, address: str, params: Params, view: View, inside: bool = True) -> str:
    """A snippet as the share dialog prints it, with the picture inside or beside the page."""
    svg = picture(Run(params), view, PALETTES[light_or_dark(view.theme)]) if inside else ""
    found = {one.key: one.text for one in snippets(address, params, view, svg=svg)}
    return found[kind]
