"""The command `bundle`: the page for any static host, or one scene of it for a course platform."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sim.host import output

ABOUT_A_SCENE = {
    "--scene": ("LINK", "the scene of a package: its link, or what follows the ? in it"),
    "--hosted": ("ADDRESS", "where the page is hosted; it is in the package unless said"),
}
"""Flags that only a package has: what they take, and what they mean."""


def arguments(add: Callable[..., Any]) -> None:
    """Add the flags of the command, given argparse's `add_argument`."""
    add(
        "-o",
        "--output",
        metavar="PATH",
        default="bonus-token.zip",
        help="an archive where it ends in .zip, else a folder; bonus-token.zip unless said. "
        "- is an archive on standard output.",
    )
    about = "write one scene as a SCORM 1.2 package, for the gradebook of a course platform"
    add("--scorm", action="store_true", help=about)
    for flag, (named, meaning) in ABOUT_A_SCENE.items():
        add(flag, metavar=named, help=f"with --scorm: {meaning}")


def run(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    fetch: Callable[[Callable[[str], None]], object],
) -> None:
    """Write what the options ask for; `fetch` brings the runtime where it is missing, and tells."""
    from sim.host import bundle, scorm

    given = {flag: getattr(options, flag.removeprefix("--")) for flag in ABOUT_A_SCENE}
    for flag, value in given.items():
        if value is not None and not options.scorm:
            parser.error(f"{flag} {value}: only a package has it; add --scorm")
    try:
        scene = scorm.read(options.scene or "", options.hosted)
    except ValueError as error:
        parser.error(str(error))
    piped = options.output == output.STDOUT
    if not options.output:
        parser.error("--output: name a folder or an archive, or - for standard output")
    if piped and sys.stdout is not None and sys.stdout.isatty():
        parser.error("--output -: an archive is not for a terminal; name a file, or send it on")
    if not scene.address:
        fetch(output.complain if piped else output.say)
    target = Path(options.output)
    try:
        files = scorm.contents(scene) if options.scorm else bundle.contents()
        if piped:
            output.send(bundle.archive(files))
            return
        bundle.write(target, files)
    except bundle.BundleError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    size = sum(map(len, files.values())) / 1e6
    output.say(f"{target}: {len(files)} files, {size:.1f} MB unpacked")
    if options.scorm:
        output.say("Upload it to a course as a SCORM package.")
    else:
        output.say("How to host it: static/hosting.html in the bundle.")
