"""The costs on a machine on the page: fields, what follows from them, and the way to the widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sim.catalogue import machine_named, model_named
from sim.labs.cost import as_before, better, parts, states
from sim.labs.cost_charts import CHARTS
from sim.labs.cost_fields import SHARE, USUAL_SHARE, drafts, keyed
from sim.labs.cost_settings import (
    BY_KEY,
    OF_THE_MACHINE,
    OF_THE_MODEL,
    Asked,
    figures,
    priced,
    settled,
)
from sim.labs.curve import lines_of, read_curve
from sim.labs.handed import scene
from sim.run import Run
from sim.settings import entered, updated, write
from static import browser, device
from static.browser import one
from static.chart import Colours, Drawn
from static.dom import Places
from static.loader import Link
from static.settled import SettledView

REST = 300
"""Milliseconds after which a link holds what a drag has set."""

COPIED_FOR = 1500
"""Milliseconds that a button says “Copied”."""


class View(SettledView[Asked]):
    """Fields, of which each change is priced at once."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link, "cost", Asked())
        self._inputs: dict[str, list[Any]] = {}
        for field in browser.every("#cost-fields [data-cost]"):
            self._inputs.setdefault(str(field.getAttribute("data-cost")), []).append(field)
        self._places = Places()
        self._wrong: dict[str, str] = {}
        self._said: dict[str, str] = {}
        self._use, self._best = one("#cost-use"), one("#cost-best")
        self._drawn = [Drawn(chart, link.change) for chart in CHARTS]
        self._colours: Colours = {}
        self._rest = browser.Delay(REST, self.keep)
        self._copied = browser.Delay(COPIED_FOR, self._rested)
        self._given = priced(self.asked)
        for fields in self._inputs.values():  # what was set while Python loaded
            self._take_in(fields[0])
        self._price()
        browser.listen(one("#cost-fields"), "input", self._move)
        browser.listen(one("#cost-fields"), "change", self._enter)
        browser.listen(one("#cost-fields"), "keydown", self._press)
        browser.listen(self._use, "click", self._take)
        browser.listen(self._best, "click", self._draft_best)
        browser.listen(one("#cost-leave"), "click", self._leave)
        browser.listen(one("#cost-engines"), "click", self._copy)

    def show(self, run: Run, tick: int, colours: Colours, playing: bool) -> None:
        """Draw in these colours."""
        if colours != self._colours:
            self._colours = colours
            self._draw()

    def redraw(self) -> None:
        """Draw anew what is drawn on a canvas."""
        for drawn in self._drawn:
            drawn.forget()

    def read(self, keys: Mapping[str, str]) -> tuple[Asked, list[str]]:
        """The settings that a link has, and what was wrong with it, with the nearest names."""
        return settled(keys)

    def settled(self) -> None:
        """Price what a link has set."""
        self._rest.drop()
        self._wrong.clear()
        self._price()
        self._fill()

    def _move(self, event: Any) -> None:
        """Take what a slider says while it is dragged."""
        if event.target.type == "range":
            self._set(event.target)

    def _enter(self, event: Any) -> None:
        """Take what was written or chosen."""
        if event.target.type != "range":
            self._set(event.target)

    def _press(self, event: Any) -> None:
        """Take what was written: not every browser takes Enter for a change."""
        if event.key == "Enter" and event.target.type == "text":
            self._set(event.target)

    def _set(self, field: Any) -> None:
        self._take_in(field)
        self._price()
        self._fill()
        self._rest.ask()

    def _take_in(self, field: Any) -> None:
        """Take one field into the settings, or remember what is wrong with what stands in it."""
        key = str(field.getAttribute("data-cost"))
        self._wrong.pop(key, None)
        complaint = self._read(field)
        if complaint:
            self._wrong[key] = keyed(complaint)[1]

    def _read(self, field: Any) -> str:
        """Take one field into the settings; what is wrong with it, and then nothing changes."""
        key, asked = str(field.getAttribute("data-cost")), self.asked
        if key == "parallel":
            self.asked = replace(asked, parallel=bool(field.checked))
        elif key == "curve":
            try:
                curve = read_curve(str(field.value))
            except ValueError as complaint:
                return f"{complaint}. The curve stays as it was."
            self.asked = replace(asked, curve=curve, device=asked.device and curve == asked.curve)
        elif key in ("draft", SHARE):
            return self._read_draft(key)
        elif key in ("model", "machine"):
            own = OF_THE_MODEL if key == "model" else OF_THE_MACHINE
            others = {} if getattr(asked, key) == field.value else dict.fromkeys(own)
            self._right(*others)
            self.asked, _ = updated(asked, {key: str(field.value), **others})
        else:
            return self._enter_value(key, str(field.value))
        return ""

    def _read_draft(self, key: str) -> str:
        choice, share = self._inputs["draft"][0], self._inputs[SHARE][0]
        if key == SHARE and str(share.value).strip():
            choice.value = SHARE
        if choice.value == SHARE:
            return self._enter_value("draft", str(share.value).strip() or USUAL_SHARE)
        self._right(SHARE)
        self.asked = replace(self.asked, draft=str(choice.value))
        return ""

    def _right(self, *keys: str) -> None:
        """Forget what was wrong with these fields, whose text is about to be replaced."""
        for key in keys:
            self._wrong.pop(key, None)

    def _enter_value(self, key: str, text: str) -> str:
        row = BY_KEY[key]
        value, complaint = entered(row, text, getattr(self.asked, row.name))
        self.asked, _ = updated(self.asked, {key: value})
        return complaint or ""

    def _price(self) -> None:
        """Show what follows from the settings, or why nothing does; and what else is wrong."""
        try:
            self._given = priced(self.asked)
        except ValueError as contradiction:
            key, text = keyed(str(contradiction))
            self._tell({**self._wrong, key: text})
            self._places.write({"#cost-verdict": as_before(self._given, "figures")})
            self._use.disabled = self._best.disabled = True
            return
        self._tell(self._wrong)
        told: dict[str, str | bool] = {**parts(self._given), **states(self.asked)}
        if "curve" in self._wrong:
            told["cost-verdict"] = as_before(self._given, "curve")
        self._places.write({f"#{place}": what for place, what in told.items()})
        self._use.disabled = scene(self._given) is None
        self._best.disabled = better(self._given) is None
        self._draw()

    def _tell(self, wrong: Mapping[str, str]) -> None:
        """Say below each field what is wrong with it; where that is new, its fold is opened."""
        for key in wrong.keys() - self._said.keys():
            if folded := self._inputs[key][0].closest("details"):
                folded.open = True
        self._said = dict(wrong)
        for key in self._inputs:
            invalid = "true" if key in wrong else False
            self._places.write(
                {
                    f"#cost-wrong-{key}": wrong.get(key, ""),
                    f"#cost-fields [data-cost={key}]@aria-invalid": invalid,
                }
            )

    def _draw(self) -> None:
        if self._colours:
            for drawn in self._drawn:
                drawn.show(self._given, self._colours)

    def _fill(self) -> None:
        """Write the settings into the fields, but for those that were not understood."""
        asked = self.asked
        choice, share = drafts(asked)
        known = {
            **figures(machine_named(asked.machine)),
            **figures(model_named(asked.model)),
        }
        self._inputs[SHARE][0].closest(".field").hidden = choice != SHARE
        for key, fields in self._inputs.items():
            if key == "curve":
                text = lines_of(asked.curve)
            elif key in ("draft", SHARE):
                text = choice if key == "draft" else share
            else:
                text = write(BY_KEY[key], getattr(asked, BY_KEY[key].name))
            for field in fields:
                if field.type == "checkbox":
                    field.checked = asked.parallel
                elif (key not in self._wrong or field.type == "range") and field.value != text:
                    field.value = text
                if key in known:
                    field.placeholder = f"{known[key]:.12g}"

    def _take(self, _event: Any) -> None:
        keys = scene(self._given)
        if keys:
            self.link.change(keys)

    def _draft_best(self, _event: Any) -> None:
        k = better(self._given)
        if k is not None:
            self._have(k=k)

    def _leave(self, _event: Any) -> None:
        """Price a machine and a model of the catalogue again."""
        self._have(curve=(), device=False)

    def _have(self, **changes: Any) -> None:
        self._right(*changes)
        self.asked = replace(self.asked, **changes)
        self._price()
        self._fill()
        self._rest.ask()

    def _copy(self, event: Any) -> None:
        button = event.target.closest("[data-copy]")
        if button:
            text = one(f"#{button.getAttribute('data-copy')}").textContent
            device.copy(str(text), lambda copied: self._told_copied(button, copied))

    def _told_copied(self, button: Any, copied: bool) -> None:
        self._rested()
        button.textContent = "Copied" if copied else "Select it, and press Ctrl+C"
        self._copied.ask()

    def _rested(self) -> None:
        for button in browser.every("#cost-engines [data-copy]"):
            button.textContent = "Copy"
