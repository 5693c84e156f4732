"""What a file of weights holds: tokens, an n-gram model, weights; and how damage to it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.labs import text_run
from sim.labs.pairs import BYTES, Pairs
from sim.labs.stored import DamagedError
from sim.labs.weights import code, restored, rounded, share, unpack
from tests.labs.written import (
    PAIRS,
    TARGET,
    VOCABULARY,
    counted,
    drawn_weights,
    file_of_models,
    models,
)

# The tokens


@given(st.text())
def test_every_text_has_tokens_and_comes_back(text_: str) -> None:
    assert PAIRS.decode(PAIRS.encode(text_)) == text_


def test_half_a_surrogate_pair_is_a_question_mark() -> None:
    assert PAIRS.decode(PAIRS.encode("a\ud800b")) == "a?b"


def test_the_pair_that_was_joined_first_comes_first() -> None:
    pairs = Pairs([(98, 99), (97, 98), (256, 256)])
    assert pairs.encode("abc") == [97, 256]
    assert pairs.encode("ab abcbc") == [257, 32, 97, 258]
    assert pairs.bytes_of[258] == b"bcbc"
    with pytest.raises(ValueError, match="pair 1: \\(97, 257\\) names a token"):
        Pairs([(97, 98), (97, BYTES + 1)])


# The n-gram model


def plain_shares(text_: Any, context: tuple[int, ...]) -> dict[int, int]:
    """How often each token follows a context, counted one by one."""
    found: dict[int, int] = {}
    for end in range(len(context), len(text_)):
        if tuple(text_[end - len(context) : end]) == context:
            found[int(text_[end])] = found.get(int(text_[end]), 0) + 1
    return found


def test_an_ngram_model_knows_what_followed_and_leaves_something_to_all_else() -> None:
    followed, ngram = counted(), models().ngram
    for place in (100, 900):
        context = tuple(int(token) for token in followed[place : place + 2])
        chances = ngram.chances(context)
        assert chances.sum() == pytest.approx(1)
        assert chances.min() > 0
        seen = plain_shares(followed, context)
        total = sum(seen.values())
        for token, times in seen.items():
            if times >= 2:
                assert chances[token] >= 0.95 * (times - 0.75) / total


def test_without_a_context_that_was_seen_shorter_ones_decide() -> None:
    ngram = models().ngram
    unseen = next(
        token for token in range(VOCABULARY) if not plain_shares(counted(), (token, token))
    )
    assert np.array_equal(ngram.chances([unseen, unseen]), ngram.chances([unseen]))
    assert ngram.chances([]).sum() == pytest.approx(1)


def test_shares_as_bytes_are_rounded_down_by_4_percent_at_most() -> None:
    shares = np.random.default_rng(0).random(1000) * 0.98 + 0.01
    again = share(code(shares)) / shares
    assert again.max() <= 1 + 1e-9
    assert again.min() > 0.958


# The file


def damaged() -> Iterator[tuple[str, bytes]]:
    whole = file_of_models()
    yield "empty", b""
    yield "a page", b"<!doctype html>\n<title>404</title>"
    yield "cut", whole[:-1]
    yield "only its head", whole.partition(b"\n")[0]
    yield "half a head", whole[:100]
    yield "another format", whole.replace(b"bonus-token-text-1", b"bonus-token-text-2")
    yield "one bit", whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:]
    yield "another size", whole.replace(b'"hidden":48', b'"hidden":40')
    yield "no pairs", whole.replace(b'"pairs"', b'"riaps"')


@pytest.mark.parametrize("data", [pytest.param(data, id=how) for how, data in damaged()])
def test_a_damaged_file_is_told_as_that(data: bytes) -> None:
    with pytest.raises(DamagedError):
        unpack(data)


@pytest.mark.parametrize("data", [pytest.param(data, id=how) for how, data in damaged()][:-2])
def test_damage_is_told_before_numpy_is_asked_for(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_run, "__file__", str(tmp_path / "text_run.py"))
    (tmp_path / text_run.WEIGHTS).write_bytes(data)
    with pytest.raises(ValueError, match=r"plays\.bin is damaged: "):
        text_run.stored()


def test_a_file_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_run, "__file__", str(tmp_path / "text_run.py"))
    with pytest.raises(ValueError, match=r"plays\.bin cannot be read \(No such file"):
        text_run.stored()


def test_what_is_packed_is_unpacked() -> None:
    again = unpack(file_of_models())
    assert again.card == {"source": "drawn"}
    assert again.pairs.joined == PAIRS.joined
    assert again.target.shape.parameters(VOCABULARY) == sum(
        matrix.size for matrix in again.target.matrices.values()
    )
    assert len(again.levels) == 3


def test_weights_are_rounded_to_a_254th_of_the_largest_in_their_row() -> None:
    matrix = drawn_weights(TARGET, 5).matrices["0.up"].copy()
    matrix[3] = 0
    again = restored(*rounded(matrix))
    error = np.abs(again - matrix) / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-9)
    assert error.max() <= 1 / 254 + 1e-6
    assert not again[3].any()
