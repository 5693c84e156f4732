"""What runs on the reader's own machine: fetch the runtime, serve the page, print its parts."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the `sim` package."""

SITE = PACKAGE.parent if (PACKAGE.parent / "index.html").exists() else PACKAGE / "site"
"""The folder of index.html and static/: beside `sim/` in a checkout, inside it once installed."""
