"""Values of a chart under the pointer, or where arrow keys have gone: a line, and a mark there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from sim.chart import Stop, moved
from static import browser

HINT = "Arrow keys move through its values."


class Pointed:
    """The stop pointed at: `stops` gives them, `view` what is drawn or None, `say` takes the text.

    Where two numbers make a place, up and down move along the second one.
    """

    def __init__(
        self,
        place: Any,
        stops: Callable[[], Sequence[Stop]],
        view: Callable[[], Any],
        say: Callable[[str], object],
    ) -> None:
        self._ask, self._view, self._say = stops, view, say
        self._stops: Sequence[Stop] = ()
        self._stale, self._at = True, -1
        browser.listen(place, "pointermove pointerdown", self._point)
        browser.listen(place, "pointerleave pointercancel blur", self._leave)
        browser.listen(place, "focus", self._focus)
        browser.listen(place, "keydown", self._press)

    def renew(self) -> None:
        """The values are others now, or drawn anew; say those of the same place."""
        self._stale = True
        if self._at >= 0:
            self._go(self._at)

    def _ready(self) -> Any:
        """What is drawn, once it knows where the stops are."""
        view = self._view()
        if view and self._stale:
            self._stops, self._stale = self._ask(), False
            view.stops(json.dumps([[stop.x, stop.y] for stop in self._stops]))
        return view if self._stops else None

    def _point(self, event: Any) -> None:
        if view := self._ready():
            self._go(int(view.nearest(event.clientX, event.clientY)))

    def _leave(self, event: Any) -> None:
        """Point at nothing; what a finger tapped stays when it is lifted."""
        if event.type != "pointerleave" or event.pointerType == "mouse":
            self._go(-1)

    def _focus(self, _event: Any) -> None:
        if self._at < 0:
            self._go(0)

    def _press(self, event: Any) -> None:
        if self._ready():
            to = moved(self._stops, max(self._at, 0), event.key)
            if to is not None:
                event.preventDefault()
                self._go(to)

    def _go(self, to: int) -> None:
        if view := self._ready():
            self._at = min(to, len(self._stops) - 1)
            view.mark(self._at)
            self._say(self._stops[self._at].text if self._at >= 0 else "")
