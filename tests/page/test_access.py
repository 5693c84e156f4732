"""axe finds nothing to complain of, in any state of the page, in any engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from sim.labs import ALONE
from tests import browsers
from tests.__main__ import NODE
from tests.driver import PageDriver
from tests.faults import WASM, Held, Serve, missing
from tests.labs.charts import NEAR, come
from tests.sources import UNCACHED

AXE = NODE / "node_modules" / "axe-core" / "axe.min.js"
RULES = ("tag", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
OF_COLOURS = ("rule", ["color-contrast", "link-in-text-block"])
"""Those of its rules that a theme can break alone."""

OF_THE_TEXT = ("charted and recalling", "led", *(f"{lab} alone" for lab in ALONE))
"""States in which the text is looked at too; in the others it is what it was."""


def complaints(
    page: PageDriver, text: bool = True, rules: tuple[str, list[str]] = RULES
) -> list[str]:
    """What axe finds in the page as it is, with the elements meant; with its text or without."""
    if not AXE.exists():
        if os.environ.get("CI"):
            pytest.fail("axe-core is not installed, and CI must check accessibility")
        pytest.skip("axe-core is not installed; run: python3 -m tests")
    page.run(AXE.read_text("utf-8"))
    found: list[dict[str, Any]] = page.driver.execute_async_script(
        "const [type, values, exclude, done] = arguments;"
        "axe.run({exclude}, {runOnly: {type, values},"
        "  resultTypes: ['violations']}).then("
        "  ({violations}) => done(violations), (error) => done([{id: String(error), nodes: []}]))",
        *rules,
        [] if text else ["#text"],
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


def losing(page: PageDriver) -> None:
    page.call("set", {"k": 12, "alpha": 0.1, "c": 0.2})


WIDGET: dict[str, Callable[[PageDriver], object]] = {
    "playing": play,
    "evicted": lambda page: page.call("evict"),
    "uncached": lambda page: page.call("set", {"cache": "off", "tick": 700}),
    "losing": losing,
    "mended": lambda page: page.call("set", {"k": 99}),
    "advanced": lambda page: page.run("document.querySelector('.advanced').open = true"),
}
"""States of the simulator, each reached from the opening scene in one visit."""


def charted_and_recalling(page: PageDriver) -> None:
    chart(page)
    recall(page)


def share(page: PageDriver) -> None:
    page.run("scrollTo(0, 0)")
    page.share()


def ask(page: PageDriver) -> None:
    page.run("document.querySelector('#share').close()")
    page.call("set", {"ask": "speedup"})
    page.action("predict")


def embed(page: PageDriver) -> None:
    page.call("set", {"ask": None, "embed": True, "lock": ["k", "alpha", "evict"]})


def alone(page: PageDriver, lab: str) -> None:
    page.call("set", {"lab": lab})
    page.frames()


def tell(page: PageDriver) -> None:
    page.call("set", {"embed": None, "lock": None})
    page.run("document.querySelector('[data-story=\"4\"]').click()")
    page.action("skip")


def compare(page: PageDriver) -> None:
    page.call("set", {"ask": None, "batch": None, "tick": 60})
    page.action("keep")
    page.frames()
    page.one('[data-draft="1"]').click()


STATES: dict[str, Callable[[PageDriver], object]] = {
    "opened": lambda page: None,
    "charted and recalling": charted_and_recalling,
    "sharing": share,
    "asked": ask,
    "embedded": embed,
    "told": tell,
    "compared": compare,
    **{f"{lab} alone": partial(alone, lab=lab) for lab in ALONE},
}
"""States of the page, each reached from the one before."""


def check_both_themes(page: PageDriver, state: str) -> None:
    """axe is content with the page as it is, light and, as to its colours, dark."""
    for theme, rules in (("light", RULES), ("dark", OF_COLOURS)):
        # Only the theme: what was said, opened and drawn stays as it is.
        page.run("document.documentElement.dataset.theme = arguments[0]", theme)
        page.frames()
        assert complaints(page, state in OF_THE_TEXT, rules) == [], (state, theme)


def test_nothing_is_wrong_in_either_theme(shared: PageDriver) -> None:
    shared.open()
    for state, reach in STATES.items():
        reach(shared)
        check_both_themes(shared, state)


def test_nothing_is_wrong_while_the_simulator_is_a_panel_below_the_text(page: PageDriver) -> None:
    try:
        browsers.resize(page.driver, 1000, 720)
        link = page.one(UNCACHED)
        page.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", link)
        page.until(lambda: page.one("[data-action=return]").is_displayed())
        check_both_themes(page, "led")
    finally:
        page.action("return")
        browsers.resize(page.driver, 1280, 720)


@pytest.mark.every_engine
def test_nothing_is_wrong_with_the_simulator_in_any_state(shared: PageDriver) -> None:
    shared.open()
    for state, reach in WIDGET.items():
        shared.call("reset")
        reach(shared)
        check_both_themes(shared, state)


def test_nothing_is_wrong_while_loading_or_when_the_start_failed(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open(wait=False)
    assert complaints(page) == []
    assert page.run("return document.documentElement.dataset.state") == "loading"
    wasm.let_go()
    page = faulty(missing("/sim/run.py"))
    page.open(wait=False)
    assert browsers.until_settled(page.driver) == "failed"
    assert complaints(page) == []


def test_nothing_is_wrong_with_the_page_on_hosting(shared: PageDriver) -> None:
    shared.driver.get(f"{shared.address}static/hosting.html")
    assert complaints(shared) == []
