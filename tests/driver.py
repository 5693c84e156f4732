"""The page in a browser, as a user and a host see it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from tests import browsers

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
        """The element, once it is there: a page or a section may still be on its way."""
        found: list[WebElement] = self.until(
            lambda: self.driver.find_elements(By.CSS_SELECTOR, selector)[:1]
        )
        return found[0]

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
