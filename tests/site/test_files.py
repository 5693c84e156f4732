"""What is fetched follows from what is imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.host.files import START, closure, file_of, imported, lab_files, start_files
from sim.labs import BY_NAME, LABS
from tests.server import ROOT

CASES = [
    ("import sim.run", False, ["sim", "sim.run"]),
    ("from sim import run", False, ["sim", "sim.run"]),
    ("from sim.run import Run", False, ["sim", "sim.run", "sim.run.Run"]),
    ("import sim.cache as c, sim.run", False, ["sim", "sim.cache", "sim.run"]),
    ("try:\n    import sim.run\nexcept ImportError:\n    pass", False, ["sim", "sim.run"]),
    ("class A:\n    import sim.run", False, ["sim", "sim.run"]),
    ("def f():\n    import sim.run", False, []),
    ("async def f():\n    import sim.run", False, []),
    ("class A:\n    def f(self):\n        import sim.run", False, []),
    ("def f():\n    import sim.run", True, ["sim", "sim.run"]),
    ("class A:\n    def f(self):\n        from sim import run", True, ["sim", "sim.run"]),
    ("if TYPE_CHECKING:\n    import sim.run", True, []),
    ("import typing\nif typing.TYPE_CHECKING:\n    import sim.run", True, ["typing"]),
]


@pytest.mark.parametrize(("source", "inside", "names"), CASES)
def test_what_a_source_imports_is_read_from_it(source: str, inside: bool, names: list[str]) -> None:
    assert imported(source, inside) == tuple(names)


def tree(folder: Path, **sources: str) -> Path:
    """A site whose `sim` modules have these sources; a name's `__` is a folder's end."""
    for name, source in sources.items():
        file = folder / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    for package in {"sim", *(f"sim/{n.split('__')[1]}" for n in sources if n.count("__") == 2)}:
        (folder / package / "__init__.py").write_text("")
    return folder


def names(site: Path, *modules: str, **options: bool) -> list[str]:
    return list(closure(*modules, site=site, package=site / "sim", **options))


def test_a_closure_follows_imports_and_leaves_out_what_nothing_imports(tmp_path: Path) -> None:
    site = tree(
        tmp_path,
        static__page="import json\nfrom sim.b import x\nfrom static import board",
        static__board="import js",
        sim__a="",
        sim__b="from sim import a\ndef f():\n    import sim.late",
        sim__late="",
        sim__other="",
    )
    found = ["sim/__init__.py", "sim/a.py", "sim/b.py", "static/board.py", "static/page.py"]
    assert names(site, "static.page") == found
    assert names(site, "static.page", inside_functions=True) == [
        *found[:2],
        "sim/late.py",
        *found[2:],
    ]


def test_circles_end_and_packages_come_before_what_they_hold(tmp_path: Path) -> None:
    site = tree(tmp_path, sim__labs__a="import sim.labs.b", sim__labs__b="import sim.labs.a")
    assert names(site, "sim.labs.a") == [
        *("sim/__init__.py", "sim/labs/__init__.py"),
        *("sim/labs/b.py", "sim/labs/a.py"),
    ]


def test_a_module_is_imported_by_its_file_or_its_package_and_others_are_not_ours() -> None:
    assert file_of("sim.run") == ROOT / "sim" / "run.py"
    assert file_of("sim") == ROOT / "sim" / "__init__.py"
    assert file_of("static.page") == ROOT / "static" / "page.py"
    assert [file_of(name) for name in ("static", "json", "numpy", "sim.nothing")] == [None] * 4


def test_another_module_among_the_labs_changes_neither_the_start_nor_any_lab(
    tmp_path: Path,
) -> None:
    package = Path(shutil.copytree(ROOT / "sim", tmp_path / "sim"))
    shutil.copytree(ROOT / "static", tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))

    def listed() -> list[list[str]]:
        labs = [list(lab_files(lab, tmp_path, package)) for lab in LABS]
        return [list(start_files(tmp_path, package)), *labs]

    before = listed()
    for folder in (package, tmp_path / "static"):
        (folder / "labs" / "another.py").write_text("import sim.cache")
    assert listed() == before == [list(start_files()), *(list(lab_files(lab)) for lab in LABS)]


def test_what_functions_of_a_lab_import_comes_after_its_view() -> None:
    files = list(lab_files(BY_NAME["charts"]))
    assert files[-2:] == ["static/labs/charts.py", "sim/labs/ensemble.py"]


def test_python_itself_imports_these_files_and_no_others() -> None:
    """Held to what happens: `sim` as the start imports it, in an interpreter of its own."""
    rules = [name for name in closure(START) if name.startswith("sim/")]
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys\n"
            + "\n".join(
                f"import {name.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
                for name in rules
            )
            + "\nprint(*(n for n in sys.modules if n.split('.')[0] == 'sim'))",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(told.stdout.split()) == len(rules)
