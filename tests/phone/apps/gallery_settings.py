"""Scenes of Settings: each brings a new phone to one of its screens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from driving import Scene, Step, scroll_to, typing, walk

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

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


def opened(cls: str, *steps: Step) -> Scene:
    """A scene: a page, and what is done there; what is touched is scrolled to."""
    extras = EXTRAS.get(cls.removeprefix(PREFIX), {})

    def scrolled(step: Step) -> Iterator[Step]:
        if isinstance(step, str):
            yield partial(scroll_to, what=step)
        yield step

    def bring(phone: Phone, screen: PhoneScreen) -> None:
        phone.start(APP.package.name, cls, dict(extras))
        walk(screen, *(each for step in steps for each in scrolled(step)))

    return bring


def _offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    opened(PREFIX + "WifiSettingsActivity")(phone, screen)


def _hostname(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_private_dns(phone, "hostname", "dns.example.org")
    opened(PREFIX + "PrivateDnsModeDialogActivity")(phone, screen)


SEARCH = (".Settings", "Search settings")
BY_HAND = (PREFIX + "DateTimeSettingsActivity", "Set time automatically")

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
    "ManageApplications.search": opened(
        PREFIX + "ManageApplicationsActivity", "Search", typing("po")
    ),
    "NightDisplay.on": opened(PREFIX + "NightDisplaySettingsActivity", "Use Night Light"),
    "WifiSettings.off": _offline,
    "WifiSettings.password": opened(
        PREFIX + "WifiSettingsActivity", "HomeNet 5G", typing("correct horse")
    ),
    "NotificationHistory.on": opened(
        PREFIX + "NotificationHistoryActivity", "Use notification history"
    ),
    "Search.found": opened(*SEARCH, typing("wifi")),
    "Search.none": opened(*SEARCH, typing("zebra")),
    "PrivateDnsModeDialog.hostname": _hostname,
    "DateTime.by_hand": opened(*BY_HAND),
    "DateTime.date": opened(*BY_HAND, "Date"),
    "DateTime.time": opened(*BY_HAND, "Time"),
}
"""Name -> what brings a factory phone there."""
