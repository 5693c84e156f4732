"""Recall in several tabs, and through files: nothing known is lost, nothing erased comes back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sim.labs.recall import CARDS, LARGEST, Memory, read_memory
from tests import browsers
from tests.course import pages
from tests.driver import PageDriver
from tests.faults import Serve, page_with
from tests.labs.cards import KEYS, asked, come, press

PLACE = "bonus-token-recall"


TABS = """<body style="margin: 0"><iframe id="first" src="{0}" width="600" height="700"></iframe>
<iframe id="second" src="{0}" width="600" height="700"></iframe></body>"""


ALONE = pytest.mark.chromium_only("Python alone decides this")


@pytest.fixture(scope="module")
def two(shared: PageDriver) -> Iterator[str]:
    """The address of a page that holds the page twice, side by side: what it keeps knows no
    difference between two tabs and two frames, and no driver has to look at a hidden one."""
    with pages({"/": TABS.format(shared.address)}) as address:
        yield address + "/"


@pytest.fixture
def tabs(shared: PageDriver, two: str) -> Iterator[PageDriver]:
    """The page twice, with nothing remembered."""
    shared.driver.switch_to.default_content()
    if shared.driver.current_url == two:
        go(shared, "first")
        erase(shared)
        go(shared, "second")
        shared.until(lambda: says(shared, "Erased in another tab"))
    else:
        shared.driver.get(two)
        for name in ("first", "second"):
            go(shared, name)
            assert browsers.until_settled(shared.driver) == "ready"
        shared.run("localStorage.clear()")  # what is kept in a frame may be kept apart
        for name in ("first", "second"):
            go(shared, name)
            come(shared)
    go(shared, "first")
    yield shared
    shared.run("localStorage.clear()")
    shared.driver.switch_to.default_content()


def go(page: PageDriver, name: str) -> None:
    """Look at the first or the second."""
    page.driver.switch_to.default_content()
    page.driver.switch_to.frame(page.one(f"#{name}"))


def rate(page: PageDriver, rating: str, times: int = 1) -> None:
    for _ in range(times):
        press(page, "reveal")
        press(page, rating)


def says(page: PageDriver, words: str) -> bool:
    return words in page.text("#deck-kept")


def erase(page: PageDriver) -> None:
    press(page, "erase")
    press(page, "erase")


def kept(page: PageDriver) -> Memory:
    return read_memory(page.run("return localStorage.getItem(arguments[0])", PLACE))


@pytest.mark.every_engine
def test_what_two_tabs_learn_is_kept_together(tabs: PageDriver) -> None:
    rate(tabs, "easy", 8)
    go(tabs, "second")
    tabs.until(lambda: f"8 of {len(CARDS)} known" in tabs.text("#deck-count"))
    assert asked(tabs) == CARDS[0].question, "the round here goes on"
    rate(tabs, "hard")
    assert kept(tabs).known == 8
    rate(tabs, "again")
    assert (kept(tabs).known, kept(tabs).strengths[KEYS[1]]) == (7, 0)
    tabs.run("document.querySelectorAll('[name=standing]')[2].click()")
    assert (kept(tabs).known, kept(tabs).standing) == (7, 2)
    go(tabs, "first")
    tabs.until(lambda: f"7 of {len(CARDS)} known" in tabs.text("#deck-count"))
    assert tabs.run("return document.querySelector('[name=standing]:checked').value") == "2"
    rate(tabs, "easy")
    assert (kept(tabs).known, kept(tabs).standing) == (8, 2)


@ALONE
def test_what_one_tab_erases_no_other_brings_back(tabs: PageDriver) -> None:
    rate(tabs, "easy", 3)
    press(tabs, "reveal")
    go(tabs, "second")
    rate(tabs, "easy")
    erase(tabs)
    assert tabs.run("return localStorage.length") == 0
    go(tabs, "first")
    tabs.until(lambda: "Erased in another tab" in tabs.text("#deck-kept"))
    assert tabs.run("return localStorage.length") == 0
    assert asked(tabs) == CARDS[0].question
    assert not tabs.one("#deck-answer").is_displayed()
    assert tabs.text("#deck-count") == f"{len(CARDS)} to go · 0 of {len(CARDS)} known"
    rate(tabs, "easy")
    assert kept(tabs).strengths == {KEYS[0]: 2}


@ALONE
def test_an_answer_stays_open_while_another_tab_rates(tabs: PageDriver) -> None:
    press(tabs, "reveal")
    go(tabs, "second")
    rate(tabs, "easy", 2)
    go(tabs, "first")
    tabs.until(lambda: f"2 of {len(CARDS)} known" in tabs.text("#deck-count"))
    assert tabs.one("#deck-answer").is_displayed()
    press(tabs, "again")
    assert kept(tabs).strengths == {KEYS[0]: 0, KEYS[1]: 2}


@pytest.fixture
def deck(page: PageDriver) -> Iterator[PageDriver]:
    """The cards, with nothing remembered."""
    come(page)
    erase(page)
    yield page
    page.run("localStorage.clear()")


@ALONE
def test_a_tab_that_missed_what_another_did_reads_it_before_it_writes(deck: PageDriver) -> None:
    # A tab's own writes come to it as no event, as a frozen tab's others do.
    rate(deck, "easy")
    held = kept(deck).rated(KEYS[5], "easy").write()
    deck.run("localStorage.setItem(arguments[0], arguments[1])", PLACE, held)
    rate(deck, "easy")
    assert set(kept(deck).strengths) == {KEYS[0], KEYS[1], KEYS[5]}
    deck.run("localStorage.removeItem(arguments[0])", PLACE)
    rate(deck, "easy")
    assert set(kept(deck).strengths) == {KEYS[2]}


def choose(page: PageDriver, path: Path) -> None:
    """Choose a file, as after a press on Import."""
    page.run("document.querySelector('#deck-file').hidden = false")  # drivers want to see it
    page.one("#deck-file").send_keys(str(path))
    page.run("document.querySelector('#deck-file').hidden = true")


@pytest.mark.every_engine
def test_import_reads_an_export_back_and_loses_nothing(deck: PageDriver, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    exported = Memory(standing=1)
    for key in KEYS[:6]:
        exported = exported.rated(key, "easy")
    file.write_text(exported.write())
    rate(deck, "easy")
    rate(deck, "again")
    press(deck, "reveal")
    choose(deck, file)
    deck.until(lambda: "“mine.json” was added" in deck.text("#deck-kept"))
    assert "on this device" in deck.text("#deck-kept")
    assert kept(deck).strengths == dict.fromkeys(KEYS[:6], 2)
    assert deck.text("#deck-count") == f"{len(CARDS)} to go · 6 of {len(CARDS)} known"
    assert asked(deck) == CARDS[6].question, "a new round, the weakest first"
    assert not deck.one("#deck-answer").is_displayed()
    assert deck.run("return document.querySelector('[name=standing]:checked').value") == "1"
    erase(deck)
    choose(deck, file)  # the same file once more
    deck.until(lambda: kept(deck).known == 6)


@ALONE
def test_a_file_that_is_no_export_changes_nothing_and_is_named(
    deck: PageDriver, tmp_path: Path
) -> None:
    rate(deck, "easy")
    before = kept(deck)
    files = {"a.json": b"{}", "<b>.jpg": b"\xff\xd8\x00" * 99, "empty": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        choose(deck, tmp_path / name)
        said = f"“{name}” is no export"
        deck.until(partial(says, deck, said))
    (tmp_path / "huge.json").write_text(before.rated(KEYS[3], "easy").write() + " " * LARGEST)
    choose(deck, tmp_path / "huge.json")
    deck.until(lambda: "“huge.json” is no export" in deck.text("#deck-kept"))
    assert kept(deck) == before
    assert asked(deck) == CARDS[1].question


def test_the_import_button_opens_the_choice_of_a_file(deck: PageDriver) -> None:
    deck.run(
        "document.querySelector('#deck-file').addEventListener('click', (event) => {"
        " event.preventDefault(); window.opened = (window.opened ?? 0) + 1; })"
    )
    press(deck, "import")
    assert deck.run("return opened") == 1


def test_where_storage_is_blocked_a_visit_still_remembers_and_imports(
    faulty: Serve, tmp_path: Path
) -> None:
    denied = (
        "Object.defineProperty(window, 'localStorage',"
        " {get() { throw new DOMException('denied', 'SecurityError') }})"
    )
    page = faulty(page_with(denied))
    page.open()
    come(page)
    rate(page, "easy", 2)
    assert f"2 of {len(CARDS)} known" in page.text("#deck-count")
    (tmp_path / "mine.json").write_text(Memory().rated(KEYS[4], "easy").write())
    choose(page, tmp_path / "mine.json")
    page.until(lambda: f"3 of {len(CARDS)} known" in page.text("#deck-count"))
    assert "Kept for this visit" in page.text("#deck-kept")


@ALONE
def test_storage_that_is_blocked_later_loses_nothing_of_the_visit(deck: PageDriver) -> None:
    rate(deck, "easy", 3)
    deck.run(
        "Object.defineProperty(window, 'localStorage',"
        " {configurable: true, get() { throw new DOMException('denied', 'SecurityError') }})"
    )
    try:
        rate(deck, "easy")
        assert f"4 of {len(CARDS)} known" in deck.text("#deck-count")
        assert "storage is blocked" in deck.text("#deck-kept")
    finally:
        deck.driver.refresh()  # the property goes with its window
        assert browsers.until_settled(deck.driver) == "ready"
