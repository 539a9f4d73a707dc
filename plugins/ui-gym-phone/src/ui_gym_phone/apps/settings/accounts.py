"""Passwords & accounts."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import form, page, toggle
from ui_gym_phone.state import kept
from ui_gym_phone.state.hardware import OWNER
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, confirm
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Disc, Header, Item, Text

ACCOUNT = PREFIX + "AccountSyncSettingsActivity"


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
        Item("Add account", "", partial(ui.ask_text, "add", "email"), icon="plus"),
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
        VStack(Disc("#3a6ea5", 64, letter=name[:1].upper()), Text(name, "body", align="center"),
               gap=8, pad=(16, 8, 16, 8), align="center"),
        Item("Account sync", "Sync is on for all items"),
        Item("Remove account", "", partial(ui.ask, "remove"), icon="delete-outline"),
        dialog=dialog,
    )  # fmt: skip
