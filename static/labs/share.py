"""The share dialog: what is chosen there, as links and snippets that are always current."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sim.labs import BY_NAME
from sim.labs.share import (
    BESIDE_IT,
    INSIDE,
    OUTSIDE,
    dialog_html,
    page_address,
    picture_name,
    snippets,
)
from sim.scene import passes_csv, picture
from sim.settings import updated
from sim.view import NO_QUESTION
from sim.view import View as Scene
from static import browser, device
from static.browser import one
from static.loader import LabView, Link

CHOSEN = ("show", "lock", "ask", "ask_text", "theme", "play")
"""Settings of a scene that are chosen here, and stay chosen while the page is open."""

EDITED = (
    "Nothing is locked or asked now. Change the scene, then press Share again: "
    "its locks and its question are still chosen there."
)

COPIED_FOR = 1500
"""Milliseconds that a button says “Copied”."""


class View(LabView):
    """The dialog over one scene."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link)
        self._dialog = section
        self._view = Scene()  # with what was chosen so far
        self._own: Scene | None = None  # without, when last looked at
        self._hosted, self._inside = "", True
        self._rest = browser.Delay(COPIED_FOR, self._rested)
        browser.listen(self._dialog, "input", self._choose)
        browser.listen(self._dialog, "click", self._click)

    def open(self) -> None:
        """Show the dialog for the scene as it is; while its numbers are a secret, none is told."""
        run, view, self._keys, secret = self.link.scene()
        self._run, self._view = run, self._with_choices(view)
        self._alone = view.lab in BY_NAME  # then nothing of the widget is chosen
        self._address = browser.address("")
        self._dialog.innerHTML = dialog_html(
            *(self._hosted or self._address, run.params, self._view, self._keys),
            where=INSIDE if self._inside else BESIDE_IT,
            fixed=bool(view.lock or view.asks),
        )
        if not self._alone:
            one('[data-share-action="passes"]').disabled = secret
        self._show()
        self._dialog.showModal()

    def _with_choices(self, view: Scene) -> Scene:
        """The scene with what was chosen here before, but for what is new in it since then.

        A question that is over is nothing new.
        """
        own, self._own = self._own, view
        if own is None:
            return view
        over = ("ask", "ask_text") if not view.asks else ()
        kept = [n for n in CHOSEN if n in over or getattr(own, n) == getattr(view, n)]
        return replace(view, **{name: getattr(self._view, name) for name in kept})

    def _chosen(self) -> Scene:
        """The scene's view with what is chosen here."""
        outside = [name for name in self._view.lock if name in OUTSIDE]
        chosen: dict[str, Any] = {"show": [], "lock": outside, "play": False}
        if self._alone:
            chosen = {}
        for control in browser.every("#share [data-share]"):
            key = control.getAttribute("data-share")
            if control.type != "checkbox":
                chosen[key] = control.value
            elif control.checked:
                chosen[key] = True if key == "play" else [*chosen[key], control.value]
        hosted = chosen.pop("address").strip()
        self._hosted = "" if hosted == self._address else hosted
        if "picture" in chosen:
            self._inside = chosen.pop("picture") == INSIDE
        if chosen.get("ask") == NO_QUESTION:
            chosen["asktext"] = ""
        view = updated(self._view, chosen)[0]
        framed = replace(view, show=(), embed=True)
        return replace(view, show=()) if view.show == framed.parts else view

    def _choose(self, event: Any) -> None:
        if not self._alone and not browser.every('#share [data-share="show"]:checked'):
            event.target.checked = True  # a widget without any part is none
        self._show()

    def _show(self) -> None:
        view = self._view = self._chosen()
        address, params = page_address(self._hosted or self._address), self._run.params
        svg = (
            picture(self._run, view, self.link.paper(view.theme))
            if self._inside and not self._alone
            else ""
        )
        self._texts = {s.key: s.text for s in snippets(address, params, view, self._keys, svg)}
        for key, text in self._texts.items():
            one(f'[data-snippet="{key}"]').value = text
        if not self._alone:
            self._named = picture_name(self._run.params, replace(view, embed=False))
            one("#picture-name").textContent = self._named

    def _click(self, event: Any) -> None:
        target = event.target.closest("button")
        if not target:  # null is no None
            return
        action, key = target.getAttribute("data-share-action"), target.getAttribute("data-copy")
        if action == "close":
            self._dialog.close()
        elif action == "edit":
            self._edit()
        elif action == "picture":
            svg = picture(self._run, self._view, self.link.paper(self._view.theme))
            device.save(self._named, "image/svg+xml", svg)
        elif action == "passes":
            device.save("bonus-token-passes.csv", "text/csv", passes_csv(self._run))
        elif key:
            device.copy(self._texts[key], lambda copied: self._copied(target, key, copied))

    def _edit(self) -> None:
        """Let the author change the scene; what was chosen for it is kept for the next opening."""
        self.link.edit()
        self._own = self.link.scene()[1]
        self._dialog.close()
        self.link.complain([EDITED])

    def _copied(self, button: Any, key: str, copied: bool) -> None:
        self._rested()
        if not copied:  # the reader can still press the keys for it
            field = one(f'[data-snippet="{key}"]')
            field.focus()
            field.select()
        button.textContent = "Copied" if copied else "Press Ctrl+C"
        one("#share-said").textContent = button.textContent
        self._rest.ask()

    def _rested(self) -> None:
        for button in browser.every("#share [data-copy]"):
            button.textContent = "Copy"
