"""What a package tells a course platform that refuses, in Node: nothing of it is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sim.host import PACKAGE
from tests.node import in_folder, need, node

PLAY = """
const vm = require("vm"), { readFileSync } = require("fs");
let refuses = false, without = false, code = "0";
const kept = {}, heard = {}, told = { text: "", again: null };
const answer = (taken, value) => { code = taken ? "0" : "101"; return taken ? value : ""; };
const API = {
  LMSInitialize: () => "true", LMSCommit: () => String(answer(!refuses, true)),
  LMSGetValue: (name) => {
    if (without && name.includes("interactions")) { code = "401"; return ""; }
    const lines = Object.keys(kept).filter((one) => /interactions.*id$/.test(one)).length;
    return answer(!refuses, name.endsWith("_count") ? String(lines) : kept[name] ?? "");
  },
  LMSSetValue: (name, value) => {
    if (refuses) { code = "101"; return "false"; }
    if (name.endsWith("pattern")) { code = "402"; return "false"; } // it never takes this one
    kept[name] = value;
    code = "0";
    return "true";
  },
  LMSGetLastError: () => code, LMSGetErrorString: () => "General exception",
};
const place = { set textContent(text) { told.text = text; told.again = null; },
  append: (space, button) => { told.again = button.onclick; } };
const document = { documentElement: { dataset: { asks: "" } }, getElementById: () => place,
  createElement: () => ({}), addEventListener: (name, hear) => { heard[name] = hear; } };
const window = { API };
window.top = window.parent = window;
const steps = {
  refuse: () => { refuses = true; }, take: () => { refuses = false; }, again: () => told.again(),
  predict: (detail) => heard["bonus-token:answer"]({ detail }),
};
const [first, ...rest] = JSON.parse(readFileSync("steps.json"));
without = first === "without";
vm.runInNewContext(readFileSync("scorm.js"), { window, document, addEventListener() {} });
const seen = rest.map(([name, detail]) => {
  steps[name](detail);
  return { text: told.text, again: !!told.again, kept: { ...kept } };
});
console.log(JSON.stringify(seen));
"""


def after(folder: Path, *steps: list[Any], kind: str = "with") -> list[dict[str, Any]]:
    """What the page says and the platform has after each step."""
    need("scorm-again")
    script = (PACKAGE / "host" / "scorm.js").read_text("utf-8")
    files = {"scorm.js": script, "play.cjs": PLAY, "steps.json": json.dumps([kind, *steps])}
    in_folder(folder, files)
    return list(json.loads(node(folder, "play.cjs")))


def predicted(value: float, score: int, attempt: int) -> list[Any]:
    """A step: the reader predicts."""
    return [
        "predict",
        {
            "question": "speedup",
            "prediction": value,
            "result": 1.5,
            "score": score,
            "tick": 60,
            "attempts": attempt,
        },
    ]


def test_send_again_sends_the_prediction_itself_too(tmp_path: Path) -> None:
    steps = (["refuse"], predicted(1.3, 78, 1), ["again"], ["take"], ["again"])
    _, refused, still, _, taken = after(tmp_path, *steps)
    for one in (refused, still):
        assert one["text"] == (
            "The course platform did not take the result (101: General exception)."
        )
        assert one["again"]
        assert "cmi.core.score.raw" not in one["kept"]
    assert taken["text"].startswith("Noted in the course: 78 of 100 points.")
    assert not taken["again"]
    assert taken["kept"]["cmi.core.score.raw"] == "78"
    assert taken["kept"]["cmi.interactions.0.student_response"] == "1.3"
    assert taken["kept"]["cmi.interactions.0.result"] == "78"


def test_a_later_prediction_that_is_refused_is_told_and_sent_once(tmp_path: Path) -> None:
    steps = (
        *(predicted(1.3, 78, 1), ["refuse"], predicted(1.4, 90, 2), predicted(1.5, 100, 3)),
        *(["take"], ["again"]),
    )
    first, _, second, third, _, taken = after(tmp_path, *steps)
    assert first["text"].startswith("Noted in the course: 78 of 100 points.")
    for one in (second, third):
        assert one["text"].startswith("Noted in the course: 78 of 100 points.")
        assert "did not take the last prediction (101: General exception)." in one["text"]
        assert one["again"]
    assert taken["text"] == first["text"]
    assert taken["kept"]["cmi.core.score.raw"] == "78"
    said = [f"cmi.interactions.{index}.student_response" for index in range(3)]
    assert [taken["kept"][name] for name in said] == ["1.3", "1.4", "1.5"]
    assert "cmi.interactions.3.id" not in taken["kept"]


def test_a_platform_without_such_lines_still_notes_the_score(tmp_path: Path) -> None:
    (taken,) = after(tmp_path, predicted(1.5, 100, 1), kind="without")
    assert taken["text"].startswith("Noted in the course: 100 of 100 points.")
    assert taken["kept"]["cmi.core.lesson_status"] == "completed"
    assert not [name for name in taken["kept"] if "interactions" in name]
