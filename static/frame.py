"""The page around a frame: it may ask for what a reader can do, and is told what happens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from sim.reading import message as read_message
from sim.verbs import ASKED_BY_HOSTS
from static import browser

PREFIX = "bonus-token:"
STATE_EVERY = 100
"""Milliseconds between two states, at least."""


class Host:
    """Messages to and from the window around this one; every field is checked like a link's."""

    def __init__(
        self, call: Callable[[str, str], str], picture: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._call, self._picture = call, picture
        self._rest = browser.Delay(STATE_EVERY, self._rested)
        self._resting = True  # until the page is ready
        self._told = ""
        self._latest: Mapping[str, Any] = {}

    def listen(self) -> None:
        """Say that the page is ready, and hear what was said so far."""
        self._latest = json.loads(self._call("state", "[]"))
        self.tell("ready", **self._latest)
        self._rested()
        browser.listen_to_host(self._hear)

    def tell(self, name: str, **fields: Any) -> None:
        """Send a message."""
        browser.tell_host(json.dumps({"type": PREFIX + name, **fields}))

    def state(self, state: Mapping[str, Any]) -> None:
        """Tell the state if it is another one, at most every `STATE_EVERY`, the last one always."""
        self._latest = state
        if not self._resting:
            self._rested()

    def _rested(self) -> None:
        text = json.dumps({"type": PREFIX + "state", **self._latest})
        self._resting = text != self._told
        if self._resting:
            self._told = text
            browser.tell_host(text)
            self._rest.ask()

    def _hear(self, text: str) -> None:
        message = read_message(text)
        name = message.pop("type").removeprefix(PREFIX)
        if name == "picture":
            self._rested()  # whoever keeps the picture keeps the state with it
            self.tell("picture", **self._picture())
        elif name in ASKED_BY_HOSTS:
            self._call(name, json.dumps(ASKED_BY_HOSTS[name].arguments(message)))
