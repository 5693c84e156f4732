"""What a pass costs on a machine: when checking drafts is free, when it loses, and which k is best.

The section of the page, as it is printed and as it is kept current; its command is in
cost_report.py, what both compute in pricing.py, and what may be set in cost_settings.py.
"""

from __future__ import annotations

from math import ceil

from sim.chart import figure_html
from sim.labs.convert import root
from sim.labs.cost_charts import CAPTIONS, CHARTS
from sim.labs.cost_context import elsewhere
from sim.labs.cost_fields import fields_html
from sim.labs.cost_memory import missing, room
from sim.labs.cost_report import answer, arguments, batches_text, sources, told
from sim.labs.cost_settings import Asked, Priced, priced
from sim.labs.curve import doubling, doubtful, uncovered
from sim.labs.engines import cautions, engines, refusal
from sim.labs.handed import departure
from sim.labs.pricing import LARGEST, Range, best_of, expected_tokens
from sim.labs.published import REPORTS, Report, nearest
from sim.markup import Markup, joined, tag
from sim.words import count, many, three_digits

__all__ = ["answer", "arguments", "printed", "told"]


# What is told


def verdict(given: Priced) -> str:
    """What does not fit, first; what the drafts gain or cost, and what the best length would."""
    short, said = missing(given), _gain(given)
    return f"{short} If it did: {_going_on(said)}" if short else said


def _gain(given: Priced) -> str:
    asked, now = given.asked, given.speedup
    best, other = best_of(given.speedups[asked.batch - 1]), better(given)
    if now is None:
        return uncovered(asked.curve, (asked.batch, asked.batch * (1 + asked.k)))
    gives = "gives" if asked.k == 1 else "give"
    said = f"In a batch of {asked.batch}, {_drafts(asked.k)} a pass {gives} {now:.2f}×"
    if not asked.k:
        said = f"In a batch of {asked.batch}, without drafts, it is plain decoding: 1×"
    if now < 1:
        said += ": slower than plain decoding"
    if best.k == 0:
        return f"{said}. No draft length gains here."
    if other is None:
        noticeably = "" if best.k == asked.k else "noticeably "
        return f"{said}, and no other draft length gives {noticeably}more."
    return f"{said}. {_drafts(other).capitalize()} would give {best.speedup:.2f}×."


def better(given: Priced) -> int | None:
    """The draft length that gains most, 0 for none; None where it is set, or gains no more at the
    digits shown.
    """
    asked, now = given.asked, given.speedup
    best = best_of(given.speedups[asked.batch - 1])
    if best.k == asked.k or best.speedup is None:
        return None
    even = now is not None and f"{now:.2f}" == f"{best.speedup:.2f}"
    return None if even else best.k


def as_before(given: Priced, what: str) -> str:
    """The verdict, where what was written since does not count: of figures, or of the curve."""
    none = what == "curve" and not given.asked.curve
    counts = "Without that curve" if none else f"With the {what} as before"
    return f"{counts}: {_going_on(verdict(given))}"


def _going_on(sentence: str) -> str:
    """A sentence as it stands after a colon."""
    return sentence[0].lower() + sentence[1:]


def _drafts(k: int) -> str:
    return many(k, "draft").replace(" ", "\u00a0")


def _ms(seconds: float) -> str:
    return f"{three_digits(1000 * seconds)} ms"


def why(given: Priced) -> str:
    """Where the time of a round goes."""
    asked, case = given.asked, given.case
    batch, k = asked.batch, asked.k
    plain, verify = case.seconds(batch, 1), case.seconds(batch, 1 + k)
    drafting = case.drafting_seconds(batch, k)
    if plain is None or verify is None or drafting is None:
        return _in_doubt(given, "What was not measured is not made up.")
    parts = [f"A plain pass takes {_ms(plain)}"]
    one, roofs = case.roofs(batch, 1), case.roofs(batch, 1 + k)
    if not asked.curve:
        limit = "computing" if one.arithmetic > one.memory else "reading weights and cache"
        parts[0] += f", all of it {limit}"
    if not k:
        return _in_doubt(given, f"{parts[0]}.")
    whole = f"{count(batch * (1 + k))} positions"
    checking = f"Checking takes a pass over {whole}, {_ms(verify)}"
    if not asked.curve:
        if roofs.arithmetic > roofs.memory:
            checking += ": computing is the limit now"
        elif roofs.memory > one.memory * 1.01:
            checking += ": more experts are awake, and have to be read"
        else:
            checking += ": no longer than a plain one"
    parts.append(checking)
    limit = " at the limits of the machine, for your curve does not hold them"
    ideal = limit * bool(asked.curve and case.drafting.model)
    parts.append(
        f"The drafts take {_ms(drafting)}{ideal}" if drafting else "The drafts take no time"
    )
    tokens, lasts = expected_tokens(case.rates)[k], drafting + verify
    parts.append(
        f"So a round of {_ms(lasts)} writes {tokens:.2f} tokens of each sequence, and plain "
        f"decoding {lasts / plain:.2f} meanwhile"
    )
    return _in_doubt(given, ". ".join(parts) + ".")


