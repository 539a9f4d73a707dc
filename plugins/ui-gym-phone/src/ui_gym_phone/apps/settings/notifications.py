"""Notifications: of all apps and of one, their history, Do Not Disturb."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import gone, package_of, shown_apps
from ui_gym_phone.apps.settings.parts import (
    app_head,
    app_switch,
    link,
    listed,
    main_switch,
    note,
    page,
    pick,
    switch,
)
from ui_gym_phone.apps.settings.permissions import may_notify, set_notifications
from ui_gym_phone.state import switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Header, Item

ZEN = PREFIX + "ZenModeSettingsActivity"

ON_LOCK_SCREEN = (("Show all notifications", "1"), ("Don't show any notifications", "0"))
DURATIONS = (("Until you turn off", "0"), ("For 1 hour", "60"), ("Ask every time", "-1"))
PEOPLE = (("Anyone", "0"), ("Contacts", "1"), ("Starred contacts", "2"), ("None", "3"))


def dnd_line(ui: Ui) -> str:
    return "On" if switches.dnd(ui.phone) else "Off"


@APP.screen(PREFIX + "ConfigureNotificationSettingsActivity")
def notifications(ui: Ui) -> AppPage:
    """Notifications."""
    phone = ui.phone
    lock = phone.setting("secure", "lock_screen_show_notifications", "1")
    history = phone.is_on("secure", "notification_history_enabled")
    dialog = None
    if ui.dialog == "lock":
        keep = partial(phone.put, "secure", "lock_screen_show_notifications")
        dialog = pick(ui, "Notifications on lock screen", ON_LOCK_SCREEN, lock, keep)
    return page(
        ui, "Notifications",
        Header("Manage"),
        link(ui, "App notifications", "Control notifications from individual apps",
             PREFIX + "NotificationAppListActivity", icon="apps"),
        link(ui, "Notification history", "On" if history else "Off",
             PREFIX + "NotificationHistoryActivity", icon="history"),
        Header("Conversations"),
        switch(ui, "Bubbles", "Conversations can appear as floating icons", "secure",
               "notification_bubbles", default="1"),
        Header("Privacy"),
        Item("Notifications on lock screen", listed(ON_LOCK_SCREEN, lock), partial(ui.ask, "lock")),
        Header("General"),
        link(ui, "Do Not Disturb", dnd_line(ui), ZEN, icon="minus-circle-outline"),
        switch(ui, "Notification dot on app icon", "", "secure", "notification_badging",
               default="1"),
        switch(ui, "Hide silent notifications in status bar", "", "secure",
               "notification_hide_silent"),
        dialog=dialog,
    )  # fmt: skip


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


@APP.screen(ZEN)
def do_not_disturb(ui: Ui) -> AppPage:
    """Do Not Disturb: its switch, and what gets through."""
    phone = ui.phone
    choices = {
        "duration": ("Duration for Quick Settings", "zen_duration", DURATIONS),
        "calls": ("Calls", "zen_calls_from", PEOPLE),
        "messages": ("Messages", "zen_messages_from", PEOPLE),
    }

    def chosen(key: str) -> str:
        return phone.setting("secure", key, "0" if key == "zen_duration" else "2")

    def row(name: str, icon: str) -> Widget:
        title, key, options = choices[name]
        return Item(title, listed(options, chosen(key)), partial(ui.ask, name), icon=icon)

    dialog = None
    if ui.dialog in choices:
        title, key, options = choices[ui.dialog]
        dialog = pick(ui, title, options, chosen(key), partial(phone.put, "secure", key))
    return page(
        ui, "Do Not Disturb",
        main_switch("Use Do Not Disturb", switches.dnd(phone), partial(switches.set_dnd, phone)),
        Header("What can interrupt Do Not Disturb"),
        row("calls", "phone"),
        row("messages", "message-text"),
        switch(ui, "Alarms", "", "secure", "zen_allow_alarms", default="1", icon="alarm"),
        switch(ui, "Repeat callers", "A second call within 15 minutes gets through", "secure",
               "zen_allow_repeat_callers", default="1", icon="refresh"),
        Header("General"),
        row("duration", "timer-outline"),
        dialog=dialog,
    )  # fmt: skip
