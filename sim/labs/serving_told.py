"""What the server's section says of a scene beside its numbers: why, and what may be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim.catalogue import machine_named, model_named
from sim.labs.arrivals import Request
from sim.labs.blocks import BLOCK, PAGED, POLICIES, blocks_for
from sim.labs.history import History
from sim.labs.service import MOST_SLOTS
from sim.passes import pass_roofs
from sim.words import count, duration, many, three_digits


def read_told(name: str, requests: Sequence[Request]) -> str:
    """What was read from a file."""
    totals = [request.total for request in requests]
    return (
        f"{name} is read: {many(len(totals), 'request')}, "
        f"{three_digits(sum(totals) / len(totals))} tokens on average, "
        f"{count(max(totals))} at most. They are served in place of drawn ones."
    )


def refused_told(history: History) -> str:
    """Why requests are refused, and what would let them in; empty where none is."""
    refused = history.numbers["refused"]
    if not refused:
        return ""
    asked = history.scene.asked
    more = asked.prefix + asked.draft_length
    most = more + max(request.total for request in history.scene.requests)
    room = blocks_for(most) * BLOCK
    parts = ["prompt and output"]
    parts += [f"the common prefix of {count(asked.prefix)}"] if asked.prefix else []
    parts += [many(asked.draft_length, "draft")] if asked.draft_length else []
    remedy = (
        f"Set slots to {room} or more, among “more settings”, and all are served."
        if room <= MOST_SLOTS
        else f"There are at most {count(MOST_SLOTS)}: leave such requests out."
    )
    return (
        f"{many(refused, 'request')} {'is' if refused == 1 else 'are'} refused: too long for the "
        f"memory. With {' and '.join(parts)} the longest needs {count(most)} slots, and there are "
        f"{count(asked.slots)}. {remedy}"
    )


def missing_told(histories: Mapping[str, History]) -> str:
    """Which ways a large scene has not been served with yet; the small one serves all."""
    missing = [policy for policy in POLICIES if policy not in histories]
    if not missing or not histories or any(one.moments for one in histories.values()):
        return ""
    return (
        f"Not served with these settings yet: {', '.join(missing)}. "
        "Choose one above, and its row is added."
    )


def paging_told(histories: Mapping[str, History]) -> str:
    """Why paging writes less a second than another way, and what it gains; empty if it does not."""
    others = {policy: one for policy, one in histories.items() if policy != PAGED and _speed(one)}
    if PAGED not in histories or not others:
        return ""
    paged = histories[PAGED]
    name, best = max(others.items(), key=lambda item: _speed(item[1]))
    if _speed(paged) >= _speed(best):
        return ""
    less = 100 * (1 - _speed(paged) / _speed(best))
    why = []
    if _computes(best):
        why.append(
            f"the passes of {name} already compute for longer than they read, so more requests at "
            "once write no more"
        )
    if again := paged.numbers["recomputed"]:
        why.append(
            f"paged computed {many(again, 'position')} again after preemptions, about "
            f"{duration(_again_seconds(paged))} of arithmetic"
        )
    because = f": {'; and '.join(why)}" if why else ""
    waits = paged.numbers["mean_wait_s"] or 0.0, best.numbers["mean_wait_s"] or 0.0
    gain = (
        f" What it gains: a request waits {duration(waits[0])} on average until it is let in, "
        f"against {duration(waits[1])}."
        if waits[0] < waits[1]
        else ""
    )
    return f"In the end paged writes {less:.2g} % less a second than {name}{because}.{gain}"


def _speed(history: History) -> float:
    return float(history.numbers["tokens_per_second"] or 0)


def _computes(history: History) -> bool:
    """Whether a pass over as many requests as ran on average is limited by arithmetic."""
    asked, numbers = history.scene.asked, history.numbers
    model, running = model_named(asked.model), numbers["mean_running"] or 0.0
    width = 1 + asked.draft_length
    contexts = (numbers["shares"]["token"] or 0.0) * asked.slots
    roofs = pass_roofs(
        machine_named(asked.machine),
        model,
        running * width,
        contexts,
        contexts * width,
        model.weights_read(running * width),
    )
    return roofs.arithmetic > roofs.memory


def _again_seconds(history: History) -> float:
    """The least that positions computed again take: the arithmetic of their weights."""
    asked = history.scene.asked
    again: int = history.numbers["recomputed"]
    flops = 2 * model_named(asked.model).active_parameters * again
    return flops / machine_named(asked.machine).flops