def measured(given: Priced) -> str:
    """What the pass times are, where they are those of a curve; else nothing."""
    asked, curve = given.asked, given.asked.curve
    if not curve:
        return ""
    most = many(round(curve[-1][0]), "position")
    if not asked.of_a_device:
        return (
            f"Pass times are those of your curve, {many(len(curve), 'point')} up to {most}; beyond "
            "them nothing is known."
        )
    knee, c = doubling(curve), given.case.draft_cost(1)
    doubled = f"beyond {most}" if knee is None else f"at about {knee:.0f} positions"
    return (
        "This is a measured curve: passes of the small model that writes in this page, on the "
        f"device that timed them. A pass takes twice as long {doubled}, which is the knee here. "
        f"A draft takes c = {c or 0:.2f} of a plain pass. Beyond {most} nothing was measured."
    )


def _in_doubt(given: Priced, text: str) -> str:
    doubt = doubtful(given.asked.curve)
    return f"{doubt} {text}" if doubt else text


def near(given: Priced) -> Markup:
    """The published measurement that is nearest to the scene."""
    asked, case = given.asked, given.case
    plain, verify = case.seconds(asked.batch, 1), case.seconds(asked.batch, 1 + asked.k)
    drafting = case.drafting_seconds(asked.batch, asked.k)
    if not asked.k or plain is None or verify is None or drafting is None:
        return Markup("")
    tokens = expected_tokens(case.rates)[asked.k]
    here = (drafting + verify) / plain
    found = nearest(asked.k, tokens, here)
    link = tag("a", found.name, href=found.address)
    parts: list[object] = [
        "Of published measurements the nearest in tokens a pass, in the time of a round and in k: ",
        link,
    ]
    parts.append(
        f": {found.measured:.2f}× at {found.tokens:.1f} tokens a pass. A round takes "
        f"{found.round:.1f} plain passes there, and {here:.1f} here"
    )
    if found.predicted is not None:
        miss = found.measured / found.predicted - 1
        side = "more" if miss > 0 else "less"
        parts.append(f". It gained {abs(100 * miss):.0f} % {side} than the formula says")
    return joined([*parts, "."])


def instead(given: Priced) -> str:
    """What the button that sets the best draft length says."""
    k = better(given)
    if k is None:
        return "No better draft length"
    return f"Draft {k} instead" if k else "Draft nothing instead"


def lengths_html(given: Priced) -> Markup:
    """A row for each range of batches: its draft length, and what that gives; those that do not
    fit are one.
    """
    rows = [
        (one, "not known" if one.k is None else str(one.k or "none"), _gains(given, *one))
        for one in given.fitting
    ]
    if given.most < LARGEST:
        rows.append((Range(given.most + 1, LARGEST, None), "does not fit", "–"))
    return joined(
        tag(
            "tr",
            tag("th", batches_text(one.first, one.last), scope="row"),
            tag("td", length),
            tag("td", gain),
            class_="now" if one.first <= given.asked.batch <= one.last else "",
        )
        for one, length, gain in rows
    )


def _gains(given: Priced, first: int, last: int, k: int | None) -> str:
    if not k:
        return "–"
    ends = [given.speedups[batch - 1][k - 1] for batch in dict.fromkeys((first, last))]
    return " to ".join(f"{end:.2f}×" for end in ends if end is not None)


def engines_html(given: Priced) -> Markup:
    """How each engine is told, with what it cannot be told; or why none would start."""
    if given.asked.of_a_device:
        return tag("p", "No engine serves the model that writes in this page.")
    refused = refusal(given)
    if refused:
        return tag("p", refused)
    heeded = [tag("p", text) for text in cautions(given)]
    told = [
        tag(
            "div",
            tag("h4", engine.name),
            tag("button", "Copy", type="button", data_copy=f"cost-engine-{at}"),
            tag("pre", engine.command, id=f"cost-engine-{at}", tabindex="0"),
            tag("p", engine.note),
            class_="engine",
        )
        for at, engine in enumerate(engines(given))
    ]
    return joined([*heeded, *told])


def reports_html(given: Priced) -> Markup:
    """What others measured, and what else a round cost, to explain it."""
    return joined(_report(one, given) for one in REPORTS)


