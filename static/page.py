"""The page: holds a session, applies what is asked of it, and has it shown.

The view only writes. It reads the page back once, at the start, for controls moved while loading.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sim import asks, clock
from sim import session as actions
from sim.face import OF_A_MOMENT, OF_A_SESSION, Face, Moment, controls, paper
from sim.marks import PALETTES
from sim.params import SLOTS
from sim.reading import message
from sim.run import PHASES, Run
from sim.scene import picture
from sim.settings import link
from sim.state import Session
from sim.stretch import FILE as WORDS
from sim.view import View
from static import browser
from static.board import Board
from static.browser import one
from static.controls import Controls
from static.dom import Places
from static.frame import Host
from static.hand import Hand
from static.loader import Link, Loader
from static.notices import Notices
from static.paper import Colours, Printing
from static.playback import Playback
from static.pointer import Pointer
from static.question import Panel
from static.reading import Reading

DARK = PALETTES["dark"]

ADDRESS_DELAY = 300
"""Milliseconds after the last change that the address follows."""

WORDS_AFTER = 300
"""Milliseconds after the start that words are fetched, which are no part of it."""


class Page:
    """The widget, alive."""

    def __init__(self) -> None:
        self._still = browser.media("prefers-reduced-motion: reduce")
        still, keys = bool(self._still.matches), browser.query()
        self._controls, self._notices = Controls(self.do), Notices()
        moved, told = self._controls.moved(actions.opened(keys, still=still)[0])
        self.session, complaints = actions.opened(keys, moved, still)

        self._frames = browser.Frames(self._frame)
        self._address = browser.Delay(ADDRESS_DELAY, self._follow)
        self._host = Host(self.call, self._picture) if browser.framed else None
        self._colours = Colours(self._frames.ask)
        self._playback = Playback()
        self._places = Places()
        self._moments, self._sessions = Face(OF_A_MOMENT), Face(OF_A_SESSION)
        self._panel = Panel(partial(self.do, actions.predict), partial(self.do, actions.note))
        canvas = one("#board")
        self._box, self._clock, self._width = one("#board-box"), one("#clock"), clock.WIDTH
        self._board = Board(canvas, browser.context(canvas), browser.watch_canvases(self._redraw))
        self._pointer = Pointer(canvas, self._board, self._newest, self._frames.ask)
        self._hand = Hand(partial(self.do, actions.force))
        self._reading = Reading(partial(self.do, actions.visit), lambda: self.session)
        free = partial(self.do, actions.edit)
        paper_colours = self._colours.paper
        self._labs = Loader(
            Link(self._take, self._now, paper_colours, self._complain, free, self._lead)
        )
        self._settling = browser.Delay(0, self._settle)  # what a lab says then stands
        self._settle()
        self._places.write(controls(self.session))
        self._show(self.session)
        self._draw(0)
        self._listen()
        if not self.session.view.embed:
            self._labs.watch()
        if complaints + told:
            self._notices.say(" ".join(complaints + told))
        if self.session.playing:
            self._changed()
        self._lead_back()
        bring = partial(browser.fetch, [WORDS], False, self._lend, browser.note)
        browser.Delay(WORDS_AFTER, bring).ask()

    def _listen(self) -> None:
        self._controls.listen()
        presses: dict[str, Callable[[], None]] = {
            **{name: partial(self.do, action) for name, action in asks.BUTTONS.items()},
            "luck": lambda: self.do(actions.new_luck, browser.random_seed()),
            "share": self._share,
            "dismiss": self._notices.dismiss,
            "theme": lambda: self.do(actions.next_theme, self._colours.paper("auto") == DARK),
        }
        for name, press in presses.items():
            for button in browser.every(f'[data-action="{name}"]'):
                browser.listen(button, "click", partial(_press, press))
        browser.listen(one('[data-action="done"]'), "click", self._lead_on)
        for anchor in browser.every("[data-story]"):
            browser.listen(anchor, "click", self._tell)
        Printing(self._before_print)
        browser.observe_size(self._box, self._frames.ask)
        browser.observe_size(self._clock, self._measure)
        browser.watch_pixel_ratio(self._redraw)
        browser.watch_return(self._redraw)

    # What changes the session

    def do(self, action: Any, *arguments: Any, near: Any = None, **more: Any) -> None:
        """Apply an action of `sim.session`, show what came of it, say what was wrong with it.

        `near` is the field that the reader wrote into, if it was one.
        """
        before = replace(self.session, still=bool(self._still.matches))
        self.session, complaints = action(before, *arguments, **more)
        if action is not actions.set_speed:  # a step of a key may be less than a whole speed
            self._places.write(controls(self.session))
        if self.session is not before:
            self._reading.unmark()
        self._show(before)
        if complaints:
            self._notices.say(" ".join(complaints), near)
        elif action not in asks.SILENT and self.session is not before:
            self._notices.dismiss()
        self._changed()

    def _show(self, before: Session) -> None:
        """Show what an action changed, but for what every frame shows."""
        session = self.session
        self._places.write(self._sessions.turn(session))
        self._reading.show()
        self._labs.show_alone(session.view.lab)
        if session.lab_keys != before.lab_keys:
            self._settling.ask()
        self._panel.show(session.prediction)
        if session.view.story and (before is session or before.view.story != session.view.story):
            browser.show_in_row(one(f"#story-{session.view.story}"))
        was, now = before.prediction, session.prediction
        answer = now.answer(session.run)
        if self._host and answer and was.waiting and was.put == now.put:
            self._host.tell("answer", **answer)
        self._playback.follow(before, session)

    def _changed(self) -> None:
        if self._host:  # no frame comes where the page is out of sight
            self._host.state(self.session.run.report(self.session.view.tick))
        self._frames.ask()
        self._address.ask()

    def _tell(self, event: Any) -> None:
        """Set a scene of the rail here instead of in a new page."""
        if not (event.ctrlKey or event.metaKey or event.shiftKey):
            event.preventDefault()
            self.do(actions.tell, int(event.currentTarget.dataset.story))
            self._lead_on(event)

    def _lead_on(self, event: Any) -> None:
        """Focus what is next to do; no field for a finger, whose keyboard hides the board."""
        if not self.session.prediction.open:
            one('[data-action="play"]').focus()
        elif event.detail == 0:  # a key was pressed
            one("#prediction").focus()

    # Labs

    def _take(self, changes: Mapping[str, object]) -> None:
        self.do(actions.take, changes)

    def _lead(self, name: str, changes: Mapping[str, object]) -> None:
        self.do(actions.lead, name, changes)
        heading = one(f"#lab-{name} h3")
        heading.tabIndex = -1
        heading.focus(preventScroll=True)
        browser.bring_into_view(one(f"#lab-{name}"), "start")

    def _now(self) -> tuple[Run, View, dict[str, str], bool]:
        _, scene, keys = self.session.link
        return self.session.run, scene, keys, self.session.prediction.open

    def _settle(self) -> None:
        self._labs.settle(dict(self.session.lab_keys))

    def _complain(self, complaints: list[str]) -> None:
        self._notices.say(" ".join(complaints))

    def _share(self) -> None:
        self.do(actions.pause)
        self._labs.open("share")

    def _lend(self, _name: str, data: bytes) -> None:
        """Have words; without them the page is as it was."""
        before = self.session
        self.session, damage = actions.lend(before, data)
        self._show(before)
        self._frames.ask()
        browser.note(" ".join(damage))

    # Links to this scene

    def _follow(self) -> None:
        """Let the address lead to this scene."""
        if not self.session.playing:
            browser.replace_address(link("", *self.session.link))
            self._lead_back()

    def _lead_back(self) -> None:
        """Let the link in the page lead to this scene, on a page of its own."""
        params, scene, keys = self.session.link
        scene = replace(scene, embed=False)
        if self._host:
            scene = replace(scene, theme="auto")  # it is the host's
        address = browser.address(link("", params, scene, keys))
        self._places.write({"#scene@href": address})

    def _picture(self) -> dict[str, Any]:
        """The scene as a picture, the keys that lead back to it, and how far its question is."""
        scene = self.session.scene
        keys = link("", *self.session.link).removeprefix("?")
        colours = self._colours.paper(scene.theme)
        svg, asked = picture(self.session.run, scene, colours), self.session.prediction.kept
        return {"svg": svg, "query": keys, "asked": asked}

    def _before_print(self) -> None:
        """Put the scene as it is into the printed picture, sharp at every size."""
        self.do(actions.pause)
        self._places.write(paper(self.session.run, self.session.view.tick))
        self._follow()
        dark = self._colours.screen(self.session.view.theme) == DARK
        browser.root.classList.toggle("dark", dark)

    # Showing

    def _newest(self) -> int:
        session = self.session
        return (session.run.at(session.view.tick).num_tokens - 1) % SLOTS

    def _measure(self) -> None:
        """Draw the clock as wide as it is; where it is not shown, as wide as it was."""
        self._width = round(self._clock.getBoundingClientRect().width) or self._width
        self._frames.ask()

    def _redraw(self) -> None:
        """Draw every canvas anew: what it holds is lost, or has another number of pixels."""
        self._board.forget()
        self._labs.redraw()
        self._frames.ask()

    def _frame(self, now: float) -> None:
        before = self.session
        if before.playing:
            view = before.view
            tick = self._playback.advance(now, before.run, view.tick, view.speed)
            self.session, _ = actions.arrive(before, tick)
            if not self.session.playing:
                self._show(before)
                self._address.ask()
        self._draw(now)
        if self._playback.moving:
            self._frames.ask()

    def _draw(self, now: float) -> None:
        """Show the moment: each part writes only what changed."""
        session, run, tick = self.session, self.session.run, self.session.view.tick
        phase = self._playback.phase(now, run, tick, session.view.speed)
        if self._still.matches:
            phase = PHASES[-1]
        colours, width = self._colours.screen(session.view.theme), self._box.clientWidth
        if width:
            slots = run.slots(tick, phase)
            hollow = not session.params.kv_cache
            self._board.draw(slots, hollow, width, browser.pixel_ratio(), colours)
            self._pointer.show()
        if self._host:
            self._host.state(run.report(tick))
        question = session.prediction.question if session.prediction.open else None
        moment = Moment(
            *(run, tick, phase, self._pointer.slot, session.ghosts, question, session.playing),
            width=self._width,
            zoom=session.zoom,
            point=session.point,
            free=not session.fixed("force"),
            ghost=session.ghost_run,
            kept=None if question else session.kept,
            words=session.words,
        )
        self._places.write(self._moments.turn(moment))
        self._hand.show()
        self._labs.show(run, moment.known, colours, session.playing)

    # The API

    def greet(self) -> None:
        """Tell the page around this one, if there is one, that it may begin."""
        if self._host:
            self._host.listen()

    def call(self, name: str, arguments: str) -> str:
        """A call of `window.bonusToken`, arguments and answer as JSON: the state after it."""
        self.do(asks.call, name, message(arguments))
        return json.dumps(self.session.run.report(self.session.view.tick))


def _press(act: Callable[[], None], _event: Any) -> None:
    act()


def start() -> None:
    """Bring the page to life.

    What is there by now stays for good, so the collector need not look at it again: a drag makes
    thousands of short-lived objects, and each look would cost a frame.
    """
    if not browser.claim():
        return
    page = Page()
    browser.connect(page.call)
    page.greet()
    gc.freeze()
    gc.enable()  # a start from a snapshot comes with it switched off
