"""The charts are valid, true to the model, and follow the scene."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import jsonschema
import pytest

from sim.chart import OTHERS, Chart, Data, Table
from sim.host.vendor import read_parts
from sim.labs.charts import (
    CHARTS,
    LENGTHS,
    RATES,
    SPEEDUP,
    TOKENS,
    length_data,
    map_data,
    map_table,
)
from sim.labs.ensemble import ensemble
from sim.labs.run_charts import (
    OFF,
    ON,
    TICKS,
    RunAt,
    luck_data,
    luck_spread,
    position_data,
    yield_data,
    yield_spread,
)
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.theory import chances_of_tokens, expected_speedup, expected_tokens_per_pass
from sim.work import finish
from tests import browsers
from tests.__main__ import NODE
from tests.conftest import PageDriver
from tests.test_failures import Serve, assert_policy_kept, faulty, missing, page_with
from tests.test_page import scene

__all__ = ["faulty"]

(NUMPY,) = [part.path for part in read_parts()[1] if part.name == "numpy"]
SCHEMA = NODE / "node_modules" / "vega-lite" / "build" / "vega-lite-schema.json"
SETTINGS = [
    Params(),
    Params(draft_length=12, acceptance_rate=0.6, draft_cost=0.1),
    Params(batch_size=64, knee=32, draft_cost=0.05),
    Params(kv_cache=False),
    Params(speculation=False),
    Params(draft_length=20, acceptance_rates=(0.9, 0.5)),
]
RUNS = [*SETTINGS[:2], *SETTINGS[3:], Params(evictions=(30, 55, 100), recompute_chunk=16)]
BY_NAME = {chart.name: chart for chart in CHARTS}
NEAR = tuple(BY_NAME)


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_specification_is_valid_with_its_data(chart: Any, theme: str) -> None:
    if not SCHEMA.exists():
        if os.environ.get("CI"):
            pytest.fail("the schema of Vega-Lite is not installed")
        pytest.skip("the schema of Vega-Lite is not installed; run: python3 -m tests")
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))
    for params in SETTINGS if theme == "light" else SETTINGS[:2]:  # they differ in colours alone
        run = Run(params)
        data = chart.data(RunAt(run, 60))
        if chart.spread:
            data[OTHERS] = finish(chart.spread(RunAt(run, 60)))
        spec = {**chart.spec(PALETTES[theme]), "datasets": data}
        assert spec["description"]
        assert validator.is_valid(json.loads(json.dumps(spec)))
        named = {layer["data"]["name"] for layer in spec["layer"] if "data" in layer}
        assert named == set(spec["datasets"])
    assert not validator.is_valid({**spec, "layer": [{"mark": "blob"}]})


@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_the_lines_are_the_theory(params: Params) -> None:
    data = length_data(params)
    assert {row["k"] for row in data["lines"]} == set(LENGTHS)
    for row in data["lines"]:
        there = replace(params, speculation=True, draft_length=row["k"])
        wanted = {TOKENS: expected_tokens_per_pass(there.rates), SPEEDUP: expected_speedup(there)}
        assert row["value"] == wanted[row["measure"]]
    measures = {row["measure"] for row in data["lines"]}
    assert measures == ({TOKENS, SPEEDUP} if params.kv_cache else {TOKENS})
    placed = params.speculation and params.draft_length in LENGTHS
    assert len(data["here"]) == (len(measures) if placed else 0)


@pytest.mark.parametrize("params", SETTINGS[:3], ids=range(3))
def test_the_map_is_the_theory_its_line_is_at_one_and_its_ridge_is_best(params: Params) -> None:
    data = map_data(params)
    assert len(data["cells"]) == len(LENGTHS) * len(RATES) == 16 * 99
    base = replace(params, acceptance_rates=())

    def speedup(k: int, rate: float) -> float:
        found = expected_speedup(replace(base, draft_length=k, acceptance_rate=rate))
        assert found is not None
        return found

    for row in data["cells"]:
        assert row["speedup"] == round(speedup(row["k"], row["alpha"]), 3)
    for row in data["even"]:
        assert speedup(row["k"], row["alpha"]) == pytest.approx(1, abs=2e-3)
    for row in data["best"]:
        most = max(speedup(k, row["alpha"]) for k in LENGTHS)
        assert speedup(row["k"], row["alpha"]) == pytest.approx(most, rel=1e-12)
    assert data["here"] == [{"k": params.draft_length, "alpha": params.acceptance_rate}]


def test_a_scene_without_a_place_on_the_map_is_not_put_there() -> None:
    for params in SETTINGS[4:]:
        assert map_data(params)["here"] == []


@pytest.mark.parametrize("tick", [0, 1, 60, 1200])
@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_every_chart_has_its_numbers_as_a_table(params: Params, tick: int) -> None:
    for chart in CHARTS:
        run = Run(params)
        rows = table_of(chart, run, tick).rows
        assert len(rows) >= (len(params.rates) + 1 if chart.name == "yields" else 5)
        assert all(
            len(row) == len(chart.table(RunAt(run, tick), data_of(chart, run, tick)).columns)
            for row in rows
        )


def data_of(chart: Chart[RunAt], run: Run, tick: int) -> Data:
    """All rows of a chart, those of the thousand runs among them."""
    at = RunAt(run, tick)
    return chart.data(at) | ({OTHERS: finish(chart.spread(at))} if chart.spread else {})


def table_of(chart: Chart[RunAt], run: Run, tick: int) -> Table:
    return chart.table(RunAt(run, tick), data_of(chart, run, tick))


@pytest.mark.parametrize("params", RUNS, ids=range(len(RUNS)))
@pytest.mark.parametrize("tick", [1, 7, 300, 1200])
def test_the_yields_are_counted_and_their_chances_are_the_theory(params: Params, tick: int) -> None:
    run = Run(params)
    data = yield_data(run, tick)
    records = [record for at in range(1, tick + 1) if (record := run.verify_pass_at(at))]
    for row in data["here"]:
        found = sum(record.accepted + 1 == row["tokens"] for record in records)
        assert row["share"] == found / len(records)
    mean = sum(row["tokens"] * row["share"] for row in data["here"])
    assert mean == pytest.approx(run.report(tick)["tokens_per_pass"])
    mean = sum(row["tokens"] * row["share"] for row in data["theory"])
    assert mean == pytest.approx(expected_tokens_per_pass(params.rates))


@pytest.mark.parametrize("params", RUNS, ids=range(len(RUNS)))
def test_the_line_of_luck_is_the_run_and_nothing_that_is_still_to_come(params: Params) -> None:
    run = Run(params)
    assert luck_data(run, 0)["run"] == luck_data(run, 0)["here"] == []
    for tick in (1, 7, 300, 1200):
        data = luck_data(run, tick)
        assert data["run"][0]["tick"] == 1
        for row in data["run"]:
            assert row["value"] == run.report(row["tick"])["tokens_per_pass"]
        assert data["here"] == data["run"][-1:]
        # The chart spans the bands before they are there, so that it does not jump.
        highest = max(row["high"] for row in finish(luck_spread(run, tick)))
        assert data["range"][1]["value"] == pytest.approx(highest, abs=1)
        assert data["here"][0]["tick"] == tick


def test_the_spread_is_that_of_the_thousand_and_holds_about_nine_runs_in_ten() -> None:
    params = Params(evictions=(100,))
    runs = finish(ensemble(params))
    for row in finish(luck_spread(Run(params), 60)):
        values = runs.tokens_per_pass(row["tick"])
        inside = ((row["low"] <= values) & (values <= row["high"])).mean()
        assert 0.9 <= inside < (0.93 if row["tick"] > 60 else 1.01)
        half = ((row["lower"] <= values) & (values <= row["upper"])).mean()
        assert 0.5 <= half < (0.6 if row["tick"] > 60 else 1.01)
        assert row["low"] <= row["lower"] <= row["upper"] <= row["high"]
    # Other seeds of the scalar core fall where the thousand say: 90 of 100, 5 standard deviations.
    tick = TICKS[-12]
    row = next(row for row in finish(luck_spread(Run(params), 60)) if row["tick"] == tick)
    inside = sum(
        row["low"] <= Run(replace(params, seed=seed)).report(tick)["tokens_per_pass"] <= row["high"]
        for seed in range(100)
    )
    assert 75 <= inside <= 100
    for row in finish(yield_spread(Run(params), tick)):
        assert row["low"] <= chances_of_tokens(params.rates)[row["tokens"] - 1] <= row["high"]
    assert finish(yield_spread(Run(params), 0)) == []


@pytest.mark.parametrize("params", RUNS, ids=range(len(RUNS)))
def test_the_lines_of_positions_are_two_runs_with_one_luck(params: Params) -> None:
    data = position_data(Run(params), 60)
    for cache, kept in ((ON, True), (OFF, False)):
        run = Run(replace(params, kv_cache=kept))
        states = {run.at(t).num_tokens - 1: run.at(t).positions_computed for t in range(1, 1201)}
        if kept:  # positions of a tick that wrote nothing belong to the tick before it
            for t in range(1200, 0, -1):
                states[run.at(t).num_tokens - 1] = run.at(t).positions_computed
        rows = [row for row in data["lines"] if row["cache"] == cache]
        assert len(rows) > 30
        assert all(states[row["tokens"]] == row["positions"] for row in rows)
        steps = [after["tokens"] - before["tokens"] for before, after in pairwise(rows)]
        assert max(steps) < 16 + len(params.rates) + 1
    (here,) = data["here"]
    report = Run(params).report(60)
    assert (here["tokens"], here["positions"]) == (report["tokens"], report["positions_computed"])
    assert here["cache"] == (ON if params.kv_cache else OFF)
    assert (
        position_data(Run(Params()), 0)["here"] == position_data(Run(Params()), 1200)["here"] == []
    )


def rows_of(name: str, params: Params, tick: int = 60) -> list[list[str]]:
    return table_of(BY_NAME[name], Run(params), tick).rows


# The page


def come(page: PageDriver, name: str) -> None:
    """Scroll to a chart and wait until it is drawn."""
    page.run(f"document.querySelector('#chart-{name}').scrollIntoView({{block: 'center'}})")
    shown = f"return !!document.querySelector('#chart-{name} .drawing :is(svg, canvas)')"
    page.until(lambda: page.run(shown), 30)
    page.frames(3)
    inside = page.run(
        "const box = (selector) => document.querySelector(selector).getBoundingClientRect();"
        "const [figure, drawn] = [box(arguments[0]), box(`${arguments[0]} :is(svg, canvas)`)];"
        "return [drawn.height - 150, drawn.width - figure.width * 0.8, drawn.top - figure.top,"
        " figure.bottom - drawn.bottom, figure.right + 1 - drawn.right]",
        f"#chart-{name}",
    )
    assert min(inside) >= 0, inside


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


def test_nothing_is_loaded_for_charts_before_one_is_near(shared: PageDriver) -> None:
    shared.open()
    shared.frames()
    here = shared.run("return performance.now()")
    come(shared, "length")
    since = asked_for(shared, "/vega")
    assert len(since) >= 3
    assert min(since) > here


def test_the_charts_follow_the_scene(shared: PageDriver) -> None:
    shared.open()
    come(shared, "length")
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


def test_the_charts_of_luck_follow_the_scene_and_its_thousand_others(shared: PageDriver) -> None:
    shared.open("?tick=200")
    shared.frames()
    here = shared.run("return performance.now()")
    for name in ("yields", "luck"):
        come(shared, name)
        wanted = rows_of(name, Params(), 200)
        shared.until(partial(shows, shared, name, wanted), 30)
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


def test_the_chart_of_positions_follows_the_scene(shared: PageDriver) -> None:
    shared.open("?tick=100")
    come(shared, "positions")
    shared.until(lambda: told(shared, "positions") == rows_of("positions", Params(), 100))
    shared.call("evict")
    params = Params(evictions=(100,))
    assert rows_of("positions", params) != rows_of("positions", Params())
    shared.until(lambda: told(shared, "positions") == rows_of("positions", params, 100))


def test_charts_follow_a_run_that_plays(shared: PageDriver) -> None:
    shared.open("?tick=0&speed=60")
    come(shared, "luck")
    before = rows_of("luck", Params(), 0)
    shared.until(partial(shows, shared, "luck", before), 30)
    shared.call("play")
    shared.until(lambda: told(shared, "luck") != before)
    assert shared.run("return document.documentElement.matches('.playing')")
    shared.call("pause")
    tick = shared.state()["tick"]
    shared.until(lambda: told(shared, "luck") == rows_of("luck", Params(), tick), 30)


@pytest.mark.parametrize("lost", [NUMPY, "static/vendor/pyodide/python_stdlib.zip"])
def test_without_numpy_the_charts_of_luck_say_so_and_show_the_rest(
    faulty: Serve, lost: str
) -> None:
    page = faulty(missing(f"/{lost}"))
    page.open()
    come(page, "luck")
    page.until(lambda: "could not be run" in page.text("#chart-luck .chart-note"), 30)
    assert lost.split("/")[-1] in page.text("#chart-luck .chart-note")
    chart = BY_NAME["luck"]
    at = RunAt(Run(Params()), 60)
    assert told(page, "luck") == chart.table(at, chart.data(at)).rows
    page.call("set", {"k": 2})
    other = RunAt(Run(Params(draft_length=2)), 60)
    page.until(lambda: told(page, "luck") == chart.table(other, chart.data(other)).rows)
    assert page.run("return document.documentElement.dataset.state") == "ready"
    assert not page.one("#failure").is_displayed()


def test_a_click_on_the_map_goes_there(shared: PageDriver) -> None:
    shared.open("?c=0.1&rates=0.9,0.5")
    come(shared, "map")
    shared.run(
        "const canvas = document.querySelector('#chart-map canvas');"
        "const box = canvas.getBoundingClientRect();"
        "const at = {clientX: box.left + box.width * 0.5, clientY: box.top + box.height * 0.5,"
        "  bubbles: true};"
        "for (const kind of ['pointermove', 'mousemove', 'pointerdown', 'mousedown', 'pointerup',"
        "  'mouseup', 'click']) canvas.dispatchEvent(new MouseEvent(kind, at))"
    )
    shared.until(lambda: not shared.state()["params"]["acceptance_rates"])
    params = shared.state()["params"]
    assert 5 <= params["draft_length"] <= 11
    assert 0.3 < params["acceptance_rate"] < 0.8
    query = {"c": 0.1, "k": params["draft_length"], "alpha": params["acceptance_rate"]}
    assert shared.state() == scene(query, 60)


def test_charts_take_the_colours_of_the_page(shared: PageDriver) -> None:
    shared.open("?theme=light")
    come(shared, "length")
    lines = (
        "return [...document.querySelectorAll('#chart-length .mark-line path')]"
        ".map((line) => getComputedStyle(line).stroke)"
    )
    for theme in ("light", "dark"):
        shared.call("set", {"theme": theme})
        wanted = {rgb(PALETTES[theme]["accepted"]), rgb(PALETTES[theme]["bonus"])}
        shared.until(partial(coloured, shared, lines, wanted))
    come(shared, "map")
    middle = (
        "const canvas = document.querySelector('#chart-map canvas');"
        "const at = [canvas.width - 40, canvas.height - 60, 1, 1];"
        "return [...canvas.getContext('2d').getImageData(...at).data].slice(0, 3)"
    )
    dark = shared.run(middle)
    shared.call("set", {"theme": "light"})
    shared.until(lambda: sum(shared.run(middle)) > sum(dark) + 300)


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


def test_each_drawn_chart_is_one_image_with_a_name_and_a_named_table(shared: PageDriver) -> None:
    shared.open()
    for name, chart in BY_NAME.items():
        come(shared, name)
        told_of = shared.run(
            "const figure = document.querySelector(arguments[0]);"
            "const drawing = figure.querySelector('.drawing');"
            "return [drawing.getAttribute('role'), drawing.getAttribute('aria-label'),"
            " drawing.getAttribute('aria-roledescription'),"
            " figure.querySelector('caption').textContent,"
            " [...drawing.querySelectorAll('svg, canvas')].map((d) => d.ariaHidden)]",
            f"#chart-{name}",
        )
        description = chart.spec(PALETTES["light"])["description"]
        assert told_of == ["img", description, None, chart.title, ["true"]]
        assert not shared.driver.find_elements("css selector", f"#chart-{name} form")


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
    page.until(partial(shows, page, "luck", rows_of("luck", Params())))
    page.call("set", {"k": 2, "c": 0.3, "theme": "dark"})
    page.frames()
    assert_policy_kept(page)


@pytest.mark.chromium_only("the window cannot be made so narrow")
def test_charts_fit_a_phone(shared: PageDriver) -> None:
    try:
        browsers.resize(shared.driver, 360, 740)
        shared.open()
        for name in NEAR:
            come(shared, name)
        assert shared.run("return document.documentElement.scrollWidth") <= 360
    finally:
        browsers.resize(shared.driver, 1280, 720)
