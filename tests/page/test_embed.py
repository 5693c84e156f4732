"""The simulator where teachers put it: in pages of another origin, from its bundle, on any host."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdf
import pytest

from sim.host import bundle, snapshot
from sim.host.start import START_ARCHIVE, WASM
from sim.labs.share import frame_height, picture_name, snippets
from sim.marks import PALETTES
from sim.params import Params
from sim.question import Question
from sim.run import Run
from sim.scene import picture
from sim.view import View
from tests import browsers
from tests.course import SUB_PATH, Notes, document, element, pages, static_host
from tests.driver import PageDriver
from tests.server import ROOT
from tests.shown import scene

WIDE = 720
"""Width of the text column of the notes, in px."""

COLUMN = f"<style>body {{ width: {WIDE}px; margin: 0 auto }}</style>"


@pytest.fixture(scope="session")
def unzipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host's root folder with the unzipped bundle below it."""
    root = tmp_path_factory.mktemp("host")
    bundle.write(root / "site.zip", bundle.contents())
    with zipfile.ZipFile(root / "site.zip") as packed:
        packed.extractall(root / SUB_PATH.strip("/"))
    return root


@pytest.fixture(scope="session")
def simulator(unzipped: Path) -> Iterator[str]:
    """The bundle's address on a plain static host."""
    with static_host(unzipped) as address:
        yield address + SUB_PATH


def snippet(kind: str, address: str, params: Params, view: View) -> str:
    """A snippet as the share dialog prints it."""
    return next(one.text for one in snippets(address, params, view) if one.key == kind)


# A plain frame


@pytest.mark.every_engine
def test_a_frame_from_the_dialog_shows_the_scene_alone_at_its_height(
    shared: PageDriver, simulator: str
) -> None:
    params, view = Params(draft_length=7, evictions=(40,)), View(tick=50, lock=("alpha",))
    frame = snippet("iframe", simulator, params, view)
    with pages({"/": document(frame, COLUMN)}) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            assert page.state() == scene({"k": 7, "evict": [40]}, 50)
            assert not page.one("[data-action=share]").is_displayed()
            assert not page.one(".text").is_displayed()
            assert "seed 0" in page.one(".scene").text
            assert str(page.one("#scene").get_property("href")).startswith(simulator + "?k=7&")
            assert not page.one("[name=alpha]").is_enabled()
            height = page.run("return document.documentElement.offsetHeight")
        shared.until(lambda: notes.heard("ready"))
        assert abs(height - frame_height(view)) <= 40
        assert notes.heard("ready")[0]["params"]["draft_length"] == 7


@pytest.mark.parametrize("part", ["board", "pass", "numbers", "controls", "timeline"])
@pytest.mark.chromium_only("its fonts decide; one engine is enough")
def test_the_height_of_a_frame_is_about_that_of_its_parts(
    shared: PageDriver, simulator: str, part: str
) -> None:
    view = View(show=(part,))
    frame = snippet("iframe", simulator, Params(), view)
    with pages({"/": document(frame, COLUMN)}) as address, Notes(shared, address).inside() as page:
        height = page.run("return document.documentElement.offsetHeight")
        assert abs(height - frame_height(view)) <= 40
        shown = page.run(
            "return [...document.querySelectorAll('.widget section, .controls')]"
            ".filter((e) => e.offsetHeight).length"
        )
        assert shown == {"numbers": 3}.get(part, 1)


