"""The charts of the costs on a machine: a pass by its positions, and speedup by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.chart import LINES, Chart, Data, Rows, Stop, Table, here, specification
from sim.labs.cost_settings import Priced
from sim.labs.measured_chart import measured_data, measured_spec, measured_stops, measured_table
from sim.labs.pricing import LARGEST
from sim.passes import Roofs
from sim.words import count, many, three_digits

# A pass by its positions

READING, COMPUTING = "reading weights and cache", "computing"
WHOLE = "the pass, or your curve"
DEEP = 6
"""How far below the shortest pass a roof is drawn, as a ratio."""
POINTS = 48
"""Places that a line is drawn through."""


WIDEST = 3
"""Of the scene's passes the one with most positions, named above its point, the others below."""


def _logarithmic(most: float) -> list[int]:
    """Whole numbers from 1 to `most`, evenly far apart on a logarithmic axis."""
    return sorted({round(most ** (index / POINTS)) for index in range(POINTS + 1)})


class Pass(NamedTuple):
    """A pass of this scene: what it is, the positions in it, and its time."""

    what: str
    positions: int
    seconds: float | None


def passes(given: Priced) -> list[Pass]:
    """One position, and those of a sequence, alone; then those of the batch."""
    asked, case = given.asked, given.case
    width = 1 + asked.k
    found = [Pass("one position, alone", 1, case.seconds(1, 1))]
    if asked.k:
        found.append(Pass(f"k + 1 = {width}, alone", width, case.seconds(1, width)))
    if asked.batch > 1:
        plain = Pass(f"batch = {asked.batch}", asked.batch, case.seconds(asked.batch, 1))
        found.append(plain)
        if asked.k:
            whole = asked.batch * width
            what = f"batch × (k + 1) = {count(whole)}"
            found.append(Pass(what, whole, case.seconds(asked.batch, width)))
    return found


def _roofs(given: Priced, positions: int) -> Roofs:
    """Of a pass over so many positions, shared evenly by the batch, each with its context."""
    case, batch = given.case, given.asked.batch
    one = case.roofs(batch, 1)
    weights = case.model.weights_read(batch, case.width) / case.machine.bandwidth
    read = case.model.weights_read(positions, case.width) / case.machine.bandwidth
    return Roofs(one.memory - weights + read, one.arithmetic * positions / batch)


def pass_data(given: Priced) -> Data:
    """Both roofs, the scene's passes, and the curve of one's own."""
    asked = given.asked
    shown = passes(given)
    most = max(4 * given.case.knee, 4 * shown[-1].positions)
    if asked.of_a_device:
        most = asked.curve[-1][0]
    roofs: Rows = []
    for n in _logarithmic(most):
        both = _roofs(given, n)
        roofs += [
            {"positions": n, "ms": 1000 * both.memory, "what": READING},
            {"positions": n, "ms": 1000 * both.arithmetic, "what": COMPUTING},
        ]
    points: Rows = [
        {
            "positions": one.positions,
            "ms": 1000 * one.seconds,
            "what": one.what,
            "level": level,
            "below": level < WIDEST and not asked.of_a_device,
            "side": "left" if one.positions < most**0.45 else "right",
        }
        for level, one in enumerate(shown)
        if one.seconds is not None
    ]
    longer = [{"positions": r["positions"], "ms": r["ms"]} for r in _longer(roofs)]
    least = min(row["ms"] for row in longer) / DEEP
    roofs = [row for row in roofs if row["ms"] >= least and not asked.of_a_device]
    curve: Rows = [{"positions": n, "ms": ms} for n, ms in asked.curve]
    return {
        "roofs": roofs,
        "pass": [{**row, "what": WHOLE} for row in curve or longer],
        "passes": points,
        "here": points[-1:],
    }


def _longer(roofs: Rows) -> Rows:
    """The longer of each two."""
    pairs = zip(roofs[::2], roofs[1::2], strict=True)
    return [max(pair, key=lambda row: float(row["ms"])) for pair in pairs]


