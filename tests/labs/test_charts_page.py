"""The charts on the page follow the scene, and say what is missing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from sim.host.vendor import read_parts
from sim.labs.map_chart import map_table
from sim.labs.run_charts import RunAt
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from tests import browsers
from tests.driver import PageDriver
from tests.faults import Serve, assert_policy_kept, missing, page_with
from tests.labs.charts import BY_NAME, NEAR, come, table_of
from tests.shown import scene

(NUMPY,) = [part.path for part in read_parts()[1] if part.name == "numpy"]


def rows_of(name: str, params: Params, tick: int = 60) -> list[list[str]]:
    return table_of(BY_NAME[name], Run(params), tick).rows


def told(page: PageDriver, name: str) -> list[list[str]]:
    """The table of a chart, as it stands."""
    found = page.run(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))",
        f"#chart-{name} tbody tr",
    )
    return list(found)


def shows(page: PageDriver, name: str, rows: list[list[str]]) -> bool:
    """Whether the table of a chart says this."""
    return told(page, name) == rows


def rgb(colour: str) -> str:
    """A colour as browsers write it."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def coloured(page: PageDriver, script: str, colours: set[str]) -> bool:
    """Whether a script gives these colours."""
    return set(page.run(script)) == colours


def points(page: PageDriver) -> list[str]:
    """Where the points of the first chart are."""
    return list(
        page.run(
            "return [...document.querySelectorAll('#chart-length .mark-symbol path')]"
            ".map((mark) => mark.getAttribute('transform')).filter(Boolean)"
        )
    )


def asked_for(page: PageDriver, mark: str) -> list[float]:
    """When files with this mark in their address were asked for, in the page's time."""
    found = page.run(
        "return performance.getEntriesByType('resource')"
        ".filter(({ name }) => name.includes(arguments[0])).map(({ startTime }) => startTime)",
        mark,
    )
    return list(found)


@pytest.mark.every_engine
def test_nothing_comes_before_a_chart_is_near_which_then_follows_the_scene_and_a_click_goes_there(
    shared: PageDriver,
) -> None:
    shared.open()
    shared.frames()
    here = shared.run("return performance.now()")
    come(shared, "length")
    since = asked_for(shared, "/vega")
    assert len(since) >= 3
    assert min(since) > here
    before = points(shared)
    assert len(before) >= 2
    shared.call("set", {"k": 9, "c": 0.1})
    shared.until(lambda: points(shared) != before)
    params = Params(draft_length=9, draft_cost=0.1)
    shared.until(lambda: told(shared, "length") == rows_of("length", params))
    come(shared, "map")
    shared.until(lambda: told(shared, "map") == rows_of("map", params))
    shared.call("set", {"batch": 256})
    wanted = rows_of("map", replace(params, batch_size=256))
    shared.until(lambda: told(shared, "map") == wanted)
    check_click_on_map(shared)
    shared.call("reset")
    shared.call("seek", 100)
    come(shared, "positions")
    shared.until(lambda: told(shared, "positions") == rows_of("positions", Params(), 100))
    shared.call("evict")
    evicted = Params(evictions=(100,))
    assert rows_of("positions", evicted, 100) != rows_of("positions", Params(), 100)
    shared.until(lambda: told(shared, "positions") == rows_of("positions", evicted, 100))


def check_click_on_map(page: PageDriver) -> None:
    """A click in the middle of the map sets its length and its rate, which is one for all then."""
    page.call("reset")
    page.call("set", {"c": 0.1, "rates": [0.9, 0.5]})
    wanted = rows_of("map", Params(draft_cost=0.1, acceptance_rates=(0.9, 0.5)))
    page.until(lambda: told(page, "map") == wanted)
    page.run(
        "const canvas = document.querySelector('#chart-map canvas');"
        "const box = canvas.getBoundingClientRect();"
        "const at = {clientX: box.left + box.width * 0.5, clientY: box.top + box.height * 0.5,"
        "  bubbles: true};"
        "for (const kind of ['pointermove', 'mousemove', 'pointerdown', 'mousedown', 'pointerup',"
        "  'mouseup', 'click']) canvas.dispatchEvent(new MouseEvent(kind, at))"
    )
    page.until(lambda: not page.state()["params"]["acceptance_rates"])
    params = page.state()["params"]
    assert 5 <= params["draft_length"] <= 11
    assert 0.3 < params["acceptance_rate"] < 0.8
    query = {"c": 0.1, "k": params["draft_length"], "alpha": params["acceptance_rate"]}
    assert page.state() == scene(query, 60)


