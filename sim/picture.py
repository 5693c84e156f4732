"""The board as SVG text: for the page before Python arrives, for links, for print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from sim import clock
from sim.cache import EMPTY
from sim.marks import GRID, LOOKS, RADIUS, Border, Grid, Look, Shape, columns, frames, shapes
from sim.markup import Markup, escaped, joined, quoted, tag
from sim.params import SLOTS
from sim.run import Run
from sim.story import figures, settings, summary
from sim.strip import Strip, StripCell

SVG = "http://www.w3.org/2000/svg"

CSS_COLOURS = {
    role: f"var(--{role})"
    for role in (
        "ground",
        "panel",
        "line",
        "ink",
        "muted",
        "on",
        "empty",
        "accepted",
        "bonus",
        "rejected",
        "discarded",
        "proposed",
        "evicted",
        "verify",
    )
}
"""A palette for SVG inside the page, whose colours follow the page's theme."""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def _outline(shape: Shape, size: float, left: float, top: float) -> str:
    """Path data of one shape of a mark, in the cell at (left, top)."""
    kind, *numbers, _ = shape

    def at(x: float, y: float) -> str:
        return f"{_number(left + x * size)} {_number(top + y * size)}"

    if kind == "line":
        x1, y1, x2, y2, _ = numbers
        return f"M{at(x1, y1)}L{at(x2, y2)}"
    if kind == "dot":
        return f"M{at(numbers[0], numbers[1])}h0"
    if kind == "ring":
        x, y, radius, _ = numbers
        r, across = _number(radius * size), _number(2 * radius * size)
        return f"M{at(x - radius, y)}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0"
    if kind == "cell":
        side = _number((1 - 2 * RADIUS) * size)
        return f"M{at(RADIUS, RADIUS)}h{side}v{side}h-{side}z"
    inset, width = numbers
    edge = inset + width / 2
    r = _number((RADIUS - edge) * size)
    side = _number((1 - 2 * RADIUS) * size)
    corner = f"a{r} {r} 0 0 1 "
    return (
        f"M{at(RADIUS, edge)}h{side}{corner}{r} {r}v{side}{corner}-{r} {r}"
        f"h-{side}{corner}-{r} -{r}v-{side}{corner}{r} -{r}z"
    )


def _pen(shape: Shape, size: float, colours: Mapping[str, str]) -> dict[str, str]:
    """How the outline of a shape is drawn: as attributes, which every content policy allows."""
    kind, *numbers, role = shape
    colour = colours[role]
    if kind == "cell":  # a wide round pen makes the corners
        width = _number(2 * RADIUS * size)
        pen = {"fill": colour, "stroke": colour, "stroke_width": width}
        return {**pen, "stroke_linejoin": "round"}
    if kind == "dot":
        width = _number(2 * numbers[2] * size)
        return {"stroke": colour, "stroke_width": width, "stroke_linecap": "round"}
    return {"fill": "none", "stroke": colour, "stroke_width": _number(numbers[-1] * size)}


def _paths(
    state: str,
    hollow: bool,
    size: float,
    corners: list[tuple[float, float]],
    colours: Mapping[str, str],
    looks: Mapping[str, Look] = LOOKS,
) -> Markup:
    """Every cell of one state, at these top left corners: one path for each shape of its mark."""
    return joined(
        tag(
            "path",
            d="".join(_outline(shape, size, left, top) for left, top in corners),
            **_pen(shape, size, colours),
        )
        for shape in shapes(state, hollow, looks)
    )


def swatch(
    state: str,
    hollow: bool,
    size: int,
    colours: Mapping[str, str],
    looks: Mapping[str, Look] = LOOKS,
) -> Markup:
    """One cell as an SVG of its own, for a legend."""
    return tag(
        "svg",
        _paths(state, hollow, size, [(0, 0)], colours, looks),
        class_="swatch",
        viewBox=f"0 0 {size} {size}",
        width=size,
        height=size,
        aria_hidden="true",
    )


def _cells(
    slots: Sequence[str],
    hollow: bool,
    colours: Mapping[str, str],
    looks: Mapping[str, Look] = LOOKS,
    grid: Grid = GRID,
) -> Markup:
    """Every cell of the board; `slots` are state names by slot."""
    lefts = _lefts(grid)
    places: dict[str, list[tuple[float, float]]] = {}
    for slot, state in enumerate(slots):
        row, column = divmod(slot, grid.columns)
        places.setdefault(state, []).append((lefts[column], grid.margin + row * grid.pitch))
    return joined(
        _paths(state, hollow, grid.cell, corners, colours, looks)
        for state, corners in places.items()
    )


def _lefts(grid: Grid) -> list[float]:
    inner = columns(grid.width - 2 * grid.margin, grid.cell, grid)
    return [grid.margin + left for left in inner]


