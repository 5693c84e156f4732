"""Other people's terminals, pipes and disks: any encoding, and files whole or not at all."""

from __future__ import annotations

import errno
import http.client
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import sim.__main__ as cli
from sim import __version__
from sim.host import bundle, output, snapshot, vendor
from sim.marks import PALETTES
from sim.params import Params
from sim.picture import scene_svg
from sim.run import Run
from sim.scene import passes_csv
from tests.server import ROOT

ENCODINGS = "cp1252", "ascii", "latin-1", "cp437", "cp932"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")


def call(
    *arguments: str, stdout: Any = subprocess.PIPE, cwd: Path = ROOT, **environment: str
) -> tuple[int, bytes, bytes]:
    """Exit code, standard output and standard error, as bytes."""
    told = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-m", "sim", *arguments],
        cwd=cwd,
        env=told,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    return done.returncode, done.stdout or b"", done.stderr


def main(*arguments: str) -> object:
    """The exit code of the command line in this process."""
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    return left.value.code


# Encodings


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("arguments", ["run", "--help", "run --help", "serve --help", "vendor"])
def test_no_encoding_is_the_end_of_a_command(encoding: str, arguments: str) -> None:
    code, out, err = call(*arguments.split(), PYTHONIOENCODING=encoding)
    assert (code, err) == (0, b"")
    assert len(out.decode(encoding)) > 20


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_encoding_is_the_end_of_an_error(encoding: str) -> None:
    code, _, err = call("run", "--k", "≥₁†", PYTHONIOENCODING=encoding)
    assert (code, err.count(b"\n")) == (2, 1)
    assert "not a whole number" in err.decode(encoding)


def test_what_an_encoding_lacks_is_written_plainly() -> None:
    out = call("run", PYTHONIOENCODING="ascii")[1].decode("ascii")
    assert "1 + r1 + r1r2 + ..." in out
    assert "accepted / drafted; not alpha" in out
    assert "not alpha" not in call("run", PYTHONIOENCODING="cp437")[1].decode("cp437")  # it has α
    missing = call("run", "--speculation", "off", PYTHONIOENCODING="ascii")[1].decode("ascii")
    assert "draft_acceptance" + " " * 19 + "-   accepted" in missing
    text = "a – b ≥ ½ é “ß” 中 \udcff"
    told = "".join(
        output.plain(UnicodeEncodeError("ascii", text, i, i + 1, ""))[0] if ord(c) > 127 else c
        for i, c in enumerate(text)
    )
    assert told == 'a - b >= 12 e "\\xdf" \\u4e2d \\udcff'


def test_errors_are_plain_too_and_the_users_own_replacement_stays() -> None:
    assert b"--k r1:" in call("run", "--k", "r₁", PYTHONIOENCODING="ascii")[2]
    out = call("run", PYTHONIOENCODING="ascii:replace")[1]
    assert b"1 + r? + r?r? + ?" in out


def test_json_is_the_same_ascii_in_every_encoding() -> None:
    found = {call("run", "--json", PYTHONIOENCODING=name)[1] for name in (*ENCODINGS, "utf-8")}
    (text,) = found
    assert json.loads(text.decode("ascii")) == json.loads(json.dumps(Run(Params()).report(1200)))


def test_a_bundle_may_have_any_name(tmp_path: Path) -> None:
    code, out, err = call("bundle", "-o", str(tmp_path / "kurs α"), PYTHONIOENCODING="ascii")
    assert (code, err) == (0, b"")
    assert b"kurs alpha: " in out
    assert (tmp_path / "kurs α" / "index.html").exists()


