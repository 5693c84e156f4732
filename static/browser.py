"""What touches the browser, but for `device`: the rest of the page is handed what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import js
from pyodide.ffi import create_proxy, to_js

from sim.reading import cut_off
from sim.view import asked

document, window = js.document, js.window
root = document.documentElement
START = js.bonusTokenStart

NOTICE_ROOM = 52
"""Pixels between the top of a notice and the field below it."""

RATIO_LOOK = 1000
"""Milliseconds between two looks at the pixel ratio."""

framed = bool(START.framed)
"""Whether another page holds this one in a frame."""


def one(selector: str) -> Any:
    """The first element that matches, or None."""
    return document.querySelector(selector)


def every(selector: str) -> list[Any]:
    """All elements that match."""
    return list(document.querySelectorAll(selector))


def listen(target: Any, kinds: str, handler: Callable[[Any], object]) -> None:
    """Call `handler` with every event of these kinds, for as long as the page lives."""
    proxy = create_proxy(handler)
    for kind in kinds.split():
        target.addEventListener(kind, proxy)


class Attribute:
    """A property of one element, written only where it changes."""

    def __init__(self, element: Any, name: str) -> None:
        self._element, self._name, self._shown = element, name, None

    def write(self, value: Any) -> None:
        """Set it."""
        if value != self._shown:
            self._shown = value
            if self._name in ("className", "innerHTML", "textContent", "value"):
                setattr(self._element, self._name, value)
            else:
                self._element.setAttribute(self._name, value)


class Frames:
    """`requestAnimationFrame` with one proxy: call back with the seconds of the page's clock."""

    def __init__(self, callback: Callable[[float], object]) -> None:
        self._callback = callback
        self._waiting = False
        self._proxy = create_proxy(self._frame)

    def ask(self) -> None:
        """Call back at the next frame, once."""
        if not self._waiting:
            self._waiting = True
            js.requestAnimationFrame(self._proxy)

    def _frame(self, milliseconds: float) -> None:
        self._waiting = False
        self._callback(milliseconds / 1000)


