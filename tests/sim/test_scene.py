"""Scenes as links, pictures, tables and questions; the snippets that put them into a page."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cache import EMPTY
from sim.labs import BY_NAME
from sim.labs.frames import frame_height
from sim.labs.share import (
    ASKED,
    dialog_html,
    page_address,
    picture_name,
    scene_name,
    snippets,
)
from sim.marks import LOOKS, PALETTES
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.picture import scene_svg
from sim.question import Question, UnreadablePredictionError
from sim.run import Run
from sim.scene import Scene, passes_csv, picture
from sim.settings import link, query, updated
from sim.story import summary
from sim.view import LOCKS, PARTS, VIEW, View, changed
from tests.strategies import ANY_PARAMS, ANY_VIEW

SVG = "{http://www.w3.org/2000/svg}"


# Links


@given(ANY_PARAMS, ANY_VIEW)
def test_any_scene_makes_a_link_that_leads_back_to_it(params: Params, view: View) -> None:
    made = link("https://example.org/a/index.html", params, view)
    keys = dict(
        parse_qsl(
            urlsplit(made).query, keep_blank_values=True, strict_parsing=bool(urlsplit(made).query)
        )
    )
    assert updated(Params(), keys) == (params, [])
    assert updated(View(), keys) == (view, [])
    assert len(keys) == sum(
        getattr(record, row.name) != row.default
        for record, rows in ((params, PARAMETERS), (view, VIEW))
        for row in rows
    )


def test_the_default_scene_is_the_bare_address() -> None:
    assert link("./", Params(), View()) == "./"
    assert link("./", Params(draft_length=7), View(lock=("k", "evict"))) == "./?k=7&lock=k,evict"


def test_a_scene_is_made_of_keys_or_names_and_refuses_what_is_neither() -> None:
    made = Scene(k=12, acceptance_rate=0.6, evict="134", tick=139)
    assert made.params == Params(draft_length=12, acceptance_rate=0.6, evictions=(134,))
    assert made.numbers == Run(made.params).report(139)
    assert made.link("/") == "/?k=12&alpha=0.6&evict=134&tick=139"
    assert repr(made) == "Scene(k='12', alpha='0.6', evict='134', tick='139')"
    with pytest.raises(TypeError, match="draft is no setting"):
        Scene(draft=3)
    with pytest.raises(ValueError, match="k=99 is not a whole number from 1 to 32"):
        Scene(k=99)


# Pictures


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("params", "tick"),
    [
        (Params(), 60),
        (Params(), 0),
        (Params(draft_length=32, acceptance_rates=tuple([0.5] * 32), evictions=(100,)), 103),
        (Params(kv_cache=False), 700),
        (Params(speculation=False, batch_size=9, draft_cost=0.25), 1200),
    ],
)
def test_a_picture_stands_by_itself_and_shows_the_scene(
    params: Params, tick: int, theme: str
) -> None:
    run = Run(params)
    text = scene_svg(run, tick, PALETTES[theme])
    root = ElementTree.fromstring(text)
    used = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert used <= {"svg", "g", "path", "rect", "text"}
    assert "style" not in text
    assert "var(" not in text
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    words = list(root.iter(f"{SVG}text"))
    for word in words:
        assert 0 < float(word.attrib["y"]) < height
        assert float(word.attrib["x"]) + 7 * len(word.text or "") < width + 20
    shown = " ".join(word.text or "" for word in words)
    assert f"KV cache {run.report(tick)['cached']} / 512, after tick {tick}" in shown
    assert "seed 0" in shown
    slots = run.slots(tick)
    for state, look in LOOKS.items():
        if state != EMPTY:
            assert (look.legend in shown) == (state in slots), state
    cells = sum(
        (path.attrib["d"].count("M"))
        for path in root.iter(f"{SVG}path")
        if path.attrib.get("stroke-linejoin") == "round"
    )
    legend = sum(state in slots for state in LOOKS if state != EMPTY)
    assert cells == 512 + legend


def test_a_picture_of_a_question_gives_nothing_away() -> None:
    params, view = Params(draft_length=7), View(tick=300, ask="speedup")
    shown = picture(Run(params), view, PALETTES["light"])
    assert "after tick 0" in shown
    assert "what will it say for speedup at tick 300?" in shown
    assert "theory" not in shown
    for name in ("tokens_per_pass", "theory_tokens_per_pass"):
        assert f"{Run(params).report(300)[name]:.2f}" not in shown


def test_a_notebook_is_given_the_picture_and_its_words() -> None:
    made = Scene(k=3, theme="dark")
    assert made._repr_svg_() == made.svg() == picture(made.run, made.view, PALETTES["dark"])
    ((name, attributes),) = Tags(made._repr_html_()).found
    kind, _, drawn = str(attributes["src"]).partition(",")
    assert (name, kind, unquote(drawn)) == ("img", "data:image/svg+xml", made.svg())
    assert not set('<>#"') & set(drawn)  # which would end the address
    assert attributes["alt"] == summary(made.run, 60)
    asking = Scene(k=3, ask="speedup")
    assert f'alt="{summary(asking.run, 0)}"' in asking._repr_html_()


def test_the_passes_as_csv_are_those_of_the_run() -> None:
    run = Run(Params(evictions=(100,), draft_cost=0.05))
    rows = list(csv.DictReader(io.StringIO(passes_csv(run))))
    assert len(rows) == HORIZON
    assert sum(row["pass"] == "recompute" for row in rows) == run.at(HORIZON).recompute_passes
    assert sum(int(row["kept"]) for row in rows) == run.at(HORIZON).accepted
    for tick in (1, 99, 101, 102, HORIZON):
        row, report = rows[tick - 1], run.report(tick)
        assert int(row["tick"]) == tick
        for metric in METRICS:
            assert float(row[metric.name]) == report[metric.name]
    nothing = Run(Params(kv_cache=False))
    assert next(iter(csv.DictReader(io.StringIO(passes_csv(nothing)))))["theory_speedup"] == ""


# Questions


def test_a_prediction_is_read_as_people_write_numbers() -> None:
    ask = Question("speedup", 100)
    for text in ("2.5", " 2.5 ", "2,5", "2.5×", "2.5x", "2.5 x"):
        assert ask.read(text) == 2.5
    assert Question("draft_acceptance", 100).read("59 %") == pytest.approx(0.59)
    for text, said in (
        ("two", "“two” is not"),
        ("", "no number yet"),
        ("nan", "“nan”"),
        ("1e999", "“1e999”"),
    ):
        with pytest.raises(UnreadablePredictionError, match=said):
            ask.read(text)
    assert Question("positions_computed", 1200).read("483,584") == 483584
    assert Question("positions_computed", 1200).read("1,5") == 1.5
    assert Question("time", 60).said(2.5) == "2.5"
    with pytest.raises(UnreadablePredictionError) as caught:
        ask.read("9" * 20 + "a" * 500)
    assert len(str(caught.value)) < 90


@pytest.mark.parametrize(
    ("prediction", "word"),
    [
        (3.6, "Spot on (within 2 %)"),
        (3.8, "Close (within 10 %)"),
        (4.5, "Too high (by 25 %)"),
        (-1, "You said **-1×**. It is **3.60×** at tick 60. Too low (by 128 %)"),
    ],
)
def test_a_prediction_is_compared_with_what_came_of_it(prediction: float, word: str) -> None:
    verdict = Question("speedup", 60).verdict(prediction, Run(Params(draft_cost=0)))
    assert word in verdict
    assert "It is **3.60×** at tick 60" in verdict
    assert "Theory: 3.36×" in verdict


def test_every_number_can_be_asked_for_and_answered() -> None:
    for params in (Params(), Params(kv_cache=False), Params(speculation=False, evictions=(9,))):
        run = Run(params)
        for metric in METRICS:
            for tick in (0, 10):
                ask = Question(metric.name, tick)
                assert metric.name in ask.hidden
                verdict = ask.verdict(0.5, run)
                assert ("no such number" in verdict) == (ask.result(run) is None)
                assert "None" not in verdict
                told = ask.verdict(None, run)
                assert "You said" not in told
                assert told in verdict or ask.result(run) is not None
    assert "Spot on" in Question("recompute_passes", 10).verdict(0, Run(Params()))
    assert "Too high" in Question("recompute_passes", 10).verdict(3, Run(Params()))


# Snippets


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@given(ANY_PARAMS, ANY_VIEW, st.sampled_from(["http://a.org/", "https://b.org/x/y/index.html"]))
def test_every_snippet_leads_to_the_scene(params: Params, view: View, address: str) -> None:
    shown = replace(view, embed=False)
    texts = {one.key: one.text for one in snippets(address, params, view)}
    assert list(texts) == [
        *("link", "address", "iframe", "slides", "element", "myst", "mystmd", "quarto", "markdown"),
    ]
    assert texts["link"] == link(address, params, shown)
    frame = dict(Tags(texts["iframe"]).found)["iframe"]
    ((tag, low),) = Tags(texts["slides"]).found
    assert tag == "iframe"
    assert (low["src"], low["height"]) == (frame["src"], "600")
    assert frame["src"] == texts["address"] == link(address, params, replace(view, embed=True))
    assert frame["height"] == str(frame_height(view))
    of_question = {"id": scene_name(params, shown)} if view.asks and view.lab == "none" else {}
    assert {key: frame[key] for key in frame if key == "id"} == of_question
    for key in ("element", "myst", "quarto"):
        tags = dict(Tags(texts[key]).found)
        folder = address.removesuffix("index.html")
        assert tags["script"]["src"] == f"{folder}static/embed.js"
        assert tags["script"]["data-external"] == frame["data-external"] == "1"
        assert tags["bonus-token"] == {**of_question, **query(params, shown)}
    lab = BY_NAME.get(view.lab)
    file = f"./{picture_name(params, shown)}"
    pointed = f"[Bonus Token: {lab.title}]" if lab else f"]({file})]"
    for key in ("myst", "quarto", "markdown"):
        assert f"{pointed}({texts['link']})" in texts[key]
    tags = dict(Tags(texts["element"]).found)
    assert tags["a"]["href"] == texts["link"]
    assert tags.get("img", {}).get("src") == (None if lab else file)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://a.org/notes", "https://a.org/notes/"),
        (" https://a.org ", "https://a.org/"),
        ("https://a.org/x/index.html?k=4#top", "https://a.org/x/index.html"),
        ("http://localhost:8000/", "http://localhost:8000/"),
        ("index.html", "https://index.html/"),
        ("example.org/my notes (old)", "https://example.org/my%20notes%20%28old%29/"),
        ("javascript:alert(1)", "https://javascript:alert%281%29/"),
    ],
)
def test_an_address_is_taken_as_people_write_it(written: str, address: str) -> None:
    assert page_address(written) == address


def test_different_scenes_have_pictures_of_different_names() -> None:
    scenes = [(Params(draft_length=k), View(tick=tick)) for k in (1, 2, 3) for tick in (0, 60)]
    names = {picture_name(*scene) for scene in scenes}
    assert len(names) == len(scenes)
    assert all(name.startswith("bonus-token-") and name.endswith(".svg") for name in names)


def test_of_a_lab_alone_the_dialog_offers_what_it_has() -> None:
    html = dialog_html("http://a.org/", Params(), View(lab="recall"))
    offered = {a["data-share"] for _, a in Tags(html).found if "data-share" in a}
    assert offered == {"theme", "address"}
    assert not [a for _, a in Tags(html).found if a.get("data-share-action") not in (None, "close")]
    assert "Share this lab" in html
    texts = {one.key: one.text for one in snippets("http://a.org/", Params(), View(lab="recall"))}
    assert texts["link"] == "http://a.org/?lab=recall"
    frame = dict(Tags(texts["iframe"]).found)["iframe"]
    assert frame["src"] == "http://a.org/?embed=on&lab=recall"
    assert frame["title"] == f"Bonus Token: {BY_NAME['recall'].title}"
    assert '<bonus-token lab="recall">' in texts["element"]


def test_a_lab_of_another_name_is_complained_about_as_usual() -> None:
    for name in ("recal", "share", "charts", ""):
        _, view, (complaint,) = changed(Params(), View(), {"lab": name})
        assert view.lab == "none"
        assert complaint.startswith("lab")


def test_the_dialog_offers_every_part_lock_and_question() -> None:
    tags = Tags(dialog_html("http://a.org/", Params(), View(show=("pass",), lock=("k",)))).found
    boxes = {(a["data-share"], a["value"]) for _, a in tags if a.get("type") == "checkbox"}
    assert {value for key, value in boxes if key == "show"} == set(PARTS)
    assert {value for key, value in boxes if key == "lock"} == set(LOCKS) - {
        "rates",
        "theme",
        "share",
    }
    checked = {(a["data-share"], a["value"]) for _, a in tags if "checked" in a}
    assert checked == {("show", "pass"), ("lock", "k")}
    options = {str(a["value"]) for tag, a in tags if tag == "option"}
    assert {"none", *ASKED, "auto", "light", "dark", "inside", "beside"} == options
    assert set(ASKED) < {metric.name for metric in METRICS}
