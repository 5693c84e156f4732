"""Tests of the page, in browsers."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Bring the page and its browsers, which the tests of the rules alone do without."""
    config.pluginmanager.import_plugin("tests.browsing")


@pytest.fixture(scope="session", autouse=True)
def _vendored(vendored: None) -> None:
    """What is tried here may need the runtime."""
