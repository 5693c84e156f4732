"""The chart of what a pass takes on the reader's own device, by the positions in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sim.chart import LINES, Chart, Data, Stop, Table, specification
from sim.labs.curve import doubling, to_three_digits
from sim.theory import pass_time
from sim.words import three_digits
from sim.work import Work, finish, within

if TYPE_CHECKING:
    from sim.labs.pricing import Curve
    from sim.labs.writer import Draft, Models

WIDTHS = (1, 2, 3, 5, 9, 17, 33)
"""Positions of the passes that are timed: one, and with as many drafts as people use."""

CONTEXT = 256
"""Positions that are kept before them."""

TIMES = 15
"""How often each is timed; the shortest counts, for what else a device does only adds."""

STEPS = 10
"""Steps of the clock that it is repeated for each time: some browsers count milliseconds only."""

CARD_KNEE = round(989e12 / 3.35e12)
"""Positions at which an H100 SXM begins to compute longer than it reads weights of two bytes: its
data sheet's operations a second, dense, by its bytes a second."""

DEVICE, CARD = "this device", "an H100, by its data sheet"


class Timed(NamedTuple):
    """What a device takes; nothing before it is timed."""

    seconds: tuple[tuple[int, float], ...] = ()
    """Of a pass, by the positions in it."""
    steps: Mapping[str, float] = MappingProxyType({})
    """Seconds of one draft, by who proposes it."""

    @property
    def curve(self) -> Curve:
        """The passes as the costs on a machine take them."""
        return to_three_digits(tuple((float(n), 1000 * spent) for n, spent in self.seconds))


def measure(models: Models, clock: Callable[[], float]) -> Work[Timed]:
    """Time passes of the target, and steps of the drafts, on this device."""
    from sim.labs.transformer import Kept
    from sim.labs.writer import drafts_of

    target, tokens = models.target, [ord("a")] * (CONTEXT + max(WIDTHS))
    kept, drafts = Kept(target.shape), drafts_of(models)
    yield from within(target.forward(tokens[:CONTEXT], kept, wanted=0), 0, 0.4)
    for draft in drafts.values():
        yield from within(draft.chances(tokens[:CONTEXT], 1.0), 0.4, 0.5)

    def over(positions: int) -> None:
        finish(target.forward(tokens[CONTEXT : CONTEXT + positions], kept))
        kept.roll_back(CONTEXT)

    def step(draft: Draft) -> None:
        finish(draft.chances(tokens[: CONTEXT + 1], 1.0))
        draft.settle(CONTEXT)

    passes = {width: partial(over, width) for width in WIDTHS}
    steps = {name: partial(step, draft) for name, draft in drafts.items()}
    best: dict[int | str, float] = {}
    least = STEPS * _step_of(clock)
    for turn in range(TIMES):
        for number, (what, once) in enumerate((passes | steps).items()):
            best[what] = min(best.get(what, inf), _seconds(once, clock, least))
            yield (1 + (turn + number / len(passes | steps)) / TIMES) / 2
    return Timed(
        tuple((width, best[width]) for width in WIDTHS), {name: best[name] for name in steps}
    )


def _step_of(clock: Callable[[], float]) -> float:
    """Seconds that a clock counts at once."""
    began = now = clock()
    while now == began:
        now = clock()
    return now - began


def _seconds(once: Callable[[], None], clock: Callable[[], float], least: float) -> float:
    """What it takes once, on average over so many times that they take that long."""
    began, times, spent = clock(), 0, 0.0
    while spent < least:
        once()
        times += 1
        spent = clock() - began
    return spent / times


def measured_said(timed: Timed) -> str:
    """What it comes to, in a sentence."""
    (_, one), *_ = timed.seconds
    five = dict(timed.seconds)[5]
    knee = doubling(timed.curve)
    beyond = f"more than {max(WIDTHS)}" if knee is None else f"about {knee:.0f}"
    return (
        f"A pass over one position takes {three_digits(1000 * one)} ms here, one over five "
        f"{five / one:.1f} times that. It has doubled at {beyond} positions; on an H100 it has not "
        f"begun to rise before {CARD_KNEE}."
    )


def _rows(timed: Timed) -> list[tuple[int, float, float]]:
    """Positions; the time of a pass on this device and on a card, each by that over one."""
    return [(n, spent / timed.seconds[0][1], pass_time(n, CARD_KNEE)) for n, spent in timed.seconds]


def _data(timed: Timed) -> Data:
    rows = _rows(timed)
    device = [{"positions": n, "times": times, "where": DEVICE} for n, times, _ in rows]
    card = [{"positions": n, "times": times, "where": CARD} for n, _, times in rows]
    return {"points": device + card}


def _table(timed: Timed, _data: Data) -> Table:
    return Table(
        ["positions", "milliseconds here", "÷ one position, here", "on an H100"],
        [
            [str(n), three_digits(1000 * spent), f"{times:.2f}", f"{card:.2f}"]
            for (_, spent), (n, times, card) in zip(timed.seconds, _rows(timed), strict=True)
        ],
    )


def _stops(timed: Timed, _data: Data) -> Sequence[Stop]:
    return [
        Stop(
            n,
            f"{n} {'position' if n == 1 else 'positions'} in a pass: "
            f"{three_digits(1000 * spent)} ms here, {spent / timed.seconds[0][1]:.2f} times one; "
            f"on an H100 {pass_time(n, CARD_KNEE):.2f} times.",
        )
        for n, spent in timed.seconds
    ]


def _spec(colours: Mapping[str, str]) -> dict[str, Any]:
    encoding = {
        "x": {
            "field": "positions",
            "type": "quantitative",
            "title": "positions in the pass",
            "scale": {"type": "log", "domain": [1, max(WIDTHS)], "nice": False},
            "axis": {"values": list(WIDTHS), "grid": False},
        },
        "y": {
            "field": "times",
            "type": "quantitative",
            "title": "time, passes over one position",
            "scale": {"type": "log", "domainMin": 0.8, "nice": False},
            "axis": {"values": [1, 2, 4, 8, 16, 32], "format": "d"},
        },
        "color": {
            "field": "where",
            "type": "nominal",
            "scale": {
                "domain": [DEVICE, CARD],
                "range": [colours["verify"], colours["muted"]],
            },
            "legend": LINES,
        },
        "strokeDash": {
            "field": "where",
            "type": "nominal",
            "scale": {"domain": [DEVICE, CARD], "range": [[1, 0], [6, 4]]},
        },
    }
    return specification(
        colours,
        "Two lines: the time of a pass by the positions in it, both axes logarithmic. On this "
        "device it rises almost from the first position on, on a data-centre card it is level.",
        [
            {
                "data": {"name": "points"},
                "mark": {"type": "line", "strokeWidth": 2, "point": True},
                "encoding": encoding,
            }
        ],
    )


WIDTH_CHART = Chart(
    name="text-width",
    title="Time of a pass by the positions in it, here and on a data-centre card",
    spec=_spec,
    data=_data,
    table=_table,
    stops=_stops,
)
