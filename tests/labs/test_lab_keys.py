"""Settings of labs in links: kept as they are until the lab is there, which then reads them."""

from __future__ import annotations

import re

import pytest

from sim import asks
from sim import session as actions
from sim.kinds import Maybe, Real, Whole
from sim.labs import of_a_lab
from sim.labs.convert import Asked, convert
from sim.labs.share import dialog_html, snippets
from sim.params import Params
from sim.settings import changes_of_lab, link, updated_by_link
from sim.state import Session
from sim.view import View, asked
from tests.course import Notes, document, element, pages
from tests.driver import PageDriver

KEYS = {"convert.k": "4", "convert.cumulative": ".763, .623"}
CUMULATIVE = "convert.cumulative=.763,.623"


def opened(**keys: object) -> Session:
    session, complaints = actions.opened({**keys, **KEYS})
    assert complaints == []
    return session


def test_a_key_of_a_lab_is_its_name_and_a_plain_word() -> None:
    for key in ("convert.k", "convert.top1", "recall.x"):
        assert of_a_lab(key)
    for key in ("k", "convert", "convert.", ".k", "other.k", "convert.K", "convert.a.b"):
        assert not of_a_lab(key)
    for key in ('convert.k"', "convert.k onload", "convert.<b>", "convert.é", "convert.a_b"):
        assert not of_a_lab(key)


def test_they_are_kept_as_they_are_wherever_a_link_is_written() -> None:
    session = opened(lab="convert", k="12")
    written = link("", *session.link)
    assert asked(written) == {"lab": "convert", "k": "12", **KEYS}
    for snippet in snippets("https://a.org/", *session.link):
        if snippet.key in ("link", "address", "iframe", "slides", "markdown"):
            assert "convert.cumulative=.763,%20.623" in snippet.text
        elif snippet.key == "mystmd":
            assert '"convert.cumulative": ".763, .623"' in snippet.text
        else:
            assert 'convert.cumulative=".763, .623"' in snippet.text
    dialog = dialog_html("https://a.org/", *session.link)
    assert dialog.count("snippet-") == dialog_html("https://a.org/", *session.link[:2]).count(
        "snippet-"
    )


@pytest.mark.parametrize(
    "query",
    [
        f"?convert.k=4&amp;{CUMULATIVE}",
        f"?convert.k=4&#038;{CUMULATIVE}",
        "?convert.k%3D4%26convert.cumulative%3D.763,.623",
        "?convert.k=4%26amp%3Bconvert.cumulative=.763,.623",
    ],
)
def test_a_link_escaped_too_often_is_read_all_the_same(query: str) -> None:
    search, mark, fragment = query.partition("#")
    found = asked(search, mark + fragment)
    assert found == {"convert.k": "4", "convert.cumulative": ".763,.623"}


def test_a_message_sets_them_none_drops_one_and_others_stay() -> None:
    session, complaints = asks.call(opened(), "set", [{"convert.k": 7, "alpha": 0.5}])
    assert complaints == []
    assert dict(session.lab_keys) == {**KEYS, "convert.k": "7"}
    assert session.params.acceptance_rate == 0.5
    session, _ = actions.change(session, {"convert.cumulative": [0.5, 0.25], "convert.k": None})
    assert dict(session.lab_keys) == {"convert.cumulative": "0.5,0.25"}
    session, _ = actions.change(session, {"k": 3})
    assert dict(session.lab_keys) == {"convert.cumulative": "0.5,0.25"}
    assert dict(actions.visit(session, {"k": "5"})[0].lab_keys) == dict(session.lab_keys)


def test_reset_restores_those_of_the_link() -> None:
    session, _ = actions.change(opened(), {"convert.k": "9", "convert.alpha": "0.5"})
    assert dict(actions.reset(session)[0].lab_keys) == KEYS


def test_what_a_lab_sets_of_its_own_leaves_the_widget_alone() -> None:
    session = opened(lab="convert", ask="speedup", tick="100", lock="alpha")
    assert session.prediction.waiting
    after, _ = actions.take(session, {"convert.k": "5", "convert.cumulative": None})
    assert dict(after.lab_keys) == {"convert.k": "5"}
    assert after.view == session.view
    assert after.view.lab == "convert"
    assert after.prediction == session.prediction
    there, _ = actions.take(opened(lab="convert"), {"k": 5})
    assert (there.view.lab, dict(there.lab_keys)) == ("none", KEYS)


