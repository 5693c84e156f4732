"""What the lab of sampling says: a pass step by step, the verdict, and how often one has looked."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import NamedTuple

from sim.labs.sampling_chart import Next, Shares
from sim.labs.sampling_draw import Drawn
from sim.labs.sampling_exact import Exact
from sim.labs.sampling_rows import names
from sim.labs.sampling_section import VERDICT, WORDS_SHOWN, verdict_row
from sim.labs.sampling_settings import STANDARD, Asked
from sim.labs.sampling_steps import Pass, Step
from sim.labs.sampling_verdict import LEVEL, Band, Verdict
from sim.markup import Markup, joined, tag
from sim.words import count

OFTEN = 0.05
"""The p-value that papers stop at."""


class Frame(NamedTuple):
    """A moment of a pass."""

    after: int
    """The word that the next one is drawn after."""
    text: str
    cells: Markup
    shown: Next


def frames(exact: Exact, made: Pass) -> list[Frame]:
    """A pass moment by moment: each draft, what becomes of it, and the pass's own word."""
    words = names(exact.models.size)
    cells: list[Markup] = []
    found = []

    def frame(after: int, text: str, cell: Markup, shown: Next) -> None:
        found.append(Frame(after, text, joined([*cells, cell]), shown))

    for step in made.steps:
        before, draft = words[step.before], words[step.draft]
        chance = exact.tables.draft[step.before, step.draft]
        text = f"After “{before}” the draft model draws “{draft}”: chance {chance:.3f}."
        shown = next_at(exact, step.before)
        frame(step.before, text, _cell("proposed", draft, "?"), shown)
        said, coin = _tried(exact, step)
        kind, mark = ("accepted", "kept") if step.kept else ("rejected", "×")
        cell = _cell(kind, draft, mark)
        tossed = None if coin is None else (draft, coin)
        frame(step.before, said, cell, shown._replace(coin=tossed))
        cells.append(cell)
    own = _cell("bonus", words[made.own], "replaced" if made.replaced else "bonus")
    shown = next_at(exact, made.after)
    if made.replaced:
        row = exact.tables.instead[made.after].tolist()
        shown = shown._replace(residual=tuple(zip(words, row, strict=True)))
    frame(made.after, _own(exact, made), own, shown)
    return found


def next_at(exact: Exact, after: int) -> Next:
    """What the two models say after a word."""
    words = names(exact.models.size)
    p, q = (rows[after].tolist() for rows in (exact.models.target, exact.models.draft))
    return Next(tuple(zip(words, p, strict=True)), tuple(zip(words, q, strict=True)))


def _cell(kind: str, word: str, note: str) -> Markup:
    return tag("div", tag("b", word), tag("small", note), class_=f"draft {kind}")


def _tried(exact: Exact, step: Step) -> tuple[str, float | None]:
    """What is said of a draft's verdict, and where its coin falls in the bar of q, if it counts."""
    p = exact.models.target[step.before, step.draft]
    q = exact.models.draft[step.before, step.draft]
    if exact.rule == "always-accept":
        return "It is kept, whatever the big model says.", None
    if exact.rule == "argmax":
        likeliest = names(exact.models.size)[int(exact.models.target[step.before].argmax())]
        told = "this is it: kept" if step.kept else "this is another: not kept"
        return f"The big model’s likeliest word is “{likeliest}”; {told}.", None
    verdict = "below it: kept" if step.kept else "not below it: rejected"
    return (
        f"p ÷ q = {p:.3f} ÷ {q:.3f} = {p / q:.3f}. The coin is {step.coin:.3f}, {verdict}."
    ), step.coin * q


def _own(exact: Exact, made: Pass) -> str:
    word = names(exact.models.size)[made.own]
    if not made.replaced:
        model = "draft" if exact.rule == "bonus-from-draft" else "big"
        return f"After the last draft the {model} model gives one word more: “{word}”."
    chance = exact.tables.instead[made.after, made.own]
    if exact.rule == "argmax":
        return f"The likeliest word takes its place: “{word}”."
    if exact.rule == "replace-from-target":
        return f"Instead a word is drawn from p itself: “{word}”, chance {chance:.3f}."
    return (
        f"What p has more than q is cut out and made to sum to 1. From it comes “{word}”, chance "
        f"{chance:.3f}."
    )


def text_html(drawn: Drawn) -> Markup:
    """The latest words of one text, by where each comes from."""
    words = names(drawn.exact.models.size)
    last = drawn.first[-WORDS_SHOWN:]
    parts = [
        joined([tag("i", words[word], class_=_origin(own, bonus)), " "])
        for word, own, bonus in last
    ]
    return joined(["… " if len(last) < len(drawn.first) else "", *parts])


def _origin(own: bool, bonus: bool) -> str:
    return ("bonus" if bonus else "replaced") if own else "accepted"


