"""How a text that is being written is shown: tokens, what was said of each, what is measured."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from sim.cache import ACCEPTED, BONUS, PLAIN
from sim.labs.text_measured import costs, rates
from sim.markup import Markup, joined, tag
from sim.params import SLOTS
from sim.theory import expected_tokens_per_pass
from sim.words import count, many, three_digits

if TYPE_CHECKING:
    from sim.labs.weights import Array
    from sim.labs.writer import Passed, Writer

LIKELIEST = 5
"""Tokens that are named of what a model says."""


class Spelling:
    """Tokens as they come, as text: bytes that are no character yet wait for the next."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    def of(self, pieces: Iterable[bytes]) -> list[str]:
        """A text for each of these pieces."""
        return [self._decoder.decode(piece) for piece in pieces]


def tokens_html(texts: Sequence[str], origins: Sequence[str], first: int) -> Markup:
    """Tokens as elements with their origins as classes, the first of them numbered `first`."""
    return joined(
        tag("i", text, class_=origin, data_at=str(first + number))
        for number, (text, origin) in enumerate(zip(texts, origins, strict=True))
    )


def lines(texts: Sequence[str]) -> Iterator[slice]:
    """These tokens in stretches that end with a line; the last one need not."""
    begin = 0
    for end, text in enumerate(texts, 1):
        if text.endswith("\n") or end == len(texts):
            yield slice(begin, end)
            begin = end


def named(piece: bytes) -> str:
    """A token in quotation marks, its spaces and line ends to be seen."""
    text = piece.decode(errors="replace").replace("\n", "↵").replace(" ", "␣")
    return f"“{text}”"


def said_html(writer: Writer, at: int) -> Markup:
    """What the models said where a token stands, and how it came there."""
    number, place = writer.sources[at]
    bytes_of = writer.models.pairs.bytes_of
    own = named(bytes_of[writer.tokens[at]])
    if number < 0:
        return tag("p", f"{own} stands in the prompt.")
    one = writer.passed[number]
    p, q, how = _how(one, place, bytes_of)
    shown = sorted(range(len(p)), key=lambda token: -p[token])[:LIKELIEST]
    also = {writer.tokens[at], *(d.token for d in one.drafts[place : place + 1])}
    shown += [token for token in sorted(also) if token not in shown]
    heads = ("token", "p, the target", *(("q, the draft",) if q is not None else ()))
    rows = (
        tag(
            "tr",
            tag("th", named(bytes_of[token]), scope="row"),
            tag("td", _share(p[token])),
            tag("td", _share(q[token])) if q is not None else "",
            class_="written" if token == writer.tokens[at] else False,
        )
        for token in shown
    )
    table = tag(
        "table",
        tag("caption", "What else was likely there", class_="sr-only"),
        tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
        tag("tbody", *rows),
    )
    return joined([tag("p", f"{own}, {how}"), table])


def _how(one: Passed, place: int, bytes_of: Sequence[bytes]) -> tuple[Array, Array | None, str]:
    """What the target said, what the draft said if it did, and what came of it."""
    if place < len(one.drafts):
        draft = one.drafts[place]
        test = f"its coin {draft.coin:.2f} against min(1, p ÷ q) = {draft.chance:.2f}"
        if draft.accepted:
            return draft.p, draft.q, f"a draft that was accepted: {test}."
        rejected = named(bytes_of[draft.token])
        how = f"in place of the draft {rejected}, which was rejected: {test}."
        return draft.p, draft.q, how
    assert one.p is not None
    if not one.drafts:
        return one.p, None, "from plain decoding: one token a pass."
    drafts = many(len(one.drafts), "draft")
    return one.p, None, f"the pass’s own token after {drafts} accepted: the bonus token."


def _share(chance: float) -> str:
    return f"{100 * chance:.1f} %" if chance >= 0.0005 else "< 0.1 %" if chance else "0"


def numbers_html(writer: Writer, k: int) -> Markup:
    """What is measured so far, as rows of a table."""
    return joined(
        tag("tr", tag("th", name, scope="row"), tag("td", value), tag("td", note))
        for name, value, note in _numbers(writer, k)
    )


def _numbers(writer: Writer, k: int) -> Iterable[tuple[str, str, str]]:
    written = len(writer.tokens) - writer.origins.count("prompt")
    yield "tokens written", count(written), many(writer.state.verify_passes, "verify pass")
    found = rates(writer.passed, k)
    if found:
        theory = expected_tokens_per_pass(found.rates)
        yield (
            "tokens / verify pass",
            f"{found.tokens / found.passes:.2f}",
            f"with {many(k, 'draft')}; theory at the rates below {theory:.2f}",
        )
        for place, (rate, of) in enumerate(zip(found.rates, found.tested, strict=True), 1):
            error = sqrt(rate * (1 - rate) / of)
            yield f"α of draft {place}", f"{rate:.2f}", f"± {error:.2f}, {count(of)} tested"
    spent = costs(writer.passed)
    for drafts in sorted(kind for kind in spent if kind is not None):
        cost = spent[drafts]
        share = 100 * cost.drafting / (cost.drafting + cost.verifying or 1)
        what = f"{share:.0f} % of it for drafting" if drafts else "one token a pass"
        name = many(drafts, "draft") if drafts else "plain"
        yield f"ms a token, {name}", three_digits(cost.each), what
    if None in spent:
        yield "ms a token, no cache", three_digits(spent[None].each), "all computed in every pass"
    if found and 0 in spent and k in spent and spent[k].each:  # a clock may count none
        yield "speedup here", f"{spent[0].each / spent[k].each:.2f}×", "of drafts, by these times"
    if found:
        c = writer.draft_cost
        card = found.tokens / found.passes / (1 + k * c)
        reads = (
            f"a draft step reads {c:.2f} of the weights" if c else "counting costs nothing there"
        )
        note = f"one that waits for memory; {reads}"
        yield "speedup on a card", f"{card:.2f}×", note


def kept_said(writer: Writer) -> str:
    """What the board shows, in a sentence."""
    if not writer.cached:
        return "The KV cache is off: every pass computes all that is known again."
    missing = writer.missing
    if missing:
        return f"{many(missing, 'position')} must be computed again before the next token."
    kept = writer.kept_positions
    return f"KV cache: {kept} / {SLOTS} positions, {writer.kept_bytes / 1000:.0f} kB."


KEY = ((ACCEPTED, "draft, accepted"), (BONUS, "the pass’s own"), (PLAIN, "plain"))
"""Origins, and what they are called under the text."""
