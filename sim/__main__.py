"""The command line: `python3 -m sim`, or `bonus-token` once installed."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from sim import __version__
from sim.host import output, packing
from sim.kinds import Whole
from sim.labs import LABS, Lab
from sim.marks import PALETTES
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params
from sim.picture import scene_svg
from sim.run import Run
from sim.scene import passes_csv
from sim.settings import Setting, read, write
from sim.view import BY_KEY

COMMANDS = {lab.name: lab for lab in LABS if lab.command}
"""Labs that have a command, by its name."""

TICK = BY_KEY["tick"]
PORT = Setting("port", 8000, "port", Whole(1, 65535), "port", "Port to serve on.")
HOST = "--host"

INTERRUPTED, ENOUGH_READ = 130, 141
"""Exit codes: what a shell says of a program that Ctrl+C ended, or the end of a pipe."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and whose help is not lost without a word."""

    def print_help(self, file: Any = None) -> None:
        """Print the help to standard output. Raises OutputError."""
        output.say(self.format_help().rstrip())

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


class Version(argparse.Action):
    """Print the program's name and version, and leave."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Say it to standard output. Raises OutputError."""
        output.say(f"bonus-token {__version__}")
        parser.exit()


def build_parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of the whole command line, and those of its commands by name."""
    parser = Parser(
        prog="bonus-token",
        allow_abbrev=False,
        description="A simulator of the KV cache and speculative decoding.",
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    texts = {
        "serve": "serve the page and open it in a browser (what happens without a command)",
        "run": "print the numbers of a run at one tick",
        "bundle": "write the page and its runtime as a folder or archive for any static host",
        "vendor": "fetch the pinned browser runtime, or repair it",
        **{lab.name: lab.title for lab in COMMANDS.values()},
    }
    made = {
        name: commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        for name, text in texts.items()
    }
    _add(made["serve"], PORT)
    made["serve"].add_argument(
        HOST,
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on; 127.0.0.1, this machine alone, unless said. "
        "0.0.0.0 is every address of this machine: a whole lab can open the page.",
    )
    made["serve"].add_argument("--no-open", action="store_true", help="do not open a browser")
    for row in PARAMETERS:
        _add(made["run"], row)
    _add(made["run"], TICK, default=HORIZON)
    made["run"].add_argument("--json", action="store_true", help="print one JSON object")
    instead = "- is standard output, in place of the numbers."
    made["run"].add_argument(
        "--svg", metavar="FILE", help=f"write the scene as a picture; {instead}"
    )
    made["run"].add_argument(
        "--csv",
        metavar="FILE",
        help="write every pass of the run, with commas and decimal points; for a FILE that ends in "
        f".tsv with tabs and decimal commas, as spreadsheets in most of Europe read. {instead}",
    )
    packing.arguments(made["bundle"].add_argument)
    for name in COMMANDS:
        made[name].add_argument("--json", action="store_true", help="print one JSON object")
        made[name].set_defaults(clock=perf_counter)  # for what a lab measures
    return parser, made


def _add(parser: Parser, row: Setting, default: Any = None) -> None:
    default = row.default if default is None else default
    allowed = row.kind.allowed
    text = f"{row.help} {allowed[0].upper()}{allowed[1:]}; {write(row, default) or 'none'}"
    parser.add_argument(f"--{row.key}", metavar=row.key.upper(), help=text + " unless said.")


def _joined(arguments: Sequence[str], of_lab: Container[str] = ()) -> list[str]:
    """`--key value` as `--key=value`, so that a value may start with a minus and be named."""
    own = {HOST, *(f"--{row.key}" for row in (*PARAMETERS, TICK, PORT))}
    flags = of_lab or own
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in flags and not argument.startswith("--"):
            joined[-1] += "=" + argument
        else:
            joined.append(argument)
    return joined


def _value(parser: Parser, row: Setting, text: str | None, default: Any = None) -> Any:
    """Read a flag strictly: what the page would mend is refused here."""
    if text is None:
        return row.default if default is None else default
    value, complaint = read(row, text)
    if complaint:
        parser.error(f"--{row.key} {text}: not {row.kind.allowed}")
    return value


def table(numbers: dict[str, Any]) -> str:
    """The numbers as a readable table, one a line, with what each of them is."""
    lines = []
    for metric in METRICS:
        value = numbers[metric.name]
        text = "–" if value is None else f"{value:.4f}" if isinstance(value, float) else f"{value}"
        lines.append(f"{metric.name:<24}{text:>12}   {metric.help}")
    return "\n".join(lines)


def run(parser: Parser, options: argparse.Namespace) -> None:
    """Print the numbers of one run at one tick."""
    values = {row.name: _value(parser, row, getattr(options, row.key)) for row in PARAMETERS}
    tick = _value(parser, TICK, options.tick, HORIZON)
    given = {"--svg": options.svg, "--csv": options.csv}
    files = {flag: name for flag, name in given.items() if name is not None}
    _apart(parser, options.json, files)
    made = Run(Params(**values))
    for flag, name in files.items():
        if flag == "--svg":
            _write(parser, name, scene_svg(made, tick, PALETTES["light"]))
        else:
            _write(parser, name, passes_csv(made, *_marks(name)))
    if options.json:
        output.say(json.dumps(made.report(tick)))
    elif output.STDOUT not in files.values():
        written = "  ".join(f"{r.key}={write(r, values[r.name]) or 'none'}" for r in PARAMETERS)
        output.say(f"tick {tick}   {written}\n\n{table(made.report(tick))}")


def _marks(name: str) -> tuple[str, str]:
    """What stands between the cells of a table in this file, and before fractions."""
    return ("\t", ",") if Path(name).suffix.lower() == ".tsv" else (",", ".")


def _apart(parser: Parser, as_json: bool, files: dict[str, str]) -> None:
    """Refuse two things in one place, and a file without a name."""
    places: dict[str, str] = {"-": "--json"} if as_json else {}
    for flag, name in files.items():
        if not name:
            parser.error(f"{flag}: name a file, or - for standard output")
        place = name if name == output.STDOUT else str(Path(name).resolve())
        if place in places:
            where = "standard output" if name == output.STDOUT else name
            parser.error(
                f"{places[place]} and {flag} cannot both go to {where}; give {flag} a file"
            )
        places[place] = flag


def _write(parser: Parser, name: str, text: str) -> None:
    data = text.encode("utf-8")
    if name == output.STDOUT:
        output.send(data)
        return
    try:
        output.write_whole(Path(name), data)
    except BrokenPipeError:
        raise output.ClosedPipeError from None
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {name} cannot be written ({error.strerror})\n")


def bundle(parser: Parser, options: argparse.Namespace) -> None:
    """Write the page with all it needs, or one scene of it as a package."""
    packing.run(parser, options, lambda say: _fetch(parser, say))


def vendor(parser: Parser, options: argparse.Namespace) -> None:
    """Fetch the runtime, and say so where nothing was missing."""
    from sim.host import SITE
    from sim.host import vendor as host

    fetched = _fetch(parser, output.say)
    if not fetched:
        output.say("The runtime is complete.")
    if host.runtime() != SITE:
        output.say(f"It is in {host.runtime()}")


def _fetch(parser: Parser, say: Callable[[str], None]) -> int:
    """Fetch what is missing of the runtime; how many files that was."""
    from sim.host import snapshot
    from sim.host import vendor as host

    try:
        return host.vendor(say) + snapshot.build(say)
    except host.VendorError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        raise KeyboardInterrupt("Interrupted; run the command again to go on.") from None


def serve(parser: Parser, options: argparse.Namespace) -> None:
    """Fetch the runtime if it is missing, then serve the page until interrupted."""
    from sim.host.serve import addresses, listen, resolve

    wanted = _value(parser, PORT, options.port)
    try:
        host = resolve(options.host)
    except OSError as error:
        parser.error(f"{HOST} {options.host}: no address of this machine ({error.strerror})")
    _fetch(parser, output.say)
    try:
        server = listen(wanted, host=host)
    except OSError as error:
        parser.exit(1, f"{parser.prog}: no port from {wanted} on is free ({error.strerror})\n")
    try:
        with server:
            port = server.server_address[1]
            if port != wanted:
                output.say(f"Port {wanted} is taken; using {port}.")
            found = addresses(host, port)
            output.say(f"Bonus Token is at {found.here}  (Ctrl+C stops it)")
            if found.elsewhere is not None:
                output.say(f"Other machines find it at {found.elsewhere}")
            if not options.no_open:
                webbrowser.open(found.here)
            server.serve_forever()
    except KeyboardInterrupt:
        raise KeyboardInterrupt("Stopped.") from None


def _declare(parser: Parser, lab: Any) -> set[str]:
    """Declare the flags of a lab, given its module; gives those that a value follows."""
    valued: set[str] = set()

    def add(*names: str, **how: Any) -> None:
        if "action" not in how and "nargs" not in how:
            valued.update(names)
        parser.add_argument(*names, **how)

    lab.arguments(add)
    return valued


def _answer(parser: Parser, options: argparse.Namespace, lab: Any) -> None:
    """Print the numbers of a lab, given its module, and write its table where one is asked for."""
    name = getattr(options, "csv", None)
    if name is not None:
        _apart(parser, options.json, {"--csv": name})
    try:
        report = lab.answer(options)
        if isinstance(report, Generator):
            report = output.finished(report)
        table = "" if name is None else lab.csv(options, *_marks(name))
    except ValueError as error:
        parser.error(str(error))
    if name is not None:
        _write(parser, name, table)
    if options.json or name != output.STDOUT:
        output.say(json.dumps(report) if options.json else lab.told(report))


@contextmanager
def _needing(parser: Parser, lab: Lab) -> Iterator[None]:
    """Leave with one line where what a lab needs is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in lab.needs:
            raise
        parser.exit(1, f"{parser.prog}: {missing.name} is needed: pip install {missing.name}\n")


def _obey(given: list[str]) -> None:
    """Do what these arguments say; `serve` where they name no command."""
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")):
        given.insert(0, "serve")
    parser, commands = build_parser()
    if given[0] in COMMANDS:
        lab, its_parser = COMMANDS[given[0]], commands[given[0]]
        with _needing(its_parser, lab):
            module = import_module(lab.rules)
            valued = _declare(its_parser, module)
            _answer(its_parser, parser.parse_args(_joined(given, valued)), module)
        return
    options = parser.parse_args(_joined(given))
    {"run": run, "serve": serve, "bundle": bundle, "vendor": vendor}[options.command](
        commands[options.command], options
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and leave quietly where a pipe has ended or Ctrl+C was pressed."""
    output.speak_any_encoding()
    try:
        try:
            _obey(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            output.flush()
    except output.ClosedPipeError:
        sys.exit(ENOUGH_READ)
    except output.OutputError as error:
        output.complain(f"bonus-token: {error}")
        sys.exit(1)
    except KeyboardInterrupt as interrupt:
        # On a terminal ^C stands at the start of this line.
        newline = "\n" if sys.stderr is not None and sys.stderr.isatty() else ""
        output.complain(f"{newline}{str(interrupt) or 'Interrupted.'}")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
