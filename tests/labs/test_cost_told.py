"""What the section of the costs on a machine says of a case, and what it prints without script."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sim.labs.cost import (
    as_before,
    better,
    instead,
    lengths_html,
    measured,
    near,
    parts,
    printed,
    reports_html,
    states,
    verdict,
    why,
)
from sim.labs.cost_memory import missing, room
from sim.labs.cost_settings import Asked, Priced, priced
from sim.labs.handed import scene
from sim.params import Params
from sim.theory import expected_speedup


def given(**settings: object) -> Priced:
    return priced(Asked(**settings))  # type: ignore[arg-type]


def plain(text: str) -> str:
    return re.sub(r"<[^>]+>", "", text).replace("\u00a0", " ")


def test_the_opening_says_that_it_loses_and_what_would_gain() -> None:
    opening = given()
    assert plain(verdict(opening)) == (
        "In a batch of 256, 4 drafts a pass give 0.93×: slower than plain decoding. "
        "1 draft would give 1.36×."
    )
    assert instead(opening) == "Draft 1 instead"
    told = why(opening)
    for number in ("7.36 ms", "1280 positions", "21.0 ms", "5.52 ms", "3.36 tokens", "3.60"):
        assert number in told
    assert "computing is the limit now" in told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"batch": 1, "k": 5}, "5 drafts a pass give 2.08×, and no other draft length gives more."),
        ({"batch": 512}, "0.67×: slower than plain decoding. No draft length gains here."),
        ({"k": 0, "batch": 1}, "without drafts, it is plain decoding: 1×. 5 drafts would give"),
        ({"k": 0, "batch": 512}, "plain decoding: 1×. No draft length gains here."),
        ({"curve": ((1.0, 4.0),)}, "Your curve says nothing of a pass over 256 or over 1280"),
    ],
)
def test_each_outcome_has_its_words(settings: dict[str, object], told: str) -> None:
    assert told in plain(verdict(given(**settings)))


def test_a_curve_that_does_not_reach_says_which_measurement_it_lacks() -> None:
    curve = ((50.0, 8.0), (100.0, 9.0), (200.0, 10.0))
    assert verdict(given(curve=curve, batch=32)) == (
        "Your curve says nothing of a pass over 32 positions. Add a measurement at 32 or fewer."
    )
    assert verdict(given(curve=curve, batch=64)) == (
        "Your curve says nothing of a pass over 320 positions. Add a measurement at 320 or more."
    )
    assert verdict(given(curve=curve, batch=48, k=7)) == (
        "Your curve says nothing of a pass over 48 or over 384 positions. Add a measurement at 48 "
        "or fewer, and one at 384 or more."
    )


def test_a_curve_in_doubt_is_told_before_what_follows_from_it() -> None:
    curve = ((1.0, 8.1), (32.0, 8.6), (160.0, 104.0), (512.0, 16.5))
    told = "160 positions take 104 ms in line 3, and 512 only 16.5 ms in the next. A plain pass"
    assert why(given(curve=curve, batch=32)).startswith(f"Look at your curve: {told}")
    even = ((1.0, 8.1), (32.0, 7.9), (160.0, 10.4), (512.0, 16.5))
    assert why(given(curve=even, batch=32)).startswith("A plain pass")


def test_drafts_beside_a_curve_are_said_to_be_ideal() -> None:
    curve = ((1.0, 8.1), (512.0, 16.5))
    limits = "at the limits of the machine, for your curve does not hold them"
    assert limits in why(given(curve=curve, batch=32))
    for other in (given(curve=curve, batch=32, draft="0.1"), given(batch=32)):
        assert limits not in why(other)


def test_a_result_of_what_was_set_before_says_so() -> None:
    opening, measured = given(), given(curve=((1.0, 4.0), (9000.0, 40.0)))
    whole = verdict(opening).removeprefix("In")
    assert as_before(opening, "curve") == f"Without that curve: in{whole}"
    assert as_before(opening, "figures") == f"With the figures as before: in{whole}"
    assert as_before(measured, "curve").startswith("With the curve as before: in a batch of 256")


def test_one_draft_gives_and_what_is_no_better_at_the_digits_shown_is_not_named() -> None:
    assert "1 draft a pass gives 1.36×, and no other" in plain(verdict(given(k=1)))
    near_by = [
        case
        for batch in (1, 8, 32)
        for k in (3, 4, 5, 6)
        for alpha in (0.76, 0.78, 0.8, 0.82)
        if (case := given(batch=batch, k=k, acceptance_rate=alpha)).case.best(batch).k != k
    ]
    even = [case for case in near_by if better(case) is None]
    assert even
    for case in near_by:
        best = case.case.best(case.asked.batch)
        same = f"{best.speedup:.2f}" == f"{case.speedup:.2f}"
        assert (better(case) is None) == same == ("noticeably more" in verdict(case))
        assert (instead(case) == "No better draft length") == same


def test_reasons_name_what_sets_the_time() -> None:
    assert "no longer than a plain one" in why(given(batch=1))
    assert "The drafts take no time" in why(given(draft="ngram"))
    assert "more experts are awake" in why(given(model="Qwen3-30B-A3B", batch=4))
    assert "more experts are awake" not in why(given(batch=1))
    assert why(given(curve=((1.0, 4.0),))) == "What was not measured is not made up."


HERE: dict[str, object] = {
    "curve": ((1.0, 0.8), (3.0, 1.2), (5.0, 2.0), (33.0, 9.0)),
    "device": True,
    "draft": "0.25",
    "batch": 1,
}


def test_a_measured_curve_is_told_and_one_of_a_device_says_nothing_of_the_catalogue() -> None:
    opening, own, here = given(), given(curve=HERE["curve"], batch=1), given(**HERE)
    assert measured(opening) == ""
    assert measured(own).startswith("Pass times are those of your curve, 4 points up to 33")
    said = measured(here)
    for part in ("on the device that timed them", "twice as long at about 4 positions", "c = 0.25"):
        assert part in said
    assert "twice as long beyond 2 positions" in measured(
        given(**{**HERE, "curve": ((1.0, 1.0), (2.0, 1.5))})
    )
    # 3.36 tokens in 4 · 0.25 + 2.0 ÷ 0.8 plain passes.
    assert "4 drafts a pass give 0.96×" in plain(verdict(here))
    assert "2 drafts would give" in plain(verdict(here))
    told = {name: plain(str(part)) for name, part in parts(here).items()}
    for name in ("cost-room", "cost-sources", "cost-engines", "cost-why", "cost-verdict"):
        assert not re.search("Llama|H100|vllm|GB", told[name]), name
    assert "H100" in plain(parts(own)["cost-sources"])
    shown = [states(one.asked) for one in (opening, own, here)]
    assert [one["cost-curve-note@hidden"] for one in shown] == [True, False, False]
    assert [one["cost-fields@data-device"] for one in shown] == [False, False, True]


def test_a_device_that_was_not_timed_is_one_of_the_catalogue() -> None:
    assert parts(given(device=True)) == parts(given())
    assert states(Asked(device=True)) == states(Asked())


def test_memory_says_how_much_room_there_is() -> None:
    assert missing(given()) == ""
    assert room(given()) == (
        "It fits into 72 GiB, nine tenths of the memory, with room for 358,748 tokens: "
        "1401 conversations of 256."
    )
    assert room(given(context=0)).endswith(" tokens.")


def test_what_does_not_fit_is_told_first_with_what_would_do() -> None:
    big = given(model="Llama-3.1-70B", machine="RTX-4090", batch=1, k=4)
    assert room(big) == ""
    assert missing(big) == (
        "It does not fit into 21.6 GiB, nine tenths of the memory: 112.2 GiB are missing. It would "
        "with 7 cards, or 2 cards and 4-bit weights."
    )
    assert plain(verdict(big)).startswith(
        f"{missing(big)} If it did: in a batch of 1, 4 drafts a pass give"
    )
    for settings in ({"machines": 7}, {"machines": 2, "width": 0.5}):
        assert not missing(priced(replace(big.asked, **settings)))
    assert missing(priced(replace(big.asked, machines=6)))
    assert "with 2 cards, or a batch of 175 at most." in missing(given(context=2048))


def test_the_nearest_measurement_is_named_with_its_miss() -> None:
    assert "vLLM, pull request 53753: 0.65× at 3.1 tokens a pass" in plain(near(given()))
    close = plain(near(given(batch=1, k=7, acceptance_rate=0.75, draft="0.02")))
    assert "Leviathan et al. 2023, Table 4, En–De, T5-small, temperature 0: 3.40×" in close
    assert "It gained 8 % more than the formula says" in close
    assert near(given(k=0)) == ""


def test_lengths_are_told_by_ranges_and_this_batch_is_marked() -> None:
    opening = given()
    rows = re.findall(r"<tr.*?</tr>", lengths_html(opening))
    assert len(rows) == len(opening.fitting)
    (now,) = [row for row in rows if 'class="now"' in row]
    first, last, k = next(one for one in opening.fitting if one.first <= 256 <= one.last)
    assert plain(now).startswith(f"{first}–{last}{k}")
    assert plain(rows[-1]).endswith("none–")


def test_batches_that_do_not_fit_are_a_row_that_says_so() -> None:
    rows = re.findall(r"<tr.*?</tr>", lengths_html(given(context=2048)))
    assert [plain(row) for row in rows if "does not fit" in row] == ["176–512does not fit–"]
    assert 'class="now"' in rows[-1], "a batch of 256"
    none = lengths_html(given(model="Llama-3.1-70B", batch=1))
    assert plain(none) == "1–512does not fit–"


def test_reports_follow_the_readers_rate() -> None:
    assert "0.28 plain passes (4.0 ms), besides its drafts, with your α" in reports_html(given())
    assert "none is left with your α; it must have been 0.86 at least" in reports_html(given())
    low = reports_html(given(acceptance_rate=0.5))
    assert "0.28 plain passes" not in low
    assert "10.7 plain passes, its drafts among them" in low


def test_the_widget_is_given_what_gains_as_much() -> None:
    opening = given()
    keys = scene(opening)
    assert keys is not None
    assert {"c", "c0", "batch", "knee", "k", "alpha", "rates"} == set(keys)
    params = Params(
        draft_length=4,
        acceptance_rate=0.8,
        draft_cost=float(keys["c"]),  # type: ignore[arg-type]
        batch_size=256,
        knee=int(keys["knee"]),  # type: ignore[call-overload]
    )
    assert expected_speedup(params) == pytest.approx(opening.speedup, rel=0.01)
    assert scene(given(curve=((1.0, 4.0),))) is None


def test_all_of_the_opening_is_printed() -> None:
    html = printed()
    for name, part in parts(given()).items():
        found = re.search(rf'id="{name}"[^>]*>', html)
        assert found, name
        assert html[found.end() :].startswith(str(part) if "<" in part else plain_start(part))


def plain_start(part: str) -> str:
    return part.partition("&")[0]
