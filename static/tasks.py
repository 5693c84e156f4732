"""Long work in the page: a slice of it in each turn, so that a frame comes in between."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Generic, Protocol, TypeVar

from sim.work import Work

T = TypeVar("T")

SLICE = 0.008
"""Seconds that a slice may take: a frame at 120 Hz."""


class Turn(Protocol):
    """What calls back in a turn of its own, such as a `browser.Delay` of 0 ms."""

    def ask(self) -> None:
        """Call back once, soon."""

    def drop(self) -> None:
        """Call back no more."""


def _no_progress(_share: float) -> None:
    pass


class Worker(Generic[T]):
    """Does one work at a time; a new one takes the place of one that is not done.

    `turn` makes what calls back in turns, `rest` what does where a work is ahead of its time;
    `clock` counts seconds.
    """

    def __init__(
        self,
        turn: Callable[[Callable[[], object]], Turn],
        clock: Callable[[], float] = perf_counter,
        rest: Callable[[Callable[[], object]], Turn] | None = None,
    ) -> None:
        self._turn, self._clock = turn(self._go), clock
        self._rest = rest(self._go) if rest else self._turn
        self._work: Work[T] | None = None

    @property
    def busy(self) -> bool:
        """Whether there is a work that is not done."""
        return self._work is not None

    def start(
        self,
        work: Work[T],
        done: Callable[[T], object],
        failed: Callable[[Exception], object],
        progress: Callable[[float], object] = _no_progress,
        least: float = 0.0,
    ) -> None:
        """Begin in the next turn; one of `done` and `failed` is called, unless it is cancelled.

        `progress` gets the share that is done, after each slice but the last. The work takes at
        least so many seconds, so that what grows by it can be watched.
        """
        self.cancel()
        self._least, self._share, self._began = least, 0.0, self._clock()
        self._work, self._done, self._failed, self._progress = work, done, failed, progress
        self._turn.ask()

    def cancel(self) -> None:
        """Leave it as it is."""
        self._turn.drop()
        self._rest.drop()
        if self._work:
            self._work.close()
        self._work = None

    def _go(self) -> None:
        """Do parts of it, as long as one that takes as long as the longest so far has its time."""
        work, longest = self._work, 0.0
        if work is None:
            return
        began = last = self._clock()
        try:
            while last - began + longest <= SLICE and not self._ahead(last):
                self._share = next(work)
                now = self._clock()
                longest, last = max(longest, now - last), now
        except StopIteration as end:
            self._work = None
            self._done(end.value)
        except Exception as error:
            self._work = None
            self._failed(error)
        else:
            (self._rest if self._ahead(last) else self._turn).ask()
            self._progress(self._share)

    def _ahead(self, now: float) -> bool:
        """Whether more is done than the time that it should take at least has come to."""
        return self._share * self._least > now - self._began
