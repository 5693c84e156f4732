"""The elements of a piece of HTML, in order."""

from __future__ import annotations

from html.parser import HTMLParser


class Cells(HTMLParser):
    """Each element that begins, with its attributes and the text up to the next."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        tag, attrs, text = self.seen[-1]
        self.seen[-1] = tag, attrs, text + data
