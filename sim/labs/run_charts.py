"""The charts of runs: what a pass yields, how luck evens out; position_chart.py has the third.

Each shows this run, the theory, and how far a thousand other seeds spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from sim.chart import OTHERS, Chart, Data, Rows, Stop, Table, here, specification
from sim.labs.position_chart import (
    position_data,
    position_spec,
    position_stops,
    position_table,
)
from sim.params import HORIZON
from sim.run import Run
from sim.theory import chances_of_tokens, expected_tokens_per_pass
from sim.words import figure, many
from sim.work import Work, within

THIS_RUN, THEORY, SPREAD = "this run", "theory", "other seeds"
NINE_IN_TEN = "90 % of 1,000 other seeds"


class RunAt(NamedTuple):
    """What a chart of the text shows: a run, as it is right after a tick."""

    run: Run
    tick: int


TICKS = sorted({round(HORIZON ** (index / 59)) for index in range(60)})
"""Ticks at which the runs are compared: dense at first, when luck counts most."""

LEVEL, BROKEN, UPRIGHT = "M-1,0H1", "M-1,0H-.4M.4,0H1", "M0,-1V1"
"""Symbols of the legend."""

TOLD_TICKS = (1, 3, 10, 30, 100, 300, HORIZON)


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def yield_data(run: Run, tick: int) -> Data:
    """How many tokens a verify pass yields: this run's passes until `tick`, and the chances."""
    chances = chances_of_tokens(run.params.rates)
    states = [run.at(at) for at in range(tick + 1)]
    made = Counter(after.num_tokens - before.num_tokens for before, after in pairwise(states))
    passes = states[-1].verify_passes
    here = [{"tokens": n, "share": made[n] / passes} for n in range(1, len(chances) + 1) if passes]
    theory = [{"tokens": n, "share": chance} for n, chance in enumerate(chances, start=1)]
    return {"theory": theory, "here": here}


def yield_spread(run: Run, tick: int) -> Work[Rows]:
    """Between which shares nine in ten of the other seeds are after as many ticks."""
    if not tick:
        return []
    from sim.labs.ensemble import ensemble, spread  # NumPy: the page loads it only for these charts

    runs = yield from within(ensemble(run.params), 0, 0.6)
    shares = yield from within(runs.shares(tick), 0.6, 1)
    low, high = spread(shares)
    return [
        {"tokens": n, "low": float(least), "high": float(most)}
        for n, (least, most) in enumerate(zip(low, high, strict=True), start=1)
    ]


def yield_table(run: Run, tick: int, data: Data) -> Table:
    """The same, a row for each number of tokens."""
    here = {row["tokens"]: _share(row["share"]) for row in data["here"]}
    others = {
        row["tokens"]: f"{_share(row['low'])} to {_share(row['high'])}"
        for row in data.get(OTHERS, ())
    }
    return Table(
        ["tokens of a pass", THIS_RUN, THEORY, NINE_IN_TEN],
        [
            [str(n), here.get(n, "–"), _share(row["share"]), others.get(n, "–")]
            for n, row in enumerate(data["theory"], start=1)
        ],
    )


def yield_stops(run: Run, tick: int, data: Data) -> list[Stop]:
    """The same for each number of tokens."""
    return [
        Stop(row["tokens"], _sentence(many(row["tokens"], "token"), cells))
        for row, (_, *cells) in zip(data["theory"], yield_table(run, tick, data).rows, strict=True)
    ]


def _sentence(place: str, cells: Sequence[str]) -> str:
    """What this run, its theory and the others are somewhere; nothing of what is not there."""
    named = zip((THIS_RUN, THEORY, NINE_IN_TEN), cells, strict=True)
    return f"{place}: {', '.join(f'{name} {cell}' for name, cell in named if cell != '–')}."


def _tokens_per_pass(run: Run, tick: int) -> float:
    state = run.at(tick)
    return (state.num_tokens - 1) / state.verify_passes


def _usual(chances: Sequence[float]) -> int:
    """Tokens that 95 % of the passes do not exceed."""
    reached, n = chances[0], 1
    while reached < 0.95 and n < len(chances):
        reached += chances[n]
        n += 1
    return n


