"""What is fetched of other people is pinned, and what is pinned is what is used."""

from __future__ import annotations

import json
import re

from sim.host import start
from tests.server import ROOT


def test_the_shipped_list_pins_every_part_by_hash() -> None:
    listed = json.loads((ROOT / "static" / "vendor.json").read_text(encoding="utf-8"))
    for package in listed["packages"]:
        for part in package["parts"]:
            assert re.fullmatch(r"[0-9a-f]{64}", part["sha256"])
            assert part["path"].startswith("static/vendor/")


def test_the_start_names_files_and_versions_that_are_pinned() -> None:
    listed = json.loads((ROOT / "static" / "vendor.json").read_text(encoding="utf-8"))
    pinned = {part["path"] for package in listed["packages"] for part in package["parts"]}
    versions = {package["name"]: package["version"] for package in listed["packages"]}
    for name in start.MODULES:
        assert f"static/{name}" in pinned or (ROOT / "static" / name).exists(), name
    interpreter = (ROOT / "static" / "interpreter.mjs").read_text(encoding="utf-8")
    assert f'version = "{versions["pyodide"]}"' in interpreter
    lock = json.loads((ROOT / "static/vendor/pyodide/pyodide-lock.json").read_text())
    for name in ("abi_version", "arch", "platform", "python"):
        assert f'{name}: "{lock["info"][name]}"' in interpreter
    for name, value in lock["packages"]["numpy"].items():
        assert f"  {name}: {json.dumps(value)}," in interpreter