@pytest.mark.every_engine
def test_every_message_does_what_the_reader_could(shared: PageDriver, simulator: str) -> None:
    frame = f'<iframe src="{simulator}?embed=1" width="800" height="600"></iframe>'
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            assert page.state() == scene({}, 60)

        def told() -> dict[str, Any]:
            last = dict(notes.heard("state")[-1])
            del last["type"]
            return last

        def becomes(query: dict[str, Any], tick: int) -> None:
            wanted = scene(query, tick)
            shared.until(lambda: notes.heard("state") and told() == wanted)

        notes.post("set", k=7, acceptance_rate=0.6, seed=None)
        becomes({"k": 7, "alpha": 0.6}, 60)
        notes.post("seek", tick=100)
        becomes({"k": 7, "alpha": 0.6}, 100)
        notes.post("evict")
        becomes({"k": 7, "alpha": 0.6, "evict": [100]}, 100)
        notes.post("step")
        becomes({"k": 7, "alpha": 0.6, "evict": [100]}, 101)
        notes.post("step", n=-3)
        becomes({"k": 7, "alpha": 0.6, "evict": [100]}, 98)
        notes.post("play")
        shared.until(lambda: told()["tick"] > 100)
        notes.post("pause")
        notes.post("reset")
        becomes({}, 60)
        notes.post("picture")
        shared.until(lambda: notes.heard("picture"))
        shown = notes.heard("picture")[0]
        assert shown["svg"] == picture(Run(Params()), View(), PALETTES["light"])
        assert shown["query"] == "embed=on"
        heights = [m["height"] for m in notes.heard("resize")]
        assert heights

        def others() -> list[Any]:
            return list(notes.run("return heard.filter((m) => m.subject || typeof m === 'string')"))

        shared.until(lambda: {"subject": "lti.frameResize", "height": heights[-1]} in others())
        shared.until(lambda: any(isinstance(m, str) for m in others()))
        embedly = json.loads(next(m for m in others() if isinstance(m, str)))
        assert embedly["context"] == "iframe.resize"
        assert embedly["src"] == f"{simulator}?embed=1"


def test_what_is_said_while_it_loads_is_heard_and_the_last_word_counts(
    shared: PageDriver, simulator: str
) -> None:
    early = (
        "<script>addEventListener('message', function once({data, source}) {"
        "  if (data.type !== 'bonus-token:resize') return;"
        "  removeEventListener('message', once);"
        "  for (let seed = 1; seed <= 250; seed += 1)"
        "    source.postMessage({type: 'bonus-token:set', seed}, '*');"
        "})</script>"
    )
    frame = f'<iframe src="{simulator}?embed=1" width="800" height="600"></iframe>'
    with pages({"/": document(frame, early)}) as address, Notes(shared, address).inside() as page:
        page.until(lambda: page.state()["params"]["seed"] == 250)
        assert page.state() == scene({"seed": 250}, 60)
        assert not page.one("#failure").is_displayed()


def test_states_are_told_at_most_ten_times_a_second_and_the_last_one_always(
    shared: PageDriver, simulator: str
) -> None:
    frame = f'<iframe src="{simulator}?embed=1&speed=60" width="800" height="600"></iframe>'
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            page.run(  # by the clock of the one that tells, whenever the other comes to hear it
                "window.times = []; const { tell } = bonusTokenStart;"
                "bonusTokenStart.tell = (text) => {"
                "  const { type } = JSON.parse(text);"
                "  if (type === 'bonus-token:state') times.push(performance.now());"
                "  tell(text); }"
            )
        notes.post("play")
        with notes.inside() as page:
            page.until(lambda: len(page.run("return times")) > 12, 20)
        notes.post("seek", tick=777)
        shared.until(lambda: notes.heard("state")[-1]["tick"] == 777)
        with notes.inside() as page:
            times = page.run("return times")
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert min(gaps) >= 98  # clocks of some browsers tell whole milliseconds only


