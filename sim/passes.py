"""What one pass of a model takes on a machine, in seconds: a roofline.

    memory     = (bytes of weights read + Σ contexts · KV bytes a token) ÷ bandwidth
    arithmetic = (2 · active parameters · positions
                  + 4 · layers · heads · head size · Σ context · positions) ÷ FLOP/s
    pass       = the larger of the two

The sums go over the sequences of a batch, each with a context and so many positions in this pass,
so sequences of any lengths can be priced together. Simplified: memory and arithmetic overlap
entirely, nothing is spent on launches or between cards, and activations are never read from memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

GIB = 2**30
"""Bytes of a GiB: memory is sold in them, under the name of GB."""


class Source(NamedTuple):
    """Where figures stand."""

    document: str
    address: str
    printed: str
    """The figures as they are printed there, and what makes ours of them."""


OWN = Source("your own figures", "", "")


@dataclass(frozen=True)
class Machine:
    """A card, or a computer, by the three figures that a pass depends on."""

    name: str
    bandwidth: float
    """Of its memory, bytes a second."""
    flops: float
    """Dense 16-bit arithmetic, sums in 32 bits, FLOP a second; never the figure for sparsity."""
    capacity: float
    """Of its memory, bytes."""
    source: Source = OWN

    def reaching(
        self, cards: int = 1, bandwidth_share: float = 1.0, flops_share: float = 1.0
    ) -> Machine:
        """So many of these side by side, reaching these shares of their limits, 0 to 1."""
        return replace(
            self,
            bandwidth=self.bandwidth * cards * bandwidth_share,
            flops=self.flops * cards * flops_share,
            capacity=self.capacity * cards,
        )


@dataclass(frozen=True)
class Model:
    """A transformer, by what a pass depends on. A dense one leaves the experts out."""

    name: str
    parameters: float
    """All of them, experts included."""
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    experts: int = 0
    """Of a layer, among which each position is sent to `top`."""
    top: int = 0
    expert_parameters: float = 0.0
    """Of all experts of all layers together."""
    latent: int = 0
    """Numbers that a layer keeps of a token where that is not 2 · KV heads · head size: latent
    attention."""
    source: Source = OWN

    @property
    def active_parameters(self) -> float:
        """Those that one position is multiplied with."""
        if not self.experts:
            return self.parameters
        shared = self.parameters - self.expert_parameters
        return shared + self.expert_parameters * self.top / self.experts

    def weights_read(self, positions: float, width: float = 2.0) -> float:
        """Bytes of weights that a pass over so many positions reads, `width` bytes a weight.

        Each position wakes `top` of the experts of a layer, evenly and independently; those that
        none of them wakes are not read.
        """
        if not self.experts:
            return self.parameters * width
        asleep: float = (1 - self.top / self.experts) ** positions
        return (self.parameters - self.expert_parameters * asleep) * width

    def kv_bytes(self, width: float = 2.0) -> float:
        """Bytes of keys and values that a token takes in the cache, `width` bytes a number."""
        kept = self.latent or 2 * self.kv_heads * self.head_size
        return self.layers * kept * width


class Roofs(NamedTuple):
    """The two times of a pass, in seconds; it takes the longer one."""

    memory: float
    arithmetic: float

    @property
    def seconds(self) -> float:
        """What the pass takes."""
        return max(self.memory, self.arithmetic)


def pass_roofs(
    machine: Machine,
    model: Model,
    positions: float,
    contexts: float,
    context_positions: float,
    weights: float,
    kv_width: float = 2.0,
) -> Roofs:
    """Both times of one pass over sequences of any lengths.

    `positions` is the number computed, of all sequences together; `contexts` the tokens in all
    their caches, Σ context; `context_positions` is Σ context · positions over the sequences;
    `weights` the bytes of weights read, as `model.weights_read(positions, width)` gives them;
    `kv_width` the bytes of a number in the cache.
    """
    attended = 4 * model.layers * model.heads * model.head_size * context_positions
    return Roofs(
        (weights + contexts * model.kv_bytes(kv_width)) / machine.bandwidth,
        (2 * model.active_parameters * positions + attended) / machine.flops,
    )
