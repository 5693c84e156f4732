"""How long the charts' numbers take: `python3 -m tests.bench_labs` prints a table.

Runs inside the real page in a real Chromium, and on this Python, the same code: a thousand runs of
1200 ticks at once against single runs of the core, in one run and alternating; what charts make of
the thousand; and the map of 16 × 99 cells. Bringing NumPy is timed in the page, once. The model
that writes: its file, its passes, and how fast its text comes in the page, and the longest gap
between two frames meanwhile.
"""

from __future__ import annotations

from typing import Any

from tests.inside import run_inside

BRING = """
from time import perf_counter
from js import bonusTokenStart

began = perf_counter()
await bonusTokenStart.numpy()
fetched = perf_counter()
import numpy
came = [1000 * (fetched - began), 1000 * (perf_counter() - fetched)]
"""

MEASURE = """
from time import perf_counter
from sim.labs import map_chart
from sim.labs.ensemble import RUNS, Ensemble, coins, coins_kept, yields
from sim.params import HORIZON, Params
from sim.run import Luck, Run, luck_of
from sim.labs.run_charts import luck_spread, yield_spread
from sim.work import finish

def timed(action):
    began = perf_counter()
    action()
    return 1000 * (perf_counter() - began)

def together(k=4):
    coins_kept.forget()
    params = Params(draft_length=k)
    return Ensemble(params, yields(coins(), params.rates)).tokens(HORIZON)

def alone(seed):
    luck_of.cache_clear()
    return Run(Params(seed=seed)).at(HORIZON)

def chart(number):
    run = Run(Params(acceptance_rate=0.3 + 0.01 * number))
    run.at(HORIZON)
    return tuple(
        timed(lambda: finish(spread(run, HORIZON))) for spread in (luck_spread, yield_spread)
    )

def cells(number):
    return map_chart._map.__wrapped__(map_chart.Costs(0.01 * number, 0, 8, 64))

together(), alone(0), cells(0), chart(50)  # the first of each also loads and looks up
many, longer, single, curves, shares, map_ = [], [], [], [], [], []
for number in range(1, 21):
    many.append(timed(together))
    longer.append(timed(lambda: together(32)))
    single.append(timed(lambda: alone(number)))
    curve, share = chart(number)
    curves.append(curve)
    shares.append(share)
    map_.append(timed(lambda: cells(number)))
result = {
    "a thousand runs, k = 4": many,
    "a thousand runs, k = 32": longer,
    "one run of the core": single,
    "bands of tokens per pass, with the runs": curves,
    "bands of what a pass yields": shares,
    "map of 16 × 99 cells": map_,
}
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
import asyncio
import sys
from time import perf_counter
from js import document, window
from pyodide.ffi import create_proxy

while not document.querySelector("#text-write") or document.querySelector("#text-write").disabled:
    await asyncio.sleep(0.05)

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
        await asyncio.sleep(0.01)
    spent = perf_counter() - began
    longest = max(gaps)
    await asyncio.sleep(1)  # what came last is drawn at the next frame
    return [(written() - before) / spent, longest]

await write()  # fills the prompt
live = {"plain decoding": await write()}
press("evict")
live["from an eviction on"] = await write()
press("speculation")
live["4 drafts"] = await write()
"""

OFF = """
press("cache")
live["no cache"] = await write()
"""


def middle(times: list[float]) -> float:
    """The median."""
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Print the table."""
    here: dict[str, Any] = {}
    exec(MEASURE, here)
    inside = run_inside(f"{BRING}\n{MEASURE}\nresult['came'] = came")
    fetched, imported = inside.pop("came")
    print(f"{'milliseconds, n = 20':<42}{'page':>8}{'p95':>8}{'here':>8}")
    for name, times in inside.items():
        late = sorted(times)[int(len(times) * 0.95)]
        print(f"{name:<42}{middle(times):>8.1f}{late:>8.1f}{middle(here['result'][name]):>8.1f}")
    for place, found in (("page", inside), ("here", here["result"])):
        many, single = found["a thousand runs, k = 4"], found["one run of the core"]
        ratio = 1000 * middle(single) / middle(many)
        print(f"{place}: a thousand runs of the core ÷ a thousand at once: {ratio:.0f}")
    _model()
    print(f"NumPy in the page: fetched and unpacked in {fetched:.0f}, imported in {imported:.0f}")


def _model() -> None:
    """Print what the model that writes takes."""
    here: dict[str, Any] = {}
    exec(PASSES, here)
    words = "&text.prompt=" + "xyz%20" * 105
    settings = f"?lab=text&text.speculation=off&text.tokens=40{words}"
    live = f"{LIVE}\n{PASSES}\nresult['live'] = live"
    inside = run_inside(live, settings)
    told = inside.pop("live")
    off = f"{LIVE}\n{OFF}\nresult = live"
    told |= run_inside(off, settings.replace("tokens=40", "tokens=4"))
    for name, times in inside.items():
        late = sorted(times)[int(len(times) * 0.95)]
        print(f"{name:<42}{middle(times):>8.2f}{late:>8.2f}{middle(here['result'][name]):>8.2f}")
    for name, (pace, gap) in told.items():
        print(f"{name:<42}{pace:>8.1f} tokens a second, longest gap of frames {gap:.0f} ms")


if __name__ == "__main__":
    main()