def _borders(borders: Sequence[Border], colours: Mapping[str, str], grid: Grid) -> Markup:
    """Lines in the middle of that half of a gap that is on their side."""
    lefts, gap = _lefts(grid), grid.pitch - grid.cell
    paths: dict[str, str] = {}
    for border in borders:
        for row, column, last_row, last_column in frames(border, grid):
            left, top = lefts[column] - gap / 4, grid.margin + row * grid.pitch - gap / 4
            across = _number(lefts[last_column] + grid.cell + gap / 4 - left)
            down = _number((last_row - row) * grid.pitch + grid.cell + gap / 2)
            outline = f"M{_number(left)} {_number(top)}h{across}v{down}h-{across}z"
            paths[border.role] = paths.get(border.role, "") + outline
    return joined(
        tag("path", d=d, fill="none", stroke=colours[role], stroke_width=_number(gap / 3))
        for role, d in paths.items()
    )


def board_svg(
    slots: Sequence[str],
    hollow: bool,
    colours: Mapping[str, str],
    title: str,
    looks: Mapping[str, Look] = LOOKS,
    grid: Grid = GRID,
    borders: Sequence[Border] = (),
) -> Markup:
    """The whole board; `slots` are state names by slot, `colours` maps roles to CSS colours."""
    return tag(
        "svg",
        _cells(slots, hollow, colours, looks, grid),
        _borders(borders, colours, grid),
        xmlns=SVG,
        viewBox=f"0 0 {_number(grid.width)} {_number(grid.height)}",
        role="img",
        aria_label=title,
    )


MARGIN, LINE, CHARACTER = 20, 22, 7.3
"""Of a picture: its margin, the height of a line of text, and about the width of a letter."""


def _text(x: float, y: float, colour: str, text: str, weight: int = 400) -> Markup:
    return tag("text", text, x=f"{x:g}", y=f"{y:g}", fill=colour, font_weight=weight)


def _at(x: float, y: float, drawn: Markup) -> Markup:
    return tag("g", drawn, transform=f"translate({x:g} {y:g})")


LANES = {
    clock.DRAFT: "proposed",
    clock.REJECTED: "rejected",
    clock.VERIFY: "verify",
    clock.WASTED: "rejected",
    clock.REDONE: "evicted",
}
"""The colour of each part of the clock."""

LANES_TOLD = "time, pass by pass: drafting, checking, computing again; plain decoding below"

HATCHED = (clock.REJECTED, clock.WASTED)
"""Parts that are drawn by their edges, filled faintly, since they came to nothing."""


def _lanes(run: Run, tick: int, y: float, colours: Mapping[str, str]) -> Markup:
    """The clock, cut where it begins."""
    drawn = clock.clock(run, tick, int(GRID.width))
    paths = [
        tag(
            "path",
            d=drawn.lane[part],
            fill=colours[role],
            **({"fill_opacity": "0.35", "stroke": colours[role]} if part in HATCHED else {}),
        )
        for part, role in LANES.items()
        if drawn.lane[part]
    ]
    if drawn.evicted:
        paths.append(tag("path", d=drawn.evicted, fill=colours["evicted"]))
    plain = tag(
        "path",
        d=drawn.plain,
        stroke=colours["muted"],
        stroke_width=clock.LANE_HEIGHT,
        stroke_dasharray=drawn.dashes,
    )
    texts = [
        tag("text", f"+{tokens}", x=f"{x:.1f}", y=clock.TALLY, text_anchor="middle")
        for x, tokens in drawn.tallies
    ]
    return tag(
        "svg",
        tag("g", *paths, transform=f"translate({drawn.shift:.1f} 0)"),
        plain,
        tag("path", d=drawn.now, stroke=colours["ink"]),
        tag("g", *texts, fill=colours["ink"], font_size=11),
        x=MARGIN,
        y=f"{y:g}",
        width=GRID.width,
        height=clock.HEIGHT,
        overflow="hidden",
    )


