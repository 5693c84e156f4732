"""The labs of the page: each is fetched, imported and shown once it is near the screen or opened.

A lab that does not come, or fails, says so in its own place, where it can be tried again; the page
stays as it is.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from importlib.machinery import FileFinder
from pathlib import Path
from typing import Any, NamedTuple

import sim
from sim.labs import LABS, Lab
from sim.run import Run
from sim.view import View as Scene
from static import browser

HOME = Path(sim.__file__).parent.parent
"""The folder that the page's files are in."""


class Link(NamedTuple):
    """What a lab may ask of the widget, and do to it."""

    change: Callable[[Mapping[str, object]], None]
    """Set what a link can hold, by key; nothing where the reader may not move one of these. Where
    the lab is alone, the widget comes in its place, unless all are settings of labs."""
    scene: Callable[[], tuple[Run, Scene, dict[str, str], bool]]
    """The run, the view and the keys of labs that a link to it holds, and whether its numbers are a
    secret."""
    paper: Callable[[str], dict[str, str]]
    """The colours that a picture of this theme has outside the page."""
    complain: Callable[[list[str]], None]
    """Say what was wrong with the settings of the lab in a link."""
    edit: Callable[[], None]
    """Free the scene of its locks and its question."""
    lead: Callable[[str, Mapping[str, object]], None]
    """Set another lab, by its name and the keys of its settings, and lead the reader there."""


class LabView:
    """A lab in its place of the page; its module calls it `View`."""

    def __init__(self, section: Any, link: Link) -> None:
        self.section, self.link = section, link

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """The widget shows this now; called at every frame that changes something."""

    def settle(self, keys: Mapping[str, str]) -> None:
        """These are the lab's own settings in the link, `name.key`, whoever has set them."""

    def redraw(self) -> None:
        """Canvases have lost what was drawn on them."""

    def open(self) -> None:
        """The reader asks for it."""


class Note:
    """A line in a lab's place that says how far it has come, or why it did not."""

    def __init__(self, place: Any) -> None:
        self._line = browser.element("p", "lab-note")
        self._line.setAttribute("role", "status")
        self._words = browser.element("span")
        self._button = browser.element("button")
        self._button.type, self._button.textContent = "button", "Try again"
        self._again: Callable[[], None] | None = None
        browser.listen(self._button, "click", self._press)
        self._line.append(self._words, self._button)
        (place.querySelector(".drawing") or place).append(self._line)

    def write(self, text: str, again: Callable[[], None] | None) -> None:
        """Say this; with a button where there is something to try again."""
        self._words.textContent, self._again = text, again
        self._button.hidden = again is None

    def remove(self) -> None:
        """Leave the place as it was."""
        self._line.remove()

    def _press(self, _event: Any) -> None:
        if self._again:
            self._again()


