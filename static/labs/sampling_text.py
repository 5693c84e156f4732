"""A text of speculative sampling on the page: written so that one sees it grow, then judged."""

from __future__ import annotations

from functools import partial
from math import isinf
from typing import TYPE_CHECKING

from sim.labs.sampling_chart import WRITTEN, Shares
from sim.labs.sampling_section import TEXT_SAID, no_verdict, write_label
from sim.labs.sampling_settings import Asked
from sim.words import count
from sim.work import Work, within
from static import browser
from static.browser import Attribute, one
from static.chart import Colours
from static.chart import Drawn as Chart
from static.tasks import Worker

if TYPE_CHECKING:  # these need NumPy, which comes after the view
    from sim.labs.sampling_draw import Drawn
    from sim.labs.sampling_exact import Exact
    from sim.labs.sampling_told import Look
    from sim.labs.sampling_verdict import Band, Verdict

SECONDS = 3.0
"""How long a text is seen to grow, at least where its reader likes motion."""

LOOK = 60
"""Milliseconds between two looks of the page at a text that grows."""


class Writing:
    """One text at a time, its bars, its verdict, and how often one has looked."""

    def __init__(self) -> None:
        self._chart = Chart(WRITTEN, lambda _changes: None)
        self._text = one("#sampling-text")
        self._html = Attribute(self._text, "innerHTML")
        self._table = Attribute(one("#sampling-table"), "innerHTML")
        self._told = Attribute(one("#sampling-told"), "textContent")
        self._looks = Attribute(one("#sampling-looks"), "textContent")
        self._button = one("#sampling-write")
        turns = partial(browser.Delay, 0), partial(browser.Delay, LOOK)
        self._worker: Worker[Verdict] = Worker(turns[0], rest=turns[1])
        self._pace = browser.Delay(LOOK, self._show, restarts=False)
        self._seen: dict[Asked, Look] = {}
        self._exact: Exact | None = None
        self._band: Band | None = None
        self._asked = Asked()
        self._drawn: Drawn | None = None
        self._answer = ""
        self._verdict: Verdict | None = None
        self._plain: Verdict | None = None
        self._shown: Shares | None = None
        self._colours: Colours | None = None
        self.secret = False
        """Whether what the rule comes to is not to be told yet."""

    @property
    def busy(self) -> bool:
        """Whether a text is being written."""
        return self._worker.busy

    def say(self, text: str) -> None:
        """Say this where the verdict will stand."""
        self._told.write(text)

    def forget(self) -> None:
        """Nothing is written by these settings yet."""
        self._worker.cancel()
        self._pace.drop()
        self._exact = self._drawn = self._verdict = self._plain = None
        self._told.write("")
        self._show()

    def ready(self, exact: Exact, asked: Asked) -> None:
        """A text can be written by this rule."""
        from sim.labs.sampling_verdict import luck

        self._exact, self._asked, self._band = exact, asked, luck(exact, asked.tokens)
        self._told.write("")
        self._show()

    def colour(self, colours: Colours) -> None:
        """Show the bars in these colours."""
        self._colours = colours
        if self._shown:
            self._chart.show(self._shown, colours)

    def start(self, answer: str = "") -> None:
        """Write it, from its beginning; the reader may have said what will come of it."""
        if self._exact is None:
            return
        if self._worker.busy:
            self._stop()
            return
        from sim.labs.sampling_draw import Drawn

        self._told.write("")
        self._answer, self._verdict, self._plain = answer, None, None
        self._drawn = Drawn(self._exact, self._asked.tokens, self._asked.seed)
        self._button.textContent = "Stop"
        calm = browser.media("prefers-reduced-motion: reduce").matches
        self._worker.start(
            self._work(self._drawn),
            self._done,
            self._failed,
            lambda _share: self._pace.ask(),
            0.0 if calm else SECONDS,
        )

    def _stop(self) -> None:
        """Leave the text as it is, without a verdict."""
        self._worker.cancel()
        self._rest()
        written = self._drawn.tokens if self._drawn else 0
        self._told.write(f"Stopped after {count(written)} words; nothing is judged.")
        self._show()

    def _rest(self) -> None:
        self._button.textContent = write_label(self._asked.tokens)

    def _work(self, drawn: Drawn) -> Work[Verdict]:
        """The text, and one of plain sampling beside it."""
        from sim.labs.sampling_draw import Plain
        from sim.labs.sampling_verdict import judged

        plain = Plain(drawn.exact, drawn.wanted, self._asked.seed)
        yield from within(plain.work(), 0.0, 0.02)
        self._plain = judged(drawn.exact, plain.counts)
        yield from within(drawn.work(), 0.02, 1.0)
        return judged(drawn.exact, drawn.counts)

    def _done(self, verdict: Verdict) -> None:
        """Say what came of it; the same settings again are no other look."""
        from sim.labs.sampling_told import Look, looks_told, said_before, told
        from sim.labs.sampling_verdict import tokens_to_find

        assert self._exact
        self._rest()
        self._verdict = verdict
        needed = tokens_to_find(self._exact)
        self._seen[self._asked] = Look(isinf(needed), verdict.p_value)
        self._told.write(said_before(self._answer, needed) + told(self._asked, verdict, needed))
        self._looks.write(looks_told(list(self._seen.values())))
        self._show()

    def _failed(self, error: Exception) -> None:
        """There is too little memory, or a module came damaged."""
        self._rest()
        self._told.write(f"The text could not be written ({error}).")

    def _show(self) -> None:
        """Show what there is: the words, their bars, and the numbers."""
        if self._exact is None:
            self._html.write(TEXT_SAID)
            self._table.write(no_verdict())
            return
        from sim.labs.sampling_told import text_html, verdict_html, written

        drawn = self._drawn
        self._html.write(text_html(drawn) if drawn else TEXT_SAID)
        self._table.write(
            verdict_html(self._exact, drawn, self._verdict, self._plain, self._band, self.secret)
        )
        self._shown = written(self._exact, drawn, self.secret)
        if self._colours:
            self._chart.show(self._shown, self._colours)
