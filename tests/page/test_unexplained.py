"""A page whose second script, which explains failures, does not come: it starts, or says so."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from sim.host import SITE, bundle
from sim.host.serve import Handler
from tests.faults import (
    WASM,
    Fault,
    Serve,
    asked,
    check_report,
    hang_up,
    is_ready,
    missing,
    page_with,
    serving_script,
    truncated,
    with_html,
)
from tests.shown import scene

FAILURE = "/static/failure.js"
ENOUGH = pytest.mark.chromium_only("one of each kind runs in every engine")
LINE = "A part of the page did not arrive: static/failure.js"


@pytest.mark.parametrize("fault", [missing, pytest.param(truncated, marks=ENOUGH)])
def test_a_start_that_nothing_stops_needs_no_one_to_explain_it(
    faulty: Serve, fault: Callable[..., Fault]
) -> None:
    page = faulty(fault(FAILURE))
    page.open("?k=7&tick=90")
    assert page.state() == scene({"k": 7}, 90)
    assert not page.one("#failure").is_displayed()


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (missing(FAILURE, WASM), "pyodide.asm.wasm: HTTP 404"),
        pytest.param(missing(FAILURE, "/static/start.mjs"), "start.mjs: not loaded", marks=ENOUGH),
    ],
    ids=["and the runtime", "and what starts it"],
)
def test_a_failure_that_no_one_can_explain_is_told_in_one_line(
    faulty: Serve, fault: Fault, detail: str
) -> None:
    page = faulty(page_with(stall=2), fault)
    page.open(wait=False)
    check_report(page, LINE, detail, button="Reload")
    refused = page.driver.execute_async_script(
        "const done = arguments[0]; bonusToken.ready.catch((error) => done(error.message))"
    )
    assert LINE in refused


@pytest.mark.every_engine
def test_a_lost_connection_that_took_both_along_is_told_and_the_page_loads_again(
    faulty: Serve,
) -> None:
    mended = threading.Event()
    taken = FAILURE, "/static/start.mjs"
    page = faulty(lambda h: not mended.is_set() and asked(h) in taken and hang_up(h))
    page.open("?k=7", wait=False)
    check_report(page, "The connection was lost", LINE, "by itself", button="Reload")
    mended.set()
    page.until(lambda: is_ready(page))
    assert page.state() == scene({"k": 7}, 60)


def test_a_failure_is_explained_once_the_second_script_comes(faulty: Serve) -> None:
    times: list[str] = []

    def first_time(handler: Handler) -> bool:
        if asked(handler) == FAILURE:
            times.append(FAILURE)
        return len(times) == 1 and missing(FAILURE)(handler)

    page = faulty(first_time, missing(WASM))
    page.open(wait=False)
    check_report(page, "pyodide.asm.wasm is missing", button="Try again")
    assert len(times) == 2


@pytest.mark.parametrize("name", ["boot", "failure"])
@ENOUGH
def test_whichever_script_a_proxy_puts_off_a_failure_is_explained(faulty: Serve, name: str) -> None:
    tag = f'<script src="./static/{name}.js"></script>'
    later = (
        "addEventListener('DOMContentLoaded', () => setTimeout(() => {"
        f"  const made = document.createElement('script'); made.src = './static/{name}.js';"
        "  document.head.append(made)"
        "}, 200))"
    )
    page = faulty(
        with_html({tag: '<script src="/later.js"></script>'}),
        serving_script("/later.js", later),
        missing(WASM),
    )
    page.open(wait=False)
    check_report(page, "pyodide.asm.wasm is missing", button="Try again")


def test_a_bundle_says_what_its_own_host_can_do() -> None:
    written = bundle.contents()["static/failure.js"].decode()
    source = (SITE / "static" / "failure.js").read_text(encoding="utf-8")
    assert "BUNDLED = false;" in source
    assert written == source.replace("BUNDLED = false;", "BUNDLED = true;")
