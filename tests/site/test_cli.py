"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sim.host.start import filled, regions
from sim.marks import PALETTES
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.picture import scene_svg
from sim.run import Run
from sim.scene import passes_csv
from tests.server import ROOT, cli


def test_run_prints_the_numbers_as_one_json_object() -> None:
    code, out, _ = cli(
        *("run", "--k", "7", "--rates", "0.9,0.8", "--c", "0.1", "--batch", "8", "--knee", "256"),
        *("--chunk", "64", "--seed", "7", "--evict", "100,200", "--tick", "700", "--json"),
        *("--force", "60:0,61:3,60:2", "--c0", "0.2"),
    )
    params = Params(
        draft_length=7,
        acceptance_rates=(0.9, 0.8),
        draft_cost=0.1,
        batch_size=8,
        seed=7,
        evictions=(100, 200),
        round_cost=0.2,
        verdicts=((60, 2), (61, 3)),
    )
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(Run(params).report(700)))


def test_json_holds_the_models_names_the_tick_and_every_parameter() -> None:
    found = json.loads(cli("run", "--json", "--speculation", "off", "--cache", "off")[1])
    assert list(found) == [metric.name for metric in METRICS] + ["tick", "params"]
    assert found["tick"] == HORIZON
    assert set(found["params"]) == {row.name for row in PARAMETERS}
    assert found["params"]["speculation"] is False
    assert found["params"]["evictions"] == found["params"]["acceptance_rates"] == []
    assert found["draft_acceptance"] is None
    assert json.loads(cli("run", "--json", "--force", "60:0")[1])["params"]["verdicts"] == [[60, 0]]


def test_run_prints_a_readable_table() -> None:
    code, out, _ = cli("run", "--evict", "100", "--tick", "112")
    assert code == 0
    assert out.splitlines()[0].startswith("tick 112   speculation=on  k=4")
    rows = dict(line.split()[:2] for line in out.splitlines()[2:])
    assert (rows["tokens"], rows["speedup"], rows["cached"]) == ("364", "2.3575", "364")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--k", "99"], ["--k", "99", "from 1 to 32"]),
        (["run", "--k", "4.5"], ["--k", "4.5", "whole number"]),
        (["run", "--k", "-1"], ["--k", "-1", "from 1 to 32"]),
        (["run", "--alpha", "nan"], ["--alpha", "nan", "from 0 to 1"]),
        (["run", "--rates", "0.9,x"], ["--rates", "0.9,x", "from 0 to 1"]),
        (["run", "--evict", "-5,3"], ["--evict", "-5,3", "from 0 to 1200"]),
        (["run", "--force", "60:33"], ["--force", "60:33", "pass:accepted"]),
        (["run", "--force", "0:1"], ["--force", "0:1", "pass from 1 to 1200"]),
        (["run", "--cache", "perhaps"], ["--cache", "perhaps", "on or off"]),
        (["run", "--tick", "1201"], ["--tick", "1201", "from 0 to 1200"]),
        (["run", "--nonsense"], ["--nonsense"]),
        (["serve", "--port", "70000"], ["--port", "70000", "from 1 to 65535"]),
        (["--port", "x"], ["--port", "x", "from 1 to 65535"]),
        (["nonsense"], ["nonsense", "serve", "run", "vendor"]),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments: list[str], named: list[str]) -> None:
    code, out, err = cli(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    for text in named:
        assert text in err


def test_run_writes_a_picture_and_a_table(tmp_path: Path) -> None:
    svg, table = tmp_path / "scene.svg", tmp_path / "passes.csv"
    code, out, err = cli(
        *("run", "--k", "7", "--tick", "90", "--json"),
        *("--svg", str(svg), "--csv", str(table)),
    )
    assert (code, err) == (0, "")
    run = Run(Params(draft_length=7))
    assert json.loads(out)["tick"] == 90
    assert svg.read_text("utf-8") == scene_svg(run, 90, PALETTES["light"])
    assert table.read_text("utf-8") == passes_csv(run)
    code, out, err = cli("run", "--svg", str(tmp_path / "no" / "scene.svg"))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "scene.svg cannot be written" in err


def test_bundle_writes_a_site_and_never_into_a_strangers_folder(tmp_path: Path) -> None:
    code, out, _ = cli("bundle", "-o", str(tmp_path / "site"))
    assert code == 0
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    page = (ROOT / "index.html").read_text(encoding="utf-8")
    assert filled(index, regions()) == page.replace(
        'src="./static/start.mjs"', 'src="./static/start.js"'
    )
    assert "static/hosting.html" in out
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.md").write_text("mine")
    code, _, err = cli("bundle", "-o", str(tmp_path / "mine"))
    assert (code, err.count("\n")) == (1, 1)
    assert "mine is not empty" in err


def test_it_is_installed_as_bonus_token() -> None:
    program = Path(sys.executable).with_name("bonus-token")
    assert cli("run", "--json", program=(str(program),)) == cli("run", "--json")


def test_a_wheel_carries_the_page_and_serves_it(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    assert "sim/site/index.html" in names
    assert "sim/site/static/page.py" in names
    assert {"sim/host/snapshot.mjs", "sim/host/scorm.js"} <= set(names)
    assert {"sim/site/LICENSE", "sim/site/static/pages.yml"} <= set(names)
    assert not [name for name in names if "vendor/" in name or name.startswith(("static", "tests"))]
    code = (
        "from sim.host import serve\n"
        "paths = '/', '/sim/run.py', '/static/page.py'\n"
        "print([serve.locate(path) is not None for path in paths])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "installed",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[True, True, True]"
