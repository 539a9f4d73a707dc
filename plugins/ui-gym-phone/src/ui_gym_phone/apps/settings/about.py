"""About phone: its name, its model, its build."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import fact, form, link, page
from ui_gym_phone.apps.settings.system import developing
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Header, Item

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


@APP.screen(PREFIX + "MyDeviceInfoActivity")
def about(ui: Ui) -> AppPage:
    """About phone."""
    phone = ui.phone
    told = phone.properties.get

    def ask() -> None:
        ui.fill("name", device_name(phone))
        ui.ask("name")
        ui.focus("name")
        ui.activity.marked = True

    bluetooth = "3c:5a:b4:01:02:03" if switches.bluetooth_on(phone) else "Unavailable"
    wifi = switches.wifi_on(phone) and kept.network(phone)
    return page(
        ui, "About phone",
        Header("Basic info"),
        Item("Device name", device_name(phone), ask),
        fact("Phone number", "+1 555 0100"),
        Header("Device details"),
        fact("Model", told("ro.product.model", "Unknown")),
        link(ui, "Android version", told("ro.build.version.release", "14"),
             PREFIX + "FirmwareVersionActivity"),
        Header("Device identifiers"),
        fact("IP address", "192.168.1.23" if wifi else "Unavailable"),
        fact("Wi-Fi MAC address", "02:15:b2:00:01:00"),
        fact("Bluetooth address", bluetooth),
        fact("Up time", _up_time(phone)),
        Item("Build number", build_number(phone), partial(_count_tap, ui)),
        dialog=_name_dialog(ui),
    )  # fmt: skip


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


@APP.screen(PREFIX + "FirmwareVersionActivity")
def android_version(ui: Ui) -> AppPage:
    """Android version."""
    told = ui.phone.properties.get
    return page(
        ui, "Android version",
        fact("Android version", told("ro.build.version.release", "14")),
        fact("Android security update", "October 5, 2023"),
        fact("Google Play system update", "September 1, 2023"),
        fact("Kernel version", "5.15.41-android13-8"),
        fact("Build number", build_number(ui.phone)),
    )  # fmt: skip
