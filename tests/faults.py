"""Faults of a server, by which the page is tried, and what it must say of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from selenium.common.exceptions import WebDriverException

from sim.host import SITE, snapshot
from sim.host.serve import Handler, locate
from tests import browsers
from tests.driver import PageDriver

Fault = Callable[[Handler], bool]

Serve = Callable[..., PageDriver]

VENDOR = "/static/vendor/"

SNAPSHOT = "/" + snapshot.path().relative_to(SITE).as_posix()

WASM = VENDOR + "pyodide/pyodide.asm.wasm"

LIBRARY = VENDOR + "pyodide/python_stdlib.zip"

SCRIPTS = (
    VENDOR + "pyscript/core.js",
    VENDOR + "pyscript/core-C9KDLldu.js",
    VENDOR + "pyscript/error-D2315lOB.js",
    VENDOR + "pyodide/pyodide.mjs",
    VENDOR + "pyodide/pyodide.asm.mjs",
)

ALONE = pytest.mark.chromium_only("one of each kind runs in every engine")


def answer(handler: Handler, body: bytes, status: int = 200, kind: str = "text/html") -> bool:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Access-Control-Allow-Origin", "*")
    handler.send_header("Cache-Control", "no-store")
    handler.end_headers()
    handler.wfile.write(body)
    return True


def asked(handler: Handler) -> str:
    return handler.path.partition("?")[0]


def content(path: str) -> tuple[bytes, str]:
    from sim.host.serve import TYPES

    file = locate(path)
    assert file is not None
    return file.read_bytes(), TYPES[file.suffix]


def missing(*paths: str) -> Fault:
    return lambda h: asked(h) in paths and answer(h, b"gone", 404)


def hang_up(handler: Handler) -> bool:
    handler.close_connection = True
    handler.connection.close()
    return True


def truncated(*paths: str) -> Fault:
    def fault(handler: Handler) -> bool:
        if asked(handler) not in paths:
            return False
        body, kind = content(asked(handler))
        return answer(handler, body[: len(body) * 2 // 3], kind=kind)

    return fault


def mistyped(*paths: str) -> Fault:
    return lambda h: asked(h) in paths and answer(h, content(asked(h))[0], kind="text/plain")


def page_with(script: str = "", stall: float = 20) -> Fault:
    """The page with a script before all others, and another patience."""
    served = {"/probe.js": script.encode()}

    def fault(handler: Handler) -> bool:
        if asked(handler) in served:
            return answer(handler, served[asked(handler)], kind="text/javascript")
        if asked(handler) != "/":
            return False
        html = (SITE / "index.html").read_text(encoding="utf-8")
        boot = '<script src="./static/boot.js">'
        new = f'<script src="/probe.js"></script>{boot[:-1]} data-stall-seconds="{stall}">'
        assert html.count(boot) == 1
        return answer(handler, html.replace(boot, new).encode(), kind="text/html; charset=utf-8")

    return fault


def with_html(change: dict[str, str], path: str = "/") -> Fault:
    """The page with some of its text replaced by other text."""

    def fault(handler: Handler) -> bool:
        if asked(handler) != path:
            return False
        html = (SITE / "index.html").read_text(encoding="utf-8")
        for old, new in change.items():
            assert html.count(old) == 1
            html = html.replace(old, new)
        return answer(handler, html.encode(), kind="text/html; charset=utf-8")

    return fault


def serving_script(path: str, script: str) -> Fault:
    return lambda h: asked(h) == path and answer(h, script.encode(), kind="text/javascript")


def check_report(page: PageDriver, *named: str, button: str = "", seconds: float = 60) -> None:
    assert browsers.until_settled(page.driver, seconds) == "failed"
    page.until(lambda: page.one("#failure").is_displayed())
    panel = page.text("#failure")
    for text in named:
        assert text in panel
    assert button in page.text("[data-action=reload]")
    assert page.one("[data-action=reload]").is_displayed()
    assert page.one("#printed svg").is_displayed()
    assert page.metric("tokens") == "216"
    assert page.one("article").is_displayed()


def no_alarm(page: PageDriver) -> None:
    """The page works, and nothing says otherwise."""
    assert not page.one("#failure").is_displayed()
    assert page.run("return document.documentElement.dataset.state") == "ready"
    assert page.driver.execute_async_script(
        "bonusToken.ready.then((api) => arguments[0](api === bonusToken), arguments[0])"
    )
    tick = page.state()["tick"]
    page.action("step")
    assert page.state()["tick"] == tick + 1


def is_ready(page: PageDriver) -> bool:
    """Whether the page has started, also while it is being loaded anew."""
    with suppress(WebDriverException):
        return bool(page.run("return document.documentElement.dataset.state") == "ready")
    return False


class Held:
    """A file that does not come before it is let go."""

    def __init__(self, path: str) -> None:
        self._path, self._let_go = path, threading.Event()

    def __call__(self, handler: Handler) -> bool:
        if asked(handler) == self._path:
            self._let_go.wait(60)
        return False

    def let_go(self) -> None:
        self._let_go.set()


def assert_policy_kept(page: PageDriver) -> None:
    """What breaks the policy here and now is the first to have done so."""
    page.run(
        "const inline = document.createElement('script'); inline.textContent = 'window.ran = 1';"
        "document.body.append(inline)"
    )
    seen = "return document.documentElement.dataset.violation ?? ''"
    told = page.until(lambda: page.run(seen)).split()
    assert told[0].startswith("script-src"), told
    assert told[1:] in (["inline"], []), told
