"""What labs say before they are there."""

from __future__ import annotations

from tests.driver import PageDriver


def told(page: PageDriver) -> list[str]:
    """What the labs on their way say."""
    script = "return [...document.querySelectorAll('.lab-note')].map((e) => e.textContent)"
    return list(page.run(script))
