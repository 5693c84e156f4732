"""What holds for all tests: their marks, and what is skipped before a browser is started."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.driver", "tests.faults", "tests.labs.charts")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks."""
    config.addinivalue_line("markers", "chromium_only(reason): needs what only Chromium can do")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs what only Chromium can be told to do, before another browser is started."""
    for item in items:
        mark = item.get_closest_marker("chromium_only")
        engine = item.callspec.params.get("shared") if hasattr(item, "callspec") else None
        if mark and engine not in (None, "chromium"):
            item.add_marker(pytest.mark.skip(reason=f"{engine}: {mark.args[0]}"))
