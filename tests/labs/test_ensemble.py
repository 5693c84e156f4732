"""A thousand runs at once follow the rules of one, and its chances."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from sim.labs.ensemble import LUCK, RUNS, Counts, Ensemble, coins, ensemble, spread, yields
from sim.params import HORIZON, Params
from sim.run import Run, count_accepted, luck_of
from sim.theory import chances_of_tokens, expected_tokens_per_pass, survival
from sim.work import finish
from tests.server import ROOT

SEEDS = 12
SETTINGS = [
    Params(),
    Params(evictions=(0, 100, 102, 103, 700, 1200)),
    Params(evictions=(5, 300), recompute_chunk=16, draft_length=9, acceptance_rate=0.9),
    Params(evictions=(100,), kv_cache=False),
    Params(evictions=(400,), speculation=False),
    Params(evictions=(400, 800), recompute_chunk=73),  # the window is 7 chunks but for the newest
    Params(evictions=tuple(range(50, 1200, 7)), recompute_chunk=16),
    Params(draft_length=32, acceptance_rate=1, evictions=(20,)),
]


def of_seeds(params: Params, seeds: int = SEEDS) -> Ensemble:
    """The ensemble whose passes yield what the coins of these seeds say."""
    made = np.empty((HORIZON, seeds), np.uint8)
    for seed in range(seeds):
        luck = luck_of(seed)
        for number in range(HORIZON):
            made[number, seed] = 1 + count_accepted(luck.coins(number), params.rates)
    return Ensemble(params, made)


@pytest.mark.parametrize("params", SETTINGS, ids=range(len(SETTINGS)))
def test_with_the_coins_of_a_seed_a_column_is_that_run(params: Params) -> None:
    together = of_seeds(params)
    for seed in range(SEEDS):
        run = Run(replace(params, seed=seed))
        states = [run.at(tick) for tick in range(HORIZON + 1)]
        passes = [int(together.verify_passes(tick)[seed]) for tick in range(HORIZON + 1)]
        assert passes == [state.verify_passes for state in states]
        tokens = [int(together.tokens(tick)[seed]) for tick in range(HORIZON + 1)]
        assert tokens == [state.num_tokens - 1 for state in states]


@pytest.mark.parametrize("tick", [1, 104, 900])
def test_shares_count_the_passes_of_each_run(tick: int) -> None:
    params = SETTINGS[1]
    together = of_seeds(params)
    shares = finish(together.shares(tick))
    assert shares.shape == (5, SEEDS)
    for seed in range(SEEDS):
        run = Run(replace(params, seed=seed))
        records = [run.verify_pass_at(at) for at in range(1, tick + 1)]
        found = [record.accepted + 1 for record in records if record]
        assert shares[:, seed] == pytest.approx([found.count(n) / len(found) for n in range(1, 6)])


def test_a_coin_says_how_many_drafts_are_accepted() -> None:
    rates = (0.9, 0.5, 0.5)
    luck = np.array([[0.0, 0.2249, 0.2251, 0.4499, 0.4501, 0.8999, 0.9001, 1 - 2**-24]], np.float32)
    assert yields(luck, rates).tolist() == [[4, 4, 3, 3, 2, 2, 1, 1]]
    assert yields(luck, (1.0,) * 32).tolist() == [[33] * 8]
    assert yields(luck, (0.0, 1.0)).tolist() == [[1] * 8]
    assert yields(luck, ()).tolist() == [[1] * 8]


def distance(one: Counts, other: Counts) -> float:
    """Largest difference of the two distributions (Kolmogorov–Smirnov), over its critical value.

    Equal distributions come above 1 once in a million.
    """
    places = np.union1d(one, other)
    shares = [np.searchsorted(np.sort(v), places, side="right") / len(v) for v in (one, other)]
    n, m = len(one), len(other)
    critical = sqrt(-log(1e-6 / 2) / 2 * (n + m) / (n * m))
    return float(np.abs(shares[0] - shares[1]).max()) / critical


def test_the_thousand_are_distributed_as_single_runs_are_and_wrong_models_are_not() -> None:
    params, tick, seeds = Params(evictions=(100,)), 400, 300
    single = np.array(
        [Run(Params(evictions=(100,), seed=s)).at(tick).num_tokens - 1 for s in range(seeds)]
    )
    assert distance(finish(ensemble(params)).tokens(tick), single) < 1

    luck = np.random.default_rng(1)
    passes = HORIZON, RUNS
    wrong = {
        "a rate too high": yields(coins(), (0.82,) * 4),
        "all that agree, not a prefix": 1 + luck.binomial(4, 0.8, passes).astype(np.uint8),
        "one coin for many passes": np.repeat(yields(coins()[::8], params.rates), 8, axis=0),
    }
    for name, made in wrong.items():
        assert distance(Ensemble(params, made).tokens(tick), single) > 1, name


@pytest.mark.parametrize("rates", [(0.8,) * 4, (0.9, 0.5, 0.3), (0.6,) * 12, ()])
def test_its_passes_yield_what_theory_says(rates: tuple[float, ...]) -> None:
    made = yields(coins(), rates)
    chances = chances_of_tokens(rates)
    assert sum(chances) == pytest.approx(1)
    mean = sum(n * chance for n, chance in enumerate(chances, start=1))
    assert mean == pytest.approx(expected_tokens_per_pass(rates))
    for n, chance in enumerate(chances, start=1):
        error = sqrt(max(chance * (1 - chance), 1e-9) / made.size)
        assert float((made == n).mean()) == pytest.approx(chance, abs=5 * error)  # one in 10⁶
    assert survival(rates) == pytest.approx([sum(chances[j:]) for j in range(1, len(chances))])


def test_its_luck_is_its_own_and_the_same_for_every_seed() -> None:
    one, other = finish(ensemble(Params(seed=1))), finish(ensemble(Params(seed=LUCK)))
    assert (one.tokens(1200) == other.tokens(1200)).all()
    assert len(set(one.tokens(1200).tolist())) > 100
    better = finish(ensemble(Params(acceptance_rate=0.81)))
    assert (better.tokens_of >= one.tokens_of).all()


def test_the_spread_leaves_out_as_many_runs_as_it_says() -> None:
    values = np.arange(1001)[::-1].reshape(1, -1)
    assert [bound.tolist() for bound in spread(values)] == [[50], [950]]
    assert [bound.tolist() for bound in spread(values, 0.25, 0.75)] == [[250], [750]]


def test_nothing_else_needs_numpy() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import sim.labs.charts, sim.scene, sim.labs.share, sim.__main__, sim.host.printed"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
