"""A new lab takes four places: a module, a view, a section, a row. The rest follows from them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driver import PageDriver
from tests.labs.notes import told
from tests.server import ROOT, python, serving

ROW = """    Lab(
        "template", "A template", "#lab-template", after="same", needs=("numpy",), command=True,
        height=90,
    ),
"""
MODULE = '''"""What a lab computes: the square of a number."""

from sim.labs.template_part import square
from sim.markup import Markup


def arguments(add):
    add("--x", default="3", help="a number")


def answer(options):
    if options.x == "random":
        import numpy

        return {"square": float(numpy.float64(2.0))}
    return {"square": square(float(options.x))}


def told(report):
    return f"square {report['square']}"


def printed():
    return Markup('<output id="template">9.0</output> <button type="button">Seven</button>')
'''
PART = '"""A module that only this lab has."""\n\n\ndef square(x):\n    return x * x\n'
VIEW = '''"""A view of it."""

from sim.labs.template_part import square
from static import browser
from static.loader import LabView


class View(LabView):
    """Shows the square of the tick; a press sets the draft length."""

    def __init__(self, section, link):
        super().__init__(section, link)
        press = lambda _: link.change({"k": 7})
        browser.listen(section.querySelector("button"), "click", press)

    def show(self, run, tick, colours, playing):
        self.section.querySelector("output").textContent = str(square(tick))
'''
SECTION = """  <section id="lab-template" data-lab="template">
  <h3>A template</h3>
  <p>{{ lab.template }}</p>
  </section>
"""
FILES = ["sim/labs/template_part.py", "static/labs/template.py"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with one more lab, in these four places."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("sim", "static"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "index.html", folder)
    (folder / "sim" / "labs" / "template.py").write_text(MODULE)
    (folder / "sim" / "labs" / "template_part.py").write_text(PART)
    (folder / "static" / "labs" / "template.py").write_text(VIEW)
    rows = folder / "sim" / "labs" / "__init__.py"
    rows.write_text(rows.read_text("utf-8").replace("LABS = (\n", f"LABS = (\n{ROW}"), "utf-8")
    (folder / "static" / "sections" / "lab-template.html").write_text(SECTION, "utf-8")
    python(folder, "-m", "sim.host.printed")
    return folder


def listed(folder: Path) -> tuple[list[str], dict[str, list[str]]]:
    """The files of the start and of each lab, as its page lists them."""
    index = (folder / "index.html").read_text("utf-8")
    (config,) = re.findall(r"<py-config[^>]*>(.*?)</py-config>", index)
    (labs,) = re.findall(r'id="labs">(.*?)</script>', index)
    return list(json.loads(config)["files"]), json.loads(labs)


def test_its_files_are_listed_and_nothing_else_changes(copy: Path) -> None:
    (start, labs), (before, others) = listed(copy), listed(ROOT)
    assert start == before
    assert labs == {**others, "template": FILES}
    index = (copy / "index.html").read_text("utf-8")
    assert '<output id="template">9.0</output>' in index


def test_it_has_a_command(copy: Path) -> None:
    assert json.loads(python(copy, "-m", "sim", "template", "--x", "4", "--json"))["square"] == 16
    assert python(copy, "-m", "sim", "template") == "square 9.0\n"
    assert "A template" in python(copy, "-m", "sim", "--help")
    wrong = python(copy, "-m", "sim", "template", "--x", "y", code=2)
    assert (wrong.count("\n"), "could not convert" in wrong) == (1, True)


def test_where_numpy_is_missing_its_command_says_so_in_one_line(copy: Path, tmp_path: Path) -> None:
    missing = tmp_path / "numpy.py"
    missing.write_text("raise ModuleNotFoundError('no numpy', name='numpy')")
    command = ("-m", "sim", "template", "--x", "random")
    wrong = python(copy, *command, code=1, PYTHONPATH=str(tmp_path))
    assert wrong == "bonus-token template: numpy is needed: pip install numpy\n"


@pytest.fixture(scope="module")
def of_copy(copy: Path) -> Iterator[str]:
    """The copy, served by its own server."""
    with serving(root=copy) as found:
        yield found


def test_it_comes_follows_the_widget_sets_it_and_is_shown_alone(
    shared: PageDriver, of_copy: str
) -> None:
    page = PageDriver(shared.driver, of_copy, shared.engine)
    page.open("?lab=template&tick=12")
    page.until(lambda: page.text("#template") == "144")
    assert not page.one("#widget").is_displayed()
    page.one("#lab-template button").click()
    assert page.state()["params"]["draft_length"] == 7
    assert page.one("#widget").is_displayed()
    page.call("seek", 13)
    page.until(lambda: page.text("#template") == "169")
    page.until(lambda: told(page) == [])
    page.open("?tick=3")
    page.run("document.querySelector('#lab-template').scrollIntoView()")
    page.until(lambda: page.text("#template") == "9")