def pass_table(given: Priced, _data: Data) -> Table:
    """The scene's passes, and how long reading and computing take in each."""
    rows = []
    for one in passes(given):
        batch = given.asked.batch if one.what.startswith("batch") else 1
        roofs = given.case.roofs(batch, one.positions // batch)
        took = "–" if one.seconds is None else three_digits(1000 * one.seconds)
        parts = (three_digits(1000 * roofs.memory), three_digits(1000 * roofs.arithmetic))
        if given.asked.of_a_device:
            parts = "–", "–"
        rows.append([one.what, count(one.positions), *parts, took])
    return Table(["pass", "positions", "reading, ms", "computing, ms", "takes, ms"], rows)


def pass_stops(given: Priced, data: Data) -> list[Stop]:
    """The places of the line, and the scene's passes by name."""
    line = {row["positions"]: f"{three_digits(row['ms'])} ms" for row in data["pass"]}
    named = {
        row["positions"]: f"{row['what']}: {three_digits(row['ms'])} ms" for row in data["passes"]
    }
    return [
        Stop(n, f"A pass over {many(round(n), 'position')}: {text}.")
        if n not in named
        else Stop(n, f"{named[n]}.")
        for n, text in sorted({**line, **named}.items())
    ]


def _log(field: str, title: str, **scale: Any) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "nice": False, **scale},
        "axis": {"grid": False, "format": "~s" if field == "positions" else "~r", "tickCount": 5},
    }


