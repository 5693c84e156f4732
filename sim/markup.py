"""Text that is HTML or SVG, told apart from text that is not."""

from __future__ import annotations


class Markup(str):
    """HTML as it is, whose parts were escaped when they were put in."""

    __slots__ = ()

    def __html__(self) -> str:
        """Itself: templates do not escape it again."""
        return self
