"""The element in pages that frameworks make and modules bring, with the real ones, from npm."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.course import Notes, document, element, pages, static_host
from tests.driver import PageDriver
from tests.node import in_folder, need, vite

EVENT = "bonus-token:ready"

REACT = """
import { createElement } from "react";
import { createRoot } from "react-dom/client";
const root = createRoot(document.querySelector("main"));
window.render = (given) => root.render(createElement("bonus-token", {
  id: "a", [`on${EVENT}`]: ({ detail }) => told.push(detail.tick), ...given }));
"""

PREACT = """
import { h, render } from "preact";
window.render = (given) => render(h("bonus-token", {
  id: "a", [`on${EVENT}`]: ({ detail }) => told.push(detail.tick), ...given },
), document.querySelector("main"));
"""

VUE = """
import { createApp, reactive } from "vue/dist/vue.esm-bundler.js";
const held = reactive({ given: {} });
let mounted = false;
const app = createApp({
  setup: () => ({ held, told: ({ detail }) => told.push(detail.tick) }),
  template: `<bonus-token id="a" @${EVENT}="told" v-bind="held.given" />`,
});
app.config.compilerOptions.isCustomElement = (name) => name === "bonus-token";
window.render = (given) => {
  held.given = given;
  if (!mounted) app.mount("main");
  mounted = true;
};
"""

FRAMEWORKS = {"react": REACT, "preact": PREACT, "vue": VUE}


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of each framework, as its users build it."""
    need("react", "react-dom", "preact", "vue", "vite")
    folder = tmp_path_factory.mktemp("apps")
    files = {}
    for name, source in FRAMEWORKS.items():
        files[f"{name}.js"] = f'const EVENT = "{EVENT}"; window.told = [];{source}'
        main = f'<main></main><script type="module" src="./{name}.js"></script>'
        files[f"{name}.html"] = document(main)
    in_folder(folder, files)
    return vite(folder)


def attributes(notes: Notes) -> dict[str, str]:
    asked = (
        "return Object.fromEntries([...document.getElementById('a').attributes]"
        ".filter(({ name }) => name !== 'id').map(({ name, value }) => [name, value]))"
    )
    return dict(notes.run(asked))


def address_of(notes: Notes) -> dict[str, str]:
    """The keys with which the frame was opened, but for the colours."""
    asked = (
        "return document.getElementById('a').shadowRoot.querySelector('iframe')?.src ?? 'http://x'"
    )
    found = parse_qs(urlsplit(notes.run(asked)).query)
    return {key: value for key, (value,) in found.items() if key not in ("embed", "theme")}


def received(notes: Notes) -> list[dict[str, Any]]:
    with notes.inside("a") as page:
        return [
            {key: value for key, value in one.items() if key != "theme"}
            for one in page.run("return received")
        ]


@pytest.mark.chromium_only("frameworks are the same everywhere")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_framework_gives_every_key_and_leaves_the_calls_alone(
    shared: PageDriver, stand_in: str, apps: Path, framework: str
) -> None:
    with static_host(apps, "localhost") as address:
        notes = Notes(shared, f"{address}/{framework}.html")
        shared.driver.execute_async_script(
            "const made = document.createElement('script'); made.src = arguments[0];"
            "made.onload = arguments[1]; document.head.append(made)",
            stand_in + "static/embed.js",
        )
        shared.until(lambda: notes.run("return !!window.render"))
        given = {
            **{"start": "auto", "play": True, "cache": False, "k": 12, "alpha": 0.6},
            **{"evict": [134, 200], "force": [[60, 0], [70, 4]], "lock": ["k", "alpha"]},
            **{"ask": None, "story": False, "convert.k": 4},
        }
        written = {
            **{"start": "auto", "play": "true", "cache": "false", "k": "12", "alpha": "0.6"},
            **{"evict": "134,200", "force": "60:0,70:4", "lock": "k,alpha", "convert.k": "4"},
        }
        notes.run("render(arguments[0])", given)
        shared.until(lambda: notes.run("return told.length === 1 && told[0] === 9"))
        assert attributes(notes) == written
        opened = {key: value for key, value in written.items() if key != "start"}
        assert address_of(notes) == opened
        # What is no longer given is no more there, and what is given anew is heard.
        notes.run("render(arguments[0])", {"start": "auto", "play": False, "cache": True, "k": 7})
        shared.until(lambda: attributes(notes) == {
            "start": "auto", "play": "false", "cache": "true", "k": "7",
        })  # fmt: skip
        notes.run("const a = document.getElementById('a'); a.evict(); a.play(); a.start()")
        shared.until(lambda: received(notes)[-1] == {"type": "bonus-token:play"})
        changed = {key: one[key] for one in received(notes) for key in one if key != "type"}
        assert changed == {
            **{"play": "false", "cache": "true", "k": "7", "alpha": None, "evict": None},
            **{"force": None, "lock": None, "convert.k": None},
        }
        assert {"type": "bonus-token:evict"} in received(notes)


