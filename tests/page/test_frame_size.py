"""How a frame is filled: whole at any width, in short where it is low, and how high it must be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sim.labs.frames import fitted
from sim.params import Params
from sim.view import PARTS, View
from tests.course import Notes, document, pages, snippet
from tests.driver import PageDriver

SHOWN: tuple[tuple[str, ...], ...] = (
    *((part,) for part in PARTS),
    ("board", "numbers"),
    ("numbers", "clock", "timeline"),
    ("board", "pass", "numbers", "timeline"),
    ("board", "controls"),
)
LEFT_OVER = "return innerHeight - document.documentElement.offsetHeight"

BLANK = {"whole": 210, "asking": 330}
"""px that a frame may be higher than what it holds, where its kind of width is at its best."""


@contextmanager
def sized_to(notes: Notes, width: int, height: str) -> Iterator[PageDriver]:
    """The simulator in a frame that fills a column of this width, and has this height."""
    notes.run(
        "const { style } = document.querySelector('iframe');"
        "document.querySelector('main').style.width = `${arguments[0]}px`;"
        "[style.border, style.height] = ['0', arguments[1]]",
        *(width, height),
    )
    with notes.inside() as page:
        page.until(lambda: page.run("return innerWidth") == width)
        page.frames()
        yield page


@pytest.mark.chromium_only("its fonts decide; one engine is enough")
def test_a_frame_from_the_dialog_is_high_enough_at_every_width(
    shared: PageDriver, simulator: str
) -> None:
    frames = {
        "whole": snippet("iframe", simulator, Params(), View()),
        "asking": snippet("iframe", simulator, Params(), View(ask="speedup")),
    }
    widths = 360, 390, 639, 640, 720, 899, 900, 1000, 1280
    for name, frame in frames.items():
        with pages({"/": document(f"<main>{frame}</main>")}) as address:
            notes = Notes(shared, address)
            views: tuple[View, ...] = (View(ask="speedup" if name == "asking" else "none"),)
            if name == "whole":
                views += tuple(View(show=show) for show in SHOWN)
            wrong = {}
            for view in views:
                with notes.inside() as page:
                    page.call("set", {"show": list(view.show) or None})
                height = fitted(view)
                for width in widths:
                    with sized_to(notes, width, height) as page:
                        blank = page.run(LEFT_OVER)
                        if not 0 <= blank <= BLANK[name]:
                            wrong[view.show, width] = blank
            assert wrong == {}, name


MAIN = (
    "#board",
    "#caption",
    "#clock",
    "#controls",
    "#strip",
    "[data-metric=speedup]",
    "[data-action=reset]",
    "[data-action=evict]",
    "[name=tick]",
    "#scene",
)
"""What no frame is without."""


def missed(page: PageDriver) -> list[str]:
    """What of the widget's main parts is not to be seen."""
    seen = "return !!document.querySelector(arguments[0]).getClientRects().length"
    return [selector for selector in MAIN if not page.run(seen, selector)]


@pytest.mark.every_engine
def test_a_frame_of_any_width_holds_the_whole_widget_when_its_height_changes(
    shared: PageDriver, simulator: str
) -> None:
    frame = f'<main><iframe src="{simulator}?embed=1" style="width:100%"></iframe></main>'
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        for width in (1150, 1900, 720, 624, 468, 300):
            for height in (1990, 1991):
                with sized_to(notes, width, f"{height}px") as page:
                    assert not missed(page), width
                    assert page.one("#legend").is_displayed()
                    assert page.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.every_engine
def test_a_low_frame_has_the_widget_in_short_and_one_that_grows_has_it_whole(
    shared: PageDriver, simulator: str
) -> None:
    frame = f'<main><iframe src="{simulator}?embed=1" style="width:100%"></iframe></main>'
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        scenes: tuple[dict[str, Any], ...] = (
            {},
            {"k": 32, "alpha": 0.1, "tick": 300},
            {"evict": [60], "tick": 61},
            {"cache": False},
            {"ask": "speedup"},
        )
        for width in (720, 640, 960):
            for query in scenes:
                with sized_to(notes, width, "600px") as page:
                    page.call("set", {"ask": None, "k": None, "cache": None, "evict": [], **query})
                    page.frames()
                    assert not missed(page)
                    assert page.one("#question" if "ask" in query else "#sentence").is_displayed()
                    assert not page.one("#legend").is_displayed()
                    room = page.run("return [document.documentElement.scrollHeight, innerHeight]")
                    assert room[0] <= room[1], (width, query)

        # The height that is asked for is that of the whole, so that whoever can gives it.
        def follows() -> bool:
            height = notes.heard("resize")[-1]["height"]
            with sized_to(notes, 960, f"{height}px") as page:
                whole = page.run("return document.documentElement.getBoundingClientRect().height")
                return height > 700 and height - 1 < whole <= height and not missed(page)

        shared.until(follows)
        with notes.inside() as page:
            assert page.one("#legend").is_displayed()
