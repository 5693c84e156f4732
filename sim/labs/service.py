"""A server by its settings: the requests that come to it, what its passes cost, what it reports.

Drafting costs what it does in the widget: k steps, each a share `c` of a plain pass over the same
requests. A pass is priced by `sim.passes`; a request's context is what its cache holds before it.
Of a prompt each position attends to half of it on average. Copying a block, and what lies outside
of passes, takes no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from sim.catalogue import MACHINES, MODELS, machine_named, model_named, named
from sim.kinds import Choice, Maybe, Real, Whole
from sim.labs.arrivals import LENGTHS, MOST_REQUESTS, Request, drawn_lengths, poisson
from sim.labs.blocks import BLOCK, PAGED, POLICIES, memory_of
from sim.labs.scheduler import PREEMPTIONS, RECOMPUTE, SHARES, Served, Server
from sim.passes import Machine, Model, pass_roofs
from sim.reading import UnreadableError
from sim.settings import setting
from sim.work import Work

MOST_SLOTS = 2**24

OVERLOAD = 2
"""The default rate of arrivals, in what the memory could serve if none of it lay idle."""

LONGEST_SHARE, LONGEST_MOST = 4, 2048
"""The longest request takes this part of the slots, and at most so many tokens, unless said."""

SLICE = 500
"""Events of a part of long work."""


class InBlocks(Whole):
    """A number of slots that is a whole number of blocks."""

    @property
    def allowed(self) -> str:
        """A multiple, and its limits."""
        return f"a multiple of {BLOCK} {self.limits}"

    def admits(self, value: object) -> bool:
        """Whole blocks only."""
        return super().admits(value) and value % BLOCK == 0  # type: ignore[operator]

    def read(self, given: object) -> tuple[int, bool]:
        """The nearest multiple."""
        value, exact = super().read(given)
        whole = max(int(self.low), round(value / BLOCK) * BLOCK)
        return whole, exact and whole == value


class Named(Choice):
    """One of the catalogue's names, in any case and with any signs between."""

    def read(self, given: object) -> tuple[str, bool]:
        """As the catalogue writes it."""
        found = named(str(given), self.names)
        if found is None:
            raise UnreadableError
        return found, True


@dataclass(frozen=True)
class Asked:
    """The settings of this lab."""

    policy: str = setting(
        PAGED, "policy", Choice(tuple(POLICIES)), "memory", "How a request's memory is set aside."
    )
    slots: int = setting(
        512,
        "slots",
        InBlocks(BLOCK, MOST_SLOTS),
        "slots",
        "Tokens whose keys and values the memory holds, in blocks of 16, whatever the machine has.",
    )
    requests: int = setting(
        50, "requests", Whole(1, MOST_REQUESTS), "requests", "How many come to the server."
    )
    rate: float | None = setting(
        None,
        "rate",
        Maybe(Real(1e-6, 1e9)),
        "arrivals a second",
        "Mean of a Poisson process; one that keeps the memory full unless said.",
    )
    lengths: str = setting(
        "chat",
        "lengths",
        Choice(tuple(LENGTHS)),
        "lengths",
        "Of prompts and outputs: log-normal, as in chats, short, or long.",
    )
    longest: int | None = setting(
        None,
        "longest",
        Maybe(Whole(2, MOST_SLOTS)),
        "longest request",
        "Tokens of prompt and output; a quarter of the slots, at most 2048, unless said.",
    )
    most_running: int | None = setting(
        None,
        "running",
        Maybe(Whole(1, MOST_REQUESTS)),
        "batch limit",
        "Requests that run at once; as many as the memory holds unless said.",
    )
    draft_length: int = setting(
        0, "k", Whole(0, 32, slider=(8, 1)), "draft length", "Drafts of each request in a pass."
    )
    acceptance_rate: float = setting(
        0.8,
        "alpha",
        Real(0, 1, slider=(1, 0.01)),
        "acceptance rate",
        "Chance that a draft is accepted, given that all before it were.",
    )
    draft_cost: float = setting(
        0.1,
        "c",
        Real(0, 8),
        "draft cost",
        "Time of one draft step ÷ time of a plain pass over the same requests.",
    )
    prefix: int = setting(
        0,
        "prefix",
        Whole(0, MOST_SLOTS),
        "common prefix",
        "Tokens put before every prompt, which makes all requests longer; in blocks they are kept "
        "once, which shows beside the other ways.",
    )
    preempt: str = setting(
        RECOMPUTE,
        "preempt",
        Choice(tuple(PREEMPTIONS)),
        "preempted",
        "What becomes of a cache that has to go: computed again, or swapped to the host and back.",
    )
    link: float = setting(
        25.0, "link", Real(0.001, 100_000), "host link", "GB a second between card and host."
    )
    model: str = setting(
        "Llama-3.1-8B",
        "model",
        Named(tuple(model.name for model in MODELS)),
        "model",
        "From the catalogue; its weights and caches take two bytes a number.",
    )
    machine: str = setting(
        "A100-80GB",
        "machine",
        Named(tuple(machine.name for machine in MACHINES)),
        "machine",
        "From the catalogue.",
    )
    seed: int = setting(0, "seed", Whole(0, 2**32 - 1), "seed", "The luck: requests and coins.")


