"""Switches: what can be turned on, off, up and down, with all that follows from it on Android.

The Settings app, the quick settings and the shell's commands all go through these functions, so
that a switch is worth the same wherever it is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone


@dataclass(frozen=True)
class VolumeStream:
    """One of `AudioManager`'s streams, with its volume's range and its setting."""

    index: int
    name: str
    label: str
    setting: str
    low: int
    high: int


STREAMS = {
    s.index: s
    for s in (
        VolumeStream(0, "STREAM_VOICE_CALL", "Call volume", "volume_voice", 1, 7),
        VolumeStream(1, "STREAM_SYSTEM", "System volume", "volume_system", 0, 7),
        VolumeStream(2, "STREAM_RING", "Ring volume", "volume_ring", 0, 7),
        VolumeStream(3, "STREAM_MUSIC", "Media volume", "volume_music", 0, 15),
        VolumeStream(4, "STREAM_ALARM", "Alarm volume", "volume_alarm", 1, 7),
        VolumeStream(5, "STREAM_NOTIFICATION", "Notification volume", "volume_notification", 0, 7),
    )
}
CALL, SYSTEM, RING, MUSIC, ALARM, NOTIFICATION = range(6)

SILENT, VIBRATE, NORMAL = 0, 1, 2
"""Ringer modes."""

DND_OFF, DND_PRIORITY, DND_TOTAL, DND_ALARMS = 0, 1, 2, 3
"""Values of ``zen_mode``."""

MAX_BRIGHTNESS = 255
MIN_BRIGHTNESS = 1


Turn = Callable[["Phone", bool], None]
"""What turns something on or off."""


def reads(namespace: str, key: str) -> Callable[[Phone], bool]:
    """What tells whether a setting that is 0 when off is on."""
    return lambda phone: phone.is_on(namespace, key)


def puts(namespace: str, key: str, on: str | int = 1, off: str | int = 0) -> Turn:
    """What gives a setting one of two values."""
    return lambda phone, turned: phone.put(namespace, key, on if turned else off)


airplane = reads("global", "airplane_mode_on")
mobile_data = reads("global", "mobile_data")
dnd = reads("global", "zen_mode")
location = reads("secure", "location_mode")
auto_rotate = reads("system", "accelerometer_rotation")
night_light = reads("secure", "night_display_activated")
adaptive_brightness = reads("system", "screen_brightness_mode")
battery_saver = reads("global", "low_power")

set_mobile_data = puts("global", "mobile_data")
set_bluetooth = puts("global", "bluetooth_on")  # in airplane mode, too
set_location = puts("secure", "location_mode", 3)  # high accuracy
set_auto_rotate = puts("system", "accelerometer_rotation")
set_night_light = puts("secure", "night_display_activated")
set_adaptive_brightness = puts("system", "screen_brightness_mode")
set_dark = puts("secure", "ui_night_mode", 2, 1)


# -- radios --


def set_airplane(phone: Phone, on: bool) -> None:
    """Airplane mode takes Wi-Fi and Bluetooth down and gives back those that it took.

    The settings say so as on Android (`WifiSettingsStore`, `BluetoothManagerService`): ``wifi_on``
    is 3 and ``bluetooth_on`` 2 for one that waits for the end of airplane mode.
    """
    wifi, bluetooth = wifi_on(phone), bluetooth_on(phone)
    waiting = phone.setting("global", "wifi_on") in ("2", "3")
    phone.put("global", "airplane_mode_on", int(on))
    if on and wifi and not waiting:
        phone.put("global", "wifi_on", 3)
    elif not on and waiting:
        phone.put("global", "wifi_on", 1)
    if on and bluetooth:
        phone.put("global", "bluetooth_on", 2)
    elif not on and phone.is_on("global", "bluetooth_on"):
        phone.put("global", "bluetooth_on", 1)


def wifi_on(phone: Phone) -> bool:
    """Whether Wi-Fi is up; 2 is on in spite of airplane mode."""
    return phone.setting("global", "wifi_on") in ("1", "2")


def set_wifi(phone: Phone, on: bool) -> None:
    """Turn Wi-Fi on or off; in airplane mode, too."""
    phone.put("global", "wifi_on", (2 if airplane(phone) else 1) if on else 0)


def bluetooth_on(phone: Phone) -> bool:
    """Whether Bluetooth is up; 2 is on, but not while airplane mode is."""
    value = phone.setting("global", "bluetooth_on")
    return value == "1" or (value == "2" and not airplane(phone))


def set_private_dns(phone: Phone, mode: str, host: str = "") -> None:
    """Private DNS: ``off``, ``opportunistic`` or ``hostname``, with the provider's name."""
    phone.put("global", "private_dns_mode", mode)
    if mode == "hostname":
        phone.put("global", "private_dns_specifier", host)


# -- display --


