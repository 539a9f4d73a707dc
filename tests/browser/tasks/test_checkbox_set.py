"""CheckboxSet's logic."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, draws, levels, verdicts

from ui_gym.browser.content.lists import THINGS
from ui_gym.browser.content.words import FIRST_SHORT
from ui_gym.browser.tasks.checkbox_set import CheckboxSet, CheckboxSetParams

BOXES = CheckboxSetParams(
    topic="zones", labels=("Hall", "Gate", "Roof", "Lift", "Ramp"), asked=(3, 0), ticked=(1,),
    columns=1, width=460, side=False, theme=0, phrasing=0,
)  # fmt: skip


def save(*labels: str) -> Any:
    return ("save", {"ticked": labels})


test_checkbox_set_scores = verdicts(
    CheckboxSet(),
    BOXES,
    {
        "right": (save("Hall", "Lift"), 1.0, True),
        "any order": (save("Lift", "Hall"), 1.0, True),
        "as it was": (save("Gate"), 0.0, True),
        "not unticked": (save("Gate", "Hall", "Lift"), 2 / 3, True),
        "one": (save("Hall"), 2 / 3, True),
        "one and another": (save("Hall", "Ramp"), 1 / 3, True),
        "all unticked": (save(), 1 / 3, True),
        "extra": (save("Hall", "Lift", "Roof", "Ramp"), 1 / 3, True),
        "worse": (save("Gate", "Roof", "Ramp"), 0.0, True),
        "first save": (save("Hall"), save("Hall", "Lift"), 2 / 3, True),
        "empty": (("save", {}), 1 / 3, True),
        "other event": (("tick", {"label": "Hall"}), 0.0, False),
    },
)


@levels(CheckboxSet)
def test_checkbox_set_goals_name_the_boxes_and_no_others(task: Any) -> None:
    for params in draws(task):
        assert len(set(params.labels)) == task.count
        assert len(set(params.asked)) == task.asked
        assert len(set(params.ticked)) == task.ticked
        assert set(params.ticked) != set(params.asked)
        named = [one for one in re.findall(r'"([^"]+)"', task.goal(params)) if one != "Save"]
        assert named == [params.labels[i] for i in params.asked]


def test_checkbox_set_likeness() -> None:
    low, high = CheckboxSet(level="easy"), CheckboxSet(level="medium")
    for seed in SEEDS:
        params = low.draw(seed)
        things, ways = THINGS[params.topic]
        assert {label.lower() for label in params.labels} <= {thing.lower() for thing in things}
        params = high.draw(seed)
        things, ways = THINGS[params.topic]
        about = [thing for thing in things for way in ways if _is(params, way, thing)]
        assert len(about) == len(params.labels)
        assert len(set(about)) == 4


def _is(params: CheckboxSetParams, way: str, thing: str) -> bool:
    return way.format(thing).lower() in {label.lower() for label in params.labels}


def test_checkbox_set_mistakes() -> None:
    task, rng = CheckboxSet(), np.random.default_rng(0)
    forgot = {task.misread(BOXES, "forgot", rng).asked for _ in range(20)}
    assert forgot == {(3,), (0,)}
    beside = {task.misread(BOXES, "neighbour", rng).asked for _ in range(40)}
    assert beside == {(2, 0), (4, 0), (3, 1)}
    params = CheckboxSetParams(**{
        **vars(BOXES), "labels": ("Edit orders", "Edit prices", "Edit offers", "View", "Add"),
        "asked": (0,),
    })  # fmt: skip
    assert task.misread(params, "lookalike", rng).asked == (2,)


@pytest.mark.parametrize("count", [2, 4, 6])
def test_checkbox_set_the_compact_page_fits_its_grid(count: int) -> None:
    task = CheckboxSet(compact=True, count=count, asked=1)
    above = {params.width for params in draws(task)}
    # Below the title's row there are seven: of what is free, the boxes, and the button.
    assert above == {32 * rows for rows in range(7 - count)}


def test_checkbox_set_compact_goals_name_the_boxes_and_the_button() -> None:
    task = CheckboxSet(compact=True, asked=3)
    for params in draws(task):
        assert set(params.labels) <= set(FIRST_SHORT)
        goal = task.goal(params)
        named = re.findall(r"[A-Z][a-z]+", goal)
        assert named[1:] == [*(params.labels[i] for i in params.asked), "Press", "Save"]


def test_checkbox_set_compact_arguments() -> None:
    task = CheckboxSet(compact=True)
    assert (task.count, task.asked, task.ticked, task.max_steps) == (4, 2, 0, 6)
    assert task.viewport == (320, 256)
    assert CheckboxSet(compact=True, asked=3).count == 4
    assert CheckboxSet(level="easy").viewport == (1280, 800)
