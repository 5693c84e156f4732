"""What may be set of the costs on a machine, and the case that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from sim.catalogue import MACHINES, MODELS, machine_named, model_named, named, nearest
from sim.kinds import Kind, Maybe, Real, Switch, Whole, write_number
from sim.labs.curve import Measured
from sim.labs.pricing import LARGEST, NGRAM, Case, Drafting, Grid, Range, agreeing, grid, lengths
from sim.lists import Reals
from sim.passes import GIB, OWN, Machine, Model
from sim.reading import UnreadableError, number
from sim.settings import Setting, rows, setting, updated_by_link
from sim.theory import LONGEST
from sim.work import finish

MOST_SHARE = 8
"""Of the big model, the largest share that drafts may cost."""
MODEL_NAMES = tuple(model.name for model in MODELS)
MACHINE_NAMES = tuple(machine.name for machine in MACHINES)


@dataclass(frozen=True)
class Named(Kind[str]):
    """A name of the catalogue, however it is written; with `share`, a number too."""

    what: str
    names: tuple[str, ...]
    share: Real | None = None
    control = "choice"

    @property
    def allowed(self) -> str:
        """What it names; the names are too many for a message."""
        number = f", or a share {self.share.limits}" if self.share else ""
        return f"the name of a {self.what}{number}"

    def admits(self, value: object) -> bool:
        """A name as the catalogue writes it, or a share as `write` does."""
        try:
            return isinstance(value, str) and self.read(value) == (value, True)
        except UnreadableError:
            return False

    def read(self, given: object) -> tuple[str, bool]:
        """The name as the catalogue writes it."""
        text = str(given)
        found = named(text, self.names)
        if found is not None:
            return found, True
        if not self.share:
            raise UnreadableError
        value, exact = self.share.read(number(text))
        return write_number(value), exact

    def write(self, value: str) -> str:
        """The name."""
        return value


_FIGURE = Maybe(Real(0.001, 1e6))
_COUNT = Maybe(Whole(0, 100_000))


@dataclass(frozen=True)
class Asked:
    """The settings of this lab. Figures that are none are those of the catalogue."""

    model: str = setting(
        "Llama-3.1-8B",
        "model",
        Named("model", MODEL_NAMES),
        "model",
        "The big model, by its name in the catalogue.",
    )
    machine: str = setting(
        "H100-SXM",
        "machine",
        Named("machine", MACHINE_NAMES),
        "machine",
        "The card or computer, by its name in the catalogue.",
    )
    draft: str = setting(
        "Llama-3.2-1B",
        "draft",
        Named("draft model or ngram", (NGRAM, *MODEL_NAMES), Real(0, MOST_SHARE)),
        "draft",
        "A model, ngram, or a share of the big one, such as 0.1.",
    )
    k: int = setting(4, "k", Whole(0, LONGEST, (LONGEST, 1)), "draft length k", "Drafts a pass.")
    batch: int = setting(
        256, "batch", Whole(1, LARGEST, (LARGEST, 1)), "batch", "Sequences that share each pass."
    )
    context: int = setting(
        256,
        "context",
        Whole(0, 2_000_000, (8192, 64)),
        "context",
        "Tokens in the cache of each sequence.",
    )
    acceptance_rate: float = setting(
        0.8, "alpha", Real(0, 1, (1, 0.01)), "acceptance α", "One chance for all drafts."
    )
    acceptance_rates: tuple[float, ...] = setting(
        (),
        "rates",
        Reals(Real(0, 1), LONGEST),
        "rates by position",
        "Conditional, the last one repeated; in place of α.",
    )
    machines: int = setting(1, "gpus", Whole(1, 1024), "cards", "Machines side by side.")
    width: float = setting(2.0, "bytes", Real(0.1, 8), "bytes a weight", "2 for 16 bits.")
    kv_width: float = setting(
        2.0, "kvbytes", Real(0.1, 8), "bytes a cached number", "2 for 16 bits."
    )
    parallel: bool = setting(
        False, "parallel", Switch(), "drafts in parallel", "One pass makes all drafts of a round."
    )
    bandwidth_share: float = setting(
        1.0, "memoryshare", Real(0.01, 1), "share of the bandwidth", "Of the limit, as reached."
    )
    flops_share: float = setting(
        1.0,
        "arithmeticshare",
        Real(0.01, 1),
        "share of the arithmetic",
        "Of the limit, as reached.",
    )
    bandwidth: float | None = setting(
        None, "bandwidth", _FIGURE, "bandwidth, GB/s", "Of your own machine."
    )
    tflops: float | None = setting(
        None, "tflops", _FIGURE, "arithmetic, TFLOP/s", "Of your own machine, dense, 16 bits."
    )
    capacity: float | None = setting(
        None, "memory", _FIGURE, "memory, GiB", "Of your own machine; makers write GB."
    )
    parameters: float | None = setting(
        None, "params", _FIGURE, "parameters, billions", "Of your own model, experts included."
    )
    layers: int | None = setting(None, "layers", _COUNT, "layers", "Of your own model.")
    heads: int | None = setting(None, "heads", _COUNT, "heads", "Of your own model.")
    kv_heads: int | None = setting(None, "kvheads", _COUNT, "KV heads", "Of your own model.")
    head_size: int | None = setting(None, "headsize", _COUNT, "head size", "Of your own model.")
    latent: int | None = setting(
        None,
        "latent",
        _COUNT,
        "latent",
        "Numbers a layer keeps of a token, 0 for 2 · KV heads · size.",
    )
    experts: int | None = setting(
        None, "experts", _COUNT, "experts", "Of a layer of your own model; 0 for a dense one."
    )
    top: int | None = setting(None, "top", _COUNT, "experts a position", "Of your own model.")
    expert_parameters: float | None = setting(
        None,
        "expertparams",
        Maybe(Real(0, 1e6)),
        "expert parameters, billions",
        "Of all experts of all layers together.",
    )
    curve: tuple[tuple[float, float], ...] = setting(
        (),
        "curve",
        Measured(),
        "your own curve",
        "Measured passes: positions of all sequences together, and milliseconds.",
    )
    device: bool = setting(
        False,
        "device",
        Switch(),
        "this page's own model",
        "The curve is of the model in the page; nothing is of the catalogue.",
    )

    @property
    def of_a_device(self) -> bool:
        """Whether passes are those of the page's own model, as a device was timed."""
        return self.device and bool(self.curve)

    @property
    def rates(self) -> tuple[float, ...]:
        """Acceptance rates by position, at least one."""
        return self.acceptance_rates or (self.acceptance_rate,)


