"""The cards on the page: one question at a time, revealed, rated, and remembered on this device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sim.labs.recall import BY_CARD, CARDS, LARGEST, RATINGS, Memory, read_export, read_memory
from sim.picture import emphasised
from static import browser, device
from static.browser import Attribute, one
from static.loader import LabView, Link

PLACE = "bonus-token-recall"
"""Where the browser keeps what is remembered."""


class View(LabView):
    """A round through the cards, the weakest first; what was not known comes again at its end."""

    def __init__(self, section: Any, link: Link) -> None:
        super().__init__(section, link)
        self._memory = read_memory(device.stored(PLACE))
        self._round = self._memory.order()
        self._texts = {
            name: Attribute(one(f"#deck-{name}"), kind)
            for name, kind in (
                ("count", "textContent"),
                ("question", "innerHTML"),
                ("answer", "innerHTML"),
                ("kept", "textContent"),  # it names a file, whatever that is called
            )
        }
        self._answer, self._question = one("#deck-answer"), one("#deck-question")
        self._buttons = {b.getAttribute("data-recall"): b for b in browser.every("[data-recall]")}
        self._file = one("#deck-file")
        self._sure = self._kept = False
        self._standings = browser.every('[name="standing"]')
        browser.listen(section, "click", self._click)
        browser.listen(section, "change", self._say_standing)
        browser.listen(self._file, "change", self._read)
        device.watch_stored(PLACE, self._follow)
        one("#cards").hidden, one("#deck").hidden = True, False
        self._keep()
        self._show()

    def _click(self, event: Any) -> None:
        button = event.target.closest("[data-recall]")
        if not button:
            return
        action = button.getAttribute("data-recall")
        if action == "reveal":
            if self._round:
                self._show(revealed=True)
                self._answer.focus()  # it is read out, and the ratings follow
            else:
                self._round = self._memory.order()
                self._show()
        elif action in RATINGS:
            key = self._round.pop(0)
            self._change(lambda memory: memory.rated(key, action))
            if action == "again":
                self._round.append(key)
            self._show()
            self._question.focus()
        elif action == "import":
            self._file.click()
        elif action == "export":
            self._catch_up()
            device.save("bonus-token-recall.json", "application/json", self._memory.write())
        elif action == "erase":
            self._erase()

    def _erase(self) -> None:
        """Forget all, at the second press."""
        if not self._sure:
            self._sure = True
            self._buttons["erase"].textContent = "Erase all"
            self._texts["kept"].write("Press again to erase what is remembered.")
            return
        self._memory = Memory()
        device.forget(PLACE)
        self._round = self._memory.order()
        self._show()
        self._unsure()
        self._texts["kept"].write("Erased.")

    def _read(self, _event: Any) -> None:
        """Read the file that was chosen."""
        device.read_chosen(self._file, LARGEST, self._join)

    def _join(self, name: str, size: int, text: str) -> None:
        """Add what a file holds to what is remembered."""
        held, complaint = read_export(name, size, text)
        if complaint:
            self._unsure()
            self._texts["kept"].write(complaint)
            return
        self._change(lambda memory: memory.joined(held))
        self._round = self._memory.order()
        self._show()
        self._texts["kept"].write(f"“{name}” was added. {self._where()}")

    def _change(self, change: Callable[[Memory], Memory]) -> None:
        """Make one change to what is remembered by now: another tab may have gone on meanwhile."""
        self._catch_up()
        self._memory = change(self._memory)
        self._keep()

    def _catch_up(self) -> None:
        """Take what the device holds, if it holds what was remembered here; nothing is erased."""
        if self._kept:
            self._memory = read_memory(device.kept_now(PLACE, self._memory.write()))

    def _follow(self) -> None:
        """Another tab has changed what is kept: go on from there, at the question asked here."""
        text = device.stored(PLACE)
        self._memory = read_memory(text)
        self._unsure()
        if text:
            self._show(revealed=bool(self._round) and not self._answer.hidden)
            self._texts["kept"].write(self._where())
        else:
            self._round = self._memory.order()
            self._show()
            self._texts["kept"].write("Erased in another tab.")

    def _unsure(self) -> None:
        self._sure = False
        self._buttons["erase"].textContent = "Erase"

    def _say_standing(self, event: Any) -> None:
        if event.target.name == "standing":
            standing = int(event.target.value)
            self._change(lambda memory: replace(memory, standing=standing))

    def _keep(self) -> None:
        self._unsure()
        self._kept = device.store(PLACE, self._memory.write())
        self._texts["kept"].write(self._where())

    def _where(self) -> str:
        if self._kept:
            return "Kept on this device alone."
        return "Kept for this visit: storage is blocked."

    def _show(self, revealed: bool = False) -> None:
        known = f"{self._memory.known} of {len(CARDS)} known"
        for index, box in enumerate(self._standings):
            box.checked = index == self._memory.standing
        self._answer.hidden = not revealed
        for rating in RATINGS:
            self._buttons[rating].hidden = not revealed
        self._buttons["reveal"].hidden = revealed
        if not self._round:
            self._texts["count"].write(known)
            self._texts["question"].write("That was all for now. The weakest come first next time.")
            self._buttons["reveal"].textContent = "Start over"
            return
        card = BY_CARD[self._round[0]]
        self._texts["count"].write(f"{len(self._round)} to go · {known}")
        self._texts["question"].write(emphasised(card.question))
        self._texts["answer"].write(emphasised(card.answer))
        self._buttons["reveal"].textContent = "Show the answer"
