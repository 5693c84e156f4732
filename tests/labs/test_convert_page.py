"""The converter on the page."""

from __future__ import annotations

import pytest
from selenium.webdriver.remote.webelement import WebElement

from sim.labs.convert import GIVEN, from_alpha, from_cumulative, rows
from tests.driver import PageDriver
from tests.oracle import VLLM


def field(page: PageDriver, key: str) -> WebElement:
    return page.one(f"#convert-{key}")


def open_converter(page: PageDriver, query: str = "") -> None:
    page.open(query)
    page.run("document.querySelector('#lab-convert').scrollIntoView()")
    page.until(lambda: field(page, "use").is_enabled())


def numbers(page: PageDriver) -> list[str]:
    script = "return [...document.querySelectorAll('#convert-table td:nth-child(2)')]"
    return list(page.run(script + ".map((cell) => cell.textContent)"))


@pytest.mark.every_engine
def test_one_number_goes_in_and_the_others_come_out(shared: PageDriver) -> None:
    open_converter(shared)
    assert numbers(shared) == [row.text for row in rows(from_alpha(4, 0.8).report())]
    field(shared, "cumulative").send_keys(", ".join(map(str, VLLM)))
    assert numbers(shared) == [row.text for row in rows(from_cumulative(VLLM).report())]
    assert [field(shared, g.key).get_property("value") for g in GIVEN][:-1] == [""] * 4
    field(shared, "cumulative").send_keys(", 0.9")
    assert "0.9 is above the 0.396 before it" in shared.text("#convert-said")
    assert not field(shared, "use").is_enabled()


def test_what_came_out_goes_into_the_widget(shared: PageDriver) -> None:
    open_converter(shared, "?seed=7")
    field(shared, "cumulative").send_keys(", ".join(map(str, VLLM)))
    shared.run("document.querySelector('#convert-use').click()")
    params = shared.state()["params"]
    assert params["acceptance_rates"] == list(from_cumulative(VLLM).conditional_rates)
    assert (params["draft_length"], params["seed"]) == (4, 7)
    field(shared, "k").send_keys("7")
    field(shared, "alpha").send_keys(".6")
    shared.run("document.querySelector('#convert-use').click()")
    params = shared.state()["params"]
    assert (params["draft_length"], params["acceptance_rate"]) == (7, 0.6)
    assert params["acceptance_rates"] == []


def test_where_it_is_alone_the_widget_comes_in_its_place(shared: PageDriver) -> None:
    shared.open("?lab=convert")
    shared.until(lambda: field(shared, "use").is_enabled())
    assert not shared.one("#widget").is_displayed()
    field(shared, "use").click()
    assert shared.one("#widget").is_displayed()
    assert shared.state()["params"]["acceptance_rate"] == 0.8


def test_a_locked_setting_is_not_set_from_here(shared: PageDriver) -> None:
    open_converter(shared, "?lock=k")
    field(shared, "length").send_keys("2")
    before = shared.state()
    shared.run("document.querySelector('#convert-use').click()")
    assert shared.state() == before
