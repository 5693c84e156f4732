"""How high a frame is that no script fits to its content."""

from __future__ import annotations

from collections.abc import Iterable

from sim.labs.frames import PART_HEIGHTS, fitted, frame_height, heights
from sim.view import PARTS, View


def test_a_frame_is_as_high_as_its_higher_column_and_what_is_below_or_all_of_its_only_one() -> None:
    subsets = [
        tuple(part for bit, part in enumerate(PARTS) if chosen >> bit & 1)
        for chosen in range(1, 1 << len(PARTS))
    ]

    def of(kind: str, parts: Iterable[str], show: tuple[str, ...]) -> int:
        return sum(getattr(PART_HEIGHTS[part], kind) for part in parts if part in show)

    for show in subsets:
        two = bool({"board", "pass"} & set(show) and {"numbers", "controls"} & set(show))
        narrow, between, wide = heights(View(show=show))
        assert narrow == 50 + of("narrow", show, show)
        left, right, below = ("board", "pass"), ("numbers", "controls"), ("clock", "timeline")
        if two:
            column = max(
                of("between_beside", left + below, show), of("between_beside", right, show)
            )
            assert between == 70 + of("between_beside", ["rail"], show) + column
            column = max(of("wide_beside", left, show), of("wide_beside", right, show))
            assert wide == 50 + of("wide_beside", ["rail", *below], show) + column
        else:
            assert between == 38 + of("between", show, show)
            assert wide == 38 + of("wide", show, show)
        assert frame_height(View(show=show)) == between
        # A question takes the place of the sentence, which goes with the numbers.
        asked = heights(View(show=show, ask="speedup"))
        assert (asked[0] - narrow) == (0 if "numbers" in show else 160)
        assert asked >= (narrow, between, wide)


def test_the_height_of_a_frame_is_a_step_at_each_width_where_its_layout_changes() -> None:
    narrow, between, wide = heights(View())

    def height(column: int) -> int:
        steps = fitted(View()).replace("px", "").replace("100cqw", str(column))
        return int(eval(steps, {"max": max, "min": min}))

    for column, wanted in ((320, narrow), (639, narrow), (640, between), (899, between)):
        assert height(column) == wanted
    assert height(900) == height(1900) == wide
    assert narrow > between > wide
