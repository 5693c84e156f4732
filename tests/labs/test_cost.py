"""The command and settings of the costs on a machine: its numbers, names, own figures, input."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.catalogue import MACHINES, MODELS, machine_named, model_named
from sim.labs.cost import answer
from sim.labs.cost import arguments as arguments_of
from sim.labs.cost_fields import keyed
from sim.labs.cost_settings import (
    OF_THE_MACHINE,
    OF_THE_MODEL,
    Asked,
    case_of,
    drafting_of,
    figures,
    settled,
)
from sim.labs.curve import MOST, lines_of, read_curve
from sim.passes import Machine, Model
from sim.settings import changes_of_lab, check
from tests.server import cli

CURVE = ((1.0, 4.8), (5.0, 4.9), (64.0, 12.5))


def numbers(*arguments: str) -> dict[str, object]:
    code, out, err = cli("cost", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)  # type: ignore[no-any-return]


def refused(*arguments: str) -> str:
    parser = argparse.ArgumentParser()
    arguments_of(parser.add_argument)
    with pytest.raises(ValueError, match=r".") as raised:
        answer(parser.parse_args(arguments))
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_the_command_gives_the_numbers_worked_out_by_hand() -> None:
    got = numbers(
        "--model", "llama 3.1 8b", "--machine", "h100 sxm", "--batch=64", "--context=2048"
    )
    assert len(got["pass_ms"]) == 33  # type: ignore[arg-type]
    for name, at, expected in (
        ("pass_ms", 0, 9.922),
        ("pass_ms", 4, 9.922),
        ("arithmetic_ms", 0, 1.109),
        ("arithmetic_ms", 4, 5.544),
        ("memory_ms", 4, 9.922),
    ):
        assert got[name][at] == pytest.approx(expected, abs=5e-4)  # type: ignore[index]
    assert got["kv_bytes_per_token"] == 131_072
    assert got["knee"] == pytest.approx(295.2, abs=0.05)
    assert (got["fits"], got["short_by_bytes"]) == (True, 0)
    case = case_of(Asked(draft="0.1", batch=64, context=2048))
    assert got["speedup"] == case.speedups(64)
    assert got["c"] == pytest.approx(0.1)
    assert got["best_k_by_batch"][63] == got["best_k"] == case.best(64).k  # type: ignore[index]
    assert len(got["best_k_by_batch"]) == 512  # type: ignore[arg-type]
    assert any("https://www.nvidia.com" in text for text in got["sources"])  # type: ignore[attr-defined]


def test_the_command_tells_people_the_same() -> None:
    code, out, _ = cli("cost", "--model=Llama-3.1-8B", "--machine=H100-SXM", "--context=0")
    assert code == 0
    for text in ("4.79", "295.2", "131,072 bytes", "251–512", "NVIDIA H100 data sheet"):
        assert text in out
    code, out, _ = cli("cost", "--model=Llama-3.1-70B", "--machine=H100-SXM")
    assert code == 0
    assert "short by 72.6 GiB; would with 3 times the memory, or 4-bit weights" in out


def test_the_list_names_each_entry_of_the_catalogue_and_the_rest() -> None:
    code, out, _ = cli("cost", "--list")
    assert code == 0
    lines = [line.split("  ", 1) for line in out.splitlines()]
    assert [name for name, _ in lines] == [e.name for e in (*MACHINES, *MODELS)]
    assert all("https://" in rest for _, rest in lines)


def test_a_curve_from_a_file_replaces_the_roofline(tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    file.write_text("# positions, ms\n\n1,4.8\n5;4,9\n64 12.5\n", encoding="utf-8")
    got = numbers("--model=Llama-3.1-8B", "--machine=H100-SXM", f"--curve={file}", "--batch=8")
    times = got["pass_ms"]
    assert isinstance(times, list)
    assert times[7] == pytest.approx(12.5)
    assert times[8:] == [None] * 25
    assert 4.9 < times[0] < 12.5
    known = got["speedup"]
    assert isinstance(known, list)
    assert None not in known[:7]
    assert set(known[7:]) == {None}
    assert got["best_k_by_batch"][64] is None  # type: ignore[index]
    assert got["sources"][-1] == "pass times: your own curve of 3 points"  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 4.8\nabc", "curve, line 2: “abc” is not positions and milliseconds, such as 64 5.1"),
        ("1 4.8\n\n5 x", "curve, line 3: “5 x” is not"),
        ("positions ms", "curve, line 1: “positions ms” is not"),
        ("# of the big model\npositions ms\nmany ms", "curve, line 3: “many ms” is not"),
        ("1 4.8 9", "curve, line 1: “1 4.8 9” is not"),
        ("1 4.8\n1 5", "curve, line 2: 1 positions stand in line 1 already; leave one of them out"),
        ("0 4.8", "curve, line 1: 0 positions in 4.8 ms; positions are at least 1"),
        ("1 0", "curve, line 1: 1 positions in 0 ms"),
        ("1 -5", "milliseconds more than 0"),
        ("1 nan", "curve, line 1"),
        ("\n".join(f"{n} 1" for n in range(1, MOST + 2)), f"curve, line {MOST + 1}: more than"),
    ],
)
def test_a_curve_that_cannot_be_read_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"curve, line") as raised:
        read_curve(text)
    assert told in str(raised.value)


def test_a_curve_is_read_however_its_lines_are_written() -> None:
    for text in (
        "5 4.9\n1 4.8 # plain\n64 12.5",
        "1;4,8\n5;4,9\n64;12,5",
        "1\t4.8\n5,4.9\n64:12.5",
        "positions,ms\n1,4.8\n5,4.9\n64,12.5",
    ):
        assert read_curve(text) == CURVE
    assert read_curve(lines_of(CURVE)) == CURVE
    assert read_curve("# nothing\n\n") == ()


@given(st.dictionaries(st.integers(1, 9999), st.floats(0.01, 999), max_size=9))
def test_settings_come_back_from_a_link(points: dict[int, float]) -> None:
    curve = tuple((float(n), ms) for n, ms in sorted(points.items()))
    asked = Asked(draft="0.05", parallel=True, tflops=12.5, experts=8, curve=curve)
    check(asked)
    keys = {k: text for k, text in changes_of_lab("cost", asked).items() if text is not None}
    assert settled(keys) == (asked, [])


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        (
            "gpus=0 is not a whole number; using 1.",
            ("gpus", "cards: 0 is not a whole number; using 1."),
        ),
        ("bytes is empty, not a number.", ("bytes", "bytes a weight is empty, not a number.")),
        ("top: 0 of 8 experts", ("top", "experts a position: 0 of 8 experts")),
        ("curve, line 2: “x” is", ("curve", "your own curve, line 2: “x” is")),
    ],
)
def test_a_complaint_has_the_label_that_the_reader_sees(complaint: str, told: object) -> None:
    assert keyed(complaint) == told


def test_bad_settings_of_a_link_are_told_with_the_remedy() -> None:
    asked, told = settled(
        {
            "cost.model": "Lama 8B",
            "cost.machine": "h100sxm",
            "cost.draft": "9",
            "cost.batch": "9999",
            "cost.curve": "1:4,x",
            "cost.cards": "2",
        }
    )
    assert (asked.model, asked.machine, asked.draft, asked.batch) == (
        *("Llama-3.1-8B", "H100-SXM", "8", 512),
    )
    assert asked.curve == ()
    assert told[0].endswith(
        "using Llama-3.1-8B; nearest: Llama-3.1-8B, Llama-3.2-1B, Llama-3.1-70B."
    )
    assert [text.partition("=")[0] for text in told[:-1]] == [
        *("cost.model", "cost.draft", "cost.batch", "cost.curve"),
    ]
    assert told[-1].startswith("cost.cards is not a key; cost has model, machine")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--model=opt13b",), "--machine: name one; --list names them all"),
        (("--machine=l4",), "--model: name one"),
        (("--model=lama", "--machine=l4"), "nearest: Llama-3.1-8B, Llama-3.2-1B"),
        (("--model=opt13b", "--machine=H1000"), "machine: “H1000” is not the name of a machine"),
        (("--model=opt13b", "--machine=l4", "--draft=opt"), "or a share from 0 to 8; nearest: OPT"),
        (
            ("--model=opt13b", "--machine=l4", "--batch=0"),
            "batch: “0” is not a whole number from 1",
        ),
        (("--model=opt13b", "--machine=l4", "--rates=.5,2"), "rates: “.5,2” is not"),
        (("--model=opt13b", "--machine=l4", "--alpha=.5", "--rates=.5"), "give one of them"),
        (("--model=opt13b", "--machine=l4", "--curve=none.csv"), "none.csv: cannot be read"),
        (("--model=opt13b", "--machine=l4", "--curve=static/page.png"), "page.png: is no text"),
        (("--model=opt13b", "--machine=l4", "--curve=static/labs/__init__.py"), "curve"),
        (("--model=opt13b", "--machine=l4", "--layers=0"), "layers: 0; a model has at least 1"),
        (
            ("--model=Qwen3-30B-A3B", "--machine=l4", "--top=129"),
            "top: 129 of 128 experts; give 1 to 128",
        ),
        (
            ("--model=Qwen3-30B-A3B", "--machine=l4", "--params=20"),
            "expertparams: 28.99 of 20 billion parameters; give less",
        ),
    ],
)
def test_what_the_command_cannot_take_is_told_in_one_line(
    arguments: tuple[str, ...], told: str
) -> None:
    assert told in refused(*arguments)


def test_the_command_leaves_with_2_where_a_name_is_not_there() -> None:
    code, out, err = cli("cost", "--model=opt13b", "--machine=H1000")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "machine: “H1000” is not the name of a machine; nearest: H100-SXM" in err


@pytest.mark.parametrize("entry", [*MACHINES, *MODELS], ids=lambda entry: entry.name)
def test_the_figures_of_an_entry_typed_in_as_ones_own_give_the_same(entry: Machine | Model) -> None:
    machine = isinstance(entry, Machine)
    own = figures(entry)
    assert tuple(own) == (OF_THE_MACHINE if machine else OF_THE_MODEL)
    keys = {f"cost.{key}": f"{value:.12g}" for key, value in own.items()}
    kept = {"cost.machine": entry.name} if machine else {"cost.model": entry.name}
    other = "cost.machine" if machine else "cost.model"
    typed, told = settled({**keys, other: "L4" if machine else "OPT-13B"})
    assert told == []
    named, _ = settled(kept)
    one, same = case_of(typed), case_of(named)
    for batch in (1, 300):
        assert one.roofs(batch, 5) == pytest.approx(same.roofs(batch, 5))
        assert one.short_by(batch) == pytest.approx(same.short_by(batch), abs=2)


def test_drafts_are_a_model_a_share_or_n_grams() -> None:
    assert drafting_of(Asked(draft="ngram")) == (None, 0.0, False)
    assert drafting_of(Asked(draft="0.05", parallel=True)) == (None, 0.05, True)
    assert drafting_of(Asked(draft="Qwen3-0.6B")).model is model_named("Qwen3-0.6B")


def test_the_page_opens_where_a_batch_makes_it_lose() -> None:
    opening = Asked()
    check(opening)
    case = case_of(opening)
    assert (case.speedup(1, opening.k) or 0) > 2
    assert (case.speedup(opening.batch, opening.k) or 0) < 1
    assert not case.short_by(opening.batch)
    assert case.machine == machine_named("H100-SXM")
