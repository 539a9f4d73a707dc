"""Settings: every page of Android's that a person looks for, deep, and searchable.

Its pages have Android's class names, and write what the shell's commands write.
"""

from ui_gym_phone.apps.settings import (  # noqa: F401 - their pages join the app
    accounts,
    applications,
    battery,
    connected,
    date_time,
    display,
    home,
    network,
    permissions,
    states,
    system,
)
from ui_gym_phone.apps.settings.app import APP
from ui_gym_phone.apps.settings.declared import register_pages

register_pages()

__all__ = ["APP"]
