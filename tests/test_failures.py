"""A start that fails or stalls says so, and leaves the text and the printed scene."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from sim.host.serve import Handler, Server
from tests import chromium
from tests.conftest import PageDriver

Broken = Callable[[Handler], bool]


@pytest.fixture
def broken(shared: PageDriver) -> Iterator[Callable[[Broken], PageDriver]]:
    """Serve the page with a fault: a function that may answer a request itself."""
    servers: list[Server] = []

    def serve(fault: Broken) -> PageDriver:
        class Faulty(Handler):
            def do_GET(self) -> None:  # noqa: N802 - the name is the HTTP method's
                if not fault(self):
                    super().do_GET()

        server = Server(("127.0.0.1", 0), Faulty)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return PageDriver(shared.driver, f"http://127.0.0.1:{server.server_address[1]}/")

    yield serve
    shared.open()
    for server in servers:
        server.shutdown()
        server.server_close()


def answer(handler: Handler, body: bytes, status: int = 200, kind: str = "text/html") -> bool:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
    return True


def check_report(page: PageDriver, *named: str, seconds: float = 20) -> None:
    assert chromium.until_settled(page.driver, seconds) == "failed"
    panel = page.until(lambda: page.one("#failure").is_displayed() and page.text("#failure"))
    for text in named:
        assert text in panel
    assert page.one("#printed svg").is_displayed()
    assert page.metric("tokens") == "216"
    assert page.one("article").is_displayed()
    assert page.one("[data-action=reload]").is_displayed()


@pytest.mark.parametrize(
    "path",
    [
        "/static/vendor/pyscript/core.js",
        "/static/vendor/pyodide/pyodide.mjs",
        "/static/page.py",
        "/sim/run.py",
    ],
)
def test_a_missing_file_is_reported(broken: Callable[[Broken], PageDriver], path: str) -> None:
    page = broken(lambda h: h.path == path and answer(h, b"gone", 404))
    page.open(wait=False)
    check_report(page)


def test_an_error_in_the_pages_own_code_is_reported(
    broken: Callable[[Broken], PageDriver],
) -> None:
    page = broken(lambda h: h.path == "/sim/run.py" and answer(h, b"1 / 0", kind="text/x-python"))
    page.open(wait=False)
    check_report(page, "Python could not start", "ZeroDivisionError")


def test_a_start_that_hangs_is_reported_with_what_it_waited_for(
    broken: Callable[[Broken], PageDriver],
) -> None:
    let_go = threading.Event()

    def hang(handler: Handler) -> bool:
        if handler.path == "/":
            from sim.host import SITE

            html = (SITE / "index.html").read_text(encoding="utf-8")
            short = html.replace('boot.js"', 'boot.js" data-stall-seconds="3"')
            assert short != html
            return answer(handler, short.encode(), kind="text/html; charset=utf-8")
        if handler.path.endswith(".wasm"):
            let_go.wait(20)
            return True
        return False

    page = broken(hang)
    try:
        began = time.monotonic()
        page.open(wait=False)
        check_report(page, "Nothing has arrived for 3 seconds", "Loading interpreter")
        assert time.monotonic() - began > 3
    finally:
        let_go.set()


def test_an_error_after_the_start_is_reported_and_the_board_stays(page: PageDriver) -> None:
    page.run("setTimeout(() => bonusToken.set(10n))")
    page.until(lambda: page.run("return document.documentElement.dataset.state") == "failed")
    assert page.one("#failure").is_displayed()
    assert page.one("#board").is_displayed()
