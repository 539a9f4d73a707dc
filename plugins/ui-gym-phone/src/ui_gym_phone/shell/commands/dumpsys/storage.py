"""dumpsys diskstats: how much room what takes, in bytes."""

from __future__ import annotations

import json

from ui_gym_phone.shell.commands.dumpsys.services import service
from ui_gym_phone.state.phone import Phone

TOTAL = 16 * 10**9
SYSTEM = 3 * 10**9


@service("diskstats")
def diskstats(phone: Phone, words: list[str]) -> str:
    packages = list(phone.packages)
    apps = [p.app_size for p in packages]
    data = [p.data_size for p in packages]
    caches = [p.cache_size for p in packages]
    used = SYSTEM + sum(apps) + sum(data) + sum(caches) + phone.files.used
    free = max(0, TOTAL - used)
    kinds = {"Photos": (".jpg", ".jpeg", ".png"), "Videos": (".mp4",), "Audio": (".mp3", ".ogg")}
    sizes = dict.fromkeys(kinds, 0)
    downloads = 0
    for path in phone.files.walk("/sdcard"):
        if phone.files.is_file(path):
            size = phone.files.stat(path).size
            downloads += size * path.startswith("/sdcard/Download/")
            for kind, endings in kinds.items():
                sizes[kind] += size * path.lower().endswith(endings)
    lines = [
        "Latency: 1ms [512B Data Write]",
        "Recent Disk Write Speed (kB/s) = 34120",
        f"Data-Free: {free // 1024}K / {TOTAL // 1024}K total = {free * 100 // TOTAL}% free",
        "Cache-Free: 98304K / 98304K total = 100% free",
        "System-Free: 0K / 2929688K total = 0% free",
        "File-based Encryption: true",
        f"App Size: {sum(apps)}",
        f"App Data Size: {sum(data)}",
        f"App Cache Size: {sum(caches)}",
        *(f"{kind} Size: {size}" for kind, size in sizes.items()),
        f"Downloads Size: {downloads}",
        f"System Size: {SYSTEM}",
        f"Other Size: {phone.files.used}",
        f"Package Names: {_array([p.name for p in packages])}",
        f"App Sizes: {_array(apps)}",
        f"App Data Sizes: {_array(data)}",
        f"Cache Sizes: {_array(caches)}",
    ]
    return "".join(line + "\n" for line in lines)


def _array(values: list[str] | list[int]) -> str:
    return json.dumps(values, separators=(",", ":"))
