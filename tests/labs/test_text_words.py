"""A text as a table: each token, and what else its draft would have said; the widget's own one."""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from functools import cache
from io import StringIO
from time import perf_counter

import numpy as np
import pytest

from sim.labs.text_run import models_of, stored, write
from sim.labs.text_settings import ROWS, Asked
from sim.labs.text_words import words_csv
from sim.labs.transformer import Kept
from sim.labs.weights import Array
from sim.labs.writer import Models, Writer
from sim.settings import read
from sim.stretch import FILE, read_stretch, readable
from sim.work import finish
from tests.labs.written import text
from tests.server import ROOT

AGAIN = 300
"""Tokens of the widget's stretch that are written anew."""


def cells(writer: Writer, tokens: int, separator: str = "\t") -> list[list[str]]:
    end = writer.origins.count("prompt") + tokens
    table = finish(words_csv(writer, end, separator))
    return list(csv.reader(StringIO(table), delimiter=separator))


def cell(piece: bytes) -> str:
    """A token as a table has it."""
    text = piece.decode(errors="replace").replace("\n", "↵")
    return re.sub(r"[\0-\x1f\x7f]", "\ufffd", text)


def chances(of: Models, draft: str, tokens: list[int]) -> Array:
    """What a draft says after these tokens, computed by itself."""
    if draft == "ngram":
        return of.ngram.chances(tokens)
    said: Array = finish(of.small.forward(tokens, Kept(of.small.shape), wanted=1))[-1]
    return said


@pytest.mark.parametrize("draft", ["ngram", "small"])
def test_the_other_token_is_the_likeliest_that_reads_as_another_word(draft: str) -> None:
    writer = text(Asked(prompt="abc", tokens=25, draft=draft, seed=3))
    head, *rows = cells(writer, 25)
    assert head == ["token", "other"]
    assert len(rows) == 25
    pieces = [cell(piece) for piece in writer.models.pairs.bytes_of]
    first = writer.origins.count("prompt")
    for position, (token, other) in enumerate(rows, first):
        written = writer.tokens[position]
        assert token == pieces[written]
        said = chances(writer.models, draft, writer.tokens[:position])
        same = [readable(piece) in ("␣", readable(pieces[written])) for piece in pieces]
        likeliest = int(np.where(same, -np.inf, said).argmax())
        assert other == pieces[likeliest]


def test_a_text_longer_than_a_draft_can_keep_has_a_row_for_each_token() -> None:
    writer = text(Asked(prompt="abc", tokens=1200, draft="small", speculation=False))
    assert len(cells(writer, 1200)) == 1201


def test_what_is_in_the_way_of_a_table_is_quoted() -> None:
    writer = text(Asked(prompt="abc", tokens=25, seed=3))
    by_tabs = cells(writer, 25)
    assert cells(writer, 25, ",") == by_tabs
    writer.tokens[-4:] = [ord(sign) for sign in ',"\n\r']
    again = cells(writer, len(writer.tokens) - writer.origins.count("prompt"), ",")
    assert [token for token, _ in again[-4:]] == [",", '"', "↵", "\ufffd"]


# The widget's own


@cache
def command() -> dict[str, str]:
    """The flags of the command that writes it, as the README has it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    _, _, rest = readme.partition("The widget's words are of its text:\n\n")
    program, *flags = shlex.split(rest.partition("\n\n")[0])
    assert (program, flags[:3]) == ("python3", ["-m", "sim", "text"])
    return dict(zip(flags[3::2], flags[4::2], strict=True))


def test_the_widget_s_words_are_what_the_command_writes() -> None:
    flags = dict(command())
    assert flags.pop("--csv") == FILE
    assert flags["--tokens"] == "1000"
    given = {ROWS[flag[2:]].name: read(ROWS[flag[2:]], value)[0] for flag, value in flags.items()}
    asked = replace(Asked(**given), tokens=AGAIN)
    writer = finish(write(models_of(stored()), asked, perf_counter))
    held = read_stretch((ROOT / FILE).read_bytes())
    rows = list(zip(held.tokens, held.others, strict=True))
    assert [tuple(row) for row in cells(writer, AGAIN)[1:]] == rows[:AGAIN]
    known = {cell(piece) for piece in writer.models.pairs.bytes_of}
    assert {one for row in rows for one in row} <= known


def test_the_command_writes_a_table_beside_its_numbers_or_in_their_place() -> None:
    asked = ["text", "--tokens", "5", "--seed", "2", "--csv", "-"]
    run = [sys.executable, "-m", "sim", *asked]
    made = subprocess.run(run, cwd=ROOT, capture_output=True, check=True)
    head, *rows = made.stdout.decode().splitlines()
    assert head == "token,other"
    assert len(rows) == 5
    wrong = subprocess.run([*run, "--json"], cwd=ROOT, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "--json and --csv cannot both go to standard output" in wrong.stderr
