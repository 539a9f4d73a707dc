"""Loan: one env's hold on a device of a pool, which another thread may end at any time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

from ui_gym.contract.device import Device, DevicePool
from ui_gym.errors import DeviceError, DeviceLost, DeviceSetupError, UserError


class Loan:
    """At most one device of `pool`, borrowed when first needed and given back exactly once.

    With `owns_pool`, `close` closes the pool as well. A device belongs to the process that borrowed
    it: where that process was forked, the loan of the child gives nothing back and closes nothing.
    """

    def __init__(self, pool: DevicePool, *, owns_pool: bool = False) -> None:
        self.pool = pool
        self.owns_pool = owns_pool
        self.used = False
        """Whether a device was ever borrowed."""
        self._process = os.getpid()
        self._device: Device | None = None
        self._lock = threading.Lock()
        self._abandoned = threading.Event()

    @property
    def forked(self) -> bool:
        """Whether this is a copy, in a child of the process that made the loan."""
        return self._process != os.getpid()

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

    def check_process(self) -> None:
        """`UserError` in a forked child."""
        if self.forked:
            raise UserError(
                "this env belongs to the process that this one was forked from, and plays on a "
                "device there: make an env here, after the fork"
            )

    def acquire(self) -> Device:
        """The device, borrowed now if none is held. `DeviceError` if none can be had."""
        if self._device is None:
            self.used = True
            device = self.pool.acquire()
            with self._lock:
                kept = not self._abandoned.is_set()
                self._device = device if kept else None
            if not kept:
                self.pool.release(device, healthy=False)
        return self.device

    def heal(self, setup: Callable[[Device], None], pauses: Sequence[float], who: str) -> list[str]:
        """Do `setup` on the device; where that fails, on another one after each of the `pauses`.

        Returns what was wrong with each device before the one on which it succeeded.

        Raises:
            DeviceError: it failed each time, for `who`, or cannot succeed.
        """
        faults: list[str] = []
        for attempt, pause in enumerate((*pauses, None), 1):
            try:
                setup(self.acquire())
                break
            except DeviceError as error:
                self.drop(healthy=False)
                if self.abandoned or isinstance(error, DeviceSetupError):
                    raise
                if pause is None:
                    raise type(error)(
                        f"{who}: the device failed in {attempt} resets in a row. {error} "
                        "(`ui-gym doctor` checks what this machine lacks)"
                    ) from error
                faults.append(str(error))
                self.pause(pause)
        return faults

    def drop(self, *, healthy: bool) -> None:
        """Give the device back, if one is held."""
        device = None if self.forked else self._take()
        if device is not None:
            self.pool.release(device, healthy=healthy)

    def abandon(self) -> None:
        """From any thread, for good: close the device under whoever uses it."""
        self._abandoned.set()
        device = None if self.forked else self._take()
        if device is not None:
            try:
                device.close()
            finally:
                self.pool.release(device, healthy=False)

    def close(self) -> None:
        """Give the device back, and close the pool if it is this loan's own. May be repeated."""
        self.drop(healthy=True)
        if self.owns_pool and not self.forked:
            self.pool.close()

    def pause(self, seconds: float) -> None:
        """Wait so long, or until the loan is abandoned."""
        self._abandoned.wait(seconds)

    def _take(self) -> Device | None:
        """The device, for exactly one caller."""
        with self._lock:
            device, self._device = self._device, None
        return device