def _report(one: Report, given: Priced) -> Markup:
    known = [
        f"k = {one.k}" if one.k else "",
        f"{one.tokens:.1f} tokens a pass" if one.tokens else "",
        f"c = {one.c:.2f}" if one.c else "",
    ]
    measured = "–" if one.speedup is None else f"{one.speedup:.2f}×"
    return tag(
        "tr",
        tag("th", tag("a", one.name, href=one.address), scope="row"),
        tag("td", measured),
        tag("td", ", ".join(part for part in known if part)),
        tag("td", _explained(one, given)),
    )


def _explained(one: Report, given: Priced) -> str:
    left = one.round_cost(given.case.rates)
    if left is not None and one.k is not None and one.tokens_needed is not None:
        if left >= 0:
            took = f" ({left * one.plain_ms:.1f} ms)" if one.plain_ms else ""
            return f"{left:.2f} plain passes{took}, besides its drafts, with your α"
        needed = ceil(100 * root(one.k, one.tokens_needed)) / 100
        return f"none is left with your α; it must have been {needed:.2f} at least"
    if one.tokens is None:
        return f"{one.beside_the_pass:.1f} plain passes, for its drafts alone"
    return f"{one.beside_the_pass:.1f} plain passes, its drafts among them"


def sources_html(given: Priced) -> Markup:
    """Where each figure stands."""
    return joined(tag("li", text) for text in sources(given.asked))


def states(asked: Asked) -> dict[str, bool]:
    """What is hidden and what is not, by an element's id and its attribute."""
    return {
        "cost-fields@data-device": asked.of_a_device,
        "cost-curve-note@hidden": not asked.curve,
    }


def parts(given: Priced) -> dict[str, Markup | str]:
    """Everything that is told, by the id of its element."""
    of_a_device = given.asked.of_a_device
    return {
        "cost-curve-said": measured(given),
        "cost-leave": "Back to the catalogue" if of_a_device else "Leave the curve out",
        "cost-verdict": verdict(given),
        "cost-why": why(given),
        "cost-room": room(given),
        "cost-near": near(given),
        "cost-best": instead(given),
        "cost-departure": departure(given),
        "cost-elsewhere": elsewhere(given),
        "cost-lengths": lengths_html(given),
        "cost-engines": engines_html(given),
        "cost-reports": reports_html(given),
        "cost-sources": sources_html(given),
    }


# The section


def _wide(caption: str, heads: tuple[str, ...], rows: object, name: str, kind: str) -> Markup:
    """A table that scrolls where it is too wide."""
    table = tag(
        "table",
        tag("caption", caption, class_="sr-only"),
        tag("thead", tag("tr", *(tag("th", text, scope="col") for text in heads))),
        tag("tbody", rows, id=name),
        class_=kind,
    )
    return tag("section", table, aria_label=caption, tabindex="0", class_="wide")


LENGTHS = "Draft lengths by batch"
MEASURED = "Measurements that lack something"


def printed() -> Markup:
    """All of it for the opening scene, in which a batch makes speculation lose."""
    given = priced(Asked())
    told = parts(given)
    figures = [figure_html(*each, given) for each in zip(CHARTS, CAPTIONS, strict=True)]
    use = tag("button", "Use in the widget", type="button", id="cost-use", disabled=True)
    best = tag("button", told["cost-best"], type="button", id="cost-best", disabled=True)
    return joined(
        [
            tag("div", fields_html(given.asked), class_="cost", id="cost-fields"),
            tag(
                "div",
                tag("p", id="cost-curve-said"),
                tag("button", told["cost-leave"], type="button", id="cost-leave"),
                id="cost-curve-note",
                hidden=True,
            ),
            tag("p", told["cost-verdict"], id="cost-verdict", role="status"),
            *(tag("p", told[name], id=name) for name in ("cost-why", "cost-room", "cost-near")),
            tag("p", use, " ", best, class_="cost-acts"),
            tag("p", told["cost-departure"], id="cost-departure"),
            *figures[:2],
            tag("h4", "Which draft length, by batch"),
            tag("p", "Each is within 1 % of the best at every batch of its range."),
            tag("p", told["cost-elsewhere"], id="cost-elsewhere"),
            _wide(
                LENGTHS,
                ("batch", "draft length", "speedup, first to last batch"),
                told["cost-lengths"],
                "cost-lengths",
                "example",
            ),
            tag("h4", "The same for an engine"),
            tag("div", told["cost-engines"], id="cost-engines"),
            tag("h4", "What others measured"),
            figures[2],
            tag(
                "p",
                "These lack what a prediction needs. So here is what a round must have cost "
                "beside one plain pass, to be as fast or as slow as it was.",
            ),
            _wide(
                MEASURED,
                ("measured", "speedup", "what is known", "what else a round cost, to explain it"),
                told["cost-reports"],
                "cost-reports",
                "names",
            ),
            tag(
                "details",
                tag("summary", "Where the figures stand"),
                tag("ul", told["cost-sources"], id="cost-sources"),
            ),
        ]
    )
