"""The table of tools that hold a scene: it names the versions that the tests try."""

from __future__ import annotations

import re
import tomllib

import pytest
from docutils.core import publish_parts  # type: ignore[import-untyped]

from sim.host import SITE
from sim.labs.share import snippets
from sim.params import Params
from sim.view import View
from tests.__main__ import NODE_TOOLS, ROOT

GUIDE = (SITE / "static" / "hosting.html").read_text("utf-8")
TABLE = GUIDE[GUIDE.index('id="tools"') : GUIDE.index("</table>")]
ROWS = [re.sub(r"<[^>]+>", " ", row) for row in TABLE.split("<tr>")]

PINNED = dict(
    requirement.split("==")
    for requirement in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]["test"]
    if "==" in requirement
)


@pytest.mark.parametrize(
    ("named", "versions"),
    [
        ("Sphinx", [PINNED["sphinx"], PINNED["myst-parser"]]),
        ("mystmd", [NODE_TOOLS["myst-parser"]]),
        ("React", [NODE_TOOLS[name] for name in ("react", "preact", "vue", "vite")]),
        ("@mdx-js/mdx", [NODE_TOOLS["@mdx-js/mdx"]]),
        ("reveal.js", [NODE_TOOLS["reveal.js"]]),
        ("scorm-again", [NODE_TOOLS["scorm-again"]]),
    ],
)
def test_the_table_of_tools_names_what_the_tests_try(named: str, versions: list[str]) -> None:
    (row,) = [row for row in ROWS if named in row]
    for version in versions:
        assert version in row, row


def test_restructuredtext_takes_an_element_as_the_page_on_hosting_says() -> None:
    assert "<code>.. raw:: html</code> and an empty line above" in GUIDE
    texts = snippets("https://a.org/x/", Params(), View(), svg="<svg/>")
    (element,) = (one.text for one in texts if one.key == "element")
    indented = "".join(f"   {line}\n" for line in element.splitlines())
    made = publish_parts(f".. raw:: html\n\n{indented}", writer="html5")["body"]
    assert made.split() == element.split()
