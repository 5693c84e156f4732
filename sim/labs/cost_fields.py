"""The fields of the costs on a machine: selects, sliders with their numbers, own figures."""

from __future__ import annotations

import re

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.kinds import Number
from sim.labs.cost_settings import (
    BY_KEY,
    OF_THE_MACHINE,
    OF_THE_MODEL,
    Asked,
    figures,
)
from sim.labs.curve import lines_of
from sim.labs.fields import labelled
from sim.labs.pricing import NGRAM
from sim.markup import Markup, joined, tag
from sim.settings import write

SHARE = "share"
"""What the choice of drafts says where they cost a share of the big model."""
USUAL_SHARE = "0.1"

SLIDERS = ("batch", "k", "alpha", "context")
OF_THE_CATALOGUE = (
    *("machine", "gpus", "model", "draft", "context"),
    *("bytes", "kvbytes", "memoryshare", "arithmeticshare"),
)
"""Fields that say nothing of passes that a device was timed at."""
MORE = ("bytes", "kvbytes", "memoryshare", "arithmeticshare", "rates")
LINES = "A line each: positions of all sequences together, and milliseconds."
_WRITTEN = {"autocomplete": "off", "spellcheck": "false"}


def drafts(asked: Asked) -> tuple[str, str]:
    """What the choice of drafts says, and the share beside it, empty where it is none."""
    if asked.draft == NGRAM or asked.draft in {model.name for model in MODELS}:
        return asked.draft, ""
    return SHARE, asked.draft


def _field(key: str, *inside: Markup, kind: str = "field", hidden: bool = False) -> Markup:
    """A field, and below it the place for what is wrong with it."""
    wrong = tag("p", class_="wrong", id=f"cost-wrong-{key}", role="alert")
    kind = f"{kind} catalogue" if key in OF_THE_CATALOGUE else kind
    return tag("div", *inside, wrong, class_=kind, hidden=hidden)


def _named(key: str) -> dict[str, object]:
    """What a field's control says of itself."""
    return {"data_cost": key, "aria_describedby": f"cost-wrong-{key}"}


def keyed(complaint: str) -> tuple[str, str]:
    """The key of the setting that a complaint begins with, and the complaint with its label."""
    key = re.split(r"\W", complaint, maxsplit=1)[0]
    return key, labelled(complaint, BY_KEY[key])


def _label(key: str, text: str = "") -> Markup:
    return tag("label", text or BY_KEY[key].label, for_=f"cost-{key}")


def _select(key: str, chosen: str, options: list[tuple[str, str]]) -> Markup:
    inside = [tag("option", text, value=value, selected=value == chosen) for value, text in options]
    return _field(key, _label(key), tag("select", *inside, id=f"cost-{key}", **_named(key)))


def _text(
    key: str, value: str, label: str = "", placeholder: str = "", hidden: bool = False
) -> Markup:
    mode = "text" if key == "rates" else "decimal"
    field = tag(
        "input",
        type="text",
        id=f"cost-{key}",
        value=value,
        placeholder=placeholder or False,
        inputmode=mode,
        title=BY_KEY[key].help if key in BY_KEY else False,
        **_named(key),
        **_WRITTEN,
    )
    return _field(key, _label(key, label), field, hidden=hidden)


def _slider(key: str, asked: Asked) -> Markup:
    row = BY_KEY[key]
    kind, value = row.kind, write(row, getattr(asked, row.name))
    assert isinstance(kind, Number)
    assert kind.slider
    most, step = kind.slider
    drawn = {"min": f"{kind.low:g}", "max": f"{most:g}", "step": f"{step:g}"}
    return _field(
        key,
        _label(key),
        tag(
            "input",
            type="text",
            id=f"cost-{key}-number",
            value=value,
            inputmode="decimal",
            aria_label=row.label,
            **_named(key),
            **_WRITTEN,
        ),
        tag("input", type="range", id=f"cost-{key}", value=value, **drawn, **_named(key)),
        kind="field slider",
    )


def fields_html(asked: Asked) -> Markup:
    """All fields, filled with these settings."""
    choice, share = drafts(asked)
    models = [(model.name, model.name) for model in MODELS]
    kinds = [(NGRAM, "n-grams"), (SHARE, "a share of a pass")]
    first = [
        _select("machine", asked.machine, [(one.name, one.name) for one in MACHINES]),
        _text("gpus", str(asked.machines)),
        _select("model", asked.model, models),
        _select("draft", choice, [*kinds, *models]),
        _text(SHARE, share, "share of a plain pass", USUAL_SHARE, hidden=choice != SHARE),
    ]
    switch = tag(
        "label",
        tag("input", type="checkbox", id="cost-parallel", data_cost="parallel"),
        " one pass for all drafts of a round",
        class_="field check",
    )
    more = [_text(key, write(BY_KEY[key], getattr(asked, BY_KEY[key].name))) for key in MORE]
    curve = tag(
        "textarea",
        lines_of(asked.curve),
        id="cost-curve",
        rows="4",
        placeholder="1 4.8\n64 5.1\n512 14",
        **_named("curve"),
        **_WRITTEN,
    )
    measured = _field("curve", _label("curve"), curve)
    return joined(
        [
            tag("div", *first, class_="fields"),
            tag("div", *(_slider(key, asked) for key in SLIDERS), class_="fields"),
            tag(
                "div",
                _details("More settings", tag("div", *more, switch, class_="fields")),
                _details("Your own machine or model", *_own(asked), kind="catalogue"),
                _details("Your own measurements", tag("p", LINES), measured),
                class_="folds",
            ),
        ]
    )


def _own(asked: Asked) -> list[Markup]:
    """Fields for figures of one's own: an empty one is the catalogue's, which it shows."""
    known = {**figures(machine_named(asked.machine)), **figures(model_named(asked.model))}
    note = "An empty field is the figure of the catalogue, which it shows."
    groups = [
        tag(
            "div",
            *(_text(key, _own_text(asked, key), placeholder=f"{known[key]:.12g}") for key in keys),
            class_="fields",
        )
        for keys in (OF_THE_MACHINE, OF_THE_MODEL)
    ]
    return [tag("p", note), *groups]


def _own_text(asked: Asked, key: str) -> str:
    return write(BY_KEY[key], getattr(asked, BY_KEY[key].name))


def _details(summary: str, *inside: Markup, kind: str = "") -> Markup:
    return tag("details", tag("summary", summary), *inside, class_=kind or False)
