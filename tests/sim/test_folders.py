"""The tests of the rules need nothing but Python, and can be asked for alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.__main__ import FOLDERS, asked
from tests.server import ROOT

BARE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("selenium", "numpy", "jsonschema"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import pytest
sys.exit(pytest.main(["tests/sim", "--setup-plan", "-q", "-n", "0", "-p", "no:cacheprovider"]))
"""
"""Import all of them where nothing else is installed, and say what would be set up for them."""


def test_tests_of_the_rules_start_no_browser_and_ask_for_no_runtime() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SETUP    F folder['{FOLDERS[0]}']" in done.stdout
    assert "SETUP    S" not in done.stdout, "nothing is made for all of them"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_asked_for_by_its_name_and_the_rest_goes_to_pytest(folder: str) -> None:
    assert asked([folder, "-k", "sim"]) == (folder, [f"tests/{folder}", "-k", "sim"])
    assert (ROOT / "tests" / folder).is_dir()
    for other in ([], ["-k", folder], [f"tests/{folder}"], ["-x", folder]):
        assert asked(other) == ("", other)


def test_every_test_is_in_a_folder() -> None:
    found = {file.parent.name for file in (ROOT / "tests").rglob("test_*.py")}
    assert found == set(FOLDERS)
    assert not list((ROOT / "tests").glob("test_*.py"))
