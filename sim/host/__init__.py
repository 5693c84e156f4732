"""What runs on the reader's own machine: fetch the runtime, serve the page, print its parts."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The folder of the `sim` package."""

SITE = PACKAGE.parent if (PACKAGE.parent / "index.html").exists() else PACKAGE / "site"
"""The folder of index.html and static/: beside `sim/` in a checkout, inside it once installed."""

PAGE_MODULES = (
    "browser",
    "dom",
    "board",
    "playback",
    "host",
    "prediction",
    "sharing",
    "recalling",
    "charts",
    "page",
)
"""Python modules of the page, below static/."""


def page_files(site: Path = SITE) -> dict[str, Path]:
    """Every Python file that the page needs, by its name there: `sim/` but the command line."""
    rules = [file for file in sorted(PACKAGE.glob("*.py")) if file.name != "__main__.py"]
    wiring = [site / "static" / f"{name}.py" for name in PAGE_MODULES]
    return {
        f"{folder}/{f.name}": f
        for folder, some in (("sim", rules), ("static", wiring))
        for f in some
    }
