"""The Calendar app's package."""

from __future__ import annotations

from ui_gym_phone.apps.phone_app import app_of

MAIN = ".AllInOneActivity"
INFO = ".EventInfoActivity"
EDIT = ".event.EditEventActivity"

COLOUR, INK = "#1967d2", "#ffffff"
"""Of an event's card, and of what is written on it."""

APP = app_of("com.android.calendar")
