"""Sharing a scene: the snippets that put it into someone's pages, and the files that go with them.

A snippet holds no picture itself: it names one, which the share dialog saves, so that the page it
is put into shows the scene before anything is started, in print, and where there is no script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, urlsplit
from zlib import crc32

from sim.labs import BY_NAME
from sim.labs.frames import LOW, fitted, frame_height
from sim.markup import Markup, joined, quoted, start, tag
from sim.params import PARAMETERS, Params
from sim.question import LABELS
from sim.run import Run
from sim.scene import inside_a_page
from sim.settings import link, query
from sim.story import summary
from sim.verbs import LOCKABLE
from sim.view import LOCKS, NO_QUESTION, PARTS, THEMES, VIEW, WORDS, View

NAME = "Bonus Token"
TITLE = f"{NAME}: a KV cache and speculative decoding"


LOCK_LABELS = {
    **{row.key: row.label for row in VIEW + PARAMETERS},
    "tick": "timeline",
    **LOCKABLE,
}
PART_LABELS = {"pass": "this pass", "timeline": "timeline, buttons"}
ASKED = (
    *("speedup", "tokens_per_pass", "draft_acceptance", "tokens", "positions_computed"),
    *("positions_wasted", "positions_recomputed", "time", "plain_tokens", "cached"),
)
"""What the dialog offers to ask for: what a reader can reason about. A link may ask for more."""

OUTSIDE = ("rates", "theme", "share")
"""What the dialog has no box for: a frame has no control for it, or it goes with another's."""


INSIDE, BESIDE_IT = "inside", "beside"
PICTURES = {INSIDE: "inside the snippet", BESIDE_IT: "a file beside the page"}
"""Where the picture of a scene is."""

NO_KEYS: Mapping[str, str] = MappingProxyType({})


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


def scene_name(params: Params, view: View) -> str:
    """A name for a scene: the same scene has the same name."""
    return f"bonus-token-{crc32(link(TITLE, params, view).encode()):08x}"


def picture_name(params: Params, view: View) -> str:
    """A file name for the picture of a scene."""
    return scene_name(params, view) + ".svg"


def snippets(
    address: str,
    params: Params,
    view: View,
    keys: Mapping[str, str] = NO_KEYS,
    svg: str = "",
) -> list[Snippet]:
    """Every way to put a scene into a page, for the widget at `address` (a link without its query).

    `keys` are those of labs, which stand as they are. `svg`, a picture of the scene, travels inside
    the snippets; without it, and for GitHub, they name a file beside the page.

    A frame shows the widget alone, so `view.embed` does not matter. What asks a question has an id:
    whoever is told an answer can tell whose it is. `data-external` keeps what makes one file of a
    page, as pandoc does, from putting the simulator's files into it.
    """
    shown, framed = replace(view, embed=False), replace(view, embed=True)
    folder = address.rpartition("/")[0] + "/"
    to_scene, embedded = (link(address, params, one, keys) for one in (shown, framed))
    traits: dict[str, object] = {"simulator": folder, **query(params, shown)}
    traits |= {"labs": dict(keys)} if keys else {}
    if view.lab in BY_NAME:  # it has no picture: a link stands for it
        title = words = f"{NAME}: {BY_NAME[view.lab].title}"
        picture = apart = f"[{words}]({to_scene})"
        inside = quoted(words)
    else:
        title, words = TITLE, summary(Run(params), view.first_tick)
        file = f"./{picture_name(params, shown)}"
        source = inside_a_page(svg) if svg else file
        picture, apart = (f"[![{words}]({at})]({to_scene})" for at in (source, file))
        inside = f'<img src="{source}" width="100%"\n    alt="{quoted(words)}"/>'
        if svg:
            traits |= {"picture": source, "words": words}
        apart += f"\n\n[Open the simulator at this scene]({to_scene})"
    script = tag("script", async_=True, data_external="1", src=f"{folder}static/embed.js")
    asks = view.asks and view.lab not in BY_NAME
    named_so = {"id": scene_name(params, shown)} if asks else {}
    opening = start("bonus-token", **named_so, **query(params, shown, keys))
    fallback = f'  <a href="{quoted(to_scene)}">{inside}</a>'
    between = f"\n{picture}\n"  # so that Sphinx copies the file; Markdown takes no picture whole
    frame = (
        f'{start("iframe", **named_so, src=embedded)[:-1]}\n  title="{quoted(title)}" width="100%"'
    )
    rest = 'loading="lazy" data-external="1"></iframe>'
    fits = (
        f'<div style="container-type:inline-size">{frame} height="{frame_height(view)}"\n'
        f'  style="border:0;height:{fitted(view)}" {rest}</div>'
    )
    low = f'{frame} height="{LOW}"\n  frameborder="0" {rest}'
    return [
        Snippet("link", "Link", to_scene),
        Snippet("address", "Notion, Google Sites: an address", embedded),
        Snippet("iframe", "iframe, as high as its column asks for", fits),
        Snippet("slides", "Slides (reveal.js, Quarto), and places of a fixed height", low),
        Snippet(
            "element",
            "<bonus-token>, for any HTML page",
            f"{script}\n{opening}\n{fallback}\n</bonus-token>",
        ),
        Snippet(
            "myst",
            "MyST in Sphinx, Jupyter Book 1",
            f"{script}\n\n{opening}\n{fallback if svg else between}\n</bonus-token>",
        ),
        Snippet(
            "mystmd",
            "Jupyter Book 2, mystmd",
            f":::{{anywidget}} {folder}static/widget.mjs\n"
            f"{json.dumps(traits, indent=2, ensure_ascii=False)}\n:::",
        ),
        Snippet(
            "quarto",
            "Quarto",
            f"```{{=html}}\n{script}\n{opening}\n```\n\n{picture}\n\n"
            "```{=html}\n</bonus-token>\n```",
        ),
        Snippet("markdown", "GitHub Markdown", apart),
    ]


