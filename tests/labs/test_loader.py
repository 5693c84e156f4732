"""Labs come once they are near or opened; one that does not come says so, and the page goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote

import pytest

from sim.host import bundle, snapshot
from sim.host.files import lab_files, start_files
from sim.host.serve import Handler, Server
from sim.host.start import MODULES, START_ARCHIVE, WASM, lab_archive
from sim.labs import ALONE, BY_NAME, LABS
from sim.labs.share import frame_height
from sim.view import View
from tests import browsers
from tests.driver import PageDriver
from tests.faults import LIBRARY, Fault, Serve, answer, asked, check_report, content, missing
from tests.labs.notes import told
from tests.shown import scene

FILES = [(lab.name, name) for lab in LABS for name in lab_files(lab)]


def come(page: PageDriver, lab: str) -> None:
    """Have a lab come: scroll to it, or ask for it."""
    if lab == "share":
        page.action("share")
    else:
        page.run("document.querySelector(arguments[0]).scrollIntoView()", BY_NAME[lab].place)


def state(page: PageDriver) -> object:
    return page.run("return document.documentElement.dataset.state")


def is_here(page: PageDriver, lab: str) -> object:
    """Whether a lab works: what only its view puts there."""
    seen = {
        "charts": "return document.querySelector('#chart-positions .drawing :is(svg, canvas)')",
        "recall": "return document.querySelector('#deck-count').textContent",
        "convert": "return !document.querySelector('#convert-use').disabled",
        "share": "return document.querySelector('#share[open] [data-snippet=link]')?.value",
    }
    return page.run(seen[lab])


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


@pytest.mark.parametrize("lab", [lab.name for lab in LABS])
def test_a_lab_is_fetched_when_it_is_near_or_opened_and_once(faulty: Serve, lab: str) -> None:
    fetched: list[str] = []
    page = faulty(noting(fetched))
    page.open()
    if lab != "charts":  # which may be near already
        assert not is_here(page, lab)
    come(page, lab)
    page.until(lambda: is_here(page, lab))
    assert told(page) == []
    assert {n for n in lab_files(BY_NAME[lab]) if fetched.count(n) != 1} == set()
    if lab != "charts":  # NumPy needs the rest of the standard library
        assert LIBRARY[1:] not in fetched
    wanted = {name for one in LABS for name in lab_files(one)} | set(start_files())
    assert {name for name in fetched if name.endswith(".py")} <= wanted


@pytest.mark.chromium_only("one file of each lab is missing in every engine below")
@pytest.mark.parametrize(("lab", "name"), FILES)
@pytest.mark.parametrize("fault", [missing, damaged])
def test_a_bad_file_of_a_lab_is_told_in_its_place_and_the_page_stays_ready(
    faulty: Serve, lab: str, name: str, fault: Callable[[str], Fault]
) -> None:
    check_told_and_tried_again(faulty, lab, name, fault("/" + name))


@pytest.mark.every_engine
@pytest.mark.parametrize("lab", [lab.name for lab in LABS])
def test_a_missing_view_is_told_in_every_engine(faulty: Serve, lab: str) -> None:
    name = f"static/labs/{lab}.py"
    check_told_and_tried_again(faulty, lab, name, missing("/" + name))


def check_told_and_tried_again(faulty: Serve, lab: str, name: str, fault: Fault) -> None:
    broken = [True]
    page = faulty(lambda h: broken[0] and fault(h))
    page.open()
    come(page, lab)
    place = BY_NAME[lab].place
    page.until(lambda: "did not come" in " ".join(told(page)))
    words = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((e) =>"
        " e.querySelector('.lab-note')?.textContent ?? '')",
        place,
    )
    module = name.removesuffix(".py").replace("/", ".")
    assert all(text and (name in text or module in text) for text in words), words
    assert state(page) == "ready"
    assert not page.one("#failure").is_displayed()
    page.call("set", {"k": 7})
    assert page.state() == scene({"k": 7}, 60)

    again = f"document.querySelector('{place} .lab-note button').click()"
    page.run(again)  # in vain
    page.until(lambda: "did not come" in " ".join(told(page)))
    broken[0] = False
    page.run(again)
    page.until(lambda: is_here(page, lab))
    assert told(page) == []
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
    assert told(page) == []
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
    page.until(lambda: "could not be run (cannot import name" in page.text(note), 30)
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


@pytest.mark.parametrize("name", ["recal", "share", 'x"]', "none"])
def test_another_name_shows_the_whole_page_and_is_told(shared: PageDriver, name: str) -> None:
    shared.open("?lab=" + quote(name))
    assert seen(shared) == [True, True, True]
    assert shared.one("#notice").is_displayed() == (name != "none")


def test_before_python_is_there_a_lab_is_alone_already(faulty: Serve) -> None:
    page = faulty(missing("/sim/run.py"))
    page.open("?lab=recall", wait=False)
    assert browsers.until_settled(page.driver) == "failed"
    assert seen(page) == [False, True, False]


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
    for lab in LABS:
        come(page, lab.name)
        page.until(lambda lab=lab: is_here(page, lab.name))  # type: ignore[misc]
        if lab.name == "share":
            page.run("document.querySelector('#share').close()")
    assert told(page) == []


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
@pytest.mark.parametrize("lab", [lab.name for lab in LABS])
@pytest.mark.parametrize("damage", ["missing", "cut", "other bytes"])
def test_a_bad_archive_of_a_lab_is_told_in_its_place(
    shared: PageDriver, bundled: tuple[str, Path], lab: str, damage: str
) -> None:
    address, folder = bundled
    page = PageDriver(shared.driver, address, shared.engine)
    with spoiled(folder / lab_archive(lab), damage):
        page.open()
        come(page, lab)
        page.until(lambda: "did not come" in " ".join(told(page)))
        assert state(page) == "ready"
    page.run(f"document.querySelector('{BY_NAME[lab].place} .lab-note button').click()")
    page.until(lambda: is_here(page, lab))
    assert json.loads((folder / "bundle.json").read_text())["files"][lab_archive(lab)]
