"""Random use of the page for minutes, in each engine: `python3 -m tests.endurance`.

BONUS_TOKEN_MINUTES says for how long in each engine (1). Clicks, keys, drags and calls in random
order; after each round the state must keep the model's invariants, and nothing may have failed. At
the end memory must be as flat as in the middle: Python's objects and memory, live proxies both
ways, and the heap of JavaScript where the engine tells it. Exit code 1 where that is not so.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from sim.params import PARAMETERS, Params
from sim.run import Run
from sim.settings import updated
from tests import browsers
from tests.driver import PageDriver
from tests.server import serving

MINUTES = float(os.environ.get("BONUS_TOKEN_MINUTES", "1"))
GROWTH, SLACK = 1.10, 40
"""Memory at the end may be this many times that in the middle, and this many objects more."""

MEASURE = """
import gc, json
from js import document
import pyodide_js

gc.collect()
module = pyodide_js._module
if not hasattr(module, "counting"):
    module.counting = True
    module.enable_pyproxy_allocation_tracing()  # counts those made from now on
document.documentElement.setAttribute("data-memory", json.dumps({
    "Python objects": len(gc.get_objects()),
    "WebAssembly memory": module.HEAP8.length,
    "Python proxies": module.pyproxy_alloc_map.size,
    "JavaScript references": module._hiwire_num_refs(),
}))
"""


def memory(page: PageDriver) -> dict[str, int]:
    """Live memory of the page, by kind."""
    page.run(
        "delete document.documentElement.dataset.memory;"
        "const measure = document.createElement('script'); measure.type = 'py';"
        "measure.textContent = arguments[0]; document.body.append(measure)",
        MEASURE,
    )
    text = page.until(lambda: page.run("return document.documentElement.dataset.memory"), 30)
    found: dict[str, int] = json.loads(text)
    if page.engine == "chromium":
        driver: Any = page.driver
        driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        found["JavaScript heap"] = page.run("return performance.memory.usedJSHeapSize")
    page.run("document.querySelectorAll('script-py').forEach((made) => made.remove())")
    return found


def act(page: PageDriver, chance: random.Random) -> None:
    """One thing that a user or a host may do."""
    buttons = ["play", "step", "back", "start", "reset", "evict", "theme", "luck"]
    sliders = ["k", "alpha", "c", "batch", "knee", "chunk", "tick", "speed"]
    kind = chance.choice(["button", "key", "drag", "switch", "set", "seek", "slot"])
    if kind == "button":
        button = page.one(f'[data-action="{chance.choice(buttons)}"]')
        if button.is_enabled() and button.is_displayed():
            button.click()
    elif kind == "key":
        slider = page.one(f'[name="{chance.choice(sliders)}"]')
        if slider.is_enabled() and slider.is_displayed():
            slider.send_keys(
                chance.choice([Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.END, Keys.HOME])
            )
    elif kind == "drag":
        slider = page.one(f'[name="{chance.choice(["k", "alpha", "tick"])}"]')
        if slider.is_enabled():
            hands = ActionChains(page.driver).move_to_element(slider).click_and_hold()
            for _ in range(4):
                hands.move_by_offset(chance.randint(-20, 20), 0)
            hands.release().perform()
    elif kind == "switch":
        page.one(f'[name="{chance.choice(["speculation", "cache"])}"]').click()
    elif kind == "set":
        row = chance.choice(PARAMETERS)
        page.call("set", {row.key: chance.choice([None, 0, 1, 7, 1e9, -1, "x", "0.5", [3, 0.2]])})
    elif kind == "seek":
        page.call("seek", chance.randint(0, 1200))
    else:
        page.one("#board").send_keys(chance.choice([Keys.ARROW_DOWN, Keys.ARROW_RIGHT]))


def check(page: PageDriver) -> None:
    """The page has not failed, and says what CPython says of the same scene."""
    assert page.run("return document.documentElement.dataset.state") == "ready", page.text(
        "#failure"
    )
    found = page.state()
    params, complaints = updated(Params(), found["params"])
    assert not complaints
    assert json.loads(json.dumps(Run(params).report(found["tick"]))) == found
    assert 0 <= found["cached"] <= 511
    assert found["positions_useful"] == found["tokens"]


def endure(engine: str, address: str) -> bool:
    """Use the page for a while; whether its memory stayed flat."""
    chance = random.Random(0)
    driver = browsers.launch(engine)
    try:
        page = PageDriver(driver, address, engine)
        page.open()
        page.run("document.querySelector('.advanced').open = true")
        memory(page)  # the first measuring has costs of its own
        measured, done = [], 0
        for _half in range(2):
            end = time.monotonic() + 30 * MINUTES
            while time.monotonic() < end:
                for _ in range(10):
                    try:
                        act(page, chance)
                    except WebDriverException as error:
                        if "click intercepted" not in str(error):
                            raise
                    done += 1
                check(page)
            page.call("reset")
            page.frames(10)
            measured.append(memory(page))
        errors = browsers.console_errors(driver) if engine == "chromium" else []
    finally:
        driver.quit()
    middle, last = measured
    flat = not errors
    print(f"{engine}: {done} actions, {len(errors)} console errors")
    for kind in middle:
        grown = last[kind] > GROWTH * middle[kind] + SLACK
        flat = flat and not grown
        print(f"  {kind:<20}{middle[kind]:>12}{last[kind]:>12}{'  grew' if grown else ''}")
    return flat


def main() -> None:
    """Run in every engine that is here."""
    here = [engine for engine in browsers.ENGINES if browsers.find(engine)]
    with serving() as address:
        flat = [endure(engine, address) for engine in here]
    sys.exit(0 if all(flat) else 1)


if __name__ == "__main__":
    main()
