"""The server's command, a reader's own requests, and settings that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.__main__ import main
from sim.labs.arrivals import Request, read_requests
from sim.labs.scheduler import SHARES
from sim.labs.service import Asked, report, requests_csv, scene_of, serve
from sim.labs.serving import NUMBERS
from sim.settings import updated_by_link
from sim.work import finish
from tests.labs.served import server_for
from tests.server import cli


def test_the_command_gives_the_numbers_of_the_same_server(tmp_path: Path) -> None:
    flags = ("--policy", "power", "--requests", "30", "--k", "3", "--max-running", "4")
    asked = Asked(policy="power", requests=30, draft_length=3, most_running=4)
    scene = scene_of(asked)
    server = finish(serve(scene.server()))
    code, out, _ = cli("serving", *flags, "--json")
    assert code == 0
    assert json.loads(out) == report(server, scene.rate)
    table = tmp_path / "requests.csv"
    code, out, _ = cli("serving", *flags, "--csv", str(table))
    assert (code, table.read_text("utf-8")) == (0, requests_csv(server))
    assert all(name in out for name in (*NUMBERS, *SHARES))
    code, out, _ = cli("serving", *flags, "--csv", "-")
    assert (code, out) == (0, requests_csv(server))
    commas = tmp_path / "requests.tsv"
    assert cli("serving", *flags, "--csv", str(commas))[0] == 0
    assert commas.read_text("utf-8") == requests_csv(server, "\t", ",")


def test_own_requests_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("\ufeffarrival,prompt,output\n# quiet\n\n2.5; 10; 30\n0,20,200\n", "utf-8")
    code, out, _ = cli("serving", "--file", str(file), "--policy", "max", "--json")
    assert code == 0
    made = json.loads(out)
    assert (made["finished"], made["tokens"], made["rate"]) == (2, 230, None)
    server = server_for(Asked(policy="max"), [Request(0, 20, 200), Request(2.5, 10, 30)])
    assert made == report(finish(serve(server)), None)
    assert made["shares"]["internal"] > 0  # each has a stretch for 220


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--slots", "500"), "--slots 500: not a multiple of 16 from 16 to"),
        (("--slots", "many"), "--slots many: not"),
        (("--slots", ""), "--slots : not"),
        (("--policy", "best"), "not one of max, power, oracle, paged"),
        (("--rate", "0"), "--rate 0: not a number from"),
        (("--max-running", "0"), "--max-running 0: not a whole number from 1 to"),
        (("--k", "33"), "--k 33: not a whole number from 0 to 32"),
        (("--alpha", "1.2"), "--alpha 1.2: not a number from 0 to 1"),
        (("--requests", "0"), "--requests 0"),
        (("--model", "Lama-8"), "no “Lama-8” here; nearest: Llama"),
        (("--machine", "A100"), "nearest: A100"),
        (("--file", "/nowhere/at.all"), "--file /nowhere/at.all: cannot be read"),
        (("--file", "-", "--rate", "9"), "--rate 9: the requests come from --file"),
        (("--json", "--csv", "-"), "--json and --csv cannot both go to standard output"),
        (("--csv", ""), "--csv: name a file"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    flags: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["serving", *flags])
    out, err = capsys.readouterr()
    assert (left.value.code, out, err.count("\n")) == (2, "", 1)
    assert told in err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no requests"),
        ("arrival,prompt,output\n", "no requests"),
        ("0,5\n", "line 1: 2 values; a request is arrival, prompt, output"),
        ("0,5,5\n1,x,5\n", "line 2: prompt “x” is not a number"),
        ("0,5,0\n", "line 1: output 0 is not a whole number from 1"),
        ("0,1.5,4\n", "line 1: prompt 1.5 is not a whole number"),
        ("-1,5,5\n", "line 1: arrival -1 is not from 0"),
        ("nan,5,5\n", "line 1: arrival “nan” is not a number"),
        ("0,5,5\nnan,5,5\n", "line 2: arrival “nan” is not a number"),
    ],
)
def test_a_row_that_is_no_request_is_named(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        read_requests(text)
    assert told in str(raised.value)


def test_a_longest_that_a_request_outgrows_is_told() -> None:
    own = [Request(0, 20, 100), Request(1, 5000, 100)]
    assert scene_of(Asked(), own).longest == 128
    assert scene_of(Asked(longest=120), own).longest == 120  # the other one is refused
    with pytest.raises(ValueError, match="a request has 120 tokens; make it 120 or more"):
        scene_of(Asked(longest=119), own)


def test_settings_of_a_link_are_mended_with_a_word() -> None:
    keys = {"serving.slots": "1000", "serving.model": "llama 3.1 70b", "serving.machine": "mine"}
    asked, complaints = updated_by_link("serving", Asked(), keys)
    assert (asked.slots, asked.model, asked.machine) == (992, "Llama-3.1-70B", Asked().machine)
    assert [complaint.split("=")[0] for complaint in complaints] == [
        "serving.slots",
        "serving.machine",
    ]
    assert "using 992" in complaints[0]
