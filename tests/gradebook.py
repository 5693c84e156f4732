"""A course platform: it plays a SCORM package in a frame, and keeps what it is told.

Its side of SCORM is scorm-again, from npm. It sends files as Moodle does, which knows .js, but
neither .mjs nor .wasm.
"""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import browsers
from tests.course import Plain, hosting
from tests.driver import PageDriver
from tests.node import PACKAGES

PACKAGE = "package"
"""The folder of the unzipped package below the platform's own."""

PLAYER = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A course</title>
<script src="scorm12.js"></script>
<script>
window.API = new Scorm12API({{ lmsCommitUrl: "/commit", dataCommitFormat: "flattened" }});
const held = HELD;
if (held) API.loadFromFlattenedJSON(held);
</script></head>
<body><iframe src="/{PACKAGE}/scorm.html" width="900" height="900"></iframe></body></html>
"""

TYPES = {
    ".css": "text/css",
    ".gz": "application/g-zip",
    ".html": "text/html",
    ".js": "application/x-javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".zip": "application/zip",
}
"""How files are sent; all others as document/unknown."""


class Course:
    """A course with one learner, at one package."""

    def __init__(self, page: PageDriver, refuses: bool) -> None:
        self.page, self.driver, self.refuses = page, page.driver, refuses
        self.told: list[dict[str, Any]] = []
        self.address = ""

    def visit(self) -> None:
        """Open the package, in the attempt that went on before."""
        self.driver.get(f"{self.address}/player.html")

    def leave(self) -> None:
        """Go away from it."""
        self.driver.get(f"{self.address}/elsewhere.txt")

    @property
    def gradebook(self) -> dict[str, Any]:
        """What the platform has been told last, without what it never was told."""
        return {name: value for name, value in self.told[-1].items() if value not in ("", None)}

    @contextmanager
    def package(self) -> Iterator[PageDriver]:
        """The page of the package."""
        self.driver.switch_to.default_content()
        self.driver.switch_to.frame(self.page.one("iframe"))
        yield self.page
        self.driver.switch_to.default_content()

    @contextmanager
    def simulator(self) -> Iterator[PageDriver]:
        """The simulator in the page of the package, once it is ready."""
        with self.package() as page, inside(page):
            yield page


@contextmanager
def inside(page: PageDriver) -> Iterator[None]:
    """The simulator in a package's page, once it is ready."""
    find = "return document.querySelector('bonus-token').shadowRoot?.querySelector('iframe')"
    page.driver.switch_to.frame(page.until(lambda: page.run(find)))
    page.until(lambda: page.run("return location.protocol !== 'about:'"))
    state = browsers.until_settled(page.driver)
    assert state == "ready", page.text("#failure") or state
    yield


@contextmanager
def platform(page: PageDriver, root: Path, refuses: bool = False) -> Iterator[Course]:
    """A platform with a package below `root`; one that refuses takes no results."""
    course = Course(page, refuses)
    shutil.copy(PACKAGES / "scorm-again" / "dist" / "scorm12.js", root)
    (root / "elsewhere.txt").write_text("another page")

    class Handler(Plain):
        def guess_type(self, path: Any) -> str:
            return TYPES.get(Path(path).suffix, "document/unknown")

        def do_GET(self) -> None:  # noqa: N802 - the name is the HTTP method's
            if self.path.partition("?")[0] != "/player.html":
                super().do_GET()
                return
            held = json.dumps(course.told[-1] if course.told else None)
            self._send(PLAYER.replace("HELD", held).encode(), "text/html")

        def do_POST(self) -> None:  # noqa: N802 - the name is the HTTP method's
            data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not course.refuses:
                course.told.append(data)
            answer = {"result": not course.refuses, "errorCode": 101 if course.refuses else 0}
            self._send(json.dumps(answer).encode(), TYPES[".json"])

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with hosting(functools.partial(Handler, directory=str(root)), "127.0.0.1") as address:
        course.address = address
        yield course
