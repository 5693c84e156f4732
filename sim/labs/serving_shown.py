"""The server's section as it stands: its settings, and its numbers as text and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.catalogue import MODELS, machine_named, model_named
from sim.kinds import Real, Whole
from sim.labs.budget import Budget, limit_told, point_of
from sim.labs.fields import labelled
from sim.labs.history import History, Moment
from sim.labs.pricing import NGRAM, Drafting
from sim.labs.service import Asked, Named
from sim.markup import Markup, joined, tag
from sim.params import SLOTS
from sim.passes import GIB
from sim.settings import entered, rows, setting
from sim.words import count, duration, many, three_digits

MOST_WATCHED = 300
"""Requests up to which every pass is kept, on the board of `SLOTS` slots at most."""

SMALL, LARGE = (SLOTS, 50), (2**20, 10_000)
"""Slots and requests of a scene to be watched, and of one too large for that: 64 K blocks."""


@dataclass(frozen=True)
class Shown(Asked):
    """The settings of the section: those of the server, the moment, and those of the budget."""

    at: float = setting(
        150.0, "at", Real(0, 1e12), "moment", "Milliseconds after the start at which one looks."
    )
    memory: int = setting(
        80, "memory", Whole(1, 4096, slider=(320, 1)), "memory", "GiB of the machine, all cards."
    )
    batch: int = setting(
        64,
        "batch",
        Whole(1, 512, slider=(512, 1)),
        "batch limit",
        "Conversations that may run at once.",
    )
    context: int = setting(
        2048,
        "context",
        Whole(1, 131_072, slider=(16_384, 64)),
        "context",
        "Tokens of each conversation.",
    )
    drafts: int = setting(
        0, "drafts", Whole(0, 32, slider=(8, 1)), "drafts a pass", "Of each conversation."
    )
    draft: str = setting(
        "Llama-3.2-1B",
        "draft",
        Named((NGRAM, *(model.name for model in MODELS))),
        "drafts made by",
        "A model, whose weights and cache take memory too, or n-grams, which take nothing.",
    )

    @property
    def watched(self) -> bool:
        """Whether drawn requests of these settings are few enough to be watched pass by pass."""
        return self.slots <= SLOTS and self.requests <= MOST_WATCHED

    @property
    def budget(self) -> Budget:
        """What there is to share."""
        return Budget(
            machine_named(self.machine),
            model_named(self.model),
            float(self.memory * GIB),
            self.context,
            self.batch,
            self.drafts,
            self.acceptance_rate,
            Drafting() if self.draft == NGRAM else Drafting(model_named(self.draft)),
        )


SETTINGS = {row.key: row for row in rows(Shown)}
OF_THE_SERVER = tuple(row.key for row in rows(Asked))
"""Keys that the requests and their passes hang on."""


def changed(shown: Shown, key: str, text: str) -> tuple[Shown, str | None]:
    """The settings after a reader set one, and what was wrong; a machine brings its memory.

    What was wrong names the field by its label.
    """
    row = SETTINGS[key]
    value, complaint = entered(row, text, getattr(shown, row.name))
    if complaint:
        complaint = labelled(complaint, row)
    after = replace(shown, **{row.name: value})
    if key == "machine" and value != shown.machine:
        after = replace(after, memory=round(machine_named(value).capacity / GIB))
    return after, complaint


def sized(shown: Shown, size: tuple[int, int]) -> Shown:
    """The same with other slots and requests; the longest request follows from the slots."""
    slots, requests = size
    return replace(shown, slots=slots, requests=requests, longest=None)


def same_arrivals(shown: Shown) -> tuple[object, ...]:
    """What the requests and their passes hang on, but for how memory is set aside."""
    return tuple(getattr(shown, SETTINGS[key].name) for key in OF_THE_SERVER if key != "policy")


def compared(histories: Mapping[str, History], seconds: float) -> list[list[str]]:
    """What each way of setting memory aside has made of the same arrivals by now.

    Of a run whose passes are not kept: what it was like on average, and made in the end.
    """
    found = []
    for policy, history in histories.items():
        numbers = history.numbers
        if history.moments:
            moment = history.moments[history.at(seconds)]
            over = seconds >= history.moments[-1].end
            running, waiting = ("0", "0") if over else map(str, _here(moment))
            shares: tuple[float, ...] = (0,) if over else moment.shares
            clock = numbers["seconds"] if over else moment.start
            tokens, waited = numbers["tokens"] if over else moment.tokens, moment.waited
        else:
            ran = numbers["mean_running"]
            running, waiting = _or_none(ran) + " on average" * (ran is not None), "–"
            shares = tuple(share or 0.0 for share in numbers["shares"].values())
            tokens, waited = numbers["tokens"], numbers["mean_wait_s"] or 0.0
            clock = numbers["seconds"]
        held = sum(shares[:3])
        found.append(
            [
                policy,
                running,
                waiting,
                f"{100 * shares[0] / held:.0f} %" if held else "–",
                count(tokens),
                _or_none(tokens / clock if clock else None),
                duration(waited),
                duration(numbers["seconds"]),
            ]
        )
    return found


def _here(moment: Moment) -> tuple[int, int]:
    return len(moment.seats), len(moment.queue)


def _or_none(value: float | None) -> str:
    return "–" if value is None else three_digits(value)


HEADS = (
    *("set aside as", "running", "waiting", "tokens in what is held", "tokens written"),
    *("tokens a second", "mean wait", "all through after"),
)


def columns_told(watched: bool) -> str:
    """What the columns of that table are of, where each pass is kept or not."""
    if watched:
        return (
            "Running, waiting and the share of tokens in what is held are those of this moment; "
            "tokens a second are up to it. The mean wait is of those who were let in by then, so "
            "a way that lets few in may show a short one."
        )
    return "Running and the share of tokens in what is held are means over the time of all passes."


def compared_html(lines: Sequence[Sequence[str]], policy: str) -> Markup:
    """The rows of that table; the one that is shown is marked."""
    return joined(
        tag(
            "tr",
            tag("th", tag("b", name) if name == policy else name, scope="row"),
            *(tag("td", cell) for cell in cells),
            aria_current="true" if name == policy else False,
        )
        for name, *cells in lines
    )


def numbers_told(history: History) -> str:
    """What came of all requests, in a line."""
    numbers = history.numbers
    token = numbers["shares"]["token"]
    refused = f", {count(numbers['refused'])} refused" if numbers["refused"] else ""
    parts = [
        f"In the end {many(numbers['finished'], 'request')} "
        f"{'is' if numbers['finished'] == 1 else 'are'} through{refused}",
        f"{count(numbers['tokens'])} tokens in {three_digits(numbers['seconds'])} s, "
        f"{_or_none(numbers['tokens_per_second'])} a second",
        f"{_or_none(numbers['mean_running'])} ran at once on average",
        f"95 in 100 waited {_or_none(numbers['p95_wait_s'])} s at most",
        f"{count(numbers['preemptions'])} preempted, {count(numbers['recomputed'])} positions "
        "computed again",
        f"{'–' if token is None else f'{100 * token:.0f} %'} of the whole memory held tokens on "
        "average",
    ]
    return " · ".join(parts) + "."


MOST_ROWS = 12
"""Requests that are shown in each column."""

RUNNING, PREEMPTED, QUEUED = "running", "preempted", "queued"


class Row(NamedTuple):
    """A request as a row: where it stands, and what it says."""

    number: int
    hue: int | None
    """None before it has been let in."""
    state: str
    place: int
    """From the top of its column: those that run in one, those that wait in the other."""
    text: str
    done: float
    """Share of its tokens that it has."""


def request_rows(history: History, moment: Moment) -> tuple[list[Row], tuple[int, int]]:
    """The rows of a pass, and how many more there are in each column."""
    made = [
        Row(
            seat.number,
            seat.hue,
            RUNNING,
            place,
            f"fills in {seat.missing}" if seat.missing else f"{seat.tokens} of {seat.last}",
            seat.tokens / seat.last,
        )
        for place, seat in enumerate(moment.seats[:MOST_ROWS])
    ]
    requests = history.scene.requests
    prefix = history.scene.asked.prefix
    for place, number in enumerate(moment.queue[:MOST_ROWS]):
        lost = place < moment.preempted
        text = "lost its cache" if lost else f"prompt {prefix + requests[number].prompt}"
        if place == 0:
            text += f", needs {moment.needed}"
        hue, state = (history.hues[number], PREEMPTED) if lost else (None, QUEUED)
        made.append(Row(number, hue, state, place, text, 0.0))
    more = (max(0, len(moment.seats) - MOST_ROWS), max(0, len(moment.queue) - MOST_ROWS))
    return made, more


class Gained(NamedTuple):
    """The two numbers of a budget that pull apart, as text, and what limits."""

    server: str
    reader: str
    together: str
    """Conversations that run, of those that fit."""
    limit: str


def gained(budget: Budget) -> Gained:
    """What a budget comes to."""
    point = point_of(budget)
    return Gained(
        count(point.server),
        three_digits(point.reader),
        f"{count(point.running)} of {count(point.room)} that fit",
        limit_told(budget),
    )
