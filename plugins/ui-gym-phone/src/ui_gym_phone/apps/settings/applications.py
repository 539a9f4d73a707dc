"""Apps: the list of all apps, an app's page and its storage, default apps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import (
    action,
    actions,
    app_head,
    app_icon,
    link,
    listed,
    page,
    pick,
    title_bar,
)
from ui_gym_phone.apps.support import size_text
from ui_gym_phone.state import kept
from ui_gym_phone.state.packages import PERMISSIONS, Package
from ui_gym_phone.state.phone import LAUNCHER, SYSTEM_UI, Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, confirm, more_menu
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.widgets import Empty, Header, IconButton, Item, Text

INFO = PREFIX + "AppInfoActivity"
STORAGE = PREFIX + "AppStorageSettingsActivity"

VITAL = (LAUNCHER, SYSTEM_UI, APP.package.name)
"""Packages that cannot be disabled."""

USAGES = (
    ("Unrestricted", "unrestricted"),
    ("Optimized", "optimized"),
    ("Restricted", "restricted"),
)

ROLES = {
    "Browser app": ("browser", ("com.android.browser",)),
    "Home app": ("home", (LAUNCHER,)),
    "Phone app": ("dialer", ("com.android.dialer",)),
    "SMS app": ("sms", ("com.android.messaging", "com.example.chatterly")),
}
"""What a default app is for -> its key, and the packages that could be it."""


def by_label(packages: Sequence[Package]) -> list[Package]:
    return sorted(packages, key=lambda p: (p.label.lower(), p.name))


def shown_apps(phone: Phone, *, system: bool = False) -> list[Package]:
    """Apps that a person knows; with `system` those too that have no icon."""
    return by_label([p for p in phone.packages if system or p.launchable])


# -- Apps and the list of all apps --


@APP.screen(PREFIX + "AppDashboardActivity")
def dashboard(ui: Ui) -> AppPage:
    """Apps: those used last, and what concerns all apps."""
    phone = ui.phone
    used = [task.package for task in reversed(phone.tasks) if task.package != APP.package.name]
    recent = [p for name in used[:4] if (p := phone.packages.get(name)) is not None]
    return page(
        ui, "Apps",
        Header("Recently opened apps") if recent else None,
        *(_row(ui, package, "") for package in recent),
        link(ui, f"See all {len(shown_apps(phone))} apps", "",
             PREFIX + "ManageApplicationsActivity", icon="apps"),
        Header("General"),
        link(ui, "Default apps", "Browser, Phone and SMS", PREFIX + "ManageDefaultAppsActivity"),
        link(ui, "App notifications", "Choose which apps may notify you",
             PREFIX + "NotificationAppListActivity"),
        link(ui, "Permission manager", "Which apps may use what",
             PREFIX + "PermissionManagerActivity"),
    )  # fmt: skip


def _row(ui: Ui, package: Package, told: str) -> Widget:
    opened = partial(ui.open, INFO, package=package.name)
    return Item(package.label, told, opened, lead=app_icon(package))


@APP.screen(PREFIX + "ManageApplicationsActivity")
def all_apps(ui: Ui) -> AppPage:
    """All apps, which can be searched."""
    searching = ui.state.get("overlay") == "search"
    wanted = ui.text("search").strip().lower() if searching else ""
    system = bool(ui.state.get("system"))
    found = [p for p in shown_apps(ui.phone, system=system) if wanted in p.label.lower()]
    rows = [_row(ui, p, _told(p)) for p in found]
    body = ScrollView(
        ui, "list", VStack(*(rows or [Empty("magnify", "No apps.")]), pad=(0, 4, 0, 24))
    )
    bar = _search_bar(ui) if searching else title_bar(ui, "All apps", _all_apps_actions(ui))
    text = "Hide system" if system else "Show system"
    return AppPage(body, bar=bar, menu=more_menu(ui, [(text, ui.setter("system", not system))]))


def _told(package: Package) -> str:
    return size_text(package.size) if package.enabled else "Disabled"


def _all_apps_actions(ui: Ui) -> list[Widget]:
    return [
        IconButton("magnify", "Search", ui.search),
        IconButton("dots-vertical", "More options", ui.setter("overlay", "menu")),
    ]


def _search_bar(ui: Ui) -> Widget:
    arrow = IconButton("arrow-left", "Collapse", ui.stop_searching, colour="text")
    field = TextField(ui, "search", "Search apps", framed=False, weight=1)
    return HStack(arrow, field, gap=4, pad=(4, 8, 16, 8))


# -- one app --


def gone(ui: Ui) -> AppPage:
    """What is shown of an app that is no longer there."""
    return page(ui, "App info", Empty("apps", "This app is not installed."))


def package_of(ui: Ui) -> Package | None:
    """The app that a page is about."""
    return ui.phone.packages.get(ui.extra("package"))


@APP.screen(INFO)
def app_info(ui: Ui) -> AppPage:
    """An app's page."""
    package = package_of(ui)
    if package is None:
        return gone(ui)
    phone, name = ui.phone, package.name
    launchable = package.launchable and package.enabled
    allowed = package.permissions.get("POST_NOTIFICATIONS", True)
    usage = kept.text(phone, f"usage.{name}", "optimized")
    stop = action("alert-circle-outline", "Force stop", partial(ui.ask, "stop"),
                  enabled=not package.stopped)  # fmt: skip
    return page(
        ui, "App info", app_head(package),
        actions(
            action("open-in-new", "Open", partial(_launch, phone, name), enabled=launchable),
            _removal(ui, package),
            stop,
        ),
        link(ui, "Notifications", "On" if allowed else "Off",
             PREFIX + "AppNotificationSettingsActivity", package=name),
        link(ui, "Permissions", _granted(package), PREFIX + "AppPermissionsActivity", package=name),
        link(ui, "Storage & cache", f"{size_text(package.size)} used in internal storage",
             STORAGE, package=name),
        Item("App battery usage", listed(USAGES, usage), partial(ui.ask, "usage")),
        VStack(Text(f"version {package.version}", "small", "dim"), pad=(16, 16, 16, 8)),
        dialog=_info_dialog(ui, package, usage),
    )  # fmt: skip


