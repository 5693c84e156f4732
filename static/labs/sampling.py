"""The lab of sampling on the page: models and rules are set, passes watched, texts written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sim.labs.convert import from_rates
from sim.labs.sampling import command_of
from sim.labs.sampling_section import OF_LANGUAGE, ROWS, rule_html, write_label
from sim.labs.sampling_settings import BY_RULE, Asked, language_of
from sim.markup import tag
from sim.run import Run
from sim.settings import entered, write
from static import browser
from static.browser import Attribute, one
from static.chart import Numpy
from static.labs.sampling_text import Writing
from static.labs.sampling_watch import Watch
from static.loader import Link
from static.settled import SettledView

if TYPE_CHECKING:  # it needs NumPy, which comes after the view
    from sim.labs.sampling_rules import Models

SOON = 150
"""Milliseconds after the last change until what follows from it is computed."""

LAST_SEED = 2**32


class View(SettledView[Asked]):
    """Settings, and what follows from them once NumPy is here."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link, "sampling", Asked())
        self._wrong = ""
        self._models: Models | None = None
        self._numpy = Numpy()
        self._watch, self._writing = Watch(), Writing()
        self._said = Attribute(one("#sampling-said"), "textContent")
        self._command = Attribute(one("#sampling-command"), "textContent")
        self._rule = Attribute(one("#sampling-does"), "innerHTML")
        self._write = one("#sampling-write")
        self._buttons = [self._write, one("#sampling-again"), one("#sampling-use")]
        self._soon = browser.Delay(SOON, self._compute)
        browser.listen(section, "input change", self._enter)
        browser.listen(section, "click", self._press)
        self._renew()
        self._numpy.bring(self._compute)

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """Only its colours are the widget's."""
        self._watch.colour(colours)
        self._writing.colour(colours)

    def settled(self) -> None:
        """Show what a link has set."""
        self._renew()

    def _enter(self, event: Any) -> None:
        """A slider was moved, or a field left with something else in it."""
        key = str(event.target.id).removeprefix("sampling-")
        if key not in ROWS or (event.type == "input" and event.target.type != "range"):
            return
        row = ROWS[key]
        value, complaint = entered(row, str(event.target.value), getattr(self.asked, row.name))
        self._set(**{row.name: value})
        if complaint:
            event.target.value = write(row, value)
            self._said.write(complaint)

    def _set(self, **changed: object) -> None:
        """Change settings; the address follows."""
        asked = replace(self.asked, **changed)  # type: ignore[arg-type]  # by name, each its kind
        if asked != self.asked:
            self.asked = asked
            self._renew()
            self.keep()

    def _renew(self) -> None:
        """Show the settings, and forget what followed from others."""
        asked, self._wrong, self._models = self.asked, "", None
        for key, row in ROWS.items():
            text = write(row, getattr(asked, row.name))
            control, output = one(f"#sampling-{key}"), one(f"#sampling-{key}-value")
            if control and control.value != text:
                control.value = text
            if output:
                output.textContent = text
        for kind in OF_LANGUAGE:
            one(f"#lab-sampling [data-of={kind}]").hidden = kind != asked.language
        one("#lab-sampling [data-key=stale]").hidden = asked.rule != "stale-temperature"
        for button in browser.every("[data-rule]"):
            chosen = button.getAttribute("data-rule") == asked.rule
            button.setAttribute("aria-pressed", "true" if chosen else "false")
        self._write.textContent = write_label(asked.tokens)
        for button in self._buttons:
            button.disabled = True
        self._writing.forget()
        self._watch.rest()
        self._put(asked.ask)
        command = ""
        try:
            self._watch.set(language_of(asked))
            command = command_of(asked)
        except ValueError as problem:
            self._wrong = str(problem)
        self._command.write(command)
        self._say()
        self._soon.ask()

    def _say(self) -> None:
        """Say what is wrong with the settings or with NumPy, or that it is still on its way."""
        missing = ""
        if error := self._numpy.error:
            missing = f"NumPy did not come ({error}); press “Write” to ask for it again."
        self._said.write(self._wrong or missing)
        if not self._numpy.here and not missing:
            self._writing.say("Bringing NumPy, which draws the words …")

    def _put(self, secret: bool) -> None:
        """Put the question, and tell nothing that answers it until it is answered."""
        self._writing.secret = secret
        one("#sampling-question").hidden = not secret
        for button in self._buttons[:2]:
            button.hidden = secret
        rule = BY_RULE[self.asked.rule]
        self._rule.write(tag("b", rule.title) if secret else rule_html(rule))

    def _compute(self) -> None:
        """The rule's exact numbers, once NumPy is here."""
        self._say()
        self._write.disabled = not self._numpy.error
        if not self._numpy.here or self._wrong:
            return
        from sim.labs.sampling_exact import exact
        from sim.labs.sampling_rules import models_of

        asked = self.asked
        try:
            self._models = models_of(language_of(asked))
            known = exact(self._models, asked.rule, asked.k, asked.stale)
        except ValueError as problem:
            self._wrong = str(problem)
            self._say()
            return
        for button in self._buttons:
            button.disabled = False
        self._watch.ready(known, asked.seed)
        self._writing.ready(known, asked)

    def _press(self, event: Any) -> None:
        button = event.target.closest("button")
        if not button:
            return
        if rule := button.getAttribute("data-rule"):
            self._set(rule=str(rule))
        elif answer := button.getAttribute("data-answer"):
            self._put(False)
            self._writing.start(str(answer))
        elif button.id == "sampling-write" and self._numpy.error:
            self._numpy.error = ""
            self._say()
            self._numpy.bring(self._compute)
        elif button.id == "sampling-write":
            self._writing.start()
        elif button.id == "sampling-again":
            self._set(seed=(self.asked.seed + 1) % LAST_SEED)
            self._soon.drop()
            self._compute()
            self._put(False)
            self._writing.start()
        elif button.id == "sampling-use":
            self._use()

    def _use(self) -> None:
        """Set the widget to what these two models accept by the right rule."""
        if self._models is None:
            return
        from sim.labs.sampling_exact import exact

        known = exact(self._models, "standard", self.asked.k)
        self.link.change(from_rates(known.rates).scene())
