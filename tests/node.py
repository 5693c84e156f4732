"""Other people's pages, made with the real tools that npm brings."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.__main__ import NODE, NODE_TOOLS

PACKAGES = NODE / "node_modules"


def need(*names: str) -> None:
    """Skip the test where these packages are not installed; there must be all where CI is."""
    missing = [name for name in names if not (PACKAGES / name).exists()]
    assert set(names) <= set(NODE_TOOLS), "what is not pinned is there by chance"
    if missing and os.environ.get("CI"):
        pytest.fail(f"{', '.join(missing)} not installed, and CI must try them")
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed; run: python3 -m tests")


def in_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder from which Node finds the packages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(PACKAGES, target_is_directory=True)


def node(folder: Path, *arguments: str) -> str:
    """Run Node in a folder: what it prints. Fails with its complaint."""
    program = shutil.which("node")
    assert program, "npm is here, and so is Node"
    done = subprocess.run(
        [program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def vite(folder: Path) -> Path:
    """Build the pages of a folder, every .html in it; gives the folder with what is made."""
    pages = ", ".join(f"'{page.name}'" for page in folder.glob("*.html"))
    settings = (
        "export default { logLevel: 'warn', build: { minify: false,"
        f" rolldownOptions: {{ input: [{pages}] }} }} }};"
    )
    (folder / "vite.config.mjs").write_text(settings)
    node(folder, str(PACKAGES / "vite" / "bin" / "vite.js"), "build")
    return folder / "dist"
