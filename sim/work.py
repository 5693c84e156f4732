"""Long work: a generator that yields how far it has come, 0 to 1, and returns its result.

A command finishes it in one go. A page takes some of it in every turn, so that it answers its
reader meanwhile, and may drop it half way. A part of a work from one yield to the next should take
a millisecond or two.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Work = Generator[float, None, T]


def finish(work: Work[T]) -> T:
    """Do all of it, and give its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # what it was typed to return


def within(work: Work[T], start: float, end: float) -> Work[T]:
    """A work as that part of a longer one which goes from `start` to `end`."""
    while True:
        try:
            share = next(work)
        except StopIteration as last:
            return last.value  # type: ignore[no-any-return]
        yield start + (end - start) * share


class Kept(Generic[P, T]):
    """A work by its arguments; the results asked for last are kept, and there at once.

    Arguments are given by place and can be hashed.
    """

    def __init__(self, work: Callable[P, Work[T]], most: int) -> None:
        self._work, self._most = work, most
        self._results: dict[object, T] = {}

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> Work[T]:
        """Do it, or take what is kept."""
        if arguments in self._results:
            result = self._results.pop(arguments)
        else:
            result = yield from self._work(*arguments, **named)
        self._results[arguments] = result
        for oldest in list(self._results)[: -self._most]:
            del self._results[oldest]
        return result

    def forget(self) -> None:
        """Keep nothing."""
        self._results.clear()
