"""The text around the widget: its links set scenes here, and what they are about stays in sight.

Beside the text the widget is in sight anyway. Where there is no room for that, its board and clock
come to the lower edge of the window as a panel, until the reader closes it or goes back up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.beside import marks, moved
from sim.params import Params
from sim.session import visit
from sim.state import Session
from sim.view import View
from static import browser
from static.browser import one, root
from static.dom import Places

PANEL, CHARTED = "peeking", "charted"
"""Classes of the page while the panel is there, and while it is a low one below a chart. The style
draws it; boot.js takes it away too."""

WIDE = "min-width: 1100px"
"""Where the style puts the widget beside the text, once the text is reached."""

READ_AFTER = 300
"""Milliseconds after the start that the links are looked at."""


class Reading:
    """Links of the text: `follow` sets a scene by its keys, `session` gives what is shown."""

    def __init__(
        self, follow: Callable[[Mapping[str, str]], None], session: Callable[[], Session]
    ) -> None:
        self._visit, self._session = follow, session
        self._places, self._marked, self._observed = Places(), False, False
        self._came_from: Any = None
        self._links: dict[tuple[Params, int], list[Any]] = {}
        self._here: list[Any] = []
        self._reads = browser.Delay(READ_AFTER, self._read)  # which is no part of the start
        self._reads.ask()
        browser.listen(one("#text"), "click", self._follow)
        browser.listen(one('[data-action="return"]'), "click", lambda _event: self._close())

    def _read(self) -> None:
        """Find out where each link of the text leads."""
        for anchor in browser.every(".try"):
            there, _ = visit(self._session(), browser.query_of(anchor))
            self._links.setdefault((there.params, there.view.tick), []).append(anchor)
        self.show()

    def show(self) -> None:
        """Say of each link whether it leads to the scene that is shown."""
        session = self._session()
        stays = not session.playing and not session.prediction.waiting
        here = self._links.get((session.params, session.view.tick), []) if stays else []
        if here is not self._here:
            for anchor in self._here:
                anchor.removeAttribute("aria-current")
            for anchor in here:
                anchor.setAttribute("aria-current", "true")
            self._here = here

    def unmark(self) -> None:
        """Mark nothing any more: the reader went on."""
        if self._marked:
            self._marked = False
            self._places.write(marks())

    def _follow(self, event: Any) -> None:
        """Set the scene that a link of the text names, here instead of in a new page."""
        anchor = event.target.closest("[data-scene]")
        if not anchor or event.ctrlKey or event.metaKey or event.shiftKey:
            return
        event.preventDefault()
        if anchor.closest(".chart") and any(map(self._session().fixed, ("k", "alpha", "rates"))):
            return  # a row of the map does what a click there does
        before = self._session().params
        self._came_from = anchor
        self._visit(browser.query_of(anchor))
        about = anchor.getAttribute("data-scene").split()
        self._places.write(marks(moved(before, self._session().params), about))
        self._marked = True
        if not root.classList.contains(PANEL) and browser.in_view(one("#widget")):
            return  # it may stand beside the text
        chart = anchor.closest("section").querySelector(".chart") if "chart" in about else None
        if browser.media(WIDE).matches:
            whole = self._session().view.show == View().show
            browser.bring_into_view(
                chart or one("#text" if whole else "#widget"), "nearest" if chart else "start"
            )
        elif one(".board-part").checkVisibility():
            self._open(bool(chart))
            browser.bring_into_view(chart or anchor, "nearest")
        else:  # a link left the board out
            browser.bring_into_view(one("#widget"), "start")

    def _open(self, charted: bool) -> None:
        """Let the widget be a panel, a low one below a chart; its place stays as high as it was."""
        widget = one("#widget")
        if not root.classList.contains(PANEL):
            root.style.setProperty("--place", f"{widget.getBoundingClientRect().height}px")
        if not self._observed:
            self._observed = True
            browser.observe_size(widget, self._clear)
        root.classList.add(PANEL)
        root.classList.toggle(CHARTED, charted)
        self._clear()

    def _clear(self) -> None:
        """Leave the end of the text clear of the panel, as high as what it says makes it."""
        if root.classList.contains(PANEL):
            height = one("#widget").getBoundingClientRect().height
            root.style.setProperty("--panel-height", f"{height}px")

    def _close(self) -> None:
        """Put the widget back into its place, and the reader at the link."""
        root.classList.remove(PANEL)
        if self._came_from:
            self._came_from.focus(preventScroll=True)
