"""The section of the lab of sampling as it is printed: what is set, watched, written and judged."""

from __future__ import annotations

from sim.chart import figure_html
from sim.labs.fields import field_html, fields_html
from sim.labs.sampling_chart import NEXT, WRITTEN, Next, Shares
from sim.labs.sampling_rows import Language, names
from sim.labs.sampling_settings import MADE, OWN, RULES, TEXT, Asked, Rule, language_of
from sim.markup import Markup, joined, start, tag
from sim.settings import rows
from sim.words import count

ROWS = {row.key: row for row in rows(Asked)}

LANGUAGES = {
    TEXT: "the four words of the text",
    MADE: "one made from a seed",
    OWN: "rows of your own",
}
OF_LANGUAGE = {
    MADE: ("words", "alike", "warm", "draftwarm", "made"),
    OWN: ("target", "draft"),
}
"""The settings that only one language has."""

SET = ("k", "tokens", "seed", "stale")
"""Those beside the rules."""

WORDS_SHOWN = 100
"""Words of the text that are shown."""


def next_of(language: Language, after: int) -> Next:
    """What the two models say after a word."""
    words = names(language.size)
    p, q = (rows[after % len(rows)] for rows in (language.target, language.draft))
    return Next(tuple(zip(words, p, strict=True)), tuple(zip(words, q, strict=True)))


def rule_html(rule: Rule) -> Markup:
    """What a rule does wrong, and who has it."""
    source = tag("a", "told here", href=rule.source, rel="noopener") if rule.source else ""
    shipped = joined([" ", rule.shipped[:-1], ", ", source, "."]) if source else f" {rule.shipped}"
    return joined([tag("b", rule.title), ". ", rule.does, shipped])


def write_label(tokens: int) -> str:
    """What the button that writes says."""
    return f"Write {count(tokens)} {'word' if tokens == 1 else 'words'}"


def printed() -> Markup:
    """The section, with its opening settings."""
    opening = Asked()
    language = language_of(opening)
    words, shares = names(language.size), language.target[0]
    options = joined(
        tag("option", text, value=key, selected=key == opening.language)
        for key, text in LANGUAGES.items()
    )
    chooser = tag(
        "p",
        tag("label", "Language", for_="sampling-language"),
        tag("select", options, id="sampling-language"),
        class_="lab-row",
    )
    own = [
        fields_html(*(_field(key, opening) for key in keys), data_of=kind, hidden=True)
        for kind, keys in OF_LANGUAGE.items()
    ]
    watch = tag(
        "div",
        tag("p", id="sampling-step", role="status"),
        tag("div", id="sampling-cells", class_="tried"),
        tag(
            "p",
            tag("button", "Next step", type="button", id="sampling-next", disabled=True),
            " ",
            tag("button", "Another pass", type="button", id="sampling-pass", disabled=True),
        ),
        class_="watch",
    )
    after = tag(
        "p",
        tag("label", "After the word", for_="sampling-after"),
        tag("select", id="sampling-after"),
        id="sampling-before",
        class_="lab-row",
        hidden=True,
    )
    return joined(
        [
            chooser,
            *own,
            after,
            figure_html(NEXT, NEXT_SAID, next_of(language, 0)),
            watch,
            tag("h4", "Break it"),
            _rules(),
            tag("p", rule_html(RULES[0]), id="sampling-does"),
            fields_html(*(_field(key, opening) for key in SET), id="sampling-fields"),
            tag("p", class_="wrong", id="sampling-said", role="alert"),
            _question(),
            _acts(opening),
            tag("p", id="sampling-told", role="status"),
            tag("p", TEXT_SAID, id="sampling-text", class_="sampling-text", data_empty=True),
            _key(),
            figure_html(WRITTEN, WRITTEN_SAID, Shares(words, (), shares, shares)),
            _verdict(),
            tag("p", id="sampling-looks"),
            tag(
                "details",
                tag("summary", "The same in a terminal"),
                tag("pre", tag("code", "python3 -m sim sampling", id="sampling-command")),
            ),
        ]
    )


NEXT_SAID = (
    "What the two models say of the next word. Drafts come from q, the text should be p’s. “Next "
    "step” goes through a pass: a draft is drawn, a coin falls somewhere in its bar of q; in the "
    "part that p shares it is kept."
)
WRITTEN_SAID = (
    "The words that were written, growing towards the big model’s own shares. What a wrong rule "
    "comes to in the long run has a line of its own."
)
TEXT_SAID = "Nothing is written yet."


def _field(key: str, asked: Asked) -> Markup:
    return field_html("sampling", ROWS[key], getattr(asked, ROWS[key].name))


def _rules() -> Markup:
    buttons = (
        tag(
            "button",
            rule.title,
            type="button",
            data_rule=rule.name,
            aria_pressed="true" if rule is RULES[0] else "false",
        )
        for rule in RULES
    )
    return tag(
        "div", *buttons, id="sampling-rules", class_="rules", role="group", aria_label="Rule"
    )


def _question() -> Markup:
    return tag(
        "div",
        tag("p", "Before it is written: will it be the big model’s own text?"),
        tag("button", "Yes, the same", type="button", data_answer="same"),
        " ",
        tag("button", "No, another text", type="button", data_answer="other"),
        id="sampling-question",
        class_="lab-question",
        hidden=True,
    )


def _acts(asked: Asked) -> Markup:
    quiet = {"type": "button", "disabled": True}
    return tag(
        "p",
        tag("button", write_label(asked.tokens), id="sampling-write", class_="primary", **quiet),
        tag("button", "Again, with other luck", id="sampling-again", **quiet),
        tag("button", "Use this α in the widget", id="sampling-use", **quiet),
        class_="lab-acts",
    )


def _key() -> Markup:
    parts = (
        ("accepted", "draft, kept"),
        ("replaced", "in place of a rejected draft"),
        ("bonus", "after k kept drafts"),
    )
    return tag(
        "p",
        *(joined([tag("i", "word", class_=kind), " ", text, " "]) for kind, text in parts),
        class_="sampling-key",
    )


VERDICT = (
    *("words", "tokens per pass", "overlap of p and q, α", "distance of pairs (total variation)"),
    *("χ² of pairs", "p-value"),
)
"""The rows of the verdict."""


def verdict_row(name: str, *cells: str) -> Markup:
    """A row of the verdict: this text, the rule, luck, plain sampling."""
    return tag("tr", tag("th", name, scope="row"), *(tag("td", cell) for cell in cells))


def no_verdict() -> Markup:
    """The verdict before there is anything to judge."""
    return joined(verdict_row(name, *["–"] * 4) for name in VERDICT)


def _verdict() -> Markup:
    heads = ("number", "this text", "exactly, by this rule", "what luck does", "plain sampling")
    table = tag(
        "table",
        tag("caption", "What was written, and what should be", class_="sr-only"),
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", no_verdict(), id="sampling-table"),
    )
    opening = start("section", class_="wide", aria_label="The verdict", tabindex="0")
    return Markup(f"{opening}{table}</section>")
