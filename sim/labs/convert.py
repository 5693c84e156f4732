"""The numbers that engines call acceptance: whatever one has of them, the others.

With rates by position, tokens per pass is 1 + r₁ + r₁r₂ + … (the cumulative rates, and the pass's
own token), and draft acceptance is the same sum without the 1, over k. With one rate α for all of
them it is (1 − α^(k+1)) ÷ (1 − α), of which α is the root (Leviathan et al. 2023, Eq. 1).
Simplified: every pass checks k drafts in a chain; an engine that drafts fewer at times prints
averages that this cannot split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from sim.kinds import Maybe, Real, Whole
from sim.lists import Reals
from sim.markup import Markup, joined, tag
from sim.params import Params
from sim.reading import UnreadableError, number
from sim.settings import setting
from sim.theory import expected_tokens_per_pass, survival

LONGEST = 32
"""The largest draft length, as in the widget."""


@dataclass(frozen=True)
class Conversion:
    """The numbers of one speculative decoder. Rates after one of 0 are never tested: None."""

    k: int
    alpha: float
    tokens_per_pass: float
    draft_acceptance: float
    conditional_rates: tuple[float | None, ...]
    cumulative_rates: tuple[float, ...]
    derived: tuple[str, ...]
    """How what was not given was come by, a text a number."""

    def report(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "k": self.k,
            "alpha": self.alpha,
            "tokens_per_pass": self.tokens_per_pass,
            "draft_acceptance": self.draft_acceptance,
            "conditional_rates": list(self.conditional_rates),
            "cumulative_rates": list(self.cumulative_rates),
            "derived": list(self.derived),
        }

    def scene(self) -> dict[str, object]:
        """What the widget is to be set to, by key: one rate where all are the same."""
        known = [rate or 0.0 for rate in self.conditional_rates]
        if len(set(known)) == 1:
            return {"k": self.k, "alpha": known[0], "rates": None}
        return {"k": self.k, "rates": known}


_RATE = Real(0, 1)


@dataclass(frozen=True)
class Asked:
    """The settings of this lab: what the reader has, and its draft length."""

    k: int | None = setting(None, "k", Maybe(Whole(1, LONGEST)), "k", "Draft length.")
    alpha: float | None = setting(None, "alpha", Maybe(_RATE), "α", "One rate for all drafts.")
    length: float | None = setting(
        None, "length", Maybe(Real(1, LONGEST + 1)), "length", "Tokens per pass."
    )
    acceptance: float | None = setting(
        None, "acceptance", Maybe(_RATE), "acceptance", "Accepted ÷ drafted."
    )
    rates: tuple[float, ...] = setting(
        (), "rates", Reals(_RATE, LONGEST), "rates", "Conditional, by position."
    )
    cumulative: tuple[float, ...] = setting(
        (), "cumulative", Reals(_RATE, LONGEST), "cumulative rates", "Cumulative, by position."
    )


class Given(NamedTuple):
    """One number that a reader may have."""

    key: str
    label: str
    help: str


GIVEN = (
    Given("alpha", "acceptance rate α", "One chance for every draft, given all before it, 0 to 1."),
    Given("length", "tokens per pass", "Mean acceptance length, bonus token included, 1 to k + 1."),
    Given("acceptance", "draft acceptance", "Accepted ÷ drafted, 0 to 1."),
    Given("rates", "rates, conditional", "By position, given all before it, 0 to 1."),
    Given("cumulative", "rates, cumulative", "By position, as engines print them, falling."),
)

ROOT = "alpha: the root of (1 − α^(k+1)) ÷ (1 − α) = tokens per pass"
ONE = "conditional_rates: α at every position, because one rate is all that is known"
PRODUCTS = "cumulative_rates: the products of the conditional rates"
SUM = "tokens_per_pass: 1 + the sum of the cumulative rates"
SHARE = "draft_acceptance: (tokens per pass − 1) ÷ k"
QUOTIENTS = "conditional_rates: each cumulative rate ÷ the one before it"
FROM_SHARE = "tokens_per_pass: 1 + k · draft acceptance"


def from_alpha(k: int, alpha: float) -> Conversion:
    """From one rate for all positions."""
    _within("alpha", alpha, 0, 1)
    return _by_one_rate(k, alpha, None, None, (ONE, PRODUCTS, SUM, SHARE))


def from_length(k: int, length: float) -> Conversion:
    """From tokens per pass, bonus token included."""
    _within("length", length, 1, k + 1)
    return _by_one_rate(k, root(k, length), length, None, (ROOT, ONE, PRODUCTS, SHARE))


def from_acceptance(k: int, acceptance: float) -> Conversion:
    """From accepted ÷ drafted."""
    _within("acceptance", acceptance, 0, 1)
    length = 1 + k * acceptance
    derived = (FROM_SHARE, ROOT, ONE, PRODUCTS)
    return _by_one_rate(k, root(k, length), length, acceptance, derived)


def from_rates(rates: Sequence[float]) -> Conversion:
    """From conditional rates by position."""
    for rate in rates:
        _within("rates", rate, 0, 1)
    return _by_positions(tuple(rates), tuple(survival(rates)), (PRODUCTS, SUM, SHARE, ROOT))


def from_cumulative(rates: Sequence[float]) -> Conversion:
    """From cumulative rates by position: the share of passes that accept at least so many."""
    for rate in rates:
        _within("cumulative", rate, 0, 1)
    for before, rate in pairwise(rates):
        if rate > before:
            raise ValueError(f"cumulative: {rate:g} is above the {before:g} before it; they fall")
    quotients = [rate / before if before else None for before, rate in pairwise([1.0, *rates])]
    return _by_positions(tuple(quotients), tuple(rates), (QUOTIENTS, SUM, SHARE, ROOT))


def _by_one_rate(
    k: int, alpha: float, length: float | None, share: float | None, derived: tuple[str, ...]
) -> Conversion:
    rates = (alpha,) * k
    length = expected_tokens_per_pass(rates) if length is None else length
    share = (length - 1) / k if share is None else share
    return Conversion(k, alpha, length, share, rates, tuple(survival(rates)), derived)


def _by_positions(
    conditional: tuple[float | None, ...], cumulative: tuple[float, ...], derived: tuple[str, ...]
) -> Conversion:
    k, length = len(cumulative), 1.0
    for rate in cumulative:
        length += rate
    share = (length - 1) / k
    return Conversion(k, root(k, length), length, share, conditional, cumulative, derived)


def root(k: int, length: float) -> float:
    """The rate α at which k drafts yield `length` tokens per pass, 1 to k + 1; by halving."""
    if not 1 < length < k + 1:
        return 0.0 if length <= 1 else 1.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if expected_tokens_per_pass([middle] * k) < length:
            low = middle
        else:
            high = middle
    return min((low, high), key=lambda a: abs(expected_tokens_per_pass([a] * k) - length))


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name}: {value:g} is not from {low:g} to {high:g}")


def convert(given: dict[str, str], k: str = "") -> Conversion:
    """The conversion from one number by its key, as people write it.

    `k` may be left out: rates say it, and else it is the widget's default. Raises ValueError.
    """
    named = {key: text for key, text in given.items() if text.strip()}
    if len(named) != 1:
        keys = ", ".join(one.key for one in GIVEN)
        raise ValueError(f"give one of {keys}" + (f", not {len(named)}" if named else ""))
    ((key, text),) = named.items()
    wanted = _draft_length(k) if k.strip() else None
    if key in ("rates", "cumulative"):
        values = [_number(key, part) for part in text.replace(";", ",").split(",")]
        if wanted is not None and wanted != len(values):
            raise ValueError(f"k: {wanted} drafts, but {len(values)} {key}")
        if len(values) > LONGEST:
            raise ValueError(f"{key}: {len(values)} of them; at most {LONGEST}")
        return from_rates(values) if key == "rates" else from_cumulative(values)
    made: dict[str, Callable[[int, float], Conversion]] = {
        "alpha": from_alpha,
        "length": from_length,
        "acceptance": from_acceptance,
    }
    return made[key](Params().draft_length if wanted is None else wanted, _number(key, text))


def _number(key: str, text: str) -> float:
    try:
        return number(text)
    except UnreadableError:
        raise ValueError(f"{key}: “{text.strip()}” is not a number") from None


def _draft_length(text: str) -> int:
    value = _number("k", text)
    if value != int(value) or not 1 <= value <= LONGEST:
        raise ValueError(f"k: {text.strip()} is not a whole number from 1 to {LONGEST}")
    return int(value)


# The command


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    add("--k", metavar="K", default="", help="draft length; rates say it themselves, else 4")
    for one in GIVEN:
        add(f"--{one.key}", metavar=one.key.upper(), default="", help=f"{one.label}: {one.help}")


def answer(options: Any) -> dict[str, Any]:
    """What the command prints, as JSON holds it. Raises ValueError."""
    return convert({one.key: getattr(options, one.key) for one in GIVEN}, options.k).report()


def told(report: dict[str, Any]) -> str:
    """The same, to be read."""
    lines = [f"{row.name:<20}{row.text:>10}   {row.engines}" for row in rows(report)]
    return "\n".join([*lines, "", *report["derived"]])


PRINTED_BY = (
    (
        "draft length k",
        "vLLM num_speculative_tokens; llama.cpp --spec-draft-n-max, a maximum; SGLang "
        "speculative_num_draft_tokens, which counts the root too: k is one less",
    ),
    ("α", "printed by none"),
    ("tokens per pass", "vLLM and llama.cpp mean acceptance length; SGLang accept len"),
    ("draft acceptance", "vLLM draft acceptance rate; llama.cpp draft acceptance"),
    ("the same with bonus", "SGLang accept rate: tokens per pass ÷ (k + 1)"),
    ("conditional rates", "printed by none; the rates of this simulator"),
    ("cumulative rates", "vLLM and llama.cpp acceptance rate per position"),
)
"""The numbers, and which engine prints each under what name."""


class Row(NamedTuple):
    """A number, and which engine prints it under what name."""

    name: str
    text: str
    engines: str


def rows(report: dict[str, Any]) -> list[Row]:
    """A line for each number; rates by position one after another."""

    def listed(rates: Sequence[float | None]) -> str:
        return "  ".join("–" if rate is None else f"{rate:.3f}" for rate in rates)

    k, length = report["k"], report["tokens_per_pass"]
    values = (
        str(k),
        f"{report['alpha']:.4f}",
        f"{length:.3f}",
        f"{report['draft_acceptance']:.4f}",
        f"{length / (k + 1):.4f}",
        listed(report["conditional_rates"]),
        listed(report["cumulative_rates"]),
    )
    return [Row(name, text, who) for (name, who), text in zip(PRINTED_BY, values, strict=True)]


def table_html(report: dict[str, Any]) -> Markup:
    """The numbers as rows of a table."""
    return joined(
        tag("tr", tag("th", name, scope="row"), tag("td", text), tag("td", engines))
        for name, text, engines in rows(report)
    )


# The section


CAPTION = "The numbers and their names"


def _field(given: Given, **attributes: str) -> Markup:
    name = f"convert-{given.key}"
    plain = {"inputmode": "decimal", "autocomplete": "off", "spellcheck": "false"}
    described = {"aria_describedby": f"{name}-help"}
    return joined(
        [
            tag("label", given.label, for_=name),
            tag("input", type="text", id=name, **attributes, **plain, **described),
            tag("p", given.help, id=f"{name}-help"),
        ]
    )


def printed() -> Markup:
    """The fields, filled with the widget's opening rate, and the numbers that follow from it."""
    opening = Params()
    filled = {
        "k": {"placeholder": f"{opening.draft_length}"},
        "alpha": {"value": f"{opening.acceptance_rate:g}"},
    }
    asked = (Given("k", "draft length k", f"1 to {LONGEST}; rates say it themselves."), *GIVEN)
    fields = (_field(one, **filled.get(one.key, {})) for one in asked)
    report = from_alpha(opening.draft_length, opening.acceptance_rate).report()
    heads = (tag("th", text, scope="col") for text in ("number", "value", "who prints it"))
    table = tag(
        "table",
        tag("caption", CAPTION, class_="sr-only"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", table_html(report), id="convert-table"),
        class_="names",
    )
    use = tag("button", "Use in the widget", type="button", id="convert-use", disabled=True)
    wide = {"aria_label": CAPTION, "tabindex": "0", "class_": "wide"}
    return joined(
        [
            tag("div", *fields, class_="convert", id="convert-fields"),
            tag("p", class_="wrong", id="convert-said", role="alert"),
            tag("section", table, **wide),
            tag("p", use),
        ]
    )
