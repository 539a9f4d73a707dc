"""What declared pages of Settings switch that is more than one setting, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym_phone.apps.settings.declared import LINES, STATES
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.switches import Turn, puts, reads
from ui_gym_phone.ui.app import Ui

PRINT_SERVICE = "com.android.bips"


def _state(name: str, is_on: Callable[[Phone], bool], turn: Turn) -> None:
    STATES[name] = (lambda ui: is_on(ui.phone), lambda ui, on: turn(ui.phone, on))


def location_on(phone: Phone) -> bool:
    return phone.setting("secure", "location_mode", "3") != "0"


developing = reads("global", "development_settings_enabled")
"""Whether developer options are shown."""


def _vibrates(phone: Phone) -> bool:
    return phone.setting("system", "vibrate_on", "1") != "0"


def _save_battery(ui: Ui, on: bool) -> None:
    switches.set_battery_saver(ui.phone, on)
    if on and not ui.phone.is_on("global", "low_power"):
        ui.say("Battery Saver isn't available while charging")


def _develop(ui: Ui, on: bool) -> None:
    """Switching developer options off hides their page."""
    ui.phone.put("global", "development_settings_enabled", int(on))
    if not on:
        ui.close()


_state("airplane", switches.airplane, switches.set_airplane)
_state("mobile_data", switches.mobile_data, switches.set_mobile_data)
_state("bluetooth", switches.bluetooth_on, switches.set_bluetooth)
_state(
    "print_service",
    lambda phone: phone.setting("secure", "disabled_print_services", "") == "",
    puts("secure", "disabled_print_services", "", PRINT_SERVICE),
)
_state("dnd", switches.dnd, switches.set_dnd)
_state("vibration", _vibrates, puts("system", "vibrate_on"))
_state("dark", lambda phone: phone.dark, switches.set_dark)
_state("location", location_on, switches.set_location)
_state("adaptive_brightness", switches.adaptive_brightness, switches.set_adaptive_brightness)
_state("auto_rotate", switches.auto_rotate, switches.set_auto_rotate)
_state("night_light", switches.night_light, switches.set_night_light)
_state(
    "stay_awake",
    reads("global", "stay_on_while_plugged_in"),
    puts("global", "stay_on_while_plugged_in", 7),
)
_state(
    "notification_history",
    reads("secure", "notification_history_enabled"),
    puts("secure", "notification_history_enabled"),
)
STATES["battery_saver"] = (lambda ui: switches.battery_saver(ui.phone), _save_battery)
STATES["developing"] = (lambda ui: developing(ui.phone), _develop)


def _location_apps(ui: Ui) -> str:
    asking = [p for p in ui.phone.packages if "ACCESS_FINE_LOCATION" in p.permissions]
    granted = sum(p.permissions["ACCESS_FINE_LOCATION"] for p in asking)
    return f"{granted} of {len(asking)} apps have access"


LINES["location_apps"] = _location_apps
LINES["location"] = lambda ui: "On" if location_on(ui.phone) else "Off"
LINES["dark"] = lambda ui: "On" if ui.phone.dark else "Off"
LINES["dnd"] = lambda ui: "On" if switches.dnd(ui.phone) else "Off"
LINES["vibration"] = lambda ui: (
    "Vibrates for calls" if ui.phone.is_on("system", "vibrate_when_ringing") else "On"
)
