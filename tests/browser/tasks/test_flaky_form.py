"""FlakyForm's logic, and how its page fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from task_helpers import draws, judge, levels, perform, verdicts

from ui_gym.browser.moves import click
from ui_gym.browser.tasks.flaky_form import ENDS, FAILURES, FlakyForm, FlakyFormParams
from ui_gym.contract.action import Type, Wait
from ui_gym.errors import UserError

PARAMS = FlakyFormParams(
    form="expense", values=("Lamp", "40"), old=(("Pen", "12"),), outcomes=("error", "gone", "lost"),
    code="8540", place=0, theme=0, phrasing=0,
)  # fmt: skip

FAILED: Any = ("failed", {"kind": "error"})
DONE: Any = ("done", {})


def saved(*values: str) -> Any:
    return ("saved", {"values": list(values)})


test_flaky_form_scores = verdicts(
    FlakyForm(),
    PARAMS,
    {
        "failed": (FAILED, 0.0, False),
        "saved only": (FAILED, saved("Lamp", "40"), 0.0, False),
        "saved": (FAILED, FAILED, saved("Lamp", "40"), DONE, 1.0, True, "saved once"),
        "blanks": (saved(" Lamp", "40 "), DONE, 1.0, True),
        "twice": (saved("Lamp", "40"), saved("Lamp", "40"), 0.0, True, "saved twice"),
        "other value": (saved("Lamp", "41"), 0.0, True),
        "wrong, then right": (saved("Lamp", "41"), saved("Lamp", "40"), DONE, 0.0, True),
        "at once given up": (DONE, 0.0, True),
        "given up": (FAILED, DONE, 0.1, True, "given up: nothing is saved"),
        "given up late": (FAILED, FAILED, DONE, 0.2, True),
        "failed often": (FAILED, FAILED, FAILED, DONE, 0.2, True),
    },
)


@levels(FlakyForm)
def test_pages_fail_in_many_ways_before_they_save(task: Any) -> None:
    ends, failures = set(), set()
    for params in draws(task):
        *failed, end = params.outcomes
        assert len(failed) == len(set(failed)) == task.failures
        assert params.values not in params.old
        goal = task.goal(params)
        assert all(f'"{value}"' in goal for value in params.values)
        assert goal.count(params.code) == 1
        ends.add(end)
        failures |= set(failed)
    assert (ends, failures) == (set(ENDS), set(FAILURES))


def play(device: Any, task: FlakyForm, params: FlakyFormParams, believed: FlakyFormParams) -> Any:
    """What somebody gets who believes other params; with how many actions were needed."""
    task.setup(device, params)
    actions = 0
    for demo in task.demonstrate(device, believed):
        device.perform(demo.action)
        actions += 1
    return task.judge(device, params, ()), actions


@pytest.mark.parametrize("end", ENDS)
def test_all_failures_can_be_met(make_device: Any, end: str) -> None:
    for task in (FlakyForm(level="hard"), FlakyForm(compact=True, failures=5)):
        device = make_device(task.viewport)
        params = replace(task.draw(1), outcomes=(*FAILURES, end))
        verdict, actions = play(device, task, params, params)
        assert verdict.success, verdict.notes
        assert actions <= task.max_steps / 2
        impatient = replace(params, outcomes=(*params.outcomes, "plain"))
        assert play(device, task, params, impatient)[0].notes == "saved twice"
        given_up = replace(params, outcomes=params.outcomes[1:])
        assert play(device, task, params, given_up)[0].score == pytest.approx(0.2)


def test_nothing_is_saved_while_the_page_asks_or_saves(make_device: Any) -> None:
    task = FlakyForm()
    device = make_device(task.viewport)
    task.setup(device, replace(PARAMS, outcomes=("session", "tick", "late")))
    save = click(device, "#save")
    perform(device, save)  # fields are empty
    for i, value in enumerate(PARAMS.values):
        perform(device, click(device, f"#field-{i}"), Type(value))
    state = perform(device, click(device, "#save"), click(device, "#save"))
    assert (state["tries"], state["asks"]) == (1, "code")
    perform(device, click(device, "#code"), Type("1"), click(device, "#sign"))
    assert device.state()["asks"] == "code"
    perform(device, click(device, "#code"), Type("8540", clear=True), click(device, "#sign"))
    state = perform(device, click(device, "#save"), click(device, "#save"))
    assert (state["tries"], state["asks"]) == (2, "tick")
    perform(device, click(device, "#agree"), click(device, "#save"), click(device, "#save"))
    assert device.state()["saving"]
    perform(device, Wait(2.0))
    told = [event.type for event in device.events if event.type in ("failed", "saved")]
    assert told == ["failed", "failed", "saved"]


def test_flaky_form_refuses_what_its_page_cannot_show() -> None:
    with pytest.raises(UserError, match="fields must be 1 to 2, not 3"):
        FlakyForm(compact=True, fields=3)
    with pytest.raises(UserError, match="failures"):
        FlakyForm(failures=0)


def test_a_page_that_reports_nothing_is_not_saved() -> None:
    assert judge(FlakyForm(), PARAMS).notes == "not done yet"
