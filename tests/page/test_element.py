"""The element with which notes hold the simulator, and the hosts on which it works."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sim.host import snapshot
from sim.host.start import START_ARCHIVE, WASM
from sim.labs.share import picture_name
from sim.marks import PALETTES
from sim.params import Params
from sim.question import Question
from sim.run import Run
from sim.scene import picture
from sim.view import View
from tests import browsers
from tests.course import COLUMN, WIDE, Notes, document, element, pages, snippet, static_host
from tests.driver import PageDriver
from tests.shown import scene, value


def test_nothing_is_loaded_before_the_reader_starts_it(shared: PageDriver, simulator: str) -> None:
    held = element(simulator, 'id="a" k="12" tick="90"><p id="own">A picture.</p>')
    with pages({"/": document(held)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        assert notes.run("return document.getElementById('own').offsetHeight") > 0
        asked = notes.run("return performance.getEntriesByType('resource').map((e) => e.name)")
        assert [url for url in asked if url.startswith(simulator)] == [
            f"{simulator}static/embed.js"
        ]
        assert not notes.is_running("a")
        notes.start("a")
        with notes.inside("a") as page:
            assert page.state() == scene({"k": 12}, 90)
        shared.until(lambda: notes.heard("ready"))
        assert notes.run("return document.getElementById('own').offsetHeight") == 0
        assert (
            notes.run("return document.getElementById('a').state.tokens")
            == (scene({"k": 12}, 90)["tokens"])
        )


def test_where_a_place_shrinks_to_fit_an_element_keeps_its_width_when_it_starts(
    shared: PageDriver, simulator: str
) -> None:
    one = "<bonus-token><p>A picture.</p></bonus-token>"
    held = (
        f"<table><tr><td>{one}</td></tr></table>"
        f'<div style="display: flex"><div>{one}</div></div>'
        f'<dialog open style="position: static">{one}</dialog>'
        f'<div style="width: 300px">{one}</div>'
    )
    with pages({"/": document(element(simulator) + held)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!customElements.get('bonus-token')"))
        widths = (
            "return [...document.querySelectorAll('bonus-token')].map((one) => one.offsetWidth)"
        )
        before = notes.run(widths)
        assert before == [784, 784, 784, 300]
        which = "document.querySelectorAll('bonus-token')[arguments[0]]"
        running = f"return !!{which}.shadowRoot.querySelector('iframe')"
        for index in range(len(before)):  # the oldest stops where a third begins
            notes.run(f"{which}.start()", index)
            shared.until(lambda i=index: notes.run(running, i))  # type: ignore[misc]
            assert notes.run(widths) == before


@pytest.mark.every_engine
def test_an_element_starts_in_view_and_follows_its_attributes_its_script_and_its_height(
    shared: PageDriver, simulator: str
) -> None:
    far = '<div style="height: 4000px"></div>'
    held = far + element(simulator, 'id="a" show="board" start="auto">')
    with pages({"/": document(held, COLUMN)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        shared.driver.execute_async_script(  # a later observer is told later
            "const [element, done] = [document.getElementById('a'), arguments[0]];"
            "new IntersectionObserver(() => done()).observe(element)"
        )
        assert not notes.is_running("a")
        # Asked for before it is started, and done once it is there.
        notes.run("const a = document.getElementById('a'); a.set({k: 6}); a.step(2)")
        assert not notes.is_running("a")
        notes.run("document.getElementById('a').scrollIntoView()")
        shared.until(lambda: notes.heard("state") and notes.heard("state")[-1]["tick"] == 62)
        assert notes.heard("state")[-1]["params"]["draft_length"] == 6
        notes.run("document.getElementById('a').setAttribute('alpha', '0.25')")
        shared.until(lambda: notes.heard("state")[-1]["params"]["acceptance_rate"] == 0.25)
        heights = (
            "const f = document.getElementById('a').shadowRoot.querySelector('iframe');"
            "return [f.offsetHeight, f.offsetWidth]"
        )
        shared.until(lambda: notes.run(heights)[0] == notes.heard("resize")[-1]["height"])
        height, width = notes.run(heights)
        assert width == WIDE
        notes.run("document.getElementById('a').setAttribute('show', 'pass')")
        shared.until(lambda: notes.run(heights)[0] < height - 200)
        notes.run("document.getElementById('a').removeAttribute('show')")
        shared.until(lambda: notes.run(heights)[0] > height + 200)
        notes.run("window.gone = document.getElementById('a'); gone.remove()")
        assert notes.run("return gone.shadowRoot.querySelectorAll('iframe').length") == 0


def test_it_is_dark_where_its_host_is_and_follows_it(shared: PageDriver, simulator: str) -> None:
    dark = "<style>body { background: #1b1b1f; color: rgb(230 230 230) }</style>"
    with pages({"/": document(element(simulator, 'id="a" theme="light">'), dark)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        theme = "return document.documentElement.dataset.theme"
        with notes.inside("a") as page:
            assert page.run(theme) == "light"
        notes.run("document.getElementById('a').removeAttribute('theme')")
        with notes.inside("a") as page:
            page.until(lambda: page.run(theme) == "dark")
        notes.run("document.body.setAttribute('style', 'background: white; color: black')")
        with notes.inside("a") as page:
            page.until(lambda: page.run(theme) == "light")


def test_a_picture_comes_after_the_state_that_it_shows(shared: PageDriver, simulator: str) -> None:
    with pages({"/": document(element(simulator, 'id="w1"><i>not yet</i>'))}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('w1').shadowRoot"))
        notes.start("w1")
        notes.run(
            "const w1 = document.getElementById('w1'); window.seen = [];"
            "addEventListener('message', ({ data }) => {"
            "  if (data.type === 'bonus-token:picture')"
            "    seen.push([w1.state.params.acceptance_rate, /alpha=0.3/.test(data.query)]); });"
            "for (const alpha of [0.5, 0.4, 0.3]) { w1.set({ alpha }); w1.picture(); }"
        )
        shared.until(lambda: notes.run("return seen.length === 3"))
        assert notes.run("return seen") == [[0.5, False], [0.4, False], [0.3, True]]


@pytest.mark.every_engine
def test_a_parked_one_is_a_picture_and_wakes_where_it_was(
    shared: PageDriver, simulator: str
) -> None:
    held = element(simulator, 'id="w1" k="1" title="number 1"><i>not yet</i>')
    with pages({"/": document(held)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('w1').shadowRoot"))
        notes.start("w1")
        with notes.inside("w1") as page:
            page.call("seek", 200)
            page.call("evict")
            page.call("step", 2)
            page.call("set", {"alpha": 0.5, "speed": 20})
            left = page.state()
        notes.run("document.getElementById('w1').park()")
        shared.until(lambda: not notes.is_running("w1"))
        shown = notes.run(
            "const root = document.getElementById('w1').shadowRoot;"
            "return [root.querySelector('svg').getAttribute('aria-label'),"
            " root.querySelector('button').textContent, root.querySelector('svg').clientHeight]"
        )
        assert shown[0].startswith("Tick 202.")
        assert shown[1] == "Wake the simulator"
        assert shown[2] > 100
        notes.start("w1")
        with notes.inside("w1") as page:
            page.until(lambda: page.state() == left)
            assert page.text("#speed") == "20"
            page.call("reset")
            assert page.state() == scene({"k": 1}, 60)


def test_a_question_that_is_over_stays_over_when_its_element_wakes(
    shared: PageDriver, simulator: str
) -> None:
    with pages({"/": document(element(simulator, 'id="a" ask="speedup" tick="20">'))}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        with notes.inside("a") as page:
            page.action("skip")
            page.until(lambda: page.run("return question.dataset.phase") == "over")
            page.action("done")
            page.call("seek", 700)
        notes.run("document.getElementById('a').park()")
        shared.until(lambda: not notes.is_running("a"))
        notes.start("a")
        with notes.inside("a") as page:
            page.until(lambda: page.state()["tick"] == 700)
            assert not page.one("#question").is_displayed()
            page.call("reset")
            assert page.state()["tick"] == 0
            assert "at tick 20?" in page.text("#asked")


@pytest.mark.chromium_only("Python alone decides this")
def test_what_was_written_and_what_came_of_it_outlive_parking(
    shared: PageDriver, simulator: str
) -> None:
    asks = 'id="a" ask="speedup" asktext="How &lt;much&gt; **faster**?" tick="20" speed="60">'
    with pages({"/": document(element(simulator, asks))}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))

        def parked_and_woken() -> None:
            notes.run("document.getElementById('a').park()")
            shared.until(lambda: not notes.is_running("a"))
            notes.start("a")

        notes.start("a")
        with notes.inside("a") as page:
            assert page.text("#asked") == "How <much> **faster**?"
            page.one("#prediction").send_keys("1.5")
        parked_and_woken()
        with notes.inside("a") as page:
            page.until(lambda: value(page, "#prediction") == "1.5")
            page.action("predict")
            page.until(lambda: page.run("return question.dataset.phase") == "over")
            verdict = page.text("#asked")
            assert verdict.startswith("You said 1.5×. It is")
        parked_and_woken()
        with notes.inside("a") as page:
            page.until(lambda: page.text("#asked") == verdict)
            assert page.state()["tick"] == 20
            page.action("again")
            page.action("skip")
        shared.until(lambda: len(notes.heard("answer")) == 4)  # messages, and events of them
        told = [(one["prediction"], one["attempts"]) for one in notes.heard("answer")]
        assert set(told) == {(1.5, 1), (None, 2)}


@pytest.mark.every_engine
def test_a_prediction_is_told_to_the_host(shared: PageDriver, simulator: str) -> None:
    params, view = Params(draft_length=12, draft_cost=0.1), View(tick=20, ask="speedup", speed=60)
    html = snippet("element", simulator, params, view).replace(
        "<bonus-token", '<bonus-token id="a"'
    )
    with pages({"/": document(html)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        with notes.inside("a") as page:
            page.run(
                "document.querySelector('#prediction').value = '1.5';"
                "document.querySelector('[data-action=predict]').click()"
            )
            page.until(lambda: page.state()["tick"] == 20)
        shared.until(lambda: notes.heard("answer"))
        (answer,) = [heard for heard in notes.heard("answer") if heard.get("event")]
        result = Question("speedup", 20).result(Run(params))
        assert result is not None
        told = {"question": "speedup", "prediction": 1.5, "tick": 20, "attempts": 1}
        assert answer.items() >= {**told, "result": round(result, 2)}.items()
        assert answer["result"] != result


# Hosts


@pytest.mark.every_engine
def test_it_works_where_third_party_storage_is_blocked(shared: PageDriver, simulator: str) -> None:
    blocking = browsers.NO_THIRD_PARTY_STORAGE.get(shared.engine)
    if blocking is None:
        pytest.skip(f"{shared.engine} cannot be told to block it")
    driver = browsers.launch(shared.engine, preferences=blocking)
    try:
        with pages({"/": document(element(simulator, 'id="a" k="5">'))}) as address:
            notes = Notes(PageDriver(driver, address), address)
            notes.start("a")
            with notes.inside("a") as page:
                storage = "try { return typeof localStorage } catch { return 'denied' }"
                assert page.run(storage) == "denied"
                assert page.state() == scene({"k": 5}, 60)
    finally:
        driver.quit()


@pytest.mark.every_engine
def test_a_host_with_a_strict_policy_need_only_list_our_origin(
    shared: PageDriver, simulator: str
) -> None:
    origin = simulator[: simulator.index("/", 8)]
    policy = f"default-src 'none'; script-src {origin}; frame-src {origin}"
    held = element(simulator, 'id="a" start="auto">')
    with pages({"/": document(held)}, policy) as address:
        notes = Notes(shared, address)
        notes.run(
            "window.violations = []; document.addEventListener('securitypolicyviolation',"
            " (e) => violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`))"
        )
        with notes.inside("a") as page:
            assert page.state() == scene({}, 60)
        notes.run("document.getElementById('a').park()")
        shared.until(lambda: not notes.is_running("a"))
        assert notes.run(
            "return !!document.getElementById('a').shadowRoot.querySelector('svg path')"
        )
        ours = [seen for seen in notes.run("return violations") if "favicon" not in seen]
        assert ours == []


@pytest.mark.chromium_only("its name lookup cannot be cut off")
def test_the_bundle_works_with_the_network_cut(shared: PageDriver, simulator: str) -> None:
    rule = "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"
    driver = browsers.launch("chromium", flags=(f"--host-resolver-rules={rule}",))
    try:
        with pages({"/": document(element(simulator, 'id="a">'))}) as address:
            notes = Notes(PageDriver(driver, address), address)
            notes.start("a")
            with notes.inside("a") as page:
                assert page.state() == scene({}, 60)
                page.call("set", {"k": 9})
                page.frames()
                files = "return performance.getEntriesByType('resource').map((file) => file.name)"
                asked = page.run(files)
        needed = {simulator + name for name in (START_ARCHIVE, WASM, snapshot.name())}
        assert needed <= set(asked)
        assert [url for url in asked if not url.startswith(simulator)] == []
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory, simulator: str) -> Path:
    """A Sphinx book with the MyST and the iframe snippets as the dialog prints them."""
    source = tmp_path_factory.mktemp("book")
    params, view = Params(draft_length=12, acceptance_rate=0.6), View(tick=90, lock=("k", "evict"))
    (source / "conf.py").write_text('project = "Course"\nextensions = ["myst_parser"]\n')
    (source / picture_name(params, view)).write_text(picture(Run(params), view, PALETTES["light"]))
    (source / "index.md").write_text(
        "# Week 7\n\nBefore.\n\n"
        + snippet("myst", simulator, params, view)
        + "\n\nBetween.\n\n"
        + snippet("iframe", simulator, params, replace(view, tick=91))
        + "\n\n"
        + snippet("myst", simulator, params, view, inside=False)
        + "\n\n"
        + snippet("markdown", simulator, params, view)
        + "\n\nAfter.\n"
    )
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(source), str(source / "_b")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return source / "_b"


@pytest.mark.chromium_only("what engines do with frames and elements, other tests say")
def test_a_sphinx_book_shows_the_scene_as_the_dialog_prints_it(
    shared: PageDriver, book: Path
) -> None:
    with static_host(book, "localhost") as address:
        notes = Notes(shared, address + "/index.html")
        shared.until(lambda: notes.run("return !!document.querySelector('bonus-token').shadowRoot"))
        notes.run("document.querySelector('bonus-token').id = 'a'")
        shown = notes.run(
            "return [...document.querySelectorAll('bonus-token img, p > a > img')].map((image) =>"
            "[image.complete && image.naturalWidth, image.offsetHeight, image.alt, image.src])"
        )
        assert len(shown) == 3
        for width, height, words, _ in shown:
            assert width > 500
            assert height > 100
            assert words.startswith("Tick 90.")
        assert [src.partition(":")[0] for *_, src in shown] == ["data", "http", "http"]
        text = notes.run("return document.body.innerText")
        assert text.index("Before.") < text.index("Between.") < text.index("After.")
        with notes.inside() as page:
            assert page.state() == scene({"k": 12, "alpha": 0.6}, 91)
        notes.start("a")
        with notes.inside("a") as page:
            assert page.state() == scene({"k": 12, "alpha": 0.6}, 90)
            assert not page.one("[name=k]").is_enabled()
            assert not page.one("[data-action=evict]").is_enabled()
            assert page.one("[name=alpha]").is_enabled()