def _boxes(key: str, labels: dict[str, str], checked: tuple[str, ...]) -> Markup:
    return joined(
        tag(
            "label",
            tag("input", type="checkbox", data_share=key, value=value, checked=value in checked),
            label,
        )
        for value, label in labels.items()
    )


def _choice(key: str, label: str, options: dict[str, str], chosen: str) -> Markup:
    made = (tag("option", t, value=v, selected=v == chosen) for v, t in options.items())
    return tag("label", label, tag("select", *made, data_share=key))


def _copied(snippet: Snippet) -> Markup:
    """A place for a snippet, and the button that copies it."""
    named = f"snippet-{snippet.key}"
    return tag(
        "div",
        tag("h3", snippet.label, id=named),
        tag("button", "Copy", type="button", data_copy=snippet.key),
        tag(
            "textarea",
            readonly=True,
            rows=1 if snippet.key in ("link", "address") else 3,
            spellcheck="false",
            data_snippet=snippet.key,
            aria_labelledby=named,
        ),
        class_="snippet",
    )


def _button(action: str, text: str, **attributes: str) -> Markup:
    return tag("button", text, type="button", data_share_action=action, **attributes)


def dialog_html(
    address: str,
    params: Params,
    view: View,
    keys: Mapping[str, str] = NO_KEYS,
    where: str = INSIDE,
    fixed: bool = False,
) -> Markup:
    """What the share dialog holds: choices, snippets to copy, files to save.

    `where` is a key of `PICTURES`; `fixed` says that the scene has locks now, or a question, of
    which its author may free it.
    """
    locks = {name: LOCK_LABELS[name] for name in LOCKS if name not in OUTSIDE}
    parts = {part: PART_LABELS.get(part, part) for part in PARTS}
    questions = {NO_QUESTION: "no question", **{name: LABELS[name] for name in ASKED}}
    themes = {name: name for name in THEMES} | {"auto": "as the page or the system"}
    alone = view.lab in BY_NAME
    title = tag("h2", f"Share this {'lab' if alone else 'scene'}", id="share-title")
    plays = tag("input", type="checkbox", data_share="play", value="on", checked=view.play)
    hosted = tag("input", type="text", data_share="address", value=address, spellcheck="false")
    how = {"href": "./static/hosting.html", "target": "_blank", "rel": "noopener"}
    framed = replace(view, embed=True).parts
    of_the_widget = (
        tag(
            "fieldset",
            tag("legend", "Show"),
            _boxes("show", parts, framed),
        ),
        tag("fieldset", tag("legend", "Lock"), _boxes("lock", locks, view.lock)),
        _choice("ask", "Ask to predict", questions, view.ask),
        tag(
            "label",
            "… in your own words",
            tag(
                "input",
                type="text",
                data_share="asktext",
                value=view.ask_text,
                maxlength=WORDS.most,
            ),
        ),
    )
    frees = tag(
        "p",
        "This scene came with locks or a question, which stay chosen below while it is changed. ",
        _button("edit", "Edit this scene"),
        class_="share-note",
    )
    choices = (
        *((frees,) if fixed and not alone else ()),
        *(() if alone else of_the_widget),
        _choice("theme", "Colours", themes, view.theme),
        *(() if alone else (_choice("picture", "The picture", PICTURES, where),)),
        *(() if alone else (tag("label", plays, "Start playing at once", class_="once"),)),
        tag("label", "Where this page is hosted", hosted),
        tag(
            "p",
            "Readers reach it there, so an address of this machine works on this machine alone. ",
            tag("a", "How to host it", **how),
            class_="share-note",
        ),
    )
    saves = (
        _button("picture", "Save the picture (SVG)"),
        _button("passes", "Save every pass (CSV)"),
        tag(
            "p",
            "An element shows the picture until the reader starts the simulator, and in print; a "
            "plain frame and one for slides start at once, without it. GitHub, and snippets that "
            "do not hold it, want it beside the page, as ",
            tag("code", id="picture-name"),
            ".",
            class_="share-note",
        ),
    )
    copies = (_copied(one) for one in snippets(address, params, view, keys))
    return joined(
        [
            tag("div", title, _button("close", "×", aria_label="Close"), class_="share-head"),
            tag(
                "div",
                tag("div", *choices, class_="choices"),
                tag("div", *copies, class_="copies"),
                class_="share-body",
            ),
            *(() if alone else (tag("div", *saves, class_="saves"),)),
            tag("p", class_="sr-only", id="share-said", role="status"),
        ]
    )
