"""The command line: `python3 -m sim`, or `bonus-token` once installed."""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from sim.marks import PALETTES
from sim.metrics import METRICS
from sim.params import HORIZON, PARAMETERS, Params, Setting, read, write
from sim.picture import scene_svg
from sim.run import Run
from sim.scene import passes_csv
from sim.view import BY_KEY

TICK = BY_KEY["tick"]
PORT = Setting("port", 8000, "port", "whole", "port", "Port to serve on.", 1, 65535)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser() -> tuple[Parser, dict[str, Parser]]:
    """The parser of the whole command line, and those of its commands by name."""
    parser = Parser(
        prog="bonus-token",
        allow_abbrev=False,
        description="A simulator of the KV cache and speculative decoding.",
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    texts = {
        "serve": "serve the page and open it in a browser (what happens without a command)",
        "run": "print the numbers of a run at one tick",
        "bundle": "write the page and its runtime as a folder or archive for any static host",
        "vendor": "fetch the pinned browser runtime, or repair it",
    }
    made = {
        name: commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        for name, text in texts.items()
    }
    _add(made["serve"], PORT)
    made["serve"].add_argument("--no-open", action="store_true", help="do not open a browser")
    for row in PARAMETERS:
        _add(made["run"], row)
    _add(made["run"], TICK, default=HORIZON)
    made["run"].add_argument("--json", action="store_true", help="print one JSON object")
    made["run"].add_argument("--svg", metavar="FILE", help="write the scene as a picture")
    made["run"].add_argument("--csv", metavar="FILE", help="write every pass of the run")
    made["bundle"].add_argument(
        "-o",
        "--output",
        metavar="PATH",
        default="bonus-token.zip",
        help="an archive where it ends in .zip, else a folder; bonus-token.zip unless said.",
    )
    return parser, made


def _add(parser: Parser, row: Setting, default: Any = None) -> None:
    default = row.default if default is None else default
    text = f"{row.help} {row.allowed[0].upper()}{row.allowed[1:]}; {write(row, default) or 'none'}"
    parser.add_argument(f"--{row.key}", metavar=row.key.upper(), help=text + " unless said.")


def _joined(arguments: Sequence[str]) -> list[str]:
    """`--key value` as `--key=value`, so that a value may start with a minus and be named."""
    flags = {f"--{row.key}" for row in (*PARAMETERS, TICK, PORT)}
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
        parser.error(f"--{row.key} {text}: not {row.allowed}")
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
    params = Params(**values)
    made = Run(params)
    numbers = made.report(tick)
    if options.svg is not None:
        _write(parser, options.svg, scene_svg(made, tick, PALETTES["light"]))
    if options.csv is not None:
        _write(parser, options.csv, passes_csv(made))
    if options.json:
        print(json.dumps(numbers))
        return
    written = "  ".join(f"{r.key}={write(r, values[r.name]) or 'none'}" for r in PARAMETERS)
    print(f"tick {tick}   {written}\n\n{table(numbers)}")


def _write(parser: Parser, path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {path} cannot be written ({error.strerror})\n")


def bundle(parser: Parser, options: argparse.Namespace) -> None:
    """Fetch the runtime if it is missing, then write the page with all it needs."""
    from sim.host import bundle as host

    vendor(parser, options)
    files, target = host.contents(), Path(options.output)
    try:
        host.write(target, files)
    except host.BundleError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    size = sum(map(len, files.values())) / 1e6
    print(f"{target}: {len(files)} files, {size:.1f} MB unpacked")
    print("How to host it: static/hosting.html in the bundle.")


def vendor(parser: Parser, options: argparse.Namespace) -> None:
    """Fetch the runtime, and say so where nothing was missing."""
    from sim.host import snapshot
    from sim.host import vendor as host

    try:
        fetched = host.vendor() + snapshot.build()
    except host.VendorError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "\nInterrupted; run the command again to go on.\n")
    if not fetched and options.command == "vendor":
        print("The runtime is complete.")


def serve(parser: Parser, options: argparse.Namespace) -> None:
    """Fetch the runtime if it is missing, then serve the page until interrupted."""
    from sim.host.serve import listen

    wanted = _value(parser, PORT, options.port)
    vendor(parser, options)
    try:
        server = listen(wanted)
    except OSError as error:
        parser.exit(1, f"{parser.prog}: no port from {wanted} on is free ({error.strerror})\n")
    port = server.server_address[1]
    if port != wanted:
        print(f"Port {wanted} is taken; using {port}.")
    address = f"http://127.0.0.1:{port}/"
    print(f"Bonus Token is at {address}  (Ctrl+C stops it)", flush=True)
    if not options.no_open:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; `serve` where no command is named."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given.insert(0, "serve")
    parser, commands = build_parser()
    options = parser.parse_args(_joined(given))
    {"run": run, "serve": serve, "bundle": bundle, "vendor": vendor}[options.command](
        commands[options.command], options
    )


if __name__ == "__main__":
    main()
