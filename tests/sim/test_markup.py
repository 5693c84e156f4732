"""Whatever is put into markup comes out of a parser as it was."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from sim.markup import Markup, escaped, joined, quoted, start, tag
from tests.server import ROOT
from tests.sources import imports

# A parser of HTML reads a carriage return as a line's end, and leaves out what is no character.
TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


class Reader(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[object] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if self.seen and isinstance(self.seen[-1], list):
            self.seen[-1][0] += data
        else:
            self.seen.append([data])


@given(TEXT, TEXT)
def test_texts_and_attributes_come_back_as_they_were(text: str, value: str) -> None:
    made = tag("p", tag("b", text), title=value, data_x=value)
    inside = [[text]] if text else []
    attributes = {"title": value, "data-x": value}
    assert Reader(made).seen == [("p", attributes), ("b", {}), *inside, "/b", "/p"]
    assert Reader(f'<i id="{quoted(value)}">').seen == [("i", {"id": value})]


def test_markup_is_not_escaped_again() -> None:
    bold = tag("b", "<")
    assert bold == "<b>&lt;</b>"
    assert escaped(bold) is bold
    assert joined([bold, "<", 5]) == "<b>&lt;</b>&lt;5"
    assert isinstance(joined([]), Markup)
    assert escaped("it's") == "it's"


def test_attributes_are_named_as_html_names_them() -> None:
    assert start("p", class_="x", aria_label="y", viewBox="0 0") == (
        '<p class="x" aria-label="y" viewBox="0 0">'
    )
    assert start("p", hidden=True, disabled=False, rows=1, id="") == '<p hidden rows="1" id="">'


def test_elements_without_content_are_written_as_their_language_has_them() -> None:
    assert tag("path", d="M0 0") == '<path d="M0 0"/>'
    assert tag("input", value="<") == '<input value="&lt;">'
    assert tag("p") == "<p></p>"


def test_no_other_module_escapes_on_its_own() -> None:
    for file in (ROOT / "sim").rglob("*.py"):
        if file.name != "markup.py":
            source = file.read_text(encoding="utf-8")
            assert "html" not in imports(file) or "import escape" not in source, file
