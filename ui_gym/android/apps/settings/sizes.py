"""Sizes of apps and files, in the words of Android's `Formatter`: decimal units."""

from __future__ import annotations

from ui_gym.android.phone.packages import Package
from ui_gym.android.phone.phone import Phone

TOTAL = 128_000_000_000
"""Bytes of the phone's storage."""

SYSTEM = 17_600_000_000
"""Bytes that Android itself takes."""

KINDS = {
    "Images": ("jpg", "jpeg", "png", "gif", "webp", "heic"),
    "Videos": ("mp4", "mkv", "webm", "3gp", "mov"),
    "Audio": ("mp3", "ogg", "wav", "m4a", "flac", "aac"),
}


def size_text(size: int) -> str:
    """``61.0 MB``: three figures and the unit."""
    value, unit = float(size), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if value < 900:
            break
        value, unit = value / 1000, bigger
    if unit == "B":
        return f"{size} B"
    places = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{places}f} {unit}"


def total_of(package: Package) -> int:
    """Bytes that an app takes in all."""
    return package.app_size + package.data_size + package.cache_size


def by_kind(phone: Phone) -> dict[str, int]:
    """Bytes of the shared storage by kind of file; what is none of the kinds is a document."""
    sums = dict.fromkeys((*KINDS, "Documents & other"), 0)
    for path in phone.files.walk("/sdcard"):
        if phone.files.is_file(path):
            ending = path.rpartition(".")[2].lower()
            kind = next((k for k, endings in KINDS.items() if ending in endings), None)
            sums[kind or "Documents & other"] += phone.files.stat(path).size
    return sums
