"""Modules that are joined do what they did apart."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sim.host.joined import joined

MODULES = {
    "start.mjs": (
        'import Cat, { legs } from "./lib/cat.js";\n'
        'import { name } from "./lib/name.js";\n'
        "console.log(new Cat().said(), legs, name);\n"
    ),
    "lib/cat.js": (
        'import Dog from "./dog.js";\n'
        "const name = 'cat';\n"
        "export const legs = 4;\n"
        "class Cat {\n  said() { return `${name} knows ${new Dog().said(this)}`; }\n}\n"
        "export default Cat;\n"
    ),
    "lib/dog.js": (
        'import Cat from "./cat.js";\n'
        "const name = 'dog';\n"
        "export default class Dog {\n"
        "  said(other) { return `${name} ${other instanceof Cat}`; }\n}\n"
    ),
    "lib/name.js": "export function name() { return 1; }\n",
    "lib/alone.js": "export const never = 1;\n",
}
"""Names that several use, two that need each other, and one that nobody needs."""


def test_joined_modules_do_what_they_did_apart(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    for path, source in {**MODULES, "one.mjs": joined("start.mjs", MODULES)}.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)
    (tmp_path / "lib" / "package.json").write_text('{"type": "module"}')

    def said(name: str) -> str:
        return subprocess.run(
            [node, tmp_path / name], capture_output=True, text=True, check=True
        ).stdout

    assert said("one.mjs") == said("start.mjs") == "cat knows dog true 4 [Function: name]\n"
    assert "never" not in joined("start.mjs", MODULES)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('import { legs as feet } from "./lib/cat.js";', "start.mjs cannot be joined: import"),
        ('import "./lib/cat.js";', "start.mjs cannot be joined: import"),
        ('import Fox from "./lib/fox.js";', "lib/fox.js is imported, but not there"),
        ("export { Cat };", "start.mjs cannot be joined: export"),
        ("export default 3 + 4;", "start.mjs cannot be joined: export"),
    ],
)
def test_what_cannot_be_joined_is_told(line: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        joined("start.mjs", {**MODULES, "start.mjs": f"{line}\n"})
