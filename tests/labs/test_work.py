"""Long work: finished in one go, or in slices of a page with a clock of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim.host import output
from sim.labs.ensemble import LUCK, RUNS, Ensemble, coins, coins_kept, ensemble, yields
from sim.labs.run_charts import luck_spread, yield_spread
from sim.params import HORIZON, Params
from sim.run import Run
from sim.work import Kept, Work, finish, within
from static.tasks import SLICE, Worker


def counting(steps: int) -> Work[str]:
    for step in range(steps):
        yield step / steps
    return f"{steps} steps"


class Page:
    """A page with a clock that only this moves, and what was told of a work."""

    def __init__(self) -> None:
        self.now, self.asked = 100.0, False
        self.done: list[Any] = []
        self.failed: list[Exception] = []
        self.progress: list[float] = []
        self.worker: Worker[Any] = Worker(self._turn, lambda: self.now)

    def _turn(self, callback: Callable[[], object]) -> Page:
        self.callback = callback
        return self

    def ask(self) -> None:
        self.asked = True

    def drop(self) -> None:
        self.asked = False

    def start(self, work: Work[Any]) -> None:
        self.worker.start(work, self.done.append, self.failed.append, self.progress.append)

    def turn(self) -> float:
        """One turn; how long it took."""
        assert self.asked
        self.asked, began = False, self.now
        self.callback()
        return self.now - began

    def slow(self, *seconds: float) -> Work[str]:
        """A work whose parts take so long."""
        for part, took in enumerate(seconds, start=1):
            self.now += took
            yield part / len(seconds)
        return "slow"


def test_a_work_is_finished_in_one_go_and_gives_its_result() -> None:
    assert finish(counting(5)) == "5 steps"
    assert finish(counting(0)) == "0 steps"


def test_a_work_within_a_longer_one_tells_its_part_of_the_way() -> None:
    assert list(within(counting(4), 0.5, 0.9)) == pytest.approx([0.5, 0.6, 0.7, 0.8])
    assert finish(within(counting(4), 0.5, 0.9)) == "4 steps"


def test_results_asked_for_last_are_kept_and_others_made_anew() -> None:
    made: list[int] = []

    def twice(number: int) -> Work[int]:
        made.append(number)
        yield 0.5
        return 2 * number

    kept = Kept(twice, most=2)
    assert [finish(kept(n)) for n in (1, 2, 1, 3, 2, 1)] == [2, 4, 2, 6, 4, 2]
    assert made == [1, 2, 3, 2, 1]
    assert list(kept(2)) == []  # it is there at once
    kept(9).close()
    next(kept(9))
    assert made == [1, 2, 3, 2, 1, 9]
    assert list(kept(9)) == [0.5]  # what was left half way is begun anew
    kept.forget()
    assert list(kept(1)) == [0.5]


def test_a_slice_ends_before_a_part_like_the_longest_would_end_it_late() -> None:
    page = Page()
    page.start(page.slow(*[0.003] * 5))
    assert page.now == 100
    assert page.turn() == pytest.approx(0.006)
    assert page.turn() == pytest.approx(0.006)
    assert page.progress == pytest.approx([0.4, 0.8])
    assert (page.done, page.worker.busy) == ([], True)
    assert page.turn() == pytest.approx(0.003)
    assert (page.done, page.failed, page.worker.busy, page.asked) == (["slow"], [], False, False)
    assert page.progress == pytest.approx([0.4, 0.8])


def test_slices_of_short_parts_stay_under_8_ms_and_a_long_part_is_a_slice() -> None:
    page = Page()
    page.start(page.slow(*[0.0007] * 100, 0.02, *[0.0007] * 20))
    took = []
    while page.worker.busy:
        took.append(page.turn())
    assert SLICE == 0.008
    assert sum(slice_ > SLICE for slice_ in took) == 1  # the one with the part that is too long
    assert len(took) < 15
    assert page.done == ["slow"]


def test_a_cancelled_work_goes_no_further_and_tells_nothing() -> None:
    page, closed = Page(), []

    def work() -> Work[None]:
        try:
            yield from page.slow(*[0.005] * 9)
        finally:
            closed.append(True)

    held = work()  # whoever still holds it
    page.start(held)
    page.turn()
    page.worker.cancel()
    assert (page.asked, page.worker.busy, closed) == (False, False, [True])
    page.callback()
    assert (page.done, page.failed, len(page.progress)) == ([], [], 1)
    page.worker.cancel()


def test_a_new_work_takes_the_place_of_one_that_is_not_done() -> None:
    page = Page()
    page.start(page.slow(*[0.005] * 9))
    page.turn()
    page.start(counting(3))
    page.turn()
    assert page.done == ["3 steps"]


def test_an_error_is_told_and_ends_the_work() -> None:
    page, problem = Page(), ValueError("too little memory")

    def work() -> Work[None]:
        yield from page.slow(0.007)
        raise problem

    page.start(work())
    page.turn()
    assert page.failed == []
    page.turn()
    assert (page.done, page.failed, page.worker.busy, page.asked) == ([], [problem], False, False)
    page.start(counting(1))
    page.turn()
    assert page.done == ["1 steps"]


def test_an_error_of_who_is_told_is_not_one_of_the_work() -> None:
    page = Page()

    def told(_result: object) -> None:
        raise LookupError

    page.worker.start(counting(2), told, page.failed.append)
    with pytest.raises(LookupError):
        page.turn()
    assert page.failed == []


def test_progress_may_cancel() -> None:
    page = Page()
    cancel = lambda _share: page.worker.cancel()  # noqa: E731
    page.worker.start(page.slow(0.005, 0.005), page.done.append, page.failed.append, cancel)
    page.turn()
    assert (page.asked, page.worker.busy) == (False, False)


def test_a_work_that_is_to_be_watched_takes_as_long_as_is_asked_and_rests_meanwhile() -> None:
    page, rests = Page(), []

    class Rest(Page):
        def ask(self) -> None:
            page.asked = True
            rests.append(page.now)

    page.worker = Worker(page._turn, lambda: page.now, Rest()._turn)
    page.worker.start(
        page.slow(*[0.0001] * 100), page.done.append, page.failed.append, page.progress.append, 2.0
    )
    while page.worker.busy:
        page.now += 0.05
        page.turn()
        if page.worker.busy:
            assert page.progress[-1] == pytest.approx((page.now - 100) / 2, abs=0.02)
    assert page.done == ["slow"]
    assert 1.9 < page.now - 100 < 2.2
    assert len(rests) == len(page.progress) > 30
    page.worker.start(page.slow(0.003, 5.0, 0.003), page.done.append, page.failed.append, least=1.0)
    page.turn()
    page.now += 0.4
    page.turn()
    while page.worker.busy:  # it is late: no rest
        page.turn()
    assert page.done == ["slow", "slow"]
    assert len(rests) == len(page.progress) + 1


class Terminal:
    """Standard error that is a terminal, or is none."""

    def __init__(self, real: bool) -> None:
        self.real, self.text = real, ""

    def isatty(self) -> bool:
        return self.real

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("seconds", "real", "shown"), [(0.6, True, True), (0.6, False, False), (0.2, True, False)]
)
def test_a_terminal_sees_how_far_work_of_over_a_second_has_come(
    seconds: float, real: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def work() -> Work[str]:
        nonlocal now
        for part in range(4):
            now += seconds
            yield part / 4
        return "done"

    terminal = Terminal(real)
    monkeypatch.setattr("sys.stderr", terminal)
    assert output.finished(work(), lambda: now) == "done"
    assert ("[###############               ]  50 %" in terminal.text) == shown
    assert (terminal.text == "") != shown
    if shown:
        assert terminal.text.endswith("\r" + " " * len("[" + " " * 30 + "]  75 %") + "\r")


@pytest.mark.parametrize(
    "params",
    [Params(), Params(evictions=(5, 300), recompute_chunk=16, draft_length=9), Params(seed=7)],
)
def test_a_thousand_runs_in_slices_are_those_in_one_go_to_the_last_digit(params: Params) -> None:
    whole = np.random.default_rng(LUCK).random((HORIZON, RUNS), dtype=np.float32)
    coins_kept.forget()
    page = Page()
    page.start(ensemble(replace(params, draft_cost=0.123)))
    while page.worker.busy:
        page.now += SLICE / 2
        page.turn()
    (runs,) = page.done
    assert page.progress == sorted(page.progress)
    assert (coins() == whole).all()
    made = yields(whole, params.rates)
    assert (runs.tokens_of == made).all()
    plain = Ensemble(params, made)
    for tick in (1, 60, 305, HORIZON):
        assert (runs.tokens_per_pass(tick) == plain.tokens_per_pass(tick)).all()
        passes = plain.verify_passes(tick)
        counted = [
            [(made[:n, column] == tokens).sum() / n for column, n in enumerate(passes)]
            for tokens in range(1, len(params.rates) + 2)
        ]
        assert (finish(runs.shares(tick)) == np.array(counted)).all()
    assert (plain._sums[-1] == made.sum(axis=0)).all()


@pytest.mark.parametrize(("spread", "cost"), [(luck_spread, 0.321), (yield_spread, 0.322)])
def test_what_other_seeds_spread_tells_how_far_it_has_come(spread: Any, cost: float) -> None:
    coins_kept.forget()
    shares = list(spread(Run(Params(draft_cost=cost)), 700))
    assert len(shares) > 60  # parts short enough for a slice
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.05 < 0.9 < shares[-1] <= 1
