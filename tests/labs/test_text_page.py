"""A real model on the page: it writes what the command writes, and what it does can be changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from sim.cache import ACCEPTED, BONUS, PLAIN
from sim.labs import cost_settings
from sim.labs.cost import parts
from sim.labs.cost_settings import priced, settled
from sim.labs.text import report
from sim.labs.text_chart import WIDTHS
from sim.labs.text_measured import rates
from sim.labs.text_run import models_of, stored, write
from sim.labs.text_settings import Asked
from sim.labs.writer import Models, Writer
from sim.theory import expected_tokens_per_pass
from sim.work import finish
from tests.driver import PageDriver


@pytest.fixture(scope="module")
def stored_models() -> Models:
    """The models that the page fetches."""
    return models_of(stored())


def expected(of: Models, **changes: Any) -> Writer:
    """What the command writes with these settings."""
    return finish(write(of, Asked(**changes), lambda: 0.0))


def press(page: PageDriver, name: str) -> None:
    page.run("document.querySelector(arguments[0]).click()", f"#text-{name}")


def open_lab(page: PageDriver, query: str) -> None:
    page.open(f"?lab=text&{query}")
    page.until(lambda: page.one("#text-write").is_enabled())


def written(page: PageDriver) -> str:
    return str(page.run("return document.querySelector('#text-shown').textContent"))


def origins(page: PageDriver) -> list[str]:
    script = "return [...document.querySelectorAll('#text-shown i')].map((i) => i.className)"
    return list(page.run(script))


def rests(page: PageDriver) -> bool:
    return page.text("#text-write") == "Write"


def write_it(page: PageDriver) -> None:
    press(page, "write")
    page.until(lambda: rests(page))
    page.frames()


def number(page: PageDriver, name: str) -> str:
    script = (
        "return [...document.querySelectorAll('#text-numbers tr')]"
        ".find((row) => row.cells[0].textContent === arguments[0])?.cells[1].textContent"
    )
    return str(page.run(script, name))


def test_it_writes_what_the_command_writes_and_counts_the_same(
    shared: PageDriver, stored_models: Models
) -> None:
    open_lab(shared, "text.tokens=50&text.draft=small&text.seed=3")
    write_it(shared)
    other = expected(stored_models, tokens=50, draft="small", seed=3)
    told = report(other, Asked(tokens=50, draft="small", seed=3))
    assert written(shared) == other.models.pairs.decode(other.tokens)
    assert origins(shared) == other.origins
    assert {ACCEPTED, BONUS} < set(origins(shared))
    assert number(shared, "tokens written") == str(
        len(other.tokens) - told["origins"].count("prompt")
    )
    (rate, _), *_ = told["alpha_by_position"]
    assert number(shared, "α of draft 1") == f"{rate:.2f}"
    assert shared.text("#text-kept").startswith(f"KV cache: {len(other.tokens) - 1} / 512")


def test_a_cache_that_is_switched_off_or_evicted_changes_no_word(
    shared: PageDriver, stored_models: Models
) -> None:
    open_lab(shared, "text.tokens=20&text.temperature=0")
    write_it(shared)
    press(shared, "cache")
    write_it(shared)
    assert "The KV cache is off" in shared.text("#text-kept")
    assert number(shared, "ms a token, no cache") != "None"
    press(shared, "cache")
    assert "must be computed again" in shared.text("#text-kept")
    write_it(shared)
    press(shared, "evict")
    assert "must be computed again" in shared.text("#text-kept")
    press(shared, "speculation")
    write_it(shared)
    assert PLAIN in origins(shared)
    plain = expected(stored_models, tokens=120, temperature=0.0, speculation=False)
    assert plain.models.pairs.decode(plain.tokens).startswith(written(shared))
    shared.until(lambda: "text.evict=" in shared.run("return location.search"))


def test_pointing_at_a_token_says_what_both_models_said_there(shared: PageDriver) -> None:
    open_lab(shared, "text.tokens=30")
    write_it(shared)
    at = origins(shared).index(ACCEPTED)
    shared.run("document.querySelector(arguments[0]).click()", f"[data-at='{at}']")
    said = shared.text("#text-note")
    assert "a draft that was accepted: its coin" in said
    assert "q, the draft" in said
    shared.run(
        "document.querySelector('#text-shown').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true}))"
    )
    assert shared.text("#text-note") != said


def test_its_rates_go_into_the_widget(shared: PageDriver, stored_models: Models) -> None:
    open_lab(shared, "text.tokens=120&text.k=3")
    assert not shared.one("#text-use").is_enabled()
    write_it(shared)
    found = rates(expected(stored_models, tokens=120, k=3).passed, 3)
    assert found is not None
    press(shared, "use")
    params = shared.state()["params"]
    assert params["draft_length"] == len(found.rates) == 3
    assert params["acceptance_rates"] == found.scene["rates"]


def priced_there(page: PageDriver) -> cost_settings.Asked:
    """The settings that the costs on a machine have in the page's address."""
    keys = dict(parse_qsl(str(page.run("return location.search")).removeprefix("?")))
    asked, complaints = settled({k: v for k, v in keys.items() if k.startswith("cost.")})
    assert complaints == []
    return asked


