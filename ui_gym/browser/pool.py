"""BrowserPool: lends browsers of the kind that was asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ui_gym.browser.surface import BrowserDevice
from ui_gym.device import Device, DeviceOptions
from ui_gym.errors import UserError, nearest


class BrowserPool:
    """Lends devices that share nothing, so that one's fault is no other's."""

    def __init__(self, options: DeviceOptions) -> None:
        self._make = _maker(options)
        self._lock = threading.Lock()
        self._lent: set[Device] = set()

    def acquire(self) -> Device:
        device = self._make()
        with self._lock:
            self._lent.add(device)
        try:
            device.start()
        except BaseException:
            self.release(device, healthy=False)
            raise
        return device

    def release(self, device: Device, *, healthy: bool) -> None:
        device.close()
        with self._lock:
            self._lent.discard(device)

    def close(self) -> None:
        with self._lock:
            lent, self._lent = self._lent, set()
        for device in lent:
            device.close()


def _maker(options: DeviceOptions) -> Callable[[], BrowserDevice]:
    kind = options.kind.partition(":")[0]
    if kind in ("auto", "chromium"):
        from ui_gym.browser.chromium import ChromiumDevice

        return lambda: ChromiumDevice(options)
    if kind != "selenium":
        known = ("auto", "chromium", "selenium")
        raise UserError(f"the browser suite has no device {kind!r}. {nearest(kind, known)}")
    from ui_gym.browser import browsers

    browsers.address(options.kind)  # a mistake in it is told now, not at the first reset
    try:
        from ui_gym.browser.webdriver import SeleniumDevice
    except ModuleNotFoundError as error:
        if error.name != "selenium":
            raise
        raise UserError(
            "device='selenium' needs Selenium: pip install 'ui-gym[selenium]'"
        ) from None
    return lambda: SeleniumDevice(options)
