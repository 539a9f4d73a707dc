"""The Phone app's package."""

from __future__ import annotations

from ui_gym_phone.apps.calling import DIALER
from ui_gym_phone.apps.phone_app import PhoneApp
from ui_gym_phone.state.packages import Package

MAIN = ".DialtactsActivity"
DETAILS = ".CallDetailsActivity"

APP = PhoneApp(
    Package(
        DIALER, "Phone", MAIN, icon="phone", colour="#188038",
        permissions={"CALL_PHONE": True, "READ_CONTACTS": True, "RECORD_AUDIO": True},
    )
)  # fmt: skip
