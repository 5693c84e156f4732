"""What stopped a start is told in words of its own: a type, a policy, a host, the connection."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from selenium import webdriver

from sim.host import SITE
from sim.host.serve import Handler
from tests.course import SUB_PATH, static_host
from tests.driver import PageDriver
from tests.faults import (
    ALONE,
    SCRIPTS,
    SNAPSHOT,
    VENDOR,
    WASM,
    Fault,
    Serve,
    answer,
    asked,
    check_report,
    content,
    hang_up,
    is_ready,
    missing,
    mistyped,
    no_alarm,
)

# Files and policies


@pytest.mark.every_engine
def test_a_module_of_another_type_is_told_as_that(faulty: Serve) -> None:
    page = faulty(mistyped("/static/start.mjs", "/static/interpreter.mjs"))
    page.open(wait=False)
    check_report(page, "start.mjs came as text/plain", "text/javascript")


def test_a_module_further_in_of_another_type_is_told_as_that(faulty: Serve) -> None:
    page = faulty(mistyped(VENDOR + "pyodide/pyodide.mjs"))
    page.open(wait=False)
    check_report(page, "pyodide.mjs came as text/plain")


@pytest.mark.parametrize(
    "path",
    [
        "/static/start.mjs",
        *(pytest.param(path, marks=ALONE) for path in (WASM, "/sim/run.py", SCRIPTS[1])),
    ],
)
def test_a_web_page_in_the_place_of_a_file_is_told_as_a_missing_file(
    faulty: Serve, path: str
) -> None:
    page = faulty(lambda h: asked(h) == path and answer(h, b"<!DOCTYPE html><title>Home</title>"))
    page.open(wait=False)
    check_report(page, path.rpartition("/")[2], "a web page in its place")


POLICIES = {
    "no eval": "script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'",
    "wasm alone": "script-src 'self' 'wasm-unsafe-eval'",
    "no fetching": "connect-src 'none'",
}


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(policy, id=name, marks=[] if name == "no eval" else ALONE)
        for name, policy in POLICIES.items()
    ],
)
def test_a_hosts_policy_that_forbids_the_start_is_named(faulty: Serve, policy: str) -> None:
    def fault(handler: Handler) -> bool:
        if asked(handler) != "/":
            return False
        body, kind = content("/")
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Content-Security-Policy", policy)
        handler.end_headers()
        handler.wfile.write(body)
        return True

    page = faulty(fault)
    page.open(wait=False)
    check_report(page, "Content-Security-Policy", "'unsafe-eval'")
    assert "damaged" not in page.text("#failure")


@pytest.mark.every_engine
def test_a_page_opened_from_the_disk_says_how_to_serve_it(shared: PageDriver) -> None:
    page = PageDriver(shared.driver, (SITE / "index.html").as_uri(), shared.engine)
    try:
        page.open(wait=False)
        check_report(page, "cannot run from the disk", "python3 -m sim")
    finally:
        shared.open()


@pytest.fixture
def bundled(unzipped: Path, tmp_path: Path) -> Path:
    """An unzipped bundle without its PyScript."""
    kept = shutil.ignore_patterns(Path(SCRIPTS[0]).name)
    return shutil.copytree(unzipped / SUB_PATH.strip("/"), tmp_path / "bundle", ignore=kept)


def test_a_bundle_gives_advice_that_its_host_can_follow(shared: PageDriver, bundled: Path) -> None:
    try:
        with static_host(bundled) as address:
            page = PageDriver(shared.driver, address + "/", shared.engine)
            page.open(wait=False)
            check_report(page, "core.js is missing", "unpack the bundle again")
            assert "python3 -m sim" not in page.text("#failure")
        page = PageDriver(shared.driver, (bundled / "index.html").as_uri(), shared.engine)
        page.open(wait=False)
        check_report(page, "cannot run from the disk", "python3 -m http.server")
        assert "python3 -m sim" not in page.text("#failure")
    finally:
        shared.open()


# The connection


def cut_at(path: str, cut: threading.Event) -> Fault:
    """A connection that breaks in the middle of a file, and for all files after it."""

    def fault(handler: Handler) -> bool:
        if not cut.is_set() and asked(handler) != path:
            return False
        if not cut.is_set():
            body, kind = content(path)
            handler.send_response(200)
            handler.send_header("Content-Type", kind)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[: len(body) // 2])
            handler.wfile.flush()
            cut.set()
        return hang_up(handler)

    return fault


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "path", [WASM, *(pytest.param(path, marks=ALONE) for path in (SCRIPTS[0], "/sim/run.py"))]
)
def test_a_connection_that_is_cut_is_told_as_that_and_tried_again(faulty: Serve, path: str) -> None:
    cut, mended = threading.Event(), threading.Event()
    fault = cut_at(path, cut)
    slow = missing(SNAPSHOT)  # so that the library is asked for as well
    page = faulty(lambda h: not mended.is_set() and (slow(h) or fault(h)))
    page.open(wait=False)
    page.until(lambda: page.text("#failure h2") == "The connection was lost")
    assert "sim vendor" not in page.text("#failure")
    assert "by itself" in page.text("#failure")
    mended.set()
    page.until(lambda: is_ready(page), 60)
    no_alarm(page)


@pytest.mark.every_engine
def test_a_module_that_another_try_loses_on_its_way_is_no_damage(faulty: Serve) -> None:
    mended = threading.Event()

    def drop(handler: Handler) -> bool:
        lost = asked(handler) == WASM and not mended.is_set()
        return (lost or handler.path.endswith("pyodide.asm.mjs?again=1")) and hang_up(handler)

    page = faulty(drop)
    page.open(wait=False)
    page.until(lambda: page.text("#failure h2") == "The connection was lost")
    mended.set()
    page.until(lambda: is_ready(page))
    no_alarm(page)


@pytest.mark.chromium_only("the network cannot be switched off")
def test_a_browser_that_is_online_again_goes_on_by_itself(faulty: Serve) -> None:
    mended, given_up = threading.Event(), threading.Event()

    def drop(handler: Handler) -> bool:
        if handler.path.endswith("pyodide.mjs?again=3"):  # its last try
            given_up.set()
        return asked(handler) == WASM and not mended.is_set() and hang_up(handler)

    page = faulty(drop)
    driver = page.driver
    assert isinstance(driver, webdriver.Chrome)
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    online = {**offline, "offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.enable", {})
    try:
        page.open(wait=False)
        assert given_up.wait(60)  # it has stopped trying: now only the browser's word counts
        page.until(lambda: page.text("#failure h2") == "The connection was lost")
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        mended.set()
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        page.until(lambda: is_ready(page), 60)
    finally:
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        driver.execute_cdp_cmd("Network.disable", {})
    no_alarm(page)
