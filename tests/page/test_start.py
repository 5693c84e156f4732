"""A start that hangs, is slow, is left or comes twice: what is told, kept and allowed meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from sim.host import SITE
from sim.host.serve import Handler
from tests import browsers
from tests.driver import PageDriver
from tests.faults import (
    SNAPSHOT,
    WASM,
    Held,
    Serve,
    answer,
    asked,
    assert_policy_kept,
    check_report,
    content,
    page_with,
)
from tests.shown import scene

# Time


@pytest.mark.every_engine
def test_a_start_that_hangs_is_reported_and_tried_again_without_a_reload(faulty: Serve) -> None:
    let_go, better = threading.Event(), threading.Event()
    hung: list[str] = []

    def hang(handler: Handler) -> bool:
        if asked(handler) == WASM and not better.is_set():
            hung.append(handler.path)
            let_go.wait(120)
        return False

    page = faulty(page_with(stall=4), hang)  # long enough for the second try on a busy machine
    arrived = f"return performance.getEntriesByName(new URL('{WASM}', location)).length"
    try:
        began = time.monotonic()
        page.open(wait=False)
        page.run("window.before = 1; document.documentElement.dataset.same = 'yes'")
        check_report(page, "Nothing has arrived for 4 seconds", button="Try again")
        assert time.monotonic() - began > 4
        assert hung
        better.set()  # for those who ask from now on
        page.action("reload")
        assert browsers.until_settled(page.driver) == "ready"
        before = page.run(arrived)
    finally:
        let_go.set()
    assert page.run("return document.documentElement.dataset.same") == "yes"
    page.until(lambda: page.run(arrived) > before)  # what hung, and changes nothing
    page.frames()
    assert page.run("return String(fetch)").count("native code") == 1
    assert page.run("return performance.getEntriesByName('bonus-token-ready').length") == 1
    assert page.state() == scene({}, 60)
    assert not page.one("#failure").is_displayed()


def test_a_file_that_was_missing_is_fetched_when_the_reader_tries_again(faulty: Serve) -> None:
    there = threading.Event()
    page = faulty(lambda h: asked(h) == WASM and not there.is_set() and answer(h, b"", 404))
    page.open(wait=False)
    advice = "python3 -m sim vendor"
    check_report(page, "pyodide.asm.wasm is missing", advice, button="Try again")
    there.set()
    page.action("reload")
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state() == scene({}, 60)


def test_a_slow_network_that_goes_on_is_no_hang(faulty: Serve) -> None:
    def drip(handler: Handler) -> bool:
        if asked(handler) != WASM:
            return False
        body, kind = content(WASM)
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        part = len(body) // 10 + 1
        for start in range(0, len(body), part):
            handler.wfile.write(body[start : start + part])
            handler.wfile.flush()
            time.sleep(0.6)  # which is the slowness: together longer than the page's patience
        return True

    page = faulty(page_with(stall=4), drip)
    began = time.monotonic()
    page.open()
    assert time.monotonic() - began > 5
    assert page.state() == scene({}, 60)


def test_files_may_arrive_before_the_page_does(faulty: Serve) -> None:
    sent = {path: threading.Event() for path in (WASM, SNAPSHOT)}

    def slowly(handler: Handler) -> bool:
        if asked(handler) in sent:
            body, kind = content(asked(handler))
            answer(handler, body, kind=kind)
            sent[asked(handler)].set()
            return True
        if asked(handler) != "/":
            return False
        html = (SITE / "index.html").read_bytes()
        cut = html.index(b'<header class="top">')  # behind the progress bar, before its number
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html; charset=utf-8")
        handler.send_header("Content-Length", str(len(html)))
        handler.end_headers()
        handler.wfile.write(html[:cut])
        handler.wfile.flush()
        assert all(file.wait(20) for file in sent.values())
        handler.wfile.write(html[cut:])
        return True

    page = faulty(slowly)
    page.open()
    assert page.state() == scene({}, 60)
    assert all(file.is_set() for file in sent.values())


@pytest.mark.every_engine
def test_parts_locks_and_secrets_of_a_link_hold_before_python_is_there(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open("?embed=1&show=board,numbers,controls&lock=k,seed&ask=speedup", wait=False)
    shown = {
        selector: page.one(selector).is_displayed()
        for selector in (".tagline", ".pass", "#board-box", "#k", ".numbers", "#clock", "#printed")
    }
    locked = {key: page.one(f"[name={key}]").is_enabled() for key in ("k", "alpha")}
    page.one("[name=alpha]").send_keys(Keys.ARROW_LEFT)
    assert page.run("return document.documentElement.dataset.state") == "loading"
    wasm.let_go()
    # Numbers that could answer the question keep their room, but cannot be seen.
    assert shown == {
        **{".tagline": False, ".pass": False, "#board-box": True, "#k": True},
        **{".numbers": False, "#clock": False, "#printed": False},
    }
    assert locked == {"k": False, "alpha": True}
    assert browsers.until_settled(page.driver) == "ready"
    # What is asked is asked of the scene as it was put.
    assert page.state() == scene({}, 0)
    assert page.one(".numbers").is_displayed()


def test_before_python_the_default_scene_is_there(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open(wait=False)
    assert page.run("return document.documentElement.dataset.state") == "loading"
    assert "a picture until Python has started" in page.one("#slot-note").text
    assert page.one("#printed svg").is_displayed()
    assert not page.one("[data-action=play]").is_enabled()
    wasm.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.one("[data-action=play]").is_enabled()


def renderers(driver: webdriver.Chrome) -> list[int]:
    """The processes that run pages, of all that this driver started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, _, rest = status.read_text().partition(" ")
            parents[int(pid)] = int(rest.rpartition(")")[2].split()[1])
    family = {driver.service.process.pid}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in family}
    return [pid for pid, line in lines.items() if "--type=renderer" in line]


