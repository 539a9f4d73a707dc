"""How much of the storage apps and files take."""

from __future__ import annotations

from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone

TOTAL = 128_000_000_000
"""Bytes of the phone's storage."""

SYSTEM = 17_600_000_000
"""Bytes that Android itself takes."""

KINDS = {
    "Images": ("jpg", "jpeg", "png", "gif", "webp", "heic"),
    "Videos": ("mp4", "mkv", "webm", "3gp", "mov"),
    "Audio": ("mp3", "ogg", "wav", "m4a", "flac", "aac"),
}


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
