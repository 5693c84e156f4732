"""What the page shows, and what the model has for it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any

import pypdf
from selenium import webdriver

from sim.marks import COLUMNS
from sim.params import Params
from sim.run import Run
from sim.settings import updated
from tests.driver import PageDriver

CELLS = """
const board = document.querySelector('#board'), seen = [];
const { width, height } = board;
const { data } = board.getContext('2d').getImageData(0, 0, width, height);
for (const [x, y] of arguments[0]) {
  const at = 4 * (Math.floor(y * height) * width + Math.floor(x * width));
  seen.push([...data.subarray(at, at + 4)]);
}
return seen;
"""


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def scene(query: dict[str, Any], tick: int) -> dict[str, Any]:
    """The same scene in CPython."""
    params, _ = updated(Params(), query)
    return dict(json.loads(json.dumps(Run(params).report(tick))))


def pixels(page: PageDriver, slots: Any, x: float = 0.5, y: float = 0.5) -> list[list[int]]:
    """The colour at a point of each of these slots, in shares of the cell."""
    boxes = page.run(
        "return [document.querySelector('#board').width, document.querySelector('#board').height]"
    )
    lefts, cell, pitch = layout(*boxes)
    points = [
        ((lefts[s % COLUMNS] + x * cell) / boxes[0], (s // COLUMNS * pitch + y * cell) / boxes[1])
        for s in slots
    ]
    return list(page.run(CELLS, points))


def close(seen: list[int], colour: tuple[int, ...]) -> bool:
    """Equal but for the last bits, which a canvas may round on its way."""
    return all(abs(a - b) <= 2 for a, b in zip(seen, colour, strict=False))


def distance(seen: list[int], colour: tuple[int, ...]) -> int:
    """How far two colours are apart."""
    return sum(abs(a - b) for a, b in zip(seen, colour, strict=False))


def layout(width: int, height: int) -> tuple[list[float], int, int]:
    from sim.marks import GRID, columns

    cell = int(width * GRID.cell // GRID.width)
    return columns(width, cell), cell, (height - cell) // 15


def visible(page: PageDriver, selector: str) -> bool:
    return bool(page.run("return document.querySelector(arguments[0]).offsetHeight > 0", selector))


def enabled(page: PageDriver, selector: str) -> bool:
    return page.one(selector).is_enabled()


def phase(page: PageDriver) -> Any:
    return page.run("return document.querySelector('#question').dataset.phase")


def touches(page: PageDriver, enabled: bool) -> None:
    assert isinstance(page.driver, webdriver.Chrome)
    page.driver.execute_cdp_cmd(
        "Emulation.setTouchEmulationEnabled", {"enabled": enabled, "maxTouchPoints": 1}
    )


def search(page: PageDriver) -> str:
    return str(page.run("return location.search"))


def value(page: PageDriver, selector: str) -> Any:
    return page.one(selector).get_property("value")


def stays(page: PageDriver, passes: Callable[[float], None], tick: int) -> bool:
    """Whether the run stands at this tick, and goes on standing there."""
    passes(3)
    return page.state()["tick"] == tick and page.text("#play-label") == "Play"


def on_paper(page: PageDriver) -> pypdf.PageObject:
    """The first sheet of what is printed; WebKitGTK's driver does not print."""
    printed = base64.b64decode(page.driver.print_page())
    return pypdf.PdfReader(io.BytesIO(printed)).pages[0]


def words_of(sheet: pypdf.PageObject) -> str:
    """What stands on a sheet, without spaces, which are where a line ends too."""
    return "".join(sheet.extract_text().split())