class Costs:
    """What passes of a model cost on a machine, with drafts or without."""

    def __init__(
        self,
        machine: Machine,
        model: Model,
        drafts: int = 0,
        draft_cost: float = 0.0,
        link: float = 25,
    ) -> None:
        """`link` is in GB a second."""
        self._machine, self._model = machine, model
        self._drafts, self._draft_cost, self._link = drafts, draft_cost, link * 1e9
        self._kv_bytes = model.kv_bytes()

    def plain_seconds(self, requests: float, contexts: float) -> float:
        """A pass in which so many requests write a token each."""
        weights = self._model.weights_read(requests)
        return pass_roofs(self._machine, self._model, requests, contexts, contexts, weights).seconds

    def pass_seconds(
        self, writing: int, contexts: int, filled: int, held: int, attended: float
    ) -> float:
        """See `scheduler.Pricing`."""
        width = 1 + self._drafts
        positions = writing * width + filled
        seconds = pass_roofs(
            self._machine,
            self._model,
            positions,
            contexts + held,
            width * contexts + attended,
            self._model.weights_read(positions),
        ).seconds
        if self._drafts and writing:
            seconds += self._drafts * self._draft_cost * self.plain_seconds(writing, contexts)
        return seconds

    def swap_seconds(self, positions: int) -> float:
        """See `scheduler.Pricing`."""
        return positions * self._kv_bytes / self._link


def costs_of(asked: Asked) -> Costs:
    """The prices of these settings."""
    return Costs(
        machine_named(asked.machine),
        model_named(asked.model),
        asked.draft_length,
        asked.draft_cost,
        asked.link,
    )


