"""Stepper's logic."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, levels, verdicts

from ui_gym.browser.content import phrases
from ui_gym.browser.content.counters import SCENES, band_of, hints_of
from ui_gym.browser.tasks.stepper import Stepper, StepperParams
from ui_gym.errors import UserError

# Infants, adults, checked bags, bicycles: two more adults, no bicycle.
BOOKING = StepperParams(
    scene="flight", cuts=(2, 12, 16), shown=(0, 3, 5, 6), starts=(1, 1, 2, 1), counts=(1, 3, 2, 0),
    named=(1, 3), ages=(), folded=False, place=0, theme=0, phrasing=0,
)  # fmt: skip


def done(*counts: int) -> Any:
    return ("done", {"counts": list(counts)})


test_stepper_scores = verdicts(
    Stepper(),
    BOOKING,
    {
        "right": (done(1, 3, 2, 0), 1.0, True),
        "one of two": (done(1, 3, 2, 1), 0.5, True),
        "one short": (done(1, 2, 2, 0), 0.5, True, "Adults: 2, not 3"),
        "another changed": (done(0, 3, 2, 0), 0.5, True),
        "unchanged": (done(1, 1, 2, 1), 0.0, True),
        "only another": (done(0, 1, 2, 1), 0.0, True),
        "too late": (done(1, 3, 2, 1), done(1, 3, 2, 0), 0.5, True),
    },
)


def test_stepper_goal_says_the_counts() -> None:
    assert Stepper().goal(BOOKING) == (
        "Change the flight booking to three adults and no bicycles; leave the rest as it is. "
        "Then press Done."
    )


@levels(Stepper, "easy", "medium")
def test_stepper_goals_name_each_change(task: Any) -> None:
    scenes = set()
    for params in draws(task):
        scenes.add(params.scene)
        changed = {i for i, start in enumerate(params.starts) if start != params.counts[i]}
        assert changed == set(params.named)
        for i in changed:
            counter = params.counters[i]
            assert phrases.plural(params.counts[i], counter.one, counter.many) in task.goal(params)
            assert abs(params.counts[i] - params.starts[i]) <= 3
    assert scenes == set(SCENES)


def test_stepper_goals_give_everybodys_age() -> None:
    task = Stepper(level="hard")
    for params, goal in goals(task):
        said = re.search(r"(?:aged |ages )([\d, and]+\d)", goal)
        assert said
        ages = [int(age) for age in re.findall(r"\d+", said[1])]
        bands = SCENES[params.scene].bands
        for i, (band, hint) in enumerate(zip(bands, hints_of(params.cuts), strict=True)):
            shown = params.counters[i]
            assert (shown.label, shown.hint) == (band.label, hint)
            assert params.counts[i] == sum(within(age, hint) for age in ages)
        (extra,) = params.named
        counter = params.counters[extra]
        assert extra >= len(bands)
        said_extra = phrases.plural(params.counts[extra], counter.one, counter.many)
        assert f" with {said_extra}" in goal
        kept = [i for i in range(len(bands), len(params.shown)) if i != extra]
        assert all(params.counts[i] == params.starts[i] for i in kept)


def within(age: int, hint: str) -> bool:
    """Whether the page's hint takes in an age, read as a person would."""
    numbers = [int(number) for number in re.findall(r"\d+", hint)]
    if hint.startswith("Under"):
        return age < numbers[0]
    return numbers[0] <= age <= (numbers[1] if len(numbers) == 2 else 200)


def test_bands_of_ages() -> None:
    assert hints_of((4, 15, 65)) == ["Under 4", "Age 4 to 14", "Age 15 to 64", "Age 65 and over"]
    assert [band_of(age, (4, 15, 65)) for age in (0, 3, 4, 14, 15, 64, 65)] == [0, 0, 1, 1, 2, 2, 3]


@levels(Stepper)
def test_stepper_counts_can_be_reached(task: Any) -> None:
    for params in draws(task):
        for counter, start, count in zip(
            params.counters, params.starts, params.counts, strict=True
        ):
            assert counter.low <= start <= counter.most
            assert counter.low <= count <= counter.most


def test_stepper_mistakes() -> None:
    task, rng = Stepper(), np.random.default_rng(0)
    miscounts = {task.misread(BOOKING, "miscount", rng).counts for _ in range(40)}
    assert miscounts == {(1, 2, 2, 0), (1, 4, 2, 0), (1, 3, 2, 1)}
    beside = {task.misread(BOOKING, "neighbour", rng).counts for _ in range(40)}
    assert beside == {(1, 1, 4, 0), (1, 3, 1, 1)}
    full = dataclasses.replace(BOOKING, counts=(1, 9, 2, 1))
    assert {task.misread(full, "miscount", rng).counts for _ in range(20)} == {(1, 8, 2, 1)}


def test_stepper_compact_counts_are_near_and_may_be_behind_a_button() -> None:
    task = Stepper(compact=True, counters=4, changes=3)
    folded = set()
    for params, goal in goals(task):
        folded.add(params.folded)
        for i in params.named:
            assert f"{params.counters[i].label} to {params.counts[i]}" in goal
            assert 0 < abs(params.counts[i] - params.starts[i]) <= 2
    assert folded == {False, True}
    with pytest.raises(UserError, match="party is 0, not 4"):
        Stepper(compact=True, party=4)
