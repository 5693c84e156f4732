"""Modules of JavaScript as one file, for hosts that take so many files and no more.

Each module becomes a block with its own names, in the order in which they need each other. Where
two need each other, the one that comes first has the other's names once that one is through.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

_IMPORT = re.compile(
    r'^import (?:(\w+))?(?:, )?(?:\{ (\w+(?:, \w+)*) \})? from "(\.[^"]+)";$', re.MULTILINE
)
_NAMED = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (?=(?:function|class) (\w+))", re.MULTILINE)
_DEFAULT_NAME = re.compile(r"^export default (\w+);$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def joined(entry: str, modules: Mapping[str, str]) -> str:
    """The module `entry` and all that it imports as one, of sources by their path.

    Raises ValueError where one is missing or says `import` or `export` in a way not known here.
    """
    order: list[str] = []
    seen: set[str] = set()

    def visit(path: str) -> None:
        if path in seen:
            return
        seen.add(path)
        if path not in modules:
            raise ValueError(f"{path} is imported, but not there")
        for found in _IMPORT.finditer(modules[path]):
            visit(_beside(path, found[3]))
        order.append(path)

    visit(entry)
    places = {path: index for index, path in enumerate(order)}
    blocks = [_block(path, modules[path], places) for path in order]
    return "\n".join(["const made = [], late = [];", *blocks, ""])


def _beside(path: str, named: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), named))


def _block(path: str, source: str, places: Mapping[str, int]) -> str:
    own = places[path]

    def brought(found: re.Match[str]) -> str:
        index = places[_beside(path, found[3])]
        pairs = [(name, name) for name in (found[2] or "").split(", ") if name]
        pairs += [("default", found[1])] if found[1] else []
        if index < own:
            return " ".join(f"const {name} = made[{index}].{key};" for key, name in pairs)
        return " ".join(
            f"let {name}; (late[{index}] ??= []).push(() => {{ {name} = made[{index}].{key}; }});"
            for key, name in pairs
        )

    text = _IMPORT.sub(brought, source)
    exported = {name: name for name in _NAMED.findall(text)}
    for pattern in (_DEFAULT, _DEFAULT_NAME):
        for name in pattern.findall(text):
            exported["default"] = name
        text = pattern.sub("", text)
    text = _NAMED.sub("", text)
    if left := _LEFT.search(text):
        raise ValueError(f"{path} cannot be joined: {left[0]}")
    told = ", ".join(f"{key}: {name}" for key, name in exported.items())
    filled = f"for (const fill of late[{own}] ?? []) fill();"
    return f"{{ // {path}\n{text.strip()}\nmade[{own}] = {{ {told} }};\n{filled}\n}}"