def longest_of(asked: Asked, own: Sequence[Request] = ()) -> int:
    """Tokens of the longest possible request, without the prefix.

    None of those that can be served may be longer. Raises ValueError.
    """
    room = asked.slots - asked.prefix - asked.draft_length
    most = max((request.total for request in own if request.total <= room), default=0)
    if asked.longest is None:
        return max(2, min(LONGEST_MOST, asked.slots // LONGEST_SHARE), most)
    if most > asked.longest:
        raise ValueError(
            f"longest: {asked.longest}, but a request has {most} tokens; make it {most} or more"
        )
    return asked.longest


def full_rate(asked: Asked, lengths: Sequence[tuple[int, int]]) -> float:
    """Arrivals a second that keep the memory full: `OVERLOAD` times what it can serve.

    That is the requests that it holds on average, if no slot lies idle, by the time that each
    stays; without drafts or a prefix, so that these meet the same arrivals.
    """
    prompt = sum(prompt for prompt, _ in lengths) / len(lengths)
    output = sum(output for _, output in lengths) / len(lengths)
    running = max(1.0, asked.slots / (prompt + output / 2))
    seconds = costs_of(asked).plain_seconds(running, running * (prompt + output / 2))
    return OVERLOAD * running / (output * seconds)


class Scene(NamedTuple):
    """Settings, and the requests that come."""

    asked: Asked
    requests: Sequence[Request]
    rate: float | None
    """Arrivals a second, where they were drawn."""
    longest: int
    """Tokens of the longest possible request; the prefix comes on top."""

    def server(self) -> Server:
        """A server that has seen none of them yet."""
        asked = self.asked
        memory = memory_of(
            asked.policy, asked.slots, asked.prefix + self.longest, asked.draft_length, asked.prefix
        )
        return Server(
            [request.behind(asked.prefix) for request in self.requests],
            memory,
            costs_of(asked),
            asked.draft_length,
            asked.acceptance_rate,
            asked.seed,
            asked.most_running,
            asked.preempt,
        )


def scene_of(asked: Asked, own: Sequence[Request] = ()) -> Scene:
    """The requests of these settings, or a reader's `own`. Raises ValueError."""
    longest = longest_of(asked, own)
    if own:
        return Scene(asked, own, None, longest)
    lengths = drawn_lengths(asked.lengths, asked.requests, longest, asked.seed)
    rate = asked.rate if asked.rate is not None else full_rate(asked, lengths)
    return Scene(asked, poisson(lengths, rate, asked.seed), rate, longest)


def serve(server: Server) -> Work[Server]:
    """Serve all of them, a part at a time."""
    while not server.done:
        until = server.events + SLICE
        while server.events < until and not server.done:
            server.step()
        yield server.ended / len(server.coming)
    return server


def report(server: Server, rate: float | None) -> dict[str, Any]:
    """The numbers of a server when all is done, as JSON holds them; 0 ÷ 0 is None.

    `rate` is that of the arrivals, where they were drawn.
    """
    waits = sorted(waited for served in server.coming if (waited := wait(served)) is not None)
    slots = server.memory.slots * server.busy
    return {
        "finished": server.ended,
        "refused": len(server.refused),
        "tokens": server.written,
        "preemptions": server.preemptions,
        "recomputed": sum(served.recomputed for served in server.coming),
        "seconds": server.now,
        "tokens_per_second": _ratio(server.written, server.now),
        "shares": {
            name: _ratio(held, slots)
            for name, held in zip(SHARES, server.slot_seconds, strict=True)
        },
        "mean_running": _ratio(server.running_seconds, server.busy),
        "mean_wait_s": _ratio(server.waited, server.let_in),
        "p95_wait_s": waits[ceil(0.95 * len(waits)) - 1] if waits else None,
        "rate": rate,
    }


def wait(served: Served) -> float | None:
    """Seconds from its arrival until it was let in for the first time; None before that."""
    return None if served.admitted is None else served.admitted - served.request.arrival


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


COLUMNS = (
    *("request", "status", "arrival_s", "prompt", "output", "admitted_s", "finished_s", "wait_s"),
    *("preemptions", "recomputed", "verify_passes", "drafted", "accepted", "positions_computed"),
)
"""What `requests_csv` tells of each request. An accepted draft that lies beyond the output
counts."""


def requests_csv(server: Server, separator: str = ",", decimal: str = ".") -> str:
    """What became of each request, a row each, in the order of their arrival."""
    lines = [separator.join(COLUMNS)]
    refused = {served.number for served in server.refused}
    drafts = server.drafts
    for served in sorted([*server.coming, *server.refused], key=lambda one: one.number):
        cells = (
            served.number,
            "refused" if served.number in refused else "finished",
            served.request.arrival,
            served.request.prompt,
            served.request.output,
            served.admitted,
            served.finished,
            wait(served),
            served.preemptions,
            served.recomputed,
            served.passes,
            drafts * served.passes,
            served.accepted,
            served.filled + (1 + drafts) * served.passes,
        )
        texts = ("" if cell is None else str(cell).replace(".", decimal) for cell in cells)
        lines.append(separator.join(texts))
    return "\n".join(lines) + "\n"
