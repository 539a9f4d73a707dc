"""The Calendar app's screens, each brought about as a person would."""

from __future__ import annotations

from functools import partial

from driving import Scene, scene, scroll_to, typing

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


CALENDAR = "com.android.calendar"
day = scene(open_calendar, "Day")
busy_day = scene(day, "Next day")
event = scene(busy_day, EVENTS[5][3])
new = scene(open_calendar, "New event")
new_titled = scene(new, typing("Chess club", "title"))
edit = scene(event, "Edit")
start_time = scene(new, "Start time")
end_date = scene(new, "End date")

SCENES: dict[str, Scene] = {
    "calendar": open_calendar,
    "calendar empty": scene(CALENDAR),
    "calendar earlier": scene(open_calendar, "Show earlier events"),
    "calendar day": day,
    "calendar evening": scene(day, partial(scroll_to, what="Choir")),
    "calendar busy day": busy_day,
    "calendar month": scene(open_calendar, "Month"),
    "calendar go to date": scene(open_calendar, "Go to date"),
    "event": event,
    "event delete": scene(event, "Delete"),
    "event new": new,
    "event new titled": new_titled,
    "event edit": edit,
    "event all day": scene(edit, "is_all_day"),
    "event time": start_time,
    "event time typed": scene(start_time, "Switch to text input"),
    "event date": end_date,
    "event year": scene(end_date, "Change year"),
    "event reminder": scene(new, "30 minutes before"),
    "event discard": scene(new_titled, "Cancel"),
}
