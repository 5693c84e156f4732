"""The command of the lab of sampling, its settings and languages, and what is refused."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.__main__ import main
from sim.kinds import Choice
from sim.labs import of_a_lab
from sim.labs.sampling import command_of
from sim.labs.sampling_exact import exact
from sim.labs.sampling_rows import (
    OF_THE_TEXT,
    PARTS,
    Written,
    language,
    made_language,
    names,
    rows_of,
    written,
)
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_settings import RULES, Asked, language_of
from sim.reading import UnreadableError
from sim.settings import changes_of_lab, rows, updated_by_link
from tests.labs.sampling import THREE
from tests.server import cli

Command = Callable[..., tuple[int, str, str]]

P, Q = ".6,.3,.1;.2,.5,.3;.1,.2,.7", ".3,.4,.3;.3,.3,.4;.25,.25,.5"
KEYS = [
    *("alpha", "expected_tokens_per_pass", "tokens", "passes", "tokens_per_pass"),
    *("expected_words", "words", "total_variation", "expected_total_variation"),
    *("chi2", "df", "p_value"),
]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process."""

    def run(*flags: str) -> tuple[int, str, str]:
        code: object = 0
        try:
            main(["sampling", *flags])
        except SystemExit as end:
            code = end.code
        assert isinstance(code, int)
        return code, *capsys.readouterr()

    return run


def test_the_command_gives_what_is_measured_and_what_is_exact(command: Command) -> None:
    code, out, err = cli("sampling", "--target", P, "--draft", Q, "--json")
    assert (code, err) == (0, "")
    assert command("--target", P, "--draft", Q, "--json")[1] == out
    report = json.loads(out)
    assert list(report) == KEYS
    assert report["alpha"] == pytest.approx([0.7, 0.8, 0.8])
    assert report["tokens"] == 20_000
    assert round(report["expected_tokens_per_pass"], 6) == 3.184527
    assert report["tokens_per_pass"] == report["tokens"] / report["passes"]
    assert report["tokens_per_pass"] == pytest.approx(3.184527, abs=0.1)
    assert report["expected_words"] == pytest.approx([0.264706, 0.323529, 0.411765], abs=1e-6)
    assert sum(report["words"]) == pytest.approx(1)
    assert report["words"] == pytest.approx(report["expected_words"], abs=0.02)
    assert report["expected_total_variation"] == pytest.approx(0, abs=1e-15)
    assert (report["df"], report["p_value"] > 0.001) == (6, True)
    again = command("--target", P, "--draft", Q, "--json", "--seed", "0", "--k=4")[1]
    assert json.loads(again) == report
    other = command("--target", P, "--draft", Q, "--json", "--seed", "1")[1]
    assert json.loads(other)["words"] != report["words"]


def test_the_command_finds_a_wrong_rule_and_says_so(command: Command) -> None:
    code, out, _ = command("--rule", "stale-temperature")
    assert code == 0
    assert "this is not the target's text" in out
    assert "exactly 2.3178" in out
    hot = ("--rule", "stale-temperature", "--draft-temperature", "1")
    assert "nothing here speaks against" in command(*hot)[1]
    assert "0.7000   after every word" in command("--tokens", "100")[1]
    assert "0.7000   to 0.8000" in command("--target", P, "--draft", Q, "--tokens=9")[1]
    never = ("--target", "1,0;.5,.5", "--draft", ".5,.5", "--rule", "always-accept")
    code, out, _ = command(*never, "--json")
    assert (json.loads(out)["chi2"], json.loads(out)["p_value"]) == (None, 0)
    assert "never writes some of these pairs" in command(*never)[1]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--target", ".5,.6"), "target: row 1 sums to 1.1; its entries must sum to 1"),
        (("--target", ".5,.5;.4,.5"), "target: row 2 sums to 0.9"),
        (("--target", "-.1,1.1"), "target: row 1, entry 1: -0.1 is negative"),
        (("--draft", ".5,.5;.5,x"), "draft: row 2, entry 2: “x” is not a number"),
        (("--draft", ".5,.5;.5,nan"), "draft: row 2, entry 2: “nan” is not a number"),
        (("--draft", ".5,.5;1"), "draft: row 2 has 1 entries, but row 1 has 2"),
        (("--target", ".5,.5;.5,.5;.5,.5"), "target: 3 rows of 2 words"),
        (("--target", P), "draft: 4 words, but the target has 3"),
        (("--target", "1"), "target: row 1 has 1 word; a row has 2 to 64"),
        (("--draft", ",".join(["1"] + ["0"] * 64)), "draft: row 1 has 65 words; a row has 2 to 64"),
        (("--target", ""), "target: row 1, entry 1: “” is not a number"),
        (("--target", "1,0;0,1", "--draft", ".5,.5"), "{1} and {2} for ever"),
        (("--k", "0"), "--k 0: not a whole number from 1 to 32"),
        (("--k", "33"), "--k 33"),
        (("--tokens", "0"), "--tokens 0: not a whole number from 1 to 10000000"),
        (("--seed", "-1"), "--seed -1"),
        (("--rule", "right"), "--rule right: not one of standard, replace-from-target"),
        (("--draft-temperature", "0"), "--draft-temperature 0: not a number from 0.05 to 20"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    flags: tuple[str, ...], told: str, command: Command
) -> None:
    code, out, err = command(*flags)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_a_row_may_be_off_by_rounding_and_is_made_whole() -> None:
    assert rows_of("target", "0.3333333,0.3333333,0.3333333")[0] == pytest.approx([1 / 3] * 3)
    assert sum(rows_of("target", ".3333333,.3333333,.3333333")[0]) == pytest.approx(1, abs=1e-15)
    assert rows_of("target", " .6 , 40 % ;") == ((0.6, 0.4),)
    with pytest.raises(ValueError, match=r"sums to 0\.999"):
        rows_of("target", ".333,.333,.333")
    assert language(P, Q) == THREE
    assert language(P, ".2,.3,.5").draft == ((0.2, 0.3, 0.5),)


