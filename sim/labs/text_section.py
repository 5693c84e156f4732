"""The section of the lab as it is printed: what is set, the text, its board, what is measured."""

from __future__ import annotations

from collections.abc import Mapping

from sim.chart import figure_html
from sim.labs.fields import field_html, fields_html
from sim.labs.text_chart import WIDTH_CHART, Timed
from sim.labs.text_settings import ROWS, Asked
from sim.labs.text_shown import KEY
from sim.markup import Markup, joined, tag

SET = ("prompt", "k", "temperature", "draft", "seed")
"""Settings with a field; the switches are buttons."""

DRAFT_NAMES = {"ngram": "n-gram table", "small": "small model"}

USES = {
    "use": "Use these rates in the widget",
    "copy": "Copy the text",
    "compare": "Write the likeliest text with and without drafts",
}
TIMES = {"measure": "Time passes on this device", "price": "Use these times in the cost lab"}
NAMED = {"role": "group", "aria_label": "The text"}
POINT = "Point at a token, or press it, to see what the two models said there."

WIDTH_SAID = (
    "The time of a pass by the positions in it, as often as that of a pass over one. A data-centre "
    "card waits for memory, and checks five positions in the time of one; NumPy in a browser has "
    "no arithmetic to spare, so here the line rises almost at once. Then speculation saves passes, "
    "and loses time."
)


def printed() -> Markup:
    """The section, with its opening settings."""
    opening = Asked()
    return joined(
        [
            _fields(opening, "prompt"),
            _buttons(),
            tag("p", class_="wrong", id="text-said", role="alert"),
            tag(
                "div",
                tag("div", id="text-shown", class_="text-shown", tabindex="0", **NAMED),
                tag("div", POINT, id="text-note", class_="text-note"),
                class_="text-beside",
            ),
            _key(),
            tag(
                "div",
                tag("canvas", id="text-board", role="img", aria_label="The cache of this text"),
                id="text-board-box",
                class_="text-board",
            ),
            tag("p", id="text-kept", class_="text-kept"),
            _fields(opening, "k", "temperature", "draft", "seed"),
            _measured(),
            _acts(USES),
            tag("p", id="text-told", class_="text-told", role="status"),
            _acts(TIMES),
            figure_html(WIDTH_CHART, WIDTH_SAID, Timed()),
            tag(
                "details",
                tag("summary", "The same in a terminal"),
                tag("pre", tag("code", "python3 -m sim text", id="text-command")),
            ),
        ]
    )


def _fields(asked: Asked, *keys: str) -> Markup:
    lines = {"prompt": 2}
    return fields_html(
        *(
            field_html("text", row, getattr(asked, row.name), DRAFT_NAMES, lines.get(row.key, 1))
            for row in (ROWS[key] for key in keys)
        )
    )


def _buttons() -> Markup:
    quiet = {"type": "button", "disabled": True}
    return tag(
        "div",
        tag("button", "Write", id="text-write", class_="primary", **quiet),
        tag("button", "New seed", id="text-anew", **quiet),
        tag("button", "KV cache", id="text-cache", aria_pressed="true", **quiet),
        tag("button", "Speculation", id="text-speculation", aria_pressed="true", **quiet),
        tag("button", "Evict the KV cache", id="text-evict", class_="danger", **quiet),
        class_="lab-acts",
    )


def _key() -> Markup:
    parts = (joined([tag("i", "word", class_=kind), f" {text} "]) for kind, text in KEY)
    return tag("p", *parts, class_="text-key")


def _measured() -> Markup:
    heads = (tag("th", text, scope="col") for text in ("measured", "here", "of what"))
    table = tag(
        "table",
        tag("caption", "What is measured of this text", class_="sr-only"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", id="text-numbers"),
        class_="names",
    )
    return tag("section", table, class_="wide", aria_label="What is measured", tabindex="0")


def _acts(buttons: Mapping[str, str]) -> Markup:
    quiet = {"type": "button", "disabled": True}
    made = (tag("button", text, id=f"text-{key}", **quiet) for key, text in buttons.items())
    return tag("div", *made, class_="lab-acts")
