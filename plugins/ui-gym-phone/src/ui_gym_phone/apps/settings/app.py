"""The Settings app itself, to which its pages belong."""

from __future__ import annotations

from ui_gym_phone.apps.phone_app import app_of

APP = app_of("com.android.settings")

PREFIX = ".Settings$"
"""Android's pages are subclasses of its main activity: ``.Settings$WifiSettingsActivity``."""