@given(
    st.integers(2, 16),
    st.floats(0, 1),
    st.floats(0.2, 5),
    st.floats(0.2, 5),
    st.integers(0, 2**32 - 1),
)
def test_a_made_language_has_whole_chances_for_every_word(
    size: int, alike: float, warm: float, draftwarm: float, seed: int
) -> None:
    made = made_language(size, alike, warm, draftwarm, seed)
    assert made.size == len(made.target) == len(made.draft) == size
    for row in (*made.target, *made.draft):
        assert sum(row) == pytest.approx(1, abs=1e-12)
        assert all(round(PARTS * chance) >= 1 for chance in row)
        assert [round(PARTS * chance) / PARTS for chance in row] == pytest.approx(row, abs=1e-15)
    assert language(written(made.target), written(made.draft)) == made
    assert made == made_language(size, alike, warm, draftwarm, seed)


def test_models_of_a_made_language_are_as_alike_as_is_asked() -> None:
    overlaps = [
        models_of(made_language(12, alike, 1, 1, 4)).overlap.mean() for alike in (0, 0.5, 0.9, 1)
    ]
    assert overlaps == sorted(overlaps)
    assert overlaps[-1] == pytest.approx(1)
    cold, hot = (models_of(made_language(12, 1, warm, 1, 4)).target.max() for warm in (0.3, 3))
    assert cold > 0.9 > hot
    assert made_language(4, 0.5, 1, 1, 4) != made_language(4, 0.5, 1, 1, 5)


def test_each_setting_is_a_key_and_each_rule_is_told_with_who_has_it() -> None:
    assert all(map(of_a_lab, changes_of_lab("sampling", Asked())))
    kind = next(row.kind for row in rows(Asked) if row.key == "rule")
    assert kind == Choice(tuple(rule.name for rule in RULES))
    assert RULES[0].name == Asked().rule == "standard"
    assert all(rule.does and rule.shipped for rule in RULES[1:])
    assert language_of(Asked()) == OF_THE_TEXT
    assert names(4) == ("the", "a", "his", "no")
    assert (len(set(names(16))), names(17)[-1]) == (16, "17")


def test_rows_in_a_link_are_kept_as_written_and_bad_ones_are_complained_of() -> None:
    keys = {"sampling.language": "own", "sampling.target": ".5,.5", "sampling.draft": ".1,.9"}
    asked, complaints = updated_by_link("sampling", Asked(), keys)
    assert complaints == []
    assert language_of(asked) == language(".5,.5", ".1,.9")
    told = {key: text for key, text in changes_of_lab("sampling", asked).items() if text}
    assert told == keys
    asked, complaints = updated_by_link("sampling", Asked(), {"sampling.target": ".5,.6"})
    assert asked == Asked()
    assert complaints == [
        "sampling.target=.5,.6 is not rows of 2 to 64 chances such as .6,.4;.3,.7, each row with "
        "the sum 1; using 0.5,0.25,0.15,0.1."
    ]
    kind = Written("target")
    assert (kind.admits(".5,.5"), kind.admits(".5"), kind.admits(3)) == (True, False, False)
    assert kind.read(" .5, .5 ") == (".5,.5", True)
    with pytest.raises(UnreadableError):
        kind.read(None)


@pytest.mark.parametrize(
    "asked",
    [
        Asked(),
        Asked(language="made", words=3, rule="argmax", k=7, seed=5),
        Asked(language="own", target=".5,.5;.2,.8", draft=".1,.9", rule="argmax", seed=7),
        Asked(rule="stale-temperature", stale=2),
    ],
)
def test_the_command_that_is_shown_draws_what_the_page_draws(
    asked: Asked, command: Command
) -> None:
    arguments = shlex.split(command_of(asked))
    assert arguments[:4] == ["python3", "-m", "sim", "sampling"]
    code, out, _ = command(*arguments[4:], "--json", "--tokens", "500")
    assert code == 0
    known = exact(models_of(language_of(asked)), asked.rule, asked.k, asked.stale)
    assert json.loads(out)["expected_tokens_per_pass"] == known.tokens_per_pass
    assert json.loads(out)["expected_total_variation"] == known.total_variation
