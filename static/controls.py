"""The controls: sliders, switches and number fields, and what the reader does with them."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from sim import session as actions
from sim.params import PARAMETERS
from sim.settings import entered
from sim.state import Session
from sim.view import BY_KEY
from static import browser
from static.browser import one


class Do(Protocol):
    """Apply an action to the session, and show what came of it; `near` is the field it is of."""

    def __call__(self, action: Any, *arguments: Any, near: Any = None, ghost: bool = False) -> None:
        """See the class."""


class Controls:
    """Every control of a setting, by its key."""

    def __init__(self, do: Do) -> None:
        self._do = do
        found = {row.key: one(f'[name="{row.key}"]') for row in PARAMETERS}
        self._inputs = {key: control for key, control in found.items() if control}
        self._fields = {e.getAttribute("data-number"): e for e in browser.every("[data-number]")}

    def moved(self, session: Session) -> tuple[dict[str, object], list[str]]:
        """What was set while Python loaded, but for what is fixed; and what could not be read."""
        moved: dict[str, object] = {}
        complaints = []
        for key, control in [*self._inputs.items(), *self._fields.items()]:
            if not control.getAttribute("data-moved") or session.fixed(key):
                continue
            row = BY_KEY[key]
            if row.kind.control == "switch":
                moved[key] = bool(control.checked)
            else:
                moved[key], told = entered(row, control.value, getattr(session.params, row.name))
                complaints += [told] if told else []
        return moved, complaints

    def listen(self) -> None:
        """Heed the reader from now on."""
        listen, do = browser.listen, self._do
        for key, control in self._inputs.items():
            if BY_KEY[key].kind.control == "switch":
                listen(control, "change", partial(self._switch, key, control))
            else:
                listen(control, "input", partial(self._drag, key, control))
            listen(control, "change", lambda _event: do(actions.drag_ends))
        for key, field in self._fields.items():
            listen(field, "change", partial(self._enter, key, field))
            listen(field, "keydown", partial(self._press, key, field))
        line, speed = one('[name="tick"]'), one('[name="speed"]')
        listen(line, "input", lambda _event: do(actions.seek, line.value))
        listen(speed, "input", lambda _event: do(actions.set_speed, float(speed.value)))

    def _switch(self, key: str, control: Any, _event: Any) -> None:
        self._do(actions.change, {key: bool(control.checked)})

    def _drag(self, key: str, control: Any, _event: Any) -> None:
        self._do(actions.change, {key: control.value}, ghost=True)

    def _enter(self, key: str, field: Any, _event: Any) -> None:
        """Take what a field says; Enter and the browser may both tell of one entry."""
        self._do(actions.enter, key, field.value, near=field)

    def _press(self, key: str, field: Any, event: Any) -> None:
        """Take what was written, or the next value up or down from it."""
        if field.disabled:
            return
        if event.key == "Enter":  # not every browser takes it for a change
            self._enter(key, field, event)
        elif event.key in ("ArrowUp", "ArrowDown") and not (
            event.shiftKey or event.ctrlKey or event.altKey or event.metaKey
        ):
            event.preventDefault()
            self._do(actions.nudge, key, field.value, event.key == "ArrowUp", near=field)
