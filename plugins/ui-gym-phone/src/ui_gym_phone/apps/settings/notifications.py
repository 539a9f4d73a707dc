"""Notifications: of each app and of one, and their history."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import gone, package_of, shown_apps
from ui_gym_phone.apps.settings.declared import PARTS
from ui_gym_phone.apps.settings.parts import app_head, app_icon, main_switch, note, page
from ui_gym_phone.apps.settings.permissions import may_notify, set_notifications
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Header, Item, SwitchItem


@APP.screen(PREFIX + "NotificationAppListActivity")
def app_list(ui: Ui) -> AppPage:
    """A switch for each app."""
    rows: list[Widget] = [
        SwitchItem(p.label, may_notify(p), partial(set_notifications, ui.phone, p),
                   lead=app_icon(p))
        for p in shown_apps(ui.phone)
    ]  # fmt: skip
    return page(ui, "App notifications", *rows)


@APP.screen(PREFIX + "AppNotificationSettingsActivity")
def app_notifications(ui: Ui) -> AppPage:
    """One app's notifications."""
    package = package_of(ui)
    if package is None:
        return gone(ui)
    on = may_notify(package)
    change = partial(set_notifications, ui.phone, package)
    told = "This app may show notifications." if on else "At your request, this app shows none."
    return page(
        ui, "Notifications", app_head(package),
        main_switch(f"All {package.label} notifications", on, change), note(told),
    )  # fmt: skip


def _history(ui: Ui) -> list[Widget]:
    rows: list[Widget] = [Header("Recently posted")]
    for one in ui.phone.notifications:
        package = ui.phone.packages.get(one.package)
        rows.append(Item(one.title, one.text, icon=package.icon if package else "bell"))
    return rows if len(rows) > 1 else [*rows, note("No recent notifications.")]


PARTS["notification_history"] = _history
