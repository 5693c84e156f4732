"""Rules of the element that no host breaks on purpose, beside a page that misbehaves.

That page comes at once, so that many can run.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.course import STAND_IN, Notes, document, element, pages
from tests.driver import PageDriver


def on_notes(shared: PageDriver, address: str) -> Notes:
    notes = Notes(shared, address)
    shared.until(lambda: notes.run("return !!document.querySelector('bonus-token').shadowRoot"))
    return notes


def received(notes: Notes, name: str) -> list[dict[str, Any]]:
    with notes.inside(name) as page:
        return list(page.run("return received"))


def events(notes: Notes, name: str) -> list[str]:
    """The elements that told of this, in order."""
    return [heard["id"] for heard in notes.heard(name) if heard.get("event")]


def has_told(notes: Notes, name: str, teller: str, times: int = 1) -> bool:
    """Whether an element has told of this so many times."""
    return events(notes, name).count(teller) == times


@pytest.mark.every_engine
def test_of_four_on_a_page_two_run_and_the_one_started_longest_ago_sleeps(
    shared: PageDriver, stand_in: str
) -> None:
    names = ("w1", "w2", "w3", "w4")
    body = element(stand_in, *(f'id="{name}"><i>not yet</i>' for name in names))
    with pages({"/": document(body)}) as address:
        notes = on_notes(shared, address)

        def running() -> set[str]:
            return {name for name in names if notes.is_running(name)}

        for count, (name, now) in enumerate(
            [
                ("w1", {"w1"}),
                ("w2", {"w1", "w2"}),
                ("w3", {"w2", "w3"}),
                ("w1", {"w3", "w1"}),
                ("w4", {"w1", "w4"}),
            ]
        ):
            notes.start(name)
            shared.until(lambda count=count: len(events(notes, "ready")) == count + 1)  # type: ignore[misc]
            shared.until(lambda now=now: running() == now)  # type: ignore[misc]


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


def test_a_click_on_the_picture_starts_and_a_link_elsewhere_leads_there(
    shared: PageDriver, stand_in: str
) -> None:
    one = (
        'id="a" draft="3" draft_length="5" class="x" data-x="1">'
        f'<a href="{stand_in}?k=3"><b id="p">picture</b></a>'
    )
    body = element(stand_in, one, 'id="b"><a href="#there"><b id="q">notes</b></a>')
    with pages({"/": document(body)}) as address:
        notes = on_notes(shared, address)
        notes.run("addEventListener('click', (e) => { if (e.ctrlKey) e.preventDefault() })")
        click = "document.getElementById(arguments[0]).dispatchEvent(new MouseEvent('click',"
        click += "{ bubbles: true, cancelable: true, composed: true, ctrlKey: arguments[1] }))"
        notes.run(click, "p", True)
        notes.run(click, "q", False)
        assert not notes.is_running("a")
        assert not notes.is_running("b")
        notes.run(click, "p", False)
        shared.until(lambda: notes.is_running("a"))
        assert notes.run("return location.href").endswith("/#there")
        shown = notes.run("return a.shadowRoot.querySelector('iframe').src")
        assert shown.partition("?")[2] == "embed=1&theme=light&draft=3&draft_length=5"
