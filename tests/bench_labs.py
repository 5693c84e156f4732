"""How long the charts' numbers take: `python3 -m tests.bench_labs` prints a table.

Runs inside the real page in a real Chromium, and on this Python, the same code: a thousand runs of
1200 ticks at once against single runs of the core, in one run and alternating; what charts make of
the thousand; the map of 16 × 99 cells; the speedups on a machine by draft length and batch, with
drags of its sliders; 100,000 passes of speculative sampling; and a frame of a text that grows: a
round of its passes, and all that is shown of it. Bringing NumPy is timed in the page, once. Then a
server: events a second, what a request costs among many, and a frame of its small scene. Last the
model that writes (bench_text.py).
"""

from __future__ import annotations

from typing import Any

from tests import bench_text
from tests.inside import middle, run_inside

COME = """
import asyncio
from js import document

document.querySelector("#chart-{name}").scrollIntoView()
while not document.querySelector("#chart-{name} .drawing :is(svg, canvas)"):
    await asyncio.sleep(0.05)
"""
"""Bring a chart, and with it the lab that it is of."""

BRING = """
import asyncio
from time import perf_counter
from js import bonusTokenStart, document

began = perf_counter()
await bonusTokenStart.numpy()
fetched = perf_counter()
import numpy
came = [1000 * (fetched - began), 1000 * (perf_counter() - fetched)]
lab = document.querySelector("#lab-sampling")
lab.scrollIntoView()
while not lab.hasAttribute("data-here"):
    await asyncio.sleep(0.05)
"""

MEASURE = """
from time import perf_counter
from sim.labs import map_chart
from sim.labs.ensemble import RUNS, Ensemble, coins, coins_kept, yields
from sim.params import HORIZON, Params
from sim.run import Luck, Run, luck_of
from sim.labs.run_charts import luck_spread, yield_spread
from sim.labs.sampling_draw import Drawn
from sim.labs.sampling_exact import exact
from sim.labs.sampling_rows import made_language
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_told import text_html, verdict_html, written
from sim.labs.sampling_chart import written_data
from sim.labs.sampling_verdict import luck
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

rule = exact(models_of(made_language(8, 0.7, 1, 1, 1)), "standard", 4)
band = luck(rule, 20_000)

def passes(seed):
    drawn = Drawn(rule, round(100_000 * rule.tokens_per_pass), seed)
    taken = timed(lambda: finish(drawn.work()))
    assert 98_000 < drawn.passes < 102_000, drawn.passes
    return taken

def frames(seed):
    drawn = Drawn(rule, 20_000, seed)
    work = drawn.work()
    taken = []
    for _ in range(8):
        taken.append(timed(lambda: (
            next(work),
            text_html(drawn),
            verdict_html(rule, drawn, None, None, band, False),
            written_data(written(rule, drawn, False)),
        )))
    return max(taken)

# the first of each also loads and looks up
together(), alone(0), cells(0), chart(50), passes(0), frames(0)
many, longer, single, curves, shares, map_, drawn, growing = [], [], [], [], [], [], [], []
for number in range(1, 21):
    many.append(timed(together))
    longer.append(timed(lambda: together(32)))
    single.append(timed(lambda: alone(number)))
    curve, share = chart(number)
    curves.append(curve)
    shares.append(share)
    map_.append(timed(lambda: cells(number)))
    drawn.append(passes(number))
    growing.append(frames(number))
result = {
    "a thousand runs, k = 4": many,
    "a thousand runs, k = 32": longer,
    "one run of the core": single,
    "bands of tokens per pass, with the runs": curves,
    "bands of what a pass yields": shares,
    "map of 16 × 99 cells": map_,
    "100,000 passes of sampling, 8 words": drawn,
    "a frame while a text grows, the longest": growing,
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


HERE = """
import asyncio
from js import document
while not document.querySelector("#lab-serving[data-here]"):
    await asyncio.sleep(0.05)
"""

SERVING = """
from time import process_time
from sim.labs.service import Asked, scene_of, serve
from sim.work import finish

def served(requests, k=0):
    server = scene_of(Asked(slots=8192, requests=requests, draft_length=k)).server()
    began = process_time()
    finish(serve(server))
    took = process_time() - began
    return server.events / took, took / requests

served(100), served(100, 4)
few, drafting = ([served(1000, k) for _ in range(5)] for k in (0, 4))
many = [served(10_000) for _ in range(3)]
result = {
    "events a second": [rate for rate, _ in few],
    "events a second, k = 4": [rate for rate, _ in drafting],
    "cost of a request, 10,000 ÷ 1,000": [
        long[1] / short[1] for long, short in zip(many, few)
    ],
}
"""

FRAMES = """
import asyncio
import gc
from time import perf_counter
from static.labs.serving_stage import Stage

gc.unfreeze()
stage = next(thing for thing in gc.get_objects() if isinstance(thing, Stage))
while not (stage._history and stage._colours):
    await asyncio.sleep(0.05)
stage._frames.ask = lambda: None  # this file asks for the frames
stage.press("start")
stage.press("play")
now, frames = 1000.0, []
while stage.playing:
    began = perf_counter()
    stage._frame(now)
    frames.append(1000 * (perf_counter() - began))
    now += 1 / 60
result["a frame of the small scene, ms"] = frames
"""


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
    serve(here)
    bench_text.main()
    print(f"NumPy in the page: fetched and unpacked in {fetched:.0f}, imported in {imported:.0f}")


def serve(here: dict[str, Any]) -> None:
    """Print how fast the server is, in the page and here, in processor time."""
    exec(SERVING, here)
    inside = run_inside(f"{HERE}\n{SERVING}\n{FRAMES}", "?lab=serving")
    print(f"\n{'a server of 8,192 slots':<42}{'page':>16}{'here':>16}")
    frames = inside.pop("a frame of the small scene, ms")
    for name, found in inside.items():
        print(f"{name:<42}{middle(found):>16,.2f}{middle(here['result'][name]):>16,.2f}")
    late = sorted(frames)[int(len(frames) * 0.95)]
    print(f"a frame of the small scene: {middle(frames):.1f} ms, p95 {late:.1f}, n = {len(frames)}")


if __name__ == "__main__":
    main()
