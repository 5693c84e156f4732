"""Sharing a scene: the snippets that put it into someone's pages, and the files that go with them.

A snippet holds no picture itself: it names one, which the share dialog saves, so that the page it
is put into shows the scene before anything is started, in print, and where there is no script.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlsplit
from zlib import crc32

from sim.labs import BY_NAME
from sim.params import PARAMETERS, Params, link, query
from sim.question import LABELS
from sim.run import Run
from sim.story import summary
from sim.view import BY_KEY, LOCKS, NO_QUESTION, PARTS, VIEW, View

LEFT, RIGHT = ("board", "pass", "timeline"), ("numbers", "controls")
"""Parts of either column of the widget."""

ALONE = {"board": 437, "pass": 127, "timeline": 127, "numbers": 447, "controls": 317}
BESIDE = {"board": 315, "pass": 128, "timeline": 180, "numbers": 434, "controls": 386}
"""About how high each part is in a frame 720 px wide, in one column and in two, in px; a test
measures them."""

FRAME = 40
"""What a frame adds to its parts, in px."""

QUESTION, IN_PLACE = 118, 40
"""What a question adds, and what one adds that takes the place of the sentence, in px."""

NAME = "Bonus Token"
TITLE = f"{NAME}: a KV cache and speculative decoding"


LOCK_LABELS = {
    **{row.key: row.label for row in VIEW + PARAMETERS},
    "tick": "timeline",
    "evict": "Evict",
    "play": "Play",
    "step": "Step",
    "back": "Back",
    "start": "to the start",
    "reset": "Reset",
}
PART_LABELS = {"pass": "this pass", "timeline": "timeline, buttons"}
ASKED = (
    *("speedup", "tokens_per_pass", "draft_acceptance", "tokens", "positions_computed"),
    *("positions_wasted", "positions_recomputed", "time", "plain_tokens", "cached"),
)
"""What the dialog offers to ask for: what a reader can reason about. A link may ask for more."""

OUTSIDE = ("rates", "theme", "share")
"""What the dialog has no box for: a frame has no control for it, or it goes with another's."""


class Snippet(NamedTuple):
    """A text to copy, and what it is for."""

    key: str
    label: str
    text: str


def page_address(text: str) -> str:
    """The address of the page, whether people name its folder or its file, or paste a link."""
    bare = text.strip().partition("#")[0].partition("?")[0]
    bare = quote(bare if "://" in bare else f"https://{bare}", safe=":/%@[]~!$&'*+,;=")
    path = urlsplit(bare).path
    return bare if path.endswith(("/", ".html")) else bare + "/"


def frame_height(view: View) -> int:
    """A height for a frame that no script can fit to its content, in px."""
    if view.lab in BY_NAME:
        return FRAME + BY_NAME[view.lab].height
    left, right = ([part for part in column if part in view.show] for column in (LEFT, RIGHT))
    heights = BESIDE if left and right else ALONE
    columns = [sum(heights[part] for part in column) for column in (left, right)]
    if view.asks:
        columns[1] += IN_PLACE if "numbers" in view.show else QUESTION
    return FRAME + (max(columns) if left and right else sum(columns))


def picture_name(params: Params, view: View) -> str:
    """A file name for the picture of a scene: the same scene has the same name."""
    return f"bonus-token-{crc32(link(TITLE, params, view).encode()):08x}.svg"


def snippets(address: str, params: Params, view: View) -> list[Snippet]:
    """Every way to put a scene into a page, for the widget at `address` (a link without its query).

    A frame shows the widget alone, so `view.embed` does not matter.
    """
    shown, framed = replace(view, embed=False), replace(view, embed=True)
    folder = address.rpartition("/")[0] + "/"
    to_scene = link(address, params, shown)
    if view.lab in BY_NAME:  # it has no picture: a link stands for it
        title = words = f"{NAME}: {BY_NAME[view.lab].title}"
        picture, inside = f"[{words}]({to_scene})", escape(words)
    else:
        title, words = TITLE, summary(Run(params), view.first_tick)
        named = picture_name(params, shown)
        picture = f"[![{words}]({named})]({to_scene})"
        inside = f'<img src="{named}" width="100%"\n    alt="{escape(words)}">'
    script = f'<script async src="{escape(folder)}static/embed.js"></script>'
    keys = query(params, shown).items()
    opening = f"<bonus-token{''.join(f' {key}={chr(34)}{escape(v)}{chr(34)}' for key, v in keys)}>"
    fallback = f'  <a href="{escape(to_scene)}">{inside}</a>'
    frame = (
        f'<iframe src="{escape(link(address, params, framed))}"\n'
        f'  title="{escape(title)}" width="100%" height="{frame_height(view)}"\n'
        f'  frameborder="0" loading="lazy"></iframe>'
    )
    return [
        Snippet("link", "Link", to_scene),
        Snippet("iframe", "iframe", frame),
        Snippet(
            "element",
            "<bonus-token>, for any HTML page",
            f"{script}\n{opening}\n{fallback}\n</bonus-token>",
        ),
        Snippet(
            "myst",
            "MyST, Jupyter Book",
            f"{script}\n\n{opening}\n\n{picture}\n\n</bonus-token>",
        ),
        Snippet(
            "quarto",
            "Quarto",
            f"```{{=html}}\n{script}\n{opening}\n```\n\n{picture}\n\n"
            "```{=html}\n</bonus-token>\n```",
        ),
        Snippet("markdown", "Markdown without scripts", picture),
    ]