def test_a_tab_that_slept_while_it_loaded_or_played_goes_on(
    faulty: Serve, shared: PageDriver
) -> None:
    if shared.engine != "chromium" or not Path("/proc/self/stat").exists():
        pytest.skip("its processes cannot be stopped from here")
    wasm = Held(WASM)
    address = faulty(page_with(stall=3), wasm).address
    driver = browsers.launch()
    assert isinstance(driver, webdriver.Chrome)
    try:

        def sleep() -> None:
            for pid in (asleep := renderers(driver)):
                os.kill(pid, signal.SIGSTOP)
            time.sleep(5)  # longer than the page's patience
            for pid in asleep:
                os.kill(pid, signal.SIGCONT)

        page = PageDriver(driver, address)
        page.open(wait=False)
        assert page.run("return document.documentElement.dataset.state") == "loading"
        sleep()
        wasm.let_go()
        assert browsers.until_settled(driver) == "ready"
        page.action("play")
        tick = page.state()["tick"]
        sleep()
        page.until(lambda: page.state()["tick"] > tick)
        assert page.state()["tick"] < tick + 24
    finally:
        driver.quit()


@pytest.mark.every_engine
def test_going_away_and_back_finds_the_page_working(faulty: Serve) -> None:
    page = faulty(lambda h: asked(h) == "/else.html" and answer(h, b"<title>else</title>elsewhere"))
    page.open("?k=5&tick=90")
    page.action("step")
    page.until(lambda: "tick=91" in page.run("return location.search"))
    page.driver.get(page.address + "else.html")
    page.driver.back()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state() == scene({"k": 5}, 91)
    page.action("play")
    page.until(lambda: page.state()["tick"] > 93)
    page.call("pause")


# Twice

FRAME = "<!DOCTYPE html><title>host</title><iframe {} width=1200 height=700 src='{}'></iframe>"


def test_a_second_start_while_the_first_loads_changes_nothing(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open(wait=False)
    page.run(
        "const again = document.createElement('script'); again.type = 'py';"
        "again.textContent = document.querySelector('script[type=py]').textContent"
        "  + '\\nimport js\\njs.document.documentElement.dataset.again = 1';"
        "document.body.append(again)"
    )
    wasm.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    page.until(lambda: page.run("return document.documentElement.dataset.again"))
    starts = "return performance.getEntriesByName('bonus-token-ready').length"
    assert page.run(starts) == 1
    page.action("step")
    assert page.state() == scene({}, 61)
    assert not page.one("#failure").is_displayed()


@pytest.mark.every_engine
def test_two_widgets_start_beside_each_other_one_in_a_sandbox_without_storage(
    faulty: Serve,
) -> None:
    html = FRAME.format("", "/?k=2") + FRAME.format("sandbox='allow-scripts'", "/?k=3")
    page = faulty(lambda h: asked(h) == "/host.html" and answer(h, html.encode()))
    page.driver.get(page.address + "host.html")
    for index, k in enumerate((2, 3)):
        page.driver.switch_to.frame(index)
        assert browsers.until_settled(page.driver) == "ready", page.text("#failure")
        assert (page.run("return window.origin") == "null") == bool(index)
        assert page.state() == scene({"k": k}, 60)
        page.run("document.querySelector('[data-action=step]').click()")
        assert page.state() == scene({"k": k}, 61)
        page.driver.switch_to.default_content()


# The content-security policy


@pytest.mark.every_engine
def test_nothing_that_the_page_does_violates_its_policy(faulty: Serve) -> None:
    watch = (
        "addEventListener('securitypolicyviolation', (event) => {"
        "  const seen = document.documentElement.dataset;"
        "  const { violatedDirective, blockedURI } = event;"
        "  seen.violation = `${seen.violation ?? ''} ${violatedDirective} ${blockedURI}`;"
        "})"
    )
    page = faulty(page_with(watch))
    page.open("?evict=50&tick=52&k=99")
    for name in ("step", "evict", "theme", "play", "play", "dismiss", "reset"):
        if page.one(f'[data-action="{name}"]').is_displayed():
            page.action(name)
        page.frames()
    page.share()
    for kind in ("picture", "passes", "close"):
        page.one(f'[data-share-action="{kind}"]').click()
    assert_policy_kept(page)
