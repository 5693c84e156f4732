"""A served page in a real Chromium, shared by the tests of a session."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests import chromium
from tests.server import serving


class PageDriver:
    """The page as a user and a host see it."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, query: str = "", wait: bool = True) -> None:
        """Load the page at this address, and wait until it is ready."""
        self.driver.get(self.address + query)
        if wait:
            state = chromium.until_settled(self.driver)
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

    def until(self, condition: Callable[[], Any], seconds: float = 10) -> Any:
        """Wait until something holds; gives it."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)
        return found


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page's address, from the real server."""
    with serving() as found:
        yield found


@pytest.fixture(scope="session")
def shared(address: str) -> Iterator[PageDriver]:
    """One browser for the session, with the page at its opening scene."""
    if chromium.find() is None:
        pytest.skip("Chromium with chromedriver is not installed")
    driver = chromium.launch()
    page = PageDriver(driver, address)
    page.open()
    yield page
    driver.quit()


@pytest.fixture
def page(shared: PageDriver) -> PageDriver:
    """The page at its opening scene, paused, as wide as a laptop."""
    if shared.run("return location.href") != shared.address or shared.run(
        "return document.documentElement.dataset.state !== 'ready'"
    ):
        shared.open()
    shared.call("reset")
    shared.frames()
    return shared
