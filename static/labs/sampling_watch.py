"""A pass of speculative sampling on the page, watched step by step over the bars of p and q."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.labs.sampling_chart import NEXT, Next
from sim.labs.sampling_rows import Language, names
from sim.labs.sampling_section import next_of
from sim.markup import joined, tag
from static import browser
from static.browser import Attribute, one
from static.chart import Colours, Drawn

if TYPE_CHECKING:  # these need NumPy, which comes after the view
    from sim.labs.sampling_exact import Exact
    from sim.labs.sampling_told import Frame


class Watch:
    """The bars after one word, and a pass over them."""

    def __init__(self) -> None:
        self._chart = Drawn(NEXT, lambda _changes: None)
        self._step = Attribute(one("#sampling-step"), "textContent")
        self._cells = Attribute(one("#sampling-cells"), "innerHTML")
        self._word, self._words = (
            one("#sampling-after"),
            Attribute(one("#sampling-after"), "innerHTML"),
        )
        self._buttons = [one("#sampling-next"), one("#sampling-pass")]
        self._language: Language | None = None
        self._exact: Exact | None = None
        self._seed = self._number = self._at = 0
        self._frames: list[Frame] = []
        self._shown: Next | None = None
        self._colours: Colours | None = None
        browser.listen(self._word, "change", self._choose)
        browser.listen(self._buttons[0], "click", lambda _event: self._go_on())
        browser.listen(self._buttons[1], "click", lambda _event: self._another())

    def set(self, language: Language) -> None:
        """Show these two models, and no pass yet."""
        self._language = language
        words = names(language.size)
        options = (tag("option", word, value=str(at)) for at, word in enumerate(words))
        self._words.write(joined(options))
        one("#sampling-before").hidden = len(language.target) == len(language.draft) == 1
        self._clear()
        self._look(next_of(language, 0), 0)

    def rest(self) -> None:
        """There is no rule to draw passes by."""
        self._exact = None
        for button in self._buttons:
            button.disabled = True

    def ready(self, exact: Exact, seed: int) -> None:
        """Passes can be drawn by this rule."""
        self._exact, self._seed, self._number = exact, seed, 0
        for button in self._buttons:
            button.disabled = False

    def colour(self, colours: Colours) -> None:
        """Show the bars in these colours."""
        self._colours = colours
        if self._shown:
            self._chart.show(self._shown, colours)

    def _look(self, shown: Next, after: int) -> None:
        self._shown = shown
        self._word.value = str(after)
        if self._colours:
            self._chart.show(shown, self._colours)

    def _choose(self, _event: Any) -> None:
        """The reader looks at the bars after another word; a pass that was watched is left."""
        if self._language:
            self._clear()
            self._look(next_of(self._language, int(self._word.value)), int(self._word.value))

    def _clear(self) -> None:
        self._frames, self._at = [], 0
        self._step.write("A pass has not begun.")
        self._cells.write("")

    def _another(self) -> None:
        """Begin the next pass of this text."""
        self._frames = []
        self._number += 1 if self._at else 0
        self._go_on()

    def _go_on(self) -> None:
        if self._exact is None:
            return
        if self._at >= len(self._frames):
            from sim.labs.sampling_steps import watched
            from sim.labs.sampling_told import frames

            if self._frames:
                self._number += 1
            self._frames = frames(self._exact, watched(self._exact, 0, self._number, self._seed))
            self._at = 0
        frame = self._frames[self._at]
        self._at += 1
        self._step.write(frame.text)
        self._cells.write(frame.cells)
        self._look(frame.shown, frame.after)
