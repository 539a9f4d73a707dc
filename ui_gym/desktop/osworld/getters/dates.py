"""Dates by name ("next Monday", "5th next month"), and how task files write them."""

from __future__ import annotations

import re
from calendar import MONDAY
from collections.abc import Callable
from datetime import date, timedelta

from ui_gym.errors import UserError, nearest

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
FIELD = re.compile(r"\{(DoW|Month|DayD|Year|Month0D|month|MonthFull|Day0D|MonthD)\}")
_OF_NEXT_MONTH = re.compile(r"(\d+)(?:st|nd|rd|th) next month")
_WEEKDAY = re.compile(rf"(this|next|next week) ({'|'.join(DAYS)})")
_FIRST_MONDAY = re.compile(r"first monday (\w+) months? later")
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
EXAMPLES = (
    *("today", "tomorrow", "this month", "this Sunday", "next Monday", "next week Friday"),
    *("5th next month", "first monday four months later"),
)


def named_day(name: str, today: date, start: date | None = None) -> date:
    """The day of that name, seen from `today`.

    "this Friday" lies in the week of today (Monday to Sunday), maybe before it; "next Friday" is
    the first Friday after today; "next week Friday" lies in the week after. For the end of a span
    that begins at `start`, a "next" day is the first from `start` on. `UserError` for another name.
    """
    name = name.removesuffix(" split")
    if name in {"today", "this month"}:
        return today
    if name == "tomorrow":
        return today + timedelta(days=1)
    if found := _OF_NEXT_MONTH.fullmatch(name):
        return _months_later(today, 1).replace(day=int(found[1]))
    if found := _FIRST_MONDAY.fullmatch(name):
        if found[1] in _COUNTS:
            return _on_or_after(_months_later(today, 1 + _COUNTS.index(found[1])), MONDAY)
    elif found := _WEEKDAY.fullmatch(name):
        which, weekday = found[1], DAYS.index(found[2])
        monday = today - timedelta(days=today.weekday())
        if which == "this":
            return monday + timedelta(days=weekday)
        if which == "next week":
            return monday + timedelta(days=7 + weekday)
        return _on_or_after(start or today + timedelta(days=1), weekday)
    raise UserError(f"no day is called {name!r}. {nearest(name, EXAMPLES)}")


def written(pattern: str, day: date) -> str:
    """A date in the way of `pattern`: each kind of field in it once.

    ``{DoW}`` Mon, ``{Month}`` Jan, ``{month}`` january, ``{MonthFull}`` January, ``{MonthD}`` 1,
    ``{Month0D}`` 01, ``{DayD}`` 5, ``{Day0D}`` 05, ``{Year}`` 2025.
    """
    month = MONTHS[day.month - 1]
    fields: dict[str, Callable[[], str]] = {
        "DoW": lambda: DAYS[day.weekday()][:3],
        "Month": lambda: month[:3],
        "month": month.lower,
        "MonthFull": lambda: month,
        "MonthD": lambda: str(day.month),
        "Month0D": lambda: f"{day.month:02}",
        "DayD": lambda: str(day.day),
        "Day0D": lambda: f"{day.day:02}",
        "Year": lambda: str(day.year),
    }
    return FIELD.sub(lambda found: fields[found[1]](), pattern)


def _months_later(day: date, count: int) -> date:
    """The first of the month that lies `count` months later."""
    years, month = divmod(day.month - 1 + count, 12)
    return date(day.year + years, month + 1, 1)


def _on_or_after(day: date, weekday: int) -> date:
    return day + timedelta(days=(weekday - day.weekday()) % 7)
