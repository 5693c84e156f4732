"""How fast the page starts: `python3 -m tests.bench_boot` prints a table.

In one run and alternating, so that ratios hold: this page; a bare PyScript page from the same
vendored files that only imports the same package; a bare Pyodide page; a static page without
Python. Each in a new browser with an empty profile (cold) and reloaded there (warm), over links
throttled by the browser, and locally. BONUS_TOKEN_BOOTS sets how often (5).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from html import escape
from pathlib import Path
from typing import Any

from sim.host import SITE
from sim.host.files import start_files
from sim.host.serve import Handler, Server
from sim.host.start import PLUGINS_OFF
from tests import browsers

BOOTS = int(os.environ.get("BONUS_TOKEN_BOOTS", "5"))
LINKS: dict[str, tuple[float, float] | None] = {
    "50 Mbit/s, 40 ms": (50, 40),
    "10 Mbit/s, 100 ms": (10, 100),
    "local": None,
}
NUMPY_BYTES = 2_900_000
"""What NumPy's wheel would add to the bare page, which loads it at its start."""

RULES = [name for name in start_files() if name.startswith("sim/")]
IMPORTS = "\n".join(
    f"import {name.removesuffix('.py').replace('/', '.')}"
    for name in RULES
    if "__init__" not in name and "ensemble" not in name  # which needs NumPy
)
DONE = 'performance.mark("bonus-token-ready")'
HEAD = '<!DOCTYPE html><html><head><meta charset="utf-8"><title>bench</title>'


def bare_pyscript() -> str:
    """PyScript, Pyodide and the same package, started as their documentation shows."""
    config = {
        "interpreter": "./static/vendor/pyodide/pyodide.mjs",
        "plugins": [f"!{name}" for name in PLUGINS_OFF],
        "files": {f"./{name}": f"./{name}" for name in RULES},
    }
    written = escape(json.dumps(config), quote=False)
    off = escape(json.dumps({"plugins": config["plugins"]}), quote=False)
    return (
        f'{HEAD}<script type="module" src="./static/vendor/pyscript/core.js"></script></head><body>'
        f"<p>Loading</p><mpy-config type='json' hidden>{off}</mpy-config>"
        f"<script type=\"py\" config='{written}'>\n{IMPORTS}\nimport js\njs.performance.mark("
        f'"bonus-token-ready")\n</script></body></html>'
    )


def bare_pyodide() -> str:
    """Pyodide alone."""
    return (
        f"{HEAD}</head><body><p>Loading</p><script type='module'>"
        "import { loadPyodide } from './static/vendor/pyodide/pyodide.mjs';"
        f"const py = await loadPyodide(); py.runPython('import json, random'); {DONE}"
        "</script></body></html>"
    )


def static_page() -> str:
    """This page without its scripts."""
    text = (SITE / "index.html").read_text(encoding="utf-8")
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith("<script") and 'preload" ' not in line
    ]
    head, _, _ = "\n".join(lines).partition("<mpy-config")
    return head.replace("script-src 'self' 'unsafe-eval'", "script-src 'unsafe-inline'") + (
        f"<script>addEventListener('DOMContentLoaded', () => {DONE})</script></body></html>"
    )


PAGES = {
    "this page": "/",
    "bare PyScript": "/bare-pyscript",
    "bare Pyodide": "/bare-pyodide",
    "static page": "/static-page",
}
MADE = {
    "/bare-pyscript": bare_pyscript,
    "/bare-pyodide": bare_pyodide,
    "/static-page": static_page,
}


class BenchHandler(Handler):
    """The real server, and the pages to compare with."""

    def do_GET(self) -> None:  # noqa: N802 - the name is the HTTP method's
        """Answer with a page to compare with, or as the real server does."""
        make = MADE.get(self.path)
        if make is None:
            super().do_GET()
            return
        body = make().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


WATCH = """
window.blocks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) blocks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
"""
READ = """
const ready = performance.getEntriesByName("bonus-token-ready")[0];
if (!ready) return null;
const paint = performance.getEntriesByName("first-contentful-paint")[0];
const files = [...performance.getEntriesByType("navigation"),
               ...performance.getEntriesByType("resource")];
const before = files.filter((f) => f.responseEnd <= ready.startTime + 1);
return {
  paint: paint ? paint.startTime : null,
  interactive: ready.startTime,
  block: Math.max(0, ...blocks),
  bytes: before.reduce((sum, f) => sum + f.transferSize, 0),
};
"""