BY_KEY = {row.key: row for row in rows(Asked)}
OF_THE_MACHINE = ("bandwidth", "tflops", "memory")
OF_THE_MODEL = (
    *("params", "layers", "heads", "kvheads", "headsize", "latent"),
    *("experts", "top", "expertparams"),
)
_UNITS = {"bandwidth": 1e9, "tflops": 1e12, "memory": GIB, "params": 1e9, "expertparams": 1e9}
_FIELDS = {"tflops": "flops", "memory": "capacity"}


def _field(key: str) -> str:
    """The name of a figure in `Machine` and `Model`."""
    return _FIELDS.get(key, BY_KEY[key].name)


def figures(entry: Machine | Model) -> dict[str, float]:
    """The figures of an entry of the catalogue, by the keys and in the units of the settings."""
    keys = OF_THE_MACHINE if isinstance(entry, Machine) else OF_THE_MODEL
    return {key: round(getattr(entry, _field(key)) / _UNITS.get(key, 1), 6) for key in keys}


def _own(asked: Asked, keys: tuple[str, ...]) -> dict[str, float]:
    given = {key: getattr(asked, BY_KEY[key].name) for key in keys}
    return {_field(k): v * _UNITS.get(k, 1) for k, v in given.items() if v is not None}


def machine_of(asked: Asked) -> Machine:
    """The machine, with the reader's own figures where there are any."""
    known, own = machine_named(asked.machine), _own(asked, OF_THE_MACHINE)
    return replace(known, **own, source=OWN) if own else known  # type: ignore[arg-type]


