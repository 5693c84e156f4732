"""How the transformers learn, with JAX: the same forward pass as transformer.py, and its gradient.

Matrices inside the layers follow the orthogonal direction of their momentum (Muon, Jordan et al.
2024), the embedding follows Adam (Kingma and Ba 2015). Every batch follows from its step alone, so
that a training that was interrupted goes on as if it had not been.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sim.labs.weights import Array, Shape, Weights

EPSILON = 1e-6
KEPT_EVERY = 250
"""Steps from one checkpoint to the next."""
ROTARY_BASE = 10_000.0
Parameters = dict[str, Any]
Loss = Callable[[Parameters, Any, Any], Any]
"""Of parameters, tokens in rows of length + 1, and the share of the steps that are done."""


class Stage(NamedTuple):
    """Some steps with batches of one form."""

    steps: int
    rows: int
    length: int
    """Tokens that are predicted in each row."""


class Recipe(NamedTuple):
    """How one transformer is trained."""

    shape: Shape
    stages: tuple[Stage, ...]
    matrix_rate: float
    embed_rate: float
    horizon: int
    """Steps over which the rates would fall to 0, from two fifths of them on."""
    cool: int
    """Steps at the end in which they fall to 0 the quick way."""
    seed: int

    @property
    def steps(self) -> int:
        """All steps."""
        return sum(stage.steps for stage in self.stages)

    def quick(self, step: int) -> float:
        """The share of the rates that is left by the fall at the end."""
        return min(1.0, (self.steps - step) / self.cool)

    def stage(self, step: int) -> Stage:
        """The stage of a step, counted from 0."""
        for stage in self.stages:
            if step < stage.steps:
                return stage
            step -= stage.steps
        raise ValueError(f"{step} steps too many")


def start(recipe: Recipe, vocabulary: int) -> Parameters:
    """Weights to begin with: what goes back into the sum of a layer starts at 0."""
    key = jax.random.PRNGKey(recipe.seed)
    parameters = {}
    for number, (name, size) in enumerate(recipe.shape.rows(vocabulary).items()):
        drawn = jax.random.normal(jax.random.fold_in(key, number), size, jnp.float32)
        scale = 0.0 if name.endswith((".out", ".down")) else size[1] ** -0.5
        parameters[name] = drawn * (0.05 if name == "embed" else scale)
    return parameters


def _norm(x: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPSILON)


def forward(parameters: Parameters, shape: Shape, tokens: Any) -> Any:
    """Logits of what follows each token of each row; a row begins at position 0."""
    rows, length = tokens.shape
    heads, size = shape.heads, shape.head_size
    angles = jnp.arange(length)[:, None] * ROTARY_BASE ** (-jnp.arange(size // 2) / (size // 2))
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    hidden = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, -1e9)

    def turned(x: Any) -> Any:
        first, second = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)

    x = _norm(parameters["embed"][tokens])
    for layer in range(shape.layers):
        mixed = (_norm(x) @ parameters[f"{layer}.qkv"].T).reshape(rows, length, 3, heads, size)
        queries, keys, values = turned(mixed[:, :, 0]), turned(mixed[:, :, 1]), mixed[:, :, 2]
        scores = jnp.einsum("bqhd,bkhd->bhqk", queries, keys) * size**-0.5 + hidden
        seen = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), values)
        x = x + seen.reshape(rows, length, -1) @ parameters[f"{layer}.out"].T
        inside = jax.nn.relu(_norm(x) @ parameters[f"{layer}.up"].T)
        x = x + (inside * inside) @ parameters[f"{layer}.down"].T
    return _norm(x) @ parameters["embed"].T


def text_loss(shape: Shape) -> Loss:
    """Nats a token that the text costs."""

    def loss(parameters: Parameters, tokens: Any, _share: Any) -> Any:
        logs = jax.nn.log_softmax(forward(parameters, shape, tokens[:, :-1]))
        return -jnp.take_along_axis(logs, tokens[:, 1:, None], axis=-1).mean()

    return loss


def draft_loss(shape: Shape, target: Weights) -> Loss:
    """How far a draft is from its target: first the divergence, then more and more what it misses
    of the overlap Σ min(p, q), which is the chance that a draft is accepted.
    """

    followed = {name: jnp.asarray(matrix) for name, matrix in target.matrices.items()}

    def loss(parameters: Parameters, tokens: Any, share: Any) -> Any:
        p = jax.nn.softmax(forward(followed, target.shape, tokens[:, :-1]))
        logs = jax.nn.log_softmax(forward(parameters, shape, tokens[:, :-1]))
        divergence = -(p * logs).sum(axis=-1).mean()
        missed = 0.5 * jnp.abs(p - jnp.exp(logs)).sum(axis=-1).mean()
        turn = jnp.clip(2 * share - 0.5, 0, 1)
        return (1 - turn) * divergence + turn * missed

    return loss


def _orthogonal(matrix: Any) -> Any:
    """About the nearest matrix whose singular values are 1: five steps of a Newton–Schulz rule."""
    turned = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if turned else matrix
    x = x / (jnp.linalg.norm(x) + 1e-7)
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.T if turned else x


MOMENTUM = 0.95
BETAS = 0.9, 0.98


@partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=(3, 4))
def _step(
    loss: Loss, matrix_rate: float, embed_rate: float, parameters: Any, memory: Any, batch: Any
) -> Any:
    tokens, step, share, slow, quick = batch
    found, gradient = jax.value_and_grad(loss)(parameters, tokens, share)
    pace = jnp.minimum(1.0, (step + 1) / 50) * jnp.where(slow < 0.4, 1.0, (1 - slow) / 0.6) * quick
    after, kept = {}, {}
    for name, weights in parameters.items():
        if name == "embed":
            first, second = memory[name]
            first = BETAS[0] * first + (1 - BETAS[0]) * gradient[name]
            second = BETAS[1] * second + (1 - BETAS[1]) * gradient[name] ** 2
            mean = first / (1 - BETAS[0] ** (step + 1))
            spread = second / (1 - BETAS[1] ** (step + 1))
            after[name] = weights - pace * embed_rate * mean / (jnp.sqrt(spread) + 1e-8)
            kept[name] = first, second
        else:
            momentum = MOMENTUM * memory[name] + (1 - MOMENTUM) * gradient[name]
            ahead = MOMENTUM * momentum + (1 - MOMENTUM) * gradient[name]
            high, wide = weights.shape
            move = _orthogonal(ahead) * max(1.0, high / wide) ** 0.5
            after[name] = weights * (1 - pace * matrix_rate * 0.05) - pace * matrix_rate * move
            kept[name] = momentum
    return after, kept, found


def learn(
    recipe: Recipe,
    loss: Loss,
    text: Array,
    vocabulary: int,
    checkpoint: Path,
    say: Callable[[str], object],
    clock: Callable[[], float],
) -> dict[str, Array]:
    """Train, from the checkpoint on where there is one of this recipe; the weights by name.

    `text` holds the tokens of all plays for training, one after another.
    """
    parameters = start(recipe, vocabulary)
    memory: Parameters = {
        name: (jnp.zeros_like(weights),) * 2 if name == "embed" else jnp.zeros_like(weights)
        for name, weights in parameters.items()
    }
    memory = jax.tree.map(jnp.array, memory)
    parameters, memory, done = _restored(recipe, checkpoint, parameters, memory)
    began, steps_before, told = clock(), done, []
    for step in range(done, recipe.steps):
        shares = step / recipe.steps, step / recipe.horizon, recipe.quick(step)
        batch = _batch(recipe, step, text), jnp.float32(step), *map(jnp.float32, shares)
        parameters, memory, found = _step(
            loss, recipe.matrix_rate, recipe.embed_rate, parameters, memory, batch
        )
        told.append(found)
        if (step + 1) % 100 == 0 or step + 1 == recipe.steps:
            mean, each = float(np.mean(told)), (clock() - began) / (step + 1 - steps_before)
            say(
                f"  step {step + 1} of {recipe.steps}: loss {mean:.3f}, {1000 * each:.0f} ms a step"
            )
            told = []
        if (step + 1) % KEPT_EVERY == 0 or step + 1 == recipe.steps:
            _save(recipe, checkpoint, step + 1, parameters, memory)
    return {name: np.asarray(weights) for name, weights in parameters.items()}


def _batch(recipe: Recipe, step: int, text: Array) -> Any:
    stage = recipe.stage(step)
    drawn = np.random.default_rng((recipe.seed, step))
    places = drawn.integers(0, len(text) - stage.length, stage.rows)
    return jnp.asarray(text[places[:, None] + np.arange(stage.length + 1)], jnp.int32)


def _save(recipe: Recipe, file: Path, step: int, parameters: Any, memory: Any) -> None:
    leaves = jax.tree.leaves((parameters, memory))
    beside = file.with_suffix(".part.npz")
    arrays = {str(number): np.asarray(leaf) for number, leaf in enumerate(leaves)}
    np.savez(beside, allow_pickle=False, told=json.dumps(recipe), step=step, **arrays)
    os.replace(beside, file)


def _restored(recipe: Recipe, file: Path, parameters: Any, memory: Any) -> tuple[Any, Any, int]:
    if file.exists():
        with np.load(file) as held:
            if str(held["told"]) == json.dumps(recipe):
                tree = jax.tree.structure((parameters, memory))
                leaves = [jnp.asarray(held[str(n)]) for n in range(tree.num_leaves)]
                return (*jax.tree.unflatten(tree, leaves), int(held["step"]))
    return parameters, memory, 0


def in_windows(text: Array, length: int, rows: int = 8) -> Iterator[Array]:
    """A text in batches of rows of length + 1, each row but the first from the last token of the
    one before it; what does not fill a row is left out.
    """
    whole = (len(text) - 1) // length
    places = np.arange(whole)[:, None] * length + np.arange(length + 1)
    for first in range(0, whole, rows):
        yield text[places[first : first + rows]]


def logits(matrices: Mapping[str, Array], shape: Shape) -> Callable[[Array], Array]:
    """What `forward` makes of rows of tokens, with these weights."""
    held = {name: jnp.asarray(matrix) for name, matrix in matrices.items()}

    found = jax.jit(lambda tokens: forward(held, shape, tokens))
    return lambda tokens: np.asarray(found(jnp.asarray(tokens, jnp.int32)))


def chances(matrices: Mapping[str, Array], shape: Shape) -> Callable[[Array], Array]:
    """The logarithms of the chances of what follows each token, for rows of tokens."""
    of = logits(matrices, shape)
    return lambda tokens: np.asarray(jax.nn.log_softmax(of(tokens)))
