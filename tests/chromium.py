"""A headless Chromium for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def find() -> tuple[str, str] | None:
    """The browser and its driver on this machine, or None."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def launch(
    width: int = 1280, height: int = 720, ratio: float = 1, profile: Path | None = None
) -> webdriver.Chrome:
    """A new browser with an empty profile and a window of this size in CSS pixels."""
    found = find()
    if found is None:
        raise RuntimeError("No Chromium with chromedriver is installed; run: python3 -m tests")
    options = Options()
    options.binary_location = found[0]
    for flag in FLAGS:
        options.add_argument(flag)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    if profile:
        options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found[1]))
    resize(driver, width, height, ratio)
    return driver


def resize(driver: webdriver.Chrome, width: int, height: int, ratio: float = 1) -> None:
    """Give the page a viewport of this size, with `ratio` device pixels to a CSS pixel."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": width < 600},
    )


def prefer(driver: webdriver.Chrome, **features: str) -> None:
    """Set media features, e.g. prefers_color_scheme="dark"."""
    listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})


def until_settled(driver: webdriver.Chrome, seconds: float = 60) -> str:
    """Wait until the page has started or failed; its `data-state`."""
    end = time.monotonic() + seconds
    state = "loading"
    while state == "loading" and time.monotonic() < end:
        state = driver.execute_script("return document.documentElement.dataset.state")
        time.sleep(0.02)
    return state


def console_errors(driver: webdriver.Chrome) -> list[dict[str, Any]]:
    """What the console has held since the last call, of warnings and worse."""
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
