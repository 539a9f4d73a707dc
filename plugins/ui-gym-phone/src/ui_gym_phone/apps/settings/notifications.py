"""Notifications: of each app and of one, and their history."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import gone, package_of, shown_apps
from ui_gym_phone.apps.settings.parts import app_head, app_switch, main_switch, note, page
from ui_gym_phone.apps.settings.permissions import may_notify, set_notifications
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Header, Item


@APP.screen(PREFIX + "NotificationAppListActivity")
def app_list(ui: Ui) -> AppPage:
    """A switch for each app."""
    rows: list[Widget] = [
        app_switch(p, may_notify(p), partial(set_notifications, ui.phone, p))
        for p in shown_apps(ui.phone)
    ]
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


@APP.screen(PREFIX + "NotificationHistoryActivity")
def history(ui: Ui) -> AppPage:
    """Notification history."""
    on = ui.phone.is_on("secure", "notification_history_enabled")
    rows: list[Widget] = [
        main_switch("Use notification history", on,
                    lambda on: ui.phone.put("secure", "notification_history_enabled", int(on)))
    ]  # fmt: skip
    if not on:
        rows.append(note("Turn on notification history to see recent and snoozed notifications."))
        return page(ui, "Notification history", *rows)
    rows.append(Header("Recently posted"))
    for one in ui.phone.notifications:
        package = ui.phone.packages.get(one.package)
        rows.append(Item(one.title, one.text, icon=package.icon if package else "bell"))
    if len(rows) == 2:
        rows.append(note("No recent notifications."))
    return page(ui, "Notification history", *rows)