def measure(driver: Any, address: str) -> dict[str, float]:
    """Load a page and read its times (ms) and bytes, once it has been interactive for a while."""
    driver.get(address)
    end = time.monotonic() + 90
    while time.monotonic() < end:
        found = driver.execute_script(READ)
        if found and found["paint"] is not None:
            time.sleep(0.3)
            return dict(driver.execute_script(READ))
        time.sleep(0.05)
    raise RuntimeError(f"{address} never was interactive")


def boot(
    address: str, link: tuple[float, float] | None
) -> tuple[dict[str, float], dict[str, float]]:
    """One cold start and one warm one."""
    with tempfile.TemporaryDirectory() as profile:
        driver = browsers.launch(profile=Path(profile))
        try:
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            if link:
                browsers.throttle(driver, *link)
            return measure(driver, address), measure(driver, address)
        finally:
            driver.quit()


def table(results: dict[tuple[str, str, str], list[dict[str, float]]]) -> str:
    """The results as a Markdown table: medians, ranges of the time to interactive, ratios."""
    lines = [
        "| link | start | page | first paint, s | interactive, s (range) | ÷ bare PyScript "
        "| longest block, s | MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (link, start, page), runs in results.items():

        def median(name: str, of: list[dict[str, float]] = runs) -> float:
            return statistics.median(run[name] for run in of)

        bare = results[link, start, "bare PyScript"]
        ratio = median("interactive") / median("interactive", bare)
        times = [run["interactive"] / 1000 for run in runs]
        lines.append(
            f"| {link} | {start} | {page} | {median('paint') / 1000:.2f} "
            f"| {median('interactive') / 1000:.2f} ({min(times):.2f}–{max(times):.2f}) "
            f"| {ratio:.2f} | {median('block') / 1000:.2f} | {median('bytes') / 1e6:.2f} |"
        )
    return "\n".join(lines)


def aims(results: dict[tuple[str, str, str], list[dict[str, float]]]) -> str:
    """Each aim of the start beside what was measured."""

    def median(link: str, start: str, page: str, name: str) -> float:
        return statistics.median(run[name] for run in results[link, start, page])

    lines = ["| aim | at most | measured |", "|---|---|---|"]
    wanted = [
        ("50 Mbit/s, 40 ms", "cold", 0.60),
        ("10 Mbit/s, 100 ms", "cold", 1.0),
        ("local", "cold", 0.40),
        ("local", "warm", 0.30),
    ]
    for link, start, most in wanted:
        if (link, start, "this page") in results:
            mine = median(link, start, "this page", "interactive")
            bare = median(link, start, "bare PyScript", "interactive")
            lines.append(
                f"| interactive ÷ bare PyScript, {link}, {start} | {most} | {mine / bare:.2f} |"
            )
    for link in {link for link, _, _ in results}:
        block = median(link, "cold", "this page", "block") / median(
            link, "cold", "bare PyScript", "block"
        )
        paint = median(link, "cold", "this page", "paint") / median(
            link, "cold", "static page", "paint"
        )
        allowed = median(link, "cold", "bare PyScript", "bytes") + NUMPY_BYTES
        weight = median(link, "cold", "this page", "bytes") / allowed
        lines.append(f"| longest block ÷ bare PyScript, {link}, cold | 0.15 | {block:.2f} |")
        lines.append(f"| first paint ÷ static page, {link}, cold | 1.3 | {paint:.2f} |")
        lines.append(f"| bytes ÷ (bare PyScript + NumPy), {link}, cold | 1.1 | {weight:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    wanted = [name for name in LINKS if not sys.argv[1:] or any(a in name for a in sys.argv[1:])]
    server = Server(("127.0.0.1", 0), BenchHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    results: dict[tuple[str, str, str], list[dict[str, float]]] = {}
    for link in wanted:
        for turn in range(BOOTS):
            for page, path in PAGES.items():
                print(f"\r{link}: {turn + 1} of {BOOTS}, {page:<16}", end="", file=sys.stderr)
                cold, warm = boot(origin + path, LINKS[link])
                results.setdefault((link, "cold", page), []).append(cold)
                results.setdefault((link, "warm", page), []).append(warm)
    print(file=sys.stderr)
    ordered = dict(sorted(results.items(), key=lambda item: (wanted.index(item[0][0]), item[0][1])))
    print(table(ordered))
    print()
    print(aims(ordered))
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