def _launch(phone: Phone, package: str) -> None:
    phone.launch(package)


def _granted(package: Package) -> str:
    if not package.permissions:
        return "No permissions requested"
    granted = [PERMISSIONS.get(name, name) for name, on in package.permissions.items() if on]
    return ", ".join(sorted(granted)) or "No permissions granted"


def _removal(ui: Ui, package: Package) -> Widget:
    """Uninstall, or what stands for it with an app of the system."""
    if not package.system:
        return action("delete-outline", "Uninstall", partial(ui.ask, "uninstall"))
    if package.enabled:
        return action("minus-circle-outline", "Disable", partial(ui.ask, "disable"),
                      enabled=package.name not in VITAL)  # fmt: skip
    return action("check", "Enable", partial(setattr, package, "enabled", True))


def _info_dialog(ui: Ui, package: Package, usage: str) -> Dialog | None:
    phone = ui.phone

    def uninstall() -> None:
        phone.uninstall(package.name)
        ui.say(f"Uninstalled {package.label}")
        ui.close()

    def disable() -> None:
        phone.force_stop(package.name)
        package.enabled = False

    if ui.dialog == "uninstall":
        return confirm(ui, package.label, "Do you want to uninstall this app?", "OK", uninstall)
    if ui.dialog == "disable":
        text = "If you disable this app, Android and other apps may no longer function as intended."
        return confirm(ui, f"Disable {package.label}?", text, "Disable", disable)
    if ui.dialog == "stop":
        text = "If you force stop an app, it may misbehave."
        stop = partial(phone.force_stop, package.name)
        return confirm(ui, "Force stop?", text, "OK", stop)
    if ui.dialog == "usage":
        keep = partial(kept.keep, phone, f"usage.{package.name}")
        return pick(ui, "App battery usage", USAGES, usage, keep)
    return None


@APP.screen(STORAGE)
def app_storage(ui: Ui) -> AppPage:
    """What an app takes of the storage, and ways to take less."""
    package = package_of(ui)
    if package is None:
        return gone(ui)

    def clear_cache() -> None:
        package.cache_size = 0

    def clear_storage() -> None:
        ui.phone.clear_data(package.name)

    dialog = None
    if ui.dialog == "clear":
        text = (
            f"{package.label}'s data, including files and settings, will be permanently deleted "
            "from this device."
        )
        dialog = confirm(ui, "Delete app data?", text, "Delete", clear_storage)
    return page(
        ui, "Storage", app_head(package),
        actions(
            action("delete-outline", "Clear storage", partial(ui.ask, "clear"),
                   enabled=package.data_size + package.cache_size > 0),
            action("broom", "Clear cache", clear_cache, enabled=package.cache_size > 0),
        ),
        Header("Space used"),
        Item("App size", size_text(package.app_size)),
        Item("User data", size_text(package.data_size)),
        Item("Cache", size_text(package.cache_size)),
        Item("Total", size_text(package.size)),
        dialog=dialog,
    )  # fmt: skip


# -- default apps --


@APP.screen(PREFIX + "ManageDefaultAppsActivity")
def default_apps(ui: Ui) -> AppPage:
    """Which app is taken where several could be."""
    phone, dialog = ui.phone, None
    rows: list[Widget] = []
    for title, (role, names) in ROLES.items():
        packages = [p for name in names if (p := phone.packages.get(name)) is not None]
        options = [(p.label, p.name) for p in packages] + [("None", "none")]
        chosen = kept.text(phone, f"role.{role}", options[0][1])
        rows.append(Item(title, listed(options, chosen, "None"), partial(ui.ask, role)))
        if ui.dialog == role:
            dialog = pick(ui, title, options, chosen, partial(kept.keep, phone, f"role.{role}"))
    return page(ui, "Default apps", *rows, dialog=dialog)