def model_of(asked: Asked) -> Model:
    """The model, with the reader's own figures where there are any. Raises ValueError."""
    known, own = model_named(asked.model), _own(asked, OF_THE_MODEL)
    made = replace(known, **own, source=OWN) if own else known  # type: ignore[arg-type]
    for key in ("layers", "heads", "kvheads", "headsize"):
        if getattr(made, _field(key)) < 1:
            raise ValueError(f"{key}: 0; a model has at least 1")
    if made.experts and not 1 <= made.top <= made.experts:
        raise ValueError(f"top: {made.top} of {made.experts} experts; give 1 to {made.experts}")
    if made.experts and made.expert_parameters >= made.parameters:
        raise ValueError(
            f"expertparams: {made.expert_parameters / 1e9:g} of {made.parameters / 1e9:g} billion "
            "parameters; give less, for attention has some too"
        )
    return made


def drafting_of(asked: Asked) -> Drafting:
    """How drafts are made."""
    if asked.draft == NGRAM:
        return Drafting()
    if asked.draft in MODEL_NAMES:
        return Drafting(model_named(asked.draft), parallel=asked.parallel)
    return Drafting(share=float(asked.draft), parallel=asked.parallel)


def case_of(asked: Asked) -> Case:
    """The case that these settings describe. Raises ValueError where figures contradict."""
    machine = machine_of(asked).reaching(asked.machines, asked.bandwidth_share, asked.flops_share)
    return Case(
        machine,
        model_of(asked),
        drafting_of(asked),
        asked.rates,
        asked.context,
        asked.width,
        asked.kv_width,
        asked.curve,
    )


def settled(keys: Mapping[str, str]) -> tuple[Asked, list[str]]:
    """The settings that a link has, and what is wrong with it; unknown names with nearest ones."""
    asked, complaints = updated_by_link("cost", Asked(), keys)
    return asked, [_with_nearest(complaint, keys) for complaint in complaints]


def _with_nearest(complaint: str, keys: Mapping[str, str]) -> str:
    key = complaint.partition("=")[0]
    row = BY_KEY.get(key.removeprefix("cost."))
    if row is None or key not in keys or not isinstance(row.kind, Named):
        return complaint
    return f"{complaint[:-1]}; nearest: {', '.join(nearest(keys[key], row.kind.names))}."


def strictly(row: Setting, text: str) -> object:
    """A value as the command line gives it. Raises ValueError, with the remedy."""
    try:
        value, exact = row.kind.read(text)
    except UnreadableError:
        exact = False
    if exact:
        return value
    near = ""
    if isinstance(row.kind, Named):
        near = f"; nearest: {', '.join(nearest(text, row.kind.names))}"
    raise ValueError(f"{row.key}: “{text}” is not {row.kind.allowed}{near}")


class Priced(NamedTuple):
    """What the lab shows: its settings, the case that they are, and what follows from that."""

    asked: Asked
    case: Case
    speedups: Grid
    """By batch and k."""
    ranges: tuple[Range, ...]
    """The draft lengths for all batches."""

    @property
    def most(self) -> int:
        """The largest batch that fits at this context, at most `LARGEST`; 0 where none does."""
        if not self.asked.context:
            return 0 if self.case.short_by(1) else LARGEST
        return min(self.case.conversations or 0, LARGEST)

    @property
    def agreed(self) -> list[Range]:
        """The draft lengths for all batches, with the very best at the one set where that fits."""
        if 0 < self.most < self.asked.batch:
            return list(self.ranges)
        return agreeing(self.ranges, self.speedups, self.asked.batch)

    @property
    def fitting(self) -> list[Range]:
        """Those for the batches that fit."""
        return [Range(a, min(b, self.most), k) for a, b, k in self.agreed if a <= self.most]

    @property
    def speedup(self) -> float | None:
        """At the draft length and batch that are set."""
        return self.case.speedup(self.asked.batch, self.asked.k)


@lru_cache(maxsize=8)
def _gains(case: Case) -> tuple[Grid, tuple[Range, ...]]:
    """Speedups and draft lengths, which are the same for whatever batch and k are set."""
    speedups = finish(grid(case))
    return speedups, tuple(lengths(speedups))


def priced(asked: Asked) -> Priced:
    """All that follows from these settings. Raises ValueError where figures contradict."""
    case = case_of(asked)
    return Priced(asked, case, *_gains(case))
