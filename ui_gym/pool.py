"""FreshPool: lends devices that share nothing, so that one's fault is no other's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ui_gym.device import Device

D = TypeVar("D", bound=Device)


class FreshPool(Generic[D]):
    """A `DevicePool` that makes a device for each that is wanted, and closes it when it is back."""

    def __init__(self, make: Callable[[], D]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._lent: set[Device] = set()

    def acquire(self) -> D:
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
