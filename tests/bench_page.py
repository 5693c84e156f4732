"""How long the page's Python takes: `python3 -m tests.bench_page` prints a table.

Runs the real page in a real Chromium and times its own frames from inside, in one run: a drag of
the acceptance rate at tick 1200, playing at 60 units a second, and drawing changed cells against
drawing all of them. Times are of Python and of the drawing calls it makes, not of rasterising.
"""

from __future__ import annotations

from tests.inside import run_inside

INSIDE = """
import asyncio, gc
from time import perf_counter
from js import requestAnimationFrame
from pyodide.ffi import create_once_callable
from sim import session as actions
from static.page import Page

gc.unfreeze()
page = next(thing for thing in gc.get_objects() if isinstance(thing, Page))
gc.freeze()
now = 1000.0

async def next_frame():
    # Time is taken between real frames, so that what a frame drew has been handed on.
    arrived = asyncio.get_event_loop().create_future()
    requestAnimationFrame(create_once_callable(lambda _: arrived.set_result(None)))
    await arrived

async def timed(actions):
    times = []
    for action in actions:
        await next_frame()
        began = perf_counter()
        action()
        times.append(1000 * (perf_counter() - began))
    return times

def frame():
    global now
    now += 1 / 60
    page._frame(now)

def drag(key, value):
    page.do(actions.change, {key: value}, ghost=True)
    frame()

def quantiles(times):
    times = sorted(times)
    return [times[len(times) // 2], times[int(len(times) * 0.95)], times[-1], len(times)]

page.do(actions.pause)
page.do(actions.change, {"tick": 1200})
drag("alpha", 0.5)
page._frames.ask = lambda: None  # this file asks for the frames
rates = [0.3 + 0.004 * i for i in range(150)]
result = {
    "drag of the rate, tick 1200": quantiles(
        await timed([lambda r=r: drag("alpha", r) for r in rates])),
    "drag of the length, tick 1200": quantiles(
        await timed([lambda i=i: drag("k", 1 + i % 16) for i in range(150)])),
}
page.do(actions.reset)
page.do(actions.change, {"tick": 0, "speed": 60})
page.do(actions.play)
frame()
result["frame, playing at 60"] = quantiles(await timed([frame] * 600))
page.do(actions.pause)
page.do(actions.reset)
frame()

board, colours = page._board, page._colours.screen("light")
width, ratio = page._box.clientWidth, 1.0
scenes = [page.session.run.slots(tick) for tick in range(200, 500)]

def whole(slots):
    board._shown = [""] * len(slots)  # the sheet stays
    board.draw(slots, False, width, ratio, colours)

few = await timed([lambda s=s: board.draw(s, False, width, ratio, colours) for s in scenes])
every = await timed([lambda s=s: whole(s) for s in scenes])
result["drawing changed cells"] = quantiles(few)
result["drawing all 512 cells"] = quantiles(every)
result["ratio"] = sum(every) / sum(few)
"""


def main() -> None:
    """Print the table."""
    results = run_inside(INSIDE)
    ratio = results.pop("ratio")
    print(f"{'milliseconds':<28}{'median':>8}{'p95':>8}{'worst':>8}{'n':>6}")
    for name, (median, p95, worst, n) in results.items():
        print(f"{name:<28}{median:>8.2f}{p95:>8.2f}{worst:>8.2f}{n:>6}")
    print(f"all cells ÷ changed cells, summed over the same ticks: {ratio:.1f}")


if __name__ == "__main__":
    main()