def test_bad_messages_change_nothing_and_strangers_are_not_heard(
    shared: PageDriver, simulator: str
) -> None:
    frame = f'<iframe src="{simulator}?embed=1" width="800" height="600"></iframe>'
    stranger = (
        "<script>onmessage = () => {"
        " parent.frames[0].postMessage({type: 'bonus-token:set', k: 9}, '*');"
        " parent.postMessage('sent', '*') }</script>"
    )
    held = {
        "/": document(frame + '<iframe src="/stranger"></iframe>'),
        "/stranger": document(stranger),
    }
    with pages(held) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            assert page.state() == scene({}, 60)
        notes.run("frames[1].postMessage('go', '*')")
        shared.until(lambda: "sent" in notes.run("return heard"))
        with notes.inside() as page:
            page.driver.execute_async_script(
                "const done = arguments[0];"
                "addEventListener('message', ({ data }) => data === 'later' && done());"
                "postMessage({type: 'bonus-token:set', k: 8}, '*'); postMessage('later', '*')"
            )
        notes.post("set", seed=1)  # later than what the stranger sent
        with notes.inside() as page:
            page.until(lambda: page.state()["params"]["seed"] == 1)
            assert page.state() == scene({"seed": 1}, 60)
        notes.post("set", k="many", alpha=7, evict={"a": []}, constructor="x", show=["sound"])
        with notes.inside() as page:
            page.until(lambda: page.state()["params"]["acceptance_rate"] == 1)
            assert page.state() == scene({"seed": 1, "alpha": 1}, 60)
            assert "k=many" in page.text("#notice p")
            assert page.run("return document.documentElement.dataset.show") == (
                "board pass numbers controls timeline"
            )
        notes.run("frames[0].postMessage(Object.assign([], {type: 'bonus-token:set'}), '*')")
        notes.run("const odd = {type: 'bonus-token:set', k: 3}; odd.self = odd;"
                  "frames[0].postMessage(odd, '*'); frames[0].postMessage(null, '*');"
                  "frames[0].postMessage({type: 'bonus-token:explode'}, '*');"
                  "frames[0].postMessage({type: 'bonus-token:step', n: 'far'}, '*');"
                  "frames[0].postMessage({type: 5}, '*')")  # fmt: skip
        notes.post("set", seed=2)
        with notes.inside() as page:
            page.until(lambda: page.state()["params"]["seed"] == 2)
            assert page.state() == scene({"seed": 2, "alpha": 1}, 60)
            assert not page.one("#failure").is_displayed()


def test_a_sandboxed_frame_works_where_the_host_lets_every_origin_read(
    shared: PageDriver, unzipped: Path
) -> None:
    with static_host(unzipped, Access_Control_Allow_Origin="*") as host:
        frame = f'<iframe sandbox="allow-scripts" src="{host}{SUB_PATH}?embed=1&k=6"></iframe>'
        with pages({"/": document(frame)}) as address:
            notes = Notes(shared, address)
            with notes.inside() as page:
                assert page.run("return window.origin") == "null"
                assert page.state() == scene({"k": 6}, 60)
            notes.post("step")
            shared.until(lambda: notes.heard("state") and notes.heard("state")[-1]["tick"] == 61)


@pytest.mark.every_engine
def test_a_sandboxed_frame_on_a_plain_host_works_with_its_own_origin(
    shared: PageDriver, simulator: str
) -> None:
    rights = "allow-scripts allow-same-origin"
    frame = f'<iframe sandbox="{rights}" src="{simulator}?embed=1&k=6"></iframe>'
    with pages({"/": document(frame)}) as address, Notes(shared, address).inside() as page:
        assert page.state() == scene({"k": 6}, 60)


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


# The element


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


