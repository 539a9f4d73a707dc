"""Pickers: a time on a clock's dial, or typed; a day on a month's page.

What is picked lies in ``ui.state[key]`` until it is read::

    pick_time(ui, "when", 7, 30)
    ui.ask("time")
    ...
    dialog = time_dialog(ui, "when", on_pick) if ui.dialog == "time" else None
"""

from ui_gym_phone.apps.pickers.days import date_dialog, date_picker, pick_date, picked_date
from ui_gym_phone.apps.pickers.times import pick_time, picked_time, time_dialog, time_picker

__all__ = [
    "date_dialog", "date_picker", "pick_date", "pick_time", "picked_date", "picked_time",
    "time_dialog", "time_picker",
]  # fmt: skip