def pass_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Time by positions, both logarithmic, with the two roofs that the pass is the longer of."""
    place = {
        "x": _log("positions", "positions in the pass, of all sequences together"),
        "y": _log("ms", "milliseconds", padding=14),
    }
    kinds = {
        "field": "what",
        "type": "nominal",
        "scale": {
            "domain": [READING, COMPUTING, WHOLE],
            "range": [colours["bonus"], colours["rejected"], colours["verify"]],
        },
        "legend": LINES,
    }
    words = {
        "type": "text",
        "fontSize": 12,
        "color": colours["ink"],
        "align": {"expr": "datum.side"},
        "dx": {"expr": "datum.side == 'left' ? 6 : -8"},
        "dy": {"expr": "datum.below ? 18 + 16 * datum.level : -16"},
    }
    return specification(
        colours,
        "Lines: time of a pass by the positions in it, both axes logarithmic: what reading takes, "
        "what computing takes, and, thick, the pass, which is the longer. Points: passes over one "
        "position and over k + 1, of one sequence alone and of the whole batch.",
        [
            {
                "data": {"name": "pass"},
                "mark": {"type": "line", "strokeWidth": 5, "opacity": 0.3},
                "encoding": {**place, "color": kinds},
            },
            {
                "data": {"name": "roofs"},
                "mark": {"type": "line", "strokeWidth": 1.5, "clip": True},
                "encoding": {**place, "color": kinds},
            },
            {
                "data": {"name": "passes"},
                "mark": {"type": "point", "size": 90, "filled": True, "opacity": 1},
                "encoding": {**place, "color": {"value": colours["verify"]}},
            },
            here(colours, **place),
            {
                "data": {"name": "passes"},
                "mark": words,
                "encoding": {**place, "text": {"field": "what"}},
            },
        ],
    )


# Speedup by batch

LENGTHS = (1, 2, 4, 8, 16)
"""Draft lengths that are always shown."""


def batch_data(given: Priced) -> Data:
    """Speedup by batch, a line for each of some draft lengths and one for the best."""
    lines: Rows = []
    for batch in _logarithmic(LARGEST):
        row = given.speedups[batch - 1]
        for k in LENGTHS:
            lines.append({"batch": batch, "speedup": row[k - 1], "k": str(k)})
        own = row[given.asked.k - 1] if given.asked.k else 1.0
        lines.append({"batch": batch, "speedup": own, "k": YOURS})
    known = [row for row in lines if row["speedup"] is not None]
    place = {"batch": given.asked.batch, "speedup": given.speedup}
    return {
        "lines": known,
        "even": [{"speedup": 1.0}],
        "here": [place] if given.speedup is not None else [],
    }


YOURS = "yours"


def batch_table(given: Priced, _data: Data) -> Table:
    """Powers of two, and the batch that is set."""
    batches = sorted({2**n for n in range(10)} | {given.asked.batch})
    lengths = sorted({*LENGTHS, given.asked.k} - {0})
    return Table(
        ["batch", *(f"k = {k}" for k in lengths)],
        [
            [str(batch), *(_times(given.speedups[batch - 1][k - 1]) for k in lengths)]
            for batch in batches
        ],
    )


def _times(speedup: float | None) -> str:
    return "–" if speedup is None else f"{speedup:.2f}×"


def batch_stops(given: Priced, _data: Data) -> list[Stop]:
    """Each batch that is drawn, with the draft length that is set and the shown ones."""
    stops = []
    for batch in sorted({*_logarithmic(LARGEST), given.asked.batch}):
        row = given.speedups[batch - 1]
        lengths = sorted({*LENGTHS, given.asked.k} - {0})
        each = ", ".join(f"k {k} {_times(row[k - 1])}" for k in lengths)
        stops.append(Stop(batch, f"Batch {batch}: {each}."))
    return stops


def batch_spec(colours: Mapping[str, str]) -> dict[str, Any]:
    """Lines of speedup, and the one where nothing is gained."""
    batch = _log("batch", "batch: sequences that share each pass", domain=[1, LARGEST])
    batch["axis"] = {"grid": False, "values": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]}
    speedup = {
        "field": "speedup",
        "type": "quantitative",
        "title": "speedup",
        "scale": {"zero": True},
        "axis": {"tickCount": 5, "labelExpr": "datum.label + '×'"},
    }
    thick = {"condition": {"test": f"datum.k == '{YOURS}'", "value": 3}, "value": 1.5}
    hues = ("accepted", "bonus", "proposed", "rejected", "evicted", "ink")
    kinds = {
        "field": "k",
        "type": "nominal",
        "scale": {
            "domain": [*map(str, LENGTHS), YOURS],
            "range": [colours[hue] for hue in hues],
        },
        "legend": {
            **LINES,
            "columns": {"expr": "width < 420 ? 3 : 6"},
            "labelExpr": f"datum.label == '{YOURS}' ? '{YOURS}' : 'k = ' + datum.label",
        },
    }
    return specification(
        colours,
        "Lines: speedup by batch, on a logarithmic axis, for draft lengths 1, 2, 4, 8 and 16, and "
        "for the one that is set; the level line at 1 is plain decoding. The point is the batch "
        "and the draft length that are set.",
        [
            {
                "data": {"name": "even"},
                "mark": {"type": "rule", "strokeWidth": 1.5, "color": colours["ink"]},
                "encoding": {"y": speedup},
            },
            {
                "data": {"name": "lines"},
                "mark": {"type": "line"},
                "encoding": {
                    "x": batch,
                    "y": speedup,
                    "color": kinds,
                    "strokeWidth": thick,
                },
            },
            here(colours, x=batch, y=speedup),
        ],
    )


CHARTS = (
    Chart(
        "cost-pass", "A pass by its positions", pass_spec, pass_data, pass_table, stops=pass_stops
    ),
    Chart("cost-batch", "Speedup by batch", batch_spec, batch_data, batch_table, stops=batch_stops),
    Chart(
        "cost-measured",
        "Measured against predicted speedup",
        measured_spec,
        measured_data,
        measured_table,
        stops=measured_stops,
    ),
)
CAPTIONS = (
    "What a pass takes by the positions in it, the longer of two: computing rises, and reading is "
    "level, but in a mixture of experts. Where the lines cross, checking drafts stops being free.",
    "Speedup by batch for some draft lengths. Below the line at 1× speculation loses.",
    "Leviathan et al. 2023, Table 4: what they measured against what the formula says of their "
    "inputs. Above the diagonal it was faster than that.",
)
