"""Autocomplete's logic, and its page's keyboard."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, levels, perform, verdicts

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


test_autocomplete_scores = verdicts(
    Autocomplete(),
    FORM,
    {
        "right": (go_on(1, 3), 1.0, True),
        "namesake": (go_on(0, 3), 0.5, True),
        "swapped": (go_on(3, 1), 0.0, True),
        "one": (go_on(1), 0.5, True),
        "nothing": (go_on(), 0.0, True),
        "more": (go_on(1, 3, 3), 0.99, True),
        "refused": (("refused", {"values": [1, None]}), 0.0, False),
        "again": (("refused", {"values": [None, None]}), go_on(1, 3), 1.0, True),
        "first counts": (go_on(0, 3), go_on(1, 3), 0.5, True),
        "empty": (("continue", {}), 0.0, True),
    },
)


@levels(Autocomplete)
def test_autocomplete_goals_name_the_whole_entries(task: Any) -> None:
    for params, goal in goals(task):
        assert len(set(params.entries)) == task.stems * task.alike
        assert len(set(params.asked)) == len(params.labels) == task.fields
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


def test_autocomplete_picks_by_keyboard_only_from_what_has_come(show: Any) -> None:
    task = Autocomplete(fields=1, delay=400)
    params = dataclasses.replace(FORM, labels=("Customer",), asked=(1,))
    device = show(task, params)
    device.perform(Click(*device.center("#field-0")))
    perform(device, Type("oak foo"), Press("down"), Press("enter"))
    assert device.state()["picked"] == [None]
    perform(device, Wait(1.0), Press("down"), Press("down"), Press("enter"))
    state = device.state()
    assert (state["picked"], state["open"]) == (["Oakley Foods, Lund"], None)
    device.perform(Type("x"))
    assert device.state()["picked"] == [None]
    device.perform(Click(*device.center("#continue")))
    assert task.judge(device, params, ()).notes == "something is missing"


def test_autocomplete_compact_goals_name_people_by_numbers_that_nobody_else_has() -> None:
    task = Autocomplete(compact=True, fields=2)
    for params, goal in goals(task):
        assert len({number for _, number in params.entries}) == task.stems * task.alike
        names = [name for name, _ in params.entries]
        assert {names.count(name) for name in names} == {task.namesakes}
        for label, index in zip(("Name", "Guest"), params.asked, strict=True):
            one = " ".join(params.entries[index])
            assert f"{label}: {one}" in goal or f"{one} as {label}" in goal


@pytest.mark.parametrize("given", [{"alike": 3}, {"stems": 8}])
def test_autocomplete_compact_pages_have_few_entries(given: Any) -> None:
    with pytest.raises(UserError, match="at most 30 entries in groups of namesakes"):
        Autocomplete(compact=True, **given)


@pytest.mark.parametrize("compact", [False, True])
def test_autocomplete_refuses_groups_of_no_namesakes(compact: bool) -> None:
    with pytest.raises(UserError, match="namesakes must be 1 to 4, not 0"):
        Autocomplete(compact=compact, alike=4, namesakes=0)
