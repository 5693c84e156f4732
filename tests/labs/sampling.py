"""Speculative sampling told again, string by string, in plain Python: what the lab is held to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sim.labs.sampling_exact import Exact, exact
from sim.labs.sampling_rows import OF_THE_TEXT, language
from sim.labs.sampling_rules import models_of
from sim.labs.sampling_settings import RULES

THREE = language(".6,.3,.1;.2,.5,.3;.1,.2,.7", ".3,.4,.3;.3,.3,.4;.25,.25,.5")
SCENES = {"3 words": THREE, "4 words": OF_THE_TEXT}
NAMES = tuple(rule.name for rule in RULES)
WRONG = NAMES[1:]

Row = list[float]


def of_scene(scene: str, rule: str, k: int = 4) -> Exact:
    return exact(models_of(SCENES[scene]), rule, k)


def _scaled(row: Row) -> Row:
    return [one / sum(row) for one in row]


def passes(
    p: list[Row], q: list[Row], k: int, rule: str, start: int, temperature: float = 0.5
) -> Iterator[tuple[float, list[int]]]:
    """Every pass that there can be after a word: its chance, and the words that it writes."""
    size = len(p)

    def go(
        last: int, tried: int, written: list[int], chance: float
    ) -> Iterator[tuple[float, list[int]]]:
        if tried == k:
            row = q[last] if rule == "bonus-from-draft" else p[last]
            for word in range(size):
                yield chance * row[word], [*written, word]
            return
        ps, qs = p[last], q[last]
        drafts = _scaled([one ** (1 / temperature) for one in qs]) if "stale" in rule else qs
        likeliest = ps.index(max(ps))
        for draft in range(size):
            if not drafts[draft]:
                continue
            if rule == "always-accept":
                accept = 1.0
            elif rule == "argmax":
                accept = float(draft == likeliest)
            else:
                accept = min(1.0, ps[draft] / qs[draft])
            here = chance * drafts[draft]
            yield from go(draft, tried + 1, [*written, draft], here * accept)
            refused = here * (1 - accept)
            if not refused:
                continue
            if rule == "keep-after-rejection":
                yield from go(draft, tried + 1, written, refused)
                continue
            if rule == "argmax":
                instead = [float(word == likeliest) for word in range(size)]
            elif rule == "replace-from-target":
                instead = ps
            else:
                instead = _scaled([max(0.0, a - b) for a, b in zip(ps, qs, strict=True)])
            for word in range(size):
                yield refused * instead[word], [*written, word]

    return go(start, 0, [], 1.0)


def brute(p: list[Row], q: list[Row], k: int, rule: str) -> tuple[float, np.ndarray]:
    """Tokens per pass, and the shares of pairs, from every string of drafts."""
    size = len(p)
    kernel, pairs = np.zeros((size, size)), np.zeros((size, size, size))
    for start in range(size):
        for chance, words in passes(p, q, k, rule, start):
            kernel[start, words[-1]] += chance
            for before, word in zip([start, *words], words, strict=False):
                pairs[start, before, word] += chance
    balance = np.vstack([kernel.T - np.eye(size), np.ones(size)])
    starts = np.linalg.lstsq(balance, np.append(np.zeros(size), 1), rcond=None)[0]
    whole = np.tensordot(starts, pairs, 1)
    return float(whole.sum()), whole / whole.sum()
