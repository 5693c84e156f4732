"""A SCORM package in a course: what its gradebook is told, and what the learner reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.host import bundle, scorm
from sim.params import Params
from sim.question import points
from sim.run import Run
from tests.course import static_host
from tests.driver import PageDriver
from tests.gradebook import PACKAGE, Course, inside, platform
from tests.node import need
from tests.page.test_access import complaints

TICK = 20
ASKING = f"k=12&ask=speedup&tick={TICK}&speed=60"
RESULT = Run(Params(draft_length=12)).report(TICK)["speedup"]


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A platform's folder with a package that asks for a prediction."""
    need("scorm-again")
    root = tmp_path_factory.mktemp("platform")
    bundle.write(root / PACKAGE, scorm.contents(scorm.read(ASKING)))
    return root


def predict(page: PageDriver, text: str) -> None:
    """Predict, and wait until it is compared."""
    page.run("document.querySelector('#prediction').value = arguments[0]", text)
    page.action("predict")
    page.until(lambda: page.run("return question.dataset.phase") == "over")


def note(course: Course, start: str) -> str:
    """What the package's page says, once it says what begins like this."""
    with course.package() as page:
        page.until(lambda: page.text("#told").startswith(start))
        return page.text("#told")


@pytest.mark.every_engine
def test_the_first_prediction_of_an_attempt_counts_and_all_are_told(
    shared: PageDriver, packed: Path
) -> None:
    worth = points(1.25 * RESULT, RESULT)
    assert worth == 52
    with platform(shared, packed) as course:
        course.visit()
        note(course, "The result will be noted")
        assert course.gradebook["cmi.core.lesson_status"] == "incomplete"
        with course.simulator() as page:
            assert page.state()["params"]["draft_length"] == 12
            assert not page.one("#scene").is_displayed(), "a way around the question"
            predict(page, str(1.25 * RESULT))
        assert "52 of 100 points" in note(course, "Noted in the course")
        told = course.gradebook
        assert told["cmi.core.lesson_status"] == "completed"
        assert [told[f"cmi.core.score.{part}"] for part in ("raw", "min", "max")] == [
            *("52", "0", "100")
        ]
        with course.simulator() as page:
            page.call("reset")
            predict(page, str(RESULT))
        asked = "cmi.interactions.1.result"
        course.page.until(lambda: asked in course.gradebook)
        course.leave()
        told = course.gradebook
        assert (told["cmi.core.score.raw"], told["cmi.core.lesson_status"]) == ("52", "completed")
        for index, (said, result) in enumerate(((1.25 * RESULT, "52"), (RESULT, "100"))):
            line = f"cmi.interactions.{index}."
            assert told[f"{line}type"] == "numeric"
            assert told[f"{line}id"] == f"speedup-at-{TICK}-attempt-{index + 1}"
            assert float(told[f"{line}student_response"]) == pytest.approx(said, rel=1e-5)
            assert told[f"{line}result"] == result
        course.visit()
        assert "52 of 100 points" in note(course, "Noted in the course")
        with course.simulator() as page:
            predict(page, str(RESULT))
        course.leave()
        assert course.gradebook["cmi.core.score.raw"] == "52"
        assert course.gradebook["cmi.interactions.2.id"] == f"speedup-at-{TICK}-attempt-3"


@pytest.mark.chromium_only("one engine is enough for what a platform does")
def test_what_a_platform_does_not_take_is_told_and_can_be_sent_again(
    shared: PageDriver, packed: Path
) -> None:
    with platform(shared, packed, refuses=True) as course:
        course.visit()
        note(course, "The result will be noted")
        with course.simulator() as page:
            predict(page, str(RESULT))
        assert note(course, "The course platform did not take the result").endswith("Send again")
        assert course.told == []
        course.refuses = False
        with course.package() as page:
            page.one("#told button").click()
        assert "100 of 100 points" in note(course, "Noted in the course")
        assert course.gradebook["cmi.core.score.raw"] == "100"


@pytest.mark.chromium_only("one engine is enough for what is told")
def test_a_result_that_was_only_shown_is_worth_nothing_and_a_review_notes_nothing(
    shared: PageDriver, packed: Path
) -> None:
    with platform(shared, packed) as course:
        course.visit()
        with course.simulator() as page:
            page.action("skip")
        assert "Noted in the course: 0 of 100 points" in note(course, "Noted")
        told = course.gradebook
        assert told["cmi.interactions.0.result"] == "0"
        assert "cmi.interactions.0.student_response" not in told
        course.leave()
        assert course.gradebook["cmi.core.exit"] == "suspend"
        course.told.append({"cmi.core.lesson_mode": "review"})
        course.visit()
        note(course, "This is a preview or a review")
        with course.simulator() as page:
            predict(page, str(RESULT))
        course.leave()
        assert not [one for one in course.gradebook if "interactions." in one or "score.raw" in one]


@pytest.mark.chromium_only("one engine is enough for windows")
def test_a_platform_may_play_it_in_a_window_of_its_own_or_not_answer(
    shared: PageDriver, packed: Path
) -> None:
    with platform(shared, packed) as course:
        course.visit()
        note(course, "The result will be noted")
        player = shared.driver.current_window_handle
        shared.run(f"API.LMSFinish(''); API.reset(); open('/{PACKAGE}/scorm.html')")
        (other,) = set(shared.driver.window_handles) - {player}
        shared.driver.switch_to.window(other)
        shared.until(lambda: shared.text("#told").startswith("The result will be noted"))
        shared.driver.close()
        shared.driver.switch_to.window(player)
        shared.run("API.LMSInitialize = () => 'false'; frames[0].location.reload()")
        note(course, "The course platform does not answer")


@pytest.mark.chromium_only("one engine is enough for what is told")
def test_outside_a_course_the_page_is_the_simulator_alone(shared: PageDriver, packed: Path) -> None:
    with static_host(packed) as address:
        shared.driver.get(f"{address}/{PACKAGE}/scorm.html")
        assert shared.text("#told") == (
            "This page was opened outside a course, so the result is noted nowhere."
        )
        assert "less the further off it is" in shared.text("body")
        assert complaints(shared) == []
        with inside(shared):
            predict(shared, str(RESULT))
            assert "Spot on" in shared.text("#asked")
        shared.driver.switch_to.default_content()
        assert "outside a course" in shared.text("#told")


@pytest.mark.chromium_only("one engine is enough for where it comes from")
def test_a_linked_simulator_tells_the_course_too_and_a_scene_without_question_is_completed(
    shared: PageDriver, simulator: str, tmp_path: Path
) -> None:
    need("scorm-again")
    bundle.write(tmp_path / PACKAGE, scorm.contents(scorm.read("k=7&theme=dark", simulator)))
    with platform(shared, tmp_path) as course:
        course.visit()
        with course.simulator() as page:
            assert page.run("return location.href").startswith(simulator)
            assert page.state()["params"]["draft_length"] == 7
            assert page.one("#scene").is_displayed()
            assert page.run("return document.documentElement.dataset.theme") == "dark"
        note(course, "Noted in the course.")
        told = course.gradebook
        assert told["cmi.core.lesson_status"] == "completed"
        assert "cmi.core.score.raw" not in told
