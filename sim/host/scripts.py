"""Print the tables into the scripts that need them before there is Python, or without it.

A list stands in a line `const NAME = "…".split(" "); // printed`; a test holds it to the table.
"""

from __future__ import annotations

import re

from sim.host import SITE
from sim.kinds import Switch
from sim.params import PARAMETERS
from sim.verbs import ASKED_BY_HOSTS, SCRIPTED
from sim.view import VIEW

ROWS = tuple(row for row in (*PARAMETERS, *VIEW) if row.key != "embed")
"""Settings that an element has attributes for."""

LISTS = {
    "boot.js": {"CALLS": list(SCRIPTED)},
    "embed.js": {
        "KEYS": [row.key for row in ROWS],
        "SWITCHES": [row.key for row in ROWS if isinstance(row.kind, Switch)],
        "PLAIN_CALLS": [verb.name for verb in ASKED_BY_HOSTS.values() if not verb.field],
    },
}
"""The lists of each script; of a host's calls those without an argument."""


def printed(name: str, script: str) -> str:
    """`script` with its lists filled. Raises ValueError where one has no place."""
    for constant, words in LISTS[name].items():
        line = re.compile(rf'(const {constant} = ")[^"]*("\.split\(" "\); // printed\n)')
        script, found = line.subn(rf"\g<1>{' '.join(words)}\g<2>", script)
        if found != 1:
            raise ValueError(f"{name} has {found} places for {constant}, not one")
    return script


def write() -> None:
    """Fill the lists of every script."""
    for name in LISTS:
        file = SITE / "static" / name
        file.write_text(printed(name, file.read_text(encoding="utf-8")), encoding="utf-8")
