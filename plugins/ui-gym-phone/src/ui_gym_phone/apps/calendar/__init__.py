"""Calendar: events as a list, by month and by day."""

from ui_gym_phone.apps.calendar import edit, main
from ui_gym_phone.apps.calendar.app import APP

__all__ = ["APP", "edit", "main"]
