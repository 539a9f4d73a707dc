"""Autocomplete's logic, and its page's keyboard."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, judge

from ui_gym.browser.content.directories import KINDS, directory
from ui_gym.browser.tasks.autocomplete import Autocomplete, AutocompleteParams
from ui_gym.contract.action import Click, Press, Type, Wait
from ui_gym.errors import UserError

FORM = AutocompleteParams(
    kind="companies", labels=("Customer", "Supplier"),
    entries=(("Oakley Foods", "Ghent"), ("Oakley Foods", "Lund"), ("Oakley Timber", "York"),
             ("Quinlan & Sons", "Oslo")),
    asked=(1, 3), turned=False, theme=0, phrasing=0,
)  # fmt: skip


def go_on(*values: int) -> Any:
    return ("continue", {"values": list(values)})


@pytest.mark.parametrize(
    ("events", "score", "done"),
    [
        ([], 0.0, False),
        ([go_on(1, 3)], 1.0, True),
        ([go_on(0, 3)], 0.5, True),
        ([go_on(3, 1)], 0.0, True),
        ([go_on(1)], 0.5, True),
        ([go_on()], 0.0, True),
        ([go_on(1, 3, 3)], 0.99, True),
        ([("refused", {"values": [1, None]})], 0.0, False),
        ([("refused", {"values": [None, None]}), go_on(1, 3)], 1.0, True),
        ([go_on(0, 3), go_on(1, 3)], 0.5, True),
        ([("continue", {})], 0.0, True),
    ],
    ids=["none", "right", "namesake", "swapped", "one", "nothing", "more", "refused", "again",
         "first counts", "empty"],
)  # fmt: skip
def test_autocomplete_scores(events: Any, score: float, done: bool) -> None:
    verdict = judge(Autocomplete(), FORM, *events)
    assert (verdict.score, verdict.done) == (score, done)


@pytest.mark.parametrize("level", Autocomplete.levels)
def test_autocomplete_goals_name_the_whole_entries(level: Any) -> None:
    task = Autocomplete(level=level)
    for seed in SEEDS:
        params = task.draw(seed)
        assert len(set(params.entries)) == task.stems * task.alike
        assert len(set(params.asked)) == len(params.labels) == task.fields
        goal = task.goal(params)
        named = ["{} ({})".format(*params.entries[i]) for i in params.asked]
        assert [goal.count(one) for one in named] == [1] * task.fields
        assert [goal.index(one) for one in named] == sorted(goal.index(one) for one in named)


@pytest.mark.parametrize("kind", KINDS)
def test_directories_hold_alike_entries(kind: Any) -> None:
    for seed in range(20):
        entries = directory(kind, 6, 7, 3, np.random.default_rng(seed))
        assert entries == tuple(sorted(set(entries)))
        titles = [title for title, _ in entries]
        assert sorted(titles.count(title) for title in set(titles)) == [1] * 6 + [3] * 12


def test_autocomplete_mistakes() -> None:
    task, rng = Autocomplete(), np.random.default_rng(0)
    one = dataclasses.replace(FORM, labels=("Customer",), asked=(1,))
    assert task.misread(one, "lookalike", rng).asked == (0,)
    assert task.misread(one, "first", rng).asked == (0,)
    assert {task.misread(FORM, "first", rng).asked for _ in range(20)} == {(0, 3), (1, 3)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fields": 4}, "fields must be 1 to 3, not 4"),
        ({"stems": 2}, "stems must be 3 to 24, not 2"),
        ({"alike": 13}, "alike must be 1 to 12, not 13"),
        ({"alike": 2, "namesakes": 3}, "namesakes must be 1 to 2, not 3"),
        ({"alike": 12, "namesakes": 1}, "namesakes must be 2 to 4, not 1"),
        ({"delay": -1}, "delay must be 0 to 2000, not -1"),
    ],
)
def test_autocomplete_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Autocomplete(**arguments)


def test_autocomplete_picks_by_keyboard_only_from_what_has_come(make_device: Any) -> None:
    task = Autocomplete(fields=1, delay=400)
    device = make_device(task.viewport)
    params = dataclasses.replace(FORM, labels=("Customer",), asked=(1,))
    task.setup(device, params)
    device.perform(Click(*device.center("#field-0")))
    device.perform(Type("oak foo"))
    device.perform(Press("down"))
    device.perform(Press("enter"))
    assert device.state()["picked"] == [None]
    for action in (Wait(1.0), Press("down"), Press("down"), Press("enter")):
        device.perform(action)
    state = device.state()
    assert (state["picked"], state["open"]) == (["Oakley Foods, Lund"], None)
    device.perform(Type("x"))
    assert device.state()["picked"] == [None]
    device.perform(Click(*device.center("#continue")))
    assert task.judge(device, params, ()).notes == "something is missing"
