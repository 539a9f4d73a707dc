"""Apps and pages that tasks speak of, by the names that a person reads."""

from __future__ import annotations

from collections.abc import Mapping

from ui_gym.android.opening import LABELS

BUILT_IN = (
    "Browser", "Calculator", "Calendar", "Camera", "Clock", "Contacts", "Files", "Messages",
    "Notes", "Phone", "Play Store",
)  # fmt: skip
"""Apps that come with the phone, but Settings."""

_OWN = {"Notes": ("org.uigym.notes",)}

CAMERA = ("CAMERA", "Camera")
CONTACTS = ("READ_CONTACTS", "Contacts")
LOCATION = ("ACCESS_FINE_LOCATION", "Location")
MICROPHONE = ("RECORD_AUDIO", "Microphone")

THIRD_PARTY: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "SkyCast": ("com.example.skycast", (LOCATION,)),
    "Stride": ("com.example.stride", (LOCATION,)),
    "TuneBox": ("com.example.tunebox", (MICROPHONE,)),
    "PocketBank": ("com.example.pocketbank", (CAMERA, CONTACTS)),
    "Recipes": ("com.example.recipes", (CAMERA,)),
    "Chatterly": ("com.example.chatterly", (CAMERA, CONTACTS, MICROPHONE)),
    "Transit": ("com.example.transit", (LOCATION,)),
    "Chess": ("com.example.chess", ()),
    "Podium": ("com.example.podium", (MICROPHONE,)),
    "Shoply": ("com.example.shoply", (CAMERA, LOCATION)),
}
"""Apps that a person has installed on the built-in phone: name -> (package, the permissions that it
asks for beside notifications, as (constant, what Settings call it))."""

PAGES: Mapping[str, tuple[str, ...]] = {
    "Network & internet": ("Network & internet", "NetworkDashboardActivity"),
    "Wi-Fi": ("Network & internet", "Wi-Fi", "WifiSettingsActivity"),
    "Connected devices": ("Connected devices", "ConnectedDeviceDashboardActivity"),
    "Bluetooth": ("Connected devices", "Bluetooth", "BluetoothSettingsActivity"),
    "Notifications": ("Notifications", "ConfigureNotificationSettingsActivity"),
    "Do Not Disturb": ("Notifications", "Do Not Disturb", "ZenModeSettingsActivity"),
    "Battery": ("Battery", "PowerUsageSummaryActivity"),
    "Battery Saver": ("Battery", "Battery Saver", "BatterySaverSettingsActivity"),
    "Storage": ("Storage", "StorageDashboardActivity"),
    "Sound & vibration": ("Sound & vibration", "SoundSettingsActivity"),
    "Display": ("Display", "DisplaySettingsActivity"),
    "Accessibility": ("Accessibility", "AccessibilitySettingsActivity"),
    "Security": ("Security", "SecurityDashboardActivity"),
    "Privacy": ("Privacy", "PrivacyDashboardActivity"),
    "Location": ("Location", "LocationSettingsActivity"),
    "System": ("System", "SystemDashboardActivity"),
    "Languages": ("System", "Languages", "LanguageAndInputSettingsActivity"),
    "Date & time": ("System", "Date & time", "DateTimeSettingsActivity"),
    "About phone": ("About phone", "MyDeviceInfoActivity"),
    "Apps": ("Apps", "AppDashboardActivity"),
}
"""Pages of Settings: title -> the rows to touch, from the first page on, and its class's name after
``Settings$``."""


def packages_of(app: str) -> tuple[str, ...]:
    """The packages that an app of this name may be, the likeliest first."""
    if app in THIRD_PARTY:
        return (THIRD_PARTY[app][0],)
    return _OWN.get(app) or LABELS[app.lower()]
