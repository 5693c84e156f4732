"""The reader's own device, for labs: turns, files, the clipboard, and what the browser keeps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import js
from pyodide.ffi import JsException, create_once_callable, create_proxy, to_js

from static.browser import document, listen, window


class Turn:
    """Call back in the next turn of the event loop, where timers in a row would wait 4 ms each."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback, self._asked, self._sent = callback, False, False
        channel = js.MessageChannel.new()
        channel.port1.onmessage = create_proxy(self._come)
        self._port = channel.port2

    def ask(self) -> None:
        """Call back once, soon."""
        self._asked = True
        if not self._sent:
            self._sent = True
            self._port.postMessage(None)

    def drop(self) -> None:
        """Call back no more."""
        self._asked = False

    def _come(self, _event: Any) -> None:
        self._sent = False
        if self._asked:
            self._asked = False
            self._callback()


def save(name: str, kind: str, text: str) -> None:
    """Give the reader a file."""
    held = js.URL.createObjectURL(js.Blob.new(to_js([text]), type=kind))
    anchor = document.createElement("a")
    anchor.href, anchor.download = held, name
    anchor.click()
    js.setTimeout(create_once_callable(lambda *_: js.URL.revokeObjectURL(held)), 10_000)


def copy(text: str, copied: Callable[[bool], object]) -> None:
    """Put text on the clipboard, and say whether that worked."""
    clipboard = getattr(js.navigator, "clipboard", None)
    if clipboard is None:
        copied(False)
        return
    # One of them is called, with an error or with nothing.
    done = create_once_callable(lambda error=None: copied(not error))
    clipboard.writeText(text).then(done, done)


def stored(place: str) -> str | None:
    """What this device keeps there, or None: nothing, or no storage."""
    try:
        return js.localStorage.getItem(place) or None
    except (JsException, AttributeError):
        return None


def store(place: str, text: str) -> bool:
    """Keep a text on this device; whether that worked."""
    try:
        js.localStorage.setItem(place, text)
    except (JsException, AttributeError):  # blocked or full; a frame without an origin has none
        return False
    return True


def forget(place: str) -> None:
    """Keep it no longer."""
    with suppress(JsException, AttributeError):
        js.localStorage.removeItem(place)


def kept_now(place: str, otherwise: str) -> str:
    """What this device keeps there, empty for nothing; `otherwise` where it cannot be asked."""
    try:
        return js.localStorage.getItem(place) or ""
    except (JsException, AttributeError):
        return otherwise


def watch_stored(place: str, handler: Callable[[], object]) -> None:
    """Call back when another tab has changed what this device keeps there, or erased all."""
    listen(window, "storage", lambda event: (not event.key or event.key == place) and handler())


def read_chosen(field: Any, most: int, read: Callable[[str, int, str], object]) -> None:
    """Read the file chosen in a field: `read` gets its name, its size in bytes, and its text.

    The text is empty for a file of more than `most` bytes, and for one that cannot be read.
    """
    if not field.files.length:
        return
    file = field.files.item(0)  # as a condition, a file of no bytes would be no file
    name, size = str(file.name), int(file.size)

    def done(text: object) -> None:
        field.value = ""  # so that the same file can be chosen again
        read(name, size, text if isinstance(text, str) else "")

    if size > most:
        done("")
    else:
        file.text().then(done, done)
