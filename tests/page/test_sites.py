"""Snippets in pages that site builders make: MDX, Vite and Vue's templates, the real ones."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sim.labs.share import picture_name
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.scene import picture
from sim.view import View
from tests.course import Notes, document, snippet, static_host
from tests.driver import PageDriver
from tests.node import in_folder, need, node, vite

PARAMS = Params(draft_length=7)
VIEW = View(tick=40, ask="speedup", ask_text="How “much” faster: {2×} or <more>?", lock=("k",))
LATER = View(tick=9)
"""Another scene, whose picture is a file beside the page."""

COMPILE = """
import { compile } from "@mdx-js/mdx";
import { readFileSync, writeFileSync } from "node:fs";
const made = await compile(readFileSync("page.mdx", "utf8"));
writeFileSync("page.js", String(made));
"""

APP = """
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import Page from "./page.js";
window.wrong = [];
const root = createRoot(document.querySelector("main"), {
  onUncaughtError: (error) => wrong.push(String(error)) });
root.render(createElement(Page));
"""

TEMPLATE = """
import { compileTemplate } from "vue/compiler-sfc";
import { readFileSync } from "node:fs";
const source = readFileSync("template.html", "utf8");
const { code, errors } = compileTemplate({ source, id: "x", filename: "x.vue",
  compilerOptions: { isCustomElement: (name) => name === "bonus-token" } });
if (errors.length) throw errors[0];
console.log(code);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages from the snippets: MDX in React, and plain HTML, both built by Vite."""
    need("@mdx-js/mdx", "vite", "react", "react-dom")
    folder = tmp_path_factory.mktemp("site")
    snippets = [snippet(kind, ADDRESS, PARAMS, VIEW) for kind in ("element", "slides", "markdown")]
    beside = snippet("element", ADDRESS, PARAMS, LATER, inside=False)
    files = {
        "page.mdx": "# Week 7\n\nBefore.\n\n" + "\n\nBetween.\n\n".join(snippets) + "\n\nAfter.\n",
        "compile.mjs": COMPILE,
        "app.js": APP,
        "mdx.html": document('<main></main><script type="module" src="./app.js"></script>'),
        "plain.html": document(beside + snippets[1]),
        picture_name(PARAMS, LATER): picture(Run(PARAMS), LATER, PALETTES["light"]),
    }
    in_folder(folder, files)
    node(folder, "compile.mjs")
    return vite(folder)


ADDRESS = "https://example.org/site/"


def image_of(notes: Notes) -> list[object]:
    return list(
        notes.run(
            "const image = document.querySelector('bonus-token img');"
            "return [image.complete && image.naturalWidth > 500, image.alt.slice(0, 5),"
            " image.parentElement.href, image.getAttribute('src').slice(0, 9)]"
        )
    )


@pytest.mark.chromium_only("what engines do with elements, other tests say")
def test_mdx_shows_the_scene_with_its_picture_inside(shared: PageDriver, site: Path) -> None:
    with static_host(site, "localhost") as address:
        notes = Notes(shared, f"{address}/mdx.html")
        shared.until(lambda: notes.run("return !!document.querySelector('bonus-token')"))
        shared.until(lambda: image_of(notes)[0])
        assert image_of(notes)[1:] == [
            *("Tick ", snippet("link", ADDRESS, PARAMS, VIEW), "data:imag"),
        ]
        found = notes.run(
            "const e = document.querySelector('bonus-token'), f = document.querySelector('iframe');"
            "return [e.getAttribute('k'), e.getAttribute('asktext'), e.id === f.id,"
            " new URL(f.src).searchParams.get('asktext'), f.loading, f.width, wrong]"
        )
        asked = VIEW.ask_text
        assert found == ["7", asked, True, asked, "lazy", "100%", []]
        text = notes.run("return document.body.innerText")
        assert text.index("Before.") < text.index("Between.") < text.index("After.")
        scripts = (
            "return [...document.querySelectorAll('script[src$=\"embed.js\"]')].map((s) => s.src)"
        )
        assert notes.run(scripts) == [f"{ADDRESS}static/embed.js"]


@pytest.mark.chromium_only("what engines do with elements, other tests say")
def test_vite_takes_a_picture_beside_the_page_with_it(shared: PageDriver, site: Path) -> None:
    with static_host(site, "localhost") as address:
        notes = Notes(shared, f"{address}/plain.html")
        shared.until(lambda: image_of(notes)[0])
        assert notes.run("return document.querySelector('iframe').src").startswith(ADDRESS)


def test_a_template_of_vue_asks_for_no_package(tmp_path: Path) -> None:
    need("vue")
    inside = snippet("element", ADDRESS, PARAMS, VIEW).partition("\n")[2]  # the script is no part
    beside = snippet("element", ADDRESS, PARAMS, LATER, inside=False).partition("\n")[2]
    for html, wanted in ((inside, []), (beside, [f"'./{picture_name(PARAMS, LATER)}'"])):
        in_folder(tmp_path, {"template.html": html, "compile.mjs": TEMPLATE})
        lines = node(tmp_path, "compile.mjs").splitlines()
        asked = [line.split(" from ")[1] for line in lines if line.startswith("import ")]
        assert [one for one in asked if "vue" not in one] == wanted


def test_a_snippet_is_well_formed_for_whoever_is_strict() -> None:
    for kind in ("element", "iframe", "slides"):
        made = snippet(kind, ADDRESS, PARAMS, VIEW).replace(" async ", ' async="" ')
        assert ElementTree.fromstring(f"<div>{made}</div>").tag == "div"
