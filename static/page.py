"""The page: one scene (parameters, tick, view), what changes it, and where it is shown.

The view only writes. It reads the page back once, at the start, for controls moved while loading.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import floor, log
from typing import Any

from sim.marks import COLUMNS, PALETTES
from sim.params import (
    HORIZON,
    PARAMETERS,
    SLOTS,
    Params,
    entered,
    link,
    shown,
    stepped,
    write,
)
from sim.picture import CSS_COLOURS, board_svg, emphasised, strip_html
from sim.plot import HEIGHT, band, path, theory_height
from sim.question import Question
from sim.reading import message
from sim.run import Run
from sim.scene import picture
from sim.story import PHASES, bars, describe_slot, figures, sentence, settings, strip, summary
from sim.view import BY_KEY, NO_QUESTION, View, changed
from static import browser
from static.board import Board
from static.browser import Attribute, Text, one
from static.host import Host
from static.loader import Link, Loader
from static.playback import Playback
from static.prediction import Prediction

SPEED = BY_KEY["speed"]
MANY_CELLS, CROWD = 9, 17
"""Cells of the strip above which they shrink, and above which they wrap."""

ADDRESS_DELAY = 300
"""Milliseconds after the last change that the address follows."""

NOTHING_KEPT = "Nothing is kept while the KV cache is off."

NEWS_DELAY = 4000
"""Milliseconds that good news stays."""

LOCKED_BY = {"luck": ("seed",), "one-rate": ("alpha", "rates")}
"""Buttons that are locked with a control."""

WHILE_ASKED = ("reset", "share", "theme", "predict", "skip", "dismiss", "reload")
"""Buttons that work while a question waits, and “play” once it runs."""

PREDICT_FIRST = "no pass yet: predict first"
UNKNOWN = "?"
"""What stands for a number that would answer the question."""

TOLD_ON_PAPER = ".chart details, .cards details, #text > details"
"""What is folded on the screen and not on paper."""

THEMES = {
    "auto": "Colours: as the system",
    "light": "Colours: light",
    "dark": "Colours: dark",
}


class Page:
    """The widget, alive."""

    def __init__(self) -> None:
        self.params, self.view, complaints = changed(Params(), View(), browser.query())
        self._opened = (self.params, self.view)
        self.run = Run(self.params)
        self.playback = Playback()
        self.still = browser.media("prefers-reduced-motion: reduce")
        self.dark = browser.media("prefers-color-scheme: dark")
        self.forced = browser.media("forced-colors: active")
        self._frames = browser.Frames(self._frame)
        self._host = Host(self.call, self._picture) if browser.framed else None
        self._address = browser.Delay(ADDRESS_DELAY, self._follow)
        self._news = browser.Delay(NEWS_DELAY, self._dismiss)
        self._ghosts: dict[str, str] = {}
        self._came_from: Any = None
        self._opened_for_print: list[Any] = []
        self._rest_shown: tuple[Any, ...] = ()
        self._plotted: tuple[Any, ...] = ()
        self._slot: int | None = None
        self._find_places()
        self._labs = Loader(Link(self._take, self._now, self._paper))
        self.prediction = Prediction(self._began, self._answered)
        complaints += self._take_moved_controls()
        self._listen()
        self._pose()
        self._show_view()
        self._draw(0)
        if not self.view.embed:
            self._labs.watch()
        if complaints:
            self.notify(" ".join(complaints))
        if self.view.play and not self.still.matches:
            self.play()
        self.view = replace(self.view, play=False)
        self._lead_back()

    # Places of the page

    def _find_places(self) -> None:
        canvas = one("#board")
        self._box, self._canvas = one("#board-box"), canvas
        self.board = Board(canvas, browser.context(canvas), browser.watch_canvases(self._redraw))
        self._metrics, self._texts = Text("data-metric"), Text("data-text")
        self._ghost_texts = Text("data-ghost")
        self._inputs = {
            row.key: one(f'[name="{row.key}"]') for row in PARAMETERS if one(f'[name="{row.key}"]')
        }
        self._fields = {e.getAttribute("data-number"): e for e in browser.every("[data-number]")}
        self._told_values = {
            key: Attribute(field, "aria-valuenow") for key, field in self._fields.items()
        }
        self._boxes = [
            (browser.box_of(control), key)
            for key, control in [*self._inputs.items(), *self._fields.items()]
        ]
        self._line, self._speed = one('[name="tick"]'), one('[name="speed"]')
        self._buttons = {e.getAttribute("data-action"): e for e in browser.every("[data-action]")}
        self._controls, self._notice = one("#controls"), one("#notice")
        self._cursor, self._note = one("#cursor"), Attribute(one("#slot-note"), "textContent")
        places = {
            "caption": "innerHTML",
            "strip": "innerHTML",
            "sentence": "textContent",
            "summary": "textContent",
            "tick": "textContent",
            "band": "d",
            "theory": "d",
            "evictions": "d",
            "path": "d",
            "play-label": "textContent",
            "settings": "textContent",
            "scene": "href",
            "printed": "innerHTML",
        }
        self._places = {name: Attribute(one(f"#{name}"), kind) for name, kind in places.items()}
        self._strip_class = Attribute(one("#strip"), "className")
        self._tone = Attribute(one("#sentence"), "className")
        self._race = [
            Attribute(one(f"#{name} rect"), "width") for name in ("race-tokens", "race-plain")
        ]
        self._winning = Attribute(one("#race-tokens rect"), "class")
        self._split = [
            (Attribute(rect, "x"), Attribute(rect, "width"))
            for rect in browser.every("#split rect")
        ]
        self._line_value = Attribute(self._line, "value")
        self._speed_value = Attribute(one("#speed"), "textContent")

    def _take_moved_controls(self) -> list[str]:
        """Controls that were moved while Python loaded keep what they were set to; what could not
        be read there.
        """
        moved: dict[str, object] = {}
        complaints = []
        if self.view.asks:  # what is asked is asked of the scene as it was put
            return []
        for key, control in [*self._inputs.items(), *self._fields.items()]:
            if control.getAttribute("data-moved") and not self._fixed(key):
                row = BY_KEY[key]
                if row.kind == "switch":
                    moved[key] = bool(control.checked)
                else:
                    moved[key], told = entered(row, control.value, getattr(self.params, row.name))
                    complaints += [told] if told else []
        if moved:
            self.change(moved)
        return complaints

    def _listen(self) -> None:
        listen = browser.listen
        for key, control in self._inputs.items():
            kind = "change" if BY_KEY[key].kind == "switch" else "input"
            listen(control, kind, self._input_handler(key, control))
            listen(control, "change", lambda _event: self._drag_ends())
        for key, field in self._fields.items():
            listen(field, "change", self._input_handler(key, field))
            listen(field, "keydown", partial(self._enter, key, field))
        listen(self._line, "input", lambda _event: self._scrub())
        listen(self._speed, "input", lambda _event: self._set_speed())
        actions: dict[str, Callable[[], None]] = {
            "play": self.toggle,
            "step": lambda: self.step(1),
            "back": lambda: self.step(-1),
            "start": lambda: self.seek(0),
            "reset": self.reset,
            "evict": self.evict,
            "share": self._share,
            "theme": self._next_theme,
            "luck": self._new_luck,
            "dismiss": self._dismiss,
            "skip": self._skip,
            "done": self._done,
            "again": self._ask_again,
            "return": self._return,
            "one-rate": lambda: self.change({"rates": None}),
        }
        for name, action in actions.items():
            listen(self._buttons[name], "click", partial(_act, action))
        listen(self._canvas, "pointermove pointerdown", self._point)
        listen(self._canvas, "pointerleave pointercancel blur", self._leave)
        listen(self._canvas, "keydown", self._move)
        for condition in (self.dark, self.forced):
            listen(condition, "change", lambda _event: self._frames.ask())
        browser.observe_size(self._box, self._frames.ask)
        browser.watch_pixel_ratio(self._redraw)
        browser.watch_return(self._redraw)
        listen(one("#text"), "click", self._try)
        listen(browser.window, "beforeprint", lambda _event: self._before_print())
        listen(browser.window, "afterprint", lambda _event: self._after_print())

    # What changes the scene

    def change(
        self,
        changes: Mapping[str, object],
        ghost: bool = False,
        near: Any = None,
        told: Sequence[str] = (),
    ) -> None:
        """Set parameters and view, by key or full name; say what could not be taken as it was.

        `near` is the field that the reader wrote into, if it was one; `told` is what was wrong
        with that.
        """
        params, view, complaints = changed(self.params, self.view, changes)
        complaints = [*told, *complaints]
        if ghost and not self._ghosts:
            report = self.run.report(self.view.tick)
            self._ghosts = figures(report, self.run)
        elif not ghost:
            self._ghosts = {}
        if params != self.params:
            self.params, self.run = params, Run(params)
        before, self.view = self.view, replace(view, play=False)
        if "ask" in changes:
            self._pose()
        elif self.prediction.open and view.tick != before.tick:
            self.prediction.postpone(view.tick)
            self.view = replace(self.view, tick=before.tick)
        if complaints:
            self.notify(" ".join(complaints), near=near)
        else:
            self._dismiss()
        self._show_view()
        if view.play and "play" in changes and not self.still.matches:
            self.play()
        self._changed()

    def seek(self, tick: object) -> None:
        """Go to a tick; not while a question waits for its prediction."""
        if self.prediction.open:
            return
        self._ghosts = {}
        self.playback.pause()
        self.change({"tick": tick})

    def step(self, ticks: object) -> None:
        """Go on by some ticks, or back; a fraction is rounded, halves up."""
        if isinstance(ticks, bool) or not isinstance(ticks, (int, float)):
            self.notify(f"step({shown(ticks)}): not a number of ticks; nothing was stepped.")
            return
        target = self.view.tick + floor(ticks + 0.5)
        one_on = target == self.view.tick + 1
        self.seek(max(0, min(HORIZON, target)))
        if one_on and not self.still.matches and self.run.verify_pass_at(self.view.tick):
            self.playback.step()
            self._frames.ask()

    def play(self) -> None:
        """Play from here; from the start where the run is over. Not before a prediction is made."""
        if self.prediction.open:
            return
        if self.view.tick >= HORIZON:
            self.view = replace(self.view, tick=0)
        self._ghosts = {}
        self.playback.play()
        self._changed()

    def pause(self) -> None:
        """Stay here."""
        self.playback.pause()
        self._changed()

    def toggle(self) -> None:
        """Play or pause."""
        if self.playback.playing:
            self.pause()
        else:
            self.play()

    def evict(self) -> None:
        """Evict the cache right after the current tick."""
        if self.params.kv_cache:
            self.change({"evictions": [*self.params.evictions, self.view.tick]})

    def reset(self) -> None:
        """Back to the scene that the page was opened with, paused; shown as it is now."""
        self.playback.pause()
        self._ghosts = {}
        self.params, view = self._opened
        now = self.view
        self.view = replace(
            view, play=False, embed=now.embed, show=now.show, lock=now.lock, theme=now.theme
        )
        self.run = Run(self.params)
        self._dismiss()
        self._pose()
        self._show_view()
        self._changed()

    def _changed(self) -> None:
        if self._host:  # no frame comes where the page is out of sight
            self._host.state(self.run.report(self.view.tick))
        self._frames.ask()
        self._address.ask()

    def _input_handler(self, key: str, control: Any) -> Any:
        row = BY_KEY[key]
        if row.kind == "switch":
            return lambda _event: self.change({key: bool(control.checked)})
        if control.type == "range":
            return lambda _event: self.change({key: control.value}, ghost=True)
        return lambda _event: self._take_field(key, control)

    def _take_field(self, key: str, field: Any) -> None:
        """Take what a field says; Enter and the browser may both tell of one entry."""
        row = BY_KEY[key]
        old = getattr(self.params, row.name)
        if field.value != write(row, old):
            value, told = entered(row, field.value, old)
            self.change({key: value}, near=field, told=[told] if told else [])
            field.value = write(row, getattr(self.params, row.name))

    def _enter(self, key: str, field: Any, event: Any) -> None:
        """Take what was written, or the next value up or down from it."""
        if field.disabled:
            return
        if event.key == "Enter":  # not every browser takes it for a change
            self._take_field(key, field)
        elif event.key in ("ArrowUp", "ArrowDown") and not (
            event.shiftKey or event.ctrlKey or event.altKey or event.metaKey
        ):
            event.preventDefault()
            row = BY_KEY[key]
            value, _ = entered(row, field.value, getattr(self.params, row.name))
            self.change({key: stepped(row, value, event.key == "ArrowUp")}, near=field)

    def _drag_ends(self) -> None:
        self._ghosts = {}
        self._frames.ask()

    def _scrub(self) -> None:
        self.playback.pause()
        self.change({"tick": self._line.value})

    def _set_speed(self) -> None:
        share = float(self._speed.value)
        self.view = replace(
            self.view, speed=float(round(SPEED.low * (SPEED.high / SPEED.low) ** share))
        )
        # The slider stays where it is: a step of a key may be less than a whole speed.
        self._say_speed()
        self._address.ask()

    def _new_luck(self) -> None:
        self.change({"seed": browser.random_seed()})

    # Scenes of the text

    def _try(self, event: Any) -> None:
        """Set the scene that a link of the text names, here instead of in a new page."""
        anchor = event.target.closest("[data-scene]")
        if not anchor or event.ctrlKey or event.metaKey or event.shiftKey:
            return
        event.preventDefault()
        if anchor.closest(".chart") and (self._fixed("k") or self._fixed("alpha")):
            return  # a row of the map does what a click there does
        self._came_from = anchor
        self.playback.pause()
        self._ghosts = {}
        defaults = dict.fromkeys([*(row.key for row in PARAMETERS), "tick", "speed", "ask"])
        self.change({**defaults, **browser.query_of(anchor)})
        if browser.in_view(one("#widget")):  # it may stand beside the text
            return
        look = anchor.getAttribute("data-scene")
        if look == "chart":  # which is the point, and near
            browser.bring_into_view(anchor.closest("section").querySelector(".chart"), "nearest")
            return
        place = one(f'.widget [data-metric="{look}"]') if look else one("#widget")
        browser.bring_into_view(place, "center" if look else "start")
        self._buttons["return"].hidden = False
        self._buttons["play"].focus(preventScroll=True)

    def _return(self) -> None:
        """Back to where the reader was in the text."""
        self._buttons["return"].hidden = True
        if self._came_from:
            browser.bring_into_view(self._came_from, "center")
            self._came_from.focus(preventScroll=True)

    # Labs

    def _take(self, changes: Mapping[str, object]) -> None:
        """Set what the reader chose in a lab, if nothing of it is fixed here."""
        if not any(map(self._fixed, changes)):
            self.change({**changes, "lab": None})

    def _now(self) -> tuple[Run, View, bool]:
        return self.run, self._scene(), self.prediction.open

    # A question

    def _pose(self) -> None:
        """Put the scene's question, if it has one, at the start of the run."""
        before = self.prediction.question if self.prediction.open else None
        tick = before.tick if before and not self.view.tick else self.view.tick
        asked = Question(self.view.ask, tick) if self.view.asks else None
        if asked:
            self.playback.pause()
            self.view = replace(self.view, tick=self.view.first_tick)
        self.prediction.pose(asked)

    def _began(self) -> None:
        self._show_view()
        self.play()

    def _answered(self, answer: dict[str, Any]) -> None:
        if self._host:
            self._host.tell("answer", **answer)

    def _skip(self) -> None:
        """To the tick of the question, and its answer."""
        if self.prediction.question:
            self.prediction.give_up()
            self.seek(self.prediction.question.tick)

    def _ask_again(self) -> None:
        """Put the same question once more."""
        if self.prediction.question:
            self.playback.pause()
            self.view = replace(self.view, tick=0)
            self.prediction.pose(self.prediction.question)
            self._show_view()
            self._changed()

    def _done(self) -> None:
        """Go on without the question."""
        self.prediction.pose(None)
        self._show_view()
        self._buttons["play"].focus()
        self._changed()

    # The address, the theme, notices

    def _scene(self) -> View:
        """The view that a link to this scene holds."""
        question = self.prediction.question
        if question and self.prediction.waiting:
            return replace(self.view, tick=question.tick)
        return replace(self.view, ask=NO_QUESTION)

    def _follow(self) -> None:
        """Let the address lead to this scene."""
        if not self.playback.playing:
            browser.replace_address(link("", self.params, self._scene()))
            self._lead_back()

    def _lead_back(self) -> None:
        """Let the link in the page lead to this scene, on a page of its own."""
        scene = replace(self._scene(), embed=False)
        if self._host:
            scene = replace(scene, theme="auto")  # it is the host's
        self._places["scene"].write(browser.address(link("", self.params, scene)))

    def _share(self) -> None:
        self.playback.pause()
        self._changed()
        self._labs.open("share")

    def _picture(self) -> dict[str, str]:
        """The scene as a picture, and the keys that lead back to it."""
        scene = self._scene()
        keys = link("", self.params, scene).removeprefix("?")
        return {"svg": picture(self.run, scene, self._paper(scene.theme)), "query": keys}

    def _before_print(self) -> None:
        """Put the scene as it is into the printed picture, sharp at every size."""
        run, tick = self.run, self.view.tick
        svg = board_svg(run.slots(tick), not self.params.kv_cache, CSS_COLOURS, summary(run, tick))
        self._places["printed"].write(svg)
        self.playback.pause()
        self._follow()
        browser.root.classList.toggle("dark", self._colours() == PALETTES["dark"])
        self._opened_for_print = [
            details for details in browser.every(TOLD_ON_PAPER) if not details.open
        ]
        for details in self._opened_for_print:
            details.open = True

    def _after_print(self) -> None:
        for details in self._opened_for_print:
            details.open = False
        self._opened_for_print = []

    def _next_theme(self) -> None:
        names = list(THEMES)
        following = names[(names.index(self.view.theme) + 1) % len(names)]
        self.view = replace(self.view, theme=following)
        self._show_theme()
        self._changed()

    def _show_view(self) -> None:
        """Show how a link wants the page: its parts, its colours, its controls."""
        self._show_controls()
        params, view, asked = self.params, self.view, self.prediction
        rest = (
            *(view.show, view.embed, view.theme, view.lock, view.lab),
            *(asked.waiting, asked.open),
            *(params.kv_cache, params.acceptance_rates),
        )
        if rest != self._rest_shown:  # a drag changes none of these
            self._rest_shown = rest
            browser.root.setAttribute("data-show", " ".join(view.show))
            browser.root.toggleAttribute("data-embed", view.embed)
            self._labs.show_alone(view.lab)
            self._show_theme()
            self._show_locks()

    def _show_theme(self) -> None:
        theme = self.view.theme
        if theme == "auto":
            browser.root.removeAttribute("data-theme")
        else:
            browser.root.setAttribute("data-theme", theme)
        self._buttons["theme"].setAttribute("aria-label", THEMES[theme])
        self._buttons["theme"].title = THEMES[theme]

    def _paper(self, theme: str) -> dict[str, str]:
        """The colours of a picture that leaves the page."""
        dark = self.dark.matches if theme == "auto" else theme == "dark"
        return PALETTES["dark" if dark else "light"]

    def _colours(self) -> dict[str, str]:
        return PALETTES["forced"] if self.forced.matches else self._paper(self.view.theme)

    def notify(self, text: str, passing: bool = False, near: Any = None) -> None:
        """Say something that the reader can dismiss; good news goes by itself.

        In a frame as high as its content the top may be out of sight: it is said by the field.
        """
        browser.place_above(self._notice, near if self._host else None)
        self._notice.querySelector("p").textContent = text
        self._notice.classList.toggle("passing", passing)
        self._notice.hidden = False
        if passing:
            self._news.ask()

    def _dismiss(self) -> None:
        self._news.drop()
        self._notice.hidden = True

    # Pointing at slots

    def _point(self, event: Any) -> None:
        self._select(self.board.slot_at(event.offsetX, event.offsetY))

    def _leave(self, event: Any) -> None:
        """Point at no slot; what a finger tapped stays when it is lifted."""
        if event.type != "pointerleave" or event.pointerType == "mouse":
            self._select(None)

    def _move(self, event: Any) -> None:
        moves = {"ArrowLeft": -1, "ArrowRight": 1, "ArrowUp": -COLUMNS, "ArrowDown": COLUMNS}
        if event.key not in moves:
            return
        event.preventDefault()
        newest = (self.run.at(self.view.tick).num_tokens - 1) % SLOTS
        slot = newest if self._slot is None else (self._slot + moves[event.key]) % SLOTS
        self._select(slot)

    def _select(self, slot: int | None) -> None:
        if slot != self._slot:
            self._slot = slot
            self._frames.ask()

    def _show_slot(self) -> None:
        self._cursor.hidden = self._slot is None
        if self._slot is None:
            self._note.write("point at or tap a slot to see what it holds")
            return
        left, top, size = self.board.box(self._slot)
        style = self._cursor.style
        style.left, style.top = f"{left - 3}px", f"{top - 3}px"
        style.width = style.height = f"{size + 6}px"
        self._note.write(describe_slot(self.run, self.view.tick, self._slot))

    # Showing

    def _redraw(self) -> None:
        """Draw every canvas anew: what it holds is lost, or has another number of pixels."""
        self.board.forget()
        self._labs.redraw()
        self._frames.ask()

    def _frame(self, now: float) -> None:
        if self.playback.playing:
            tick = self.playback.advance(now, self.run, self.view.tick, self.view.speed)
            if self.prediction.running and self.prediction.question:
                tick = min(tick, self.prediction.question.tick)
            if tick != self.view.tick:
                self.view = replace(self.view, tick=tick)
            if not self.playback.playing:
                self._address.ask()
        if self.prediction.reached(self.run, self.view.tick):
            self.playback.pause()
            self._show_view()
            self._address.ask()
        self._draw(now)
        if self.playback.moving:
            self._frames.ask()

    def _draw(self, now: float) -> None:
        """Show the scene: each part writes only what changed."""
        run, tick = self.run, self.view.tick
        phase = self.playback.phase(now, run, tick, self.view.speed)
        if self.still.matches:
            phase = PHASES[-1]
        width = self._box.clientWidth
        if width:
            self.board.draw(
                run.proposed(tick) if phase == PHASES[0] else run.slots(tick),
                not self.params.kv_cache,
                width,
                browser.pixel_ratio(),
                self._colours(),
            )
            self._show_slot()
        told = strip(run, tick, phase)
        caption = PREDICT_FIRST if self.prediction.open and tick == 0 else told.caption
        self._places["caption"].write(emphasised(caption))
        self._places["strip"].write(strip_html(told))
        cells = len(told.cells)
        size = " crowd" if cells > CROWD else " many" if cells > MANY_CELLS else ""
        self._strip_class.write("strip" + size)
        self._show_numbers(run, tick)
        self._show_timeline(run, tick)
        playing = self.playback.playing
        self._labs.show(run, tick, self._colours(), playing)
        browser.root.classList.toggle("playing", playing)
        self._places["play-label"].write("Pause" if playing else "Play")
        if not playing:
            self._places["summary"].write(summary(run, tick))

    def _show_numbers(self, run: Run, tick: int) -> None:
        report = run.report(tick)
        if self._host:
            self._host.state(report)
        texts = figures(report, run)
        if self.prediction.open and self.prediction.question:
            texts.update(dict.fromkeys(self.prediction.question.hidden, UNKNOWN))
        self._metrics.write(texts)
        self._texts.write(texts)
        self._controls.classList.toggle("replaying", bool(self._ghosts))
        self._ghost_texts.write(
            {name: self._ghosts.get(name, "") for name in ("tokens_per_pass", "speedup")}
        )
        words = sentence(run, tick)
        self._places["sentence"].write(words.text)
        self._tone.write(f"sentence {words.tone}")
        lengths = bars(report)
        for bar, length in zip(self._race, lengths.race, strict=True):
            bar.write(f"{length:.1f}")
        self._winning.write("wasted" if lengths.race[0] < lengths.race[1] else "useful")
        start = 0.0
        for (left, width), length in zip(self._split, lengths.split, strict=True):
            left.write(f"{start:.1f}")
            width.write(f"{length:.1f}")
            start += length

    def _show_timeline(self, run: Run, tick: int) -> None:
        self._line_value.write(str(tick))
        self._places["tick"].write(str(tick))
        self._places["path"].write(path(run, tick))
        plotted = (self.params, run.at(tick).recompute_passes)
        if plotted != self._plotted:
            self._plotted = plotted
            self._places["band"].write(band(run, tick))
            self._places["theory"].write(f"M0 {theory_height(run):.1f}H{HORIZON}")
            marks = "".join(f"M{at} 0V{HEIGHT}" for at in self.params.evictions)
            self._places["evictions"].write(marks if self.params.kv_cache else "")
            self._places["settings"].write(settings(self.params))

    def _show_controls(self) -> None:
        """Put every control where the parameters are."""
        for key, control in self._inputs.items():
            value = getattr(self.params, BY_KEY[key].name)
            if BY_KEY[key].kind == "switch":
                control.checked = value
            else:
                control.value = write(BY_KEY[key], value)
        for key, field in self._fields.items():
            text = write(BY_KEY[key], getattr(self.params, BY_KEY[key].name))
            if field.value != text:
                field.value = text
            self._told_values[key].write(text)
        self._show_speed()

    def _show_locks(self) -> None:
        """Let the reader move what may be moved."""
        per_position = bool(self.params.acceptance_rates)
        for key, control in [*self._inputs.items(), *self._fields.items()]:
            control.disabled = self._fixed(key) or (key == "alpha" and per_position)
        self._line.disabled, self._speed.disabled = self._fixed("tick"), self._fixed("speed")
        for name, button in self._buttons.items():
            button.disabled = self._fixed_button(name)
        for box, key in self._boxes:
            box.classList.toggle("fixed", key in self.view.lock)
        self._buttons["one-rate"].hidden = not per_position
        self._buttons["evict"].title = "" if self.params.kv_cache else NOTHING_KEPT
        browser.root.classList.toggle("uncached", not self.params.kv_cache)

    def _fixed(self, key: str) -> bool:
        """Whether the reader may not move a control: its link locks it, or a question waits."""
        return key in self.view.lock or (self.prediction.waiting and key != "speed")

    def _fixed_button(self, name: str) -> bool:
        if name == "evict" and not self.params.kv_cache:
            return True
        if not set(LOCKED_BY.get(name, (name,))).isdisjoint(self.view.lock):
            return True
        runs = name == "play" and not self.prediction.open
        return self.prediction.waiting and name not in WHILE_ASKED and not runs

    def _show_speed(self) -> None:
        share = log(self.view.speed / SPEED.low) / log(SPEED.high / SPEED.low)
        self._speed.value = f"{share:.2f}"
        self._say_speed()

    def _say_speed(self) -> None:
        number = write(SPEED, self.view.speed)
        self._speed.setAttribute("aria-valuetext", f"{number} units of time a second")
        self._speed_value.write(number)

    # The API

    def greet(self) -> None:
        """Tell the page around this one, if there is one, that it may begin."""
        if self._host:
            self._host.listen()

    def call(self, name: str, arguments: str) -> str:
        """A call of `window.bonusToken`, arguments and answer as JSON: the state after it."""
        values = message(arguments)
        first = values[0] if values else None
        if name == "set":
            if first is None or isinstance(first, dict):
                self.change(first or {})
            else:
                self.notify(f"set({shown(first)}): not an object of settings; nothing was set.")
        elif name == "seek":
            self.seek(first)
        elif name == "step":
            self.step(1 if first is None else first)
        elif name != "state":
            {"play": self.play, "pause": self.pause, "evict": self.evict, "reset": self.reset}[
                name
            ]()
        return json.dumps(self.run.report(self.view.tick))


def _act(action: Callable[[], None], _event: Any) -> None:
    action()


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
