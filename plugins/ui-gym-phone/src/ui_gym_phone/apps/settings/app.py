"""The Settings app itself, to which its pages belong."""

from __future__ import annotations

from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state.packages import MB, Package

APP = PhoneApp(
    Package(
        "com.android.settings", "Settings", ".Settings", icon="cog", colour="#5f6368",
        version="14", app_size=38 * MB, data_size=1 * MB, cache_size=2 * MB,
    )
)  # fmt: skip

PREFIX = ".Settings$"
"""Android's pages are subclasses of its main activity: ``.Settings$WifiSettingsActivity``."""
