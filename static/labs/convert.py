"""The converter on the page: one number goes in, all others come out, and into the widget."""

from __future__ import annotations

from typing import Any

from sim.labs.convert import GIVEN, Asked, Conversion, convert, table_html
from static import browser
from static.browser import Attribute, one
from static.loader import Link
from static.settled import SettledView


class View(SettledView[Asked]):
    """Fields, of which the last one written into counts, and the numbers that follow from it."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link, "convert", Asked())
        self._fields = {key: one(f"#convert-{key}") for key in ("k", *(g.key for g in GIVEN))}
        self._table = Attribute(one("#convert-table"), "innerHTML")
        self._said = Attribute(one("#convert-said"), "textContent")
        self._use = one("#convert-use")
        self._made: Conversion | None = None
        browser.listen(one("#convert-fields"), "input", self._enter)
        browser.listen(self._use, "click", self._take)
        self._use.disabled = True
        if any(self._given().values()):
            self._show()

    def settled(self) -> None:
        """Write the numbers of a link into the fields."""
        given = any(f"convert.{given.key}" in self._told for given in GIVEN)
        for key, field in self._fields.items():
            field.value = self._told.get(f"convert.{key}", "" if given else field.defaultValue)
        self._show()

    def _given(self) -> dict[str, str]:
        return {given.key: str(self._fields[given.key].value) for given in GIVEN}

    def _enter(self, event: Any) -> None:
        """Take what was written; a number in another field would be a second one."""
        if event.target.id != "convert-k":
            for given in GIVEN:
                field = self._fields[given.key]
                if field.id != event.target.id:
                    field.value = ""
        self._show()
        if self._made:
            texts = {
                f"convert.{key}": str(f.value).strip().replace(";", ",")
                for key, f in self._fields.items()
            }
            self._told = {key: text for key, text in texts.items() if text}
            self.link.change({key: text or None for key, text in texts.items()})

    def _show(self) -> None:
        try:
            self._made = convert(self._given(), str(self._fields["k"].value))
        except ValueError as complaint:
            self._made = None
            self._said.write(str(complaint))
        else:
            self._table.write(table_html(self._made.report()))
            self._said.write("")
        self._use.disabled = self._made is None

    def _take(self, _event: Any) -> None:
        if self._made:
            self.link.change(self._made.scene())