class Delay:
    """Call back once, some time after it was asked to: the last time, or the first."""

    def __init__(
        self, milliseconds: int, callback: Callable[[], object], restarts: bool = True
    ) -> None:
        self._milliseconds, self._callback, self._timer = milliseconds, callback, None
        self._restarts = restarts
        self._proxy = create_proxy(self._call)

    def ask(self) -> None:
        """Start waiting; anew where each asking counts, else go on."""
        if self._restarts:
            self.drop()
        if self._timer is None:
            self._timer = js.setTimeout(self._proxy, self._milliseconds)

    def _call(self) -> None:
        self._timer = None
        self._callback()

    def drop(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            js.clearTimeout(self._timer)
            self._timer = None


def query() -> dict[str, str]:
    """The keys of the page's address."""
    return asked(js.location.search, js.location.hash)


def query_of(anchor: Any) -> dict[str, str]:
    """The keys of the address that a link leads to."""
    return asked(anchor.search, anchor.hash)


def show_in_row(element: Any) -> None:
    """Scroll the row that an element is in, and nothing else, until it shows the element."""
    row = element.closest("ol")
    row.scrollLeft += element.getBoundingClientRect().left - row.getBoundingClientRect().left - 48


def bring_into_view(element: Any, block: str) -> None:
    """Scroll until it is in view: its "start" at the top, its "center" half way, or "nearest"."""
    calm = media("prefers-reduced-motion: reduce").matches
    element.scrollIntoView(block=block, behavior="auto" if calm else "smooth")


def in_view(element: Any) -> bool:
    """Whether the upper half of the window shows where the element begins."""
    top = element.getBoundingClientRect().top
    return bool(0 <= top < js.innerHeight / 2)


def address(keys: str) -> str:
    """The page's address with this query instead of its own."""
    made = js.URL.new(js.location.href)
    made.search, made.hash = keys, ""
    return str(made.href)


def replace_address(keys: str) -> None:
    """Show the address with this query, without a new entry in the history. Only at top level."""
    if not START.framed:
        kept = "" if cut_off(js.location.hash) else js.location.hash
        js.history.replaceState(None, "", address(keys) + kept)


def listen_to_host(handler: Callable[[str], object]) -> None:
    """Call `handler` with every message of the page around this frame, in JSON, from the first."""
    START.listen(create_proxy(handler))


def tell_host(message: str) -> None:
    """Send a message, given in JSON, to the page around this frame."""
    START.tell(message)


def place_above(notice: Any, field: Any) -> None:
    """Put a notice above a field, or where it always is."""
    if field is None:
        notice.style.removeProperty("top")
        notice.classList.remove("near")
    else:
        top = field.getBoundingClientRect().top + js.scrollY
        notice.style.top = f"{max(5, top - NOTICE_ROOM)}px"
        notice.classList.add("near")


def media(condition: str) -> Any:
    """A media query that can be asked (`.matches`) and listened to."""
    return js.matchMedia(f"({condition})")


def refill(element: Any, html: str) -> None:
    """Put other HTML inside; where a link there had the focus, the one in its place has it now."""
    focused = document.activeElement
    links = list(element.querySelectorAll("a")) if element.contains(focused) else []
    places = [place for place, link in enumerate(links) if link.isSameNode(focused)]
    element.innerHTML = html
    for place in places:
        element.querySelectorAll("a")[place].focus(preventScroll=True)


def resolved(colours: Mapping[str, str]) -> dict[str, str]:
    """The same colours in numbers, those too that the system names."""
    probe = document.createElement("span")
    root.append(probe)
    found = {}
    for role, colour in colours.items():
        probe.style.color = colour
        found[role] = str(window.getComputedStyle(probe).color)
    probe.remove()
    return found


def pixel_ratio() -> float:
    """Device pixels per CSS pixel."""
    return float(js.devicePixelRatio or 1)


def context(canvas: Any) -> Any:
    """The drawing context of a canvas."""
    return canvas.getContext("2d")


def observe_size(element: Any, handler: Callable[[], object]) -> None:
    """Call back when the element's size changes."""
    js.ResizeObserver.new(create_proxy(lambda *_: handler())).observe(element)


def watch_near(element: Any, handler: Callable[[bool], object]) -> None:
    """Call back whenever the element comes near the window, and when it is away again."""

    def look(entries: Any, _observer: Any) -> None:
        handler(bool(list(entries)[-1].isIntersecting))

    js.IntersectionObserver.new(create_proxy(look), rootMargin="400px").observe(element)


def draw_chart(
    place: Any,
    spec: str,
    renderer: str,
    clicked: Callable[[str], object],
    drawn: Callable[[Any, str], object],
) -> None:
    """Draw a chart from its specification; `drawn` gets its view, or None and what went wrong."""
    click = create_proxy(clicked)
    START.charts().then(lambda module: module.draw(place, spec, renderer, click)).then(
        lambda view: drawn(view, ""), lambda error: drawn(None, str(error))
    )


def bring_numpy(come: Callable[[str], object]) -> None:
    """Load NumPy; `come` gets the empty text once it can be imported, or what went wrong."""

    def loaded(_result: Any) -> None:
        try:
            import numpy  # noqa: F401 - half a second of work, done while nothing waits for it
        except Exception as error:
            come(f"{type(error).__name__}: {error}")
        else:
            come("")

    START.numpy().then(loaded, lambda error: come(str(error)))


def data(name: str) -> str:
    """The text of a block of data in the page, by its id."""
    return str(document.getElementById(name).textContent)


def element(tag: str, kind: str = "") -> Any:
    """A new element, not yet in the page, of this class."""
    made = document.createElement(tag)
    made.className = kind
    return made


def fetch(
    names: list[str],
    fresh: bool,
    arrived: Callable[[str, bytes], object],
    done: Callable[[str], object],
) -> None:
    """Fetch files of the page, from the server itself if `fresh`.

    `arrived` gets each one's name and bytes; `done` the empty text, or what went wrong first.
    """
    arrive = create_proxy(lambda name, data: arrived(str(name), data.to_bytes()))

    def end(error: Any = None) -> None:
        done(str(error.message) if error else "")

    START.bring(to_js(names), fresh, arrive).then(lambda _: end(), end)


def note(text: str) -> None:
    """Say something that is no matter to the reader, where those look who host the page."""
    if text:
        js.console.info(text)


def random_seed() -> int:
    """A new seed, from the browser's own source of chance."""
    return int(js.crypto.getRandomValues(js.Uint32Array.new(1))[0])


def claim() -> bool:
    """Whether this is the page's first start."""
    return bool(START.claim())


def connect(call: Callable[[str, str], str]) -> None:
    """Hand the API to the page, which is then ready."""
    START.ready(create_proxy(call))


def watch_canvases(restored: Callable[[], object]) -> Callable[[], Any]:
    """Call back when a canvas has lost what was drawn on it and can be drawn on again.

    Gives a maker of canvases outside the page, to draw from, which are watched too.
    """
    proxy = create_proxy(lambda _event: restored())
    document.addEventListener("contextrestored", proxy, True)  # it does not bubble

    def new_canvas() -> Any:
        canvas = document.createElement("canvas")
        canvas.addEventListener("contextrestored", proxy)
        return canvas

    return new_canvas


def watch_return(handler: Callable[[], object]) -> None:
    """Call back when the page is seen again: its tab was hidden, or it comes from the history."""
    listen(document, "visibilitychange", lambda _event: document.hidden or handler())
    listen(window, "pageshow", lambda event: event.persisted and handler())


def watch_pixel_ratio(handler: Callable[[], object]) -> None:
    """Call back when there are more or fewer device pixels to a CSS pixel: zoom, another screen.

    A media query tells at once where a screen is a real one; of an emulated one nothing does, so
    it is looked at now and then.
    """
    ratio, query = 0.0, None

    def look(event: Any = None) -> None:
        nonlocal ratio, query
        before, ratio = ratio, pixel_ratio()
        if ratio != before:
            query = js.matchMedia(f"(resolution: {ratio}dppx)")  # it tells of leaving one alone
            query.addEventListener("change", proxy, once=True)
            if before:
                handler()

    proxy = create_proxy(look)
    look()
    js.setInterval(proxy, RATIO_LOOK)
