"""The index of Settings: what a person may search for, where it is, and other words for it."""

from __future__ import annotations

from dataclasses import dataclass

from ui_gym_phone.apps.settings.app import PREFIX

NETWORK = "Network & internet"
CONNECTED = "Connected devices"
SYSTEM = "System"

_PAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "NetworkDashboardActivity": ((NETWORK,), (
        "Wi-Fi|wifi wlan internet network connection", "Airplane mode|flight aeroplane radios",
        "SIMs|sim card mobile network carrier cellular", "Private DNS|hostname provider secure",
        "Hotspot & tethering|share internet")),
    "WifiSettingsActivity": ((NETWORK, "Wi-Fi"), (
        "Use Wi-Fi|wifi wlan switch turn on off", "Saved networks|wifi known",
        "Add network|wifi ssid hidden", "Network preferences|wifi advanced")),
    "MobileNetworkActivity": ((NETWORK, "SIMs"), (
        "Mobile data|cellular data", "Roaming|abroad data")),
    "TetherSettingsActivity": ((NETWORK, "Hotspot & tethering"), (
        "Wi-Fi hotspot|tethering share", "Hotspot name|ssid", "Bluetooth tethering|share")),
    "DataSaverSummaryActivity": ((NETWORK, "Data Saver"), ("Use Data Saver|background data",)),
    "ConnectedDeviceDashboardActivity": ((CONNECTED,), (
        "Bluetooth|bt wireless headphones", "Pair new device|bluetooth add connect",
        "NFC|near field", "Printing|printer")),
    "BluetoothSettingsActivity": ((CONNECTED, "Bluetooth"), (
        "Use Bluetooth|bt switch turn on off", "Paired devices|bluetooth headphones speaker")),
    "NfcSettingsActivity": ((CONNECTED, "NFC"), ("Use NFC|near field contactless",)),
    "AppDashboardActivity": (("Apps",), ("Default apps|browser phone sms",)),
    "ManageApplicationsActivity": (("Apps", "All apps"), (
        "All apps|applications uninstall force stop remove disable clear storage cache info",)),
    "ManageDefaultAppsActivity": (("Apps", "Default apps"), (
        "Browser app|default", "Phone app|default dialer", "SMS app|default messages")),
    "ConfigureNotificationSettingsActivity": (("Notifications",), (
        "Notification history|", "Notifications on lock screen|privacy sensitive",
        "Bubbles|conversations", "Notification dot on app icon|badge",
        "Hide silent notifications in status bar|")),
    "NotificationAppListActivity": (("Notifications", "App notifications"), (
        "App notifications|block allow turn off apps",)),
    "NotificationHistoryActivity": (("Notifications", "Notification history"), (
        "Use notification history|recent dismissed",)),
    "ZenModeSettingsActivity": (("Notifications", "Do Not Disturb"), (
        "Use Do Not Disturb|dnd zen quiet silence interruptions", "Repeat callers|dnd",
        "Duration for Quick Settings|dnd")),
    "PowerUsageSummaryActivity": (("Battery",), (
        "Battery Saver|power low", "Battery percentage|status bar level",
        "Adaptive Battery|power")),
    "BatterySaverSettingsActivity": (("Battery", "Battery Saver"), (
        "Use Battery Saver|power saving low energy", "Turn off when charged|saver")),
    "StorageDashboardActivity": (("Storage",), ("Images|space memory", "Videos|space memory",
        "Audio|space memory")),
    "SoundSettingsActivity": (("Sound & vibration",), (
        "Media volume|sound music loud mute", "Call volume|sound", "Ring volume|sound ringer mute",
        "Notification volume|sound mute", "Alarm volume|sound", "Phone ringtone|tone sound",
        "Vibration & haptics|vibrate", "Touch sounds|tap", "Dial pad tones|dtmf keypad",
        "Default notification sound|tone", "Default alarm sound|tone", "Screen locking sound|",
        "Charging sounds and vibration|")),
    "VibrationSettingsActivity": (("Sound & vibration", "Vibration & haptics"), (
        "Vibrate for calls|ring", "Touch feedback|haptic tap vibration")),
    "DisplaySettingsActivity": (("Display",), (
        "Brightness level|dim bright screen", "Adaptive brightness|automatic screen",
        "Screen timeout|sleep lock inactivity off", "Dark theme|night mode black appearance",
        "Auto-rotate screen|rotation orientation landscape", "Colors|natural boosted",
        "Wallpaper & style|background picture", "Night Light|blue amber tint")),
    "ScreenTimeoutActivity": (("Display", "Screen timeout"), (
        "30 seconds|sleep", "10 minutes|sleep")),
    "TextReadingSettingsActivity": (("Display", "Display size and text"), (
        "Font size|text larger smaller letters", "Bold text|font", "High contrast text|font")),
    "NightDisplaySettingsActivity": (("Display", "Night Light"), (
        "Use Night Light|blue amber tint",)),
    "AccessibilitySettingsActivity": (("Accessibility",), (
        "Color inversion|invert negative", "Extra dim|brightness",
        "Touch & hold delay|long press", "Time to take action|timeout", "Mono audio|sound",
        "Power button ends call|")),
    "SecurityDashboardActivity": (("Security",), (
        "Screen lock|pin pattern password swipe", "Lock after screen timeout|",
        "Find My Device|lost locate", "Encryption|")),
    "PrivacyDashboardActivity": (("Privacy",), (
        "Camera access|sensor", "Microphone access|sensor", "Show passwords|",
        "Show clipboard access|copy paste")),
    "PermissionManagerActivity": (("Privacy", "Permission manager"), (
        "Camera|permission apps", "Contacts|permission apps", "Microphone|permission apps",
        "Location|permission apps")),
    "LocationSettingsActivity": (("Location",), (
        "Use location|gps position", "App location permissions|gps", "Wi-Fi scanning|location",
        "Bluetooth scanning|location")),
    "AccountDashboardActivity": (("Passwords & accounts",), (
        "Add account|email user", "Automatically sync app data|refresh")),
    "SystemDashboardActivity": ((SYSTEM,), ("System update|software upgrade",)),
    "LanguageAndInputSettingsActivity": ((SYSTEM, "Languages"), (
        "Preferred languages|locale region", "Add a language|locale")),
    "KeyboardSettingsActivity": ((SYSTEM, "Keyboard"), (
        "On-screen keyboard|input method typing", "Auto-capitalization|typing",
        "Auto-correction|typing spelling", "Double-space period|typing")),
    "DateTimeSettingsActivity": ((SYSTEM, "Date & time"), (
        "Set time automatically|clock network", "Set time zone automatically|", "Time zone|region",
        "Use 24-hour format|clock 12 am pm", "Date|calendar day", "Time|clock hour")),
    "ResetDashboardActivity": ((SYSTEM, "Reset options"), (
        "Reset Bluetooth & Wi-Fi|network forget", "Reset app preferences|disabled")),
    "DevelopmentSettingsDashboardActivity": ((SYSTEM, "Developer options"), (
        "USB debugging|adb", "Stay awake|screen charging", "Show taps|touches",
        "Window animation scale|speed")),
    "MyDeviceInfoActivity": (("About phone",), (
        "Device name|rename phone", "Model|hardware", "Android version|os software release",
        "IP address|network", "Phone number|sim", "Build number|developer", "Up time|")),
}  # fmt: skip
"""Class -> (path, what is on the page: its title, and after ``|`` other words for it)."""

