"""Python run inside the real page, in a real Chromium, for the benchmarks."""

from __future__ import annotations

import json
import time
from typing import Any

from tests import browsers
from tests.server import serving

PATIENCE = 120
"""Seconds that the Python inside may take."""


def middle(times: list[float]) -> float:
    """The median."""
    return sorted(times)[len(times) // 2]


def run_inside(
    source: str, query: str = "", link: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Run Python in the page at this address once it has started; gives the dictionary that it
    names `result`. `link` is of a slower network: megabits a second, and milliseconds.
    """
    script = f"{source}\nimport json\nfrom js import document\n" + (
        "document.documentElement.setAttribute('data-bench', json.dumps(result))"
    )
    with serving() as address:
        driver = browsers.launch()
        try:
            if link:
                browsers.throttle(driver, *link)
            driver.get(address + query)
            assert browsers.until_settled(driver) == "ready"
            driver.execute_script(
                "const s = document.createElement('script'); s.type = 'py';"
                "s.textContent = arguments[0]; document.body.append(s)",
                script,
            )
            found = None
            end = time.monotonic() + PATIENCE
            while not found and time.monotonic() < end:
                found = driver.execute_script("return document.documentElement.dataset.bench")
                time.sleep(0.1)
            assert found, browsers.console_errors(driver)
        finally:
            driver.quit()
    result: dict[str, Any] = json.loads(found)
    return result
