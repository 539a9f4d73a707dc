"""Calendar: events as a list, by month and by day."""

from ui_gym.android.apps.calendar import edit, info, main
from ui_gym.android.apps.calendar.app import APP

__all__ = ["APP", "edit", "info", "main"]
