"""Text by the widget's rules, with a real model: one tick is one pass of the target.

A tick fills the cache again where positions are missing, else verifies a draft, as in run.py, whose
counters are kept; what is accepted follows from what the two models say of each token (Leviathan et
al. 2023, Algorithm 1). The prompt is filled as a recompute. The draft keeps its own keys and values
whatever becomes of the target's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from sim.cache import ACCEPTED, BONUS, PLAIN, slot_states, window_start
from sim.labs.ngram import Ngram
from sim.labs.speculative import acceptance, drawn, residual
from sim.labs.text_settings import NGRAM, SMALL, Setting
from sim.labs.transformer import Kept, Transformer
from sim.labs.weights import Array, Trained
from sim.metrics import Counters
from sim.run import evict, recompute_pass, verify_pass
from sim.work import Work

PROMPT = "prompt"
CLOSE = 1e-4
"""Logits that are nearer than this may change places with the width of a pass."""

DRAFT, COIN, REPLACEMENT = range(3)
"""Streams of uniforms."""


class Draft(Protocol):
    """What proposes tokens."""

    def chances(self, tokens: Sequence[int], temperature: float) -> Work[Array]:
        """The chances of what follows these tokens, a longer or a cut form of those before."""

    def settle(self, num_tokens: int) -> None:
        """So many tokens of the text are certain."""


class NgramDraft:
    """Proposals of the n-gram model."""

    def __init__(self, ngram: Ngram) -> None:
        self._ngram = ngram

    def chances(self, tokens: Sequence[int], temperature: float) -> Work[Array]:
        """See `Draft`."""
        yield 1.0
        return warmed(np.log(self._ngram.chances(tokens)), temperature)

    def settle(self, num_tokens: int) -> None:
        """See `Draft`."""


class SmallDraft:
    """Proposals of a small transformer, which keeps its own keys and values."""

    def __init__(self, model: Transformer) -> None:
        self._model, self._kept = model, Kept(model.shape)

    def chances(self, tokens: Sequence[int], temperature: float) -> Work[Array]:
        """See `Draft`."""
        kept = self._kept
        if kept.end < window_start(len(tokens)):
            kept.drop(window_start(len(tokens)))
        logits = yield from self._model.forward(tokens[kept.end :], kept, wanted=1)
        return warmed(logits[-1], temperature)

    def settle(self, num_tokens: int) -> None:
        """See `Draft`."""
        self._kept.roll_back(min(self._kept.end, num_tokens))


def warmed(logits: Array, temperature: float) -> Array:
    """Chances along the last axis at a temperature, float64; at 0 all is the likeliest token's."""
    if temperature == 0:
        best = logits.argmax(axis=-1)[..., None]
        return np.where(np.arange(logits.shape[-1]) == best, 1.0, 0.0)
    scaled = logits.astype(np.float64) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    chances: Array = raised / raised.sum(axis=-1, keepdims=True)
    return chances


class Drafted(NamedTuple):
    """One draft and what decided it."""

    token: int
    p: Array
    """What the target says of each token there."""
    q: Array
    """What the draft said."""
    coin: float
    chance: float
    """What the coin had to stay below."""
    accepted: bool | None
    """None where a draft before it was rejected."""


class Passed(NamedTuple):
    """The record of one tick."""

    recompute: bool
    width: int
    """Positions that went through the target."""
    drafts: tuple[Drafted, ...]
    token: int | None
    """The pass's own, None of a recompute pass."""
    p: Array | None
    """What the pass's own token was drawn from: of a rejected draft what replaces it."""
    draft_seconds: float
    target_seconds: float

    @property
    def accepted(self) -> int:
        """Drafts that were kept."""
        return sum(1 for draft in self.drafts if draft.accepted)


class Models:
    """What a file of weights holds, ready to be used by any number of texts."""

    def __init__(self, trained: Trained) -> None:
        self.card, self.pairs = trained.card, trained.pairs
        self.target, self.small = Transformer(trained.target), Transformer(trained.small)
        self.ngram = Ngram(trained.levels, len(trained.pairs))


def drafts_of(models: Models) -> dict[str, Draft]:
    """What proposes tokens of one text, by name."""
    return {NGRAM: NgramDraft(models.ngram), SMALL: SmallDraft(models.small)}


