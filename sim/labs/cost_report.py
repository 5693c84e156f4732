"""The command of the costs on a machine, and its numbers as JSON holds them and as people read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sim.catalogue import MACHINES, MODELS
from sim.labs.cost_settings import (
    Asked,
    Priced,
    drafting_of,
    machine_of,
    model_of,
    priced,
    strictly,
)
from sim.labs.curve import read_curve
from sim.labs.pricing import (
    best_of,
    expected_tokens,
    losing,
)
from sim.passes import GIB, Machine, Model
from sim.settings import rows
from sim.theory import LONGEST
from sim.words import count, many, three_digits

GB = 1e9

# The command

UNSET = replace(Asked(), batch=1, draft="0.1")
"""What the command supposes where nothing is said; a model and a machine have to be."""


FLAGS = [row for row in rows(Asked) if row.key != "device"]
"""All settings but the one that only the page can mean."""


def arguments(add: Callable[..., object]) -> None:
    """Declare the flags; `add` is argparse's `add_argument`."""
    for row in FLAGS:
        unset = row.kind.write(getattr(UNSET, row.name))
        text = f"{row.help} {unset} unless said." if unset else row.help
        if row.key == "curve":
            text = "a file of measured passes in place of the roofline: positions of all sequences "
            text += "together and milliseconds, a line each"
        if row.key in ("model", "machine"):
            text = f"{row.help} See --list."
        metavar = "FILE" if row.key == "curve" else row.key.upper()
        add(f"--{row.key}", metavar=metavar, help=text.replace("%", "%%"))
    add("--list", action="store_true", help="name the machines and models of the catalogue")


def answer(options: Any) -> dict[str, Any]:
    """What the command prints, as JSON holds it. Raises ValueError."""
    if options.list:
        return {
            "machines": {machine.name: machine_text(machine) for machine in MACHINES},
            "models": {model.name: model_text(model) for model in MODELS},
        }
    for key in ("model", "machine"):
        if getattr(options, key) is None:
            raise ValueError(f"--{key}: name one; --list names them all")
    if options.alpha is not None and options.rates is not None:
        raise ValueError("--alpha and --rates: give one of them")
    given: dict[str, Any] = {}
    for row in FLAGS:
        text = getattr(options, row.key)
        if text is None:
            continue
        given[row.name] = _measured(text) if row.key == "curve" else strictly(row, text)
    return report(priced(replace(UNSET, **given)))


