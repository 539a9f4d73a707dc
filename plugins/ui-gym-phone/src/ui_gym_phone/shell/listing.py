"""How files are shown: modes, owners, sizes and times, for `ls`, `stat`, `du` and `find`."""

from __future__ import annotations

import stat as bits
from datetime import datetime, tzinfo

from ui_gym_phone.state.files import Stat

UIDS = {"root": 0, "system": 1000, "shell": 2000, "media_rw": 1023, "u0_a120": 10120}
"""Numbers of the users and groups, as in Android's android_filesystem_config.h."""

BLOCK = 4096


def mode_of(stat: Stat) -> str:
    """``-rw-rw----``."""
    return bits.filemode(stat.mode)


def kind_of(stat: Stat) -> str:
    """The type in words, as `stat` has it."""
    if stat.is_dir:
        return "directory"
    if bits.S_ISCHR(stat.mode):
        return "character device"
    return "regular file" if stat.size else "regular empty file"


def kilobytes(stat: Stat) -> int:
    """What it takes on the disk, in units of 1024 bytes."""
    return -(-stat.size // BLOCK) * (BLOCK // 1024)


def human(size: int) -> str:
    """A number of bytes in at most four characters: ``1.5K``."""
    if size < 1000:
        return str(size)
    value, units = size / 1024, "KMGTP"
    while value >= 999 and len(units) > 1:
        value, units = value / 1024, units[1:]
    unit = units[0]
    return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"


def time_of(seconds: float, zone: tzinfo | None, form: str) -> str:
    """A time as the phone shows it; one out of all calendars is 1970."""
    try:
        return datetime.fromtimestamp(seconds, zone).strftime(form)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, zone).strftime(form)
