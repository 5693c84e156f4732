"""A lab alone: in its link, in a frame, and before Python is there."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from sim.labs import ALONE, BY_NAME
from sim.labs.frames import frame_height
from sim.view import View
from tests import browsers
from tests.driver import PageDriver
from tests.faults import Serve, missing
from tests.labs.bringing import is_here


def seen(page: PageDriver) -> list[object]:
    """Which of these are seen: the widget, the cards, the rest of the text."""
    places = ("#widget", "#recall", "#memory")
    return [page.one(place).is_displayed() for place in places]


@pytest.mark.every_engine
def test_a_link_shows_one_lab_alone_and_the_widget_comes_in_its_place(shared: PageDriver) -> None:
    shared.open("?lab=recall")
    shared.until(lambda: is_here(shared, "recall"))
    assert seen(shared) == [False, True, False]
    assert shared.one(".whole").is_displayed()
    shared.share()
    assert shared.one("[data-snippet=link]").get_property("value") == f"{shared.address}?lab=recall"
    shared.run("document.querySelector('#share').close()")
    shared.call("set", {"lab": None})
    assert seen(shared) == [True, True, True]
    assert not shared.one(".whole").is_displayed()
    shared.call("reset")
    assert seen(shared) == [False, True, False]


@pytest.mark.parametrize("lab", ALONE)
def test_a_lab_is_alone_in_a_frame_and_as_high_as_told(shared: PageDriver, lab: str) -> None:
    shared.open(f"?lab={lab}&embed=1")
    shared.until(lambda: is_here(shared, lab))
    assert shared.one(BY_NAME[lab].place).is_displayed()
    assert seen(shared) == [False, lab == "recall", False]
    assert not shared.one("[data-action=share]").is_displayed()
    browsers.resize(shared.driver, 720, 720)
    height = "return document.documentElement.getBoundingClientRect().height"
    told = pytest.approx(frame_height(View(lab=lab)), abs=40)
    shared.until(lambda: shared.run(height) == told)  # what it shows may still be on its way


def test_another_name_shows_the_whole_page_and_is_told(shared: PageDriver) -> None:
    shared.open("?lab=" + quote('x"]'))
    assert seen(shared) == [True, True, True]
    assert shared.one("#notice").is_displayed()
    for name in ("recal", "share", "none"):
        shared.call("set", {"lab": "recall"})
        assert seen(shared) == [False, True, False]
        shared.call("set", {"lab": name})
        assert seen(shared) == [True, True, True], name
        assert shared.one("#notice").is_displayed() == (name != "none"), name


def test_before_python_is_there_a_lab_is_alone_already_and_no_other(faulty: Serve) -> None:
    page = faulty(missing("/sim/run.py"))
    for name, alone in {"recall": True, "recal": False, "share": False, "none": False}.items():
        page.open(f"?lab={name}", wait=False)
        page.until(lambda: page.run("return document.readyState === 'complete'"))
        assert seen(page) == ([False, True, False] if alone else [True, True, True]), name
    assert browsers.until_settled(page.driver) == "failed"
