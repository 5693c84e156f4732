"""Continuous batching, pass by pass: who runs, who waits, and whose cache has to go.

The order of things is that of vLLM's V1 scheduler. In a pass the running requests, oldest first,
ask for a slot for each of their tokens and for the drafts; where there is none, the newest of them
is preempted, whole, until there is. Then the head of the queue enters while it fits, and nobody
overtakes it; in a pass that has preempted, nobody enters. A request that enters computes what its
cache misses in that one pass, and writes no token (engines yield the first one there), while the
others go on. So requests run in the order of their arrival, those that were preempted are the first
to come back, and the oldest one always gets on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import NamedTuple, Protocol

from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK, Blocks, Holder, Stretches
from sim.params import DRAWS_PER_PASS

TOKEN, RESERVED, INTERNAL, EXTERNAL, FREE = "token", "reserved", "internal", "external", "free"
SHARES = {
    TOKEN: "holds a token",
    RESERVED: "held, and will hold a token of its request",
    INTERNAL: "held, and never will",
    EXTERNAL: "free, while a request is refused that all free slots together would hold",
    FREE: "free",
}
"""What a slot is."""

RECOMPUTE, SWAP = "recompute", "swap"
PREEMPTIONS = {
    RECOMPUTE: "its keys and values are dropped, and computed again as one prompt",
    SWAP: "its keys and values go to the host's memory, and come back over the link",
}
"""What becomes of a preempted request's cache. vLLM's V1 scheduler only recomputes. The host's
memory has no end here."""

COIN_BITS = 64
"""Bits that a generator spends on one uniform."""


class Pricing(Protocol):
    """What things cost, in seconds."""

    def pass_seconds(
        self, writing: int, contexts: int, filled: int, held: int, attended: float
    ) -> float:
        """A pass in which `writing` requests check their drafts and write, with `contexts` tokens
        in their caches together, while `filled` positions of others are computed.

        `held` is what the caches of the others had before, `attended` the sum over the positions
        filled in of what each attends to.
        """

    def swap_seconds(self, positions: int) -> float:
        """The keys and values of so many positions on their way between card and host."""


class Served(Holder):
    """One request on its way through the server."""

    __slots__ = (
        *("number", "request", "last", "tokens", "missing", "kept", "coins", "admitted"),
        *("finished", "passes", "accepted", "filled", "recomputed", "preemptions"),
    )

    coins: Random
    """While it is on its way, if there are drafts."""

    def __init__(self, number: int, request: Request) -> None:
        super().__init__()
        self.number, self.request, self.last = number, request, request.total
        self.tokens = request.prompt
        """What it has; keys and values of the newest are written by its next pass."""
        self.missing = self.kept = 0
        """Positions that this pass fills in; positions that wait in the host's memory."""
        self.admitted: float | None = None
        self.finished: float | None = None
        self.passes = self.accepted = self.preemptions = 0
        """Verify passes; drafts accepted by their coins; how often it was preempted."""
        self.filled = self.recomputed = 0
        """Positions filled in, and those of them that had been computed before."""


class Pass(NamedTuple):
    """A pass before its verdicts."""

    start: float
    seconds: float
    shares: tuple[int, int, int, int, int]
    """Slots of each of `SHARES`: all there are."""
    entered: int
    preempted: int


