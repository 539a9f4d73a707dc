"""A phone as it leaves the factory: what is installed on it, and what lies in its storage."""

from __future__ import annotations

from functools import lru_cache

from ui_gym_phone import apps
from ui_gym_phone.state.packages import MB, Package
from ui_gym_phone.state.phone import DENSITY, SYSTEM_UI, Phone

FOLDERS = (
    "Alarms", "Android/data", "DCIM/Camera", "Documents/Notes", "Download", "Movies", "Music",
    "Notifications", "Pictures", "Podcasts", "Ringtones",
)  # fmt: skip

HIDDEN = {
    SYSTEM_UI: "System UI",
    "com.android.adbkeyboard": "ADB Keyboard",
    "com.android.inputmethod.latin": "Keyboard",
    "com.android.providers.calendar": "Calendar Storage",
    "com.android.providers.contacts": "Contacts Storage",
    "com.android.providers.telephony": "Phone and Messaging Storage",
    "com.android.shell": "Shell",
}
"""Packages without an icon."""


def _third(
    name: str, label: str, icon: str, colour: str, sizes: tuple[float, float, float], *granted: str
) -> Package:
    app, data, cache = (round(size * MB) for size in sizes)
    asked = ("POST_NOTIFICATIONS", *granted)
    return Package(
        name, label, icon=icon, colour=colour, system=False, version="2.4.1",
        permissions=dict.fromkeys(asked, True), app_size=app, data_size=data, cache_size=cache,
        activities=(".MainActivity",),
    )  # fmt: skip


def third_party() -> list[Package]:
    """Apps that a person has installed."""
    return [
        _third(
            "com.example.skycast",
            "SkyCast",
            "weather-partly-cloudy",
            "#3a86c8",
            (34, 4, 12),
            "ACCESS_FINE_LOCATION",
        ),
        _third(
            "com.example.stride", "Stride", "run", "#2e9e6b", (48, 11, 7), "ACCESS_FINE_LOCATION"
        ),
        _third(
            "com.example.tunebox", "TuneBox", "music-note", "#8e44ad", (72, 38, 154), "RECORD_AUDIO"
        ),
        _third(
            "com.example.pocketbank",
            "PocketBank",
            "bank",
            "#1f4e79",
            (61, 6, 3),
            "CAMERA",
            "READ_CONTACTS",
        ),
        _third("com.example.recipes", "Recipes", "food", "#d35400", (29, 9, 21), "CAMERA"),
        _third(
            "com.example.chatterly",
            "Chatterly",
            "chat",
            "#c2185b",
            (88, 45, 63),
            "CAMERA",
            "READ_CONTACTS",
            "RECORD_AUDIO",
        ),
        _third(
            "com.example.transit", "Transit", "bus", "#00796b", (25, 3, 9), "ACCESS_FINE_LOCATION"
        ),
        _third("com.example.chess", "Chess", "chess-queen", "#5d4037", (19, 1, 2)),
        _third("com.example.podium", "Podium", "radio", "#6a4fbf", (41, 120, 33), "RECORD_AUDIO"),
        _third(
            "com.example.shoply",
            "Shoply",
            "cart",
            "#e0582f",
            (57, 8, 46),
            "CAMERA",
            "ACCESS_FINE_LOCATION",
        ),
    ]


def factory_phone(width: int = 1080, height: int = 2400) -> Phone:
    """A new phone with a screen of `width` x `height` device pixels, at its home screen."""
    return Phone.restore(_boxed(width, height))


@lru_cache(maxsize=8)
def _boxed(width: int, height: int) -> bytes:
    phone = Phone(width, height)
    for name, label in HIDDEN.items():
        phone.packages.add(Package(name, label, launchable=False))
    for app in apps.built_in().values():
        phone.packages.add(app.package)
    for package in third_party():
        phone.packages.add(package)
    for folder in FOLDERS:
        phone.files.mkdir(f"/sdcard/{folder}", parents=True)
    phone.properties["ro.sf.lcd_density"] = str(160 * DENSITY)
    return phone.snapshot()
