"""System: languages, the keyboard, resetting, and what is for developers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import DIALOGS, LINES, PARTS
from ui_gym_phone.apps.settings.parts import link, listed, page, pick
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog, confirm
from ui_gym_phone.ui.widgets import Header, Icon, IconButton, Item

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
            package.permissions["POST_NOTIFICATIONS"] = True
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


LINES["languages"] = lambda ui: ", ".join(LOCALES.get(code, code) for code in _locales(ui.phone))
PARTS["keyboard"] = _keyboard
PARTS["animations"] = _animations
DIALOGS["animation"] = _animation_dialog
