"""The lab of sampling on the page."""

from __future__ import annotations

import re

import pytest

from sim.labs.sampling_draw import Drawn
from sim.labs.sampling_exact import exact
from sim.labs.sampling_rows import OF_THE_TEXT, made_language
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_settings import BY_RULE, Asked
from sim.labs.sampling_steps import watched
from sim.labs.sampling_told import frames, text_html
from sim.labs.sampling_verdict import judged
from sim.work import finish
from tests.driver import PageDriver

AT_ONCE = "window.matchMedia = (query) => ({ matches: true, addEventListener() {} })"
"""A reader who likes no motion sees a text at once."""

ROWS = "sampling.language=own&sampling.target=.6,.4;.1,.9&sampling.draft=.5,.5"


def open_lab(page: PageDriver, query: str = "", alone: bool = True) -> None:
    page.open(f"?lab=sampling&{query}" if alone else f"?{query}")
    page.run("document.querySelector('#lab-sampling').scrollIntoView()")
    page.until(lambda: ready(page))
    page.run(AT_ONCE)


def ready(page: PageDriver) -> bool:
    return bool(page.run("return document.querySelector('#sampling-use')?.disabled === false"))


def press(page: PageDriver, selector: str) -> None:
    page.run("document.querySelector(arguments[0]).click()", selector)


def written(page: PageDriver, press_first: str = "#sampling-write") -> str:
    """Write a text; what is said of it."""
    press(page, press_first)
    return str(page.until(lambda: page.text("#sampling-told")))


def column(page: PageDriver, number: int = 1) -> list[str]:
    script = "return [...document.querySelectorAll('#sampling-table tr')]"
    cells = script + ".map((row) => row.cells[arguments[0]].textContent)"
    return list(page.run(cells, number))


def enter(page: PageDriver, key: str, value: str) -> None:
    page.run(
        "const field = document.querySelector(`#sampling-${arguments[0]}`);"
        "field.value = arguments[1];"
        "for (const kind of ['input', 'change'])"
        "  field.dispatchEvent(new Event(kind, { bubbles: true }))",
        key,
        value,
    )


@pytest.mark.every_engine
def test_the_page_writes_what_the_command_writes_and_finds_only_the_wrong_rule(
    shared: PageDriver,
) -> None:
    open_lab(shared)
    assert written(shared) == "Not found, and there is nothing to find."
    known = exact(models_of(OF_THE_TEXT), "standard", 4)
    drawn = finish(Drawn(known, 20_000, 0).work())
    verdict = judged(known, drawn.counts)
    assert column(shared) == [
        *("20,000", f"{20_000 / drawn.passes:.4f}", "", f"{verdict.total_variation:.4f}"),
        *(f"{verdict.chi2:.1f}", f"{verdict.p_value:.3f}"),
    ]
    html = shared.run("return document.querySelector('#sampling-text').innerHTML")
    assert html.strip() == text_html(drawn).strip()
    press(shared, "[data-rule=bonus-from-draft]")
    assert shared.text("#sampling-told") == ""
    assert BY_RULE["bonus-from-draft"].does in shared.text("#sampling-does")
    shared.until(lambda: ready(shared))
    assert written(shared).startswith("Found: ")
    assert "right: 1;" in shared.text("#sampling-looks")
    assert "wrong: 1; found: 1." in shared.text("#sampling-looks")


def test_writing_the_same_again_is_no_other_look_and_other_luck_is(shared: PageDriver) -> None:
    open_lab(shared, "sampling.tokens=2000")
    written(shared)
    before = column(shared)
    written(shared)
    assert "right: 1;" in shared.text("#sampling-looks")
    assert column(shared) == before
    written(shared, "#sampling-again")
    shared.until(lambda: "right: 2;" in shared.text("#sampling-looks"))
    assert column(shared) != before
    assert shared.run("return document.querySelector('#sampling-seed').value") == "1"
    shared.until(lambda: "sampling.seed=1" in shared.run("return location.href"))


def test_a_rule_that_cannot_be_found_says_how_many_words_it_would_take(shared: PageDriver) -> None:
    open_lab(shared, "sampling.rule=bonus-from-draft&sampling.k=8&sampling.tokens=3000")
    assert "it would take about 246,107 words" in written(shared)


def test_a_text_is_seen_to_grow_and_can_be_stopped(shared: PageDriver) -> None:
    shared.open("?lab=sampling&sampling.language=made")
    shared.until(lambda: ready(shared))
    press(shared, "#sampling-write")
    count = "return document.querySelectorAll('#sampling-text i').length"
    first = shared.until(lambda: shared.run(count))
    assert shared.text("#sampling-write") == "Stop"
    shared.until(lambda: shared.run(count) > first)
    assert column(shared)[-1] == "–"
    press(shared, "#sampling-write")
    assert re.match(r"Stopped after [\d,]+ words; nothing is judged", shared.text("#sampling-told"))
    assert shared.text("#sampling-write") == "Write 20,000 words"
    assert shared.text("#sampling-looks") == ""
    written_so_far = shared.run(count)
    shared.frames(10)
    assert shared.run(count) == written_so_far