def scene_svg(run: Run, tick: int, colours: Mapping[str, str], told: str | None = None) -> Markup:
    """A scene as a picture that stands by itself: the board, what its marks mean, the numbers that
    count, and the settings that make it again.

    `colours` is one of `PALETTES`; `told` is said in place of the numbers.
    Attributes only, no style and no script, so that it shows under any content policy.
    """
    slots, report = run.slots(tick), run.report(tick)
    hollow, texts = not run.params.kv_cache, figures(report, run)
    top = MARGIN + LINE
    heading = f"KV cache {report['cached']} / {SLOTS}, after tick {tick}"
    parts = [
        _text(MARGIN, MARGIN + 8, colours["ink"], heading, 600),
        _at(MARGIN, top, _cells(slots, hollow, colours)),
    ]
    x, y = float(MARGIN), top + GRID.height + LINE
    for state, look in LOOKS.items():
        if state == EMPTY or state not in slots:
            continue
        length = LINE + CHARACTER * len(look.legend) + 16
        if x + length > MARGIN + GRID.width:
            x, y = float(MARGIN), y + LINE
        parts.append(_at(x, y - 12, _paths(state, hollow, 14, [(0, 0)], colours)))
        parts.append(_text(x + LINE, y, colours["muted"], look.legend))
        x += length
    if tick:
        y += LINE
        parts.append(_text(MARGIN, y, colours["muted"], LANES_TOLD))
        parts.append(_lanes(run, tick, y + 8, colours))
        y += 8 + clock.HEIGHT
    numbers = (
        f"tokens / verify pass {texts['tokens_per_pass']} "
        f"(theory {texts['theory_tokens_per_pass']}) · speedup {texts['speedup']}× "
        f"(theory {texts['theory_speedup']}{texts['theory_times']}) · {texts['tokens']} tokens · "
        f"{texts['positions_computed']} positions computed"
    )
    for text, role in ((told or numbers, "ink"), (settings(run.params), "muted")):
        for line in wrap(text, int(GRID.width / CHARACTER)):
            y += LINE
            parts.append(_text(MARGIN, y, colours[role], line))
    width, height = GRID.width + 2 * MARGIN, y + MARGIN
    return tag(
        "svg",
        tag("rect", width=width, height=f"{height:g}", fill=colours["ground"]),
        *parts,
        xmlns=SVG,
        width=width,
        height=f"{height:g}",
        viewBox=f"0 0 {width} {height:g}",
        role="img",
        aria_label=summary(run, tick),
        font_family="system-ui, sans-serif",
        font_size=13,
    )


# A bar and a strip are written at every tick, so these two put their elements together by hand,
# which takes a tenth of the time.


def bar_parts(parts: Mapping[str, float]) -> Markup:
    """The inside of a bar: its parts by their class, each so many percent long."""
    rects, start = [], 0.0
    for part, length in parts.items():
        rects.append(f'<rect class="{part}" x="{start:.1f}" width="{length:.1f}" height="1"/>')
        start += length
    return Markup("".join(rects))


def strip_html(strip: Strip, free: bool = False, roomy: bool = True) -> Markup:
    """The cells of one pass, or how much of an evicted cache is back.

    Drafts whose verdict may be set are buttons; `free` says whether they can be pressed now, and
    `roomy` whether words have room in the cells.
    """
    if strip.restored is not None:
        back = 100 * strip.restored
        return tag(
            "svg",
            bar_parts({"useful": back, "redone": 100 - back}),
            class_="bar",
            id="restored",
            viewBox="0 0 100 1",
            preserveAspectRatio="none",
            aria_hidden="true",
        )
    cells = enumerate(strip.cells)
    return Markup("".join(_cell(cell, index, free, roomy) for index, cell in cells))


def _cell(cell: StripCell, index: int, free: bool, roomy: bool) -> str:
    worded = roomy and (cell.word or cell.struck)
    look = f'class="cell {cell.state}{" worded" if worded else ""}"'
    mark = f"{_words(cell)}</b> " if worded else f"{cell.mark}</b>"
    inside = f"<b>{mark}<small>{_coin(cell.coin)}</small>"
    if not cell.press:
        return f'<div {look} title="{quoted(cell.label)}">{inside}</div>'
    told = quoted(f"{cell.label}; {cell.press}" if free else cell.label)
    rests = "" if free else " disabled"
    return (
        f'<button type="button" {look} data-draft="{index}" title="{told}" aria-label="{told}"'
        f"{rests}>{inside}</button>"
    )


def _words(cell: StripCell) -> str:
    """The mark of a cell over its word; of one that is replaced, the word beside the mark."""
    if not cell.struck:
        return f"{cell.mark}<span>{escaped(cell.word)}</span>"
    struck = f"<s>{escaped(cell.struck)}</s>"
    if not cell.word:
        return f"{cell.mark}<span>{struck}</span>"
    return f"{cell.mark[0]} {struck} <span>{escaped(cell.word)}</span>"


def _coin(text: str) -> str:
    """A coin and, in an element of its own that may be left out, what it had to stay below."""
    coin, _, rate = text.partition(" ")
    return f"{coin}<i> {escaped(rate)}</i>" if rate else escaped(coin)


def emphasised(text: str) -> Markup:
    """Text as HTML, its **emphasis** kept."""
    return joined(tag("b", part) if i % 2 else part for i, part in enumerate(text.split("**")))


def tallies(marks: Iterable[tuple[float, int]]) -> Markup:
    """The tokens of passes, each written over the middle of its pass."""
    return Markup("".join(f'<tspan x="{x:.1f}">+{tokens}</tspan>' for x, tokens in marks))
