"""The forward pass in NumPy: what is kept, taken back and dropped, held to computing all anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sim.cache import window_start
from sim.labs.transformer import SLICE, Kept, Transformer
from sim.labs.weights import Array, Shape
from sim.params import SLOTS
from sim.work import finish
from tests.labs.written import TARGET, VOCABULARY, drawn_weights

ONE_LAYER = Shape(layers=1, heads=2, width=32, hidden=48)


def tokens_of(number: int, seed: int = 0) -> list[int]:
    return [int(t) for t in np.random.default_rng(seed).integers(0, VOCABULARY, number)]


def target(shape: Shape = TARGET) -> Transformer:
    return Transformer(drawn_weights(shape, 0))


def anew(model: Transformer, tokens: Sequence[int]) -> Array:
    """Logits of all these tokens in one go, over nothing that was kept."""
    return finish(model.forward(tokens, Kept(model.shape)))


def test_what_is_kept_gives_the_logits_of_computing_all_anew() -> None:
    model, tokens = target(), tokens_of(SLOTS)
    kept, found = Kept(model.shape), []
    luck = np.random.default_rng(3)
    while kept.end < SLOTS:
        width = int(luck.integers(1, 2 * SLICE + 3))
        found.append(finish(model.forward(tokens[kept.end : kept.end + width], kept)))
    assert np.abs(np.concatenate(found) - anew(model, tokens)).max() < 1e-4


def test_tokens_in_another_order_give_other_logits() -> None:
    """A control: positions count, and so does every token before."""
    model, tokens = target(), tokens_of(60)
    other = [tokens[1], tokens[0], *tokens[2:]]
    assert np.abs(anew(model, tokens) - anew(model, other))[-1].max() > 1e-3


def test_a_draft_that_was_taken_back_leaves_no_trace() -> None:
    model, tokens = target(), tokens_of(400)
    clean, drafted = Kept(model.shape), Kept(model.shape)
    for kept in (clean, drafted):
        finish(model.forward(tokens[:300], kept))
    finish(model.forward(tokens_of(33, seed=9), drafted))
    drafted.roll_back(301)
    assert len(drafted) == 301
    drafted.roll_back(300)
    one, other = (finish(model.forward(tokens[300:320], kept)) for kept in (clean, drafted))
    assert np.array_equal(one, other)
    assert clean.nbytes == drafted.nbytes


@pytest.mark.parametrize("end", [299, 334])
def test_what_is_not_kept_cannot_be_taken_back(end: int) -> None:
    model = target()
    kept = Kept(model.shape, 300)
    finish(model.forward(tokens_of(33), kept))
    with pytest.raises(ValueError, match=f"position {end} is not from 300 to 333"):
        kept.roll_back(end)


def test_a_position_sees_the_latest_512_and_no_more() -> None:
    """With one layer keys and values know nothing of what was before their own position, so that
    a window computed anew is the one that was kept, however far the text has gone.
    """
    model, tokens = target(ONE_LAYER), tokens_of(5 * SLOTS)
    kept = Kept(model.shape)
    luck = np.random.default_rng(4)
    while kept.end < len(tokens) - 40:
        begin, width = kept.end, int(luck.integers(1, 34))
        logits = finish(model.forward(tokens[begin : begin + width], kept))
        if luck.random() < 0.1:
            for end in (begin + 1, begin + width):
                window = tokens[window_start(end) : end]
                beside = finish(model.forward(window, Kept(model.shape, window_start(end))))
                assert np.abs(beside[-1] - logits[end - begin - 1]).max() < 1e-4
        kept.roll_back(begin + int(luck.integers(1, width + 1)))
        assert len(kept) == min(kept.end, SLOTS - 1)


def test_with_more_layers_a_window_computed_anew_is_not_the_one_that_was_kept() -> None:
    """Keys and values knew of what has left the window; those computed again do not."""
    model, tokens = target(), tokens_of(SLOTS + 200)
    kept = Kept(model.shape)
    for begin in range(0, len(tokens), 8):
        logits = finish(model.forward(tokens[begin : begin + 8], kept))
        kept.roll_back(kept.end)
    window = tokens[window_start(len(tokens)) :]
    beside = finish(model.forward(window, Kept(model.shape, window_start(len(tokens)))))
    assert np.abs(beside[-1] - logits[-1]).max() > 1e-2


def test_what_is_kept_has_the_bytes_that_the_formula_says() -> None:
    model = target()
    kept = Kept(model.shape)
    each = 2 * TARGET.layers * TARGET.heads * TARGET.head_size * 4
    assert model.bytes_per_position() == each
    for width in (1, 40, 300, 200):
        finish(model.forward(tokens_of(width), kept))
        kept.roll_back(kept.end)
        assert kept.nbytes == len(kept) * each == min(kept.end, SLOTS - 1) * each
    kept.drop(100)
    assert (kept.nbytes, len(kept), kept.end) == (0, 0, 100)


def test_more_than_the_arrays_hold_is_refused() -> None:
    model = target()
    kept = Kept(model.shape)
    with pytest.raises(ValueError, match="0 \\+ 1089 positions; at most 1088"):
        finish(model.forward(tokens_of(1089), kept))


def test_long_work_goes_in_slices_that_tell_how_far_they_are() -> None:
    model = target()
    shares = list(model.forward(tokens_of(3 * SLICE), Kept(model.shape), wanted=1))
    assert len(shares) == 3 * TARGET.layers
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_numpy_computes_what_the_training_framework_does() -> None:
    pytest.importorskip("jax", reason="JAX, which trains the models, is not installed")
    from sim.labs import learning

    for shape in (TARGET, ONE_LAYER):
        weights, tokens = drawn_weights(shape, 6), tokens_of(200)
        logits = learning.logits(weights.matrices, shape)(np.array([tokens]))[0]
        assert np.abs(anew(Transformer(weights), tokens) - logits).max() < 1e-4
