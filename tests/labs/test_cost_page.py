"""The costs on a machine on the page: fields, links, own figures, the charts, the widget."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from sim.labs.cost import as_before, parts
from sim.labs.cost_settings import Asked, priced
from sim.labs.handed import scene
from tests.driver import PageDriver
from tests.labs.charts import come

RANGE = """
const field = document.querySelector(arguments[0]);
field.value = arguments[1];
field.dispatchEvent(new Event("input", { bubbles: true }));
"""


def open_lab(page: PageDriver, query: str = "?lab=cost") -> None:
    page.open(query)
    page.run("document.querySelector('#lab-cost').scrollIntoView()")
    page.until(lambda: page.one("#cost-use").is_enabled() or wrong(page) != "")


def wrong(page: PageDriver) -> str:
    """What is said below the fields, all of it."""
    said = "#cost-fields .wrong:not(:empty)"
    found = f"return [...document.querySelectorAll('{said}')].map(p => p.textContent)"
    return " ".join(page.run(found))


def shows(page: PageDriver, asked: Asked) -> bool:
    expected = parts(priced(asked))
    return all(
        page.text(f"#{name}") == expected[name]
        for name in ("cost-verdict", "cost-why", "cost-room")
    )


def choose(page: PageDriver, key: str, value: str) -> None:
    Select(page.one(f"#cost-{key}")).select_by_value(value)


def write(page: PageDriver, key: str, text: str) -> None:
    field = page.one(f"#cost-{key}")
    field.clear()
    field.send_keys(text, Keys.TAB)


def test_it_opens_where_a_batch_loses_and_follows_its_fields(shared: PageDriver) -> None:
    open_lab(shared)
    assert "slower than plain decoding" in shared.text("#cost-verdict")
    assert shows(shared, Asked())
    shared.run(RANGE, "#cost-batch", "8")
    assert shows(shared, Asked(batch=8))
    assert shared.one("#cost-batch-number").get_property("value") == "8"
    choose(shared, "machine", "L4")
    choose(shared, "draft", "ngram")
    write(shared, "k-number", "7")
    assert shows(shared, Asked(batch=8, machine="L4", draft="ngram", k=7))
    shared.one("#cost-context-number").send_keys("0", Keys.ENTER)
    assert shows(shared, Asked(batch=8, machine="L4", draft="ngram", k=7, context=2560))
    write(shared, "context-number", "256")
    shared.one("#cost-best").click()
    best = Asked(batch=8, machine="L4", draft="ngram", k=32)
    assert shows(shared, best)
    assert not shared.one("#cost-best").is_enabled()
    shared.until(lambda: "cost.k=32" in shared.run("return location.search"))
    address = shared.run("return location.search")
    assert "cost.machine=L4" in address
    assert "cost.batch=8" in address


def test_a_link_holds_the_settings_and_bad_ones_are_told(shared: PageDriver) -> None:
    open_lab(shared, "?lab=cost&cost.model=OPT-13B&cost.draft=0.05&cost.parallel=on&cost.batch=4")
    assert shows(shared, Asked(model="OPT-13B", draft="0.05", parallel=True, batch=4))
    assert shared.one("#cost-share").get_property("value") == "0.05"
    assert shared.run("return document.querySelector('#cost-parallel').checked")
    open_lab(shared, "?lab=cost&cost.machine=H1000&cost.batch=0")
    notice = shared.text("#notice")
    assert "nearest: H100-SXM" in notice
    assert "cost.batch=0" in notice


def test_own_figures_and_measurements_count_and_a_bad_one_loses_nothing(
    shared: PageDriver,
) -> None:
    open_lab(shared)
    shared.run("for (const one of document.querySelectorAll('.folds details')) one.open = true")
    write(shared, "bandwidth", "5000")
    assert shows(shared, Asked(bandwidth=5000.0))
    write(shared, "experts", "8")
    assert shared.text("#cost-wrong-top") == "experts a position: 0 of 8 experts; give 1 to 8"
    assert shared.text("#cost-verdict").startswith("With the figures as before: in a batch of 256")
    write(shared, "top", "2")
    write(shared, "expertparams", "6")
    mixed = Asked(bandwidth=5000.0, experts=8, top=2, expert_parameters=6.0)
    assert wrong(shared) == ""
    assert shows(shared, mixed)
    choose(shared, "model", "Qwen3-8B")
    assert shows(shared, Asked(bandwidth=5000.0, model="Qwen3-8B")), "another model has others"
    assert shared.one("#cost-layers").get_attribute("placeholder") == "36"
    write(shared, "curve", "1 4\n64 x")
    told = "your own curve, line 2: “64 x” is not positions"
    assert told in shared.text(".field:has(#cost-curve) > #cost-wrong-curve")
    assert shared.one("#cost-curve").get_property("value") == "1 4\n64 x"
    priced_without = priced(Asked(bandwidth=5000.0, model="Qwen3-8B"))
    assert shared.text("#cost-verdict") == as_before(priced_without, "curve")
    assert shared.text("#cost-why") == parts(priced_without)["cost-why"]
    write(shared, "curve", "1 4\n64 5\n4096 40")
    curve = ((1.0, 4.0), (64.0, 5.0), (4096.0, 40.0))
    assert shows(shared, Asked(bandwidth=5000.0, model="Qwen3-8B", curve=curve))
    write(shared, "batch-number", "many")
    field = shared.one("#cost-batch-number")
    assert field.get_attribute("aria-invalid") == "true"
    described = field.get_attribute("aria-describedby")
    told = "batch: many is not a whole number from 1 to 512; it stays 256."
    assert shared.text(f".field:has(#cost-batch-number) > #{described}") == told
    assert shows(shared, Asked(bandwidth=5000.0, model="Qwen3-8B", curve=curve))
    write(shared, "k-number", "6")
    assert field.get_property("value") == "many", "another field leaves it to be mended"
    assert wrong(shared) == told
    shared.run(RANGE, "#cost-batch", "64")
    assert field.get_property("value") == "64"
    assert field.get_attribute("aria-invalid") is None
    assert wrong(shared) == ""
    assert shows(shared, Asked(bandwidth=5000.0, model="Qwen3-8B", curve=curve, batch=64, k=6))


def test_the_charts_show_the_scene_and_the_engines_can_be_copied(shared: PageDriver) -> None:
    open_lab(shared)
    for name in ("cost-pass", "cost-batch", "cost-measured"):
        come(shared, name)
    cells = "return document.querySelector('#chart-cost-pass tbody').textContent"
    assert "batch × (k + 1) = 1280" in shared.run(cells)
    come(shared, "cost-pass")
    shared.run(RANGE, "#cost-k", "2")
    assert "batch × (k + 1) = 768" in shared.run(cells)
    assert "num_speculative_tokens_per_batch_size" in shared.text("#cost-engine-0")
    assert "STANDALONE" in shared.text("#cost-engine-1")
    assert "--spec-draft-n-max" in shared.text("#cost-engine-2")
    keep = "(text) => { window.copied = text; return Promise.resolve() }"
    shared.run(f"navigator.clipboard.writeText = {keep}")
    shared.run("document.querySelector('[data-copy=cost-engine-2]').click()")
    shared.until(lambda: shared.run("return window.copied") == shared.text("#cost-engine-2"))


def test_the_widget_takes_the_scene(shared: PageDriver) -> None:
    open_lab(shared, "?seed=7")
    shared.run("document.querySelector('#cost-use').click()")
    state = shared.state()
    expected = scene(priced(Asked()))
    assert expected is not None
    params = state["params"]
    assert params["draft_cost"] == expected["c"]
    assert (params["batch_size"], params["knee"]) == (256, expected["knee"])
    assert (params["draft_length"], params["acceptance_rate"], params["seed"]) == (4, 0.8, 7)
    assert abs(state["theory_speedup"] - priced(Asked()).speedup) < 0.01
