"""A scene: a run, a tick, and how it is shown. What a link holds, as an object for code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sim.marks import PALETTES
from sim.markup import Markup, tag
from sim.metrics import METRICS
from sim.params import HORIZON, Params
from sim.picture import scene_svg
from sim.question import Question
from sim.run import Run
from sim.settings import link, query
from sim.story import summary
from sim.view import BY_KEY, NAMES, View, changed


class Scene:
    """A scene by its settings, under their keys or full names: `Scene(k=12, alpha=0.6, tick=100)`.

    In a notebook it shows itself. Raises ValueError for a value that is not allowed, and TypeError
    for a name that is none.
    """

    def __init__(self, **settings: object) -> None:
        if unknown := sorted(set(settings) - NAMES):
            raise TypeError(f"{unknown[0]} is no setting; there are {', '.join(BY_KEY)}")
        self.params, self.view, complaints = changed(Params(), View(), settings)
        for complaint in complaints:
            raise ValueError(complaint.partition(";")[0])
        self.run = Run(self.params)

    @property
    def numbers(self) -> dict[str, Any]:
        """Every number at the scene's tick, with the tick and the parameters: one flat object."""
        return self.run.report(self.view.tick)

    def link(self, address: str) -> str:
        """The link to this scene, for a page at `address`."""
        return link(address, self.params, self.view)

    def svg(self) -> str:
        """The board with its numbers and settings as a picture, in the scene's colours."""
        return picture(self.run, self.view, PALETTES[light_or_dark(self.view.theme)])

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> Markup:
        """The picture with its words: notebooks make an image of SVG, and say nothing of it."""
        words = summary(self.run, self.view.first_tick)
        return tag("img", src=inside_a_page(self.svg()), alt=words)

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={text!r}" for key, text in query(self.params, self.view).items())
        return f"Scene({said})"


def picture(run: Run, view: View, colours: Mapping[str, str]) -> str:
    """The scene as it opens, as SVG text: where a question is put, that instead of its answer."""
    asked = Question(view.ask, view.tick, view.ask_text).plain if view.asks else None
    return scene_svg(run, view.first_tick, colours, asked)


def inside_a_page(svg: str) -> str:
    """A picture as an address that holds it whole, for HTML, JSX and Markdown alike."""
    return "data:image/svg+xml," + quote(svg, safe="=:/;,.-+!~")


def light_or_dark(theme: str) -> str:
    """The palette of a theme where there is no system to ask: light, unless it says dark."""
    return "dark" if theme == "dark" else "light"


def passes_csv(run: Run, separator: str = ",", decimal: str = ".") -> str:
    """Every pass of the run as a table: what the pass was, and all numbers right after it.

    `pass` is "verify" or "recompute"; `kept` are the drafts that this pass accepted. `separator`
    stands between cells, `decimal` before the fractions of a number; a cell holds neither tab nor
    semicolon, and a comma only as `decimal`.
    """
    names = [metric.name for metric in METRICS]
    lines = [separator.join(["tick", "pass", "kept", *names])]
    for tick in range(1, HORIZON + 1):
        record, report = run.verify_pass_at(tick), run.report(tick)
        told = ("verify", record.accepted) if record else ("recompute", 0)
        cells = [tick, *told, *(report[name] for name in names)]
        texts = ("" if cell is None else str(cell).replace(".", decimal) for cell in cells)
        lines.append(separator.join(texts))
    return "\n".join(lines) + "\n"
