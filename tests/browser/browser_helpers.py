"""What several of the browser's tests need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.pool import BrowserPool
from ui_gym.contract.device import DeviceOptions

SIZE = (320, 256)

MakeDevice = Callable[..., ChromiumDevice]
"""The type of the fixture `make_device`."""
WritePage = Callable[..., Path]
"""The type of the fixture `page`."""


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


class KeptPool:
    """A pool whose browsers are lent again, as long as they are in order."""

    def __init__(self, options: DeviceOptions) -> None:
        self._pool = BrowserPool(options)
        self._idle: list[Any] = []

    def acquire(self) -> Any:
        return self._idle.pop() if self._idle else self._pool.acquire()

    def release(self, device: Any, *, healthy: bool) -> None:
        if healthy:
            self._idle.append(device)
        else:
            self._pool.release(device, healthy=False)

    def close(self) -> None:
        self._pool.close()