def written(exact: Exact, drawn: Drawn | None, secret: bool) -> Shares:
    """The shares of words for the chart; while it is a secret, without those of the rule."""
    own = tuple(exact.words.tolist())
    found: tuple[float, ...] = ()
    if drawn and drawn.tokens:
        found = tuple((drawn.counts.sum(axis=0) / drawn.tokens).tolist())
    rule = own if secret else tuple(exact.pairs.sum(axis=0).tolist())
    return Shares(names(exact.models.size), found, own, rule)


def verdict_html(
    exact: Exact,
    drawn: Drawn | None,
    verdict: Verdict | None,
    plain: Verdict | None,
    band: Band | None,
    secret: bool,
) -> Markup:
    """The rows of the verdict: this text, what is exact of the rule, luck, plain sampling.

    What is exact is left out while it is a secret.
    """
    per_pass = f"{drawn.tokens / drawn.passes:.4f}" if drawn and drawn.passes else "–"
    alphas = exact.models.overlap
    low, high = float(alphas.min()), float(alphas.max())
    alpha = f"{low:.3f}" + (f" to {high:.3f}" if high - low > 5e-4 else "")
    cells = (
        (count(drawn.tokens) if drawn else "–", "", "", ""),
        (per_pass, _or_secret(exact.tokens_per_pass, secret), "", "1"),
        ("", alpha, "", ""),
        (
            f"{verdict.total_variation:.4f}" if verdict else "–",
            _or_secret(exact.total_variation, secret),
            f"{band.mean:.4f}, seldom {band.high:.4f}" if band else "",
            f"{plain.total_variation:.4f}" if plain else "–",
        ),
        (_chi2(verdict), "", _usual(verdict), _chi2(plain)),
        (_p_value(verdict), "", "0 to 1, all alike", _p_value(plain)),
    )
    return joined(verdict_row(name, *row) for name, row in zip(VERDICT, cells, strict=True))


def _or_secret(value: float, secret: bool) -> str:
    return "?" if secret else f"{value:.4f}"


def _chi2(verdict: Verdict | None) -> str:
    if verdict is None:
        return "–"
    return "–" if verdict.chi2 is None else f"{verdict.chi2:.1f}"


def _usual(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.df:
        return ""
    spread = (2 * verdict.df) ** 0.5
    return f"{verdict.df} ± {spread:.1f}"


def _p_value(verdict: Verdict | None) -> str:
    return "–" if verdict is None else _p_value_told(verdict.p_value)


def _p_value_told(value: float) -> str:
    return f"{value:.3f}" if value >= LEVEL else "0" if value < 1e-300 else f"{value:.1e}"


SAME = "same"
"""The answer that it will be the big model's own text."""


def said_before(answer: str, needed: float) -> str:
    """What the reader said would come of it, and whether that was right; nothing where unasked."""
    if not answer:
        return ""
    said = "the same" if answer == SAME else "another text"
    return f"You said {said}: {'right' if (answer == SAME) == isinf(needed) else 'not so'}. "


def told(asked: Asked, verdict: Verdict, needed: float) -> str:
    """What the verdict means, for a rule that it takes so many words to find."""
    tokens, right = asked.tokens, asked.rule == STANDARD
    if verdict.chi2 is None:
        return "Found: it wrote a pair of words that the big model never writes."
    if verdict.found:
        once = f"once in {count(1 / LEVEL)} times"
        if isinf(needed):
            return f"Strange, by luck alone: a right text looks so {once}. Look again."
        return f"Found: the big model’s own text looks as strange as this less than {once}."
    if isinf(needed):
        same = "" if right else " With these models this rule does nothing wrong."
        return f"Not found, and there is nothing to find.{same}"
    far = f"about {count(needed)} words" if needed < 1e9 else f"about {needed:.1g} words"
    if needed > tokens:
        return f"Not found in {count(tokens)} words, but it is wrong: it would take {far}."
    return f"Not found this time, but it is wrong: {far} show it 19 times in 20."


class Look(NamedTuple):
    """A verdict that the reader has seen."""

    right: bool
    """Whether there was nothing to find."""
    p_value: float


def looks_told(looks: Sequence[Look]) -> str:
    """How often one has looked, and what looking again and again does by luck alone."""
    right = [look.p_value for look in looks if look.right]
    wrong = [look.p_value for look in looks if not look.right]
    parts = []
    if right:
        number, below = len(right), sum(p_value < OFTEN for p_value in right)
        parts.append(
            f"Looks at what is right: {number}; p-values below {OFTEN}: {below}, the smallest "
            f"{_p_value_told(min(right))}. Who looks so often sees one below {OFTEN} by luck alone "
            f"with a chance of {_percent(_once(OFTEN, number))}, and one below {LEVEL}, which "
            f"counts as found here, with {_percent(_once(LEVEL, number))}."
        )
    if wrong:
        found = sum(p_value < LEVEL for p_value in wrong)
        parts.append(f"Looks at what is wrong: {len(wrong)}; found: {found}.")
    return " ".join(parts)


def _once(level: float, number: int) -> float:
    """The chance that of so many p-values of right texts one at least is below a level."""
    return 1 - (1 - level) ** number


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "over 99 %"
