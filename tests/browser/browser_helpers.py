"""What several of the browser's tests need."""

from __future__ import annotations

from pathlib import Path

import psutil

from ui_gym.browser.chromium.device import ChromiumDevice

SIZE = (320, 256)


def browsers(scratch: Path) -> list[psutil.Process]:
    """All browser processes that work in `scratch`, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        told = process.info["cmdline"] or []
        alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if alive and any(str(scratch) in part for part in told):
            found.append(process)
    return found


def pages_of(device: ChromiumDevice) -> list[str]:
    """Where all the pages are that a device's browser has."""
    told = device.page.connection.call("Target.getTargets", timeout=10)["targetInfos"]
    return [target["url"] for target in told if target["type"] == "page"]
