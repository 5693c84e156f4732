"""Answers reach a page around by the lines that it is told to copy."""

from __future__ import annotations

import re
from html import unescape

from sim.labs.share import scene_name
from sim.params import Params
from sim.view import View
from tests.course import Notes, document, pages, snippet
from tests.driver import PageDriver
from tests.server import ROOT

HOSTING = (ROOT / "static" / "hosting.html").read_text("utf-8")


def copied(name: str) -> str:
    """Lines of hosting.html, as one copies them."""
    (lines,) = re.findall(rf'<pre id="{name}">(.*?)</pre>', HOSTING, re.DOTALL)
    return str(unescape(lines))


def test_lines_to_copy_tell_whose_answer_it_is(shared: PageDriver, stand_in: str) -> None:
    params, element, frame = Params(), View(ask="speedup", tick=20), View(ask="tokens", tick=20)
    body = snippet("element", stand_in, params, element) + snippet(
        "iframe", stand_in, params, frame
    ).replace(' loading="lazy"', "")
    lines = "".join(
        f"<script>{copied(name)}</script>" for name in ("answers-of-elements", "answers-of-frames")
    )
    keep = "<script>window.lines = []; console.log = (...said) => { lines.push(said) }</script>"
    with pages({"/": document(body, keep + lines)}) as address:
        notes = Notes(shared, address)
        shared.until(lambda: notes.run("return !!document.querySelector('bonus-token').shadowRoot"))
        names = [scene_name(params, element), scene_name(params, frame)]
        notes.start(names[0])
        shared.until(lambda: len(notes.heard("ready")) == 3)  # a frame, an element's, its event
        answer = {"type": "bonus-token:answer", "prediction": 1.5, "result": 1.67, "attempts": 2}
        for name, prediction in zip(("", names[0]), (2, 1.5), strict=True):
            with notes.inside(name) as page:
                page.run(
                    "parent.postMessage({...arguments[0], prediction: arguments[1]}, '*')",
                    *(answer, prediction),
                )
        shared.until(lambda: notes.run("return lines.length === 2"))
        told = sorted(notes.run("return lines"))
        assert told == sorted([[names[0], 1.5, 1.67, 2], [names[1], 2, 1.67, 2]])
