"""System: languages, the keyboard, resetting, what is for developers, and the phone itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import ACTIONS, DIALOGS, LINES, PARTS
from ui_gym_phone.apps.settings.parts import form, link, listed, page, pick
from ui_gym_phone.apps.settings.states import developing
from ui_gym_phone.state import hardware, kept, switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui import navigation
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog, confirm
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Header, Icon, IconButton, Item, RadioItem

LANGUAGES = PREFIX + "LanguageAndInputSettingsActivity"
KEYBOARD = PREFIX + "KeyboardSettingsActivity"
RESET = PREFIX + "ResetDashboardActivity"

LOCALES: Mapping[str, str] = data.table("places")["locales"]

SCALES = (("Animation off", "0"), ("Animation scale 0.5x", "0.5"), ("Animation scale 1x", "1"),
          ("Animation scale 2x", "2"))  # fmt: skip

ANIMATIONS = {
    "Window animation scale": "window_animation_scale",
    "Transition animation scale": "transition_animation_scale",
    "Animator duration scale": "animator_duration_scale",
}


# -- languages and the keyboard --


def _locales(phone: Phone) -> list[str]:
    """Preferred languages, the first one first."""
    return phone.setting("system", "system_locales", "en-US").split(",")


@APP.screen(LANGUAGES)
def languages(ui: Ui) -> AppPage:
    """Languages: those that a person prefers, which can be added and removed."""
    phone = ui.phone
    chosen = _locales(phone)

    def put(codes: list[str]) -> None:
        phone.put("system", "system_locales", ",".join(codes))

    rows: list[Widget] = []
    for i, code in enumerate(chosen, 1):
        name = LOCALES.get(code, code)
        rest = [other for other in chosen if other != code]
        remove = IconButton("close", f"Remove {name}", partial(put, rest)) if rest else None
        rows.append(Item(f"{i}  {name}", "System language" if i == 1 else "", trail=remove))
    dialog = None
    if ui.dialog == "add":
        options = [(name, code) for code, name in LOCALES.items() if code not in chosen]
        dialog = pick(ui, "Add a language", options, "", lambda code: put([*chosen, code]))
    return page(
        ui, "Languages",
        Header("Preferred languages"),
        *rows,
        Item("Add a language", "", partial(ui.ask, "add"), icon="plus"),
        Header("Input"),
        link(ui, "Keyboard", "On-screen keyboard", KEYBOARD, icon="keyboard"),
        dialog=dialog,
    )  # fmt: skip


def _keyboard(ui: Ui) -> list[Widget]:
    return [Item("Android Keyboard", LOCALES[_known(ui.phone)], lead=Icon("keyboard", 24))]


def _known(phone: Phone) -> str:
    first = _locales(phone)[0]
    return first if first in LOCALES else "en-US"


# -- resetting --


@APP.screen(RESET)
def reset(ui: Ui) -> AppPage:
    """Reset options."""
    phone = ui.phone
    dialog = None
    if ui.dialog == "radios":
        text = "This will forget all Wi-Fi networks and unpair all Bluetooth devices."
        dialog = confirm(ui, "Reset Bluetooth & Wi-Fi?", text, "Reset",
                      partial(_reset_radios, ui))  # fmt: skip
    elif ui.dialog == "apps":
        text = (
            "This will reset all preferences for disabled apps, disabled notifications, and "
            "default apps. You will not lose any app data."
        )
        dialog = confirm(ui, "Reset app preferences?", text, "Reset",
                      partial(_reset_apps, phone))  # fmt: skip
    return page(
        ui, "Reset options",
        Item("Reset Bluetooth & Wi-Fi", "", partial(ui.ask, "radios"), icon="wifi-cog"),
        Item("Reset app preferences", "", partial(ui.ask, "apps"), icon="apps"),
        dialog=dialog,
    )  # fmt: skip


def _reset_radios(ui: Ui) -> None:
    kept.reset_radios(ui.phone)
    ui.say("Bluetooth & Wi-Fi have been reset")


def _reset_apps(phone: Phone) -> None:
    for package in phone.packages:
        package.enabled = True
        if "POST_NOTIFICATIONS" in package.permissions:
            package.grant("POST_NOTIFICATIONS", True)
    kept.reset_roles(phone)


# -- developer options --


def _scale(phone: Phone, key: str) -> str:
    return phone.setting("global", key, "1").removesuffix(".0")


def _animations(ui: Ui) -> list[Widget]:
    rows: list[Widget] = []
    for title, key in ANIMATIONS.items():
        value = _scale(ui.phone, key)
        rows.append(Item(title, listed(SCALES, value, value + "x"), partial(ui.ask, key)))
    return rows


def _animation_dialog(ui: Ui) -> Dialog | None:
    key = ui.dialog
    title = next((title for title, known in ANIMATIONS.items() if known == key), "")
    keep = partial(ui.phone.put, "global", key)
    return pick(ui, title, SCALES, _scale(ui.phone, key), keep) if title else None


# -- gestures --


NAVIGATIONS = (
    ("Gesture navigation", navigation.GESTURES,
     "To go Home, swipe up from the bottom of the screen. To switch apps, swipe up from the "
     "bottom, hold, then release. To go back, swipe from either the left or right edge."),
    ("3-button navigation", navigation.BUTTONS,
     "Go back, Home, and switch apps with buttons at the bottom of your screen."),
)  # fmt: skip
"""(title, value of the setting, what it is)."""


def _navigation(ui: Ui) -> list[Widget]:
    now = ui.phone.setting("secure", navigation.MODE, navigation.BUTTONS)
    keep = partial(ui.phone.put, "secure", navigation.MODE)
    return [
        RadioItem(title, value == now, partial(keep, value), told, lines=6)
        for title, value, told in NAVIGATIONS
    ]


def _navigation_line(ui: Ui) -> str:
    now = ui.phone.setting("secure", navigation.MODE, navigation.BUTTONS)
    return next((title for title, value, _ in NAVIGATIONS if value == now), NAVIGATIONS[1][0])


LINES["navigation"] = _navigation_line
PARTS["navigation"] = _navigation

LINES["languages"] = lambda ui: ", ".join(LOCALES.get(code, code) for code in _locales(ui.phone))
PARTS["keyboard"] = _keyboard
PARTS["animations"] = _animations
DIALOGS["animation"] = _animation_dialog


# -- about the phone --


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
    ui.select_all()


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
    return hardware.WIFI_ADDRESS if connected else "Unavailable"


def _bluetooth_address(ui: Ui) -> str:
    return hardware.BLUETOOTH_MAC if switches.bluetooth_on(ui.phone) else "Unavailable"


LINES.update(
    device_name=lambda ui: device_name(ui.phone),
    model=lambda ui: ui.phone.properties.get("ro.product.model", "Unknown"),
    android_version=lambda ui: ui.phone.properties.get("ro.build.version.release", "14"),
    build_number=lambda ui: build_number(ui.phone),
    phone_number=lambda ui: hardware.PHONE_NUMBER,
    ip_address=_ip_address,
    wifi_mac=lambda ui: hardware.WIFI_MAC,
    bluetooth_address=_bluetooth_address,
    up_time=lambda ui: _up_time(ui.phone),
)
ACTIONS.update(ask_device_name=_ask_name, touch_build_number=_count_tap)
DIALOGS["device_name"] = _name_dialog