def luck_data(run: Run, tick: int) -> Data:
    """Tokens per pass so far, tick by tick, with its theory and the range that the chart spans."""
    ticks = [at for at in TICKS if at < tick] + ([tick] if tick else [])
    expected = expected_tokens_per_pass(run.params.rates)
    line = [{"tick": at, "value": _tokens_per_pass(run, at)} for at in ticks]
    return {
        "range": [{"value": 1}, {"value": _usual(chances_of_tokens(run.params.rates))}],
        "theory": [{"tick": at, "value": expected} for at in (1, HORIZON)],
        "run": line,
        "here": line[-1:],
    }


def luck_spread(run: Run, tick: int) -> Work[Rows]:
    """Between which values nine in ten of the other seeds are, and the middle half of them."""
    import numpy as np  # the page loads it only for these charts

    from sim.labs.ensemble import ensemble, spread

    runs = yield from within(ensemble(run.params), 0, 0.9)
    ticks = sorted({*TICKS, *TOLD_TICKS, max(tick, 1)})
    values = np.array([runs.tokens_per_pass(at) for at in ticks])
    yield 0.95
    bounds = zip(*spread(values), *spread(values, 0.25, 0.75), strict=True)
    names = "low", "high", "lower", "upper"
    return [
        {"tick": at, **dict(zip(names, map(float, four), strict=True))}
        for at, four in zip(ticks, bounds, strict=True)
    ]


def _luck_rows(run: Run, tick: int, data: Data, ticks: Sequence[int]) -> list[list[str]]:
    """At these ticks: this run as far as it has come, its theory, and nine in ten others."""
    written = partial(figure, "tokens_per_pass")
    line = {at: written(_tokens_per_pass(run, at)) for at in ticks if at <= tick}
    others = {
        row["tick"]: f"{written(row['low'])} to {written(row['high'])}"
        for row in data.get(OTHERS, ())
    }
    theory = written(expected_tokens_per_pass(run.params.rates))
    return [[str(at), line.get(at, "–"), theory, others.get(at, "–")] for at in ticks]


def luck_table(run: Run, tick: int, data: Data) -> Table:
    """The same at a few ticks."""
    ticks = sorted({*TOLD_TICKS, *([tick] if tick else [])})
    return Table(["tick", THIS_RUN, THEORY, NINE_IN_TEN], _luck_rows(run, tick, data, ticks))


def luck_stops(run: Run, tick: int, data: Data) -> list[Stop]:
    """The same at each tick that the chart spans."""
    ticks = sorted({*TICKS, *([tick] if tick else [])})
    rows = _luck_rows(run, tick, data, ticks)
    return [Stop(int(at), _sentence(f"Tick {at}", cells)) for at, *cells in rows]


