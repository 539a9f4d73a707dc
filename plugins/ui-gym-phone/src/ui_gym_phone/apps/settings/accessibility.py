"""Accessibility, and Passwords & accounts."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings import kept
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.display import DARK, TEXT_SIZE
from ui_gym_phone.apps.settings.parts import (
    fact,
    form,
    link,
    listed,
    page,
    pick,
    switch,
    toggle,
)
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Column, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Disc, Header, Item, Text

HOLD_DELAYS = (("Short", "400"), ("Medium", "1000"), ("Long", "1500"))
"""Milliseconds of ``long_press_timeout``."""

ACTION_TIMES = (("Default", "0"), ("10 seconds", "10000"), ("30 seconds", "30000"),
                ("1 minute", "60000"), ("2 minutes", "120000"))  # fmt: skip

OWNER = "alex.morgan@example.com"
ACCOUNT = PREFIX + "AccountSyncSettingsActivity"


@APP.screen(PREFIX + "AccessibilitySettingsActivity")
def accessibility(ui: Ui) -> AppPage:
    """Accessibility."""
    phone = ui.phone
    hold = phone.setting("secure", "long_press_timeout", "400")
    time = phone.setting("secure", "accessibility_interactive_ui_timeout_ms", "0")
    dialog = None
    if ui.dialog == "hold":
        keep = partial(phone.put, "secure", "long_press_timeout")
        dialog = pick(ui, "Touch & hold delay", HOLD_DELAYS, hold, keep)
    elif ui.dialog == "time":
        keep = partial(phone.put, "secure", "accessibility_interactive_ui_timeout_ms")
        dialog = pick(ui, "Time to take action", ACTION_TIMES, time, keep)
    return page(
        ui, "Accessibility",
        Header("Display"),
        link(ui, "Display size and text", "Font size and contrast", TEXT_SIZE, icon="format-size"),
        link(ui, "Dark theme", "On" if phone.dark else "Off", DARK, icon="theme-light-dark"),
        switch(ui, "Color inversion", "Turns light screens dark", "secure",
               "accessibility_display_inversion_enabled", icon="invert-colors"),
        switch(ui, "Extra dim", "Dim the screen beyond your phone's minimum brightness", "secure",
               "reduce_bright_colors_activated", icon="moon-waning-crescent"),
        Header("Interaction controls"),
        Item("Touch & hold delay", listed(HOLD_DELAYS, hold, "Short"), partial(ui.ask, "hold"),
             icon="hand-back-right"),
        Item("Time to take action", listed(ACTION_TIMES, time, "Default"), partial(ui.ask, "time"),
             icon="timer-sand"),
        switch(ui, "Power button ends call", "", "secure", "incall_power_button_behavior",
               icon="power"),
        Header("Audio"),
        switch(ui, "Mono audio", "Merge channels when playing audio", "system", "master_mono",
               icon="volume-high"),
        dialog=dialog,
    )  # fmt: skip


# -- accounts --


@APP.screen(PREFIX + "AccountDashboardActivity")
def accounts(ui: Ui) -> AppPage:
    """Passwords & accounts."""
    phone = ui.phone
    known = kept.names(phone, "accounts", [OWNER])
    new = ui.text("email").strip()
    ready = "@" in new[1:-1] and " " not in new

    def add() -> None:
        if ready:
            kept.keep_names(phone, "accounts", [*(n for n in known if n != new), new])
            ui.dismiss()

    def ask() -> None:
        ui.fill("email", "")
        ui.ask("add")
        ui.focus("email")

    dialog = None
    if ui.dialog == "add":
        field = TextField(ui, "email", "Email", on_enter=add)
        dialog = form(ui, "Add an account", [field], "Add", add, ready=ready)
    synced = kept.text(phone, "accounts.sync", "1") == "1"
    rows: list[Widget] = [
        Item(name, "Email", partial(ui.open, ACCOUNT, account=name),
             lead=Disc("#3a6ea5", 36, letter=name[0].upper()))
        for name in known
    ]  # fmt: skip
    return page(
        ui, "Passwords & accounts",
        Header("Accounts for Owner"),
        *rows,
        Item("Add account", "", ask, icon="plus"),
        toggle("Automatically sync app data", synced,
               lambda on: kept.keep(phone, "accounts.sync", str(int(on))),
               "Let apps refresh data automatically"),
        dialog=dialog,
    )  # fmt: skip


@APP.screen(ACCOUNT)
def account(ui: Ui) -> AppPage:
    """One account; it can be removed here."""
    phone = ui.phone
    name = str(ui.extras.get("account", OWNER))

    def remove() -> None:
        rest = [known for known in kept.names(phone, "accounts", [OWNER]) if known != name]
        kept.keep_names(phone, "accounts", rest)
        ui.close()

    dialog = None
    if ui.dialog == "remove":
        text = "It will no longer be known to the apps of this phone."
        dialog = confirm(ui, "Remove account?", text, "Remove", remove)
    return page(
        ui, "Account",
        Column(Disc("#3a6ea5", 64, letter=name[:1].upper()), Text(name, "body", align="center"),
               gap=8, pad=(16, 8, 16, 8), align="center"),
        fact("Account sync", "Sync is on for all items"),
        Item("Remove account", "", partial(ui.ask, "remove"), icon="delete-outline"),
        dialog=dialog,
    )  # fmt: skip