def _boxes(key: str, labels: dict[str, str], checked: tuple[str, ...]) -> str:
    return "".join(
        f'<label><input type="checkbox" data-share="{key}" value="{value}"'
        f"{' checked' if value in checked else ''}>{label}</label>"
        for value, label in labels.items()
    )


def _choice(key: str, label: str, options: dict[str, str], chosen: str) -> str:
    made = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{text}</option>'
        for value, text in options.items()
    )
    return f'<label>{label}<select data-share="{key}">{made}</select></label>'


PLAY = (
    '<label class="once"><input type="checkbox" data-share="play" value="on">'
    "Start playing at once</label>"
)
SAVES = (
    '<div class="saves"><button type="button" data-share-action="picture">'
    "Save the picture (SVG)</button>"
    '<button type="button" data-share-action="passes">Save every pass (CSV)</button>'
    '<p class="share-note">Put the picture beside your page, as '
    '<code id="picture-name"></code>: '
    "it is shown until the reader starts the simulator, and in print.</p></div>"
)
"""What the dialog offers of the widget, and not of a lab that is shown alone."""


def dialog_html(address: str, params: Params, view: View) -> str:
    """What the share dialog holds: choices, snippets to copy, files to save."""
    locks = {name: LOCK_LABELS[name] for name in LOCKS if name not in OUTSIDE}
    parts = {part: PART_LABELS.get(part, part) for part in PARTS}
    questions = {NO_QUESTION: "no question", **{name: LABELS[name] for name in ASKED}}
    themes = {name: name for name in BY_KEY["theme"].choices} | {"auto": "as the page around"}
    copies = "".join(
        f'<div class="snippet"><h3 id="snippet-{one.key}">{escape(one.label)}</h3>'
        f'<button type="button" data-copy="{one.key}">Copy</button>'
        f'<textarea readonly rows="{1 if one.key == "link" else 3}" spellcheck="false" '
        f'data-snippet="{one.key}" aria-labelledby="snippet-{one.key}"></textarea></div>'
        for one in snippets(address, params, view)
    )
    alone = view.lab in BY_NAME
    of_the_widget = (
        f"<fieldset><legend>Show</legend>{_boxes('show', parts, view.show)}</fieldset>"
        f"<fieldset><legend>Lock</legend>{_boxes('lock', locks, view.lock)}</fieldset>"
        f"{_choice('ask', 'Ask to predict', questions, view.ask)}"
    )
    return (
        '<div class="share-head"><h2 id="share-title">'
        f"Share this {'lab' if alone else 'scene'}</h2>"
        '<button type="button" data-share-action="close" aria-label="Close">×</button></div>'
        '<div class="share-body"><div class="choices">'
        f"{'' if alone else of_the_widget}"
        f"{_choice('theme', 'Colours', themes, view.theme)}"
        f"{'' if alone else PLAY}"
        f'<label>Where this page is hosted<input type="text" data-share="address" '
        f'value="{escape(address)}" spellcheck="false"></label>'
        '<p class="share-note">Readers reach it there, so an address of this machine works on this '
        'machine alone. <a href="./static/hosting.html" target="_blank" rel="noopener">How to host '
        "it</a></p></div>"
        f'<div class="copies">{copies}</div></div>'
        f"{'' if alone else SAVES}"
        '<p class="sr-only" id="share-said" role="status"></p>'
    )
