"""The one writer of HTML and SVG: what is put in is escaped, unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

CHILDLESS = {"circle", "path", "rect"}
"""Elements of SVG that are written without content."""

VOID = {"img", "input"}
"""Elements of HTML that have no end tag."""


class Markup(str):
    """Text that is HTML, with everything in it escaped that had to be."""

    __slots__ = ()

    def __html__(self) -> str:
        """Itself: templates do not escape it again."""
        return self


def escaped(text: object) -> Markup:
    """A text as HTML; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape(str(text), quote=False))


def quoted(text: object) -> str:
    """A text as the value of an attribute."""
    return escape(str(text))


def joined(parts: Iterable[object]) -> Markup:
    """One after the other."""
    return Markup("".join(map(escaped, parts)))


def start(name: str, **attributes: object) -> Markup:
    """A start tag.

    Attributes are written as Python can name them: `class_`, `aria_label`, `viewBox`. True stands
    for an attribute without a value, False for none.
    """
    parts = [f"<{name}"]
    for attribute, value in attributes.items():
        if value is False:
            continue
        written = attribute.rstrip("_").replace("_", "-")
        parts.append(f" {written}" if value is True else f' {written}="{quoted(value)}"')
    return Markup("".join(parts) + ("/>" if name in CHILDLESS else ">"))


def tag(name: str, *inside: object, **attributes: object) -> Markup:
    """An element with its content; attributes as for `start`."""
    opening = start(name, **attributes)
    if name in CHILDLESS or name in VOID:
        return opening
    return Markup(f"{opening}{joined(inside)}</{name}>")
