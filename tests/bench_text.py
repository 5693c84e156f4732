"""How fast the model in the page writes: `python3 -m tests.bench_text` prints it.

In a real Chromium: how long its files and its code take over a link of 50 Mbit/s once NumPy is
there; its passes, there and on this Python; and how fast its text comes with 50 and with 450
positions kept, with drafts, after an eviction and without a cache, with the longest gap between two
frames meanwhile.
"""

from __future__ import annotations

from typing import Any

from tests.inside import middle, run_inside

LINK = 50, 40
"""Megabits a second, and milliseconds."""

OPENINGS = 3
"""How often it is opened, each time in a new browser."""

OPEN = """
import asyncio
from time import perf_counter
from js import bonusTokenStart, document

await bonusTokenStart.numpy()
import numpy
began = perf_counter()
document.querySelector("#lab-text").scrollIntoView()
while not document.querySelector("#text-write:enabled"):
    await asyncio.sleep(0.01)
result = {"seconds": perf_counter() - began}
"""

READY = """
import asyncio
from js import document, window

while not document.querySelector("#text-price:enabled"):
    await asyncio.sleep(0.05)
"""

PASSES = """
from time import perf_counter
from sim.labs.text_run import models_of, stored
from sim.labs.transformer import Kept
from sim.work import finish

began = perf_counter()
models = models_of(stored())
result = {"reading the model's file": [1000 * (perf_counter() - began)]}
target, tokens = models.target, [101] * 512
for width, context in ((1, 50), (1, 450), (5, 450), (450, 0)):
    kept, times = Kept(target.shape), []
    finish(target.forward(tokens[:context], kept, wanted=0))
    for _ in range(40 if width < 9 else 3):
        began = perf_counter()
        finish(target.forward(tokens[:width], kept, wanted=1))
        times.append(1000 * (perf_counter() - began))
        kept.roll_back(context)
    name = f"{width} positions" if width > 1 else "one position"
    result[f"a pass over {name} behind {context}"] = times
"""

LIVE = """
from time import perf_counter
from pyodide.ffi import create_proxy

gaps, last = [], 0.0

def frame(now):
    global last
    if last:
        gaps.append(now - last)
    last = now
    window.requestAnimationFrame(proxy)

proxy = create_proxy(frame)
window.requestAnimationFrame(proxy)

def press(name):
    document.querySelector("#text-" + name).click()

def written():
    return document.querySelectorAll("#text-shown i").length

async def write():
    gaps.clear()
    before, began = written(), perf_counter()
    press("write")
    while document.querySelector("#text-write").textContent != "Write":
        await asyncio.sleep(0.004)
    spent, longest = perf_counter() - began, max(gaps, default=0)
    await asyncio.sleep(0.2)  # what came last is drawn at the next frame
    return [(written() - before) / spent, longest, before]

async def again(times):
    found = []
    for _ in range(times):
        press("anew")
        await write()  # fills the prompt
        found.append(await write())
    return found

result = {}
"""

LONG = """
result["plain decoding"] = await again(7)
press("evict")
result["from an eviction on"] = [await write()]
press("speculation")
result["4 drafts"] = await again(3)
"""

SHORT = """
result["plain decoding"] = await again(7)
"""

OFF = """
await write()
press("cache")
result["no cache"] = [await write()]
"""

PLAIN = "?lab=text&text.speculation=off"


def prompt(words: int) -> str:
    """A key of a link: a prompt of three letters, so often."""
    return "&text.prompt=" + "xyz%20" * words


def main() -> None:
    """Print it."""
    opened = [run_inside(OPEN, link=LINK)["seconds"] for _ in range(OPENINGS)]
    print(f"ready after {middle(opened):.2f} s over {LINK[0]} Mbit/s, NumPy being there")
    here: dict[str, Any] = {}
    exec(PASSES, here)
    for name, times in run_inside(READY + PASSES, PLAIN).items():
        late = sorted(times)[int(len(times) * 0.95)]
        print(f"{name:<42}{middle(times):>8.2f}{late:>8.2f}{middle(here['result'][name]):>8.2f}")
    paces = []
    for words, tokens, source in ((98, 40, LONG), (2, 40, SHORT), (105, 4, OFF)):
        told = run_inside(READY + LIVE + source, f"{PLAIN}&text.tokens={tokens}{prompt(words)}")
        for name, found in told.items():
            rates, gaps, before = zip(*found, strict=True)
            pace = middle(list(rates))
            print(
                f"{name:<22}{pace:>8.1f} tokens a second behind {middle(list(before)):.0f} tokens, "
                f"longest gap of frames {max(gaps):.0f} ms"
            )
            if name == "plain decoding":
                paces.append(pace)
    print(f"a token behind 450 positions takes {paces[1] / paces[0]:.2f} times one behind 50")


if __name__ == "__main__":
    main()
