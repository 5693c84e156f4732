"""The labs: what the page brings only once it is near the screen or opened, a row each.

A row is data. From it and from the imports of its modules follow the files that are fetched for it,
the element of the page that it fills, and its command.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lab:
    """One lab: its rules and its command are `sim.labs.NAME`, its view is `static.labs.NAME`."""

    name: str
    """Its key in links, and its command."""
    title: str
    place: str
    """The elements of the page that it fills, as a CSS selector."""
    after: str = ""
    """The section of the text that its own section, lab-NAME.html, stands behind; none of its own
    where the text has one."""
    needs: tuple[str, ...] = ()
    """What is loaded for it beside its files: "numpy", "charts"."""
    data: tuple[str, ...] = ()
    """Files beside its rules that it reads, fetched with its Python."""
    command: bool = False
    """Whether `python3 -m sim NAME` gives its numbers."""
    height: int = 0
    """About how high its section is in a frame 720 px wide, in px; 0 for what is never alone."""

    @property
    def rules(self) -> str:
        """The module of its rules. Its `printed()`, if it has one, is put into its section; a
        command has `arguments`, `answer` and `told`.
        """
        return f"sim.labs.{self.name}"

    @property
    def view(self) -> str:
        """The module of its view, which has a class `View`."""
        return f"static.labs.{self.name}"


LABS = (
    Lab(
        "charts",
        "The charts of the text",
        ".chart:not(section[data-lab] .chart)",
        needs=("charts", "numpy"),
    ),
    Lab(
        "sampling",
        "The same output",
        "#lab-sampling",
        after="same",
        needs=("numpy", "charts"),
        command=True,
        height=2040,
    ),
    Lab("recall", "Can you still say it?", "#recall", height=470),
    Lab(
        "convert",
        "The numbers that engines call acceptance",
        "#lab-convert",
        after="words",
        command=True,
        height=850,
    ),
    Lab(
        "cost",
        "What a pass costs on your machine",
        "#lab-cost",
        after="lose",
        needs=("charts",),
        command=True,
        height=3486,
    ),
    Lab(
        "serving",
        "Who gets the cache",
        "#lab-serving",
        after="memory-again",
        needs=("charts",),
        command=True,
        height=3604,
    ),
    Lab(
        "text",
        "A real model in the page",
        "#lab-text",
        after="lose",
        needs=("numpy", "charts"),
        data=("plays.bin",),
        command=True,
        height=1955,
    ),
    Lab("share", "Share this scene", "#share"),
)
ALONE = tuple(lab.name for lab in LABS if lab.height)
"""Labs that have a section of their own, which a link may show alone."""

BY_NAME = {lab.name: lab for lab in LABS}


def of_a_lab(key: str) -> bool:
    """Whether a key of a link is one of a lab's own settings, `NAME.key`: letters and digits."""
    name, _, own = key.partition(".")
    return name in BY_NAME and own.isascii() and own.isalnum() and own == own.lower()
