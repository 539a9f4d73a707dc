"""RadioSurvey's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, judge

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


@pytest.mark.parametrize(
    ("events", "score", "done"),
    [
        ([], 0.0, False),
        ([submit(Clean="Poor", Again="Yes")], 1.0, True),
        ([submit(Again="Yes", Clean="Poor")], 1.0, True),
        ([submit(Clean="Poor")], 0.5, True),
        ([submit(Clean="Good", Again="Yes")], 0.5, True),
        ([submit(Clean="Poor", Again="Yes", Quiet="Fair")], 0.5, True),
        ([submit(Clean="Good", Again="No")], 0.0, True),
        ([submit()], 0.0, True),
        ([submit(Clean="Poor"), submit(Clean="Poor", Again="Yes")], 0.5, True),
        ([("submit", {})], 0.0, True),
        ([("answer", {"question": "Clean?"})], 0.0, False),
    ],
    ids=["none", "right", "any order", "one", "one wrong", "one more", "all wrong", "nothing",
         "first counts", "empty", "other event"],
)  # fmt: skip
def test_radio_survey_scores(events: Any, score: float, done: bool) -> None:
    verdict = judge(RadioSurvey(), SURVEY, *events)
    assert (verdict.score, verdict.done) == (score, done)


@pytest.mark.parametrize("level", RadioSurvey.levels)
def test_radio_survey_goals_tell_every_answer_once(level: Any) -> None:
    task = RadioSurvey(level=level)
    mixed = 0
    for seed in SEEDS:
        params = task.draw(seed)
        goal = task.goal(params)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"questions": 0}, "questions must be 1 to 12, not 0"),
        ({"questions": 13}, "questions must be 1 to 12, not 13"),
        ({"questions": 2, "pages": 3}, "pages must be 1 to 2, not 3"),
        ({"skipped": 6}, "skipped must be 0 to 5, not 6"),
        ({"layout": "grid"}, "there is no layout 'grid'"),
        ({"order": "none"}, "there is no order 'none'"),
    ],
)
def test_radio_survey_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        RadioSurvey(**arguments)
