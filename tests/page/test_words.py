"""Words on drafts and slots: they come once the page is ready, and can be switched off."""

from __future__ import annotations

from typing import Any

import pytest

from sim.params import Params
from sim.run import Run
from sim.stretch import FILE, Stretch, read_stretch
from tests import browsers
from tests.driver import PageDriver
from tests.faults import Fault, Held, Serve, answer, asked, missing, no_alarm
from tests.server import ROOT
from tests.shown import enabled, scene, search

WORDS = read_stretch((ROOT / FILE).read_bytes())
BUTTON = "[data-action=words]"

HELD = """
return [...document.querySelectorAll('#strip .cell')].map((cell) => [
  cell.classList[1], cell.querySelector('s')?.textContent ?? '',
  cell.querySelector('span')?.textContent ?? '', cell.querySelector('b').offsetHeight,
]);
"""
"""Of each cell its state, the word struck through, the word, and how high it is."""


def held(page: PageDriver) -> list[Any]:
    return list(page.run(HELD))


def come(page: PageDriver) -> None:
    """Wait until the words are there."""
    page.until(lambda: page.one(BUTTON).is_displayed())
    page.frames()


def expected(words: Stretch, tick: int) -> list[list[str]]:
    """A pass of the default run that rejects a draft, with its words."""
    run = Run(Params())
    record, first = run.verify_pass_at(tick), run.at(tick - 1).num_tokens
    assert record
    assert 0 < record.accepted < 3
    kept = [["accepted", "", words.token(first + at)] for at in range(record.accepted)]
    at = first + record.accepted
    rejected = ["rejected", words.other(at), words.token(at)]
    rest = range(at + 1, first + len(record.rates))
    return [
        *kept,
        rejected,
        *(["discarded", "", words.other(at)] for at in rest),
        ["empty", "", ""],
    ]


def test_a_rejected_word_is_struck_through_beside_the_one_in_its_place(page: PageDriver) -> None:
    come(page)
    tick = next(
        tick
        for tick in range(1, 99)
        if (one := Run(Params()).verify_pass_at(tick)) and one.accepted == 1
    )
    page.call("seek", tick)
    page.frames()
    told = held(page)
    assert [cell[:3] for cell in told] == expected(WORDS, tick)
    lines = "return getComputedStyle(document.querySelector('#strip s')).textDecorationLine"
    assert "line-through" in page.run(lines)
    # Off and on, by keys too; nothing moves, and no number.
    before, boxes = page.state(), [cell[3] for cell in told]
    top = "return document.querySelector('.timeline').getBoundingClientRect().top"
    stood = page.run(top)
    button = page.one(BUTTON)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    page.frames()
    assert [cell[1:3] for cell in held(page)] == [["", ""]] * 5
    assert [cell[3] for cell in held(page)] == boxes
    assert page.run(top) == stood
    assert button.get_attribute("aria-pressed") == "false"
    assert "“" not in page.text("#caption")
    page.until(lambda: "words=off" in search(page))
    assert page.state() == before
    page.run("arguments[0].focus()", button)
    button.send_keys(" ")
    page.frames()
    assert held(page) == told
    assert page.run("return document.activeElement.dataset.action") == "words"
    page.until(lambda: "words" not in search(page))


def test_words_are_fetched_once_the_page_is_ready_and_not_before(faulty: Serve) -> None:
    late = Held(f"/{FILE}")
    page = faulty(late)
    page.open()
    assert not page.one(BUTTON).is_displayed()
    bare = [cell[1:3] for cell in held(page)]
    assert bare == [["", ""]] * 5
    page.action("step")
    late.let_go()
    come(page)
    assert "".join(word for _, _, word, _ in held(page))
    times = page.run(
        "return [performance.getEntriesByName('bonus-token-ready')[0].startTime,"
        " ...performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.tsv'))"
        ".map((one) => one.startTime)]"
    )
    assert len(times) == 2
    assert times[0] < times[1]


def not_as_written(data: bytes) -> Fault:
    return lambda h: asked(h) == f"/{FILE}" and answer(h, data, kind="text/plain")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(missing(f"/{FILE}"), id="missing"),
        pytest.param(not_as_written(b"<!doctype html><title>404</title>"), id="a page"),
        pytest.param(not_as_written((ROOT / FILE).read_bytes()[:-3]), id="cut"),
        pytest.param(not_as_written(b"token\tother\n\xff\t\xfe\n"), id="no text"),
    ],
)
def test_without_its_words_the_page_is_as_it_was(faulty: Serve, fault: Fault) -> None:
    page = faulty(fault)
    page.driver.get("about:blank")
    page.open(wait=False)
    told = (
        "window.told = []; const real = console.info;"
        "console.info = (text) => { told.push(text); real(text); }"
    )
    page.run(told)
    assert browsers.until_settled(page.driver) == "ready"
    page.until(lambda: page.run("return told.some((text) => text.includes(arguments[0]))", FILE))
    no_alarm(page)
    assert page.state() == scene({}, 61)
    assert [cell[1:3] for cell in held(page)] == [["", ""]] * 5
    assert not page.one(BUTTON).is_displayed()
    assert not page.one(".notice").is_displayed()


def test_a_link_that_locks_words_off_has_none(shared: PageDriver) -> None:
    shared.open("?words=off&lock=words&tick=62")
    come(shared)
    assert [cell[1:3] for cell in held(shared)] == [["", ""]] * 5
    assert not enabled(shared, BUTTON)
    shared.call("set", {"words": True})
    shared.frames()
    assert "".join(word for _, _, word, _ in held(shared))
