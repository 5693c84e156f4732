"""A bundle's archives: that of the start and one a lab, and what is said of a bad one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from sim.host import bundle
from sim.host.serve import Server
from sim.host.start import START_ARCHIVE, lab_archive
from tests import browsers
from tests.driver import PageDriver
from tests.faults import LIBRARY, check_report
from tests.labs.bringing import (
    IN_TURN,
    OWN,
    come,
    has_failed,
    is_here,
    state,
    try_again,
)
from tests.labs.notes import told
from tests.shown import scene


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
