"""Fill a page's places, as `sim.face` names them; none is passed over, on either side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from typing import NamedTuple

from sim.markup import escaped, quoted

NAMING = (
    *("data-metric", "data-text", "data-ghost"),
    *("data-number", "data-control", "data-action"),
)
"""Attributes that make an element a place: each of them has to be filled."""

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
SELECTOR = re.compile(r"#(?P<id>[\w-]+)|\[(?P<name>[\w-]+)=(?P<value>[\w-]+)\]|(?P<root>:root)")


class PlaceError(ValueError):
    """A page and what is to stand in it do not fit. The message names the place."""


class Element(NamedTuple):
    """An element of a page and where it stands in the text."""

    name: str
    attributes: dict[str, str | None]
    start: int
    inside: int
    """Where its content begins."""
    end: int
    """Where its content ends."""


class _Reader(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Element] = []
        self._open: list[int] = []
        self._lines = [0, *(match.end() for match in re.finditer("\n", html))]
        self.feed(html)
        self.close()
        if self._open:
            raise PlaceError(f"<{self.found[self._open[-1]].name}> is not closed")

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(len(self.found) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self._offset()
        inside = start + len(self.get_starttag_text() or "")
        self.found.append(Element(tag, dict(attrs), start, inside, inside))

    def handle_endtag(self, tag: str) -> None:
        index = self._open.pop() if self._open else -1
        if index < 0 or self.found[index].name != tag:
            raise PlaceError(f"</{tag}> closes what is not open, in line {self.getpos()[0]}")
        self.found[index] = self.found[index]._replace(end=self._offset())


def elements(html: str) -> list[Element]:
    """Every element of a page, in its order. Raises PlaceError where tags do not match."""
    return _Reader(html).found


def matching(selector: str, among: Iterable[Element]) -> list[Element]:
    """The elements of a place. Raises PlaceError for none, or for several of one id."""
    read = SELECTOR.fullmatch(selector)
    if read is None:
        raise PlaceError(f"{selector} is no selector of a place")
    name, value = (read["name"], read["value"]) if read["name"] else ("id", read["id"])
    found = [
        one
        for one in among
        if (one.name == "html" if read["root"] else one.attributes.get(name) == value)
    ]
    if not found or (read["id"] and len(found) > 1):
        raise PlaceError(f"the page has {len(found)} places for {selector}")
    return found


def filled(html: str, shown: Mapping[str, str | bool], later: Iterable[str] = ()) -> str:
    """The page with everything shown in its places.

    `later` are places that must be there and stay as they are. Raises PlaceError for a place that
    the page has not, and for one in the page of which nothing is known.
    """
    among = elements(html)
    tags: dict[int, tuple[int, str]] = {}
    edits: list[tuple[int, int, str]] = []
    for place in later:
        matching(place.partition("@")[0], among)
    for place, value in shown.items():
        selector, _, name = place.partition("@")
        for one in matching(selector, among):
            if name:
                _, tag = tags.get(one.start, (0, html[one.start : one.inside]))
                tags[one.start] = one.inside, _with(tag, place, value)
            else:
                edits.append((one.inside, one.end, escaped(value)))
    known = {place.partition("@")[0] for place in (*shown, *later)}
    for one in among:
        for name in NAMING:
            if name in one.attributes and f"[{name}={one.attributes[name]}]" not in known:
                raise PlaceError(f"nothing is known of {name}={one.attributes[name]}")
    return _edited(html, edits + [(start, inside, tag) for start, (inside, tag) in tags.items()])


def _with(tag: str, place: str, value: str | bool) -> str:
    """A start tag with an attribute, which it has already, at this value."""
    name = place.partition("@")[2]
    if name.startswith("."):
        (classes,) = re.findall(r' class="([^"]*)"', tag) or [""]
        if (name[1:] in classes.split()) is not value:
            raise PlaceError(f"{place}: the page is not printed in this state")
        return tag
    if isinstance(value, bool):
        if (re.search(rf" {name}(?=[\s/>])", tag) is not None) is not value:
            raise PlaceError(f"{place}: the page is not printed in this state")
        return tag
    made, found = re.subn(rf'( {name}=")[^"]*"', lambda old: f'{old[1]}{quoted(value)}"', tag)
    if found != 1:
        raise PlaceError(f"{place}: no such attribute")
    return made


def _edited(html: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with each stretch replaced. Raises PlaceError where one lies in another."""
    parts, at = [], 0
    for start, end, text in sorted(edits):
        if start < at:
            raise PlaceError(f"a place is inside of another: {html[start:end]}")
        parts += [html[at:start], text]
        at = end
    return "".join(parts) + html[at:]
