"""Loan: one env's hold on a device of a pool, which another thread may end at any time."""

from __future__ import annotations

import threading

from ui_gym.contract.device import Device, DevicePool
from ui_gym.errors import DeviceLost


class Loan:
    """At most one device of `pool`, borrowed when first needed and given back exactly once."""

    def __init__(self, pool: DevicePool) -> None:
        self.pool = pool
        self._device: Device | None = None
        self._lock = threading.Lock()
        self._abandoned = threading.Event()

    @property
    def abandoned(self) -> bool:
        """Whether `abandon` was called: no device will come any more."""
        return self._abandoned.is_set()

    @property
    def device(self) -> Device:
        """The device that is held. `DeviceLost` if there is none."""
        device = self._device
        if device is None:
            raise DeviceLost("the device was taken away from this env")
        return device

    def acquire(self) -> Device:
        """The device, borrowed now if none is held. `DeviceError` if none can be had."""
        if self._device is None:
            device = self.pool.acquire()
            with self._lock:
                kept = not self._abandoned.is_set()
                self._device = device if kept else None
            if not kept:
                self.pool.release(device, healthy=False)
        return self.device

    def drop(self, *, healthy: bool) -> None:
        """Give the device back, if one is held."""
        device = self._take()
        if device is not None:
            self.pool.release(device, healthy=healthy)

    def abandon(self) -> None:
        """From any thread, for good: close the device under whoever uses it."""
        self._abandoned.set()
        device = self._take()
        if device is not None:
            try:
                device.close()
            finally:
                self.pool.release(device, healthy=False)

    def pause(self, seconds: float) -> None:
        """Wait so long, or until the loan is abandoned."""
        self._abandoned.wait(seconds)

    def _take(self) -> Device | None:
        """The device, for exactly one caller."""
        with self._lock:
            device, self._device = self._device, None
        return device
