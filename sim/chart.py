"""What a chart of the text is: a Vega-Lite specification, its data for a scene, and its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sim.markup import Markup, joined, tag
from sim.run import Run

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


class Chart(NamedTuple):
    """A chart by the name of its place on the page."""

    name: str
    title: str
    """What it shows, for those who hear of its table."""
    spec: Callable[[Mapping[str, str]], dict[str, Any]]
    """The specification in these colours; its data sets are named, and empty."""
    data: Callable[[Run, int], Data]
    """The rows for a run at a tick."""
    table: Callable[[Run, int, Data], Table]
    """The same numbers for those who do not see the chart, with those of `spread` once there."""
    spread: Callable[[Run, int], Rows] | None = None
    """The rows of `OTHERS`, which take a thousand runs, and so NumPy: they come later, or never."""
    renderer: str = "svg"
    """Or "canvas", where there are too many marks for elements of their own."""


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
                "symbolOpacity": 1,
            },
        },
    }


def table_html(chart: Chart, table: Table) -> Markup:
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


def _linked(text: str, query: str) -> str:
    """Text that sets a scene of its own, where it has one."""
    return tag("a", text, href=f"./{query}", data_scene="chart") if query else text
