"""The start among other people's scripts, extensions, proxies and hosts."""

from __future__ import annotations

import gzip
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException

from sim.host import SITE, bundle
from sim.host.serve import Handler
from tests import browsers
from tests.course import static_host
from tests.driver import PageDriver
from tests.faults import (
    ALONE,
    LIBRARY,
    SCRIPTS,
    SNAPSHOT,
    VENDOR,
    WASM,
    Fault,
    Held,
    Serve,
    answer,
    asked,
    check_report,
    content,
    hang_up,
    missing,
    mistyped,
    page_with,
    serving_script,
    with_html,
)
from tests.shown import scene

SCRIPT_TYPE = "text/javascript"

STRAYS = {
    "an error": "new Error('wallet is locked')",
    "a word": "'network'",
    "nothing": "undefined",
    "an object": "({ code: 4001, message: 'failed to load the wallet' })",
}


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


# Scripts and errors that are not the page's own


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "where",
    [
        "elsewhere",
        pytest.param("/cdn-cgi/x.js", marks=ALONE),
        pytest.param("/static/tag.js", marks=ALONE),
    ],
)
def test_a_script_that_is_not_the_pages_own_may_be_refused_or_missing(
    faulty: Serve, where: str
) -> None:
    src = faulty().address + "beacon.min.js" if where == "elsewhere" else where
    beacon = f'<script defer src="{src}"></script></body>'
    page = faulty(with_html({"</body>": beacon}))
    page.open()
    no_alarm(page)


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "reason",
    [
        pytest.param(reason, id=name, marks=[] if name == "an error" else ALONE)
        for name, reason in STRAYS.items()
    ],
)
def test_an_error_that_is_not_the_pages_own_stops_nothing(faulty: Serve, reason: str) -> None:
    stray = (
        "const reject = () => Promise.reject(" + reason + ");"
        "addEventListener('DOMContentLoaded', reject); setTimeout(reject);"
        "addEventListener('DOMContentLoaded', () => { throw new Error('not ours') });"
        "window.reject = reject"
    )
    page = faulty(page_with(stray))
    page.open()
    heard = (
        "addEventListener('unhandledrejection', () => setTimeout(() => window.told = true));"
        "setTimeout(reject); setTimeout(() => { throw new Error('not ours either') })"
    )
    page.run(heard)
    page.until(lambda: page.run("return window.told"))
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


@ALONE
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        pytest.param(missing(SNAPSHOT), "HTTP 404", id="no snapshot"),
        pytest.param(mistyped(WASM), "application/wasm", id="type of the wasm"),
    ],
)
def test_a_slow_start_is_told_in_a_quiet_line(faulty: Serve, fault: Fault, why: str) -> None:
    page = faulty(fault)
    page.open()
    assert why in page.one("#slow").text
    assert why in page.run("return document.documentElement.dataset.slow")
    no_alarm(page)


# Each cause has its own words


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


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An unzipped bundle without its PyScript."""
    root = tmp_path_factory.mktemp("bundle")
    bundle.write(root / "site.zip", bundle.contents())
    with zipfile.ZipFile(root / "site.zip") as packed:
        packed.extractall(root)
    (root / SCRIPTS[0][1:]).unlink()
    return root  # type: ignore[return-value]


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


@pytest.mark.chromium_only("each kind of cause runs in every engine")
@pytest.mark.parametrize(
    ("path", "advice"), [("/sim/run.py", "put the file back"), (WASM, "python3 -m sim vendor")]
)
def test_the_advice_for_a_missing_file_is_what_brings_it_back(
    faulty: Serve, path: str, advice: str
) -> None:
    page = faulty(missing(path))
    page.open(wait=False)
    check_report(page, path.rpartition("/")[2], advice)


# The connection


def is_ready(page: PageDriver) -> bool:
    """Whether the page has started, also while it is being loaded anew."""
    with suppress(WebDriverException):
        return bool(page.run("return document.documentElement.dataset.state") == "ready")
    return False


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
    page = faulty(missing(SNAPSHOT), lambda h: not mended.is_set() and fault(h))
    page.open(wait=False)
    page.until(lambda: page.text("#failure h2") == "The connection was lost", 30)
    assert "sim vendor" not in page.text("#failure")
    assert "by itself" in page.text("#failure")
    mended.set()
    page.until(lambda: is_ready(page), 60)
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
        page.until(lambda: page.text("#failure h2") == "The connection was lost", 30)
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        mended.set()
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        page.until(lambda: is_ready(page), 60)
    finally:
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", online)
        driver.execute_cdp_cmd("Network.disable", {})
    no_alarm(page)


# Links


@pytest.mark.parametrize(
    ("query", "stands"),
    [
        ("?utm_source=x&fbclid=y", True),
        *(
            pytest.param(query, stands, marks=ALONE)
            for query, stands in {
                "?embed=1&theme=dark": True,
                "?k=7": False,
                "?amp;k=7": False,
                "?embed=1&amp;tick=9": False,
            }.items()
        ),
    ],
)
def test_only_a_link_to_another_scene_hides_the_printed_one(
    faulty: Serve, query: str, stands: bool
) -> None:
    held = Held(WASM)
    page = faulty(held)
    page.open(query, wait=False)
    try:
        page.until(lambda: page.driver.find_elements("css selector", "#unbegun"))
        assert page.one("#strip").is_displayed() == stands
    finally:
        held.let_go()
    assert browsers.until_settled(page.driver) == "ready"


@pytest.mark.parametrize(
    "escaped", ["&amp;", *(pytest.param(text, marks=ALONE) for text in ("&#038;", "&amp;amp;"))]
)
def test_a_link_that_was_escaped_once_too_often_keeps_its_secrets(
    faulty: Serve, escaped: str
) -> None:
    held = Held(WASM)
    page = faulty(held)
    page.open("?embed=1&k=12&lock=alpha&ask=speedup&tick=100".replace("&", escaped), wait=False)
    try:
        page.until(lambda: page.one("[name=k]").get_property("value") == "12")
        assert not page.one("[name=alpha]").is_enabled()
        assert not page.one(".numbers").is_displayed()
    finally:
        held.let_go()
    assert browsers.until_settled(page.driver) == "ready"
    assert page.state()["params"]["draft_length"] == 12
    assert not page.one("[name=alpha]").is_enabled()
    assert page.one("#question").is_displayed()
    assert "tick 100" in page.text("#asked")
