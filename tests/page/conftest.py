"""Tests of the page, in browsers."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.host import bundle
from tests import browsers
from tests.course import STAND_IN, SUB_PATH, pages, static_host
from tests.driver import PageDriver
from tests.server import ROOT

FOR_OTHERS = ("embed.js", "widget.mjs")
"""What the simulator has for the pages around it."""


def pytest_configure(config: pytest.Config) -> None:
    """Bring the page and its browsers, which the tests of the rules alone do without."""
    config.pluginmanager.import_plugin("tests.browsing")


@pytest.fixture(scope="session", autouse=True)
def _vendored(vendored: None) -> None:
    """What is tried here may need the runtime."""


@pytest.fixture(scope="session")
def unzipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host's root folder with the unzipped bundle below it."""
    root = tmp_path_factory.mktemp("host")
    bundle.write(root / "site.zip", bundle.contents())
    with zipfile.ZipFile(root / "site.zip") as packed:
        packed.extractall(root / SUB_PATH.strip("/"))
    return root


@pytest.fixture(scope="session")
def simulator(unzipped: Path) -> Iterator[str]:
    """The bundle's address on a plain static host."""
    with static_host(unzipped) as address:
        yield address + SUB_PATH


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[str]:
    """The real scripts for other people's pages, beside a page that is not the simulator."""
    (tmp_path / "static").mkdir()
    for name in FOR_OTHERS:
        (tmp_path / "static" / name).write_bytes((ROOT / "static" / name).read_bytes())
    evil = "<script>parent.postMessage({type: 'bonus-token:state', tick: 666}, '*')</script>"
    with pages({"/": evil}) as elsewhere:
        page = STAND_IN.replace("AWAY", f"'{elsewhere}'")
        (tmp_path / "index.html").write_text(page)
        allowed = {"Access_Control_Allow_Origin": "*"}  # without it no page may bring a module
        with static_host(tmp_path, Cache_Control="no-store", **allowed) as address:
            yield address + "/"


@pytest.fixture
def sized(page: PageDriver) -> Iterator[PageDriver]:
    """The page, to be given other sizes."""
    yield page
    browsers.resize(page.driver, 1280, 720)
    page.frames()
