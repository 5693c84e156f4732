"""Print into index.html what Python will draw: the opening scene, the controls, the file list.

The page is useful before Python arrives because these parts of it are real: made here, by the same
code, from the same table. `python3 -m sim.host.printed` writes them, and the README's picture; a test holds both to the code.
"""

from __future__ import annotations

import re
from html import escape
from importlib import import_module

from sim.cache import ACCEPTED, EMPTY
from sim.chart import table_html
from sim.host import SITE, start
from sim.host.claims import claims
from sim.labs import LABS
from sim.labs.charts import CHARTS
from sim.labs.recall import CARDS, SELF_RATINGS
from sim.marks import LOOKS
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params, Setting, write
from sim.picture import CSS_COLOURS, bar_svg, board_svg, emphasised, strip_html, swatch
from sim.plot import HEIGHT, band, path, theory_height
from sim.run import Run
from sim.scene import Scene
from sim.story import ADVANCED, bars, figures, sentence, settings, strip, summary
from sim.view import BY_KEY, View

MAIN_CONTROLS = ("speculation", "k", "alpha", "cache")
ONE_RATE = '<button type="button" data-action="one-rate" hidden>One rate</button>'
SCENE_KEYS = (*(row.key for row in PARAMETERS), "tick", "ask")
"""Keys of a link whose scene is another than the printed one."""


def _switch(row: Setting) -> str:
    checked = " checked" if row.default else ""
    return (
        f'<div class="control switch"><label for="{row.key}">{row.label}</label>'
        f'<input type="checkbox" role="switch" id="{row.key}" name="{row.key}"{checked} '
        f'aria-describedby="{row.key}-help"><p id="{row.key}-help">{row.help}</p></div>'
    )


def _number_field(row: Setting, named: str = "") -> str:
    """A number field, which its label names by the id in `named`, or else the label's text.

    A field of the browser's own for numbers keeps to itself what it cannot read: a decimal comma.
    """
    return (
        f'<input type="text" role="spinbutton" data-number="{row.key}" aria-valuemin="{row.low:g}" '
        f'aria-valuemax="{row.high:.0f}" aria-valuenow="{write(row, row.default)}" '
        f'value="{write(row, row.default)}" inputmode="decimal" autocomplete="off" spellcheck="false" '
        f"{named or f'aria-label={chr(34)}{row.label}{chr(34)}'}>"
    )


def _slider(row: Setting) -> str:
    assert row.slider is not None
    stop, step = row.slider
    return (
        f'<div class="control"><label for="{row.key}">{row.label}</label>'
        f'<input type="range" id="{row.key}" name="{row.key}" min="{row.low:g}" max="{stop:g}" '
        f'step="{step:g}" value="{write(row, row.default)}" aria-describedby="{row.key}-help">'
        f'{_number_field(row)}<p id="{row.key}-help" data-text="{row.key}_help">{row.help}</p>'
        f"{ONE_RATE if row.key == 'alpha' else ''}</div>"
    )


def _seed(row: Setting) -> str:
    return (
        f'<div class="control"><label for="{row.key}">{row.label}</label>'
        f'<button type="button" class="luck" data-action="luck">New luck</button>'
        f"{_number_field(row, named=f'id={chr(34)}{row.key}{chr(34)}')}"
        f'<p id="{row.key}-help">{row.help}</p></div>'
    )


def controls() -> str:
    """“Break it”: the main controls, and the advanced ones behind their summary."""
    made = {
        row.key: _switch(row)
        if row.kind == "switch"
        else _slider(row)
        if row.slider
        else _seed(row)
        for row in PARAMETERS
        if row.key in MAIN_CONTROLS + ADVANCED
    }
    return (
        "\n".join(made[key] for key in MAIN_CONTROLS)
        + '\n<details class="advanced"><summary>advanced<span data-text="advanced"></span></summary>'
        + "\n".join(made[key] for key in ADVANCED)
        + "</details>"
    )


def plot(run: Run, tick: int) -> str:
    """The plot that the timeline lies on."""
    return (
        f'<svg viewBox="0 0 {HORIZON} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="band" id="band" d="{band(run, tick)}"/>'
        f'<path class="theory" id="theory" d="M0 {theory_height(run):.1f}H{HORIZON}"/>'
        f'<path class="evictions" id="evictions" d=""/>'
        f'<path class="path" id="path" d="{path(run, tick)}"/></svg>'
    )


