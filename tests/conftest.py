"""The served page in each of the three engines, shared by the tests of a session."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from sim.host import snapshot, vendor
from tests import browsers
from tests.server import serving

BY_HAND = """
const done = arguments[0], real = window.requestAnimationFrame;
window.byHand = { real, now: performance.now(), asked: [] };
window.requestAnimationFrame = (call) => byHand.asked.push(call);
real(() => real(() => done()));
"""
"""Take over the frames of the page; what was asked for before has its frame still."""

PASS = """
for (let left = Math.round(arguments[0] * 10); left > 0; left -= 1) {
  byHand.now += 100;
  for (const call of byHand.asked.splice(0)) call(byHand.now);
}
"""

OPENED = """
const { state } = document.documentElement.dataset;
return [performance.getEntriesByType("navigation")[0]?.name, state];
"""
"""Where the page was opened, which is where Reset leads: its address follows the scene."""

HAND_BACK = """
window.requestAnimationFrame = byHand.real;
for (const call of byHand.asked) requestAnimationFrame(call);
delete window.byHand;
"""


class PageDriver:
    """The page as a user and a host see it."""

    def __init__(self, driver: WebDriver, address: str, engine: str = "chromium") -> None:
        self.driver, self.address, self.engine = driver, address, engine

    def open(self, query: str = "", wait: bool = True) -> None:
        """Load the page at this address, and wait until it is ready."""
        self.driver.get(self.address + query)
        if wait:
            state = browsers.until_settled(self.driver)
            assert state == "ready", self.text("#failure") or state

    def run(self, script: str, *values: Any) -> Any:
        """Run JavaScript in the page."""
        return self.driver.execute_script(script, *values)

    def one(self, selector: str) -> WebElement:
        """The element."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Its text, shown or not."""
        return str(self.one(selector).get_property("textContent") or "")

    def action(self, name: str) -> None:
        """Click a button by its action."""
        self.one(f'[data-action="{name}"]').click()

    def share(self) -> None:
        """Open the share dialog, and wait until it is filled."""
        self.action("share")
        filled = "return document.querySelector('#share[open] [data-snippet=link]')?.value"
        self.until(lambda: self.run(filled))

    def metric(self, name: str) -> str:
        """A number as the page shows it."""
        return self.text(f'[data-metric="{name}"]')

    def state(self) -> dict[str, Any]:
        """What `bonusToken.state()` says, as JSON holds it."""
        return dict(json.loads(self.run("return JSON.stringify(bonusToken.state())")))

    def call(self, name: str, *values: Any) -> None:
        """Call the page's API."""
        self.run("bonusToken[arguments[0]](...arguments[1])", name, list(values))

    def frames(self, count: int = 3) -> None:
        """Let some frames pass."""
        self.driver.execute_async_script(
            "let n = arguments[0]; const done = arguments[1];"
            "const next = () => n-- ? requestAnimationFrame(next) : done(); next()",
            count,
        )

    @contextmanager
    def clock(self) -> Iterator[Callable[[float], None]]:
        """Stop the page's clock: it goes on by the seconds (in tenths) that one asks for.

        So what plays can be seen to go on and what stays to stay, however fast the machine is.
        """
        self.driver.execute_async_script(BY_HAND)
        try:
            yield lambda seconds: self.run(PASS, seconds)
        finally:
            self.run(HAND_BACK)

    def until(self, condition: Callable[[], Any], seconds: float = 60) -> Any:
        """Wait until something holds; gives it. The time is for a machine that is busy."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)
        return found


@pytest.fixture(scope="session", autouse=True)
def _vendored() -> None:
    """The pinned runtime and its snapshot, fetched and built if they are not here yet."""
    vendor.vendor()
    snapshot.build()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page's address, from the real server."""
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def running() -> Iterator[dict[str, WebDriver]]:
    """The browsers of this session by engine: each starts once, and stays for other files."""
    drivers: dict[str, WebDriver] = {}
    yield drivers
    for driver in drivers.values():
        driver.quit()


@pytest.fixture(scope="session", params=browsers.ENGINES)
def shared(
    request: pytest.FixtureRequest, address: str, running: dict[str, WebDriver]
) -> Iterator[PageDriver]:
    """One browser for the session and engine, with the page at its opening scene."""
    engine = request.param
    if browsers.find(engine) is None:
        if os.environ.get("CI"):
            pytest.fail(f"{engine} is not installed with its driver, and CI must run all engines")
        pytest.skip(f"{engine} is not installed with its driver")
    if engine not in running:
        running[engine] = browsers.launch(engine)
    page = PageDriver(running[engine], address, engine)
    page.open()
    yield page
    page.driver.get("about:blank")  # nothing goes on there while another engine is tested


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks."""
    config.addinivalue_line("markers", "chromium_only(reason): needs what only Chromium can do")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs what only Chromium can be told to do, before another browser is started."""
    for item in items:
        mark = item.get_closest_marker("chromium_only")
        engine = item.callspec.params.get("shared") if hasattr(item, "callspec") else None
        if mark and engine not in (None, "chromium"):
            item.add_marker(pytest.mark.skip(reason=f"{engine}: {mark.args[0]}"))


@pytest.fixture
def page(shared: PageDriver) -> PageDriver:
    """The page at its opening scene, paused, as wide as a laptop."""
    if shared.run(OPENED) != [shared.address, "ready"]:
        shared.open()
    if shared.run("return [innerWidth, innerHeight]") != [1280, 720]:
        browsers.resize(shared.driver, 1280, 720)
    shared.run("scrollTo(0, 0)")
    shared.call("reset")
    shared.frames()
    return shared
