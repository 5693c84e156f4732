"""Labs come once they are near or opened; one that does not come says so, and the page goes on."""

from __future__ import annotations

from functools import partial

import pytest

from sim.host import snapshot
from sim.host.files import lab_files, start_files
from sim.host.serve import Handler
from sim.host.start import MODULES, WASM
from sim.labs import BY_NAME, LABS
from tests.driver import PageDriver
from tests.faults import LIBRARY, Fault, Serve, answer, asked, content, missing
from tests.labs.bringing import (
    IN_TURN,
    OWN,
    TURNS,
    check_named,
    come,
    damaged,
    is_here,
    notes,
    noting,
    state,
    try_again,
)
from tests.labs.notes import told
from tests.shown import scene


@pytest.mark.chromium_only("which files are fetched is the same everywhere")
def test_the_start_fetches_what_it_imports_the_runtime_and_no_lab(faulty: Serve) -> None:
    fetched: list[str] = []
    page = faulty(noting(fetched))
    page.open("?embed=1")
    page.frames()
    about = {"", "static/boot.js", "static/failure.js", "static/touch.js"}
    about |= {"static/style.css", "static/icon.svg"}
    runtime = {f"static/{name}" for name in MODULES} | {WASM, snapshot.name()}
    assert {name for name in fetched if name.endswith(".py")} == set(start_files())
    assert set(fetched) - about == set(start_files()) | runtime
    assert len(fetched) == len(set(fetched))


def test_a_lab_is_fetched_when_it_is_near_or_opened_and_once(faulty: Serve) -> None:
    fetched: list[str] = []
    page = faulty(noting(fetched))
    page.open()
    with_numpy = {lab.name for lab in LABS if "numpy" in lab.needs}
    order = sorted(IN_TURN, key=lambda lab: (lab in with_numpy, lab == "charts"))
    for number, lab in enumerate(order):
        if number == len(order) - len(with_numpy):  # it alone needs the rest of the library
            page.run("document.querySelector('#share').close()")
            assert LIBRARY[1:] not in fetched
        if lab != "charts":  # they may be near already
            assert not is_here(page, lab), lab
        come(page, lab)
        page.until(partial(is_here, page, lab))
    page.until(lambda: told(page) == [])
    every = set().union(*OWN.values())
    # What several labs share may come once for each of those that came near at the same time.
    most = {name: sum(name in own for own in OWN.values()) for name in every}
    assert {name for name in every if not 1 <= fetched.count(name) <= most[name]} == set()
    assert {name for name in fetched if name.endswith(".py")} <= every | set(start_files())


def test_each_file_of_a_lab_is_bad_in_some_turn() -> None:
    assert {name for turn in TURNS for name in turn} == set().union(*OWN.values())
    assert all(len(own & set(turn)) <= 1 for own in OWN.values() for turn in TURNS)
    assert {lab for lab in OWN if OWN[lab] & set(TURNS[0])} == set(OWN)


@pytest.mark.chromium_only("one file of each lab is missing in every engine below")
def test_a_bad_file_of_a_lab_is_told_in_its_place_and_the_page_stays_ready(faulty: Serve) -> None:
    faults: list[Fault] = []
    page = faulty(lambda h: any(fault(h) for fault in faults))
    for number, turn in enumerate(TURNS):
        failed = {lab: name for lab in IN_TURN for name in turn if name in OWN[lab]}
        bad = damaged if number % 2 else missing
        faults[:] = [bad("/" + name) for name in turn]
        if number == 0:
            check_told(page, failed)
        else:
            for lab in failed:
                try_again(page, lab)
        for lab, name in failed.items():
            check_named(page, lab, name)
            assert not is_here(page, lab), lab
    faults.clear()
    check_mended(page, IN_TURN)


@pytest.mark.every_engine
def test_a_missing_view_is_told_in_every_engine(faulty: Serve) -> None:
    faults = [missing(f"/static/labs/{lab}.py") for lab in OWN]
    page = faulty(lambda h: any(fault(h) for fault in faults))
    failed = {lab: f"static/labs/{lab}.py" for lab in IN_TURN}
    check_told(page, failed)
    for lab, name in failed.items():
        try_again(page, lab)
        check_named(page, lab, name)
        assert not is_here(page, lab), lab
    faults.clear()
    check_mended(page, IN_TURN)


