"""Values under the pointer, and where arrow keys have gone, in a real page."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from sim.labs.run_charts import RunAt
from sim.params import Params
from sim.run import Run
from tests.driver import PageDriver
from tests.labs.charts import BY_NAME, come


def note(page: PageDriver, name: str) -> str:
    return page.text(f"#chart-{name} .chart-note")


def pointed(page: PageDriver, name: str, right: float, down: float) -> None:
    """Move the mouse to this share of a drawing's width and height."""
    page.run(
        "const drawing = document.querySelector(arguments[0]),"
        "  box = drawing.querySelector('svg, canvas').getBoundingClientRect();"
        "drawing.dispatchEvent(new PointerEvent('pointermove', {pointerType: 'mouse',"
        "  clientX: box.left + box.width * arguments[1],"
        "  clientY: box.top + box.height * arguments[2]}))",
        f"#chart-{name} .drawing",
        right,
        down,
    )


def mark(page: PageDriver, name: str) -> list[float]:
    """Where the mark of the place pointed at is, across and down, as shares of the drawing."""
    return list(
        page.run(
            "const box = (s) => document.querySelector(`${arguments[0]} ${s}`)"
            ".getBoundingClientRect(), whole = box(':is(svg, canvas)'), at = box('.chart-at');"
            "return [(at.left + at.width / 2 - whole.left) / whole.width,"
            " (at.top + at.height / 2 - whole.top) / whole.height]",
            f"#chart-{name}",
        )
    )


@pytest.mark.every_engine
def test_every_chart_says_what_is_under_the_pointer_and_marks_it(shared: PageDriver) -> None:
    shared.open()
    for name, chart in BY_NAME.items():
        come(shared, name)
        at = RunAt(Run(Params()), 60)
        pointed(shared, name, 0.5, 0.5)
        said = note(shared, name)
        plain = {stop.text for stop in chart.stops(at, chart.data(at))}
        assert said in plain or "other seeds" in said, said
        right, down = mark(shared, name)
        assert abs(right - 0.5) < 0.13, name
        assert 0.3 < down < 0.7
        pointed(shared, name, 0.97, 0.5)
        assert note(shared, name) != said
        assert mark(shared, name)[0] > right + 0.2
        shared.run(
            "document.querySelector(arguments[0]).dispatchEvent("
            "new PointerEvent('pointerleave', {pointerType: 'mouse'}))",
            f"#chart-{name} .drawing",
        )
        assert said not in note(shared, name)
        assert not shared.one(f"#chart-{name} .chart-at").is_displayed()


def test_arrow_keys_say_one_value_after_the_other_and_follow_the_scene(shared: PageDriver) -> None:
    shared.open()
    come(shared, "length")
    shared.run("document.querySelector('#chart-length .drawing').focus()")
    assert note(shared, "length") == "1 draft: tokens per pass 1.80, speedup 1.64."
    first = mark(shared, "length")[0]
    drawing = shared.one("#chart-length .drawing")
    drawing.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert note(shared, "length") == "4 drafts: tokens per pass 3.36, speedup 2.40."
    assert mark(shared, "length")[0] > first + 0.1
    shared.call("set", {"c": 0.2})
    shared.until(lambda: "speedup 1.87" in note(shared, "length"))
    drawing.send_keys(Keys.END)
    assert note(shared, "length").startswith("16 drafts")
    shared.run("document.activeElement.blur()")
    assert note(shared, "length") == ""
    come(shared, "map")
    field = shared.one("#chart-map .drawing")
    shared.run("arguments[0].focus()", field)
    field.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert note(shared, "map").startswith("2 drafts at α = 0.02: ")