@pytest.mark.every_engine
def test_an_element_follows_its_attributes_its_script_and_its_height(
    shared: PageDriver, simulator: str
) -> None:
    with pages({"/": document(element(simulator, 'id="a" show="board">'), COLUMN)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        # Asked for before it is started, and done once it is there.
        notes.run("const a = document.getElementById('a'); a.set({k: 6}); a.start(); a.step(2)")
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


@pytest.mark.every_engine
def test_it_starts_by_itself_only_when_it_comes_into_view(
    shared: PageDriver, simulator: str
) -> None:
    held = '<div style="height: 4000px"></div>' + element(simulator, 'id="a" start="auto">')
    with pages({"/": document(held)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        shared.driver.execute_async_script(  # a later observer is told later
            "const [element, done] = [document.getElementById('a'), arguments[0]];"
            "new IntersectionObserver(() => done()).observe(element)"
        )
        assert not notes.is_running("a")
        notes.run("document.getElementById('a').scrollIntoView()")
        with notes.inside("a") as page:
            assert page.state() == scene({}, 60)


def test_it_is_dark_where_its_host_is_and_follows_it(shared: PageDriver, simulator: str) -> None:
    dark = "<style>body { background: #1b1b1f; color: rgb(230 230 230) }</style>"
    elements = element(simulator, 'id="a">', 'id="b" theme="light">')
    with pages({"/": document(elements, dark)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        notes.start("b")
        theme = "return document.documentElement.dataset.theme"
        with notes.inside("b") as page:
            assert page.run(theme) == "light"
        with notes.inside("a") as page:
            assert page.run(theme) == "dark"
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
def test_of_four_on_a_page_two_run_and_a_parked_one_wakes_where_it_was(
    shared: PageDriver, simulator: str
) -> None:
    elements = [f'id="w{n}" k="{n}" title="number {n}"><i>not yet</i>' for n in (1, 2, 3, 4)]
    with pages({"/": document(element(simulator, *elements))}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('w1').shadowRoot"))
        notes.start("w1")
        with notes.inside("w1") as page:
            page.call("seek", 200)
            page.call("evict")
            page.call("step", 2)
            page.call("set", {"alpha": 0.5, "speed": 20})
            left = page.state()
        notes.start("w2")
        notes.start("w3")
        with notes.inside("w3") as page:
            assert page.state() == scene({"k": 3}, 60)
        shared.until(lambda: not notes.is_running("w1"))
        assert notes.is_running("w2")
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
        shared.until(lambda: not notes.is_running("w2"))
        notes.start("w4")
        shared.until(lambda: not notes.is_running("w3"))
        assert sum(notes.is_running(f"w{n}") for n in (1, 2, 3, 4)) == 2


def test_a_question_that_is_over_stays_over_when_its_element_wakes(
    shared: PageDriver, simulator: str
) -> None:
    elements = element(simulator, 'id="a" ask="speedup" tick="20">', 'id="b">', 'id="c">')
    with pages({"/": document(elements)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.getElementById('a').shadowRoot"))
        notes.start("a")
        with notes.inside("a") as page:
            page.action("skip")
            page.until(lambda: page.run("return question.dataset.phase") == "over")
            page.action("done")
            page.call("seek", 700)
        for name in ("b", "c"):
            notes.start(name)
            with notes.inside(name):
                pass
        shared.until(lambda: not notes.is_running("a"))
        notes.start("a")
        with notes.inside("a") as page:
            page.until(lambda: page.state()["tick"] == 700)
            assert not page.one("#question").is_displayed()
            page.call("reset")
            assert page.state()["tick"] == 0
            assert "at tick 20?" in page.text("#asked")


# The element against a page that misbehaves

STAND_IN = (ROOT / "tests" / "misbehaving.html").read_text("utf-8")


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[str]:
    """The real script beside a page that is not the simulator."""
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "embed.js").write_bytes((ROOT / "static/embed.js").read_bytes())
    evil = "<script>parent.postMessage({type: 'bonus-token:state', tick: 666}, '*')</script>"
    with pages({"/": evil}) as elsewhere:
        page = STAND_IN.replace("AWAY", f"'{elsewhere}'")
        (tmp_path / "index.html").write_text(page)
        with static_host(tmp_path, Cache_Control="no-store") as address:
            yield address + "/"


def on_notes(shared: PageDriver, address: str) -> Notes:
    notes = Notes(shared, address)
    shared.until(lambda: notes.run("return !!document.querySelector('bonus-token').shadowRoot"))
    return notes


def received(notes: Notes, name: str) -> list[dict[str, Any]]:
    with notes.inside(name) as page:
        return list(page.run("return received"))


def test_a_picture_from_a_frame_can_do_nothing(shared: PageDriver, stand_in: str) -> None:
    with pages({"/": document(element(stand_in, 'id="a">'))}) as address:
        notes = on_notes(shared, address)
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        notes.run("document.getElementById('a').park()")
        shared.until(lambda: not notes.is_running("a"))
        drawn = notes.run(
            "const { shadowRoot } = document.getElementById('a');"
            "return [...shadowRoot.querySelectorAll('svg, svg *')]"
            ".map((e) => [e.localName, ...[...e.attributes].map((a) => a.name)].join(' '))"
        )
        assert drawn == [
            "svg viewBox aria-label",
            "g transform",
            "path d fill",
            "text x",
        ]
        assert notes.run("return window.acted ?? null") is None


def test_a_frame_that_went_elsewhere_is_not_heard(shared: PageDriver, stand_in: str) -> None:
    with pages({"/": document(element(stand_in, 'id="a" rates="away">'))}) as address:
        notes = on_notes(shared, address)
        notes.start("a")
        shared.until(lambda: any(m.get("tick") == 666 for m in notes.run("return heard")))
        assert [m for m in notes.heard("state") if m.get("event")] == []


def test_a_scene_survives_a_slow_frame_a_move_and_a_change_of_mind(
    shared: PageDriver, stand_in: str
) -> None:
    body = element(stand_in, 'id="a" c="1" k="7">', 'id="b">', 'id="z">') + '<div id="other"></div>'
    with pages({"/": document(body)}) as address:
        notes = on_notes(shared, address)
        get = "const get = (name) => document.getElementById(name);"
        kept = {"draft_length": 3, "evictions": [4], "tick": 9, "type": "bonus-token:set"}
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        # It does not answer, so that its last state is all there is.
        notes.run(get + "get('a').park(); get('a').park(); get('a').set({seed: 5})")
        shared.until(lambda: not notes.is_running("a"))
        notes.start("a")
        shared.until(lambda: len(notes.heard("ready")) >= 4)
        wanted = [kept, {"seed": 5, "type": "bonus-token:set"}]
        shared.until(lambda: received(notes, "a") == wanted)
        # Moved, its frame begins anew; the scene does not.
        notes.run(get + "get('other').append(get('a')); get('a').start()")
        shared.until(lambda: received(notes, "a") == [kept])
        # Parked and started in one breath: it stays, and hears what was said meanwhile.
        notes.run(get + "const a = get('a'); a.park(); a.set({k: 9}); a.start()")
        shared.until(lambda: received(notes, "a")[-1] == {"k": 9, "type": "bonus-token:set"})
        assert notes.is_running("a")
        # Parking twice has not made room for a third.
        notes.run(get + "get('b').start(); get('z').start()")
        shared.until(lambda: notes.is_running("z"))
        assert sum(map(notes.is_running, "abz")) == 2
        # A changed attribute that is no key leaves a parked scene alone; one that is changes it.
        parked = next(name for name in "abz" if not notes.is_running(name))
        notes.run(get + f"get('{parked}').setAttribute('tabindex', '0')")
        notes.run(get + f"get('{parked}').setAttribute('alpha', '0.25')")
        notes.start(parked)
        shared.until(lambda: notes.is_running(parked) and received(notes, parked))
        first = received(notes, parked)[0]
        assert (first["draft_length"], first["alpha"]) == (3, "0.25")


def test_a_simulator_that_does_not_come_gives_the_picture_back(
    shared: PageDriver, stand_in: str, tmp_path: Path
) -> None:
    later = "<script>const { now } = Date; window.wait = () => { Date.now = () => now() + 60000 }"
    body = element(stand_in, 'id="a"><i id="own">picture</i>')
    with pages({"/": document(body, later + "</script>")}) as address:
        notes = on_notes(shared, address)
        (tmp_path / "index.html").write_text("<p>Under maintenance</p>")
        notes.start("a")
        shared.until(lambda: notes.is_running("a"))
        notes.run("window.wait()")
        shared.until(lambda: not notes.is_running("a"))
        button = (
            "return document.getElementById('a').shadowRoot.querySelector('button').textContent"
        )
        assert notes.run(button) == "It could not be loaded. Try again"
        assert notes.run("return own.offsetHeight") > 0
        notes.run("Date.now = () => performance.timeOrigin + performance.now()")
        (tmp_path / "index.html").write_text(STAND_IN)  # where it comes, it is tried again
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        assert notes.is_running("a")


@pytest.mark.every_engine
def test_a_host_with_a_strict_policy_need_only_list_our_origin(
    shared: PageDriver, simulator: str
) -> None:
    origin = simulator[: simulator.index("/", 8)]
    policy = f"default-src 'none'; script-src {origin}; frame-src {origin}"
    elements = element(simulator, 'id="a" start="auto">', 'id="b">', 'id="c">')
    with pages({"/": document(elements)}, policy) as address:
        notes = Notes(shared, address)
        notes.run(
            "window.violations = []; document.addEventListener('securitypolicyviolation',"
            " (e) => violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`))"
        )
        for name in ("a", "b", "c"):
            notes.start(name)
            with notes.inside(name) as page:
                assert page.state() == scene({}, 60)
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


# Predict, then run


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
            page.run("document.querySelector('#prediction').value = '1.5'")
            page.action("predict")
            page.until(lambda: page.state()["tick"] == 20)
        shared.until(lambda: notes.heard("answer"))
        (answer,) = [heard for heard in notes.heard("answer") if heard.get("event")]
        result = Question("speedup", 20).result(Run(params))
        assert answer["question"] == "speedup"
        assert answer["prediction"] == 1.5
        assert answer["result"] == pytest.approx(result, abs=1e-15)
        assert answer["tick"] == 20


# A book


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


@pytest.mark.every_engine
def test_a_sphinx_book_shows_the_scene_as_the_dialog_prints_it(
    shared: PageDriver, book: Path
) -> None:
    with static_host(book, "localhost") as address:
        notes = Notes(shared, address + "/index.html")
        shared.until(lambda: notes.run("return !!document.querySelector('bonus-token').shadowRoot"))
        notes.run("document.querySelector('bonus-token').id = 'a'")
        shown = notes.run(
            "const image = document.querySelector('bonus-token img');"
            "return [image.complete && image.naturalWidth, image.offsetHeight, image.alt]"
        )
        assert shown[0] > 500
        assert shown[1] > 100
        assert shown[2].startswith("Tick 90.")
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


# Paper


@pytest.mark.every_engine
def test_print_shows_board_numbers_settings_and_link(shared: PageDriver, tmp_path: Path) -> None:
    if shared.engine == "webkit":
        pytest.skip("webkit: its driver does not print")
    shared.open("?k=7&evict=50&tick=52&theme=dark&seed=5")
    shared.call("step", 1)
    shared.frames()
    shared.until(lambda: "tick=53" in shared.run("return location.search"))
    printed = shared.driver.print_page()
    file = tmp_path / "page.pdf"
    file.write_bytes(base64.b64decode(printed))
    page = pypdf.PdfReader(file).pages[0]
    text = " ".join(page.extract_text().split())
    now = scene({"k": 7, "evict": [50], "seed": 5}, 53)
    for word in (
        f"KV cache {now['cached']} / 512",
        "draft length 7",
        "seed 5",
        "evictions 50",
        str(now["positions_computed"]),
        "?k=7",
        "evict=50",
        "tick=53",
    ):
        assert word.replace(" ", "") in text.replace(" ", ""), word
    red = [int(PALETTES["light"]["evicted"][i : i + 2], 16) / 255 for i in (1, 3, 5)]
    content = page.get_contents()
    assert content is not None
    drawn = content.get_data().decode("latin1")
    fills = [tuple(map(float, found)) for found in re.findall(r"(\S+) (\S+) (\S+) rg", drawn)]
    assert any(fill == pytest.approx(red, abs=0.002) for fill in fills)
    assert list(page.images) == []  # the board is drawn, not photographed


# What no host does on purpose


def events(notes: Notes, name: str) -> list[str]:
    """The elements that told of this, in order."""
    return [heard["id"] for heard in notes.heard(name) if heard.get("event")]


def has_told(notes: Notes, name: str, teller: str, times: int = 1) -> bool:
    """Whether an element has told of this so many times."""
    return events(notes, name).count(teller) == times


def test_an_element_hears_its_own_frame_alone_names_it_and_hands_it_the_focus(
    shared: PageDriver, stand_in: str
) -> None:
    body = element(stand_in, 'id="a" title="number one" play>', 'id="b">')
    grey = "<style>body { color: #555 }</style>"
    with pages({"/": document(body, grey)}) as address:
        notes = on_notes(shared, address)
        frame = (
            "const f = document.getElementById(arguments[0]).shadowRoot.querySelector('iframe');"
            "return "
        )
        for name in ("a", "b"):
            notes.start(name)
            shared.until(partial(notes.run, frame + "f.getRootNode().activeElement === f", name))
            shared.until(partial(has_told, notes, "ready", name))
        assert events(notes, "ready") == ["a", "b"]
        titles = [notes.run(frame + "f.title", name) for name in "ab"]
        assert titles == ["number one", "Bonus Token: a KV cache and speculative decoding"]
        assert notes.run(frame + "f.offsetHeight", "a") >= 480  # until it says its own
        # An attribute without a value is one that is on; grey on nothing is no dark page.
        keys = [notes.run(frame + "new URL(f.src).search", name) for name in "ab"]
        assert keys == ["?embed=1&play=on&theme=light", "?embed=1&theme=light"]
        notes.run("document.getElementById('b').step()")
        wanted = [{"n": 1, "type": "bonus-token:step"}]
        shared.until(lambda: received(notes, "b") == wanted)


def test_a_frame_is_as_high_as_it_says_within_reason(shared: PageDriver, stand_in: str) -> None:
    with pages({"/": document(element(stand_in, 'id="a">'))}) as address:
        notes = on_notes(shared, address)
        notes.start("a")
        shared.until(lambda: notes.heard("ready"))
        said = [300, 0, -5, "tall", 1_000_000]
        for count, height in enumerate(said, 1):
            with notes.inside("a") as page:
                page.run(
                    "parent.postMessage({type: 'bonus-token:resize', height: arguments[0]}, '*')",
                    height,
                )
            shared.until(partial(has_told, notes, "resize", "a", count))
            shown = notes.run(
                "const { shadowRoot } = document.getElementById('a');"
                "return shadowRoot.querySelector('iframe').offsetHeight"
            )
            assert shown == (5000 if height == said[-1] else 300), height


@pytest.mark.every_engine
def test_a_frame_that_is_loaded_anew_has_its_scene_again(shared: PageDriver, stand_in: str) -> None:
    kept = {"draft_length": 3, "evictions": [4], "type": "bonus-token:set"}
    body = element(stand_in, 'id="a">', 'id="b" ask="speedup" c="1">')
    with pages({"/": document(body)}) as address:
        notes = on_notes(shared, address)
        notes.start("a")
        shared.until(lambda: events(notes, "ready") == ["a"])
        with notes.inside("a") as page:
            page.run("location.reload()")
        shared.until(lambda: events(notes, "ready") == ["a", "a"])
        shared.until(lambda: received(notes, "a") == [{**kept, "tick": 9}])
        # One that asks and is parked without an answer asks again, from the start.
        notes.start("b")
        shared.until(lambda: events(notes, "ready")[-1] == "b")
        notes.run("document.getElementById('b').park()")
        shared.until(lambda: not notes.is_running("b"))
        notes.start("b")
        shared.until(lambda: events(notes, "ready")[-2:] == ["b", "b"])
        shared.until(lambda: received(notes, "b") == [kept])


def test_an_element_is_one_however_often_it_is_started_moved_or_defined(
    shared: PageDriver, stand_in: str
) -> None:
    watch = "<script>window.errors = []; onerror = (said) => { errors.push(said) }</script>"
    body = element(stand_in, 'id="a" start="auto">', 'id="b">', 'id="gone">')
    again = f'<script src="{stand_in}static/embed.js"></script><div id="other"></div>'
    with pages({"/": document(body + again, watch)}) as address:
        notes = on_notes(shared, address)
        assert notes.run("return errors") == []
        shared.until(lambda: events(notes, "ready") == ["a"])
        get = "const get = (name) => document.getElementById(name);"
        notes.run(get + "get('a').start(); get('a').start(); get('b').start(); get('b').start()")
        shared.until(lambda: events(notes, "ready") == ["a", "b"])
        assert notes.is_running("a")
        assert notes.is_running("b")
        # One that is parked sleeps on where it is put, though it once started by itself.
        notes.run(get + "get('a').park()")
        shared.until(lambda: not notes.is_running("a"))
        notes.run(get + "get('other').append(get('a'))")
        shared.driver.execute_async_script(
            get + "const done = arguments[0]; get('a').scrollIntoView();"
            "new IntersectionObserver(() => requestAnimationFrame(() => done())).observe(get('a'))"
        )
        assert not notes.is_running("a")
        # What is in no page starts nothing.
        frames = shared.driver.execute_async_script(
            get + "const [done, gone] = [arguments[0], get('gone')]; gone.remove();"
            "gone.start().then(() => done(gone.shadowRoot.querySelectorAll('iframe').length))"
        )
        assert frames == 0


@pytest.mark.chromium_only("Python alone decides this")
def test_a_frame_says_each_thing_once_and_leaves_its_own_address_alone(
    shared: PageDriver, simulator: str
) -> None:
    frame = f'<iframe src="{simulator}?embed=1&theme=dark&ask=tokens&tick=5" width="800"></iframe>'
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            page.action("skip")
        shared.until(lambda: notes.heard("state") and notes.heard("state")[-1]["tick"] == 5)
        told = notes.run("return heard.map(({ type }) => type).filter((type) => type)")
        ours = [one.removeprefix("bonus-token:") for one in told if one != "bonus-token:resize"]
        assert ours[0] == "ready"
        # The link to this scene has the colours of whoever follows it, not those of the host.
        with notes.inside() as page:
            assert "theme" not in str(page.one("#scene").get_property("href"))
            page.action("done")
            page.call("step", 1)
            page.call("step", 1)  # while one has just been told
            # Timers come in their order: this one after all that was to be told or followed.
            page.driver.execute_async_script("setTimeout(arguments[0], 700)")
            assert page.run("return location.search") == "?embed=1&theme=dark&ask=tokens&tick=5"
            assert str(page.one("#scene").get_property("href")).endswith("?tick=7")
        states = notes.heard("state")
        assert states[-1]["tick"] == 7
        assert all(later != earlier for earlier, later in pairwise(states))
        assert notes.heard("answer") == []  # nobody predicted
        # In a frame as high as its content a word about a field is said by the field.
        with notes.inside() as page:
            page.run(
                "const field = document.querySelector('[data-number=k]'); field.value = 99;"
                "field.dispatchEvent(new Event('change', { bubbles: true }))"
            )
            box = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
            assert 0 < page.run(box, "[data-number=k]") - page.run(box, "#notice") < 100
            page.call("set", {"alpha": 9})
            assert page.run("return notice.className + notice.style.top") == "notice"