class Writer:
    """A text that is being written, a tick at a time. Settings may change between two ticks."""

    def __init__(
        self,
        models: Models,
        prompt: Sequence[int],
        setting: Setting,
        clock: Callable[[], float],
    ) -> None:
        """`prompt` holds one token at least. `clock` counts seconds."""
        self.models, self.tokens = models, list(prompt)
        self.origins = [PROMPT] * len(prompt)
        self.sources: list[tuple[int, int]] = [(-1, 0)] * len(prompt)
        """Of each token the record that tells of it, by its number in `passed`, and its place
        among the drafts there; no record of the prompt's."""
        self.state = Counters(num_tokens=len(prompt), num_computed_tokens=window_start(len(prompt)))
        self.passed: list[Passed] = []
        self.first_close: int | None = None
        self._clock = clock
        self._kept = Kept(models.target.shape, self.state.num_computed_tokens)
        self._luck = [
            np.random.default_rng(one) for one in np.random.SeedSequence(setting.seed).spawn(3)
        ]
        self._drafts = drafts_of(models)
        self.setting, self._params = setting, setting.params()

    def set(self, setting: Setting) -> None:
        """Go on with other settings; the luck goes on as it was. What is kept with the cache on is
        lost when it goes off.
        """
        if self.setting.kv_cache and not setting.kv_cache:
            self._kept.drop(0)
        elif setting.kv_cache and not self.setting.kv_cache:
            self.evict()
        self.setting, self._params = setting, setting.params()

    def evict(self) -> None:
        """Drop all keys and values of the target; the tokens stay."""
        self.state = evict(self.state)
        self._kept.drop(self.state.num_computed_tokens)

    @property
    def draft_cost(self) -> float:
        """A draft step by a pass of the target, where both wait for their weights."""
        if self.setting.draft == NGRAM:
            return 0.0
        return self.models.small.weights / self.models.target.weights

    @property
    def missing(self) -> int:
        """Positions to be filled before the next token."""
        return self.state.num_tokens - 1 - self.state.num_computed_tokens if self.cached else 0

    @property
    def cached(self) -> bool:
        """Whether keys and values are kept from pass to pass."""
        return self.setting.kv_cache

    @property
    def kept_positions(self) -> int:
        """Positions whose keys and values are kept."""
        return len(self._kept) if self.cached else 0

    @property
    def kept_bytes(self) -> int:
        """Bytes of the target's keys and values that are kept."""
        return self._kept.nbytes if self.cached else 0

    def slots(self) -> list[str]:
        """What each slot of the widget's board shows."""
        last = self.passed[-1] if self.passed else None
        return slot_states(
            self.state.num_tokens,
            self.state.num_computed_tokens,
            [PLAIN if origin == PROMPT else origin for origin in self.origins],
            len(last.drafts) - last.accepted if last else 0,
            self.cached,
        )

    def tick(self) -> Work[Passed]:
        """One pass of the target: step() of run.py, with a model in it."""
        if self.missing:
            done = yield from self._recompute(min(self._params.recompute_chunk, self.missing))
        else:
            done = yield from self._verify()
        self.passed.append(done)
        return done

    def _recompute(self, positions: int) -> Work[Passed]:
        first = self.state.num_computed_tokens
        again = self.tokens[first : first + positions]
        _, seconds = yield from self._timed(self.models.target.forward(again, self._kept, wanted=0))
        self._kept.roll_back(first + positions)
        self.state = recompute_pass(self.state, self._params, positions)
        return Passed(True, positions, (), None, None, 0.0, seconds)

    def _verify(self) -> Work[Passed]:
        setting, start = self.setting, window_start(len(self.tokens))
        k = len(self._params.rates)
        proposed, drafting = (yield from self._timed(self._propose(k))) if k else ([], 0.0)
        if not self.cached:
            self._kept.drop(start)
        known = self.tokens[self._kept.end :]
        drafts = [token for token, _ in proposed]
        width = len(known) + k
        logits, seconds = yield from self._timed(
            self.models.target.forward([*known, *drafts], self._kept, wanted=1 + k)
        )
        tested = self._test(proposed, warmed(logits, setting.temperature))
        accepted = sum(1 for draft in tested if draft.accepted)
        p = warmed(logits[accepted], setting.temperature)
        if accepted < k:
            p = residual(p, proposed[accepted][1])
        own = drawn(p, self._luck[REPLACEMENT].random())
        self._note_close(logits[: accepted + 1])
        self.tokens += [*drafts[:accepted], own]
        self.origins += [ACCEPTED] * accepted + [BONUS if k else PLAIN]
        self.sources += [(len(self.passed), place) for place in range(accepted + 1)]
        self.state = verify_pass(self.state, self._params, accepted)
        if self.cached:
            self._kept.roll_back(self.state.num_computed_tokens)
        else:
            self._kept.drop(0)
        self._drafts[setting.draft].settle(len(self.tokens) - 1)
        return Passed(False, width, tested, own, p, drafting, seconds)

    def _note_close(self, logits: Array) -> None:
        """Note the first position at which the two best logits are nearer than `CLOSE`."""
        best = np.partition(logits, -2, axis=-1)
        close = np.flatnonzero(best[:, -1] - best[:, -2] < CLOSE)
        if self.first_close is None and len(close):
            self.first_close = len(self.tokens) + int(close[0])

    def _propose(self, k: int) -> Work[list[tuple[int, Array]]]:
        """k drafts, each with the chances that it was drawn from."""
        draft, tokens = self._drafts[self.setting.draft], list(self.tokens)
        proposed = []
        for _ in range(k):
            q = yield from draft.chances(tokens, self.setting.temperature)
            token = drawn(q, self._luck[DRAFT].random())
            proposed.append((token, q))
            tokens.append(token)
        return proposed

    def _test(self, proposed: Sequence[tuple[int, Array]], p: Array) -> tuple[Drafted, ...]:
        tested, going = [], True
        for place, (token, q) in enumerate(proposed):
            chance = float(acceptance(p[place], q)[token])
            coin = float(self._luck[COIN].random())
            accepted = coin < chance if going else None
            tested.append(Drafted(token, p[place], q, coin, chance, accepted))
            going = going and bool(accepted)
        return tuple(tested)

    def _timed(self, work: Work[Any]) -> Work[tuple[Any, float]]:
        """What a work gives, and the seconds spent in it; what comes between its parts is not."""
        spent, share = 0.0, 0.0
        while True:
            began = self._clock()
            try:
                share = next(work)
            except StopIteration as end:
                return end.value, spent + self._clock() - began
            spent += self._clock() - began
            yield share