def set_brightness(phone: Phone, level: int) -> None:
    """Brightness of the screen, of 255; it is never quite dark."""
    phone.put("system", "screen_brightness", min(MAX_BRIGHTNESS, max(MIN_BRIGHTNESS, level)))


def brightness(phone: Phone) -> int:
    """Brightness of the screen, of 255."""
    try:
        level = int(float(phone.setting("system", "screen_brightness", "102")))
    except (ValueError, OverflowError):
        level = 102
    return min(MAX_BRIGHTNESS, max(0, level))


def brightness_percent(phone: Phone) -> int:
    """Brightness as the Settings app shows it."""
    return round(100 * brightness(phone) / MAX_BRIGHTNESS)


def set_screen_timeout(phone: Phone, ms: int) -> None:
    """How long the screen stays on untouched, in milliseconds."""
    phone.put("system", "screen_off_timeout", ms)


# -- sound --


def volume(phone: Phone, stream: int) -> int:
    """A stream's volume, within its range."""
    kind = STREAMS[stream]
    try:
        level = int(phone.setting("system", kind.setting, "5"))
    except ValueError:
        level = 5
    return min(kind.high, max(kind.low, level))


def set_volume(phone: Phone, stream: int, level: int) -> None:
    """Set a stream's volume; what lies beyond its range is its end.

    Ring volume 0 is to vibrate, and a volume above 0 ends that.
    """
    kind = STREAMS[stream]
    level = min(kind.high, max(kind.low, level))
    phone.put("system", kind.setting, level)
    phone.put("system", f"{kind.setting}_speaker", level)
    if stream == RING:
        phone.put("global", "mode_ringer", NORMAL if level else VIBRATE)


def ringer(phone: Phone) -> int:
    """The ringer mode: `SILENT`, `VIBRATE` or `NORMAL`."""
    value = phone.setting("global", "mode_ringer", str(NORMAL))
    return int(value) if value in ("0", "1", "2") else NORMAL


def set_dnd(phone: Phone, on: bool, mode: int = DND_PRIORITY) -> None:
    """Do Not Disturb; only what has priority comes through, unless another mode is given."""
    phone.put("global", "zen_mode", mode if on else DND_OFF)


# -- time --


def set_time_zone(phone: Phone, name: str) -> bool:
    """Set the zone that the phone shows, by its name (``Europe/Berlin``). False for no zone."""
    try:
        offset = phone.clock.local.astimezone(ZoneInfo(name)).utcoffset()
    except (ValueError, OSError, KeyError):  # no such name, or no zones on this computer
        if name not in ("UTC", "GMT", "Etc/UTC"):
            return False
        offset = timedelta()
    assert offset is not None
    phone.clock.offset_minutes = int(offset.total_seconds() // 60)
    phone.properties["persist.sys.timezone"] = name
    return True


# -- power --


@dataclass(frozen=True)
class Battery:
    """The battery: `level` in percent, `status` and `plugged` as `BatteryManager` has them."""

    level: int = 87
    ac: bool = False
    usb: bool = False
    wireless: bool = False
    status: int = 3
    """2 charging, 3 discharging, 4 not charging, 5 full."""
    health: int = 2
    temperature: int = 250
    """Tenths of a degree Celsius."""
    voltage: int = 4050
    """Millivolts."""

    @property
    def plugged(self) -> bool:
        return self.ac or self.usb or self.wireless


def battery(phone: Phone) -> Battery:
    """The battery as it is, or as `dumpsys battery set` says it were."""
    told = phone.settings.get(_BATTERY, {})
    known = Battery()
    values = {name: type(getattr(known, name))(int(value)) for name, value in told.items()}
    return Battery(**values)


def pretends(phone: Phone) -> bool:
    """Whether the battery is not told as it is."""
    return _BATTERY in phone.settings


def set_battery(phone: Phone, **values: int) -> None:
    """Pretend: fields of `Battery` with their values. `reset_battery` ends it."""
    told = phone.settings.setdefault(_BATTERY, {})
    told.update({name: str(int(value)) for name, value in values.items()})


def reset_battery(phone: Phone) -> None:
    """What the battery really is."""
    phone.settings.pop(_BATTERY, None)


def reboot(phone: Phone) -> None:
    """Restart: what was open is gone, and so is what was posted; what is stored stays."""
    phone.home()
    phone.tasks.clear()
    phone.notifications = []
    phone.clipboard, phone.toast, phone.awake = "", "", True
    phone.clock.uptime_ms = 0
    reset_battery(phone)


def set_battery_saver(phone: Phone, on: bool) -> None:
    """Battery Saver; a phone that is plugged in refuses it."""
    phone.put("global", "low_power", int(on and not battery(phone).plugged))


_BATTERY = "battery"
"""Beside the namespaces of settings, and out of reach of `settings`."""