DEVELOPER = PREFIX + "DevelopmentSettingsDashboardActivity"


@dataclass(frozen=True)
class SettingsEntry:
    """Something to be found: its title, the path of the page that has it, that page's class."""

    title: str
    path: tuple[str, ...]
    cls: str
    words: str
    """All that a search looks into, in small letters."""


def _entries() -> list[SettingsEntry]:
    """Each page by its title, and what is on it. A row that only leads to a page is that page,
    found by the row's words, too."""
    found: dict[tuple[str, tuple[str, ...]], SettingsEntry] = {}
    lines = [(path[-1], path[:-1], PREFIX + name) for name, (path, _) in _PAGES.items()]
    lines += [(line, path, PREFIX + name) for name, (path, on) in _PAGES.items() for line in on]
    for line, path, cls in lines:
        title, _, words = line.partition("|")
        if path[-1:] == (title,):
            path = path[:-1]
        known = found.get((title, path), SettingsEntry(title, path, cls, _plain(title)))
        words = f"{known.words} {_plain(words)}".strip()
        found[title, path] = SettingsEntry(title, path, known.cls, words)
    return list(found.values())


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("colour", "color")


ENTRIES = _entries()


def search(query: str, *, developer: bool = False) -> list[SettingsEntry]:
    """The entries that hold every word of a query, those with it in their titles first.

    Each word may be the beginning of one. `developer` tells whether developer options are shown.
    """
    words = _plain(query).split()
    if not words:
        return []

    def holds(text: str) -> bool:
        parts = text.replace("&", " ").split()
        return all(any(part.startswith(word) for part in parts) for word in words)

    hits = [e for e in ENTRIES if holds(e.words) and (developer or e.cls != DEVELOPER)]
    return sorted(hits, key=lambda e: (not holds(_plain(e.title)), len(e.path)))