class Server:
    """One server, and the requests that come to it."""

    def __init__(
        self,
        requests: Sequence[Request],
        memory: Blocks | Stretches,
        pricing: Pricing,
        drafts: int = 0,
        rate: float = 0.0,
        seed: int = 0,
        most_running: int | None = None,
        preempt: str = RECOMPUTE,
    ) -> None:
        """A pass checks `drafts` of each request, each accepted with chance `rate`.

        `requests` are in the order of their arrival.
        """
        self.memory = memory
        every = [Served(number, request) for number, request in enumerate(requests)]
        self.refused = [served for served in every if served.last + drafts > memory.slots]
        """Those that could never be served."""
        self.coming = [served for served in every if served.last + drafts <= memory.slots]
        self.arrived = self.ended = 0
        """How many of `coming` are here, and how many are through."""
        self.queue: deque[Served] = deque()
        self.running: list[Served] = []
        self.now = self.busy = self.running_seconds = 0.0
        """Seconds since the start; of passes; of passes, times the requests that ran in them."""
        self.passes = self.events = self.preemptions = self.written = 0
        """An event is a request served in a pass, entered, preempted or ended; `written` are tokens
        of outputs."""
        self.waited, self.let_in = 0.0, 0
        """Seconds that those who have been let in had waited for it, and how many these are."""
        self.slot_seconds = [0.0] * len(SHARES)
        self._pricing, self.drafts, self._rate, self._seed = pricing, drafts, rate, seed
        self.most_running = len(every) if most_running is None else most_running
        self._swaps = preempt == SWAP
        self._prefix = memory.prefix if isinstance(memory, Blocks) else 0
        self._writing: list[Served] = []
        self._seconds = 0.0
        self._tokens = self._reach = 0
        # Sums over those that run: their tokens, and the slots they hold for tokens of any time.

    @property
    def done(self) -> bool:
        """Whether every request that can be served is through."""
        return self.ended == len(self.coming)

    def step(self) -> Pass:
        """The next pass; only while there is one."""
        told = self.begin()
        self.end()
        return told

    def begin(self) -> Pass:
        """The next pass up to its verdicts: who runs, what the slots hold, how long it takes."""
        self._arrive()
        before = self.preemptions
        swapped = self._make_room()
        preempted = self.preemptions - before
        writing, oldest = self.running[:], len(self.running)
        refused = False
        if not preempted:
            while self.queue and len(self.running) < self.most_running:
                back = self._enter(self.queue[0])
                if back is None:
                    refused = True
                    break
                swapped += back
        filled = held = idle = 0
        attended = 0.0
        for served in self.running[oldest:]:
            if missing := served.missing:
                start = served.tokens - 1 - missing
                filled, held, idle = filled + missing, held + start, idle + served.tokens
                attended += missing * (start + missing / 2)
            else:
                writing.append(served)
        self._writing = writing
        contexts = self._tokens - idle - len(writing)
        self._seconds = swapped + self._pricing.pass_seconds(
            len(writing), contexts, filled, held, attended
        )
        entered = len(self.running) - oldest
        self.passes += 1
        self.events += len(self.running) + entered + preempted
        shares = self._weigh(refused)
        return Pass(self.now, self._seconds, shares, entered, preempted)

    def end(self) -> None:
        """Its verdicts: tokens are written, drafts go, and those that are through leave."""
        self.now += self._seconds
        if self._verify() if self.drafts else self._write():
            self._finish()

    def _arrive(self) -> None:
        """Put those that have come at the end of the queue; wait for the next if there is none."""
        coming, at = self.coming, self.arrived
        if not (self.running or self.queue):
            self.now = max(self.now, coming[at].request.arrival)
        while at < len(coming) and coming[at].request.arrival <= self.now:
            self.queue.append(coming[at])
            at += 1
        self.arrived = at

    def _make_room(self) -> float:
        """Let those that run have what this pass writes; the seconds that swapping takes."""
        drafts, running, swapped = self.drafts, self.running, 0.0
        for served in [one for one in running if one.tokens + drafts > one.room]:
            if not served.room:  # preempted for one that is older
                continue
            before = min(served.room, served.last)
            while not self.memory.grow(served, served.tokens + drafts):
                newest = running.pop()
                swapped += self._preempt(newest)
                if newest is served:
                    break
            else:
                self._reach += min(served.room, served.last) - before
        return swapped

    def _preempt(self, served: Served) -> float:
        """Take all it holds, and put it at the head of the queue; what moving that takes."""
        self._leave(served)
        self.queue.appendleft(served)
        served.preemptions += 1
        self.preemptions += 1
        if not self._swaps:
            return 0.0
        served.kept = served.tokens - 1
        return self._pricing.swap_seconds(served.kept)

    def needs(self, served: Served) -> int:
        """Slots that it must get to enter."""
        return self.memory.needs(served.request.prompt, served.request.output, served.tokens)

    def _enter(self, served: Served) -> float | None:
        """Let the head of the queue in: what moving its cache back takes, or None for no room."""
        common = self.running[0] if self._prefix and self.running else None
        if not self.memory.enter(served, self.needs(served), common):
            return None
        self.queue.popleft()
        self.running.append(served)
        self._tokens += served.tokens
        self._reach += min(served.room, served.last)
        if served.admitted is None:
            served.admitted = self.now
            self.waited += self.now - served.request.arrival
            self.let_in += 1
            if self.drafts:
                served.coins = Random(coin_seed(self._seed, served.number))
        there = self._prefix if common else 0
        if served.kept:
            moved, served.kept, served.missing = served.kept - there, 0, 0
            return self._pricing.swap_seconds(moved)
        served.missing = served.tokens - 1 - there
        served.filled += served.missing
        if served.preemptions:
            served.recomputed += served.missing
        return 0.0

    def _leave(self, served: Served) -> None:
        self._tokens -= served.tokens
        self._reach -= min(served.room, served.last)
        self.memory.leave(served)

    def _weigh(self, refused: bool) -> tuple[int, int, int, int, int]:
        """What the slots are in this pass; `refused` is whether the head of the queue was."""
        memory, running = self.memory, len(self.running)
        twice = max(0, running - 1) * (self._prefix - self._prefix % BLOCK)
        tokens, reach, free = self._tokens - twice, self._reach - twice, memory.free
        external = 0
        if refused and free:
            external = free if self.needs(self.queue[0]) <= free else 0
        held = memory.slots - free
        shares = tokens, reach - tokens, held - reach, external, free - external
        seconds = self._seconds
        self.busy += seconds
        self.running_seconds += running * seconds
        self.slot_seconds = [
            sum_ + slots * seconds for sum_, slots in zip(self.slot_seconds, shares, strict=True)
        ]
        return shares

    def _write(self) -> bool:
        """A token for each request that writes; whether one of them is through."""
        through = False
        for served in self._writing:
            served.passes += 1
            served.tokens += 1
            if served.tokens == served.last:
                through = True
        self._tokens += len(self._writing)
        self.written += len(self._writing)
        return through

    def _verify(self) -> bool:
        """The same with drafts: what its coins accept, and one more; slots of the rest go back.

        A pass spends as many coins whatever it checks (`sim.run`), also those that nobody looks at.
        """
        drafts, rate, memory, through = self.drafts, self._rate, self.memory, False
        gives_back = isinstance(memory, Blocks)
        for served in self._writing:
            draw, accepted = served.coins.random, 0
            while accepted < drafts and draw() < rate:
                accepted += 1
            drawn = accepted + 1 if accepted < drafts else drafts
            served.coins.getrandbits(COIN_BITS * (DRAWS_PER_PASS - drawn))
            served.passes += 1
            served.accepted += accepted
            tokens, last = served.tokens + accepted + 1, served.last
            if tokens >= last:
                tokens, through = last, True
            self._tokens += tokens - served.tokens
            self.written += tokens - served.tokens
            served.tokens = tokens
            if gives_back and served.room - tokens >= BLOCK:
                self._reach -= min(served.room, last)
                memory.trim(served, tokens)
                self._reach += min(served.room, last)
        return through

    def _finish(self) -> None:
        """Let those go that are through."""
        staying: list[Served] = []
        for served in self.running:
            if served.tokens < served.last:
                staying.append(served)
                continue
            self._leave(served)
            served.finished = self.now
            if self.drafts:
                del served.coins
        self.ended += len(self.running) - len(staying)
        self.events += len(self.running) - len(staying)
        self.running = staying


def coin_seed(seed: int, number: int) -> int | str:
    """The seed of a request's coins: of the first one the widget's own."""
    return f"{seed} {number}" if number else seed
