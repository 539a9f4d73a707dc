"""WizardMultiStep's logic."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, levels, perform, verdicts

from ui_gym.browser.content.flows import FLOWS, TEXTS, complete
from ui_gym.browser.tasks.wizard_multi_step import WizardMultiStep, WizardMultiStepParams
from ui_gym.contract.action import Click
from ui_gym.errors import UserError

ANSWERS = {"vehicle": "Car", "fuel": "Diesel", "cover": "Full", "pay": "Yearly", "name": "Ann Lee"}
QUOTE = WizardMultiStepParams(
    flow="insurance", detail=1, answers=tuple(ANSWERS.items()), left=True, theme=0, phrasing=0
)


def submit(*left_out: str, **changes: str) -> Any:
    answers = {key: text for key, text in {**ANSWERS, **changes}.items() if key not in left_out}
    return ("submit", {"answers": answers})


test_wizard_scores = verdicts(
    WizardMultiStep(level="easy"),
    QUOTE,
    {
        "right": (submit(), 1.0, True),
        "blanks": (submit(name=" Ann Lee "), 1.0, True),
        "typo": (submit(name="Ann Le"), 0.8, True),
        "case": (submit(name="ann lee"), 0.8, True),
        "one wrong": (
            submit(pay="Monthly"),
            0.8,
            True,
            "submitted, but pay is 'Monthly', not 'Yearly'",
        ),
        "two wrong": (submit(pay="Monthly", cover="Partial"), 0.6, True),
        "one too many": (submit(help="yes"), 1 - 1 / 6, True),
        "one missing": (submit("pay"), 0.8, True),
        "other branch": (submit("fuel", vehicle="Motorbike", engine="Over 500 cc"), 0.0, True),
        "too late": (submit(name="Ann Le"), submit(), 0.8, True),
        "empty": (("submit", {"answers": {}}), 0.0, True),
    },
)


def test_wizard_goal_tells_the_facts() -> None:
    assert WizardMultiStep(level="easy").goal(QUOTE) == (
        "Fill in the request for an insurance quote and submit it. I want to insure my car. "
        "It runs on diesel. I need full cover. I will pay once a year. My name is Ann Lee."
    )


@levels(WizardMultiStep)
def test_wizard_goals_leave_one_way_to_answer(task: Any) -> None:
    flows = set()
    for params in draws(task):
        flows.add(params.flow)
        goal, answers = task.goal(params), dict(params.answers)
        assert [q.key for q in params.questions] == list(answers)
        for question in params.questions:
            answer = answers[question.key]
            if question.options:
                said = {question.say.format(text): o for o, text in question.options.items()}
                assert [option for text, option in said.items() if text in goal] == [answer]
            elif question.kind == "tick" and question.say:
                assert (question.say in goal) == (answer == "yes")
            elif question.say:
                assert question.say.format(answer) in goal
            else:
                assert answer in ("no", "")
    assert flows == set(FLOWS)


def test_more_detail_asks_more() -> None:
    for flow in FLOWS.values():
        asked = []
        for detail in (1, 2, 3):
            rng = np.random.default_rng(0)
            counts = [len(complete(flow, detail, {}, rng)) for _ in range(50)]
            asked.append(sum(counts) / len(counts))
        assert asked[0] + 1 < asked[1]
        assert asked[1] + 1 < asked[2]


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
def test_flows_are_sound(flow: Any) -> None:
    questions = [question for page in flow.pages for question in page.questions]
    assert max(Counter(q.key for q in questions).values()) == 1
    before: dict[str, Any] = {}
    for question in questions:
        for key, values in question.when.items():
            parent = before[key]
            assert parent.detail <= question.detail
            assert set(values) <= set(parent.options or ("yes", "no"))
        assert bool(question.options) == (question.kind in ("cards", "list"))
        assert (question.draw in TEXTS) == (question.kind == "text" and bool(question.say))
        assert len(set(question.options.values())) == len(question.options)
        before[question.key] = question


def test_answers_that_still_fit_are_kept() -> None:
    given = {**ANSWERS, "vehicle": "Motorbike"}
    answers = complete(FLOWS["insurance"], 1, given, np.random.default_rng(0))
    assert answers.pop("engine") in {"Up to 125 cc", "126 to 500 cc", "Over 500 cc"}
    assert answers == {key: text for key, text in given.items() if key != "fuel"}


def test_wizard_mistakes() -> None:
    task, rng = WizardMultiStep(level="easy"), np.random.default_rng(0)
    for _ in range(20):
        other = dict(task.misread(QUOTE, "branch", rng).answers)
        assert (other["vehicle"] != "Car") + (other["cover"] != "Full") == 1
        option = dict(task.misread(QUOTE, "option", rng).answers)
        changed = {key for key in ANSWERS if option[key] != ANSWERS[key]}
        assert changed in ({"fuel"}, {"pay"})
    typo = task.misread(QUOTE, "typo", rng)
    assert typo == dataclasses.replace(QUOTE, answers=(*QUOTE.answers[:-1], ("name", "Ann Le")))


def test_wizard_compact_says_what_is_missing(make_device: Any) -> None:
    task = WizardMultiStep(compact=True, detail=2)
    device = make_device(task.viewport)
    params = task.draw(0)
    task.setup(device, params)
    assert perform(device, Click(*device.center("#next")))["page"] == "Way"
    assert "Check Way" in [element.name for element in device.capture(elements=True).elements]
    branches = set()
    for seed in range(8):
        params = task.draw(seed)
        answers = dict(params.answers)
        branches.add((answers["way"], *(key for key in ("size", "day") if key in answers)))
        assert f"Way {answers['way']}, " in task.goal(params)
        assert f"Name {answers['name']}" in task.goal(params)
    assert branches == {("Post", "size"), ("Shop", "day")}
    with pytest.raises(UserError, match="detail of the compact page is 1 or 2, not 3"):
        WizardMultiStep(compact=True, detail=3)
