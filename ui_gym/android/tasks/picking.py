"""How oracles pick times and days in Android's dialogs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from ui_gym.android import moves
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action

MOST_MONTHS = 24


def pick_time(device: AndroidDevice, hour: int, minute: int) -> Iterator[Action]:
    """Pick a time of day in the dialog that is open, on the dial or in fields; `hour` is of 24."""
    halves = moves.find(device, "AM") is not None
    shown = (hour - 1) % 12 + 1 if halves else hour
    if minute % 5 == 0:
        yield from moves.tap(device, f"{shown} o'clock" if halves else f"{shown} hours")
        yield from moves.tap(device, f"{minute} minutes")
    else:
        yield from moves.tap(device, "Switch to text input")
        yield from moves.fill(device, "Hour", f"{shown:02}")
        yield from moves.fill(device, "Minute", f"{minute:02}")
    if halves:
        yield from moves.tap(device, "AM" if hour < 12 else "PM")
    yield from moves.tap(device, "OK")


def pick_date(device: AndroidDevice, day: datetime.date, shown: datetime.date) -> Iterator[Action]:
    """Pick a day in the dialog that is open and shows the month of `shown`."""
    months = (day.year - shown.year) * 12 + day.month - shown.month
    for _ in range(min(abs(months), MOST_MONTHS)):
        yield from moves.tap(device, "Next month" if months > 0 else "Previous month")
    yield from moves.tap(device, spoken(day))
    yield from moves.tap(device, "OK")


def spoken(day: datetime.date) -> str:
    """A day as a page of a calendar has it: ``19 October 2023``."""
    return f"{day.day} {day:%B} {day.year}"