def test_a_key_that_was_set_before_the_script_came_counts(
    shared: PageDriver, stand_in: str
) -> None:
    early = (
        "<script>const a = document.getElementById('a'); a.k = 12; a.play = ''; a.c = '';</script>"
    )
    body = '<bonus-token id="a" c="1"></bonus-token>' + early + element(stand_in)
    with pages({"/": document(body)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        assert attributes(notes) == {"k": "12", "play": ""}
        assert notes.run("const a = document.getElementById('a'); return [a.k, a.c, a.cache]") == [
            *("12", None, None),
        ]
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        assert address_of(notes) == {"k": "12", "play": "on"}


BROUGHT = {
    "a module": '<script type="module" src="EMBED"></script>',
    "import()": "<script>import('EMBED')</script>",
    "a module of a module": "<script type='module'>import 'EMBED'; window.after = 1</script>",
    "twice": "<script async src='EMBED'></script><script type='module' src='EMBED'></script>"
    "<script async src='EMBED?again'></script><script>import('EMBED?more')</script>",
}


@pytest.mark.every_engine
@pytest.mark.parametrize("way", BROUGHT)
def test_however_the_script_is_brought_it_knows_where_the_simulator_is(
    shared: PageDriver, stand_in: str, way: str
) -> None:
    watch = (
        "<script>window.errors = []; onerror = (said) => { errors.push(said) };"
        "onunhandledrejection = ({ reason }) => { errors.push(`${reason}`) };"
        "console.warn = (said) => { errors.push(said) }</script>"
    )
    brought = BROUGHT[way].replace("EMBED", stand_in + "static/embed.js")
    body = brought + '<bonus-token id="a" k="6"></bonus-token>'
    with pages({"/": document(body, watch)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        assert address_of(notes) == {"k": "6"}
        assert notes.run("return errors") == []


@pytest.mark.every_engine
def test_what_a_site_puts_into_its_page_without_loading_it_works(
    shared: PageDriver, stand_in: str
) -> None:
    body = element(stand_in, 'id="a" k="2"><i>before</i>')
    with pages({"/": document("<main>first</main>"), "/next": document(body)}) as address:
        notes = Notes(shared, address)
        go = (
            "const done = arguments[0];"
            "fetch('/next').then((answer) => answer.text()).then((text) => {"
            "  const next = new DOMParser().parseFromString(text, 'text/html');"
            "  document.body.replaceWith(document.adoptNode(next.body));"
            "  for (const old of document.querySelectorAll('body script[src]')) {"
            "    const script = document.createElement('script');"
            "    for (const { name, value } of old.attributes) script.setAttribute(name, value);"
            "    script.onload = done; old.replaceWith(script) } })"
        )
        for count in (1, 2):  # and back, and there again
            shared.driver.execute_async_script(go)
            notes.start("a")
            shared.until(partial(lambda n: len(notes.heard("ready")) == 2 * n, count))
            assert address_of(notes) == {"k": "2"}


def test_a_script_that_cannot_know_the_simulator_says_why_and_leaves_the_picture(
    shared: PageDriver, stand_in: str
) -> None:
    keep = (
        "<script>window.errors = []; onerror = (said) => { errors.push(said) };"
        "console.warn = (said) => { errors.push(said) }</script>"
    )
    copied = "<script>{}</script>"
    script = (Path(__file__).parents[2] / "static" / "embed.js").read_text("utf-8")
    body = '<bonus-token id="a"><i id="own">picture</i></bonus-token>' + copied.format(script)
    other = stand_in.replace("127.0.0.1", "localhost")
    twice = (
        f'<script src="{stand_in}static/embed.js"></script>'
        f'<script src="{other}static/embed.js"></script><bonus-token id="b"></bonus-token>'
    )
    with pages({"/": document(body, keep), "/two": document(twice, keep)}) as address:
        notes = Notes(shared, address)
        (said,) = notes.run("return errors")
        assert "must be fetched from the simulator's own address" in said
        assert notes.run("return own.offsetHeight") > 0
        notes = Notes(shared, address + "/two")
        (said,) = notes.run("return errors")
        assert said.startswith(
            f"<bonus-token> is there already, from {stand_in}index.html: {other}"
        )
        notes.start("b")
        shared.until(lambda: notes.heard("ready"))
