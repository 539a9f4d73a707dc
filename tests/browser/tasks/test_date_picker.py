"""DatePicker's logic."""

from __future__ import annotations

import calendar
import dataclasses
import re
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, levels, verdicts

from ui_gym.browser.content.days import months_between, months_on, next_month
from ui_gym.browser.languages import language_of
from ui_gym.browser.tasks.date_picker import DatePicker, DatePickerParams
from ui_gym.errors import UserError

VISIT = DatePickerParams(
    scene="dentist", today="2026-03-02", first="2026-03-10", nights=0, ends=0, writing=0, booked=(),
    monday=True, months=1, outside=False, jump=False, left=True, place=0, theme=0, phrasing=0,
)  # fmt: skip
STAY = dataclasses.replace(VISIT, scene="hotel", nights=4)


def confirmed(*days: str) -> Any:
    return ("confirm", {"days": list(days)})


test_date_picker_scores = verdicts(
    DatePicker(),
    VISIT,
    {
        "right": (confirmed("2026-03-10"), 1.0, True),
        "day after": (confirmed("2026-03-11"), 0.0, True),
        "day and month swapped": (confirmed("2026-10-03"), 0.0, True),
        "a stay": (confirmed("2026-03-10", "2026-03-14"), 0.0, True),
        "too late": (confirmed("2026-03-11"), confirmed("2026-03-10"), 0.0, True),
        "empty": (("confirm", {}), 0.0, True),
    },
)

test_date_picker_scores_stays = verdicts(
    DatePicker(),
    STAY,
    {
        "right": (confirmed("2026-03-10", "2026-03-14"), 1.0, True),
        "short": (confirmed("2026-03-10", "2026-03-13"), 0.5, True),
        "early": (confirmed("2026-03-09", "2026-03-14"), 0.5, True),
        "turned": (confirmed("2026-03-14", "2026-03-10"), 0.0, True),
        "half": (confirmed("2026-03-10"), 0.0, True),
    },
)


def read(text: str) -> date:
    """The day that the goal means by `text`, found by another way than the task's."""
    found = re.fullmatch(r"the (\w+) (\w+) of (\w+) (\d+)", text)
    assert found
    place, weekday, month, year = found.groups()
    number = list(calendar.month_name).index(month)
    days = [
        week[list(calendar.day_name).index(weekday)]
        for week in calendar.monthcalendar(int(year), number)
    ]
    days = [day for day in days if day]
    index = ["first", "second", "third", "fourth"].index(place) if place != "last" else -1
    return date(int(year), number, days[index])


@levels(DatePicker, "medium", "hard")
def test_date_picker_goals_name_the_day_by_its_weekday(task: Any) -> None:
    for params in draws(task):
        (named,) = re.findall(r"the \w+ \w+day of \w+ \d{4}", task.goal(params))
        assert read(named) == date.fromisoformat(params.first)


def test_date_picker_goals_name_the_date() -> None:
    task = DatePicker(level="easy")
    for params, goal in goals(task):
        day = date.fromisoformat(params.first)
        assert f"{day.day} {day:%B} {day.year}" in goal or f"{day:%B} {day.day}, {day.year}" in goal


def test_date_picker_goals_name_the_end_of_a_stay() -> None:
    task, ends = DatePicker(level="hard"), set()
    for params in draws(task):
        goal, last = task.goal(params), date.fromisoformat(params.last)
        ends.add(params.ends)
        if params.ends == 0:
            assert f"{last.day} {last:%B}" in goal or f"{last:%B} {last.day}" in goal
        elif params.ends == 1:
            assert " nights from the " in goal
        else:
            assert params.nights < 7, "the weekday would be an earlier one"
            assert f"until the {last:%A} right after it" in goal
    assert ends == {0, 1, 2}


@levels(DatePicker)
def test_date_picker_days_can_be_chosen(task: Any) -> None:
    for params in draws(task):
        assert params.first > params.today
        assert months_between(params.today, params.first) <= task.reach + 1
        days = [date.fromisoformat(params.first) + timedelta(i) for i in range(params.nights + 1)]
        assert not {day.isoformat() for day in days} & set(params.booked)
        assert not {"first", "nights", "phrasing"} & set(task.page_params(params))


def test_date_picker_arithmetic() -> None:
    on_weekday = language_of("en", ()).on_weekday
    assert on_weekday(date(2026, 3, 10)) == "the second Tuesday of March 2026"
    assert on_weekday(date(2026, 3, 31)) == "the last Tuesday of March 2026"
    assert months_on("2026-11", 3) == "2027-02"
    assert months_between("2026-11", "2027-02-14") == 3
    assert next_month(date(2026, 1, 31)) == date(2026, 2, 28)
    assert next_month(date(2026, 12, 5)) == date(2027, 1, 5)


def test_date_picker_mistakes() -> None:
    task, rng = DatePicker(), np.random.default_rng(0)
    assert task.misread(VISIT, "month", rng).first == "2026-04-10"
    rows = {task.misread(VISIT, "week", rng).first for _ in range(20)}
    assert rows == {"2026-03-03", "2026-03-17"}
    assert {task.misread(VISIT, "column", rng).first for _ in range(20)} == {
        "2026-03-09", "2026-03-11"
    }  # fmt: skip
    assert {task.misread(STAY, "column", rng).nights for _ in range(20)} == {3, 5}
    soon = dataclasses.replace(VISIT, first="2026-03-03")
    assert {task.misread(soon, "column", rng).first for _ in range(20)} == {"2026-03-04"}


@pytest.mark.parametrize("ask", ["date", "stay"])
def test_date_picker_compact_goals_name_the_days_of_one_year(ask: Any) -> None:
    for params, goal in goals(DatePicker(compact=True, ask=ask)):
        days = [date.fromisoformat(day) for day in params.days]
        assert re.findall(r"\d+ \w{3}", goal) == [f"{day.day} {day:%b}" for day in days]
        assert months_between(params.today, params.last) < 12, "the page shows no years"


def test_date_picker_compact_page_has_no_weekdays_and_few_months() -> None:
    with pytest.raises(UserError, match="ask is 'date' or 'stay'"):
        DatePicker(compact=True, level="medium")
    with pytest.raises(UserError, match="0 to 5, not 6"):
        DatePicker(compact=True, reach=6)
