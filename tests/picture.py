"""Take the README's picture of the page: `python3 -m tests.picture` writes static/page.png."""

from __future__ import annotations

from tests import browsers
from tests.browsing import WORDED
from tests.driver import PageDriver
from tests.server import ROOT, serving

SCENE = "?tick=139&evict=134"


def main() -> None:
    """Take it, of the real page in a real browser."""
    with serving() as address:
        driver = browsers.launch(width=1280, height=720)
        try:
            page = PageDriver(driver, address)
            page.open(SCENE)
            page.until(lambda: page.run(WORDED))
            page.frames()
            driver.save_screenshot(str(ROOT / "static" / "page.png"))
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
