"""Scenes of Settings: each brings a new phone to one of its screens."""

from __future__ import annotations

from collections.abc import Callable

from driving import scroll_to, tap

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

Scene = Callable[[Phone, PhoneScreen], None]

BANK = {"package": "com.example.pocketbank"}
EXTRAS: dict[str, dict[str, str]] = {
    "AppInfoActivity": BANK,
    "AppStorageSettingsActivity": BANK,
    "AppPermissionsActivity": BANK,
    "AppPermissionActivity": {**BANK, "permission": "CAMERA"},
    "AppNotificationSettingsActivity": BANK,
    "ManagePermissionAppsActivity": {"permission": "CAMERA"},
    "BluetoothDeviceDetailActivity": {"device": "Studio Buds"},
    "WifiDetailsSettingsActivity": {"ssid": "HomeNet"},
}
"""What the intent of a page must bring that is about one of several things."""


def opened(cls: str, *taps: str) -> Scene:
    """A scene: a page, and what is touched there one after the other."""

    def scene(phone: Phone, screen: PhoneScreen) -> None:
        phone.start(APP.package.name, cls, dict(EXTRAS.get(cls.removeprefix(PREFIX), {})))
        for what in taps:
            scroll_to(screen, what)
            tap(screen, what)

    return scene


def _found(phone: Phone, screen: PhoneScreen) -> None:
    opened(".Settings", "Search settings")(phone, screen)
    screen.text("wifi")


def _password(phone: Phone, screen: PhoneScreen) -> None:
    opened(PREFIX + "WifiSettingsActivity", "HomeNet 5G")(phone, screen)
    screen.text("correct horse")


def _offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    opened(PREFIX + "WifiSettingsActivity")(phone, screen)


def _no_results(phone: Phone, screen: PhoneScreen) -> None:
    opened(".Settings", "Search settings")(phone, screen)
    screen.text("zebra")


def _app_search(phone: Phone, screen: PhoneScreen) -> None:
    opened(PREFIX + "ManageApplicationsActivity", "Search")(phone, screen)
    screen.text("po")


def _hostname(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_private_dns(phone, "hostname", "dns.example.org")
    opened(PREFIX + "PrivateDnsModeDialogActivity")(phone, screen)


def _by_hand(phone: Phone, screen: PhoneScreen) -> None:
    opened(PREFIX + "DateTimeSettingsActivity", "Set time automatically")(phone, screen)


def _date(phone: Phone, screen: PhoneScreen) -> None:
    _by_hand(phone, screen)
    tap(screen, "Date")


def _time(phone: Phone, screen: PhoneScreen) -> None:
    _by_hand(phone, screen)
    tap(screen, "Time")


DIALOGS: dict[str, tuple[str, ...]] = {
    "NetworkDashboardActivity": ("Private DNS",),
    "TetherSettingsActivity": ("Hotspot name",),
    "WifiSettingsActivity": ("Add network",),
    "BluetoothPairingActivity": ("Car Audio",),
    "BluetoothDeviceDetailActivity": ("Forget",),
    "AppInfoActivity": ("Uninstall",),
    "AppStorageSettingsActivity": ("Clear storage",),
    "ManageApplicationsActivity": ("More options",),
    "ManageDefaultAppsActivity": ("SMS app",),
    "ConfigureNotificationSettingsActivity": ("Notifications on lock screen",),
    "ZenModeSettingsActivity": ("Calls",),
    "SoundSettingsActivity": ("Phone ringtone",),
    "DisplaySettingsActivity": ("Colors",),
    "AccessibilitySettingsActivity": ("Time to take action",),
    "AccountDashboardActivity": ("Add account",),
    "AccountSyncSettingsActivity": ("Remove account",),
    "LanguageAndInputSettingsActivity": ("Add a language",),
    "ResetDashboardActivity": ("Reset app preferences",),
    "DevelopmentSettingsDashboardActivity": ("Window animation scale",),
    "MyDeviceInfoActivity": ("Device name",),
}
"""What opens a dialog of a page."""

SCENES: dict[str, Scene] = {
    **{cls.removeprefix(PREFIX).removesuffix("Activity"): opened(cls) for cls in APP.screens},
    **{
        f"{name.removesuffix('Activity')}.dialog": opened(PREFIX + name, *taps)
        for name, taps in DIALOGS.items()
    },
    "AppInfo.force_stop": opened(PREFIX + "AppInfoActivity", "Force stop"),
    "ManageApplications.search": _app_search,
    "NightDisplay.on": opened(PREFIX + "NightDisplaySettingsActivity", "Use Night Light"),
    "WifiSettings.off": _offline,
    "WifiSettings.password": _password,
    "NotificationHistory.on": opened(
        PREFIX + "NotificationHistoryActivity", "Use notification history"
    ),
    "Search.found": _found,
    "Search.none": _no_results,
    "PrivateDnsModeDialog.hostname": _hostname,
    "DateTime.by_hand": _by_hand,
    "DateTime.date": _date,
    "DateTime.time": _time,
}
"""Name -> what brings a factory phone there."""
