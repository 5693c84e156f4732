"""The text around the widget: its links set scenes here, and lead back to where the reader was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from static import browser
from static.browser import one


class Reading:
    """Links of the text: `visit` sets a scene by its keys, `fixed` says what may not be moved."""

    def __init__(
        self, visit: Callable[[Mapping[str, str]], None], fixed: Callable[[str], bool]
    ) -> None:
        self._visit, self._fixed = visit, fixed
        self._came_from: Any = None
        self._back = one('[data-action="return"]')
        browser.listen(one("#text"), "click", self._follow)
        browser.listen(self._back, "click", lambda _event: self._return())

    def _follow(self, event: Any) -> None:
        """Set the scene that a link of the text names, here instead of in a new page."""
        anchor = event.target.closest("[data-scene]")
        if not anchor or event.ctrlKey or event.metaKey or event.shiftKey:
            return
        event.preventDefault()
        if anchor.closest(".chart") and any(map(self._fixed, ("k", "alpha", "rates"))):
            return  # a row of the map does what a click there does
        self._came_from = anchor
        self._visit(browser.query_of(anchor))
        if browser.in_view(one("#widget")):  # it may stand beside the text
            return
        look = anchor.getAttribute("data-scene")
        if look == "chart":  # which is the point, and near
            browser.bring_into_view(anchor.closest("section").querySelector(".chart"), "nearest")
            return
        place = one(f'.widget [data-metric="{look}"]') if look else one("#widget")
        browser.bring_into_view(place, "center" if look else "start")
        self._back.hidden = False
        one('[data-action="play"]').focus(preventScroll=True)

    def _return(self) -> None:
        """Back to where the reader was in the text."""
        self._back.hidden = True
        if self._came_from:
            browser.bring_into_view(self._came_from, "center")
            self._came_from.focus(preventScroll=True)
