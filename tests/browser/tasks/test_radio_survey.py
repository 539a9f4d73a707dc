"""RadioSurvey's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, goals, verdicts

from ui_gym.browser.content.surveys import SURVEYS
from ui_gym.browser.tasks.radio_survey import RadioSurvey, RadioSurveyParams
from ui_gym.errors import UserError

SURVEY = RadioSurveyParams(
    survey="hotel",
    questions=(("Clean?", ("Good", "Fair", "Poor")), ("Quiet?", ("Good", "Fair", "Poor")),
               ("Again?", ("Yes", "No"))),
    answers=(2, -1, 0), order=(0, 2), theme=0, phrasing=0,
)  # fmt: skip


def submit(**answers: str) -> Any:
    return ("submit", {"answers": {f"{question}?": given for question, given in answers.items()}})


test_radio_survey_scores = verdicts(
    RadioSurvey(),
    SURVEY,
    {
        "right": (submit(Clean="Poor", Again="Yes"), 1.0, True),
        "any order": (submit(Again="Yes", Clean="Poor"), 1.0, True),
        "one": (submit(Clean="Poor"), 0.5, True),
        "one wrong": (submit(Clean="Good", Again="Yes"), 0.5, True),
        "one more": (submit(Clean="Poor", Again="Yes", Quiet="Fair"), 0.5, True),
        "all wrong": (submit(Clean="Good", Again="No"), 0.0, True),
        "nothing": (submit(), 0.0, True),
        "first counts": (submit(Clean="Poor"), submit(Clean="Poor", Again="Yes"), 0.5, True),
        "empty": (("submit", {}), 0.0, True),
        "other event": (("answer", {"question": "Clean?"}), 0.0, False),
    },
)


@pytest.mark.parametrize("level", RadioSurvey.levels)
def test_radio_survey_goals_tell_every_answer_once(level: Any) -> None:
    task = RadioSurvey(level=level)
    mixed = 0
    for params, goal in goals(task):
        questions = [question for question, _ in params.questions]
        assert len(set(questions)) == task.questions
        assert len(params.order) == task.questions - task.skipped
        for number, (question, options) in enumerate(params.questions):
            assert len(set(options)) == len(options)
            answer = params.answers[number]
            assert goal.count(f'"{question}"') == (answer >= 0)
            if answer >= 0:
                assert f'"{question}": "{options[answer]}"' in goal
        assert goal.endswith("Leave all other questions open.") == (task.skipped > 0)
        mixed += list(params.order) != sorted(params.order)
    assert (mixed > len(SEEDS) / 2) == (level == "hard")


def test_radio_survey_questions_can_be_told_apart() -> None:
    for questions in SURVEYS.values():
        assert len({question for question, _ in questions}) == len(questions) == 12
        assert all(3 <= len(set(options)) <= 5 for _, options in questions)


def test_radio_survey_mistakes() -> None:
    task, rng = RadioSurvey(), np.random.default_rng(0)
    taken = {
        mistake: {task.misread(SURVEY, mistake, rng).answers for _ in range(40)}
        for mistake in task.mistakes
    }
    assert taken == {
        "forgot": {(-1, -1, 0), (2, -1, -1)},
        "mirrored": {(0, -1, 0), (2, -1, 1)},
        "neighbour": {(1, -1, 0), (2, -1, 1)},
    }


def test_radio_survey_blind_rate() -> None:
    assert RadioSurvey().blind_rate(SURVEY) == pytest.approx(1 / 6)
    params = dataclasses.replace(SURVEY, answers=(2, 1, 0), order=(0, 1, 2))
    assert RadioSurvey().blind_rate(params) == pytest.approx(1 / 18)


def test_radio_survey_compact_pages_have_room_for_six_rows() -> None:
    for given in ({"questions": 6}, {"questions": 3, "pages": 3, "layout": "column"}):
        assert RadioSurvey(compact=True, **given).draw(0)
    for given in ({"questions": 7}, {"layout": "column"}):
        with pytest.raises(UserError, match="room for 6 rows, not 8: make fewer questions"):
            RadioSurvey(compact=True, **given)
