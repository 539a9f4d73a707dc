"""About phone: its name, its model, its build."""

from __future__ import annotations

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.declared import ACTIONS, DIALOGS, LINES
from ui_gym_phone.apps.settings.parts import form
from ui_gym_phone.apps.settings.states import developing
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import Dialog
from ui_gym_phone.ui.textfield import TextField

TAPS = 7
"""How often the build number is touched to become a developer."""


def device_name(phone: Phone) -> str:
    return phone.setting("global", "device_name", phone.properties["ro.product.model"])


def build_number(phone: Phone) -> str:
    """As Android composes it of a build's properties."""
    told = phone.properties.get
    return (
        f"{told('ro.build.type', 'user')} {told('ro.build.version.release', '14')} "
        f"{told('ro.build.id', '')} 1 test-keys"
    )


def _ask_name(ui: Ui) -> None:
    ui.ask_text("name", "name", device_name(ui.phone))
    ui.activity.marked = True


def _up_time(phone: Phone) -> str:
    minutes, seconds = divmod(phone.clock.uptime_ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"


def _name_dialog(ui: Ui) -> Dialog | None:
    if ui.dialog != "name":
        return None
    name = ui.text("name").strip()

    def save() -> None:
        if name:
            ui.phone.put("global", "device_name", name)
            ui.dismiss()

    field = TextField(ui, "name", "Device name", on_enter=save)
    return form(ui, "Device name", [field], "OK", save, ready=bool(name))


def _count_tap(ui: Ui) -> None:
    """The seventh touch of the build number makes a developer."""
    if developing(ui.phone):
        ui.say("No need, you are already a developer.")
        return
    taps = int(ui.state.get("taps", 0)) + 1
    ui.state["taps"] = taps % TAPS
    left = TAPS - taps
    if left == 0:
        ui.phone.put("global", "development_settings_enabled", 1)
        ui.say("You are now a developer!")
    elif left < 4:
        steps = "1 step" if left == 1 else f"{left} steps"
        ui.say(f"You are now {steps} away from being a developer.")


def _ip_address(ui: Ui) -> str:
    connected = switches.wifi_on(ui.phone) and kept.network(ui.phone)
    return "192.168.1.23" if connected else "Unavailable"


def _bluetooth_address(ui: Ui) -> str:
    return "3c:5a:b4:01:02:03" if switches.bluetooth_on(ui.phone) else "Unavailable"


LINES.update(
    device_name=lambda ui: device_name(ui.phone),
    model=lambda ui: ui.phone.properties.get("ro.product.model", "Unknown"),
    android_version=lambda ui: ui.phone.properties.get("ro.build.version.release", "14"),
    build_number=lambda ui: build_number(ui.phone),
    ip_address=_ip_address,
    bluetooth_address=_bluetooth_address,
    up_time=lambda ui: _up_time(ui.phone),
)
ACTIONS.update(ask_device_name=_ask_name, touch_build_number=_count_tap)
DIALOGS["device_name"] = _name_dialog
