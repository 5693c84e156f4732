"""The server on the page: its settings, its passes, the four ways side by side, and the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sim.labs.arrivals import Request
from sim.labs.blocks import POLICIES
from sim.labs.history import History, record
from sim.labs.service import Scene, scene_of
from sim.labs.serving import MOST_BYTES, own_requests
from sim.labs.serving_charts import FRONTIER_CHART, SHARES_CHART, SharesAt
from sim.labs.serving_shown import (
    LARGE,
    MOST_WATCHED,
    SETTINGS,
    SMALL,
    Gained,
    Shown,
    changed,
    columns_told,
    compared,
    compared_html,
    gained,
    numbers_told,
    same_arrivals,
    sized,
)
from sim.labs.serving_told import missing_told, paging_told, read_told, refused_told
from sim.params import SLOTS
from sim.run import Run
from sim.settings import write
from sim.words import count
from sim.work import Work
from static import browser, device
from static.browser import Attribute, one
from static.chart import PACE, Colours, Drawn
from static.labs.serving_stage import Stage
from static.loader import Link
from static.settled import SettledView
from static.tasks import Worker


class View(SettledView[Shown]):
    """Settings on one side, what follows from them on the other."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link, "serving", Shown())
        self._own = tuple[Request, ...]()
        self._histories: dict[str, History] = {}
        self._arrivals: tuple[object, ...] = ()
        self._again = False
        self._wrong: list[tuple[Any, Any]] = []  # fields, and what stands below them
        self._colours: Colours = {}
        self._main: Worker[History] = Worker(partial(browser.Delay, 0))
        self._rest: Worker[None] = Worker(partial(browser.Delay, 0))
        self._pace = browser.Delay(PACE, self._draw, restarts=False)
        self._stage = Stage(self._arrive, self._pace.ask)
        self._shares = Drawn(SHARES_CHART, link.change)
        self._frontier = Drawn(FRONTIER_CHART, self._go)
        self._history: History | None = None
        self._serving = scene_of(self.asked)
        self._parts = one("#serving-watched")
        found = browser.every("#lab-serving [data-serving]")
        self._controls = [(one_.getAttribute("data-serving"), one_) for one_ in found]
        self._radios = browser.every('[name="serving-policy"]')
        texts = ("said", "numbers", "why", "columns", "read", *Gained._fields)
        self._texts = {n: Attribute(one(f"#serving-{n}"), "textContent") for n in texts}
        self._table = Attribute(one("#serving-compared"), "innerHTML")
        self._progress = one("#serving-progress")
        self._buttons = {
            button.getAttribute("data-serving-action"): button
            for button in browser.every("[data-serving-action]")
        }
        browser.listen(section, "input", self._slide)
        browser.listen(section, "change", self._enter)
        browser.listen(section, "click", self._press)
        for button in self._buttons.values():
            button.disabled = False
        one("#serving-line").disabled = False
        self._set(self.asked)

    # Settings

    def settled(self) -> None:
        """Serve what a link has set."""
        self._set(self.asked)

    def _slide(self, event: Any) -> None:
        if event.target.type == "range" and event.target.hasAttribute("data-serving"):
            self._take(event.target)

    def _enter(self, event: Any) -> None:
        target = event.target
        if target.name == "serving-policy":
            self._have(replace(self.asked, policy=str(target.value)))
        elif target.id == "serving-own":
            device.read_chosen(target, MOST_BYTES, self._read)
        elif target.hasAttribute("data-serving") and target.type != "range":
            self._take(target)

    def _take(self, control: Any) -> None:
        key = control.getAttribute("data-serving")
        shown, complaint = changed(self.asked, key, str(control.value))
        self._have(shown)
        if complaint:
            self._complain(control, control.closest(".control").querySelector(".wrong"), complaint)

    def _complain(self, field: Any, place: Any, text: str) -> None:
        """Say what was wrong with a field below it, until something is set."""
        place.textContent = text
        field.setAttribute("aria-invalid", "true")
        self._wrong.append((field, place))

    def _forgive(self) -> None:
        while self._wrong:
            field, place = self._wrong.pop()
            place.textContent = ""
            field.removeAttribute("aria-invalid")

    def _go(self, changes: Mapping[str, object]) -> None:
        """Go to a setting of the frontier."""
        shown = self.asked
        for key, text in changes.items():
            shown, _ = changed(shown, key.removeprefix("serving."), str(text))
        self._have(shown)

    def _have(self, shown: Shown) -> None:
        """Set these, and have the link hold them."""
        self._set(shown)
        self.keep()

    def _read(self, name: str, size: int, text: str) -> None:
        self._forgive()
        try:
            self._own = own_requests(name, size, text)
        except ValueError as error:
            said = f"{error}. The requests stay as they were."
            self._complain(one("#serving-own"), one("#serving-own-wrong"), said)
            return
        self._texts["read"].write(read_told(name, self._own))
        self._set(self.asked)

    def _press(self, event: Any) -> None:
        button = event.target.closest("[data-serving-action]")
        if not button:
            return
        action = button.getAttribute("data-serving-action")
        if action in ("small", "large"):
            self._own = ()
            self._have(sized(self.asked, SMALL if action == "small" else LARGE))
        elif action == "drawn":
            self._own = ()
            self._set(self.asked)
        elif action == "cancel":
            self._main.cancel()
            self._wait(None)
            self._texts["numbers"].write("Cancelled. Another setting starts it again.")
        else:
            self._stage.press(action)

    # What follows from them

    def _set(self, shown: Shown) -> None:
        """Show these settings, and what follows from them."""
        self.asked = shown
        for key, control in self._controls:
            text = write(SETTINGS[key], getattr(shown, SETTINGS[key].name))
            if control.value != text:
                control.value = text
        for radio in self._radios:
            radio.checked = radio.value == shown.policy
        self._texts["said"].write("")
        self._forgive()
        if not self._own:
            self._texts["read"].write("")
        self._stage.go(shown.at / 1000)
        self._buttons["drawn"].hidden = not self._own
        made = gained(shown.budget)
        for name, text in made._asdict().items():
            self._texts[name].write(text)
        self._serve()
        self._draw()

    def _serve(self) -> None:
        """Serve what has changed; what is small and on its way comes to its end first."""
        arrivals = (*same_arrivals(self.asked), self._own)
        if arrivals != self._arrivals:
            if self._main.busy and self._watched(self._serving):
                self._again = True
                return
            self._arrivals, self._histories = arrivals, {}
        self._main.cancel()
        self._rest.cancel()
        if self.asked.policy in self._histories:
            self._done(self._histories[self.asked.policy])
            return
        try:
            self._serving = scene_of(self.asked, self._own)
        except ValueError as error:
            self._texts["said"].write(f"Not served. {error}.")
            (longest,) = (field for key, field in self._controls if key == "longest")
            place = longest.closest(".control").querySelector(".wrong")
            self._complain(longest, place, f"{error}.")
            self._wait(None)
            return
        watched = self._watched(self._serving)
        self._wait(None if watched else 0.0)
        work = record(self._serving, moments=watched)
        self._main.start(work, self._done, self._failed, self._wait)

    @staticmethod
    def _watched(scene: Scene) -> bool:
        return scene.asked.slots <= SLOTS and len(scene.requests) <= MOST_WATCHED

    def _wait(self, share: float | None) -> None:
        """Say how far a large scene has come, or nothing where there is none on its way."""
        waiting = share is not None and not self._watched(self._serving)
        self._progress.hidden = self._buttons["cancel"].hidden = not waiting
        if waiting and share is not None:
            self._progress.value = share
            number = len(self._serving.requests)
            self._texts["numbers"].write(f"Serving {count(number)} requests: {100 * share:.0f} %")

    def _failed(self, error: Exception) -> None:
        self._wait(None)
        self._texts["said"].write(f"It could not be served ({error}).")

    def _done(self, history: History) -> None:
        """Show a history; then what the other ways make of the same arrivals."""
        self._wait(None)
        self._history = history
        watched = bool(history.moments)
        self._parts.hidden = not watched
        self._texts["numbers"].write(numbers_told(history))
        self._stage.show(history)
        if self._again:  # settings have changed meanwhile
            self._again = False
            self._draw()
            self._serve()
            return
        self._histories[history.scene.asked.policy] = history
        self._draw()
        if watched and len(self._histories) < len(POLICIES):
            self._rest.start(self._others(), lambda _none: self._draw(), self._failed)

    def _others(self) -> Work[None]:
        scene, histories = self._serving, self._histories
        for policy in POLICIES:
            if policy not in histories:
                asked = replace(scene.asked, policy=policy)
                histories[policy] = yield from record(scene._replace(asked=asked))

    # Showing

    def _arrive(self) -> None:
        """The reader is at another moment: the link leads there."""
        milliseconds = round(1000 * self._stage.seconds, 3)
        self.asked = replace(self.asked, at=milliseconds)
        self.keep()
        self._draw()

    def _draw(self) -> None:
        """Show the moment in the table and the charts."""
        seconds = self._stage.seconds
        in_order = {name: self._histories[name] for name in POLICIES if name in self._histories}
        self._table.write(compared_html(compared(in_order, seconds), self.asked.policy))
        shown = in_order.get(self.asked.policy)
        told = [missing_told(in_order), paging_told(in_order)]
        if shown:
            told.insert(0, refused_told(shown))
            self._texts["columns"].write(columns_told(bool(shown.moments)))
        self._texts["why"].write(" ".join(filter(None, told)))
        if not self._colours:
            return
        if self._history:
            at = seconds if self._history.moments else None
            self._shares.show(SharesAt(self._history, at), self._colours)
        self._frontier.show(self.asked.budget, self._colours)

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """Only the colours of the widget count here."""
        if colours != self._colours:
            self._colours = colours
            self._stage.paint(colours)
            self._draw()

    def redraw(self) -> None:
        """Draw the board anew."""
        self._stage.redraw()
