"""The start among other people's scripts, extensions, proxies and hosts."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path

import pytest

from sim.host import SITE
from sim.host.serve import Handler
from tests import browsers
from tests.driver import PageDriver
from tests.faults import (
    ALONE,
    LIBRARY,
    SCRIPTS,
    SNAPSHOT,
    WASM,
    Held,
    Serve,
    answer,
    asked,
    check_report,
    content,
    is_ready,
    missing,
    no_alarm,
    page_with,
    serving_script,
    with_html,
)
from tests.shown import scene

STRAYS = (
    "new Error('wallet is locked')",
    "'network'",
    "undefined",
    "({ code: 4001, message: 'failed to load the wallet' })",
)
"""What other people's scripts reject promises with."""


# Scripts and errors that are not the page's own


@pytest.mark.every_engine
def test_scripts_that_are_not_the_pages_own_may_be_refused_or_missing(faulty: Serve) -> None:
    elsewhere = faulty().address + "beacon.min.js"
    sources = (elsewhere, "/cdn-cgi/x.js", "/static/tag.js")
    beacons = "".join(f'<script defer src="{src}"></script>' for src in sources)
    page = faulty(with_html({"</body>": beacons + "</body>"}))
    page.open()
    no_alarm(page)


@pytest.mark.every_engine
def test_an_error_that_is_not_the_pages_own_stops_nothing(faulty: Serve) -> None:
    stray = (
        f"const reject = () => [{', '.join(STRAYS)}].map((reason) => Promise.reject(reason));"
        "addEventListener('DOMContentLoaded', reject); setTimeout(reject);"
        "addEventListener('DOMContentLoaded', () => { throw new Error('not ours') });"
        "window.reject = reject"
    )
    page = faulty(page_with(stray))
    page.open()
    page.run(
        "window.told = 0;"
        "addEventListener('unhandledrejection', () => setTimeout(() => window.told += 1));"
        "setTimeout(reject); setTimeout(() => { throw new Error('not ours either') })"
    )
    page.until(lambda: page.run("return window.told") >= len(STRAYS))
    page.frames()
    no_alarm(page)


def unpacked(folder: Path) -> Path:
    """A browser extension like a wallet's: it puts itself into the page's own world."""
    manifest = {
        "manifest_version": 3,
        "name": "wallet",
        "version": "1.0",
        "content_scripts": [
            {
                "matches": ["<all_urls>"],
                "js": ["inpage.js"],
                "run_at": "document_start",
                "world": "MAIN",
            }
        ],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "inpage.js").write_text(
        "window.wallet = 0; const fail = () => { window.wallet += 1;"
        " Promise.reject(new Error('Failed to load')); };"
        "addEventListener('DOMContentLoaded', fail); window.failAgain = fail;"
        "setTimeout(() => { window.wallet += 1; undefined.provider })"
    )
    return folder


@pytest.mark.chromium_only("an unpacked extension is loaded by Chromium's own switch")
def test_an_extension_that_fails_inside_the_page_stops_nothing(
    shared: PageDriver, tmp_path: Path
) -> None:
    flags = (
        f"--load-extension={unpacked(tmp_path)}",
        f"--disable-extensions-except={tmp_path}",
        "--disable-features=DisableLoadExtensionCommandLineSwitch",
    )
    driver = browsers.launch(flags=flags)
    try:
        page = PageDriver(driver, shared.address)
        page.open()
        assert page.run("return window.wallet") == 2
        no_alarm(page)
        page.run("failAgain()")
        page.frames()
        no_alarm(page)
    finally:
        driver.quit()


@pytest.mark.every_engine
def test_an_error_of_the_pages_own_is_told_beside_those_of_others(faulty: Serve) -> None:
    script = "addEventListener('DOMContentLoaded', () => { throw new Error('not ours') })"
    broken = serving_script(SCRIPTS[0], "throw new Error('ours, on purpose')")
    page = faulty(page_with(script), broken)
    page.open(wait=False)
    check_report(page, "Python could not start", "ours, on purpose")


@pytest.mark.every_engine
def test_a_start_that_was_given_up_and_comes_after_all_takes_its_alarm_back(faulty: Serve) -> None:
    let_go = threading.Event()
    page = faulty(page_with(stall=1), lambda h: asked(h) == WASM and not let_go.wait(30))
    try:
        page.open("?k=6", wait=False)
        page.run("bonusToken.ready.then(() => window.kept = 'kept', () => window.kept = 'broken')")
        check_report(page, "Nothing has arrived for 1 second")
    finally:
        let_go.set()
    page.until(lambda: is_ready(page), 60)
    assert page.state() == scene({"k": 6}, 60)
    assert page.run("return window.kept") == "kept"
    no_alarm(page)


# The first script