def test_the_times_of_this_device_go_to_the_costs_on_a_machine(
    shared: PageDriver, stored_models: Models
) -> None:
    open_lab(shared, "text.tokens=90&text.k=3&text.draft=small&cost.machine=L4&cost.batch=64")
    shared.until(lambda: shared.one("#text-price").is_enabled())
    write_it(shared)
    press(shared, "price")
    shared.until(lambda: "measured curve" in shared.text("#cost-curve-said"))
    assert shared.one("#lab-cost").is_displayed()
    assert not shared.one("#lab-text").is_displayed()
    assert shared.run("return document.activeElement.closest('section').id") == "lab-cost"
    shared.until(lambda: "cost.curve=" in shared.run("return location.search"))
    asked = priced_there(shared)
    assert [positions for positions, _ in asked.curve] == list(WIDTHS)
    assert (asked.k, asked.batch, asked.of_a_device) == (3, 1, True)
    assert asked.machine == cost_settings.Asked().machine
    found = rates(expected(stored_models, tokens=90, k=3, draft="small").passed, 3)
    assert found is not None
    told = parts(priced(asked))
    for name in ("cost-verdict", "cost-why", "cost-curve-said"):
        assert shared.text(f"#{name}") == told[name]
    assert expected_tokens_per_pass([asked.acceptance_rate] * 3) == pytest.approx(
        found.tokens / found.passes, abs=0.01
    )
    assert not shared.one("#cost-machine").is_displayed()
    shared.one("#cost-leave").click()
    assert shared.one("#cost-machine").is_displayed()
    assert not shared.one("#cost-curve-note").is_displayed()
    assert "Llama" in shared.text("#cost-engine-0")


AT_ONCE = """
const press = setInterval(() => {
  const button = document.querySelector("#text-write");
  if (button && !button.disabled) { clearInterval(press); button.click() }
}, 4)
"""


def test_a_device_whose_reader_writes_at_once_is_timed_afterwards(shared: PageDriver) -> None:
    shared.open("?lab=text&text.tokens=10000", wait=False)
    shared.run(AT_ONCE)
    shared.until(lambda: len(origins(shared)) > 40)
    assert not shared.one("#text-price").is_enabled()
    press(shared, "write")
    shared.until(lambda: shared.one("#text-price").is_enabled())
    assert rests(shared)


def test_the_likeliest_text_is_the_same_both_ways_and_passes_can_be_timed(
    shared: PageDriver,
) -> None:
    open_lab(shared, "text.draft=ngram")
    press(shared, "compare")
    shared.until(lambda: "are the same, one by one" in shared.text("#text-told"))
    press(shared, "measure")
    shared.until(lambda: "A pass over one position takes" in shared.text("#text-told"))
    shared.run("document.querySelector('#chart-text-width').scrollIntoView()")
    shared.until(lambda: shared.run("return document.querySelector('#chart-text-width svg')"))
    cells = "return [...document.querySelectorAll('#chart-text-width tbody th')]"
    widths = shared.run(cells + ".map((cell) => cell.textContent)")
    assert widths == ["1", "2", "3", "5", "9", "17", "33"]


def test_a_setting_that_is_none_is_told_and_another_prompt_begins_anew(shared: PageDriver) -> None:
    open_lab(shared, "text.tokens=10&text.k=99")
    shared.until(lambda: "text.k=99 is not a whole number from 1 to 32" in shared.text("#notice"))
    write_it(shared)
    shared.run(
        "const field = document.querySelector('#text-prompt'); field.value = 'ROMEO.\\n';"
        "field.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    shared.frames()
    assert written(shared) == "ROMEO.\n"
    assert set(origins(shared)) == {"prompt"}


FETCHED = """
const done = arguments[0];
const start = bonusTokenStart;
start.numpy().then(() => start.numpy()).then(() => done(performance.getEntriesByType("resource")
  .filter(({ name }) => /python_stdlib|numpy/.test(name))
  .map(({ name, initiatorType }) => [name.split("/").pop().split("-")[0], initiatorType])));
"""


def test_numpy_and_the_library_it_needs_are_fetched_once_and_nothing_waits_for_them(
    shared: PageDriver,
) -> None:
    open_lab(shared, "text.tokens=5")
    fetched = shared.driver.execute_async_script(FETCHED)
    assert sorted(fetched) == [["numpy", "fetch"], ["python_stdlib.zip", "fetch"]]


def frames_between(page: PageDriver, seconds: float) -> Iterator[float]:
    """Milliseconds between frames, for so long."""
    yield from page.driver.execute_async_script(
        "const [most, done] = arguments; const found = []; let last = performance.now();"
        "const end = last + 1000 * most; const next = (now) => { found.push(now - last);"
        "last = now; now < end ? requestAnimationFrame(next) : done(found) };"
        "requestAnimationFrame(next)",
        seconds,
    )


def test_the_page_answers_while_the_text_crawls(shared: PageDriver) -> None:
    """No pass holds the page up: here 20 frames must come in 4 seconds, however busy a machine."""
    open_lab(shared, "text.cache=off&text.tokens=400")
    press(shared, "write")
    shared.until(lambda: len(origins(shared)) > 12)
    assert len(list(frames_between(shared, 4))) > 20
    press(shared, "write")
    shared.until(lambda: rests(shared))
