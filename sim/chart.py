"""What a chart is: a Vega-Lite specification, its data for an input, its table, its clicks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from sim.markup import Markup, joined, tag
from sim.work import Work

Input = TypeVar("Input")

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

Rows = list[dict[str, Any]]
Data = dict[str, Rows]
"""The rows of a specification's named data sets."""

OTHERS = "others"
"""The data set of runs with other seeds, where a chart has one."""

LINES = {"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2}
"""A legend that shows lines as they are drawn, broken ones too."""


class Table(NamedTuple):
    """A chart's numbers: a heading for each column, and rows of text."""

    columns: Sequence[str]
    rows: list[list[str]]
    links: Sequence[str] = ()
    """Where a row has one: the query of the scene that it is about."""


class Stop(NamedTuple):
    """A place of a chart that the pointer or arrow keys can be at, and the values there."""

    x: object
    """By the chart's own axis: a number, or the name of a bar."""
    text: str
    y: object | None = None
    """Where two numbers make a place; else it is a whole upright line."""


def _no_place(_row: Mapping[str, Any]) -> Mapping[str, object]:
    return {}


def _no_stops(_given: object, _data: Data) -> Sequence[Stop]:
    return ()


class Chart(NamedTuple, Generic[Input]):
    """A chart by the name of its place on the page.

    Its input is whatever its numbers follow from: a run at a tick, or the settings of a lab. Two
    inputs that are equal are drawn alike.
    """

    name: str
    title: str
    """What it shows, for those who hear of its table."""
    spec: Callable[[Mapping[str, str]], dict[str, Any]]
    """The specification in these colours; its data sets are named, and empty."""
    data: Callable[[Input], Data]
    """The rows for an input."""
    table: Callable[[Input, Data], Table]
    """The same numbers for those who do not see the chart, with those of `spread` once there."""
    spread: Callable[[Input], Work[Rows]] | None = None
    """The rows of `OTHERS`, which take NumPy: they come later, or never."""
    others: str = "A thousand other seeds"
    """What `spread` runs, in notes that say how far it has come."""
    clicked: Callable[[Mapping[str, Any]], Mapping[str, object]] = _no_place
    """What changes, by key, where the reader clicks a mark: given its row of data as JSON holds it,
    or that of a legend's entry. Nothing for a row that leads nowhere."""
    renderer: str = "svg"
    """Or "canvas", where there are too many marks for elements of their own."""
    stops: Callable[[Input, Data], Sequence[Stop]] = _no_stops
    """Where there are values to read, from left to right, with those of `spread` once there."""

    @property
    def has_stops(self) -> bool:
        """Whether there are values to read."""
        return self.stops is not _no_stops


def specification(colours: Mapping[str, str], description: str, layer: list[Any]) -> dict[str, Any]:
    """A specification of these layers, as wide as its place, in the page's own look."""
    text = {"labelColor": colours["muted"], "titleColor": colours["muted"]}
    return {
        "$schema": SCHEMA,
        "description": description,
        "width": "container",
        "height": 240,
        "autosize": {"type": "fit", "contains": "padding", "resize": True},
        "background": "transparent",
        "layer": layer,
        "config": {
            "font": "system-ui, sans-serif",
            "view": {"stroke": None},
            "axis": {
                **text,
                "gridColor": colours["line"],
                "domainColor": colours["line"],
                "tickColor": colours["line"],
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
            },
            "legend": {
                **text,
                "labelFontSize": 12,
                "orient": "top",
                "title": None,
                "labelLimit": 320,
                "symbolOpacity": 1,
            },
        },
    }


def here(colours: Mapping[str, str], **encoding: Any) -> dict[str, Any]:
    """The layer that says “you are here”: this scene's place, drawn alike in every chart.

    Its rows are the data set of that name.
    """
    point = {"type": "point", "filled": True, "size": 150, "opacity": 1}
    ringed = {"color": colours["ink"], "stroke": colours["ground"], "strokeWidth": 2}
    return {"data": {"name": "here"}, "mark": {**point, **ringed}, "encoding": encoding}


def moved(stops: Sequence[Stop], at: int, key: str) -> int | None:
    """Where a key leads from a stop: as far as there are any; None for a key that is none of these.

    Stops that are two numbers go column by column, from the foot of each.
    """
    column = 1
    if stops[0].y is not None:
        column = sum(stop.x == stops[0].x for stop in stops)
        foot = at - at % column
        along = {"ArrowUp": min(at + 1, foot + column - 1), "ArrowDown": max(at - 1, foot)}
        if key in along:
            return along[key]
    last = len(stops) - 1
    across = {
        "ArrowRight": at + column if at + column <= last else at,
        "ArrowLeft": at - column if at >= column else at,
        "Home": 0,
        "End": last,
    }
    return across.get(key)


def table_html(chart: Chart[Any], table: Table) -> Markup:
    """The inside of a table element."""
    links = table.links or [""] * len(table.rows)
    rows = [
        tag(
            "tr",
            tag("th", _linked(first, link), scope="row"),
            *(tag("td", cell) for cell in rest),
        )
        for (first, *rest), link in zip(table.rows, links, strict=True)
    ]
    return joined(
        [
            tag("caption", chart.title, class_="sr-only"),
            tag("thead", tag("tr", *(tag("th", text, scope="col") for text in table.columns))),
            tag("tbody", *rows),
        ]
    )


def figure_html(chart: Chart[Input], caption: str, given: Input) -> Markup:
    """A place for a chart in the section of a lab, with its numbers for this input."""
    numbers = tag("table", table_html(chart, chart.table(given, chart.data(given))))
    return tag(
        "figure",
        tag("figcaption", caption),
        tag("div", class_="drawing"),
        tag("p", class_="chart-note", role="status"),
        tag("details", tag("summary", "The numbers"), numbers),
        class_="chart",
        id=f"chart-{chart.name}",
    )


def _linked(text: str, query: str) -> str:
    """Text that sets a scene of its own, where it has one."""
    return tag("a", text, href=f"./{query}", data_scene="chart") if query else text
