"""How a lab comes on the page, fails and is tried again, as its tests see and break it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sim.host.files import lab_files
from sim.host.serve import Handler
from sim.labs import BY_NAME, LABS
from tests.driver import PageDriver
from tests.faults import Fault, answer, asked, content

OWN = {lab.name: set(lab_files(lab)) for lab in LABS}
"""The files of each lab; some belong to several."""

IN_TURN = sorted(OWN, key=lambda lab: (lab == "share", lab == "recall"))
"""All labs: the cards after the one right above them, last the one whose dialog hides the page."""


def turns() -> Iterator[list[str]]:
    """Every file of a lab, in few turns: many at a time, but no two of one lab.

    In the first, all views, so that no lab is there afterwards.
    """
    views = [f"static/labs/{lab.name}.py" for lab in LABS]
    yield views
    left = list(dict.fromkeys(name for lab in LABS for name in lab_files(lab)))
    left = [name for name in left if name not in views]
    while left:
        turn: list[str] = []
        for name in left:
            if not any(name in own and own & set(turn) for own in OWN.values()):
                turn.append(name)
        yield turn
        left = [name for name in left if name not in turn]


TURNS = list(turns())


def come(page: PageDriver, lab: str) -> None:
    """Have a lab come: scroll to it, or ask for it."""
    if lab == "share":
        page.run("document.querySelector('[data-action=share]').click()")
    else:
        page.run("document.querySelector(arguments[0]).scrollIntoView()", BY_NAME[lab].place)


def state(page: PageDriver) -> object:
    return page.run("return document.documentElement.dataset.state")


def is_here(page: PageDriver, lab: str) -> object:
    """Whether a lab says in each of its places that it is there."""
    return page.run(
        "const places = [...document.querySelectorAll(arguments[0])];"
        "return places.length > 0 && places.every((place) => 'here' in place.dataset)",
        BY_NAME[lab].place,
    )


def damaged(path: str) -> Fault:
    """A file that is cut where no file can end."""
    return lambda h: (
        asked(h) == path and answer(h, content(path)[0][:400] + b"\n(", kind="text/x-python")
    )


def noting(names: list[str]) -> Fault:
    """No fault: what is asked for is noted."""

    def note(handler: Handler) -> bool:
        names.append(asked(handler)[1:])
        return False

    return note


def check_named(page: PageDriver, lab: str, name: str) -> None:
    """A lab says in each of its places that it did not come, and names the file."""
    page.until(partial(has_failed, page, lab))
    module = name.removesuffix(".py").replace("/", ".")
    words = notes(page, lab)
    assert all(text and (name in text or module in text) for text in words), (lab, words)


def notes(page: PageDriver, lab: str) -> list[str]:
    """What a lab that is on its way says in each of its places."""
    found = page.run(
        "return [...document.querySelectorAll(arguments[0])].map((e) =>"
        " e.querySelector('.lab-note')?.textContent ?? '')",
        BY_NAME[lab].place,
    )
    return list(found)


def has_failed(page: PageDriver, lab: str) -> bool:
    return "did not come" in " ".join(notes(page, lab))


def try_again(page: PageDriver, lab: str) -> None:
    button = f"{BY_NAME[lab].place} .lab-note button"
    page.run("document.querySelector(arguments[0]).click()", button)
