"""What may be asked of a scene: by a button, by a script of the page, by a page around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sim.params import Params

WHOLE = "*"
"""All fields of a message, where a verb takes an object of settings."""


class Verb(NamedTuple):
    """Something that may be asked of a scene, and where."""

    name: str
    button: bool = True
    """Whether the page has a button for it, whose `data-action` is its name."""
    label: str = ""
    """What its button is called where a link may lock it."""
    locked_by: tuple[str, ...] = ()
    """Locks that fix its button; its own name unless said."""
    while_asked: bool = False
    """Whether its button works while a question waits."""
    in_script: bool = False
    """Whether `window.bonusToken` has it."""
    from_host: bool = False
    """Whether a page around may ask for it."""
    field: str = ""
    """The field of a host's message that holds its argument; `WHOLE` for all of them."""
    needs: str = ""
    """A switch of the parameters without which it does nothing, and so its button."""
    else_told: str = ""
    """What is said instead."""

    @property
    def locks(self) -> tuple[str, ...]:
        """Names in a link's lock that fix its button."""
        return self.locked_by or (self.name,)

    def idle(self, params: Params) -> str:
        """Why it does nothing with these parameters; empty where it does something."""
        return self.else_told if self.needs and not getattr(params, self.needs) else ""

    def arguments(self, message: Mapping[str, Any]) -> list[Any]:
        """The arguments that a host's message holds."""
        if self.field == WHOLE:
            return [dict(message)]
        return [message.get(self.field)] if self.field else []


VERBS = (
    Verb("state", button=False, in_script=True),
    Verb("set", button=False, in_script=True, from_host=True, field=WHOLE),
    Verb("play", label="Play", in_script=True, from_host=True),
    Verb("pause", button=False, in_script=True, from_host=True),
    Verb("step", label="Step", in_script=True, from_host=True, field="n"),
    Verb("seek", button=False, in_script=True, from_host=True, field="tick"),
    Verb("back", label="Back"),
    Verb("start", label="to the start"),
    Verb(
        "evict",
        label="Evict",
        in_script=True,
        from_host=True,
        needs="kv_cache",
        else_told="Nothing is kept while the KV cache is off.",
    ),
    Verb("reset", label="Reset", while_asked=True, in_script=True, from_host=True),
    Verb("picture", button=False, from_host=True),
    Verb("resume", button=False, from_host=True, field=WHOLE),
    Verb("share", label="Share", while_asked=True),
    Verb("theme", while_asked=True),
    Verb("words", label="words", while_asked=True),
    Verb("keep", label="Keep for comparison"),
    Verb("unkeep", while_asked=True),
    Verb("unghost", while_asked=True),
    Verb("closer", while_asked=True),
    Verb("farther", while_asked=True),
    Verb("better", locked_by=("k", "speculation")),
    Verb("luck", locked_by=("seed",)),
    Verb("one-rate", locked_by=("alpha", "rates")),
    Verb("predict", while_asked=True),
    Verb("skip", while_asked=True),
    Verb("again"),
    Verb("done"),
    Verb("unpoint"),
    Verb("return"),
    Verb("dismiss", while_asked=True),
    Verb("reload", while_asked=True),
)

VERB = {verb.name: verb for verb in VERBS}

BUTTONS = tuple(verb.name for verb in VERBS if verb.button)

LOCKABLE = {verb.name: verb.label for verb in VERBS if verb.label}
"""Buttons that a link may lock by their name, and what they are called."""

SCRIPTED = {verb.name: verb for verb in VERBS if verb.in_script}
"""Calls of `window.bonusToken`."""

ASKED_BY_HOSTS = {verb.name: verb for verb in VERBS if verb.from_host}
"""Messages of the page around."""
