"""Build index.html from its sections, with what Python will draw: the opening scene, the controls.

The page is useful before Python arrives because these parts of it are real: made here, by the same
code, from the same table. `python3 -m sim.host.printed` writes it, the README's picture, and the
lists of the scripts; tests hold all to the code. It needs Jinja2, which only those need who change
the page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sim.cache import EMPTY
from sim.chart import table_html
from sim.charts import CHARTS
from sim.face import MAIN, Face, Moment, Shown, locks, look, paper
from sim.face import controls as controls_at
from sim.host import SITE, page_files, scripts, snapshot
from sim.host.claims import claims
from sim.host.places import filled
from sim.host.vendor import read_parts
from sim.marks import LOOKS
from sim.markup import Markup
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.picture import CSS_COLOURS, emphasised, swatch
from sim.plot import HEIGHT
from sim.recall import CARDS, SELF_RATINGS
from sim.run import Run
from sim.scene import Scene
from sim.story import ADVANCED
from sim.view import BY_KEY, View

SECTIONS = SITE / "static" / "sections"
"""The sources of the page; shell.html brings the others in."""

INTERPRETER = "./static/interpreter.mjs"
MODULES = (
    "start.mjs",
    "vendor/pyscript/core.js",
    "vendor/pyscript/core-C9KDLldu.js",
    "vendor/pyscript/error-D2315lOB.js",
    "interpreter.mjs",
    "snapshot.mjs",
    "vendor/pyodide/pyodide.mjs",
    "vendor/pyodide/pyodide.asm.mjs",
)
"""Scripts below static/ that the start needs, in the order in which it does."""

SCENE_KEYS = (*(row.key for row in PARAMETERS), "tick", "ask")
"""Keys of a link whose scene is another than the printed one."""

WASM = "static/vendor/pyodide/pyodide.asm.wasm"
SNAPSHOT_BYTES = 3_500_000
"""About what a snapshot weighs: progress is shown against it before its size is known."""

PLUGINS_OFF = (
    "codemirror",
    "deprecations-manager",
    "donkey",
    "error",
    "py-editor",
    "py-game",
    "py-terminal",
)


def preloads() -> str:
    """The links that start the two longest downloads before anything else."""
    (wasm,) = [part for part in read_parts()[1] if part.path == WASM]
    held = snapshot.name()
    fetched = '<link rel="preload" as="fetch" crossorigin href="./'
    return (
        f'{fetched}{held}" data-snapshot data-bytes="{SNAPSHOT_BYTES}">\n'
        f'{fetched}{wasm.path}" data-bytes="{wasm.bytes}">'
    )


def small_preloads() -> str:
    """The links to everything else that the start needs, in the order in which it does."""
    lines = [f'<link rel="modulepreload" href="./static/{name}">' for name in MODULES]
    lines += [
        f'<link rel="preload" as="fetch" crossorigin href="./{name}">' for name in page_files()
    ]
    return "\n".join(lines)


def python_config() -> str:
    """PyScript's configuration: the interpreter, no plugins, and every file that Python needs.

    PyScript loads its plugins once for MicroPython too, which is not used here, unless told off.
    """
    off = {"plugins": [f"!{name}" for name in PLUGINS_OFF]}
    files = {"files": {f"./{name}": f"./{name}" for name in page_files()}}
    written = {"mpy": off, "py": {"interpreter": INTERPRETER, **off, **files}}
    return "\n".join(
        f'<{kind}-config type="json" hidden>{json.dumps(config)}</{kind}-config>'
        for kind, config in written.items()
    )


ONLY_ALIVE = ("#slot-note", "#summary", *locks(Params(), View()))
"""Places that say something once Python is there: the picture's label says it before, and until
then every button rests.
"""


def opening() -> Shown:
    """What stands in the places of the page before Python has come: the opening scene."""
    run, view = Run(Params()), View()
    moment = Moment(run, view.tick)
    shown = Face().turn(moment) | controls_at(run.params, view) | look(view)
    shown |= paper(run, view.tick)
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

    Raises ValueError for a figure, a chart or a place that no section has, and for a place of which
    nothing is known; UndefinedError where a section asks for what there is not.
    """
    run, tick = Run(Params()), View().tick
    tables = {c.name: table_html(c, c.table(run, tick, c.data(run, tick))) for c in CHARTS}
    claim, chart = Texts(claims()), Texts(tables)
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
        preloads=Markup(preloads()),
        small_preloads=Markup(small_preloads()),
        python_config=Markup(python_config()),
        looks=[(state, look) for state, look in LOOKS.items() if state != EMPTY],
        swatch=partial(swatch, size=14, colours=CSS_COLOURS),
        setting=BY_KEY,
        main=MAIN,
        advanced=ADVANCED,
        horizon=HORIZON,
        plot_height=HEIGHT,
        metrics=METRICS,
        cards=CARDS,
        self_ratings=SELF_RATINGS,
        emphasised=emphasised,
        claim=claim,
        chart=chart,
    )
    if unused := claim.unused + chart.unused:
        raise ValueError(f"no section has {', '.join(unused)}")
    return filled(html, opening(), ONLY_ALIVE)


EXAMPLE = Scene(k=12, alpha=0.6, c=0.05, evict=134, tick=139)
"""The scene that the README shows as a picture."""

EXAMPLE_PICTURE = SITE / "static" / "scene.svg"


if __name__ == "__main__":
    (SITE / "index.html").write_text(built(), encoding="utf-8")
    EXAMPLE_PICTURE.write_text(EXAMPLE.svg() + "\n", encoding="utf-8")
    scripts.write()
