"""The server on the page."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from sim.labs.arrivals import Request
from sim.labs.blocks import PAGED, POLICIES
from sim.labs.history import History, record
from sim.labs.service import Scene, longest_of, scene_of
from sim.labs.serving_charts import frontier_data
from sim.labs.serving_shown import SETTINGS, Shown, columns_told, compared, gained, numbers_told
from sim.labs.serving_told import read_told
from sim.labs.slots import POINT, board, pass_told, slot_told
from sim.work import finish
from tests import browsers
from tests.driver import PageDriver

OPENING = {policy: finish(record(scene_of(Shown(policy=policy)))) for policy in POLICIES}


HERE = "return document.querySelector(':root[data-lab=serving] #lab-serving[data-here]')"


def come(page: PageDriver) -> None:
    """The server alone, as it opens; where it is there already, its settings are set back."""
    if page.run(HERE):
        page.call("set", {f"serving.{key}": None for key in SETTINGS})
    else:
        page.open("?lab=serving")
    page.until(lambda: page.run(HERE))
    shows(page, OPENING[PAGED], opening_pass())


def press(page: PageDriver, action: str) -> None:
    button = page.one(f'[data-serving-action="{action}"]')
    page.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)


def given(page: PageDriver, key: str, text: str) -> None:
    """Set a control, as a reader does."""
    page.run(
        "const all = document.querySelectorAll(`[data-serving='${arguments[0]}']`);"
        "const one = [...all].find((e) => e.type !== 'range'); one.value = arguments[1];"
        "one.dispatchEvent(new Event('change', {bubbles: true}))",
        key,
        text,
    )


def table(page: PageDriver) -> list[list[str]]:
    rows = page.run(
        "return [...document.querySelectorAll('#serving-compared tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    return [list(row) for row in rows]


def shows(page: PageDriver, history: History, at: int) -> None:
    """Wait until the page shows this pass of this history."""
    told = pass_told(history.moments[at], at)
    page.until(lambda: page.text("#serving-pass") == told)
    assert page.one("#serving-line").get_property("value") == f"{at}"


def opening_pass(policy: str = PAGED) -> int:
    return OPENING[policy].at(Shown().at / 1000)


@pytest.mark.every_engine
def test_it_opens_on_a_full_memory_and_compares_the_four_ways(shared: PageDriver) -> None:
    come(shared)
    at = opening_pass()
    shows(shared, OPENING[PAGED], at)
    expected = compared(OPENING, Shown().at / 1000)
    shared.until(lambda: table(shared) == expected)
    assert shared.text("#serving-numbers") == numbers_told(OPENING[PAGED])
    drawn = "const c = document.querySelector('#serving-board'); return c.width > 300 && c.height"
    assert shared.run(drawn)
    rows = len(shared.driver.find_elements(By.CSS_SELECTOR, "#serving-rows .request"))
    moment = OPENING[PAGED].moments[at]
    assert rows == min(12, len(moment.seats)) + min(12, len(moment.queue))


def test_one_steps_back_and_forth_and_plays_to_the_end(shared: PageDriver) -> None:
    come(shared)
    at, history = opening_pass(), OPENING[PAGED]
    shows(shared, history, at)
    for action, place in (("step", at + 1), ("step", at + 2), ("back", at + 1), ("start", 0)):
        press(shared, action)
        shows(shared, history, place)
    with shared.clock() as pass_seconds:
        press(shared, "play")
        pass_seconds(0.1)
        pass_seconds(1.2)
        assert shared.text('[data-serving-action="play"]') == "Pause"
        gone = history.at(0.08 * 1.2)
        assert abs(int(str(shared.one("#serving-line").get_property("value"))) - gone) <= 1
        pass_seconds(30)
        assert shared.text('[data-serving-action="play"]') == "Play"
    shows(shared, history, len(history.moments) - 1)
    shared.until(lambda: {row[1] for row in table(shared)} != {""})
    assert [row[1] for row in table(shared)][-1] == "0"
    shared.run(
        "const line = document.querySelector('#serving-line'); line.value = 7;"
        "line.dispatchEvent(new Event('input', {bubbles: true}));"
        "line.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    shows(shared, history, 7)


def test_the_memory_is_drawn_anew_when_it_is_near_and_not_before(shared: PageDriver) -> None:
    come(shared)
    width = "return document.querySelector('#serving-board').width"
    near = "document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })"
    try:
        shared.run(near, "#serving-board")
        shared.until(lambda: shared.run(width) > 360)
        before = shared.run(width)
        shared.run(near, "#chart-frontier")
        shared.frames()
        browsers.resize(shared.driver, 360, 740)
        shared.frames(6)
        assert shared.run(width) == before
        goes_on = shared.run(
            "const box = document.querySelector('#lab-serving .wide');"
            "return box.scrollWidth > box.clientWidth && getComputedStyle(box).backgroundAttachment"
        )
        assert goes_on == "local, scroll"
        shared.run(near, "#serving-board")
        shared.until(lambda: shared.run(width) < 360)
    finally:
        browsers.resize(shared.driver, 1280, 720)


def test_another_way_shows_what_the_same_arrivals_would_be_at_this_moment(
    shared: PageDriver,
) -> None:
    come(shared)
    shows(shared, OPENING[PAGED], opening_pass())
    for policy in ("max", "oracle", "paged"):
        shared.run(f"document.querySelector('[name=serving-policy][value={policy}]').click()")
        shows(shared, OPENING[policy], opening_pass(policy))
        assert shared.text("#serving-compared [aria-current] th") == policy
    shared.run("document.querySelector('[name=serving-policy][value=max]').click()")
    shared.until(lambda: "serving.policy=max" in shared.driver.current_url)


def test_a_link_sets_it_and_what_cannot_be_is_mended_with_a_word(shared: PageDriver) -> None:
    shared.open("?lab=serving&serving.policy=power&serving.at=90&serving.slots=500&serving.k=3")
    asked = Shown(policy="power", at=90.0, slots=496, draft_length=3)
    history = finish(record(scene_of(asked)))
    shows(shared, history, history.at(0.09))
    assert "serving.slots=500 is not a multiple of 16" in shared.text("#notice")
    keys = parse_qs(urlparse(shared.driver.current_url).query)
    assert keys["serving.policy"] == ["power"]
    shared.until(lambda: "serving.slots=496" in shared.driver.current_url)


def test_settings_serve_anew_and_a_bad_one_is_told(shared: PageDriver) -> None:
    come(shared)
    given(shared, "k", "4")
    history = finish(record(scene_of(Shown(draft_length=4))))
    shows(shared, history, history.at(0.15))
    shared.until(lambda: "serving.k=4" in shared.driver.current_url)
    given(shared, "seed", "much")
    assert "seed: much is not a whole number" in shared.text("#serving-seed-wrong")
    field = shared.one("#serving-seed")
    assert field.get_attribute("aria-invalid") == "true"
    described = str(field.get_attribute("aria-describedby")).split()
    assert described == ["serving-seed-help", "serving-seed-wrong"]
    below = "return arguments[0].closest('.control').contains(arguments[1])"
    assert shared.run(below, field, shared.one("#serving-seed-wrong"))
    shows(shared, history, history.at(0.15))
    given(shared, "seed", "5")
    other = finish(record(scene_of(Shown(draft_length=4, seed=5))))
    shows(shared, other, other.at(0.15))
    assert shared.text("#serving-seed-wrong") == ""
    assert field.get_attribute("aria-invalid") is None


def test_a_slot_says_whose_it_is(shared: PageDriver) -> None:
    come(shared)
    at = opening_pass()
    shows(shared, OPENING[PAGED], at)
    assert shared.text("#serving-slot") == POINT
    canvas = shared.one("#serving-board")
    shared.run("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(shared.driver).move_to_element(canvas).perform()
    moment = OPENING[PAGED].moments[at]
    told = {slot_told(Shown(), moment, slot) for slot in range(512)}
    shared.until(lambda: shared.text("#serving-slot") in told)
    kinds = {state[:-1] for state in board(Shown(), moment).states}
    assert kinds >= {"held", "reserved", "internal"}
    shared.run("arguments[0].focus()", canvas)
    canvas.send_keys("\ue014")  # right
    shared.until(lambda: shared.text("#serving-slot") in told)


def test_requests_of_your_own_come_from_a_file(shared: PageDriver, tmp_path: Path) -> None:
    come(shared)
    own = [Request(0, 20, 100), Request(0.05, 3, 60), Request(0.05, 100, 9)]
    good, bad = tmp_path / "own.csv", tmp_path / "bad.csv"
    good.write_text("arrival,prompt,output\n" + "".join(f"{a},{p},{o}\n" for a, p, o in own))
    bad.write_text("0,20,100\n0,many,9\n")
    shared.run("document.querySelector('#lab-serving details:has(#serving-own)').open = true")
    field = shared.one("#serving-own")
    field.send_keys(str(good))
    history = finish(record(Scene(Shown(), own, None, longest_of(Shown(), own))))
    shows(shared, history, history.at(0.15))
    assert shared.text("#serving-read") == read_told("own.csv", own)
    field.send_keys(str(bad))
    shared.until(lambda: shared.text("#serving-own-wrong"))
    assert "bad.csv: line 2: prompt “many” is not a number" in shared.text("#serving-own-wrong")
    assert field.get_attribute("aria-invalid") == "true"
    shows(shared, history, history.at(0.15))
    long = tmp_path / "long.csv"
    long.write_text("0,600,100\n")
    field.send_keys(str(long))
    shared.until(lambda: "Set slots to 704 or more" in shared.text("#serving-why"))
    assert shared.text("#serving-own-wrong") == ""
    given(shared, "slots", "704")
    shared.until(lambda: "refused" not in shared.text("#serving-why"))
    given(shared, "slots", "512")
    press(shared, "drawn")
    shows(shared, OPENING[PAGED], opening_pass())
    assert shared.text("#serving-read") == shared.text("#serving-why") == ""


def test_a_large_scene_tells_how_far_it_is_and_can_be_cancelled(shared: PageDriver) -> None:
    come(shared)
    press(shared, "large")
    shared.until(lambda: "Serving 10,000 requests" in shared.text("#serving-numbers"))
    assert shared.one("#serving-progress").is_displayed()
    shared.until(lambda: not shared.text("#serving-numbers").endswith(": 0 %"))
    press(shared, "cancel")
    assert "Cancelled" in shared.text("#serving-numbers")
    assert not shared.one("#serving-progress").is_displayed()
    given(shared, "requests", "400")
    given(shared, "slots", "8192")
    asked = Shown(requests=400, slots=8192)
    expected = numbers_told(finish(record(scene_of(asked), moments=False)))
    shared.until(lambda: shared.text("#serving-numbers") == expected)
    assert not shared.one("#serving-board").is_displayed()
    shared.until(lambda: "yet: max, power, oracle." in shared.text("#serving-why"))
    assert shared.text("#serving-columns") == columns_told(watched=False)
    press(shared, "small")
    shows(shared, OPENING[PAGED], opening_pass())
    assert shared.one("#serving-board").is_displayed()


def test_the_budget_follows_its_settings_and_a_click_on_its_frontier(shared: PageDriver) -> None:
    come(shared)

    def holds(shown: Shown) -> None:
        made = gained(shown.budget)._asdict()
        shared.until(lambda: {name: shared.text(f"#serving-{name}") for name in made} == made)

    holds(Shown())
    given(shared, "batch", "300")
    holds(Shown(batch=300))
    given(shared, "drafts", "4")
    holds(Shown(batch=300, drafts=4))
    assert shared.text("#serving-limit").startswith("Arithmetic limits")
    assert shared.text("#serving-numbers") == numbers_told(OPENING[PAGED])
    given(shared, "drafts", "0")
    given(shared, "machine", "H200")
    holds(Shown(batch=300, machine="H200", memory=141))
    given(shared, "machine", "A100-80GB")
    chart = shared.one("#chart-frontier .drawing")
    shared.run("arguments[0].scrollIntoView({block: 'center'})", chart)
    mark = "#chart-frontier .mark-symbol.role-mark path"
    shared.until(lambda: shared.driver.find_elements(By.CSS_SELECTOR, mark))
    marks = shared.driver.find_elements(By.CSS_SELECTOR, mark)
    ActionChains(shared.driver).move_to_element(marks[3]).click().perform()
    shared.until(lambda: "serving.batch=300" not in shared.driver.current_url)
    keys = parse_qs(urlparse(shared.driver.current_url).query)
    batch, drafts = (
        int(keys.get(f"serving.{key}", [default])[0])
        for key, default in (("batch", 64), ("drafts", 0))
    )
    holds(Shown(batch=batch, drafts=drafts))
    assert (batch, drafts) != (64, 0)
    beside = "#chart-frontier .mark-rect.role-mark path"
    places = shared.driver.find_elements(By.CSS_SELECTOR, beside)
    ActionChains(shared.driver).move_to_element_with_offset(
        places[-2], 0, places[-2].size["height"] // 3
    ).click().perform()
    last = frontier_data(Shown().budget)["near"][-2]
    holds(Shown(batch=last["batch"], drafts=last["k"]))
    assert shared.text("#chart-frontier .chart-note").startswith(f"{last['batch']} conversation")
