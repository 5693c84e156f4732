"""The cards on the page: one question at a time, revealed, rated, and remembered on this device."""

from __future__ import annotations

from typing import Any

from sim.picture import emphasised
from sim.recall import BY_CARD, CARDS, RATINGS, Memory, read_memory
from static import browser
from static.browser import Attribute, one

PLACE = "bonus-token-recall"
"""Where the browser keeps what is remembered."""


class Recalling:
    """A round through the cards, the weakest first; what was not known comes again at its end."""

    def __init__(self) -> None:
        self._memory = read_memory(browser.stored(PLACE))
        self._round = self._memory.order()
        self._texts = {
            name: Attribute(one(f"#deck-{name}"), "innerHTML")
            for name in ("count", "question", "answer", "kept")
        }
        self._answer, self._question = one("#deck-answer"), one("#deck-question")
        self._buttons = {b.getAttribute("data-recall"): b for b in browser.every("[data-recall]")}
        self._sure = False
        self._standings = browser.every('[name="standing"]')
        browser.listen(one("#recall"), "click", self._click)
        browser.listen(one("#recall"), "change", self._say_standing)
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
            self._memory = self._memory.rated(key, action)
            if action == "again":
                self._round.append(key)
            self._keep()
            self._show()
            self._question.focus()
        elif action == "export":
            browser.save("bonus-token-recall.json", "application/json", self._memory.write())
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
        browser.forget(PLACE)
        self._round = self._memory.order()
        self._show()
        self._unsure()
        self._texts["kept"].write("Erased.")

    def _unsure(self) -> None:
        self._sure = False
        self._buttons["erase"].textContent = "Erase"

    def _say_standing(self, event: Any) -> None:
        if event.target.name == "standing":
            self._memory = Memory(
                self._memory.strengths, self._memory.turns, int(event.target.value)
            )
            self._keep()

    def _keep(self) -> None:
        self._unsure()
        kept = browser.store(PLACE, self._memory.write())
        self._texts["kept"].write(
            "Kept on this device alone." if kept else "Kept for this visit: storage is blocked."
        )

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
