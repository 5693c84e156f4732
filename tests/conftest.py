"""What holds for all tests: their marks, and which of them run together."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.driver", "tests.faults", "tests.labs.charts")

settings.register_profile("unhurried", deadline=None)  # a busy machine is no counterexample
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks."""
    config.addinivalue_line("markers", "chromium_only(reason): needs what only Chromium can do")
    config.addinivalue_line("markers", "every_engine: asks what engines may differ in")


EVERYWHERE = os.environ.get("BONUS_TOKEN_ENGINES") == "all"
"""Whether each test of the page runs in every engine, not only those that engines may differ in."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to Chromium what engines do not differ in, unless everything is asked of all; skip
    what only Chromium can be told to do, before another browser is started; and have the tests of
    a file and an engine run in one process, in an order that suits several.

    One engine comes after the other, so that a process opens the page once in each; the largest
    files come first, and last what needs no engine. Tests of the rules alone go singly, wherever
    there is time.
    """
    if not EVERYWHERE:
        elsewhere = [item for item in items if not runs(item)]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = filter(runs, items)
    for item in items:
        mark, engine = item.get_closest_marker("chromium_only"), engine_of(item)
        if mark and engine not in ("", "chromium"):
            item.add_marker(pytest.mark.skip(reason=f"{engine}: {mark.args[0]}"))
        if item.path.parent.name != "sim":
            item.add_marker(pytest.mark.xdist_group(group_of(item)))
    sizes = Counter(map(group_of, items))
    items.sort(
        key=lambda item: (
            item.path.parent.name == "sim",
            engine_of(item) or "without",
            -sizes[group_of(item)],
            group_of(item),
        )
    )


def runs(item: pytest.Item) -> bool:
    """Whether a test is about what its engine may do in its own way, or runs in Chromium."""
    of_its_own = item.get_closest_marker("every_engine") or item.get_closest_marker("chromium_only")
    return engine_of(item) in ("", "chromium") or of_its_own is not None


def engine_of(item: pytest.Item) -> str:
    """The engine that a test of the page runs in, or nothing."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return str(params.get("shared", ""))


def group_of(item: pytest.Item) -> str:
    """The tests that run in one process with this one: those of its file, and of its engine."""
    return " ".join(filter(None, (item.path.parent.name, item.path.stem, engine_of(item))))
