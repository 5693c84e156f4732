"""The served page in each of the three engines, shared by the tests of a session."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from sim.host import snapshot, vendor
from sim.host.serve import Handler, Server
from tests import browsers
from tests.driver import PageDriver
from tests.faults import Fault, Serve
from tests.server import serving

OPENED = """
const { state } = document.documentElement.dataset;
return [performance.getEntriesByType("navigation")[0]?.name, state];
"""
"""Where the page was opened, which is where Reset leads: its address follows the scene."""


WORDED = "return !document.querySelector('[data-action=words]').hidden"
"""Whether the words of drafts and slots have come, a little after the start."""


@pytest.fixture(scope="session")
def vendored() -> None:
    """The pinned runtime and its snapshot, fetched and built if they are not here yet."""
    vendor.vendor()
    snapshot.build()


@pytest.fixture(scope="session")
def address(vendored: None) -> Iterator[str]:
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


@pytest.fixture
def page(shared: PageDriver) -> PageDriver:
    """The page at its opening scene, paused, as wide as a laptop."""
    if shared.run(OPENED) != [shared.address, "ready"]:
        shared.open()
        shared.until(lambda: shared.run(WORDED))  # they would come while something is looked at
    if shared.run("return [innerWidth, innerHeight]") != [1280, 720]:
        browsers.resize(shared.driver, 1280, 720)
    shared.run("scrollTo(0, 0)")
    shared.run("for (const one of document.querySelectorAll('details')) one.open = false")
    shared.call("set", dict.fromkeys(("lock", "show", "theme", "embed", "lab")))
    shared.call("reset")
    shared.frames()
    return shared


class Failing(Server):
    """The real server, with the faults of the test that goes on."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Faulty)
        self.faults: tuple[Fault, ...] = ()


class Faulty(Handler):
    """What it answers."""

    def do_GET(self) -> None:  # noqa: N802 - the name is the HTTP method's
        """Answer with a fault, or as ever."""
        assert isinstance(self.server, Failing)
        if not any(fault(self) for fault in self.server.faults):
            super().do_GET()


@pytest.fixture(scope="session")
def failing() -> Iterator[list[Failing]]:
    """Servers with faults, which stay for other tests: a browser starts slowly at a new origin."""
    servers: list[Failing] = []
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def faulty(shared: PageDriver, failing: list[Failing]) -> Iterator[Serve]:
    """Serve the page with faults: functions that may answer a request themselves.

    Another call within a test gives another origin; in WebKitGTK each call does, since it asks for
    no module again that it had at an origin before.
    """
    taken: list[Failing] = []
    anew = shared.engine == "webkit"

    def serve(*faults: Fault) -> PageDriver:
        if anew or len(taken) == len(failing):
            failing.append(Failing())
            threading.Thread(target=failing[-1].serve_forever, daemon=True).start()
        server = failing[-1 if anew else len(taken)]
        taken.append(server)
        server.faults = faults
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        return PageDriver(shared.driver, address, shared.engine)

    yield serve
    shared.driver.switch_to.default_content()
    shared.driver.get("about:blank")
    for server in taken:
        server.faults = ()
