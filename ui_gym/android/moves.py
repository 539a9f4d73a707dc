"""Moves: how oracles find their way on a phone, by what it tells of its screen."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Click, LongPress, Open, Scroll, Type
from ui_gym.contract.device import Element
from ui_gym.errors import TaskError

MOST_SCROLLS = 12
MOST_MONTHS = 24


def elements(device: AndroidDevice) -> tuple[Element, ...]:
    """What is on the screen now."""
    return device.elements()


def find(device: AndroidDevice, name: str, *, role: str = "", exact: bool = True) -> Element | None:
    """The first element of this name; with `exact` False, one whose name begins so."""
    for element in elements(device):
        parts = [element.name, *element.name.split(", ")]
        named = name in parts if exact else any(part.startswith(name) for part in parts)
        if named and role in ("", element.role):
            return element
    return None


def tap(
    device: AndroidDevice, name: str, *, role: str = "", exact: bool = True
) -> Iterator[Action]:
    """Touch the element of this name, after scrolling to it where that is needed."""
    yield from scroll_to(device, name, role=role, exact=exact)
    yield Click(*_found(device, name, role, exact).center)


def hold(device: AndroidDevice, name: str, *, exact: bool = True) -> Iterator[Action]:
    """Touch and hold the element of this name."""
    yield from scroll_to(device, name, exact=exact)
    yield LongPress(*_found(device, name, "", exact).center)


def path(device: AndroidDevice, *names: str) -> Iterator[Action]:
    """Touch one after the other."""
    for name in names:
        yield from tap(device, name)


def scroll_to(
    device: AndroidDevice, name: str, *, role: str = "", exact: bool = True
) -> Iterator[Action]:
    """Scroll down until the element of this name is on the screen, wholly."""
    width, height = device.size
    for _ in range(MOST_SCROLLS):
        found = find(device, name, role=role, exact=exact)
        if found is not None:
            return
        yield Scroll(width // 2, height // 2, dy=height // 3)


def fill(device: AndroidDevice, name: str, text: str, *, enter: bool = False) -> Iterator[Action]:
    """Put a text into the text field of this name, over what is there."""
    yield from tap(device, name, role="textbox")
    yield Type(text, clear=True, enter=enter)


def launch(device: AndroidDevice, app: str) -> Iterator[Action]:
    """Open an app by its name, where it begins."""
    yield Open(app)


def pick_time(device: AndroidDevice, hour: int, minute: int) -> Iterator[Action]:
    """Pick a time of day in the dialog that is open, on the dial or in fields; `hour` is of 24."""
    halves = find(device, "AM") is not None
    shown = (hour - 1) % 12 + 1 if halves else hour
    if minute % 5 == 0:
        yield from _pick(device, f"{shown} o'clock" if halves else f"{shown} hours", str(shown))
        yield from _pick(device, f"{minute} minutes", f"{minute:02}")
    else:
        yield from tap(device, "Switch to text input")
        yield from fill(device, "Hour", f"{shown:02}")
        yield from fill(device, "Minute", f"{minute:02}")
    if halves:
        yield from tap(device, "AM" if hour < 12 else "PM")
    yield from tap(device, "OK")


def _pick(device: AndroidDevice, said: str, shown: str) -> Iterator[Action]:
    """Touch a number of the dial, or on a compact screen, one of those that stand in rows."""
    if find(device, said) is not None:
        yield from tap(device, said)
    else:
        yield from tap(device, shown, role="button")


def pick_date(device: AndroidDevice, day: datetime.date, shown: datetime.date) -> Iterator[Action]:
    """Pick a day in the dialog that is open and shows the month of `shown`."""
    months = (day.year - shown.year) * 12 + day.month - shown.month
    for _ in range(min(abs(months), MOST_MONTHS)):
        yield from tap(device, "Next month" if months > 0 else "Previous month")
    yield from tap(device, spoken(day))
    yield from tap(device, "OK")


def spoken(day: datetime.date) -> str:
    """A day as a page of a calendar has it: ``19 October 2023``."""
    return f"{day.day} {day:%B} {day.year}"


def _found(device: AndroidDevice, name: str, role: str, exact: bool) -> Element:
    found = find(device, name, role=role, exact=exact)
    if found is None:
        seen = ", ".join(repr(e.name) for e in elements(device) if e.name)
        raise TaskError(f"there is nothing called {name!r} on the phone's screen, but {seen[:600]}")
    return found
