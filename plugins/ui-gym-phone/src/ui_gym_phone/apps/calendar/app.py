"""The Calendar app's package."""

from __future__ import annotations

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state.packages import Package

MAIN = ".AllInOneActivity"
INFO = ".EventInfoActivity"
EDIT = ".event.EditEventActivity"

COLOUR, INK = "#1967d2", "#ffffff"
"""Of an event's card, and of what is written on it."""

APP = PhoneApp(
    Package(
        "com.android.calendar", "Calendar", MAIN, icon="calendar-month", colour="#1967d2",
        permissions={"READ_CALENDAR": True, "POST_NOTIFICATIONS": True},
    )
)  # fmt: skip
