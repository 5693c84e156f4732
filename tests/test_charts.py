"""The charts are valid, true to the model, and follow the scene."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from sim.charts import CHARTS, LENGTHS, RATES, SPEEDUP, TOKENS, length_data, map_data
from sim.marks import PALETTES
from sim.params import Params
from sim.theory import expected_speedup, expected_tokens_per_pass
from tests import browsers
from tests.__main__ import NODE
from tests.conftest import PageDriver
from tests.test_failures import Serve, faulty, missing, page_with
from tests.test_page import scene

__all__ = ["faulty"]

SCHEMA = NODE / "node_modules" / "vega-lite" / "build" / "vega-lite-schema.json"
SETTINGS = [
    Params(),
    Params(draft_length=12, acceptance_rate=0.6, draft_cost=0.1),
    Params(batch_size=64, knee=32, draft_cost=0.05),
    Params(kv_cache=False),
    Params(speculation=False),
    Params(draft_length=20, acceptance_rates=(0.9, 0.5)),
]


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_specification_is_valid_with_its_data(chart: Any, theme: str) -> None:
    if not SCHEMA.exists():
        if os.environ.get("CI"):
            pytest.fail("the schema of Vega-Lite is not installed")
        pytest.skip("the schema of Vega-Lite is not installed; run: python3 -m tests")
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))
    for params in SETTINGS:
        spec = {**chart.spec(PALETTES[theme]), "datasets": chart.data(params)}
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


@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_every_chart_has_its_numbers_as_a_table(params: Params) -> None:
    for chart in CHARTS:
        table = chart.table(params)
        assert len(table.rows) > 5
        assert all(len(row) == len(table.columns) for row in table.rows)


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


def points(page: PageDriver) -> list[str]:
    """Where the points of the first chart are."""
    return list(
        page.run(
            "return [...document.querySelectorAll('#chart-length .mark-symbol path')]"
            ".map((mark) => mark.getAttribute('transform')).filter(Boolean)"
        )
    )


def test_nothing_is_loaded_for_charts_before_one_is_near(shared: PageDriver) -> None:
    shared.open()
    shared.frames(5)
    asked = "return performance.getEntriesByType('resource').map((e) => e.name).join()"
    assert "vega" not in shared.run(asked)
    come(shared, "length")
    assert "vega-embed" in shared.run(asked)


def test_the_charts_follow_the_scene(shared: PageDriver) -> None:
    shared.open()
    come(shared, "length")
    before = points(shared)
    assert len(before) >= 2
    shared.call("set", {"k": 9, "c": 0.1})
    shared.until(lambda: points(shared) != before)
    params = Params(draft_length=9, draft_cost=0.1)
    shared.until(lambda: told(shared, "length") == CHARTS[0].table(params).rows)
    come(shared, "map")
    shared.until(lambda: told(shared, "map") == CHARTS[1].table(params).rows)
    shared.call("set", {"batch": 256})
    wanted = CHARTS[1].table(replace(params, batch_size=256)).rows
    shared.until(lambda: told(shared, "map") == wanted)


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
        ".map((line) => line.getAttribute('stroke'))"
    )
    wanted = {PALETTES["light"]["accepted"], PALETTES["light"]["bonus"]}
    shared.until(lambda: set(shared.run(lines)) == wanted)
    shared.call("set", {"theme": "dark"})
    wanted = {PALETTES["dark"]["accepted"], PALETTES["dark"]["bonus"]}
    shared.until(lambda: set(shared.run(lines)) == wanted)


def test_without_its_library_a_chart_says_so_and_keeps_its_numbers(faulty: Serve) -> None:
    page = faulty(missing("/static/vendor/vega-lite/vega-lite.min.js"))
    page.open()
    page.run("document.querySelector('#chart-length').scrollIntoView({block: 'center'})")
    page.until(lambda: "could not be drawn" in page.text("#chart-length .drawing"))
    assert "vega-lite.min.js" in page.text("#chart-length .drawing")
    assert told(page, "length") == CHARTS[0].table(Params()).rows
    assert page.run("return document.documentElement.dataset.state") == "ready"
    assert not page.one("#failure").is_displayed()


def test_charts_break_no_rule_of_the_policy(faulty: Serve) -> None:
    watch = (
        "addEventListener('securitypolicyviolation', ({ violatedDirective, sourceFile }) => {"
        "  const seen = document.documentElement.dataset;"
        "  seen.violation = `${seen.violation ?? ''} ${violatedDirective} ${sourceFile}`; })"
    )
    page = faulty(page_with(watch))
    page.open()
    for name in ("length", "map"):
        come(page, name)
    page.call("set", {"k": 2, "c": 0.3, "theme": "dark"})
    page.frames(10)
    assert page.run("return document.documentElement.dataset.violation ?? ''") == ""


@pytest.mark.chromium_only("the window cannot be made so narrow")
def test_charts_fit_a_phone(shared: PageDriver) -> None:
    try:
        browsers.resize(shared.driver, 360, 740)
        shared.open()
        for name in ("length", "map"):
            come(shared, name)
        assert shared.run("return document.documentElement.scrollWidth") <= 360
    finally:
        browsers.resize(shared.driver, 1280, 720)
