"""The fields of a lab's settings: printed by their kind, named in what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

from sim.kinds import Choice, Number
from sim.markup import Markup, joined, tag
from sim.settings import Setting, write


def field_html(
    lab: str, row: Setting, value: object, names: Mapping[str, str] | None = None, lines: int = 1
) -> Markup:
    """A setting of a lab: a choice, whose options `names` may name; a slider with its number
    beside it; or a text, of several `lines` where it is long.

    The field's id is `LAB-KEY`, that of the number beside a slider `LAB-KEY-value`.
    """
    name, kind, text = f"{lab}-{row.key}", row.kind, write(row, value)
    plain = {"autocomplete": "off", "spellcheck": "false", "aria_describedby": f"{name}-help"}
    if isinstance(kind, Choice):
        options = (
            tag("option", (names or {}).get(one, one), value=one, selected=one == text)
            for one in kind.names
        )
        control = tag("select", *options, id=name, aria_describedby=f"{name}-help")
    elif isinstance(kind, Number) and kind.slider:
        most, step = kind.slider
        limits = {"min": f"{kind.low:g}", "max": f"{most:g}", "step": f"{step:g}"}
        slider = tag("input", type="range", id=name, value=text, **limits, **plain)
        control = joined([slider, tag("output", text, for_=name, id=f"{name}-value")])
    elif lines > 1:
        control = tag("textarea", text, id=name, rows=f"{lines}", **plain)
    else:
        control = tag("input", type="text", id=name, value=text, **plain)
    return tag(
        "div",
        tag("label", row.label, for_=name),
        tag("span", control),
        tag("p", row.help, id=f"{name}-help"),
        class_="lab-field",
        data_key=row.key,
    )


def labelled(complaint: str, row: Setting) -> str:
    """A complaint about a setting that begins with its key: with the label that the reader sees."""
    rest = complaint.removeprefix(row.key)
    return row.label + (f": {rest[1:]}" if rest.startswith("=") else rest)


def fields_html(*fields: Markup, **attributes: object) -> Markup:
    """Fields beside each other, as many as there is room for."""
    return tag("div", *fields, class_="lab-fields", **attributes)
