"""On the page itself: links as course platforms mangle them, fields as people fill them in, values
as no one should send them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.course import Notes, document, pages
from tests.driver import PageDriver
from tests.faults import WASM, Held, Serve, is_ready
from tests.shown import scene

DEEP = "let deep = 1; for (let i = 0; i < 5000; i++) deep = [deep];"


def enter(page: PageDriver, key: str, text: str, last: str = Keys.ENTER) -> str:
    """Write into a field as a reader does; what it says then."""
    field = page.one(f"[data-number={key}]")
    page.run("arguments[0].scrollIntoView({block: 'center'})", field)
    hands = ActionChains(page.driver).click(field)
    hands.key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL)
    hands.send_keys(text or Keys.DELETE).send_keys(last).perform()
    return str(field.get_property("value"))


def notice(page: PageDriver) -> str:
    """What the notice says, where it is shown."""
    return page.one("#notice p").text if page.one("#notice").is_displayed() else ""


# Links


def test_what_became_the_end_of_an_address_is_read_and_then_written_as_it_should_be(
    shared: PageDriver,
) -> None:
    shared.driver.get("about:blank")  # else only the end of the address would change
    shared.open("?k=12&#038;alpha=0.5&#038;tick=100")
    assert shared.state() == scene({"k": 12, "alpha": 0.5}, 100)
    shared.call("set", {"k": 9})
    shared.until(lambda: "k=9" in shared.run("return location.href"))
    assert shared.run("return location.search + location.hash") == "?k=9&alpha=0.5&tick=100"


def test_a_key_that_is_nearly_one_is_pointed_out_and_a_strangers_is_not(
    shared: PageDriver,
) -> None:
    shared.open("?K=12&gamma=3&utm_source=x&alpha=0,6")
    assert shared.state() == scene({"alpha": 0.6}, 60)
    assert notice(shared) == ("K is not a key; did you mean k? gamma is not a key; did you mean k?")
    shared.call("set", {"num_speculative_tokens": 3})
    assert notice(shared) == "num_speculative_tokens is not a key; did you mean k?"
    shared.call("set", {"k": 3})
    assert notice(shared) == ""


# Fields


@pytest.mark.every_engine
def test_a_field_reads_a_decimal_comma_a_share_and_groups(page: PageDriver) -> None:
    page.run("document.querySelector('.advanced').open = true")
    assert enter(page, "alpha", "0,6") == "0.6"
    assert page.state() == scene({"alpha": 0.6}, 60)
    assert enter(page, "alpha", "75 %") == "0.75"
    assert enter(page, "c", "4,24") == "4.24"
    assert enter(page, "knee", "4.028") == "4028"
    assert page.state() == scene({"alpha": 0.75, "c": 4.24, "knee": 4028}, 60)
    assert notice(page) == ""
    assert page.one("[name=c]").get_property("value") == "1", "its slider rests at its end"


@pytest.mark.parametrize("last", [Keys.ENTER, Keys.TAB])
def test_a_field_that_cannot_be_read_keeps_what_it_was_and_says_so(
    page: PageDriver, last: str
) -> None:
    enter(page, "k", "7")
    assert enter(page, "k", "abc", last) == "7"
    page.until(lambda: notice(page))
    assert notice(page) == "k=abc is not a whole number from 1 to 32; it stays 7."
    assert enter(page, "k", "", last) == "7"
    assert notice(page) == "k is empty, not a whole number from 1 to 32; it stays 7."
    assert page.state() == scene({"k": 7}, 60)
    assert enter(page, "k", "8", last) == "8"
    assert notice(page) == ""


@pytest.mark.every_engine
def test_arrows_step_through_a_field_from_what_is_written_there(page: PageDriver) -> None:
    assert enter(page, "alpha", "0,805", Keys.ARROW_UP) == "0.81"
    field = page.one("[data-number=alpha]")
    assert field.get_attribute("aria-valuenow") == "0.81"
    field.send_keys(Keys.ARROW_DOWN * 3)
    assert field.get_property("value") == "0.78"
    assert page.state() == scene({"alpha": 0.78}, 60)
    assert page.one("[name=alpha]").get_property("value") == "0.78"
    # The arrow does not move the caret as well.
    assert not page.run(
        "return arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp',"
        " cancelable: true}))",
        field,
    )
    field.send_keys(Keys.ARROW_DOWN)
    assert enter(page, "k", "32", Keys.ARROW_UP) == "32"
    assert enter(page, "k", "24") == "24"
    assert page.one("[data-number=k]").get_attribute("aria-valuenow") == "24"
    field.send_keys(Keys.SHIFT + Keys.ARROW_UP)
    assert field.get_property("value") == "0.78", "which marks text"


def test_a_locked_field_is_not_stepped(page: PageDriver) -> None:
    page.call("set", {"lock": "k"})
    page.run(
        "document.querySelector('[data-number=k]').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'ArrowUp', bubbles: true, cancelable: true}))"
    )
    assert not page.one("[data-number=k]").is_enabled()
    assert page.state() == scene({}, 60)
    page.call("set", {"lock": None})


@pytest.mark.every_engine
def test_controls_and_fields_moved_while_loading_keep_what_they_say(faulty: Serve) -> None:
    wasm = Held(WASM)
    page = faulty(wasm)
    page.open("?k=9&batch=3&tick=100", wait=False)
    assert page.one("[name=k]").get_property("value") == "9"
    assert page.one("[data-number=k]").get_property("value") == "9"
    assert "loading this scene" in page.one("#slot-note").text
    page.one("[name=alpha]").send_keys(Keys.ARROW_LEFT)
    page.one("[name=k]").send_keys(Keys.ARROW_RIGHT)
    page.one("[name=cache]").click()
    page.run("document.querySelector('.advanced').open = true")
    enter(page, "c", "0,6", Keys.TAB)
    enter(page, "batch", "many", Keys.TAB)
    assert page.run("return document.documentElement.dataset.state") == "loading"
    wasm.let_go()
    page.until(lambda: is_ready(page))
    assert page.state() == scene(
        {"k": 10, "alpha": 0.79, "c": 0.6, "batch": 3, "cache": False}, 100
    )
    assert page.one("[data-number=batch]").get_property("value") == "3"
    assert notice(page) == "batch=many is not a whole number from 1 to 512; it stays 3."


# What no one should send

ALONE = pytest.mark.chromium_only("Python alone decides this")


UNSENT = [
    ("set({ k: 7, alpha: deep, c: 0.5 })", "alpha="),
    ("set(deep)", "set("),
    ("set({ k: deep, rates: deep, evict: deep, cache: deep, lock: deep, ask: deep })", "k="),
    ("seek(deep)", "tick="),
    ("step(deep)", "step("),
    ("set('k=4')", "set(k=4): not an object of settings; nothing was set."),
    ("set({ k: 'x'.repeat(1e6) })", "k=xxx"),
    ("set({ k: '\\ud800' })", "k=?"),
    ("set(Array(1e5).fill('x'))", "set(x,x,"),
    ("step('x'.repeat(1e6))", "step(xxx"),
    ("set({ evict: Array(1e5).fill('x') })", "evict=x,x,"),
    ("set({ rates: Array(1e5).fill(0.5) })", "rates=0.5,0.5,"),
    ("set({ k: 1e300, seed: -1e300 })", "k=1"),
    ("set({ ['__proto__']: { k: 3 }, constructor: 1, toString: 2 })", ""),
]


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("call", "said"), [*UNSENT[:2], *(pytest.param(*case, marks=ALONE) for case in UNSENT[2:])]
)
def test_no_value_that_a_script_sends_breaks_the_page(
    page: PageDriver, call: str, said: str
) -> None:
    page.call("set", {"batch": 2})
    page.run(f"{DEEP} bonusToken.{call}")
    page.frames()
    assert page.run("return document.documentElement.dataset.state") == "ready"
    told = notice(page)
    assert told.startswith(said)
    assert bool(told) == bool(said)
    assert len(told) < 1000
    params = page.state()["params"]
    assert params["batch_size"] == 2
    assert params["acceptance_rate"] == 0.8
    if "k: 7" in call:
        assert (params["draft_length"], params["draft_cost"]) == (7, 0.5)


@pytest.fixture
def notes(shared: PageDriver) -> Iterator[Notes]:
    """A page of notes with the simulator in a frame, ready."""
    frame = f'<iframe src="{shared.address}?embed=1" width="800" height="900"></iframe>'
    with pages({"/": document(frame)}) as address:
        held = Notes(shared, address)
        with held.inside():
            pass
        yield held
        shared.driver.switch_to.default_content()


@pytest.mark.every_engine
def test_no_message_of_a_host_breaks_the_page(notes: Notes) -> None:
    # One engine itself sends nothing much deeper than 3000.
    deep = DEEP.replace("5000", "3000" if notes.page.engine == "chromium" else "20000")
    send = f"{deep} const tell = (message) => frames[0].postMessage(message, '*');"
    for message in (
        "{ type: 'bonus-token:set', k: 7, alpha: deep }",
        "{ type: 'bonus-token:seek', tick: deep }",
        "{ type: 'bonus-token:step', n: deep }",
        "{ type: 'bonus-token:set', deep }",
        "[{ type: 'bonus-token:set', k: 3 }]",
        "{ type: 'bonus-token:set', K: 3 }",
        "{ type: 'bonus-token:set', c: '0,25' }",
    ):
        notes.run(f"{send} tell({message})")

    def told() -> dict[str, Any]:
        return notes.heard("state")[-1]["params"] if notes.heard("state") else {}

    notes.page.until(lambda: told().get("draft_cost") == 0.25)
    assert (told()["draft_length"], told()["acceptance_rate"]) == (7, 0.8)
    with notes.inside() as page:
        assert page.run("return document.documentElement.dataset.state") == "ready"
        page.call("set", {"k": 7, "Batch": 4})
        assert notice(page) == "Batch is not a key; did you mean batch?"


def test_fields_tell_their_limits_to_those_who_do_not_see_them(page: PageDriver) -> None:
    page.call("set", {"k": 12, "c": 4.24})
    told = [
        [field.get_attribute(f"aria-value{name}") for name in ("min", "max", "now")]
        for key in ("k", "c")
        for field in page.driver.find_elements(By.CSS_SELECTOR, f"[data-number={key}]")
    ]
    assert told == [["1", "32", "12"], ["0", "8", "4.24"]]
