"""System: languages, the keyboard, resetting, and what is for developers."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import (
    fact,
    link,
    listed,
    main_switch,
    page,
    pick,
    switch,
    toggle,
)
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.widgets import Header, Icon, IconButton, Item

LANGUAGES = PREFIX + "LanguageAndInputSettingsActivity"
KEYBOARD = PREFIX + "KeyboardSettingsActivity"
RESET = PREFIX + "ResetDashboardActivity"
DEVELOPER = PREFIX + "DevelopmentSettingsDashboardActivity"

LOCALES = {
    "da-DK": "Dansk (Danmark)", "de-DE": "Deutsch (Deutschland)",
    "en-GB": "English (United Kingdom)", "en-US": "English (United States)",
    "es-ES": "Español (España)", "fr-FR": "Français (France)", "it-IT": "Italiano (Italia)",
    "nl-NL": "Nederlands (Nederland)", "pl-PL": "Polski (Polska)",
    "pt-BR": "Português (Brasil)", "sv-SE": "Svenska (Sverige)", "tr-TR": "Türkçe (Türkiye)",
}  # fmt: skip

SCALES = (("Animation off", "0"), ("Animation scale 0.5x", "0.5"), ("Animation scale 1x", "1"),
          ("Animation scale 2x", "2"))  # fmt: skip

ANIMATIONS = {
    "Window animation scale": "window_animation_scale",
    "Transition animation scale": "transition_animation_scale",
    "Animator duration scale": "animator_duration_scale",
}


def developing(phone: Phone) -> bool:
    """Whether developer options are shown."""
    return phone.is_on("global", "development_settings_enabled")


@APP.screen(PREFIX + "SystemDashboardActivity")
def system(ui: Ui) -> AppPage:
    """System."""
    languages = ", ".join(LOCALES.get(code, code) for code in _locales(ui.phone))
    developer = link(ui, "Developer options", "", DEVELOPER, icon="wrench")
    return page(
        ui, "System",
        link(ui, "Languages", languages, LANGUAGES, icon="translate"),
        link(ui, "Keyboard", "On-screen keyboard", KEYBOARD, icon="keyboard"),
        link(ui, "Date & time", "Zone, format, automatic time",
             PREFIX + "DateTimeSettingsActivity", icon="clock-outline"),
        Item("System update", "Your system is up to date",
             partial(ui.say, "Your system is up to date"), icon="update"),
        developer if developing(ui.phone) else None,
        link(ui, "Reset options", "", RESET, icon="history"),
    )  # fmt: skip


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


@APP.screen(KEYBOARD)
def keyboard(ui: Ui) -> AppPage:
    """Keyboard."""
    return page(
        ui, "Keyboard",
        Header("On-screen keyboard"),
        Item("Android Keyboard", LOCALES[_known(ui.phone)], lead=Icon("keyboard", 24)),
        Header("Text correction"),
        switch(ui, "Auto-capitalization", "Capitalize the first word of each sentence", "system",
               "auto_caps", default="1"),
        switch(ui, "Auto-correction", "Spacebar corrects mistyped words", "system", "auto_replace",
               default="1"),
        switch(ui, "Double-space period", "Double tap on spacebar inserts a period", "system",
               "auto_punctuate", default="1"),
        Header("Physical keyboard"),
        fact("Layouts", "No keyboard connected"),
    )  # fmt: skip


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


@APP.screen(DEVELOPER)
def developer(ui: Ui) -> AppPage:
    """Developer options; switching them off hides the page."""
    phone = ui.phone
    dialog = None
    rows: list[Widget] = []
    for title, key in ANIMATIONS.items():
        value = phone.setting("global", key, "1").removesuffix(".0")
        rows.append(Item(title, listed(SCALES, value, value + "x"), partial(ui.ask, key)))
        if ui.dialog == key:
            dialog = pick(ui, title, SCALES, value, partial(phone.put, "global", key))
    awake = phone.is_on("global", "stay_on_while_plugged_in")
    return page(
        ui, "Developer options",
        main_switch("Use developer options", developing(phone), partial(_develop, ui)),
        toggle("Stay awake", awake,
               lambda on: phone.put("global", "stay_on_while_plugged_in", 7 if on else 0),
               "Screen will never sleep while charging"),
        Header("Debugging"),
        switch(ui, "USB debugging", "Debug mode when USB is connected", "global", "adb_enabled"),
        Header("Input"),
        switch(ui, "Show taps", "Show visual feedback for taps", "system", "show_touches"),
        switch(ui, "Pointer location", "Screen overlay showing current touch data", "system",
               "pointer_location"),
        Header("Drawing"),
        *rows,
        dialog=dialog,
    )  # fmt: skip


def _develop(ui: Ui, on: bool) -> None:
    ui.phone.put("global", "development_settings_enabled", int(on))
    if not on:
        ui.close()