def test_the_lab_reads_them_and_writes_them_back() -> None:
    settings, complaints = updated_by_link("convert", Asked(), KEYS)
    assert complaints == []
    assert settings == Asked(k=4, cumulative=(0.763, 0.623))
    written = changes_of_lab("convert", settings)
    assert {key for key, text in written.items() if text is None} == {
        *("convert.alpha", "convert.length", "convert.acceptance", "convert.rates")
    }
    told = {key: text for key, text in written.items() if text}
    assert told == {"convert.k": "4", "convert.cumulative": "0.763,0.623"}
    assert updated_by_link("convert", Asked(), told) == (settings, [])
    assert changes_of_lab("convert", Asked()) == dict.fromkeys(written)


def test_a_bad_one_is_complained_of_by_its_key_with_what_is_used() -> None:
    bad = {"convert.k": "99", "convert.alpha": "much", "convert.kk": "1", "convert.rates": "2"}
    settings, complaints = updated_by_link("convert", Asked(), bad)
    assert settings == Asked(k=32, rates=(1.0,))
    assert complaints == [
        "convert.k=99 is not a whole number from 1 to 32; using 32.",
        "convert.alpha=much is not a number from 0 to 1; using none.",
        "convert.rates=2 is not a comma list of up to 32 numbers from 0 to 1; using 1.",
        "convert.kk is not a key; convert has k, alpha, length, acceptance, rates, cumulative.",
    ]


def test_what_may_be_left_out_is_none_or_a_value_of_its_kind() -> None:
    kind = Maybe(Whole(1, 9))
    assert [kind.admits(value) for value in (None, 3, 0, "")] == [True, True, False, False]
    assert (kind.read(" "), kind.read("4"), kind.read(12)) == ((None, True), (4, True), (9, False))
    assert (kind.write(None), kind.write(4)) == ("", "4")
    assert (kind.control, kind.allowed) == ("field", "a whole number from 1 to 9")
    assert kind.held.endswith("or None")
    assert Maybe(Real(0, 1)).read("50 %") == (0.5, True)


def test_every_key_of_the_lab_is_one_that_a_link_may_hold() -> None:
    assert all(map(of_a_lab, changes_of_lab("convert", Asked())))
    assert link("", Params(), View(lab="convert"), KEYS).startswith("?lab=convert&convert.k=4&")
    assert convert({"cumulative": ".763,.623"}, "").k == 2


@pytest.mark.every_engine
def test_a_lab_opens_with_its_settings_and_what_is_written_there_is_in_the_address(
    page: PageDriver,
) -> None:
    page.open("?lab=convert&convert.k=2&convert.cumulative=.763,.623&tick=9")
    value = "return document.querySelector('#convert-{}').value"
    page.until(lambda: page.run(value.format("cumulative")) == "0.763,0.623")
    assert page.run(value.format("k")) == "2"
    assert page.run(value.format("alpha")) == ""
    assert page.text("#convert-said") == ""
    assert "2.386" in page.text("#convert-table")
    page.run(
        "const field = document.querySelector('#convert-length'); field.value = '2.5';"
        "field.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    wanted = r"[?]tick=9&lab=convert&convert\.k=2&convert\.length=2\.5$"
    page.until(lambda: re.search(wanted, page.run("return location.href")))
    assert not page.one("#widget").is_displayed()
    page.call("set", {"convert.k": 99, "convert.length": "3"})
    page.until(lambda: page.run(value.format("k")) == "32")
    assert "convert.k=99 is not" in page.one("#notice p").text
    page.until(lambda: "convert.k=32&convert.length=3" in page.run("return location.href"))
    page.call("reset")
    page.until(lambda: page.run(value.format("cumulative")) == "0.763,0.623")


@pytest.mark.chromium_only("what engines do with attributes, other tests say")
def test_an_element_hands_its_lab_s_settings_on_and_keeps_them_while_parked(
    shared: PageDriver, address: str
) -> None:
    body = element(address, 'id="a" lab="convert" convert.k="3" convert.length="2" start="auto">')
    value = "return document.querySelector('#convert-{}').value"
    with pages({"/": document(body)}) as host:
        notes = Notes(shared, host)

        def fields() -> list[str]:
            with notes.inside("a") as page:
                return [page.run(value.format(key)) for key in ("k", "length")]

        shared.until(lambda: notes.heard("ready"))
        shared.until(lambda: fields() == ["3", "2"])
        notes.run("document.getElementById('a').setAttribute('convert.length', '2.5')")
        shared.until(lambda: fields() == ["3", "2.5"])
        notes.run("window.parked = document.getElementById('a').park()")
        shared.until(lambda: not notes.is_running("a"))
        notes.run("document.getElementById('a').setAttribute('convert.length', '3')")
        notes.run("document.getElementById('a').start()")
        shared.until(lambda: fields() == ["3", "3"])
