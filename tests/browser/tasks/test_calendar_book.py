"""CalendarBook's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, verdicts

from ui_gym.browser.content.weeks import FROM, TO, Busy
from ui_gym.browser.family import COMPACT_SIZE
from ui_gym.browser.tasks.calendar_book import (
    LENGTH_NAMES,
    CalendarBook,
    CalendarBookParams,
    clashes,
    right_slots,
)
from ui_gym.contract.action import Drag
from ui_gym.errors import UserError

MONDAY, TUESDAY = "2026-01-19", "2026-01-20"
ASKED = CalendarBookParams(
    me="Mia Berg", people=("Ann Oak",),
    events=(Busy(0, TUESDAY, 600, 60, "Demo"), Busy(1, TUESDAY, 690, 30, "Busy"),
            Busy(0, MONDAY, 480, 600, "Travel")),
    opens="2026-01-12", week=MONDAY, title="Roadmap", minutes=60, days=(0, 1), after=540,
    before=840, order="any", slot=(1, 720), by_form=False, side="left", brand=0, theme=0,
    phrasing=0,
)  # fmt: skip
"""On Tuesday from 9 to 10 and from 12 to 14 o'clock both are free."""


def save(**said: Any) -> Any:
    asked = {
        "title": "Roadmap", "day": TUESDAY, "start": 720, "minutes": 60, "guests": ["Ann Oak"],
    }  # fmt: skip
    return ("save", asked | said)


test_scores = verdicts(
    CalendarBook(),
    ASKED,
    {
        "right": (save(), 1.0, True),
        "early": (save(title=" Roadmap ", start=540), 1.0, True),
        "late": (save(start=780), 1.0, True),
        "title": (save(title="Roadmaps"), 0.75, True),
        "length": (save(minutes=30), 0.75, True),
        "guests": (save(guests=[]), 0.75, True),
        "all wrong": (save(guests=[], minutes=90, title=""), 0.25, True),
        "Ann is busy": (save(start=690), 0.0, True),
        "half an hour": (save(start=570), 0.0, True),
        "too late": (save(start=840), 0.0, True),
        "too early": (save(start=480), 0.0, True),
        "full day": (save(day=MONDAY), 0.0, True),
        "last week": (save(day="2026-01-13"), 0.0, True),
        "next week": (save(day="2026-01-27"), 0.0, True),
        "first counts": (save(start=690), save(), 0.0, True),
        "deleted": (("delete", {"id": 1}), save(), 0.0, True),
        "empty": (("save", {}), 0.0, True),
    },
)


def test_the_first_or_last_time_may_be_asked_for() -> None:
    for order, start in (("first", 540), ("last", 780)):
        asked = dataclasses.replace(ASKED, order=order)
        assert right_slots(asked) == [(1, start)]
        assert judge(CalendarBook(), asked, save(start=start)).success
        assert judge(CalendarBook(), asked, save(start=720)).score == 0
        assert f"take the {order} of the week." in CalendarBook().goal(asked)


def test_slots() -> None:
    assert right_slots(ASKED) == [(1, 540), (1, 720), (1, 750), (1, 780)]
    assert {(0, 540), (1, 570), (1, 690)} <= set(clashes(ASKED))
    assert not set(clashes(ASKED)) & set(right_slots(ASKED))


@levels(CalendarBook)
def test_goals_name_all_conditions_and_can_be_met(task: Any) -> None:
    orders = set()
    for params, goal in goals(task):
        assert params.slot in right_slots(params)
        assert clashes(params)
        assert f'"{params.title}"' in goal
        assert LENGTH_NAMES[params.minutes] in goal
        assert params.title not in {event.title for event in params.events}
        assert "2026" in goal
        assert (f"{params.after // 60:02}:00" in goal) == (params.after != FROM)
        assert (f"{params.before // 60:02}:00" in goal) == (params.before != TO)
        for name in params.people:
            assert goal.count(name) == 2
        assert task.blind_rate(params) <= 0.2
        orders.add(params.order)
        own = [e for e in params.events if e.person == 0]
        for one in own:
            rest = [e for e in own if e is not one and e.day == one.day]
            assert all(
                e.start + e.minutes <= one.start or one.start + one.minutes <= e.start for e in rest
            )
    assert orders == ({"any", "first", "last"} if task.strict else {"any"})


def test_mistakes() -> None:
    task, rng = CalendarBook(), np.random.default_rng(0)
    for _ in range(20):
        assert task.misread(ASKED, "clash", rng).slot in clashes(ASKED)
        assert task.misread(ASKED, "day", rng).slot in [(day, 720) for day in (0, 2, 3, 4)]
        assert task.misread(ASKED, "length", rng).minutes != 60
    end = dataclasses.replace(ASKED, minutes=30, slot=(1, 1050))
    assert task.misread(end, "length", rng).slot in clashes(end)


def test_compact_calendars_have_whole_hours_and_one_hour_that_is_not_right() -> None:
    task = CalendarBook(compact=True, weeks=3)
    for params, goal in goals(task):
        starts = {start for _, start in right_slots(params)}
        assert starts <= {60 * hour for hour in range(9, 15)}
        assert clashes(params)
        assert goal.count(f"after {params.after // 60}.") == (params.after > 540)
        assert goal.count(f"before {params.before // 60}.") == (params.before < 900)
        assert params.title not in {event.title for event in params.events}
        days = {event.day for event in params.events}
        assert len({day[8:] for day in days}) == len(days), "the page shows no months"


def test_compact_events_of_two_hours_are_drawn(make_device: Any) -> None:
    device, task = make_device(COMPACT_SIZE), CalendarBook(compact=True)
    params = next(params for params in draws(task) if params.minutes == 120)
    task.setup(device, params)
    played = []
    for demo in task.demonstrate(device, params):
        played.append(demo.action)
        device.perform(played[-1])
    assert sum(isinstance(action, Drag) for action in played) == 1
    assert task.judge(device, params, ()).success


def test_the_compact_page_has_one_calendar() -> None:
    with pytest.raises(UserError, match="people is 0 and strict False"):
        CalendarBook(compact=True, level="hard")