# Pipes


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    ["run", "run --json", "run --csv -", "run --svg -", "--help", "run --help", "--version"],
)
def test_the_end_of_a_pipe_is_no_fault(arguments: str, buffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code, _, err = call(*arguments.split(), stdout=writing, PYTHONUNBUFFERED=buffered)
    finally:
        os.close(writing)
    assert (code, err) == (141, b"")


@FULL
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("arguments", ["run", "run --csv -", "--help", "--version", "vendor"])
def test_standard_output_on_a_full_disk_is_told_in_one_line(arguments: str, buffered: str) -> None:
    with open("/dev/full", "wb") as full:
        code, _, err = call(*arguments.split(), stdout=full, PYTHONUNBUFFERED=buffered)
    assert (code, err.count(b"\n")) == (1, 1)
    assert b"standard output cannot be written" in err


@POSIX
def test_without_standard_output_text_is_lost_in_silence_and_data_is_not() -> None:
    def closed(*arguments: str) -> tuple[int, str]:
        command = ["sh", "-c", '"$0" "$@" >&-', sys.executable, "-m", "sim", *arguments]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        return done.returncode, done.stderr

    assert closed("run") == (0, "")
    assert closed("run", "--csv", "-") == (1, "bonus-token: standard output is closed\n")


def test_without_standard_error_nothing_is_added_to_the_data(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fetched(say: Any) -> int:
        say("fetching")
        return 1

    monkeypatch.setattr(vendor, "vendor", fetched)
    monkeypatch.setattr(bundle, "archive", lambda _: b"archive")
    monkeypatch.setattr(sys, "stderr", None)
    cli.main(["bundle", "-o", "-"])
    assert capfd.readouterr() == ("archive", "")


def test_a_hyphen_names_standard_output_and_no_file(tmp_path: Path) -> None:
    run = Run(Params(draft_length=7))
    table = call("run", "--k", "7", "--csv", "-", cwd=tmp_path, PYTHONIOENCODING="utf-16")
    assert table == (0, passes_csv(run).encode("ascii"), b"")
    picture = call("run", "--k", "7", "--svg", "-", cwd=tmp_path, PYTHONIOENCODING="cp1252")
    assert picture == (0, scene_svg(run, 1200, PALETTES["light"]).encode("utf-8"), b"")
    both = call("run", "--k", "7", "--csv", "-", "--svg", "scene.svg", cwd=tmp_path)
    assert both == table
    assert [file.name for file in tmp_path.iterdir()] == ["scene.svg"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--json", "--csv", "-"], "--json and --csv cannot both go to standard output"),
        (["--svg", "-", "--json"], "--json and --svg cannot both go to standard output"),
        (["--svg", "-", "--csv", "-"], "--svg and --csv cannot both go to standard output"),
        (["--svg", "here/x", "--csv", "./here/../here/x"], "--svg and --csv cannot both go to"),
        (["--svg", ""], "--svg: name a file"),
        (["--csv", ""], "--csv: name a file"),
    ],
)
def test_two_things_in_one_place_are_refused(
    arguments: list[str], named: str, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    code, out, err = call("run", *arguments, cwd=tmp_path)
    assert (code, out, err.count(b"\n")) == (2, b"", 1)
    assert named in err.decode()
    assert list((tmp_path / "here").iterdir()) == []


def test_a_bundle_goes_through_a_pipe_and_not_onto_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call("bundle", "-o", "-", cwd=tmp_path)
    assert (code, err) == (0, b"")
    assert out == bundle.archive(bundle.contents())
    assert list(tmp_path.iterdir()) == []
    assert main("bundle", "-o", "") == 2
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main("bundle", "-o", "-") == 2
    assert "not for a terminal" in capsys.readouterr().err


def test_what_a_piped_bundle_says_of_its_runtime_goes_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fetched(say: Any) -> int:
        say("fetching")
        return 1

    monkeypatch.setattr(vendor, "vendor", fetched)
    monkeypatch.setattr(bundle, "archive", lambda _: b"archive")
    cli.main(["bundle", "-o", "-"])
    assert capfd.readouterr() == ("archive", "fetching\n")


# Ctrl+C


@pytest.mark.parametrize("terminal", [False, True])
def test_ctrl_c_is_one_line_and_a_code_of_its_own(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr(cli, "run", interrupted)
    assert main("run") == 130
    assert capsys.readouterr().err == "\n" * terminal + "Interrupted.\n"
    monkeypatch.setattr(vendor, "vendor", interrupted)
    for command in ("vendor", "serve", "bundle"):
        assert main(command) == 130
        told = capsys.readouterr().err
        assert told == "\n" * terminal + "Interrupted; run the command again to go on.\n"


def heeding_ctrl_c() -> None:
    """A shell that runs tests in the background has them, and what they start, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@POSIX
def test_ctrl_c_stops_a_server_that_browsers_are_still_connected_to() -> None:
    command = [sys.executable, "-m", "sim", "serve", "--no-open", "--port", "9321"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeding_ctrl_c,
    ) as process:
        assert process.stdout is not None
        said = "said"
        while said and "Ctrl+C stops it" not in said:
            said = process.stdout.readline()
        connection = http.client.HTTPConnection(urlsplit(said.split()[4]).netloc, timeout=20)
        try:
            connection.request("GET", "/static/icon.svg")
            assert connection.getresponse().read()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            connection.close()
            process.kill()
    assert (process.returncode, out, err) == (130, "", "Stopped.\n")


# The version


def test_the_version_is_told_by_a_bare_python() -> None:
    command = [sys.executable, "-S", "-m", "sim", "--version"]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert out == f"bonus-token {__version__}\n"


# A table for spreadsheets


@pytest.mark.parametrize("name", ["passes.tsv", "PASSES.TSV"])
def test_a_table_by_a_tsv_name_has_tabs_and_decimal_commas(name: str, tmp_path: Path) -> None:
    code, _, err = call("run", "--evict", "100", "--csv", name, cwd=tmp_path)
    assert (code, err) == (0, b"")
    rows = [line.split("\t") for line in (tmp_path / name).read_text("ascii").splitlines()]
    plain = [line.split(",") for line in passes_csv(Run(Params(evictions=(100,)))).splitlines()]
    assert rows == [[cell.replace(".", ",") for cell in row] for row in plain]
    assert {len(row) for row in rows} == {20}
    assert any("," in cell for cell in rows[1])


# Files


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """Let no file grow beyond this many bytes: a real error of the system's in mid-write."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@POSIX
@pytest.mark.parametrize("flag", ["--svg", "--csv"])
def test_a_full_disk_leaves_no_half_file_and_the_earlier_one(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    for held in (None, "of yesterday"):
        if held is not None:
            target.write_text(held)
        with disk_of(1000):
            assert main("run", flag, str(target)) == 1
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert f"{target} cannot be written" in told.err
        found = {file.name: file.read_text() for file in tmp_path.iterdir()}
        assert found == ({} if held is None else {"out": held})


@POSIX
def test_a_pipe_by_its_name_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    output.write_whole(pipe, b"data")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(20)
    assert found == [b"data"]


@POSIX
def test_a_full_device_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = tmp_path / "full"  # not the machine's own, which root could replace
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("there are no devices of one's own here")
    for flag in ("--csv", "--svg"):
        assert main("run", flag, str(device)) == 1
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert f"{device} cannot be written (No space left on device)" in told.err
        assert stat.S_ISCHR(device.stat().st_mode)


@POSIX
def test_a_named_pipe_that_ends_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert main("run", "--csv", f"/dev/fd/{writing}") == 141
    finally:
        os.close(writing)
    assert capsys.readouterr() == ("", "")


def test_an_interrupted_file_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "old").write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        for name in ("old", "new"):
            with pytest.raises(KeyboardInterrupt):
                output.write_whole(tmp_path / name, b"half")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"old": b"old"}


@POSIX
def test_a_file_written_anew_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    output.write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    umask = os.umask(0o027)
    try:
        output.write_whole(tmp_path / "fresh", b"")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_a_file_that_cannot_be_replaced_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "mounted by itself")

    monkeypatch.setattr(os, "replace", busy)
    (tmp_path / "mounted").write_bytes(b"something longer")
    output.write_whole(tmp_path / "mounted", b"new")
    with pytest.raises(OSError, match="mounted by itself"):
        output.write_whole(tmp_path / "none", b"new")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"mounted": b"new"}


