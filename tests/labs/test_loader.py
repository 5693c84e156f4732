"""Labs come once they are near or opened; one that does not come says so, and the page goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote

import pytest

from sim.host import bundle, snapshot
from sim.host.files import lab_files, start_files
from sim.host.serve import Handler, Server
from sim.host.start import MODULES, START_ARCHIVE, WASM, lab_archive
from sim.labs import ALONE, BY_NAME, LABS
from sim.labs.frames import frame_height
from sim.view import View
from tests import browsers
from tests.driver import PageDriver
from tests.faults import LIBRARY, Fault, Serve, answer, asked, check_report, content, missing
from tests.labs.notes import told
from tests.shown import scene

OWN = {lab.name: set(lab_files(lab)) for lab in LABS}
"""The files of each lab; some belong to several."""

IN_TURN = sorted(OWN, key=lambda lab: (lab == "share", lab == "recall"))
"""All labs: the cards after the one right above them, last the one whose dialog hides the page."""


def turns() -> Iterator[list[str]]:
    """Every file of a lab once, in few turns: many at a time, but no two of one lab."""
    left = list(dict.fromkeys(name for lab in LABS for name in lab_files(lab)))
    while left:
        turn: list[str] = []
        for name in left:
            if not any(name in own and own & set(turn) for own in OWN.values()):
                turn.append(name)
        yield turn
        left = [name for name in left if name not in turn]


TURNS = list(turns())


def come(page: PageDriver, lab: str) -> None:
    """Have a lab come: scroll to it, or ask for it."""
    if lab == "share":
        page.run("document.querySelector('[data-action=share]').click()")
    else:
        page.run("document.querySelector(arguments[0]).scrollIntoView()", BY_NAME[lab].place)


def state(page: PageDriver) -> object:
    return page.run("return document.documentElement.dataset.state")


def is_here(page: PageDriver, lab: str) -> object:
    """Whether a lab says in each of its places that it is there."""
    return page.run(
        "const places = [...document.querySelectorAll(arguments[0])];"
        "return places.length > 0 && places.every((place) => 'here' in place.dataset)",
        BY_NAME[lab].place,
    )


def damaged(path: str) -> Fault:
    """A file that is cut where no file can end."""
    return lambda h: (
        asked(h) == path and answer(h, content(path)[0][:400] + b"\n(", kind="text/x-python")
    )


def noting(names: list[str]) -> Fault:
    """No fault: what is asked for is noted."""

    def note(handler: Handler) -> bool:
        names.append(asked(handler)[1:])
        return False

    return note


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
    assert sorted(name for turn in TURNS for name in turn) == sorted(set().union(*OWN.values()))
    assert all(len(own & set(turn)) <= 1 for own in OWN.values() for turn in TURNS)
    assert len(TURNS) <= max(map(len, OWN.values())) + 2


@pytest.mark.chromium_only("one file of each lab is missing in every engine below")
@pytest.mark.parametrize("turn", range(len(TURNS)))
def test_a_bad_file_of_a_lab_is_told_in_its_place_and_the_page_stays_ready(
    faulty: Serve, turn: int
) -> None:
    faults = (missing, damaged) if turn % 2 else (damaged, missing)
    page, failed = check_told(faulty, TURNS[turn], *faults)
    check_mended(page, [failed[turn % len(failed)]])  # how one comes in the end is how all do
    assert state(page) == "ready"


@pytest.mark.every_engine
def test_a_missing_view_is_told_in_every_engine(faulty: Serve) -> None:
    page, failed = check_told(faulty, [f"static/labs/{lab}.py" for lab in OWN], missing, missing)
    check_mended(page, failed)
    page.until(lambda: told(page) == [])
    assert state(page) == "ready"


def check_told(
    faulty: Serve,
    bad: list[str],
    at_first: Callable[[str], Fault],
    again: Callable[[str], Fault],
) -> tuple[PageDriver, list[str]]:
    """Each lab that one of these files belongs to says so in its place, when it comes and when it
    is tried again; nothing else is touched by it. Gives the page, nothing bad any more, and these.
    """
    faults: list[Fault] = [at_first("/" + name) for name in bad]
    page = faulty(lambda h: any(fault(h) for fault in faults))
    page.open()
    failed = {lab: name for lab in IN_TURN for name in bad if name in OWN[lab]}
    for lab, name in failed.items():
        come(page, lab)
        check_named(page, lab, name)
    assert state(page) == "ready"
    assert not page.one("#failure").is_displayed()
    page.call("set", {"k": 7})
    assert page.state() == scene({"k": 7}, 60)

    faults[:] = [again("/" + name) for name in bad]
    for lab, name in failed.items():
        try_again(page, lab)
        check_named(page, lab, name)
        assert not is_here(page, lab), lab
    faults.clear()
    return page, list(failed)


def check_mended(page: PageDriver, labs: list[str]) -> None:
    """Each of these labs comes once it is tried again."""
    for lab in labs:
        come(page, lab)
        try_again(page, lab)
        page.until(partial(is_here, page, lab))
        assert not any(notes(page, lab)), lab


def check_named(page: PageDriver, lab: str, name: str) -> None:
    """A lab says in each of its places that it did not come, and names the file."""
    page.until(partial(has_failed, page, lab))
    module = name.removesuffix(".py").replace("/", ".")
    words = notes(page, lab)
    assert all(text and (name in text or module in text) for text in words), (lab, words)


def notes(page: PageDriver, lab: str) -> list[str]:
    """What a lab that is on its way says in each of its places."""
    found = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((e) =>"
        " e.querySelector('.lab-note')?.textContent ?? '')",
        BY_NAME[lab].place,
    )
    return list(found)


def has_failed(page: PageDriver, lab: str) -> bool:
    return "did not come" in " ".join(notes(page, lab))


def try_again(page: PageDriver, lab: str) -> None:
    button = f"{BY_NAME[lab].place} .lab-note button"
    page.run("document.querySelector(arguments[0]).click()", button)


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


# One alone


def seen(page: PageDriver) -> list[object]:
    """Which of these are seen: the widget, the cards, the rest of the text."""
    places = ("#widget", "#recall", "#memory")
    return [page.one(place).is_displayed() for place in places]


@pytest.mark.every_engine
def test_a_link_shows_one_lab_alone_and_the_widget_comes_in_its_place(shared: PageDriver) -> None:
    shared.open("?lab=recall")
    shared.until(lambda: is_here(shared, "recall"))
    assert seen(shared) == [False, True, False]
    assert shared.one(".whole").is_displayed()
    shared.share()
    assert shared.one("[data-snippet=link]").get_property("value") == f"{shared.address}?lab=recall"
    shared.run("document.querySelector('#share').close()")
    shared.call("set", {"lab": None})
    assert seen(shared) == [True, True, True]
    assert not shared.one(".whole").is_displayed()
    shared.call("reset")
    assert seen(shared) == [False, True, False]


@pytest.mark.parametrize("lab", ALONE)
def test_a_lab_is_alone_in_a_frame_and_as_high_as_told(shared: PageDriver, lab: str) -> None:
    shared.open(f"?lab={lab}&embed=1")
    shared.until(lambda: is_here(shared, lab))
    assert shared.one(BY_NAME[lab].place).is_displayed()
    assert seen(shared) == [False, lab == "recall", False]
    assert not shared.one("[data-action=share]").is_displayed()
    browsers.resize(shared.driver, 720, 720)
    height = shared.run("return document.documentElement.getBoundingClientRect().height")
    assert height == pytest.approx(frame_height(View(lab=lab)), abs=40)


def test_another_name_shows_the_whole_page_and_is_told(shared: PageDriver) -> None:
    shared.open("?lab=" + quote('x"]'))
    assert seen(shared) == [True, True, True]
    assert shared.one("#notice").is_displayed()
    for name in ("recal", "share", "none"):
        shared.call("set", {"lab": "recall"})
        assert seen(shared) == [False, True, False]
        shared.call("set", {"lab": name})
        assert seen(shared) == [True, True, True], name
        assert shared.one("#notice").is_displayed() == (name != "none"), name


def test_before_python_is_there_a_lab_is_alone_already_and_no_other(faulty: Serve) -> None:
    page = faulty(missing("/sim/run.py"))
    for name, alone in {"recall": True, "recal": False, "share": False, "none": False}.items():
        page.open(f"?lab={name}", wait=False)
        page.until(lambda: page.run("return document.readyState === 'complete'"))
        assert seen(page) == ([False, True, False] if alone else [True, True, True]), name
    assert browsers.until_settled(page.driver) == "failed"


# In a bundle: archives


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A bundle in a folder, served by a server that knows nothing of it."""
    folder = tmp_path_factory.mktemp("bundle")
    bundle.write(folder, bundle.contents())

    class Plain(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def end_headers(self) -> None:
            self.send_header("Cache-Control", "no-store")  # files change here within a second
            super().end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            asked_for.append(self.path.partition("?")[0])

    asked_for: list[str] = []
    server = Server(("127.0.0.1", 0), Plain)  # type: ignore[arg-type]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", folder
    server.shutdown()
    server.server_close()


def test_a_bundle_starts_from_one_archive_and_its_snapshot_and_brings_each_lab(
    shared: PageDriver, bundled: tuple[str, Path]
) -> None:
    address, _ = bundled
    page = PageDriver(shared.driver, address, shared.engine)
    page.open("?k=7&tick=300")
    assert page.state() == scene({"k": 7}, 300)
    assert not page.run("return document.documentElement.dataset.slow")
    names = page.run("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert not [name for name in names if name.endswith(".py")]
    assert [name for name in names if name.endswith(START_ARCHIVE)]
    assert not [name for name in names if name.endswith(LIBRARY)]  # nor does unpacking need it
    for lab in IN_TURN:
        come(page, lab)
        page.until(partial(is_here, page, lab))
    page.run("document.querySelector('#share').close()")
    page.until(lambda: told(page) == [])


@contextmanager
def spoiled(archive: Path, damage: str) -> Iterator[None]:
    """An archive that is not there, or not as it was."""
    whole = archive.read_bytes()
    middle = len(whole) // 2
    if damage == "missing":
        archive.unlink()
    elif damage == "cut":
        archive.write_bytes(whole[:middle])
    else:
        archive.write_bytes(whole[:middle] + bytes(9) + whole[middle + 9 :])
    try:
        yield
    finally:
        archive.write_bytes(whole)


@pytest.mark.chromium_only("one of each kind runs in every engine")
@pytest.mark.parametrize("damage", ["missing", "cut", "other bytes"])
def test_a_bad_archive_of_the_start_is_reported_and_may_be_tried_again(
    shared: PageDriver, bundled: tuple[str, Path], damage: str
) -> None:
    address, folder = bundled
    page = PageDriver(shared.driver, address, shared.engine)
    with spoiled(folder / START_ARCHIVE, damage):
        page.open(wait=False)
        check_report(page, "start.zip", button="Try again")
    page.action("reload")
    assert browsers.until_settled(page.driver) == "ready"


@pytest.mark.chromium_only("one of each kind runs in every engine")
@pytest.mark.parametrize("damage", ["missing", "cut", "other bytes"])
def test_a_bad_archive_of_a_lab_is_told_in_its_place(
    shared: PageDriver, bundled: tuple[str, Path], damage: str
) -> None:
    address, folder = bundled
    page = PageDriver(shared.driver, address, shared.engine)
    listed = json.loads((folder / "bundle.json").read_text())["files"]
    assert {lab_archive(lab) for lab in OWN} <= set(listed)
    with ExitStack() as spoiling:
        for lab in OWN:
            spoiling.enter_context(spoiled(folder / lab_archive(lab), damage))
        page.open()
        for lab in IN_TURN:
            come(page, lab)
            page.until(partial(has_failed, page, lab))
        assert state(page) == "ready"
    for lab in IN_TURN:
        come(page, lab)
        try_again(page, lab)
        page.until(partial(is_here, page, lab))
    page.until(lambda: told(page) == [])