@pytest.mark.every_engine
def test_the_charts_of_luck_follow_the_scene_and_its_thousand_others(shared: PageDriver) -> None:
    shared.open("?tick=200")
    shared.frames()
    here = shared.run("return performance.now()")
    for name in ("yields", "luck"):
        come(shared, name)
        wanted = rows_of(name, Params(), 200)
        shared.until(partial(shows, shared, name, wanted))
    assert min(asked_for(shared, "/numpy")) > here
    assert shared.text("#chart-luck .chart-note") == ""
    shared.call("set", {"k": 7, "alpha": 0.6, "evict": [50]})
    params = Params(draft_length=7, acceptance_rate=0.6, evictions=(50,))
    shared.until(lambda: told(shared, "luck") == rows_of("luck", params, 200))
    come(shared, "yields")
    shared.until(lambda: told(shared, "yields") == rows_of("yields", params, 200))
    shared.call("seek", 0)
    shared.until(partial(shows, shared, "yields", rows_of("yields", params, 0)))
    shared.call("seek", 200)
    shared.until(partial(shows, shared, "yields", rows_of("yields", params, 200)))
    bands = "return document.querySelectorAll('#chart-yields .mark-rule.role-mark line').length"
    shared.until(lambda: shared.run(bands) == 16)  # eight, and a ground for each


def test_charts_follow_a_run_that_plays(shared: PageDriver) -> None:
    shared.open("?tick=0&speed=60")
    come(shared, "luck")
    before = rows_of("luck", Params(), 0)
    shared.until(partial(shows, shared, "luck", before))
    shared.call("play")
    shared.until(lambda: told(shared, "luck") != before)
    assert shared.run("return document.documentElement.matches('.playing')")
    shared.call("pause")
    tick = shared.state()["tick"]
    shared.until(lambda: told(shared, "luck") == rows_of("luck", Params(), tick))


@pytest.mark.parametrize("lost", [NUMPY, "static/vendor/pyodide/python_stdlib.zip"])
def test_without_numpy_the_charts_of_luck_say_so_and_show_the_rest(
    faulty: Serve, lost: str
) -> None:
    page = faulty(missing(f"/{lost}"))
    page.open()
    come(page, "luck")
    page.until(lambda: "could not be run" in page.text("#chart-luck .chart-note"))
    assert lost.split("/")[-1] in page.text("#chart-luck .chart-note")
    chart = BY_NAME["luck"]
    at = RunAt(Run(Params()), 60)
    assert told(page, "luck") == chart.table(at, chart.data(at)).rows
    page.call("set", {"k": 2})
    other = RunAt(Run(Params(draft_length=2)), 60)
    page.until(lambda: told(page, "luck") == chart.table(other, chart.data(other)).rows)
    assert page.run("return document.documentElement.dataset.state") == "ready"
    assert not page.one("#failure").is_displayed()


