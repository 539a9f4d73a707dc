"""The system services that `dumpsys` knows, by name."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from ui_gym_phone.state.phone import Phone

Dump = Callable[[Phone, list[str]], str]
"""What a service tells of the phone, given the words after its name."""

SERVICES: dict[str, Dump] = {}

MUTE = (
    "accessibility", "account", "alarm", "appops", "clipboard", "content", "device_policy",
    "devicestoragemonitor", "gfxinfo", "jobscheduler", "media_session", "media.camera", "mount",
    "netstats", "procstats", "statusbar", "usagestats", "user", "vibrator_manager", "wallpaper",
)  # fmt: skip
"""Services that are there, and of which nothing is told."""


def service(*names: str) -> Callable[[Dump], Dump]:
    """Registers a function as what `names` tell."""

    def register(function: Dump) -> Dump:
        for name in names:
            SERVICES[name] = function
        return function

    return register


def names() -> list[str]:
    """All services, sorted."""
    return sorted({*SERVICES, *MUTE})


def mark(text: str) -> str:
    """The number that Android prints of an object: here, of what it is about."""
    return f"{zlib.crc32(text.encode()) & 0xFFFFFFF:x}"


def word(value: bool) -> str:
    return str(value).lower()
