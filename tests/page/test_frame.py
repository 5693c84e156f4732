"""The simulator in a plain frame of another origin: what it shows, hears and tells."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException

from sim.marks import PALETTES
from sim.params import Params
from sim.run import Run
from sim.scene import picture
from sim.view import View
from tests.course import COLUMN, SUB_PATH, Notes, document, pages, snippet, static_host
from tests.driver import PageDriver
from tests.shown import scene


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
            assert 0 <= page.run("return innerHeight - document.documentElement.offsetHeight") < 60
        shared.until(lambda: notes.heard("ready"))
        assert notes.heard("ready")[0]["params"]["draft_length"] == 7


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
            page.until(lambda: len(page.run("return times")) > 12)
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
                "board pass numbers controls clock timeline"
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
def test_a_frame_without_any_rights_shows_no_other_scene_and_leads_to_its_own(
    shared: PageDriver, simulator: str
) -> None:
    """TinyMCE writes this attribute from version 7 on, unless it is told otherwise."""
    src = f"{simulator}?embed=1&k=12&tick=90"
    frame = (
        f'<iframe sandbox="" width="720" height="600" src="{src.replace("&", "&amp;")}"></iframe>'
    )
    with pages({"/": document(frame)}) as address:
        notes = Notes(shared, address)
        notes.driver.switch_to.frame(notes.driver.find_element("css selector", "iframe"))
        find = partial(notes.driver.find_element, "css selector")
        shared.until(lambda: notes.driver.find_elements("css selector", "noscript a"))
        assert "kept from this frame by the page around it" in find("noscript").text
        assert find("noscript a").get_property("href") == f"{src}#widget"
        assert not find("#printed svg").is_displayed()
        assert not find("#unbegun").is_displayed()
        notes.driver.switch_to.default_content()


@pytest.mark.every_engine
def test_a_sandboxed_frame_on_a_plain_host_works_with_its_own_origin(
    shared: PageDriver, simulator: str
) -> None:
    rights = "allow-scripts allow-same-origin"
    frame = f'<iframe sandbox="{rights}" src="{simulator}?embed=1&k=6"></iframe>'
    with pages({"/": document(frame)}) as address, Notes(shared, address).inside() as page:
        assert page.state() == scene({"k": 6}, 60)


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
        (answer,) = notes.heard("answer")
        assert (answer["prediction"], answer["attempts"]) == (None, 1)  # nobody predicted
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


@pytest.mark.chromium_only("a link into a frame is a link everywhere")
def test_links_of_the_page_around_are_a_rail_of_its_own(shared: PageDriver, simulator: str) -> None:
    links = "".join(
        f'<a target="simulator" id="scene-{k}"'
        f' href="{simulator}?embed=1&amp;k={k}&amp;ask=speedup">{k} drafts</a>'
        for k in (4, 12)
    )
    frame = f'<iframe name="simulator" src="{simulator}?embed=1&amp;k=3" width="800"></iframe>'
    with pages({"/": document(links + frame)}) as address:
        notes = Notes(shared, address)
        with notes.inside() as page:
            assert page.state()["params"]["draft_length"] == 3

        def length() -> int | None:
            with suppress(WebDriverException), notes.inside() as page:  # while the frame changes
                return int(page.state()["params"]["draft_length"])
            return None

        for k in (12, 4):
            notes.run("document.getElementById(arguments[0]).click()", f"scene-{k}")
            shared.until(lambda k=k: length() == k)  # type: ignore[misc]
            with notes.inside() as page:
                assert page.one("#question").is_displayed()
