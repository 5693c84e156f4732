"""The chart of two models' next word: what both offer is kept, and that is the acceptance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.chart import Data, Rows, Stop, Table, specification
from sim.labs.facts import DRAFT, TARGET

KEPT, REDRAWN, REJECTED = "in both: kept", "p alone: redrawn", "q alone: rejected"


PART = {KEPT: "accepted", REDRAWN: "bonus", REJECTED: "rejected"}
"""The parts of the bars, and the role of the colour of each."""

Model = Mapping[str, float]
"""Each word, and its chance."""


def overlap_data(target: Model = TARGET, draft: Model = DRAFT) -> Data:
    """For each word two bars: p, what both offer and what only the big model does; and q alike."""
    bars: Rows = []
    tops: Rows = []
    for word, p in target.items():
        q = draft[word]
        both = min(p, q)
        for model, chance, part in (("p", p, REDRAWN), ("q", q, REJECTED)):
            place = {"word": word, "model": model}
            bars.append({**place, "part": KEPT, "low": 0.0, "high": both})
            if chance > both:
                bars.append({**place, "part": part, "low": both, "high": chance})
            tops.append({**place, "high": chance})
    return {"bars": bars, "tops": tops}


def overlap_table(target: Model = TARGET, draft: Model = DRAFT) -> Table:
    """The same word by word, and in all."""
    rows = {word: (p, draft[word], min(p, draft[word])) for word, p in target.items()}
    whole = [sum(column) for column in zip(*rows.values(), strict=True)]
    return Table(
        ["word", "p", "q", "the smaller: accepted"],
        [
            [word, *(f"{n:.2f}" for n in numbers)]
            for word, numbers in [*rows.items(), ("in all", whole)]
        ],
    )


def overlap_stops(target: Model = TARGET, draft: Model = DRAFT) -> list[Stop]:
    """Each word."""
    stops = []
    for word, p in target.items():
        q = draft[word]
        more = (
            f"{p - q:.2f} redrawn"
            if p > q
            else f"{q - p:.2f} rejected"
            if q > p
            else "nothing more"
        )
        stops.append(Stop(word, f"“{word}”: p {p:.2f}, q {q:.2f}; {min(p, q):.2f} kept, {more}."))
    return stops


Encoding = dict[str, Any]


def word_axis(sort: list[str] | None = None, **axis: object) -> Encoding:
    """The words side by side, in the order of the data unless they are sorted."""
    return {
        "field": "word",
        "type": "nominal",
        "title": None,
        "sort": sort,
        "axis": {"labelAngle": 0, "labelFontSize": 14, **axis},
    }


def share_axis(field: str, title: str, **scale: object) -> Encoding:
    """Chances or shares upwards."""
    scaled = scale or {"domainMin": 0}
    axis = {"tickCount": 5}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": scaled}


def colour_key(
    colours: Mapping[str, str], field: str, roles: Mapping[str, str], narrow: str
) -> Encoding:
    """Colours by role, told in a legend; `narrow` is an expression of its columns."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(roles), "range": [colours[role] for role in roles.values()]},
        "legend": {"columns": {"expr": narrow}, "symbolType": "square"},
    }


def bars_of(
    colours: Mapping[str, str], word: Encoding, chance: Encoding, part: Encoding
) -> tuple[Encoding, list[Encoding]]:
    """Where the bars of a word stand, and the layers that draw them: parts, and p or q above."""
    word = {**word, "scale": {"paddingInner": 0.25}}
    place = {"x": word, "xOffset": {"field": "model", "sort": ["p", "q"]}}
    top = {**place, "y": {**chance, "field": "high"}, "text": {"field": "model"}}
    return place, [
        {
            "data": {"name": "bars"},
            "mark": {"type": "bar", "stroke": colours["ground"], "strokeWidth": 1},
            "encoding": {**place, "y": chance, "y2": {"field": "high"}, "color": part},
        },
        {
            "data": {"name": "tops"},
            "mark": {"type": "text", "dy": -8, "fontSize": 13, "color": colours["ink"]},
            "encoding": top,
        },
    ]


SAID = (
    "the big model’s chance p and the draft model’s chance q. The lower part of both is the "
    "smaller of the two, and is kept; what p has more is drawn after a rejection, what q has more "
    "is rejected."
)


def overlap_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 7: the overlap of p and q is the acceptance of this context."""
    chance = share_axis("low", "chance of the word", domain=[0, 0.6], nice=False)
    part = colour_key(colours, "part", PART, "width < 400 ? 2 : 3")
    _, layers = bars_of(colours, word_axis(list(TARGET)), chance, part)
    return specification(colours, f"Two bars for each of four words: {SAID}", layers)
