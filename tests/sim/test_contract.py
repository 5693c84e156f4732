"""What must agree across the project: names, limits, colours, files, and the printed scene."""

from __future__ import annotations

import gzip
import json
import re
import sys
from graphlib import TopologicalSorter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sim.cache import EMPTY, PROPOSED
from sim.host import printed
from sim.host.files import closure, lab_files, start_files
from sim.kinds import Number
from sim.labs import BY_NAME, LABS
from sim.marks import LOOKS, PALETTES
from sim.metrics import METRICS
from sim.params import PARAMETERS
from sim.settings import Setting, write
from sim.view import BY_KEY
from tests.server import ROOT
from tests.sources import INDEX, imports

README = (ROOT / "README.md").read_text(encoding="utf-8")
CSS = (ROOT / "static" / "style.css").read_text(encoding="utf-8")
BROWSER = {"js", "pyodide", "pyodide.ffi", "pyscript", "pyodide_js", "_pyscript", "polyscript"}
RULES = sorted((ROOT / "sim").glob("*.py"))
LAB_RULES = sorted((ROOT / "sim" / "labs").glob("*.py"))


class Elements(HTMLParser):
    """Every element of the page with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(INDEX)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def having(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.found if name in attributes]


ELEMENTS = Elements()

WITH_NUMPY = (
    *("ensemble.py", "run_charts.py", "speculative.py", "sampling_rules.py"),
    *(
        "sampling_exact.py",
        "sampling_draw.py",
        "sampling_verdict.py",
        "weights.py",
        "transformer.py",
    ),
    *("ngram.py", "writer.py", "counting.py", "learning.py", "training.py"),
)
"""Modules of labs that ask for it."""

TRAINING = {"learning.py": {"jax"}, "training.py": {"tokenizers"}}
"""What trains models, and asks for more."""


@pytest.mark.parametrize(
    "file", RULES + LAB_RULES + sorted((ROOT / "sim/host").glob("*.py")), ids=lambda f: f.name
)
def test_sim_imports_nothing_but_itself_the_standard_library_and_for_many_numbers_at_once_numpy(
    file: Path,
) -> None:
    tops = {name.split(".")[0] for name in imports(file)}
    more = {"numpy"} if file.name in WITH_NUMPY else set()
    more |= TRAINING.get(file.name, set())
    more |= {"platformdirs"} if file == ROOT / "sim/host/vendor.py" else set()
    more |= {"jinja2"} if file == ROOT / "sim/host/printed.py" else set()
    assert tops <= set(sys.stdlib_module_names) | {"sim"} | more
    assert not tops & BROWSER


def test_the_rules_know_no_clock_and_import_one_way() -> None:
    uses: dict[str, set[str]] = {}
    for file in RULES + LAB_RULES:
        names = imports(file)
        if file.stem in ("__main__", "__init__", "training"):
            continue
        assert not names & {"time", "datetime", "asyncio", "threading", "sim.host"}, file.name
        module = f"labs.{file.stem}" if file in LAB_RULES else file.stem
        uses[module] = {name.removeprefix("sim.") for name in names if name.startswith("sim.")}
        of_labs = {name for name in uses[module] if name.startswith("labs.")}
        assert file in LAB_RULES or not of_labs, f"{file.name} is no lab, and uses {of_labs}"
    TopologicalSorter(uses).prepare()  # or raises CycleError, which names the modules


def test_two_modules_touch_the_browser_and_the_start_brings_one() -> None:
    files = [*(ROOT / "static").glob("*.py"), *(ROOT / "static" / "labs").glob("*.py")]
    touching = [f.name for f in files if imports(f) & BROWSER]
    assert sorted(touching) == ["browser.py", "device.py"]
    assert {"static/browser.py", "static/device.py"} & set(start_files()) == {"static/browser.py"}


def test_the_page_lists_and_preloads_what_its_start_imports_and_nothing_else() -> None:
    (config,) = re.findall(r"<py-config[^>]*>(.*?)</py-config>", INDEX)
    files = json.loads(config)["files"]
    expected = [f"./{name}" for name in start_files()]
    assert list(files) == expected
    assert all(source == target for source, target in files.items())
    assert re.findall(r'<link rel="preload"[^>]* href="([^"]+\.py)">', INDEX) == expected


def test_the_page_lists_for_each_lab_what_its_view_imports_beyond_the_start() -> None:
    (listed,) = re.findall(r'<script type="application/json" id="labs">(.*?)</script>', INDEX)
    assert json.loads(listed) == {lab.name: list(lab_files(lab)) for lab in LABS}
    folders = ROOT / "sim" / "labs", ROOT / "static" / "labs"
    modules = [f for folder in folders for f in folder.glob("*.py") if f.name != "__init__.py"]
    fetched = {file for lab in LABS for file in lab_files(lab).values()}
    trains = set(closure("sim.labs.training").values())
    assert fetched | trains >= set(modules)
    assert {file.name for file in trains - fetched if file in modules} == {
        *("counting.py", "learning.py", "training.py")
    }
    assert not fetched & set(start_files().values())


def test_a_row_imports_no_lab_and_tells_what_its_modules_need() -> None:
    assert not [n for n in imports(ROOT / "sim" / "labs" / "__init__.py") if n.startswith("sim")]
    assert [lab.name for lab in LABS] == list(BY_NAME)
    for lab in LABS:
        files = [file for file in lab_files(lab).values() if file.suffix == ".py"]
        needed = {"numpy"} if any("numpy" in imports(file) for file in files) else set()
        if any("draw_chart" in file.read_text(encoding="utf-8") for file in files):
            needed.add("charts")
        assert set(lab.needs) == needed, lab.name


def test_the_printed_scene_is_the_real_one() -> None:
    assert printed.built() == INDEX, "run: python3 -m sim.host.printed"
    shown = printed.EXAMPLE_PICTURE.read_text(encoding="utf-8")
    assert shown == printed.EXAMPLE.svg() + "\n", "run: python3 -m sim.host.printed"
    assert "(static/scene.svg)" in README
    assert printed.EXAMPLE.link("") in README


def limits_of(row: Setting) -> tuple[float, float]:
    assert isinstance(row.kind, Number)
    return row.kind.low, row.kind.high


def test_controls_carry_the_names_limits_and_defaults_of_the_table() -> None:
    ranges = {a["name"]: a for a in ELEMENTS.having("name") if a.get("type") == "range"}
    switches = {a["name"] for a in ELEMENTS.having("name") if a.get("type") == "checkbox"}
    fields = {a["data-number"]: a for a in ELEMENTS.having("data-number")}
    assert set(ranges) == {"k", "alpha", "c", "c0", "batch", "knee", "chunk", "speed", "tick"}
    assert switches == {"speculation", "cache"}
    assert set(fields) == {"k", "alpha", "c", "c0", "batch", "knee", "chunk", "seed"}
    for key, field in fields.items():
        row = BY_KEY[str(key)]
        limits = float(field["aria-valuemin"] or ""), float(field["aria-valuemax"] or "")
        assert limits == limits_of(row)
        assert field["value"] == field["aria-valuenow"] == write(row, row.default)
    assert (ranges["k"]["max"], ranges["c"]["max"], ranges["c0"]["max"]) == ("16", "1", "1")
    for key in set(ranges) - {"k", "c", "c0", "speed", "tick"}:
        limits = float(ranges[key]["min"] or ""), float(ranges[key]["max"] or "")
        assert limits == limits_of(BY_KEY[str(key)])


def test_each_setting_is_explained_on_the_page() -> None:
    for row in PARAMETERS:
        if row.key not in ("rates", "evict", "force"):
            assert row.label in INDEX
            assert row.help in INDEX


def test_buttons_and_numbers_carry_the_names_that_hosts_rely_on() -> None:
    actions = {a["data-action"] for a in ELEMENTS.having("data-action")}
    assert {"play", "step", "back", "start", "reset", "evict", "share"} <= actions
    shown = {a["data-metric"] for a in ELEMENTS.having("data-metric")}
    assert shown == {metric.name for metric in METRICS}
    assert 'data-state="loading"' in INDEX
    assert 'id="board"' in INDEX


LEGEND = INDEX[INDEX.index('<ul class="legend"') :].partition("</ul>")[0]


def test_legend_marks_and_css_speak_of_the_same_states() -> None:
    for state, look in LOOKS.items():
        if state == PROPOSED:  # of a moment, and a question mark
            assert look.legend not in LEGEND
        elif state != EMPTY:
            assert f"</svg>{look.legend}<" in LEGEND
        assert look.colour in PALETTES["light"]
    marks = [look.mark for state, look in LOOKS.items() if state != EMPTY]
    assert len(set(marks)) == len(marks), "two states could not be told apart without colour"
    for state in ("bonus", "rejected", "plain", "discarded", "proposed", "empty"):
        assert f".cell.{state} b" in CSS


def css_colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+\d*): (#\w+|Canvas\w*);", block))


def test_the_colours_of_css_are_those_of_the_board() -> None:
    blocks = re.findall(r"(?:^|\n) *[^{}\n]*\{([^{}]*--ground:[^{}]*)\}", CSS)
    assert [css_colours(block) for block in blocks] == [
        PALETTES["light"],
        PALETTES["dark"],
        PALETTES["dark"],
        PALETTES["forced"],
    ]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_state_stands_out_and_text_can_be_read(theme: str) -> None:
    palette = PALETTES[theme]
    for state, look in LOOKS.items():
        if state != EMPTY:
            assert contrast(palette[look.colour], palette["ground"]) >= 3
            if look.filled and look.mark:
                assert contrast(palette[look.colour], palette["on"]) >= 3
    for ground in ("ground", "panel"):
        assert contrast(palette["ink"], palette[ground]) >= 7
        assert contrast(palette["muted"], palette[ground]) >= 4.5


def test_nothing_names_a_registry_or_loads_from_elsewhere() -> None:
    loaded = [a["src"] for a in ELEMENTS.having("src")]
    loaded += [a["href"] for tag, a in ELEMENTS.found if tag == "link"]
    assert len(loaded) > 20
    assert all(str(address).startswith(("./static/", "./sim/")) for address in loaded)
    followed = [str(a["href"]) for tag, a in ELEMENTS.found if tag == "a"]
    assert all(address.startswith(("./", "#", "https://")) for address in followed)
    targets = {a["id"] for a in ELEMENTS.having("id")}
    assert {address[1:] for address in followed if address.startswith("#")} <= targets


def test_the_script_is_small() -> None:
    script = (ROOT / "static" / "embed.js").read_bytes()
    assert len(gzip.compress(script, 9)) < 6144
    for loader in (b"import(", b"import ", b"eval(", b"innerHTML", b"require("):
        assert loader not in script
