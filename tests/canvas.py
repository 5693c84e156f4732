"""A canvas without a browser."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class Canvas:
    """A canvas and its context in one: sizes, colours, and every call with the colours it had."""

    def __init__(self) -> None:
        self.width = self.height = 0
        self.style = SimpleNamespace(width="", height="")
        self.fillStyle = self.strokeStyle = ""
        self.lineWidth = 0.0
        self.calls: list[tuple[Any, ...]] = []

    def getContext(self, _kind: str) -> Canvas:  # noqa: N802 - the name is the browser's
        return self

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.calls.append((name, self.fillStyle, self.strokeStyle, *values))
