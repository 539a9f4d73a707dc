"""The Phone app's package."""

from __future__ import annotations

from ui_gym.android.apps.calling import DIALER
from ui_gym.android.phone.packages import Package
from ui_gym.android.ui.app import App

MAIN = ".DialtactsActivity"
DETAILS = ".CallDetailsActivity"

APP = App(
    Package(
        DIALER, "Phone", MAIN, icon="phone", colour="#188038",
        permissions={"CALL_PHONE": True, "READ_CONTACTS": True, "RECORD_AUDIO": True},
    )
)  # fmt: skip
