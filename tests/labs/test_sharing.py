"""The share dialog: what it makes, copies and saves of the scene that is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from selenium.webdriver.common.keys import Keys

from sim.labs.share import snippets
from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.scene import inside_a_page, light_or_dark, passes_csv, picture
from sim.settings import link
from sim.view import View
from tests.driver import PageDriver
from tests.shown import enabled, visible


@pytest.fixture
def dialog(shared: PageDriver) -> Iterator[PageDriver]:
    shared.open("?k=12&alpha=0.6&evict=134&tick=139")
    shared.run(
        "window.saved = []; const make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { const at = saved.push({type: blob.type}) - 1;"
        "  blob.text().then((text) => { saved[at].text = text }); return make.call(URL, blob) };"
        "HTMLAnchorElement.prototype.click = function () { saved.at(-1).name = this.download }"
    )
    shared.share()
    assert visible(shared, "#share")
    yield shared
    shared.run("document.querySelector('#share').close()")
    assert shared.run("return document.documentElement.dataset.state") == "ready"


def choose(page: PageDriver, key: str, value: str) -> None:
    control = page.one(f'#share [data-share="{key}"][value="{value}"]')
    page.run("arguments[0].scrollIntoView({block: 'center'})", control)
    control.click()


def set_field(page: PageDriver, key: str, value: str) -> None:
    page.run(
        "const c = document.querySelector(`#share [data-share='${arguments[0]}']`);"
        "c.value = arguments[1]; c.dispatchEvent(new Event('input', {bubbles: true}))",
        key,
        value,
    )


SCENE = Params(draft_length=12, acceptance_rate=0.6, evictions=(134,))


def shown(page: PageDriver) -> dict[str, str]:
    return dict(
        page.run(
            "return Object.fromEntries([...document.querySelectorAll('[data-snippet]')]"
            ".map((field) => [field.dataset.snippet, field.value]))"
        )
    )


def test_the_dialog_shows_what_it_makes_as_it_is_chosen(dialog: PageDriver) -> None:
    for selector in ("h2", "legend", ".share-note", "textarea", ".share-body"):  # no choices
        dialog.run("document.querySelector(`#share ${arguments[0]}`).click()", selector)
    dialog.frames()
    assert not dialog.one("#failure").is_displayed()
    view, inside = View(tick=139), True

    def expect(address: str = dialog.address) -> None:
        svg = picture(Run(SCENE), view, PALETTES[light_or_dark(view.theme)]) if inside else ""
        made = snippets(address, SCENE, view, svg=svg)
        assert shown(dialog) == {one.key: one.text for one in made}

    expect()
    choose(dialog, "show", "controls")
    view = replace(view, show=("board", "pass", "numbers", "clock", "timeline"))
    expect()
    choose(dialog, "lock", "k")
    choose(dialog, "lock", "evict")
    view = replace(view, lock=("k", "evict"))
    expect()
    choose(dialog, "play", "on")
    view = replace(view, play=True)
    expect()
    set_field(dialog, "theme", "dark")
    set_field(dialog, "asktext", "How much faster?")  # of no question: no words
    view = replace(view, theme="dark")
    expect()
    set_field(dialog, "ask", "speedup")
    view = replace(view, ask="speedup", ask_text="How much faster?")
    expect()
    set_field(dialog, "picture", "beside")
    inside = False
    set_field(dialog, "address", "https://example.org/notes")
    expect("https://example.org/notes/")
    for part in ("board", "pass", "numbers", "clock", "timeline"):
        choose(dialog, "show", part)
    view = replace(view, show=("timeline",))  # nothing at all is no choice
    expect("https://example.org/notes/")


def test_the_dialog_keeps_what_it_has_no_box_for_and_no_secret(shared: PageDriver) -> None:
    shared.open("?lock=rates,theme&ask=tokens&tick=90")
    shared.share()
    assert "lock=rates,theme" in shown(shared)["link"]
    assert "ask=tokens" in shown(shared)["link"]
    assert not enabled(shared, "[data-share-action=passes]")
    assert "Tick 0." in shown(shared)["markdown"]
    shared.run("document.querySelector('#share').close()")


@pytest.mark.every_engine
def test_the_dialog_saves_the_picture_and_every_pass(dialog: PageDriver) -> None:
    for action in ("picture", "passes"):
        button = dialog.one(f'[data-share-action="{action}"]')
        dialog.run("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()
    dialog.until(lambda: dialog.run("return saved.length === 2 && saved.every((s) => s.text)"))
    svg, table = dialog.run("return saved")
    run = Run(SCENE)
    assert svg == {
        "type": "image/svg+xml",
        "name": dialog.text("#picture-name"),
        "text": picture(run, View(tick=139), PALETTES["light"]),
    }
    assert f"](./{svg['name']})" in shown(dialog)["markdown"]
    assert inside_a_page(svg["text"]) in shown(dialog)["myst"]
    set_field(dialog, "picture", "beside")
    assert f"](./{svg['name']})" in shown(dialog)["myst"]
    assert table["type"] == "text/csv"
    assert table["name"] == "bonus-token-passes.csv"
    assert table["text"] == passes_csv(run)


@pytest.mark.every_engine
def test_copying_says_whether_it_worked_and_the_dialog_is_left_with_escape_and_by_its_button(
    dialog: PageDriver,
) -> None:
    button = dialog.one('[data-copy="link"]')
    for allowed, wanted in ((True, "Copied"), (False, "Press Ctrl+C")):
        dialog.run(
            "window.copied = null; Object.defineProperty(navigator, 'clipboard',"
            " {configurable: true, value: {writeText: (text) => arguments[0]"
            " ? (window.copied = text, Promise.resolve()) : Promise.reject(new Error('denied'))}})",
            allowed,
        )
        button.click()
        dialog.until(lambda wanted=wanted: button.text == wanted)  # type: ignore[misc]
        if allowed:
            assert dialog.run("return window.copied") == shown(dialog)["link"]
            dialog.until(lambda: button.text == "Copy")
    assert dialog.run("return document.activeElement.dataset.snippet") == "link"
    dialog.one("[data-share-action=close]").click()
    assert not visible(dialog, "#share")
    dialog.share()
    dialog.one("[data-share-action=close]").send_keys(Keys.ESCAPE)
    dialog.until(lambda: not visible(dialog, "#share"))


@pytest.mark.chromium_only("Python alone decides this")
def test_the_dialog_is_about_what_is_there_now(dialog: PageDriver) -> None:
    set_field(dialog, "address", "  ")  # no address is ours
    assert shown(dialog)["link"] == link(dialog.address, SCENE, View(tick=139))
    set_field(dialog, "theme", "dark")
    dialog.one("[data-share-action=picture]").click()
    dialog.until(lambda: dialog.run("return saved.length === 1 && saved[0].text"))
    dark = picture(Run(SCENE), View(tick=139, theme="dark"), PALETTES["dark"])
    assert dialog.run("return saved[0].text") == dark
    dialog.run("document.querySelector('#share').close()")
    dialog.call("step", 2)
    dialog.share()
    chosen = View(tick=141, theme="dark")  # which stays chosen
    assert shown(dialog)["link"] == link(dialog.address, SCENE, chosen)


@pytest.mark.chromium_only("Python alone decides this")
def test_copying_is_told_of_one_button_aloud_and_leaves_the_rest_to_the_reader(
    dialog: PageDriver,
) -> None:
    says = (
        "return [...document.querySelectorAll('#share [data-copy]')]"
        ".map((b) => b.textContent).filter((said) => said !== 'Copy')"
    )
    clipboard = "Object.defineProperty(navigator, 'clipboard', {configurable: true, value: %s})"
    dialog.run(clipboard % "{writeText: () => Promise.resolve()}")
    for key in ("link", "iframe"):
        button = f"const button = document.querySelector('#share [data-copy={key}]');"
        dialog.run(button + "button.click()")
        dialog.until(partial(dialog.run, button + "return button.textContent === 'Copied'"))
        assert dialog.text("#share-said") == "Copied"
        assert dialog.run(says) == ["Copied"]
    dialog.run(clipboard % "undefined")  # as on a page that is not served safely
    dialog.run("document.querySelector('#share [data-copy=link]').click()")
    dialog.until(lambda: dialog.text("#share-said") == "Press Ctrl+C")
    assert dialog.run(says) == ["Press Ctrl+C"]
    chosen = (
        "const f = document.activeElement; return f.value.slice(f.selectionStart, f.selectionEnd)"
    )
    assert dialog.run(chosen) == shown(dialog)["link"]


@pytest.mark.chromium_only("Python alone decides this")
def test_an_empty_value_is_told_and_an_anchor_stays_the_readers_own(shared: PageDriver) -> None:
    shared.open("?k=&tick=80#recall")
    assert "k is empty, not a whole number" in shared.text("#notice p")
    shared.call("step", 1)
    shared.until(lambda: shared.run("return location.search") == "?tick=81")
    assert shared.run("return location.hash") == "#recall"
    assert shared.one("#scene").get_property("href") == f"{shared.address}?tick=81"
    shared.share()
    assert shown(shared)["link"] == f"{shared.address}?tick=81"
    shared.run("document.querySelector('#share').close()")


@pytest.mark.chromium_only("Python alone decides this")
def test_the_dialog_keeps_what_was_chosen_and_an_author_can_change_a_locked_scene(
    shared: PageDriver,
) -> None:
    shared.open("?k=12&lock=k,theme&ask=speedup&asktext=How%20fast?&tick=40")
    assert not enabled(shared, "[name=k]")
    shared.share()
    set_field(shared, "address", "https://example.org/notes/")
    set_field(shared, "picture", "beside")
    choose(shared, "lock", "alpha")
    choose(shared, "play", "on")
    frees = shared.one("[data-share-action=edit]")
    shared.run("arguments[0].scrollIntoView({block: 'center'})", frees)
    frees.click()
    shared.until(lambda: not visible(shared, "#share"))
    assert "press Share again" in shared.text("#notice p")
    assert enabled(shared, "[name=k]")
    assert not visible(shared, "#question")
    shared.call("set", {"k": 7, "tick": 50})
    shared.share()
    view = View(
        tick=50, lock=("k", "alpha", "theme"), ask="speedup", ask_text="How fast?", play=True
    )
    made = snippets("https://example.org/notes/", Params(draft_length=7), view)
    assert shown(shared) == {one.key: one.text for one in made}
    assert not shared.driver.find_elements("css selector", "[data-share-action=edit]")
    # What is new in the scene itself counts.
    shared.run("document.querySelector('#share').close()")
    shared.call("set", {"lock": "seed"})
    shared.share()
    assert "lock=seed&ask=speedup" in shown(shared)["link"]
    shared.run("document.querySelector('#share').close()")
    shared.call("set", {"lock": None})
