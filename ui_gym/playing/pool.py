"""Pools whose devices share nothing: a fault of one device is no fault of another."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ui_gym.contract.device import Device
from ui_gym.errors import DeviceSetupError, DeviceStartError, UserError

STARTING_ANEW = 60.0
"""Seconds that a machine may take for it."""

D = TypeVar("D", bound=Device)


class FreshPool(Generic[D]):
    """A `DevicePool` that makes a device at each `acquire`, and closes it at its `release`.

    A device belongs to the process that acquired it: a fork of that process does not close it.
    """

    def __init__(self, make: Callable[[], D]) -> None:
        self._make = make
        # Reentrant: an env that is forgotten gives its device back from wherever Python collects.
        self._lock = threading.RLock()
        self._lent: dict[Device, int] = {}
        """The devices that are lent, and the process that acquired each."""

    def acquire(self) -> D:
        with self._lock:  # what is made may depend on what is lent
            device = self._make()
            self._lent[device] = os.getpid()
        try:
            device.start()
        except BaseException:
            self.release(device, healthy=False)
            raise
        return device

    def release(self, device: Device, *, healthy: bool) -> None:
        if self._lent.get(device, os.getpid()) != os.getpid():
            return
        device.close()
        with self._lock:
            self._lent.pop(device, None)

    def close(self) -> None:
        with self._lock:
            ours = [device for device, process in self._lent.items() if process == os.getpid()]
            for device in ours:
                del self._lent[device]
        for device in ours:
            device.close()


class NamedPool(FreshPool[D]):
    """A `FreshPool` of machines that somebody named, each lent to one slot at a time.

    One that was there before and cannot be reached is waited for: it may be starting anew. Without
    `names` there are as many as are wanted, all made of the name ``""``. `example` shows how
    several are named.
    """

    def __init__(
        self, make: Callable[[str], D], names: Sequence[str] | None, *, example: str = ""
    ) -> None:
        if names is not None and len(set(names)) < len(names):
            raise UserError(f"a machine is named twice in {', '.join(names)}")
        self._of_name = make
        self._free = None if names is None else list(names)
        self._example = example
        self._names: dict[Device, str] = {}
        self._naming = threading.RLock()  # as the lock of `FreshPool`
        self._seen: set[str] = set()
        self._closed = threading.Event()
        super().__init__(self._next)

    def acquire(self) -> D:
        deadline = time.monotonic() + STARTING_ANEW
        while True:
            try:
                device = super().acquire()
            except DeviceSetupError:
                raise
            except DeviceStartError:
                waits = self._free is not None and self._seen.issuperset(self._free[-1:])
                if not waits or time.monotonic() > deadline or self._closed.wait(1.0):
                    raise
                continue
            self._seen.add(self._names.get(device, ""))
            return device

    def close(self) -> None:
        self._closed.set()
        super().close()

    def release(self, device: Device, *, healthy: bool) -> None:
        super().release(device, healthy=healthy)
        with self._naming:
            name = self._names.pop(device, None)
            if name is not None and self._free is not None:
                self._free.append(name)

    def _next(self) -> D:
        with self._naming:
            if self._free is None:
                return self._of_name("")
            if not self._free:
                raise UserError(
                    "every machine that was named is in use: name one for each slot, as in "
                    f"device={self._example!r}, or make fewer slots"
                )
            device = self._of_name(self._free[0])
            self._names[device] = self._free.pop(0)
            return device
