"""What stands in the files of the project."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.server import ROOT

INDEX = (ROOT / "index.html").read_text(encoding="utf-8")


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


SCENES = re.findall(r'class="try" href="\./\?([^"]*)" data-scene', INDEX)

UNCACHED = '.try[href*="cache=off"]'
