"""What was measured of a text, as the costs on a machine take it."""

from __future__ import annotations

import pytest

from sim.labs.cost_settings import priced, settled
from sim.labs.text_chart import Timed
from sim.labs.text_cost import as_costs
from sim.labs.text_measured import Rates
from sim.settings import changes_of_lab, check, link

TIMED = Timed(
    ((1, 0.000812345), (2, 0.0009), (3, 0.0011), (5, 0.00161234), (9, 0.0028), (33, 0.0101)),
    {"small": 0.0002, "ngram": 0.00003},
)
FOUND = Rates([0.7, 0.6, 0.65, 0.6], [90, 63, 38, 25], 206, 90)


def test_passes_the_draft_and_alpha_are_those_that_were_measured() -> None:
    asked = as_costs(TIMED, "small", 4, FOUND)
    check(asked)
    assert asked.curve == ((1, 0.812), (2, 0.9), (3, 1.1), (5, 1.61), (9, 2.8), (33, 10.1))
    assert (asked.k, asked.batch, asked.of_a_device) == (4, 1, True)
    given = priced(asked)
    assert given.case.draft_cost(1) == pytest.approx(0.2 / 0.812345, abs=5e-4)
    # Tokens per pass by the seconds of a round, against one by those of a plain pass.
    expected = 206 / 90 * 0.812345 / (4 * 0.2 + 1.61234)
    assert given.speedup == pytest.approx(expected, rel=5e-3)
    assert as_costs(TIMED, "ngram", 4, FOUND).draft == "0.0369"


def test_without_a_draft_that_was_tested_alpha_is_the_usual_one() -> None:
    assert as_costs(TIMED, "small", 4, None).rates == (0.8,)


def test_a_link_holds_what_was_measured_and_is_short() -> None:
    asked = as_costs(TIMED, "small", 7, FOUND)
    keys = {key: text for key, text in changes_of_lab("cost", asked).items() if text}
    assert settled(keys) == (asked, [])
    assert len(link("", keys)) < 250


def test_a_draft_that_takes_longer_than_the_pass_is_still_a_setting() -> None:
    check(as_costs(TIMED._replace(steps={"small": 1.0}), "small", 4, FOUND))
