"""What apps may: permissions of one app and of one kind over all apps, and notifications."""

from __future__ import annotations

from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.applications import by_label, gone, package_of, shown_apps
from ui_gym_phone.apps.settings.declared import PARTS
from ui_gym_phone.apps.settings.parts import (
    app_head,
    app_icon,
    link,
    main_switch,
    note,
    page,
    radio,
)
from ui_gym_phone.state.packages import MOST_REFUSALS, PERMISSIONS, Package
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Header, Item, SwitchItem, Text

ICONS = {name: icon for name, (_, icon) in data.table("permissions").items()}

WHILE_USED = ("CAMERA", "RECORD_AUDIO", "ACCESS_FINE_LOCATION")
"""Permissions that an app has only while it is seen."""

ONE = PREFIX + "AppPermissionActivity"
KIND = PREFIX + "ManagePermissionAppsActivity"


def set_notifications(phone: Phone, package: Package, on: bool) -> None:
    """Whether an app may notify; what it has posted goes when it may not."""
    _allow(package, "POST_NOTIFICATIONS", on)
    if not on:
        phone.notifications = [n for n in phone.notifications if n.package != package.name]


def may_notify(package: Package) -> bool:
    return package.permissions.get("POST_NOTIFICATIONS", True)


def _set(phone: Phone, package: Package, permission: str, on: bool) -> None:
    if permission == "POST_NOTIFICATIONS":
        set_notifications(phone, package, on)
    else:
        _allow(package, permission, on)


def _allow(package: Package, permission: str, on: bool) -> None:
    """Grant it, or refuse it in such a way that the app does not ask for it."""
    if on:
        package.grant(permission, True)
    else:
        package.refuse(permission, MOST_REFUSALS)


@APP.screen(PREFIX + "AppPermissionsActivity")
def app_permissions(ui: Ui) -> AppPage:
    """All permissions that an app asks for."""
    package = package_of(ui)
    if package is None:
        return gone(ui)
    asked = sorted(package.permissions, key=lambda name: PERMISSIONS.get(name, name))
    parts: list[Widget] = []
    for title, granted in (("Allowed", True), ("Not allowed", False)):
        names = [name for name in asked if package.permissions[name] is granted]
        parts.append(Header(title))
        parts += [
            link(ui, PERMISSIONS.get(name, name), "", ONE, icon=ICONS.get(name, "shield-check"),
                 package=package.name, permission=name)
            for name in names
        ] or [_none("No permissions allowed" if granted else "No permissions denied")]  # fmt: skip
    return page(ui, "App permissions", app_head(package), *parts)


def _none(text: str) -> Widget:
    return VStack(Text(text, "small", "dim"), pad=(16, 8, 16, 12))


@APP.screen(ONE)
def app_permission(ui: Ui) -> AppPage:
    """One permission of one app."""
    package = package_of(ui)
    permission = ui.extra("permission")
    if package is None or permission not in package.permissions:
        return app_permissions(ui)
    label = PERMISSIONS.get(permission, permission)
    granted = package.permissions[permission]
    yes = "Allow only while using the app" if permission in WHILE_USED else "Allow"
    allow = partial(_set, ui.phone, package, permission)
    asked = f"{label} access for this app"
    return page(
        ui, f"{label} permission", app_head(package), Header(asked),
        radio(yes, granted, partial(allow, True)),
        radio("Don't allow", not granted, partial(allow, False)),
        link(ui, "See all apps with this permission", "", KIND, icon="apps", permission=permission),
    )  # fmt: skip


@APP.screen(PREFIX + "PermissionManagerActivity")
def permission_manager(ui: Ui) -> AppPage:
    """Every kind of permission, and how many apps have it."""
    rows: list[Widget] = []
    for name, label in sorted(PERMISSIONS.items(), key=lambda item: item[1]):
        asking = [p for p in ui.phone.packages if name in p.permissions]
        granted = sum(p.permissions[name] for p in asking)
        told = f"{granted} of {len(asking)} apps allowed"
        rows.append(link(ui, label, told, KIND, icon=ICONS[name], permission=name))
    return page(ui, "Permission manager", *rows)


@APP.screen(KIND)
def permission_apps(ui: Ui) -> AppPage:
    """The apps that ask for one kind of permission."""
    permission = ui.extra("permission")
    asking = by_label([p for p in ui.phone.packages if permission in p.permissions])
    parts: list[Widget] = []
    for title, granted in (("Allowed", True), ("Not allowed", False)):
        parts.append(Header(title))
        parts += [
            Item(p.label, "", partial(ui.open, ONE, package=p.name, permission=permission),
                 lead=app_icon(p))
            for p in asking if p.permissions[permission] is granted
        ] or [_none("No apps allowed" if granted else "No apps denied")]  # fmt: skip
    return page(ui, PERMISSIONS.get(permission, permission), *parts)


# -- notifications --


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
