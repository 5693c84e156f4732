"""A start that fails says so, keeps text and printed scene, and goes on where it can."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium import webdriver

from sim.host import SITE
from tests.driver import PageDriver
from tests.faults import (
    ALONE,
    LIBRARY,
    SCRIPTS,
    SNAPSHOT,
    WASM,
    Fault,
    Serve,
    answer,
    asked,
    check_report,
    missing,
    mistyped,
    no_alarm,
    page_with,
    truncated,
)
from tests.shown import on_paper, scene, words_of

# Files that are missing, cut short, or of the wrong type


@pytest.mark.every_engine
@pytest.mark.parametrize("path", [WASM, SCRIPTS[0]])
@pytest.mark.parametrize("fault", [missing, truncated])
def test_a_bad_file_is_reported_with_its_name(
    faulty: Serve, path: str, fault: Callable[..., Fault]
) -> None:
    page = faulty(fault(path))
    page.open(wait=False)
    check_report(page, path.rpartition("/")[2])


@ALONE
@pytest.mark.parametrize(
    ("fault", "path"),
    [
        *((fault, path) for fault in (missing, truncated) for path in SCRIPTS[1:]),
        *((mistyped, path) for path in SCRIPTS),
    ],
)
def test_every_bad_script_is_reported(
    faulty: Serve, path: str, fault: Callable[..., Fault]
) -> None:
    page = faulty(fault(path))
    page.open(wait=False)
    check_report(page)


@ALONE
@pytest.mark.parametrize("fault", [missing, truncated])
def test_a_bad_library_is_reported_where_it_is_needed(
    faulty: Serve, fault: Callable[..., Fault]
) -> None:
    page = faulty(missing(SNAPSHOT), fault(LIBRARY))
    page.open(wait=False)
    check_report(page, "python_stdlib.zip", button="Try again")


@ALONE
def test_the_wrong_type_of_a_file_that_is_no_script_does_no_harm(faulty: Serve) -> None:
    page = faulty(mistyped(WASM, LIBRARY, SNAPSHOT))
    page.open()
    assert page.state() == scene({}, 60)
    check_slow(page, "application/wasm")


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("fault", "why"), [(missing, "HTTP 404"), pytest.param(truncated, "snapshot", marks=ALONE)]
)
def test_without_a_whole_snapshot_the_page_starts_plainly_and_says_so_in_a_quiet_line(
    faulty: Serve, fault: Callable[..., Fault], why: str
) -> None:
    page = faulty(fault(SNAPSHOT))
    page.open("?k=7&tick=300")
    assert page.state() == scene({"k": 7}, 300)
    check_slow(page, why)


def check_slow(page: PageDriver, why: str) -> None:
    """The page works, and says why it came slowly."""
    assert why in page.one("#slow").text
    assert why in page.run("return document.documentElement.dataset.slow")
    no_alarm(page)


@ALONE
@pytest.mark.parametrize("path", ["/sim/run.py", "/static/page.py"])
def test_a_missing_file_of_the_pages_own_is_reported(faulty: Serve, path: str) -> None:
    page = faulty(missing(path))
    page.open(wait=False)
    check_report(page, path.rpartition("/")[2], "put the file back", button="Reload")


def test_an_edited_file_runs_as_it_is_now_whatever_the_snapshot_holds_compiled(
    faulty: Serve,
) -> None:
    source = (SITE / "sim" / "verbs.py").read_text(encoding="utf-8")
    assert "Nothing is kept" in source
    edited = source.replace("Nothing is kept", "Nothing will be kept").encode()
    page = faulty(lambda h: asked(h) == "/sim/verbs.py" and answer(h, edited, kind="text/x-python"))
    page.open("?cache=off")
    assert "Nothing will be" in str(page.one("[data-action=evict]").get_property("title"))
    assert not page.run("return document.documentElement.dataset.slow")


@pytest.mark.every_engine
def test_the_rest_of_the_library_comes_when_an_import_asks_for_it(faulty: Serve) -> None:
    source = (SITE / "static" / "page.py").read_text(encoding="utf-8")
    asking = source + "\n\nimport colorsys\nfrom xml.etree import ElementTree\n"
    asking += "assert ElementTree.fromstring('<a/>').tag == 'a'\n"
    page = faulty(
        lambda h: asked(h) == "/static/page.py" and answer(h, asking.encode(), kind="text/x-python")
    )
    page.open()
    assert page.state() == scene({}, 60)


# What a browser may lack


@pytest.mark.every_engine
def test_a_browser_without_webassembly_is_told_so(faulty: Serve) -> None:
    page = faulty(page_with("delete window.WebAssembly"))
    page.open(wait=False)
    check_report(page, "WebAssembly is not available", button="Reload")


@pytest.mark.chromium_only("JavaScript cannot be switched off")
def test_without_javascript_the_page_can_be_read(shared: PageDriver) -> None:
    driver = shared.driver
    assert isinstance(driver, webdriver.Chrome)
    try:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        driver.get(shared.address + "?k=12&tick=90")
        said = driver.find_element("css selector", "noscript")
        assert "JavaScript, which is switched off" in said.text
        link = said.find_element("css selector", "a").get_property("href")
        assert link == f"{shared.address}?k=12&tick=90#widget"
        assert driver.find_element("css selector", "#text").is_displayed()
        # What is printed is another scene, and only shown as what it is.
        assert not driver.find_element("css selector", "#printed svg").is_displayed()
        said.find_element("css selector", "summary").click()
        assert driver.find_element("css selector", "#printed svg").is_displayed()
        assert driver.find_element("css selector", "[data-metric=tokens]").text == "216"
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        shared.open()


@pytest.mark.every_engine
@pytest.mark.parametrize(
    "denial",
    [
        "throw new DOMException('denied', 'SecurityError')",
        "const request = new EventTarget();"
        "setTimeout(() => request.onerror?.(new Event('error', { cancelable: true })));"
        "return request",
    ],
    ids=["at once", "later"],
)
def test_storage_that_is_denied_is_stood_in_for(faulty: Serve, denial: str) -> None:
    page = faulty(page_with(f"IDBFactory.prototype.open = () => {{ {denial} }}"))
    page.open()
    assert page.state() == scene({}, 60)


# Errors in the page's own Python


@pytest.mark.every_engine
def test_an_error_in_the_pages_own_code_is_reported(faulty: Serve) -> None:
    page = faulty(lambda h: asked(h) == "/sim/run.py" and answer(h, b"1 / 0", kind="text/x-python"))
    page.open(wait=False)
    check_report(page, "Python could not start", "ZeroDivisionError", button="Reload")


def test_an_error_in_an_event_is_reported_and_the_board_stays(faulty: Serve) -> None:
    source = (SITE / "sim" / "session.py").read_text(encoding="utf-8")
    evict = '    if VERB["evict"].idle(session.params):\n'
    assert source.count(evict) == 1
    broken = source.replace(evict, "    1 / 0\n" + evict).encode()
    page = faulty(
        lambda h: asked(h) == "/sim/session.py" and answer(h, broken, kind="text/x-python")
    )
    page.open()
    page.action("evict")
    page.until(lambda: page.one("#failure").is_displayed())
    assert "Something went wrong" in page.text("#failure")
    assert page.one("#board").is_displayed()
    assert page.metric("tokens") == "216"


@pytest.mark.chromium_only("paper is the same everywhere")
def test_paper_shows_no_other_scene_in_place_of_one_that_is_not_there(faulty: Serve) -> None:
    page = faulty(missing("/static/start.mjs"))
    page.open("?embed=1&k=7&ask=speedup&tick=90", wait=False)
    for state in ("failed", "loading"):
        page.until(lambda: page.run("return document.documentElement.dataset.state") == "failed")
        page.run("document.documentElement.dataset.state = arguments[0]", state)
        words = words_of(on_paper(page))
        assert "Thisscenewasnotloadedyetwhenthepagewasprinted." in words
        assert f"{page.address}?k=7&ask=speedup&tick=90" in words
        for false in ("KVcache", "draftaccepted", "draftlength", "seed0"):
            assert false not in words, (state, false)
        page.run("document.documentElement.dataset.state = 'failed'")
    page.open("?embed=1", wait=False)
    page.until(lambda: page.run("return document.documentElement.dataset.state") == "failed")
    words = words_of(on_paper(page))
    assert "KVcache" in words
    assert "notloaded" not in words
