"""Tests of the page, in browsers."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sim.host import bundle
from tests import browsers
from tests.course import SUB_PATH, static_host
from tests.driver import PageDriver


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
def sized(page: PageDriver) -> Iterator[PageDriver]:
    """The page, to be given other sizes."""
    yield page
    browsers.resize(page.driver, 1280, 720)
    page.frames()