def _measured(file: str) -> object:
    try:
        with open(file, encoding="utf-8-sig") as held:
            text = held.read()
    except OSError as error:
        raise ValueError(f"--curve {file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"--curve {file}: is no text; give lines of positions and ms") from None
    curve = read_curve(text)
    if not curve:
        raise ValueError(f"--curve {file}: has no line; give positions and milliseconds")
    return curve


def report(given: Priced) -> dict[str, Any]:
    """The numbers of a case.

    Times are of a pass over n = 1 … 33 positions of each sequence, in milliseconds; None where a
    curve of one's own says nothing.
    """
    asked, case, speedups = given.asked, given.case, given.speedups
    batch = asked.batch
    widths = range(1, LONGEST + 2)
    roofs = [case.roofs(batch, n) for n in widths]
    here = speedups[batch - 1]
    short = case.short_by(batch)
    return {
        "model": asked.model,
        "machine": asked.machine,
        "batch": batch,
        "context": asked.context,
        "pass_ms": [_ms(case.seconds(batch, n)) for n in widths],
        "memory_ms": [_ms(one.memory) for one in roofs],
        "arithmetic_ms": [_ms(one.arithmetic) for one in roofs],
        "draft_ms": _ms(case.draft_step(batch)),
        "c": case.draft_cost(batch),
        "knee": case.knee,
        "kv_bytes_per_token": case.model.kv_bytes(case.kv_width),
        "fits": not short,
        "short_by_bytes": short,
        "would_fit_with": case.remedies(batch),
        "slots": case.slots,
        "conversations": case.conversations,
        "tokens_per_pass": list(expected_tokens(case.rates)[1:]),
        "speedup": here,
        "best_k": best_of(here).k,
        "best_k_by_batch": [best_of(row).k for row in speedups],
        "k_by_ranges": [list(one) for one in given.ranges],
        "losing_batches": [list(one) for one in losing(speedups)],
        "sources": sources(asked),
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def machine_text(machine: Machine) -> str:
    """The figures of a machine, and where they stand."""
    return (
        f"{machine.bandwidth / GB:,.5g} GB/s, {machine.flops / 1e12:g} TFLOP/s, "
        f"{machine.capacity / GIB:g} GiB; {_source(machine)}"
    )


def model_text(model: Model) -> str:
    """The figures of a model, and where they stand."""
    active = model.active_parameters / 1e9
    mixed = f" ({active:.3g} active, {model.top} of {model.experts} experts)" * bool(model.experts)
    heads = f"{model.layers} layers, {model.heads} heads, "
    kept = f"{model.kv_bytes():,.0f} bytes a token"
    return f"{model.parameters / 1e9:g} billion parameters{mixed}, {heads}{kept}; {_source(model)}"


def _source(entry: Machine | Model) -> str:
    document, address, printed = entry.source
    return f"{document}: {printed}, {address}" if address else document


def sources(asked: Asked) -> list[str]:
    """Where the figures of a case stand, a text for each of what it is made of."""
    machine, model, draft = machine_of(asked), model_of(asked), drafting_of(asked).model
    if asked.of_a_device:
        return [f"pass times: a device that was timed at {many(len(asked.curve), 'width')}"]
    found = [
        f"{machine.name}: {machine_text(machine)}",
        f"{model.name}: {model_text(model)}",
    ]
    if draft:
        found.append(f"{draft.name}: {model_text(draft)}")
    if asked.curve:
        found.append(f"pass times: your own curve of {many(len(asked.curve), 'point')}")
    return found


def told(report: dict[str, Any]) -> str:
    """The same, to be read."""
    if "machines" in report:
        entries = {**report["machines"], **report["models"]}
        return "\n".join(f"{name}  {text}" for name, text in entries.items())
    known = [(k, one) for k, one in enumerate(report["speedup"], 1) if one is not None]
    shown = [(k, one) for k, one in known if k in (1, 2, 3, 4, 6, 8, 12, 16, 32)]
    passes = [f"{n}: {_shown(report['pass_ms'][n - 1])}" for n in (1, 2, 3, 5, 9, 17, 33)]
    lines = {
        "a pass over n positions, ms": "  ".join(passes),
        "reading, computing at n = 1": f"{_shown(report['memory_ms'][0])}, "
        f"{_shown(report['arithmetic_ms'][0])} ms",
        "a draft step ÷ a plain pass": _shown(report["c"]),
        "knee, positions": f"{report['knee']:.1f}",
        "keys and values a token": f"{report['kv_bytes_per_token']:,.0f} bytes",
        "memory": _fits(report),
        "speedup at k": "  ".join(f"{k}: {one:.2f}×" for k, one in shown) or "–",
        "best k at this batch": _named(report["best_k"]),
        "a k within 1 % of the best": ", ".join(
            f"{batches_text(first, last)}: {_named(k)}" for first, last, k in report["k_by_ranges"]
        ),
        "no k gains at batches": ", ".join(batches_text(*one) for one in report["losing_batches"])
        or "none",
    }
    head = f"{report['model']} on {report['machine']}, batch {report['batch']}, context "
    told = [f"{name:<29}{text}" for name, text in lines.items()]
    return "\n".join([head + f"{report['context']}", "", *told, "", *report["sources"]])


def _shown(value: float | None) -> str:
    return "–" if value is None else three_digits(value)


def _named(k: int | None) -> str:
    return "not known" if k is None else "none" if k == 0 else str(k)


def batches_text(first: int, last: int) -> str:
    """A range of batches."""
    return str(first) if first == last else f"{first}–{last}"


def _fits(report: dict[str, Any]) -> str:
    if not report["fits"]:
        short = f"does not fit, short by {report['short_by_bytes'] / GIB:.1f} GiB"
        return f"{short}; would with {', or '.join(report['would_fit_with'])}"
    room = f"fits; room for {count(report['slots'])} tokens"
    together = report["conversations"]
    return room if together is None else f"{room}, {count(together)} of this context"