def regions() -> dict[str, str]:
    """What goes between each pair of print marks."""
    run, view = Run(Params()), View()
    tick, told = view.tick, strip(run, view.tick)
    words = sentence(run, tick)
    speed, line = BY_KEY["speed"], BY_KEY["tick"]
    texts = figures(run.report(tick), run)
    lengths = bars(run.report(tick))
    return {
        "race-tokens": bar_svg("race-tokens", {"useful": lengths.race[0]}),
        "race-plain": bar_svg("race-plain", {"plain": lengths.race[1]}),
        "split": bar_svg(
            "split", dict(zip(("useful", "wasted", "redone"), lengths.split, strict=True))
        ),
        "keys": f'<meta name="scene-keys" content="{" ".join(SCENE_KEYS)}">',
        **start.regions(),
        "board": board_svg(run.slots(tick), False, CSS_COLOURS, summary(run, tick)),
        "legend": "".join(
            f'<li class="{state}">{swatch(state, False, 14, CSS_COLOURS)}{look.legend}</li>'
            for state, look in LOOKS.items()
            if state != EMPTY
        )
        + f'<li class="hollow">{swatch(ACCEPTED, True, 14, CSS_COLOURS)}known, not kept</li>',
        "caption": emphasised(told.caption),
        "strip": strip_html(told),
        "speed": f'<label class="speed" title="{speed.help}">{speed.label} <span id="speed">{write(speed, speed.default)}</span><input type="range" name="speed" min="0" max="1" '
        f'step="0.01" value="0.51" aria-valuetext="{write(speed, speed.default)} units of time a second"></label>',
        "plot": plot(run, tick),
        "timeline": f'<input type="range" name="{line.key}" min="0" max="{HORIZON}" step="1" '
        f'value="{tick}" aria-label="tick">',
        "sentence": escape(words.text, quote=False),
        "settings": escape(settings(run.params), quote=False),
        "controls": controls(),
        "table": "".join(
            f'<tr><th scope="row">{m.name}</th><td data-metric="{m.name}">{texts[m.name]}</td>'
            f"<td>{m.help}</td></tr>"
            for m in METRICS
        ),
        **{
            f"chart-{one.name}": table_html(one, one.table(run, tick, one.data(run, tick)))
            for one in CHARTS
        },
        "cards": "\n".join(
            f"<details><summary>{emphasised(card.question)}</summary>"
            f"<p>{emphasised(card.answer)}</p></details>"
            for card in CARDS
        ),
        "standings": "".join(
            f'<label><input type="radio" name="standing" value="{index}">{text}</label>'
            for index, text in enumerate(SELF_RATINGS)
        ),
        **{
            f"lab-{lab.name}": module.printed()
            for lab in LABS
            if hasattr(module := import_module(lab.rules), "printed")
        },
        **{f"claim-{name}": text for name, text in claims().items()},
    }


def printed(html: str) -> str:
    """`html` with every print region and every figure filled from the opening scene."""
    run, view = Run(Params()), View()
    html = start.filled(html, regions())
    texts = figures(run.report(view.tick), run)
    for name, text in texts.items():
        place = re.compile(
            rf'(<(\w+)(?: (?:class|id)="[^"]*")? data-(?:metric|text)="{name}">)[^<]*(</\2>)'
        )
        html = place.sub(lambda m, text=text: m[1] + escape(text, quote=False) + m[3], html)  # type: ignore[misc]
    return re.sub(r'(<output id="tick">)[^<]*', rf"\g<1>{view.tick}", html)


EXAMPLE = Scene(k=12, alpha=0.6, c=0.05, evict=134, tick=139)
"""The scene that the README shows as a picture."""

EXAMPLE_PICTURE = SITE / "static" / "scene.svg"


if __name__ == "__main__":
    target = SITE / "index.html"
    target.write_text(printed(target.read_text(encoding="utf-8")), encoding="utf-8")
    EXAMPLE_PICTURE.write_text(EXAMPLE.svg() + "\n", encoding="utf-8")