class Bringing:
    """One lab on its way: its files, its modules, its view."""

    def __init__(self, lab: Lab, files: list[str], link: Link) -> None:
        self.view: LabView | None = None
        self._lab, self._files, self._link = lab, files, link
        self._places = browser.every(lab.place)
        self._coming = self._asked = False
        self._arrived: dict[str, bytes] = {}
        self._modules: list[str] = []
        self._imported: list[str] = []
        self._notes: list[Note] = []
        self._turn = browser.Delay(0, self._import_next)
        self._keys: dict[str, str] = {}
        self._shown: tuple[Run, int, Mapping[str, str], bool] | None = None

    def watch(self) -> None:
        """Bring it when one of its places comes near the screen."""
        for place in self._places:
            browser.watch_near(place, self._come_near)

    def _come_near(self, near: bool) -> None:
        if near and not self._notes:  # what failed waits for the reader
            self.bring()

    def open(self) -> None:
        """Open it, in a dialog; bring it first if need be."""
        if self.view:
            self.view.open()
            return
        self._asked = True
        if not self._places[0].open:
            self._places[0].showModal()
        if not self._notes:
            self.bring()

    def stand_alone(self, alone: bool) -> None:
        """Be the one that is shown while the others are not, or one among all."""
        for place in self._places:
            place.classList.toggle("alone", alone)

    def bring(self, fresh: bool = False) -> None:
        """Fetch it unless it is here or on its way; `fresh` asks the server for each file anew."""
        if self.view or self._coming:
            return
        self._coming = True
        wanted = [name for name in self._files if _module(name) not in sys.modules]
        arrived: dict[str, bytes] = {}

        def count() -> None:
            self._say(f"Bringing this part of the page: {len(arrived)} of {len(wanted)} files …")

        def arrive(name: str, data: bytes) -> None:
            arrived[name] = data
            if self._coming:  # another one may have failed
                count()

        def done(error: str) -> None:
            if error:
                self._fail(error)
            else:
                self._begin({name: arrived[name] for name in wanted})

        count()
        browser.fetch(wanted, fresh, arrive, done)

    def _begin(self, files: dict[str, bytes]) -> None:
        """Put what came where Python finds it, and start to import it."""
        written = []
        for name, data in files.items():
            try:
                written += _write(name, data)
            except Exception as problem:  # an archive that is none, a full disk
                self._fail(f"{name}: {type(problem).__name__}: {problem}")
                return
        # `importlib.invalidate_caches` would fetch what it imports of the standard library.
        for finder in sys.path_importer_cache.values():
            if isinstance(finder, FileFinder):
                finder.invalidate_caches()
        modules = [_module(path) for path in written if path.endswith(".py")]
        self._modules = [name for name in modules if name not in sys.modules]
        self._turn.ask()

    def _import_next(self) -> None:
        """Import a module in a turn of its own; after the last one, make the view."""
        left = self._modules if self._lab.view not in sys.modules else []
        name = left.pop(0) if left else ""
        try:
            if name:
                self._imported.append(name)
                importlib.import_module(name)
                self._turn.ask()
                return
            name = self._lab.view
            self.view = sys.modules[name].View(self._places[0], self._link)
            if self._keys:
                self.view.settle(self._keys)
        except Exception as problem:
            self.view = None
            self._fail(f"{name}: {type(problem).__name__}: {problem}")
            return
        self._coming = False
        for place in self._places:
            place.setAttribute("data-here", "")
        for note in self._notes:
            note.remove()
        self._notes = []
        if self._shown:
            self.show(*self._shown)
        if self._asked:
            self._asked = False
            if self._places[0].open:  # the reader may have closed it meanwhile
                self._places[0].close()
                self.view.open()

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """Hand over what the widget shows, now or once it is here."""
        self._shown = run, tick, colours, playing
        if self.view:
            try:
                self.view.show(run, tick, colours, playing)
            except Exception as problem:
                self.view = None
                self._fail(f"{self._lab.view}: {type(problem).__name__}: {problem}")

    def settle(self, keys: Mapping[str, str]) -> None:
        """Hand over the lab's own settings among these of a link, now or once it is here."""
        own = {key: text for key, text in keys.items() if key.startswith(f"{self._lab.name}.")}
        if own != self._keys:
            self._keys = own
            if self.view:
                self.view.settle(own)

    def _fail(self, why: str) -> None:
        """Say what went wrong, and forget what came, so that another try begins anew."""
        for place in self._places:
            place.removeAttribute("data-here")
        for name in self._imported:
            sys.modules.pop(name, None)
        self._imported, self._coming = [], False
        self._say(f"This part of the page did not come ({why}).", again=self._again)

    def _again(self) -> None:
        self.bring(fresh=True)

    def _say(self, text: str, again: Callable[[], None] | None = None) -> None:
        if not self._notes:
            self._notes = [Note(place) for place in self._places]
        for note in self._notes:
            note.write(text, again)


def _module(name: str) -> str:
    """The module of a file; of what is none, a name that no module has."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _write(name: str, data: bytes) -> list[str]:
    """Write a file, or those in an archive, where Python finds them; gives their names."""
    found = {name: data}
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = {inside: archive.read(inside) for inside in archive.namelist()}
    for path, content in found.items():
        file = HOME / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        if path.endswith(".py"):
            # Damage is told now, also of what a function imports later.
            compile(content, path, "exec", dont_inherit=True)
        # Of a file that was damaged, nothing compiled may stay.
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
    return list(found)


class Loader:
    """All labs of the page."""

    def __init__(self, link: Link) -> None:
        files: dict[str, list[str]] = json.loads(browser.data("labs"))
        self._labs = {lab.name: Bringing(lab, files[lab.name], link) for lab in LABS}
        self._alone = ""

    def watch(self) -> None:
        """Bring each lab when it comes near the screen."""
        for lab in self._labs.values():
            lab.watch()

    def open(self, name: str) -> None:
        """Open a lab, once it is here."""
        self._labs[name].open()

    def show_alone(self, name: str) -> None:
        """Show this lab alone, or the whole page where there is none of this name."""
        if name == self._alone:  # a drag changes nothing of it
            return
        self._alone = name
        browser.root.toggleAttribute("data-lab", name in self._labs)
        if name in self._labs:
            browser.root.setAttribute("data-lab", name)
            self._labs[name].bring()
        for lab in self._labs.values():
            lab.stand_alone(lab is self._labs.get(name))

    def show(self, run: Run, tick: int, colours: Mapping[str, str], playing: bool) -> None:
        """Hand every lab what the widget shows."""
        for lab in self._labs.values():
            lab.show(run, tick, colours, playing)

    def settle(self, keys: Mapping[str, str]) -> None:
        """Hand every lab its own settings of a link."""
        for lab in self._labs.values():
            lab.settle(keys)

    def redraw(self) -> None:
        """Have every lab draw anew what is drawn on a canvas."""
        for lab in self._labs.values():
            if lab.view:
                lab.view.redraw()
