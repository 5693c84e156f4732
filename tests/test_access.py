"""axe finds nothing to complain of, in any state of the page, in any engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests import browsers
from tests.__main__ import NODE
from tests.conftest import PageDriver
from tests.test_charts import NEAR, come
from tests.test_failures import WASM, Serve, delayed, faulty, missing

__all__ = ["faulty"]

AXE = NODE / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def complaints(page: PageDriver) -> list[str]:
    """What axe finds in the page as it is, with the elements meant."""
    if not AXE.exists():
        if os.environ.get("CI"):
            pytest.fail("axe-core is not installed, and CI must check accessibility")
        pytest.skip("axe-core is not installed; run: python3 -m tests")
    page.run(AXE.read_text("utf-8"))
    found: list[dict[str, Any]] = page.driver.execute_async_script(
        "const done = arguments[1];"
        "axe.run({runOnly: {type: 'tag', values: arguments[0]}}).then("
        "  ({violations}) => done(violations), (error) => done([{id: String(error), nodes: []}]))",
        RULES,
    )
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found
        for node in one["nodes"] or [{"target": "page"}]
    ]


def play(page: PageDriver) -> None:
    page.call("set", {"speed": 1})
    page.call("play")
    page.frames(5)


def chart(page: PageDriver) -> None:
    for name in NEAR:
        come(page, name)
    page.run("for (const d of document.querySelectorAll('.chart details')) d.open = true")


def recall(page: PageDriver) -> None:
    page.run("document.querySelector('#recall').scrollIntoView()")
    page.until(lambda: page.one("#deck").is_displayed())
    page.run("document.querySelector('[data-recall=reveal]').click()")


STATES: dict[str, tuple[str, Callable[[PageDriver], None]]] = {
    "opened": ("", lambda page: None),
    "playing": ("", play),
    "evicted": ("", lambda page: page.call("evict")),
    "uncached": ("?cache=off&tick=700", lambda page: None),
    "losing": ("?k=12&alpha=0.1&c=0.2", lambda page: None),
    "mended": ("?k=99", lambda page: None),
    "advanced": ("", lambda page: page.run("document.querySelector('.advanced').open = true")),
    "sharing": ("", lambda page: page.action("share")),
    "asked": ("?ask=speedup", lambda page: page.action("predict")),
    "recalling": ("", recall),
    "charted": ("", chart),
    "embedded": ("?embed=1&lock=k,alpha,evict", lambda page: None),
}


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_wrong_in_either_theme(shared: PageDriver, state: str) -> None:
    query, reach = STATES[state]
    shared.open(f"{query}{'&' if query else '?'}theme=light")
    reach(shared)
    shared.frames()
    assert complaints(shared) == []
    # Only the theme: what was said, opened and drawn stays as it is.
    shared.run("document.documentElement.dataset.theme = 'dark'")
    shared.frames()
    assert complaints(shared) == []


def test_nothing_is_wrong_while_loading_or_when_the_start_failed(faulty: Serve) -> None:
    page = faulty(delayed(WASM, 6))
    page.open(wait=False)
    assert complaints(page) == []
    assert page.run("return document.documentElement.dataset.state") == "loading"
    page = faulty(missing("/sim/run.py"))
    page.open(wait=False)
    assert browsers.until_settled(page.driver) == "failed"
    assert complaints(page) == []


def test_nothing_is_wrong_with_the_page_on_hosting(shared: PageDriver) -> None:
    shared.driver.get(f"{shared.address}static/hosting.html")
    assert complaints(shared) == []
