"""The board as SVG text: for the page before Python arrives, for links, for print."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from sim.marks import COLUMNS, LOOKS, RADIUS, ROWS, Shape, columns, shapes
from sim.story import Strip

CELL, PITCH = 20, 23
WIDTH = 744
HEIGHT = (ROWS - 1) * PITCH + CELL

CSS_COLOURS = {
    role: f"var(--{role})"
    for role in (
        "ground",
        "panel",
        "line",
        "ink",
        "muted",
        "on",
        "empty",
        "accepted",
        "bonus",
        "rejected",
        "discarded",
        "evicted",
    )
}
"""A palette for SVG inside the page, whose colours follow the page's theme."""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _shape(shape: Shape, size: float, colours: Mapping[str, str]) -> str:
    kind, *numbers, role = shape
    colour = colours[role]
    n = [_number(value * size) for value in numbers]
    if kind == "cell":
        side, rx = _number(size), _number(RADIUS * size)
        return f'<rect width="{side}" height="{side}" rx="{rx}" fill="{colour}"/>'
    if kind == "line":
        return (
            f'<path d="M{n[0]} {n[1]}L{n[2]} {n[3]}" '
            f'fill="none" stroke="{colour}" stroke-width="{n[4]}"/>'
        )
    if kind == "dot":
        return f'<circle cx="{n[0]}" cy="{n[1]}" r="{n[2]}" fill="{colour}"/>'
    if kind == "ring":
        return (
            f'<circle cx="{n[0]}" cy="{n[1]}" r="{n[2]}" '
            f'fill="none" stroke="{colour}" stroke-width="{n[3]}"/>'
        )
    inset, width = numbers
    start, side = _number((inset + width / 2) * size), _number((1 - 2 * inset - width) * size)
    rx = _number((RADIUS - inset - width / 2) * size)
    return (
        f'<rect x="{start}" y="{start}" width="{side}" height="{side}" rx="{rx}" '
        f'fill="none" stroke="{colour}" stroke-width="{n[1]}"/>'
    )


def swatch(state: str, hollow: bool, size: int, colours: Mapping[str, str]) -> str:
    """One cell as an SVG of its own, for a legend."""
    inside = "".join(_shape(shape, size, colours) for shape in shapes(state, hollow))
    return (
        f'<svg class="swatch" viewBox="0 0 {size} {size}" width="{size}" height="{size}" '
        f'aria-hidden="true">{inside}</svg>'
    )


def board_svg(
    slots: list[str], hollow: bool, colours: Mapping[str, str], title: str, prefix: str = "slot"
) -> str:
    """The whole board; `slots` are state names by slot, `colours` maps roles to CSS colours.

    `prefix` starts the ids inside, which must be unique on a page.
    """
    lefts = columns(WIDTH, CELL)
    used = [state for state in LOOKS if state in slots]
    defined = "".join(
        f'<g id="{prefix}-{state}">'
        + "".join(_shape(shape, CELL, colours) for shape in shapes(state, hollow))
        + "</g>"
        for state in used
    )
    cells = "".join(
        f'<use href="#{prefix}-{state}" x="{_number(lefts[slot % COLUMNS])}" '
        f'y="{slot // COLUMNS * PITCH}"/>'
        for slot, state in enumerate(slots)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}"><defs>{defined}</defs>{cells}</svg>'
    )


def strip_html(strip: Strip) -> str:
    """The cells of one pass, or how much of an evicted cache is back."""
    if strip.restored is not None:
        return (
            '<svg class="restored" viewBox="0 0 100 1" preserveAspectRatio="none" '
            'aria-hidden="true">'
            f'<rect width="{100 * strip.restored:.1f}" height="1"/></svg>'
        )
    return "".join(
        f'<div class="cell {cell.state}" title="{escape(cell.label)}"><b>{cell.mark}</b>'
        f"<small>{_coin(cell.coin)}</small></div>"
        for cell in strip.cells
    )


def _coin(text: str) -> str:
    """A coin and, in an element of its own that may be left out, what it had to stay below."""
    coin, _, rate = text.partition(" ")
    return f"{coin}<i> {escape(rate)}</i>" if rate else escape(coin)


def emphasised(text: str) -> str:
    """Text as HTML, its **emphasis** kept."""
    parts = escape(text, quote=False).split("**")
    return "".join(f"<b>{part}</b>" if i % 2 else part for i, part in enumerate(parts))