# Bundles


def holding(**files: bytes) -> dict[str, bytes]:
    """A bundle of these files; `_` in a name is the separator of folders."""
    named = {name.replace("_", "/"): data for name, data in files.items()}
    return {**named, "bundle.json": json.dumps({"files": dict.fromkeys(named, "")}).encode()}


def tree(folder: Path) -> dict[str, bytes | None]:
    """What is in a folder, folders themselves as None."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() if file.is_file() else None
        for file in folder.rglob("*")
    }


@POSIX
@pytest.mark.parametrize("name", ["x.zip", "x.ZIP", "deep/er/site", "empty", "site"])
def test_a_bundle_that_does_not_fit_leaves_things_as_they_were(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    bundle.write(tmp_path / "site", holding(a=b"1", old=b"2", sub_b=b"3"))
    before = tree(tmp_path)
    large = holding(a=b"new", c=b"5", sub_more_d=os.urandom(5000))
    with disk_of(4000), pytest.raises(bundle.BundleError, match="cannot be written"):
        bundle.write(tmp_path / name, large)
    assert tree(tmp_path) == before
    bundle.write(tmp_path / name, large)
    assert not [path for path in tree(tmp_path) if "part" in path]


@pytest.mark.parametrize("name", ["deep/site", "empty", "x.zip"])
@pytest.mark.parametrize("moves", [0, 1, 3])
def test_an_interrupted_bundle_leaves_nothing_of_itself(
    name: str, moves: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, replace = [moves], os.replace

    def interrupted(*places: Any) -> None:
        if not left[0] or name.endswith("zip"):
            raise KeyboardInterrupt
        left[0] -= 1
        replace(*places)

    (tmp_path / "empty").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bundle.write(tmp_path / name, holding(a=b"1", b_c=b"2", b_d_e=b"3"))
    assert tree(tmp_path) == {"empty": None}


def test_an_interrupted_update_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, replace = tmp_path / "site", os.replace
    bundle.write(folder, holding(a=b"1", old=b"2"))
    (folder / "mine.txt").write_bytes(b"a note")

    def interrupted(source: Any, target: Path) -> None:
        if target.name == "b":
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bundle.write(folder, holding(a=b"new", b=b"3"))
    assert tree(folder) == {**holding(a=b"1", old=b"2"), "a": b"new", "mine.txt": b"a note"}
    bundle.write(folder, holding(a=b"new", b=b"3"))
    assert tree(folder) == {**holding(a=b"new", b=b"3"), "mine.txt": b"a note"}


def test_a_missing_part_stops_a_bundle_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bundle, "runtime", lambda _: tmp_path / "gone")
    monkeypatch.setattr(vendor, "vendor", lambda _: 0)
    monkeypatch.setattr(snapshot, "build", lambda _: False)
    assert main("bundle", "-o", str(tmp_path / "site")) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be read" in told
    assert list(tmp_path.iterdir()) == []


def test_text_without_a_byte_stream_below_it_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caught = io.StringIO()
    monkeypatch.setattr(sys, "stdout", caught)
    cli.main(["run", "--tick", "1"])
    assert caught.getvalue().startswith("tick 1 ")
