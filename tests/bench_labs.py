"""How long the charts' numbers take: `python3 -m tests.bench_labs` prints a table.

Runs inside the real page in a real Chromium, and on this Python, the same code: a thousand runs of
1200 ticks at once against single runs of the core, in one run and alternating; what charts make of
the thousand; the map of 16 × 99 cells; the speedups on a machine by draft length and batch, with
drags of its sliders. Bringing NumPy is timed in the page, once.
"""

from __future__ import annotations

from typing import Any

from tests.inside import run_inside

COME = """
import asyncio
from js import document

document.querySelector("#chart-{name}").scrollIntoView()
while not document.querySelector("#chart-{name} .drawing :is(svg, canvas)"):
    await asyncio.sleep(0.05)
"""
"""Bring a chart, and with it the lab that it is of."""

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

GRID = """
from time import perf_counter
from sim.labs.cost_settings import Asked, case_of
from sim.labs.pricing import grid
from sim.work import finish

def timed(action):
    began = perf_counter()
    action()
    return 1000 * (perf_counter() - began)

def cells(number, model):
    case = case_of(Asked(model=model, acceptance_rate=0.5 + 0.01 * number))
    return timed(lambda: finish(grid(case)))

MODELS = {"a dense model": "Llama-3.1-8B", "a mixture of experts": "Qwen3-30B-A3B"}
result = {
    f"32 draft lengths × 512 batches, {name}": [cells(n, model) for n in range(20)]
    for name, model in MODELS.items()
}
"""

DRAG = """
from js import Event, Object, document, requestAnimationFrame
from pyodide.ffi import create_once_callable, to_js

bubbling = to_js({"bubbles": True}, dict_converter=Object.fromEntries)

async def drag(key, values):
    field, times = document.querySelector(f"#cost-{key}"), []
    for value in values:
        field.value = str(value)
        times.append(timed(lambda: field.dispatchEvent(Event.new("input", bubbling))))
        frame = asyncio.Future()
        requestAnimationFrame(create_once_callable(lambda _: frame.set_result(None)))
        await frame
    return times

result["a drag of the batch"] = await drag("batch", range(200, 500, 3))
result["a drag of the acceptance rate"] = await drag("alpha", [n / 100 for n in range(100)])
"""


def middle(times: list[float]) -> float:
    """The median."""
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Print the table."""
    here: dict[str, Any] = {}
    exec(MEASURE, here)
    bringing = COME.format(name="map") + BRING
    inside = run_inside(f"{bringing}\n{MEASURE}\nresult['came'] = came")
    fetched, imported = inside.pop("came")
    print(f"{'milliseconds, n = 20':<42}{'page':>8}{'p95':>8}{'here':>8}")
    for name, times in inside.items():
        late = sorted(times)[int(len(times) * 0.95)]
        print(f"{name:<42}{middle(times):>8.1f}{late:>8.1f}{middle(here['result'][name]):>8.1f}")
    for place, found in (("page", inside), ("here", here["result"])):
        many, single = found["a thousand runs, k = 4"], found["one run of the core"]
        ratio = 1000 * middle(single) / middle(many)
        print(f"{place}: a thousand runs of the core ÷ a thousand at once: {ratio:.0f}")
    costs: dict[str, Any] = {}
    exec(GRID, costs)
    timing = COME.format(name="cost-batch") + GRID + DRAG
    for name, times in run_inside(timing, "?lab=cost").items():
        late, native = sorted(times)[int(len(times) * 0.95)], costs["result"].get(name)
        own = f"{middle(native):>8.1f}" if native else ""
        print(f"{name:<54}{middle(times):>8.1f}{late:>8.1f}{own}")
    print(f"NumPy in the page: fetched and unpacked in {fetched:.0f}, imported in {imported:.0f}")


if __name__ == "__main__":
    main()
