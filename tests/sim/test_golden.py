"""What the widget shows is what it showed; whoever means to change it writes the file anew."""

from __future__ import annotations

from sim.face import Shown
from tests.golden import SHOTS, differences, everything, kept


def test_everything_shown_is_what_was_shown() -> None:
    found = differences(kept(), everything())
    told = "\n".join(line[:500] for line in found[:20])
    assert not found, f"{len(found)} differ; if they are meant: python3 -m tests.golden\n{told}"


def test_a_difference_is_told_by_scene_and_place() -> None:
    before: dict[str, Shown] = {"one": {"#tick": "1", "#path@d": "M1"}, "gone": {"#tick": "2"}}
    now: dict[str, Shown] = {"one": {"#tick": "3", "#path@d": "M1", "#new": "4"}}
    assert differences(before, now) == [
        "scene “one”, place #tick: was '1', is '3'",
        "scene “one”, place #new: was 'nothing', is '4'",
        "scene “gone”, place #tick: was '2', is 'nothing'",
    ]


def test_the_scenes_reach_each_way_the_page_can_look() -> None:
    scenes = kept()
    assert len(SHOTS) >= 60
    drawn = set("".join(str(shown["board"]).removeprefix("hollow ") for shown in scenes.values()))
    assert drawn == set("abrdpnxo")
    tones = {shown["#sentence@class"] for shown in scenes.values()}
    assert tones == {f"sentence {tone}" for tone in ("plain", "accepted", "rejected", "evicted")}
    assert {shown["#strip@class"] for shown in scenes.values()} == {
        "strip",
        "strip many",
        "strip crowd",
    }
    notes = {shown["[data-text=theory_note]"] for shown in scenes.values()}
    assert notes == {
        *("", "if drafting were free", "against a warm cache"),
    }
