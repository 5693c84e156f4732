"""What is printed into the server's section: its controls, its opening scene, its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.chart import figure_html
from sim.kinds import Choice, Number
from sim.labs.blocks import PAGED, POLICIES
from sim.labs.history import History, record
from sim.labs.service import scene_of
from sim.labs.serving_charts import FRONTIER_CHART, SHARES_CHART, SharesAt
from sim.labs.serving_shown import (
    HEADS,
    SETTINGS,
    Shown,
    columns_told,
    compared,
    compared_html,
    gained,
    numbers_told,
)
from sim.labs.slots import (
    BOARD_LOOKS,
    COMMON,
    EXTERNAL,
    FREE,
    LEGEND,
    OWN,
    POINT,
    pass_told,
)
from sim.marks import PALETTES
from sim.markup import Markup, joined, tag
from sim.picture import swatch
from sim.settings import Setting, write
from sim.work import finish

IN_SIGHT = ("k", "alpha", "lengths", "preempt")
MORE = ("slots", "requests", "rate", "longest", "running", "c", "prefix", "link", "seed")
BUDGETED = ("model", "machine", "memory", "batch", "context", "drafts", "draft", "alpha")
"""Controls beside the board, those that are folded, and those of the budget."""

COLOURS = {role: f"var(--{role})" for role in PALETTES["light"]}


def control_html(row: Setting, place: str = "") -> Markup:
    """The inputs that set a row, with its name and help; `place` tells one of two apart."""
    name, shown = f"serving-{row.key}{place}", write(row, row.default)
    told = {"data_serving": row.key, "aria_describedby": f"{name}-help {name}-wrong"}
    label = tag("label", row.label, for_=name)
    help_ = joined(
        [
            tag("p", row.help, id=f"{name}-help"),
            tag("p", class_="wrong", id=f"{name}-wrong", role="alert"),
        ]
    )
    if isinstance(row.kind, Choice):
        options = [tag("option", n, value=n, selected=n == shown) for n in row.kind.names]
        return tag("div", label, tag("select", *options, id=name, **told), help_, class_="control")
    field = {"type": "text", "value": shown, "autocomplete": "off", "spellcheck": "false"}
    if not isinstance(row.kind, Number) or not row.kind.slider:
        return tag("div", label, tag("input", id=name, **field, **told), help_, class_="control")
    high, step = row.kind.slider
    limits = {"min": f"{row.kind.low:g}", "max": f"{high:g}", "step": f"{step:g}"}
    return tag(
        "div",
        label,
        tag("input", type="range", id=name, value=shown, **limits, **told),
        tag("input", aria_label=row.label, inputmode="decimal", **field, **told),
        help_,
        class_="control",
    )


def _controls(keys: Sequence[str], place: str = "") -> Markup:
    return joined(control_html(SETTINGS[key], place) for key in keys)


def legend_html() -> Markup:
    """What each kind of slot looks like, in the colour of the first request."""
    states = {**{kind: f"{kind}0" for kind in OWN}, COMMON: COMMON, EXTERNAL: EXTERNAL, FREE: FREE}
    items = (
        tag("li", swatch(state, False, 14, COLOURS, BOARD_LOOKS), LEGEND[kind])
        for kind, state in states.items()
    )
    return tag("ul", *items, class_="legend")


def _policies() -> Markup:
    radios = (
        tag(
            "label",
            tag("input", type="radio", name_="serving-policy", value=name, checked=name == PAGED),
            tag("span", tag("b", name), " ", meaning),
        )
        for name, meaning in POLICIES.items()
    )
    legend = tag("legend", "How a request’s memory is set aside")
    return tag("fieldset", legend, *radios, class_="policies", id="serving-policies")


def _button(action: str, text: str, **attributes: object) -> Markup:
    return tag(
        "button", text, type="button", data_serving_action=action, disabled=True, **attributes
    )


def _transport(passes: int, at: int) -> Markup:
    line = {"type": "range", "min": "0", "max": f"{passes - 1}", "step": "1", "value": f"{at}"}
    return joined(
        [
            tag(
                "div",
                _button("play", "Play", class_="primary"),
                _button("start", "To the start"),
                _button("back", "Back"),
                _button("step", "Step"),
                class_="transport",
            ),
            tag("input", id="serving-line", aria_label="pass", disabled=True, **line),
        ]
    )


def _table(heads: Sequence[str], body: Markup, caption: str, name: str) -> Markup:
    table = tag(
        "table",
        tag("caption", caption, class_="sr-only"),
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", body, id=name),
        class_="figures",
    )
    return tag("section", table, class_="wide", tabindex="0", aria_label=caption)


def _histories() -> dict[str, History]:
    opening = Shown()
    return {
        policy: finish(record(scene_of(replace(opening, policy=policy)))) for policy in POLICIES
    }


def _big(name: str, head: str, value: str, note: str) -> Markup:
    return tag(
        "div",
        tag("h4", head),
        tag("p", tag("span", value, id=name), class_="value"),
        tag("p", note, class_="note"),
    )


def _budget(shown: Shown) -> Markup:
    made = gained(shown.budget)
    return joined(
        [
            tag("h4", "One budget", id="serving-budget"),
            tag(
                "p",
                "Now the whole memory of the machine, with all conversations alike: what the "
                "weights leave of it, how many may share it, and how many drafts each of them "
                "checks. For the same settings it agrees with the section “On your machine”; "
                "fewer may fit here, because a conversation takes whole blocks, with room for the "
                "drafts in check.",
            ),
            tag(
                "p",
                "Model, machine and acceptance rate are those of the requests above too, so a "
                "change there serves them anew. The other settings here are the budget’s alone.",
                class_="note",
            ),
            tag("div", _controls(BUDGETED, "-budget"), class_="settings"),
            tag(
                "div",
                _big("serving-server", "the server writes", made.server, "tokens a second"),
                _big("serving-reader", "one reader gets", made.reader, "tokens a second"),
                _big("serving-together", "conversations at once", made.together, ""),
                class_="gains",
            ),
            tag("p", made.limit, class_="sentence plain", id="serving-limit", role="status"),
            figure_html(
                FRONTIER_CHART,
                "What one reader gets against what the server writes: each point is a number of "
                "conversations, with the draft length that serves them best, and without drafts. "
                "The black point is this setting. A click goes to the setting that is named below "
                "the chart, or to the point without drafts that it hits.",
                shown.budget,
            ),
        ]
    )


def printed() -> Markup:
    """The opening scene, its controls, and the budget."""
    shown, histories = Shown(), _histories()
    history, seconds = histories[shown.policy], shown.at / 1000
    at = history.at(seconds)
    moment = history.moments[at]
    canvas = tag(
        "canvas", id="serving-board", tabindex="0", role="img", aria_label="The slots of the memory"
    )
    cursor = tag("div", id="serving-cursor", class_="cursor", hidden=True)
    more = tag(
        "details",
        tag("summary", "more settings, and requests of your own"),
        tag("div", _controls(MORE), class_="settings"),
        tag(
            "p",
            tag(
                "label",
                "requests of your own: rows of arrival (s), prompt, output ",
                for_="serving-own",
            ),
            tag(
                "input",
                type="file",
                id="serving-own",
                accept=".csv,.tsv,.txt,text/*",
                aria_describedby="serving-read serving-own-wrong",
            ),
            " ",
            _button("drawn", "Drawn ones again", hidden=True),
        ),
        tag("p", id="serving-read", role="status"),
        tag("p", class_="wrong", id="serving-own-wrong", role="alert"),
    )
    return joined(
        [
            _policies(),
            tag("div", _controls(IN_SIGHT), class_="settings"),
            tag(
                "div",
                _button("small", "Small scene: 512 slots, 50 requests"),
                _button("large", "Large scene: 64 K blocks, 10,000 requests"),
                class_="scenes",
            ),
            tag(
                "div",
                tag(
                    "div",
                    tag("p", "The board is drawn once Python has come.", class_="before"),
                    canvas,
                    cursor,
                    class_="serving-board",
                    id="serving-box",
                ),
                tag("p", POINT, class_="slot-note", id="serving-slot", role="status"),
                legend_html(),
                _transport(len(history.moments), at),
                tag("p", pass_told(moment, at), class_="sentence plain", id="serving-pass"),
                tag("div", id="serving-rows", class_="serving-rows", aria_hidden="true"),
                id="serving-watched",
            ),
            _table(
                HEADS,
                compared_html(compared(histories, seconds), shown.policy),
                "The four ways at this moment, with the same arrivals",
                "serving-compared",
            ),
            tag("p", columns_told(True), class_="note", id="serving-columns"),
            tag(
                "p",
                tag("progress", id="serving-progress", max="1", value="0", hidden=True),
                " ",
                _button("cancel", "Cancel", hidden=True),
                tag("span", numbers_told(history), id="serving-numbers"),
                role="status",
            ),
            tag("p", id="serving-why", role="status"),
            tag("p", class_="wrong", id="serving-said", role="alert"),
            figure_html(
                SHARES_CHART,
                "What the slots were over time: holding a token; reserved for one; held and never "
                "used (internal); free in pieces too short for who waits (external); free.",
                SharesAt(history, seconds),
            ),
            more,
            _budget(shown),
        ]
    )