def check_told(page: PageDriver, failed: dict[str, str]) -> None:
    """Each of these labs says in its place, as it comes, that this file of it is bad; nothing else
    is touched by it.
    """
    page.open()
    for lab, name in failed.items():
        come(page, lab)
        check_named(page, lab, name)
    assert state(page) == "ready"
    assert not page.one("#failure").is_displayed()
    page.call("set", {"k": 7})
    assert page.state() == scene({"k": 7}, 60)


def check_mended(page: PageDriver, labs: list[str]) -> None:
    """Each of these labs comes once it is tried again, and the page has been ready all the time."""
    for lab in labs:
        try_again(page, lab)
    for lab in labs:
        page.until(partial(is_here, page, lab))
        assert not any(notes(page, lab)), lab
    page.until(lambda: told(page) == [])
    assert state(page) == "ready"


def test_how_far_a_lab_has_come_is_counted_in_its_place(faulty: Serve) -> None:
    held = "/static/labs/share.py"
    go_on: list[bool] = []

    def wait(handler: Handler) -> bool:
        if asked(handler) == held:
            page.until(lambda: go_on)
        return False

    page = faulty(wait)
    page.open()
    come(page, "share")
    count = len(lab_files(BY_NAME["share"]))
    page.until(lambda: f"{count - 1} of {count} files" in page.text("#share .lab-note"))
    assert page.one("#share").is_displayed()
    go_on.append(True)
    page.until(lambda: is_here(page, "share"))
    assert page.run("return document.querySelector('#share').contains(document.activeElement)")


def test_a_dialog_that_was_closed_while_it_came_stays_closed(faulty: Serve) -> None:
    go_on: list[bool] = []

    def wait(handler: Handler) -> bool:
        if asked(handler) == "/sim/labs/share.py":
            page.until(lambda: go_on)
        return False

    page = faulty(wait)
    page.open()
    come(page, "share")
    page.run("document.querySelector('#share').close()")
    go_on.append(True)
    page.until(lambda: not told(page))
    page.frames()
    assert not page.one("#share").is_displayed()
    come(page, "share")
    page.until(lambda: is_here(page, "share"))


def test_a_lab_that_fails_as_it_shows_is_told_and_the_widget_goes_on(faulty: Serve) -> None:
    body, kind = content("/static/labs/recall.py")
    failing = body + (
        b"\n\ndef show(self, run, tick, colours, playing):\n"
        b"    if tick == 61:\n        raise ValueError('a wrong tick')\n\nView.show = show\n"
    )
    page = faulty(lambda h: asked(h) == "/static/labs/recall.py" and answer(h, failing, kind=kind))
    page.open()
    come(page, "recall")
    page.until(lambda: is_here(page, "recall"))
    page.until(lambda: told(page) == [])
    page.call("seek", 61)
    page.until(lambda: "a wrong tick" in page.text("#recall .lab-note"))
    page.call("seek", 62)
    page.frames()
    assert page.text("#tick") == "62"
    assert state(page) == "ready"


def test_a_module_that_does_not_hold_what_a_function_imports_is_told_in_the_chart(
    faulty: Serve,
) -> None:
    path = "/sim/labs/ensemble.py"
    page = faulty(lambda h: asked(h) == path and answer(h, b"# cut", kind="text/x-python"))
    page.open()
    come(page, "charts")
    page.run("document.querySelector('#chart-luck').scrollIntoView({ block: 'center' })")
    note = "#chart-luck .chart-note"
    page.until(lambda: "could not be run (cannot import name" in page.text(note))
    assert state(page) == "ready"


def test_a_lab_changes_nothing_that_is_locked(shared: PageDriver) -> None:
    shared.open("?c=0.1&lock=alpha")
    come(shared, "charts")
    shared.until(lambda: is_here(shared, "charts"))
    shared.run("document.querySelector('#chart-map').scrollIntoView({ block: 'center' })")
    shared.until(lambda: shared.run("return document.querySelector('#chart-map canvas')"))
    before = shared.state()
    shared.one("#chart-map canvas").click()
    shared.frames()
    assert shared.state() == before
