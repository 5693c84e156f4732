"""Playback: seconds become whole ticks. Speed changes how many ticks, never their size."""

from __future__ import annotations

from sim.params import HORIZON
from sim.run import PHASES, Run
from sim.state import Session

LONGEST = 2.0
"""Seconds that a pass is shown at most, however much model time it takes."""

SLOW = 4.0
"""Speed, in units of model time a second, up to which the phases of a pass are shown."""

STEP_SECONDS = 2.4
"""How long the phases of a single step are shown."""

LAG = 0.25
"""Longest stretch of clock that one frame may catch up with: a tab that slept does not leap."""


class Playback:
    """Consumes model time: a pass that costs 3 units stays 3 times as long as one that costs 1."""

    def __init__(self) -> None:
        self.playing = False
        self._spent = 0.0
        self._last: float | None = None
        self._step_began: float | None = None
        self._stepped = False

    def follow(self, before: Session, session: Session) -> None:
        """Play where the session does, tell in phases what it stepped to, else rest."""
        if session.playing != self.playing:
            (self.play if session.playing else self.pause)()
        elif session.in_phases is None and not session.playing:
            self.pause()
        if session.in_phases not in (None, before.in_phases) and not session.still:
            self.step()

    def play(self) -> None:
        """Go on from here."""
        self.playing, self._spent, self._last = True, 0.0, None
        self._stepped = False

    def pause(self) -> None:
        """Stay here."""
        self.playing = self._stepped = False

    def step(self) -> None:
        """Show the phases of the pass that was just stepped to."""
        self._stepped, self._step_began = True, None

    def advance(self, now: float, run: Run, tick: int, speed: float) -> int:
        """The tick to show at clock `now` (seconds), after `tick`. Stops at the horizon."""
        elapsed = min(LAG, now - self._last) if self._last is not None else 0.0
        self._last = now
        self._spent += elapsed
        while tick < HORIZON and self._spent >= (cost := self._seconds(run, tick, speed)):
            self._spent -= cost
            tick += 1
        if tick >= HORIZON:
            self.pause()
        return tick

    def phase(self, now: float, run: Run, tick: int, speed: float) -> str:
        """How far the pass at `tick` is told at clock `now`."""
        if self.playing and speed <= SLOW and 0 < tick < HORIZON:
            return _phase(self._spent / self._seconds(run, tick, speed))
        if self._stepped:
            self._step_began = now if self._step_began is None else self._step_began
            share = (now - self._step_began) / STEP_SECONDS
            self._stepped = share < 1
            return _phase(share)
        return PHASES[-1]

    @property
    def moving(self) -> bool:
        """Whether the next frame will differ from this one."""
        return self.playing or self._stepped

    @staticmethod
    def _seconds(run: Run, tick: int, speed: float) -> float:
        """How long `tick` stays: the time of the pass that follows it."""
        return min(LONGEST, (run.at(tick + 1).time - run.at(tick).time) / speed)


def _phase(share: float) -> str:
    return PHASES[min(len(PHASES) - 1, int(share * len(PHASES)))]
