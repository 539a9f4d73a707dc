"""The picker of a day: a month's page, or buttons that count."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import Any

from ui_gym_phone.apps.dates import (
    FIRST_YEAR,
    LAST_YEAR,
    day_text,
    month_of,
    months_later,
    today,
    weeks,
)
from ui_gym_phone.apps.pickers.common import Mark, remember, small, steps
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import GridLayout, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import Box, Dialog, ScrollView, question
from ui_gym_phone.ui.widgets import Icon, IconButton, Text

YEARS = 12
"""How many years before and after the shown one can be chosen."""


def pick_date(ui: Ui, key: str, day: date) -> None:
    """Set what a date picker begins with."""
    month = day.replace(day=1).isoformat()
    ui.state[key] = {"day": day.isoformat(), "month": month, "years": False}


def picked_date(ui: Ui, key: str) -> date:
    """The day of a date picker."""
    return date.fromisoformat(_date(ui, key)["day"])


def date_picker(ui: Ui, key: str) -> VStack:
    """The body of a dialog that picks a day, on a month's page; where the screen is small, with
    buttons to count up and down."""
    day = picked_date(ui, key)
    if small(ui):
        return _date_steps(ui, key)
    month = date.fromisoformat(_date(ui, key)["month"])
    years = bool(_date(ui, key)["years"])
    head = HStack(Text(day_text(day, day), "headline", lines=1), pad=(16, 0, 16, 8))
    name = HStack(
        Text(f"{month:%B} {month.year}", "label", "dim", lines=1, tell=False),
        Icon("chevron-up" if years else "chevron-down", 20, "dim"), gap=4, pad=(16, 14, 8, 14),
    )  # fmt: skip
    line = HStack(
        Tap(name, partial(remember, ui, key, years=not years), text=f"{month:%B} {month.year}",
            desc="Change year", cls="android.widget.Button"),
        Space(weight=1),
        IconButton("chevron-left", "Previous month", partial(_turn, ui, key, -1)),
        IconButton("chevron-right", "Next month", partial(_turn, ui, key, 1)),
    )  # fmt: skip
    body = _years(ui, key) if years else _days(ui, key, month)
    return VStack(head, line, body)


def date_dialog(
    ui: Ui, key: str, on_pick: Callable[[date], None], title: str = "Select date"
) -> Dialog:
    """The whole dialog; `on_pick` is called with the day when OK is touched."""

    def accept() -> None:
        day = picked_date(ui, key)
        ui.dismiss()
        on_pick(day)

    return question(ui, "" if small(ui) else title, date_picker(ui, key), "OK", accept)


def _date(ui: Ui, key: str) -> dict[str, Any]:
    if key not in ui.state:
        pick_date(ui, key, today(ui.phone))
    state: dict[str, Any] = ui.state[key]
    return state


def _turn(ui: Ui, key: str, by: int) -> None:
    month = month_of(date.fromisoformat(_date(ui, key)["month"]), by)
    remember(ui, key, month=month.isoformat(), years=False)


def _days(ui: Ui, key: str, month: date) -> Widget:
    chosen, now = picked_date(ui, key), today(ui.phone)
    cells: list[Widget] = [Mark(letter, "caption", "dim", height=24) for letter in "SMTWTFS"]
    grid: list[Widget] = []
    for day in weeks(month):
        if day.month != month.month:
            grid.append(Space(40))
            continue
        ink, ground = ("on_primary", "primary") if day == chosen else ("text", "")
        if day == now and day != chosen:
            ink = "primary"
        face = Mark(str(day.day), "small", ink, ground, height=40, disc=36)
        grid.append(
            Tap(face, partial(remember, ui, key, day=day.isoformat()), text=str(day.day),
                desc=f"{day.day} {day:%B} {day.year}", selected=day == chosen,
                cls="android.view.View")
        )  # fmt: skip
    return VStack(GridLayout(*cells, columns=7), GridLayout(*grid, columns=7, cell=40))


def _years(ui: Ui, key: str) -> Widget:
    month = date.fromisoformat(_date(ui, key)["month"])
    first, last = max(FIRST_YEAR, month.year - YEARS), min(LAST_YEAR, month.year + YEARS)
    cells: list[Widget] = []
    for year in range(first, last + 1):
        chosen = year == month.year
        face = Surface(
            Text(str(year), "body", "on_primary" if chosen else "text", align="center", tell=False),
            "primary" if chosen else "", radius=18, pad=(4, 8, 4, 8),
        )  # fmt: skip
        to = month.replace(year=year).isoformat()
        cells.append(Tap(face, partial(remember, ui, key, month=to, years=False), text=str(year),
                         selected=chosen, cls="android.widget.TextView"))  # fmt: skip
    ui.activity.scroll.setdefault(f"{key} years", 330)
    return Box(
        ScrollView(ui, f"{key} years", GridLayout(*cells, columns=3, gap=6, pad=(12, 0, 12, 0))),
        264,
    )


def _date_steps(ui: Ui, key: str) -> VStack:
    day = picked_date(ui, key)

    def turn_month(by: int) -> None:
        pick_date(ui, key, months_later(day, by))

    return VStack(
        steps("Day", day_text(day, day), lambda by: pick_date(ui, key, day + timedelta(days=by))),
        steps("Month", f"{day:%b}", turn_month),
        steps("Year", str(day.year), lambda by: turn_month(12 * by)),
        pad=(8, 0, 8, 0),
    )