def test_a_pass_is_watched_step_by_step_over_the_bars(shared: PageDriver) -> None:
    open_lab(shared, "sampling.language=made&sampling.seed=3")
    known = exact(models_of(made_language(8, 0.7, 1, 1, 1)), "standard", 4)
    for number in range(2):
        for frame in frames(known, watched(known, 0, number, 3)):
            press(shared, "#sampling-next")
            assert shared.text("#sampling-step") == frame.text
            assert shared.run("return document.querySelector('#sampling-after').value") == str(
                frame.after
            )
    press(shared, "#sampling-pass")
    assert shared.text("#sampling-step") == frames(known, watched(known, 0, 2, 3))[0].text
    enter(shared, "after", "5")
    assert "A pass has not begun" in shared.text("#sampling-step")
    numbers = "return document.querySelector('#chart-sampling-next tbody').textContent"
    p, q = known.models.target[5], known.models.draft[5]
    shared.until(lambda: f"{p[0]:.2f}{q[0]:.2f}" in shared.run(numbers))


def test_its_alpha_goes_into_the_widget(shared: PageDriver) -> None:
    open_lab(shared, "sampling.k=6", alone=False)
    press(shared, "#sampling-use")
    params = shared.state()["params"]
    assert (params["draft_length"], params["acceptance_rate"]) == (6, 0.7)
    assert params["acceptance_rates"] == []
    press(shared, "[data-rule=argmax]")
    enter(shared, "language", "made")
    shared.until(lambda: ready(shared))
    press(shared, "#sampling-use")
    right = exact(models_of(made_language(8, 0.7, 1, 1, 1)), "standard", 6)
    assert shared.state()["params"]["acceptance_rates"] == right.rates


def test_settings_are_in_the_address_and_come_from_it(shared: PageDriver) -> None:
    open_lab(shared, ROWS)
    assert shared.one("[data-of=own]").is_displayed()
    assert not shared.one("[data-of=made]").is_displayed()
    value = "return document.querySelector('#sampling-target').value"
    assert shared.run(value) == ".6,.4;.1,.9"
    assert "--target" in shared.text("#sampling-command")
    enter(shared, "k", "9")
    press(shared, "[data-rule=stale-temperature]")
    assert shared.one("[data-key=stale]").is_displayed()
    wanted = {"sampling.rule=stale-temperature", "sampling.k=9", "sampling.language=own"}
    href = "return location.search"
    shared.until(lambda: wanted <= set(shared.run(href).split("&")))
    shared.call("set", {"sampling.k": 99, "sampling.colour": "red"})
    shared.until(lambda: shared.text("#sampling-k-value") == "32")
    assert "sampling.k=99 is not" in shared.one("#notice p").text
    assert "sampling.colour is not a key" in shared.one("#notice p").text


BAD = (
    ("target", ".5,.6", "target=.5,.6 is not rows of 2 to 64 chances"),
    ("target", "1,0;0,1", "{1} and {2} for ever"),
    ("draft", ".2,.3,.5", "draft: 3 words, but the target has 2"),
    ("tokens", "many", "tokens=many is not a whole number from 1 to"),
    ("seed", "-4", "seed=-4 is not"),
)


def test_what_cannot_be_is_said_and_the_lab_goes_on(shared: PageDriver) -> None:
    open_lab(shared, ROWS)
    for key, text, said in BAD:
        enter(shared, key, text)
        shared.until(lambda said=said: said in shared.text("#sampling-said"))  # type: ignore[misc]
        enter(shared, "target", ".6,.4;.1,.9")
        enter(shared, "draft", ".5,.5")
        enter(shared, "tokens", "901")
        enter(shared, "tokens", "900")
        shared.until(lambda: ready(shared))
    assert shared.text("#sampling-said") == ""
    assert written(shared) == "Not found, and there is nothing to find."


def test_a_question_hides_what_answers_it_until_it_is_answered(shared: PageDriver) -> None:
    open_lab(shared, "sampling.rule=replace-from-target&sampling.ask=on")
    rule = BY_RULE["replace-from-target"]
    assert not shared.one("#sampling-write").is_displayed()
    assert rule.does not in shared.text("#sampling-does")
    assert column(shared, 2) == ["", "?", "0.700", "?", "", ""]
    said = written(shared, "[data-answer=same]")
    assert said.startswith("You said the same: not so. Found: ")
    assert rule.does in shared.text("#sampling-does")
    assert "0.1548" in column(shared, 2)
    assert not shared.one("#sampling-question").is_displayed()
    assert shared.one("#sampling-write").is_displayed()


def test_a_frame_shows_it_alone_and_the_settings_come_back_with_reset(shared: PageDriver) -> None:
    open_lab(shared, "embed=1&sampling.k=2")
    assert not shared.one("#widget").is_displayed()
    enter(shared, "k", "5")
    shared.call("reset")
    shared.until(lambda: shared.text("#sampling-k-value") == str(Asked(k=2).k))