def unbegun(page: PageDriver) -> str:
    """The words for a start that never began, once their time has come."""
    assert not page.one("#unbegun").is_displayed() or page.one("#unbegun").size["height"] == 0
    delay = page.run(
        "const [words] = document.getAnimations().filter((one) => one.animationName === 'unbegun');"
        "const { delay } = words.effect.getTiming(); words.finish(); return delay"
    )
    assert delay == 20_000
    assert page.one("#unbegun").is_displayed()
    assert page.one("#unbegun").size["height"] > 20
    return page.text("#unbegun")


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("body", "styled"),
    [
        pytest.param(b"", False, id="404, without style sheet"),
        pytest.param(b"", True, id="404", marks=ALONE),
        pytest.param((SITE / "index.html").read_bytes(), True, id="a page", marks=ALONE),
    ],
)
def test_a_first_script_that_does_not_come_is_told_by_the_page_itself(
    faulty: Serve, body: bytes, styled: bool
) -> None:
    def instead(handler: Handler) -> bool:
        return asked(handler) == "/static/boot.js" and answer(handler, body, 200 if body else 404)

    page = faulty(instead, *([] if styled else [missing("/static/style.css")]))
    page.open(wait=False)
    assert "static/boot.js" in unbegun(page)
    assert page.one("#printed svg").is_displayed()


def test_a_folders_address_without_its_slash_is_told(faulty: Serve) -> None:
    page = faulty(with_html({}, "/course/sim"))
    page.driver.get(page.address + "course/sim")
    assert "put a “/” at the end" in unbegun(page)


def test_nothing_of_these_words_is_seen_where_the_start_begins(page: PageDriver) -> None:
    assert not page.one("#unbegun").is_displayed()
    assert page.run(
        "return document.getAnimations().every((one) => one.animationName !== 'unbegun')"
    )


@pytest.mark.every_engine
@pytest.mark.parametrize("late", [pytest.param("before", marks=ALONE), "after"])
def test_a_first_script_that_a_proxy_puts_off_does_its_work(faulty: Serve, late: str) -> None:
    boot = '<script src="./static/boot.js"></script>'
    held = boot.replace("<script", '<script type="later-text/javascript"')
    bring = "held.replaceWith(made)"
    run_later = (
        "addEventListener('DOMContentLoaded', () => {"
        "  const held = document.querySelector('[type=later-text\\\\/javascript]');"
        "  const made = document.createElement('script'); made.src = held.src;"
        f"  {bring if late == 'before' else f'setTimeout(() => {bring}, 300)'}"
        "})"
    )
    page = faulty(
        with_html({boot: f'<script src="/loader.js"></script>{held}'}),
        serving_script("/loader.js", run_later),
    )
    page.open("?k=7&tick=90&theme=dark")
    assert page.state() == scene({"k": 7}, 90)
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    page.run("document.querySelector('#text').scrollIntoView()")
    page.until(lambda: page.run("return document.documentElement.matches('.reading')"))
    page.run("scrollTo(0, 0)")
    no_alarm(page)


# The snapshot, and what makes a start slower


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "header",
    [
        pytest.param("gzip", id="as an encoding"),
        pytest.param(None, id="unpacked on the way", marks=ALONE),
    ],
)
def test_a_snapshot_that_comes_unpacked_is_used_all_the_same(
    faulty: Serve, header: str | None
) -> None:
    fetched: set[str] = set()

    def fault(handler: Handler) -> bool:
        fetched.add(asked(handler))
        if asked(handler) != SNAPSHOT:
            return False
        body, kind = content(SNAPSHOT)
        if header is None:
            return answer(handler, gzip.decompress(body), kind=kind)
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Encoding", header)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        return True

    page = faulty(fault)
    page.open()
    assert SNAPSHOT in fetched
    assert LIBRARY not in fetched
    assert page.run("return document.documentElement.dataset.slow") is None
    assert not page.one("#slow").is_displayed()
    no_alarm(page)


# Links


def test_only_a_link_to_another_scene_hides_the_printed_one(faulty: Serve) -> None:
    held = Held(WASM)
    page = faulty(held)
    for query, stands in {
        "?utm_source=x&fbclid=y": True,
        "?embed=1&theme=dark": True,
        "?k=7": False,
        "?amp;k=7": False,
        "?embed=1&amp;tick=9": False,
    }.items():
        page.open(query, wait=False)
        page.until(lambda: page.driver.find_elements("css selector", "#unbegun"))
        assert page.run("return location.search") == query
        assert page.one("#strip").is_displayed() == stands, query
        assert page.run("return document.documentElement.dataset.state") == "loading"
    held.let_go()


def test_a_link_that_was_escaped_once_too_often_keeps_its_secrets(faulty: Serve) -> None:
    held = Held(WASM)
    page = faulty(held)
    for escaped in ("&#038;", "&amp;amp;", "&amp;"):
        page.driver.get("about:blank")  # else only the end of the address might change
        query = "?embed=1&k=12&lock=alpha&ask=speedup&tick=100".replace("&", escaped)
        page.open(query, wait=False)
        page.until(lambda: page.one("[name=k]").get_property("value") == "12")
        assert not page.one("[name=alpha]").is_enabled(), escaped
        assert not page.one(".numbers").is_displayed(), escaped
        assert page.run("return document.documentElement.dataset.state") == "loading"
    held.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state()["params"]["draft_length"] == 12
    assert not page.one("[name=alpha]").is_enabled()
    assert page.one("#question").is_displayed()
    assert "speedup at tick 100" in page.text("#asked")
    assert page.metric("speedup") == "?"
    assert not page.one("#notice").is_displayed()
