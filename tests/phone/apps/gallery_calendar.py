"""The Calendar app's screens, each brought about as a person would."""

from __future__ import annotations

from collections.abc import Callable

from driving import scroll_to, tap, write

from ui_gym_phone.state import calendar
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

DAY = 86_400_000
MIDNIGHT = 1_697_328_000_000
"""The day on which a phone's clock starts, Sunday 2023-10-15, at 00:00 UTC."""

EVENTS = (
    (-3, 9, 10, "Dentist", "Harbour Street 4"),
    (0, 10, 11, "Brunch with Ada", "Café Analytica"),
    (0, 18, 20, "Choir", ""),
    (0, 18.5, 19.5, "Call with Barbara", ""),
    (1, 9, 9.5, "Stand-up", "Room 2"),
    (1, 14, 16, "Quarterly planning of the north wing and all that depends on it", "Hall"),
    (1, 16, 16.5, "Tea", ""),
    (1, 17, 18, "Run", ""),
    (1, 19, 21, "Κινηματογράφος", "Odeon"),
    (4, 8, 9, "Stand-up", "Room 2"),
    (17, 22, 26, "Night train", "Platform 9"),
    (60, 11, 12, "Winter fair", ""),
)  # fmt: skip


def open_calendar(phone: Phone, screen: PhoneScreen) -> None:
    """Some weeks of events."""
    for day, begin, end, title, place in EVENTS:
        at = MIDNIGHT + day * DAY
        calendar.add_event(
            phone, title, at + int(begin * 3_600_000), at + int(end * 3_600_000), location=place,
            description="Bring the drawings." if place == "Hall" else "", reminders=[10],
        )  # fmt: skip
    calendar.add_event(phone, "Autumn break", MIDNIGHT + DAY, MIDNIGHT + 4 * DAY, all_day=True)
    phone.launch("com.android.calendar")


def _empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.calendar")


def _earlier(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Show earlier events")


def _day(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Day")


def _evening(phone: Phone, screen: PhoneScreen) -> None:
    _day(phone, screen)
    scroll_to(screen, "Choir")


def _next_day(phone: Phone, screen: PhoneScreen) -> None:
    _day(phone, screen)
    tap(screen, "Next day")


def _month(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Month")


def _go(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "Go to date")


def _event(phone: Phone, screen: PhoneScreen) -> None:
    _next_day(phone, screen)
    tap(screen, EVENTS[5][3])


def _delete(phone: Phone, screen: PhoneScreen) -> None:
    _event(phone, screen)
    tap(screen, "Delete")


def _new(phone: Phone, screen: PhoneScreen) -> None:
    open_calendar(phone, screen)
    tap(screen, "New event")


def _new_titled(phone: Phone, screen: PhoneScreen) -> None:
    _new(phone, screen)
    write(screen, "title", "Chess club")


def _edit(phone: Phone, screen: PhoneScreen) -> None:
    _event(phone, screen)
    tap(screen, "Edit")


def _all_day(phone: Phone, screen: PhoneScreen) -> None:
    _edit(phone, screen)
    tap(screen, "is_all_day")


def _time(phone: Phone, screen: PhoneScreen) -> None:
    _new(phone, screen)
    tap(screen, "Start time")


def _time_typed(phone: Phone, screen: PhoneScreen) -> None:
    _time(phone, screen)
    tap(screen, "Switch to text input")


def _date(phone: Phone, screen: PhoneScreen) -> None:
    _new(phone, screen)
    tap(screen, "End date")


def _years(phone: Phone, screen: PhoneScreen) -> None:
    _date(phone, screen)
    tap(screen, "Change year")


def _reminder(phone: Phone, screen: PhoneScreen) -> None:
    _new(phone, screen)
    tap(screen, "30 minutes before")


def _discard(phone: Phone, screen: PhoneScreen) -> None:
    _new_titled(phone, screen)
    tap(screen, "Cancel")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "calendar": open_calendar,
    "calendar empty": _empty,
    "calendar earlier": _earlier,
    "calendar day": _day,
    "calendar evening": _evening,
    "calendar busy day": _next_day,
    "calendar month": _month,
    "calendar go to date": _go,
    "event": _event,
    "event delete": _delete,
    "event new": _new,
    "event new titled": _new_titled,
    "event edit": _edit,
    "event all day": _all_day,
    "event time": _time,
    "event time typed": _time_typed,
    "event date": _date,
    "event year": _years,
    "event reminder": _reminder,
    "event discard": _discard,
}