@pytest.mark.chromium_only("colours cannot be forced from outside")
def test_with_forced_colours_the_map_still_tells_winning_from_losing(page: PageDriver) -> None:
    features = [{"name": "forced-colors", "value": "active"}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        page.call("set", {"c": 0.05})
        come(page, "map")
        sampled = (
            "const canvas = document.querySelector('#chart-map canvas');"
            "const [w, h] = [canvas.width, canvas.height];"
            "return [0.3, 0.8].map((share) => {"
            "  const area = [Math.round(w * 0.9), Math.round(h * share), 1, 1];"
            "  return canvas.getContext('2d').getImageData(...area).data[0]; })"
        )
        page.until(lambda: page.run(sampled)[0] < page.run(sampled)[1] - 40)
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_without_its_library_a_chart_says_so_and_keeps_its_numbers(faulty: Serve) -> None:
    page = faulty(missing("/static/vendor/vega-lite/vega-lite.min.js"))
    page.open()
    page.run("document.querySelector('#chart-length').scrollIntoView({block: 'center'})")
    page.until(lambda: "could not be drawn" in page.text("#chart-length .drawing"))
    assert "vega-lite.min.js" in page.text("#chart-length .drawing")
    assert told(page, "length") == rows_of("length", Params())
    assert page.run("return document.documentElement.dataset.state") == "ready"
    assert not page.one("#failure").is_displayed()


@pytest.mark.chromium_only("the window cannot be made so narrow")
def test_each_drawn_chart_fits_a_phone_and_is_one_image_with_a_name_and_a_named_table(
    page: PageDriver,
) -> None:
    try:
        browsers.resize(page.driver, 360, 740)
        page.open()
        for name, chart in BY_NAME.items():
            come(page, name)
            told_of = page.run(
                "const figure = document.querySelector(arguments[0]);"
                "const drawing = figure.querySelector('.drawing');"
                "return [drawing.getAttribute('role'), drawing.getAttribute('aria-label'),"
                " drawing.getAttribute('aria-roledescription'), drawing.tabIndex,"
                " figure.querySelector('caption').textContent,"
                " [...drawing.querySelectorAll('svg, canvas')].map((d) => d.ariaHidden)]",
                f"#chart-{name}",
            )
            description = chart.spec(PALETTES["light"])["description"]
            name_of = f"{description} Arrow keys move through its values."
            assert told_of == ["application", name_of, None, 0, chart.title, ["true"]]
            assert not page.driver.find_elements("css selector", f"#chart-{name} form")
        assert page.run("return document.documentElement.scrollWidth") <= 360
    finally:
        browsers.resize(page.driver, 1280, 720)


def test_a_chart_takes_another_width_when_it_is_near_and_not_before(page: PageDriver) -> None:
    width = "return Number(document.querySelector('#chart-length svg').getAttribute('width'))"
    try:
        come(page, "length")
        before = page.run(width)
        page.run("scrollTo(0, document.documentElement.scrollHeight)")
        page.frames()
        browsers.resize(page.driver, 360, 740)
        page.frames(6)
        assert page.run(width) == before > 360
        come(page, "length")
        assert page.run(width) < 360
    finally:
        browsers.resize(page.driver, 1280, 720)


def test_a_map_without_a_best_length_says_so(shared: PageDriver) -> None:
    shared.open("?c=0")
    come(shared, "map")
    shared.until(lambda: "the longer, the better" in told(shared, "map")[0][1])
    shared.call("set", {"batch": 512, "knee": 1})
    shared.until(lambda: "none gains" in told(shared, "map")[8][1])


def test_a_row_of_the_map_s_table_goes_there_as_a_click_does(shared: PageDriver) -> None:
    shared.open("?c=0.1&batch=8&rates=0.9,0.5&tick=77")
    come(shared, "map")
    shared.run("document.querySelector('#chart-map details').open = true")
    row = map_table(Params(draft_cost=0.1, batch_size=8), 77).rows[6]
    link = "document.querySelectorAll('#chart-map tbody a')[6]"
    shared.call("set", {"batch": 9})
    shared.call("set", {"batch": 8})
    shared.frames(3)
    shared.run(f"{link}.focus(); {link}.click()")
    query = {"c": 0.1, "batch": 8, "alpha": row[0], "k": row[1]}
    shared.until(lambda: shared.state() == scene(query, 77))
    shared.call("set", {"batch": 16})
    wanted = map_table(Params(draft_cost=0.1, batch_size=16), 77).rows
    shared.until(partial(shows, shared, "map", wanted))
    assert shared.run(f"return document.activeElement === {link}")


@pytest.mark.every_engine
def test_charts_take_the_colours_of_the_page(shared: PageDriver) -> None:
    shared.open("?theme=light")
    come(shared, "length")
    lines = (
        "return [...document.querySelectorAll('#chart-length .mark-line path')]"
        ".map((line) => getComputedStyle(line).stroke)"
    )
    for theme in ("light", "dark"):
        shared.call("set", {"theme": theme})
        wanted = {rgb(PALETTES[theme]["proposed"]), rgb(PALETTES[theme]["ink"])}
        shared.until(partial(coloured, shared, lines, wanted))
    come(shared, "map")
    middle = (
        "const canvas = document.querySelector('#chart-map canvas');"
        "const at = [canvas.width - 40, canvas.height / 2, 1, 1];"
        "return [...canvas.getContext('2d').getImageData(...at).data].slice(0, 3)"
    )
    dark = shared.run(middle)
    shared.call("set", {"theme": "light"})
    shared.until(lambda: sum(shared.run(middle)) > sum(dark) + 300)


@pytest.mark.every_engine
def test_charts_break_no_rule_of_the_policy(faulty: Serve) -> None:
    watch = (
        "addEventListener('securitypolicyviolation', (event) => {"
        "  const seen = document.documentElement.dataset;"
        "  const { violatedDirective, blockedURI } = event;"
        "  seen.violation = `${seen.violation ?? ''} ${violatedDirective} ${blockedURI}`; })"
    )
    page = faulty(page_with(watch))
    page.open()
    for name in NEAR:
        come(page, name)
        page.run("document.querySelector(arguments[0]).focus()", f"#chart-{name} .drawing")
        assert page.one(f"#chart-{name} .chart-at").is_displayed()
    come(page, "luck")
    page.until(partial(shows, page, "luck", rows_of("luck", Params())))
    page.call("set", {"k": 2, "c": 0.3, "theme": "dark"})
    page.frames()
    assert_policy_kept(page)