def _layer(name: str, who: str, mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    """A layer of this run, its theory or the others; one scale for all makes the legend too."""
    return {
        "data": {"name": name},
        "transform": [{"calculate": f"'{who}'", "as": "who"}],
        "mark": mark,
        "encoding": encoding,
    }


def _colour(colours: Mapping[str, str]) -> dict[str, Any]:
    ranged = [colours["verify"], colours["ink"], colours["proposed"]]
    scale = {"domain": [THIS_RUN, THEORY, SPREAD], "range": ranged}
    return {"field": "who", "type": "nominal", "scale": scale}


def _symbols(name: str, colour: dict[str, Any], shapes: Sequence[str]) -> dict[str, Any]:
    """A layer that draws nothing, so that the legend shows marks as they are: paths or names."""
    shape = {**colour, "scale": {"domain": [THIS_RUN, THEORY, SPREAD], "range": list(shapes)}}
    unseen = {"type": "point", "opacity": 0}
    return _layer(name, THEORY, unseen, color=colour, shape=shape)


def yield_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 3: how many tokens a pass yields."""
    n = {
        "field": "tokens",
        "type": "ordinal",
        "title": "tokens of one pass",
        "axis": {"labelAngle": 0, "labelOverlap": True},
    }
    share = {
        "field": "share",
        "type": "quantitative",
        "title": "share of the passes",
        "axis": {"format": ".0%", "tickCount": 5},
    }
    colour = _colour(colours)
    wide = {"width": {"band": 0.7}}
    low, high = {**share, "field": "low"}, {"field": "high"}
    return specification(
        colours,
        "Bars: of this run's passes, the share that yielded so many tokens; ticks: its theory; "
        "upright lines: where nine in ten of a thousand other seeds are.",
        [
            _symbols("theory", colour, ("square", LEVEL, UPRIGHT)),
            _layer("here", THIS_RUN, {"type": "bar", **wide}, x=n, y=share, color=colour),
            {  # so that the next stand out from the bars
                "data": {"name": OTHERS},
                "mark": {"type": "rule", "strokeWidth": 5, "color": colours["ground"]},
                "encoding": {"x": n, "y": low, "y2": high},
            },
            _layer(
                OTHERS,
                SPREAD,
                {"type": "rule", "strokeWidth": 2},
                **{"x": n, "y": low, "y2": high, "color": colour},
            ),
            {
                "data": {"name": "theory"},
                "mark": {"type": "tick", "thickness": 5, "color": colours["ground"], **wide},
                "encoding": {"x": n, "y": share},
            },
            _layer(
                "theory",
                THEORY,
                {"type": "tick", "thickness": 2, "opacity": 1, **wide},
                **{"x": n, "y": share, "color": colour},
            ),
        ],
    )


def luck_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Chart 3, over time: how luck evens out."""
    tick = {
        "field": "tick",
        "type": "quantitative",
        "title": "tick",
        "scale": {"type": "log", "domain": [1, HORIZON], "nice": False},
        "axis": {"values": [1, 3, 10, 30, 100, 300, 1000], "grid": False, "format": ",d"},
    }
    value = {
        "field": "value",
        "type": "quantitative",
        "title": "tokens per pass so far",
        "scale": {"zero": False, "nice": False},
        "axis": {"tickCount": 5},
    }
    both = {
        "x": tick,
        "y": value,
        "color": _colour(colours),
    }
    line = {"type": "line", "clip": True}

    def band(low: str, high: str) -> dict[str, Any]:
        place = {**both, "y": {**value, "field": low}, "y2": {"field": high}}
        return _layer(OTHERS, SPREAD, {"type": "area", "opacity": 0.3, "clip": True}, **place)

    return specification(
        colours,
        "Line: this run's tokens per pass so far, by tick; level line: its theory; bands: where "
        "nine in ten of a thousand other seeds are, and darker the middle half of them.",
        [
            {
                "data": {"name": "range"},
                "mark": {"type": "point", "opacity": 0},
                "encoding": {"y": value},
            },
            _symbols("theory", both["color"], (LEVEL, BROKEN, "square")),
            band("low", "high"),
            band("lower", "upper"),
            _layer("theory", THEORY, {**line, "strokeDash": [4, 4], "strokeWidth": 1.5}, **both),
            _layer("run", THIS_RUN, {**line, "strokeWidth": 2}, **both),
            here(colours, x=tick, y=value),
        ],
    )


RUN_CHARTS: tuple[Chart[RunAt], ...] = (
    Chart(
        "positions",
        "Positions computed by tokens written, with the KV cache and without",
        position_spec,
        lambda at: position_data(*at),
        lambda at, _data: position_table(at.run),
        stops=lambda at, data: position_stops(at.run, data),
    ),
    Chart(
        "yields",
        "How many tokens a pass yields",
        yield_spec,
        lambda at: yield_data(*at),
        lambda at, data: yield_table(*at, data),
        lambda at: yield_spread(*at),
        stops=lambda at, data: yield_stops(*at, data),
    ),
    Chart(
        "luck",
        "Tokens per pass so far, by tick",
        luck_spec,
        lambda at: luck_data(*at),
        lambda at, data: luck_table(*at, data),
        lambda at: luck_spread(*at),
        stops=lambda at, data: luck_stops(*at, data),
    ),
)
