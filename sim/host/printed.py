"""Build index.html from its sections, with what Python will draw: the opening scene, the controls.

The page is useful before Python arrives because these parts of it are real: made here, by the same
code, from the same table. `python3 -m sim.host.printed` writes it, the README's picture, and the
lists of the scripts; tests hold all to the code. It needs Jinja2, which only those need who change
the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sim.cache import EMPTY, PROPOSED
from sim.chart import table_html
from sim.clock import PARTS as CLOCK_PARTS
from sim.face import MAIN, OF_A_MOMENT, OF_A_SESSION, Face, Moment, Shown, controls, locks, paper
from sim.host import SITE, scripts, start
from sim.host.claims import claims
from sim.host.places import filled
from sim.labs import LABS
from sim.labs.charts import CHARTS
from sim.labs.recall import CARDS, SELF_RATINGS
from sim.labs.run_charts import RunAt
from sim.marks import LOOKS
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.picture import CSS_COLOURS, emphasised, swatch
from sim.plot import HEIGHT
from sim.rail import HOOK, STORIES
from sim.run import Run
from sim.scene import Scene
from sim.state import Session
from sim.story import ADVANCED
from sim.view import BY_KEY, View

SECTIONS = SITE / "static" / "sections"
"""The sources of the page; shell.html brings the others in."""

SCENE_KEYS = (*(row.key for row in PARAMETERS), "tick", "ask")
"""Keys of a link whose scene is another than the printed one."""

OPENING = Session(Params(), View(), (Params(), View()))

ONLY_ALIVE = ("#slot-note", "#summary", *locks(OPENING))
"""Places that say something once Python is there: the picture's label says it before, and until
then every button rests.
"""


def opening() -> Shown:
    """What stands in the places of the page before Python has come: the opening scene."""
    run, tick = OPENING.run, OPENING.view.tick
    shown = Face(OF_A_MOMENT).turn(Moment(run, tick)) | Face(OF_A_SESSION).turn(OPENING)
    shown |= controls(OPENING) | paper(run, tick)
    return {place: value for place, value in shown.items() if place not in ONLY_ALIVE}


class Texts(dict[str, str]):
    """Texts by name that belong into the page, and which of them are not there yet."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.unused = list(texts)

    def __getitem__(self, name: str) -> str:
        if name in self.unused:
            self.unused.remove(name)
        return super().__getitem__(name)


def built(sections: Path = SECTIONS) -> str:
    """The page, put together from its sections, every place of the face filled.

    Raises ValueError for a figure, a chart, a lab or a place that no section has, and for a place
    of which nothing is known; UndefinedError where a section asks for what there is not.
    """
    run, tick = Run(Params()), View().tick
    at = RunAt(run, tick)
    tables = {c.name: table_html(c, c.table(at, c.data(at))) for c in CHARTS}
    modules = {lab.name: import_module(lab.rules) for lab in LABS}
    printed = {name: m.printed() for name, m in modules.items() if hasattr(m, "printed")}
    claim, chart, lab = Texts(claims()), Texts(tables), Texts(printed)
    made = Environment(
        loader=FileSystemLoader(sections),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    html = made.get_template("shell.html").render(
        scene_keys=" ".join(SCENE_KEYS),
        looks=[(state, look) for state, look in LOOKS.items() if state not in (EMPTY, PROPOSED)],
        swatch=partial(swatch, size=14, colours=CSS_COLOURS),
        setting=BY_KEY,
        main=MAIN,
        clock_parts=CLOCK_PARTS,
        hook=HOOK,
        stories=STORIES,
        advanced=ADVANCED,
        horizon=HORIZON,
        plot_height=HEIGHT,
        metrics=METRICS,
        cards=CARDS,
        self_ratings=SELF_RATINGS,
        emphasised=emphasised,
        claim=claim,
        chart=chart,
        lab=lab,
        labs=LABS,
    )
    if unused := claim.unused + chart.unused + lab.unused:
        raise ValueError(f"no section has {', '.join(unused)}")
    return filled(start.filled(html, start.regions()), opening(), ONLY_ALIVE)


EXAMPLE = Scene(k=12, alpha=0.6, c=0.05, evict=134, tick=139)
"""The scene that the README shows as a picture."""

EXAMPLE_PICTURE = SITE / "static" / "scene.svg"


if __name__ == "__main__":
    (SITE / "index.html").write_text(built(), encoding="utf-8")
    EXAMPLE_PICTURE.write_text(EXAMPLE.svg() + "\n", encoding="utf-8")
    scripts.write()
