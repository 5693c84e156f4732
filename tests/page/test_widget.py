"""The anywidget module: what a book makes of its snippet, and what it does for hosts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sim.params import Params
from sim.settings import query
from sim.view import View
from tests.course import Notes, document, pages, snippet
from tests.driver import PageDriver
from tests.node import in_folder, need, node

PARSE = """
import { mystParse } from "myst-parser";
import { readFileSync } from "node:fs";
const found = [], look = (one) => { found.push(one); (one.children ?? []).forEach(look); };
look(mystParse(readFileSync("page.md", "utf8")));
const kept = ({ type, esm, model, message, value }) => ({ type, esm, model, message, value });
console.log(JSON.stringify(found.map(kept)));
"""

VIEW = View(tick=20, ask="speedup", ask_text="How “much” faster: 2× or\\more? ::: </p>")


def parsed(folder: Path, text: str) -> list[dict[str, Any]]:
    """The nodes that mystmd reads."""
    in_folder(folder, {"page.md": text, "parse.mjs": PARSE})
    return list(json.loads(node(folder, "parse.mjs")))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    need("myst-parser")
    return parsed(
        tmp_path_factory.mktemp("book"),
        "# Week 7\n\nBefore.\n\n"
        + snippet("mystmd", "https://a.org/x/index.html", Params(draft_length=7), VIEW)
        + "\n\nAfter.\n",
    )


def test_jupyter_book_2_reads_one_widget_with_the_scene_in_it(tree: list[dict[str, Any]]) -> None:
    (widget,) = [one for one in tree if one["type"] == "anywidget"]
    assert widget["esm"] == "https://a.org/x/static/widget.mjs"
    model = widget["model"]
    assert model.pop("picture").startswith("data:image/svg+xml,")
    assert model.pop("words").startswith("Tick 0.")
    assert model == {"simulator": "https://a.org/x/", **query(Params(draft_length=7), VIEW)}
    assert not [one for one in tree if "rror" in one["type"]]
    assert [one["value"] for one in tree if one["type"] == "text"] == [
        "Week 7",
        "Before.",
        "After.",
    ]


MODEL = """
class Model extends EventTarget {
  constructor(traits, saves) { super(); Object.assign(this, { traits, saves, saved: 0 }); }
  get(name) { return this.traits[name]; }
  set(name, value) { this.traits[name] = value; this.dispatchEvent(new Event(`change:${name}`)); }
  on(name, call) { this.addEventListener(name, call); }
  save_changes() { if (!this.saves) throw new Error("not implemented"); this.saved += 1; }
}
"""
"""A model as front-end modules are promised one; that of a book keeps nothing."""


def show(notes: Notes, module: str, traits: dict[str, Any], saves: bool) -> None:
    told = notes.page.driver.execute_async_script(
        MODEL + "const [module, traits, saves, done] = arguments;"
        "const host = document.querySelector('main').attachShadow({ mode: 'open' });"
        "window.model = new Model(traits, saves);"
        "import(module).then(({ default: { render } }) => render({ model, el: host }))"
        "  .then((end) => { window.end = end; window.made = host.querySelector('bonus-token');"
        "    done(''); }, (error) => done(String(error)))",
        *(module, traits, saves),
    )
    assert told == ""


def said(notes: Notes) -> list[dict[str, Any]]:
    """What the simulator was told."""
    notes.run("document.querySelector('main').id = 'main'; made.id = 'a'")
    notes.page.driver.switch_to.frame(notes.run("return made.shadowRoot.querySelector('iframe')"))
    found = notes.page.run("return received.filter((one) => !('theme' in one))")
    notes.page.driver.switch_to.default_content()
    return list(found)


@pytest.mark.every_engine
@pytest.mark.parametrize("saves", [True, False])
def test_traits_are_the_scene_and_follow_it(shared: PageDriver, stand_in: str, saves: bool) -> None:
    script = (Path(__file__).parents[2] / "static" / "widget.mjs").read_text("utf-8")
    copied = {"/": document("<main></main>"), "/build/1f2e.mjs": script}
    with pages(copied) as address:
        notes = Notes(shared, address)
        module = stand_in + "static/widget.mjs" if saves else address + "/build/1f2e.mjs"
        traits = {
            **{"k": 12, "evict": [3, 9], "play": None, "start": "auto", "labs": {"convert.k": 4}},
            **{"picture": "data:image/svg+xml,%3Csvg/%3E", "words": "Tick 9.", "state": {}},
            **({} if saves else {"simulator": stand_in}),
        }
        show(notes, module, traits, saves)
        shared.until(lambda: notes.run("return model.get('state').tick === 9"))
        assert notes.run("return made.shadowRoot.querySelector('iframe').src").startswith(
            f"{stand_in}index.html?embed=1&k=12&evict=3%2C9&"
        )
        assert notes.run("return made.querySelector('img').alt") == "Tick 9."
        assert notes.run("return made.getAttribute('convert.k')") == "4"
        assert (notes.run("return model.saved") > 0) == saves
        assert notes.run("return model.get('answer') ?? null") is None, "no one wants to know"
        notes.run("model.set('k', 5); model.set('play', true)")
        shared.until(lambda: len(said(notes)) == 2)
        assert said(notes) == [
            {"type": "bonus-token:set", "k": "5"},
            {"type": "bonus-token:set", "play": "true"},
        ]
        notes.run("end()")
        assert notes.run("return made.isConnected") is False


def test_a_copy_that_does_not_know_the_simulator_says_so(shared: PageDriver, stand_in: str) -> None:
    script = (Path(__file__).parents[2] / "static" / "widget.mjs").read_text("utf-8")
    with pages({"/": document("<main></main>"), "/build/1f2e.mjs": script}) as address:
        for traits, why in (
            ({}, "Set “simulator” to the address"),
            ({"simulator": address}, r"/static/embed\.js did not come: “simulator” names no"),
        ):
            notes = Notes(shared, address)
            with pytest.raises(AssertionError, match=re.compile(why)):
                show(notes, address + "/build/1f2e.mjs", traits, saves=False)
