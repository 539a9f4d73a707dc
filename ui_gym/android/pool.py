"""Which device an env of the suite plays on."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ui_gym.android.surface import AndroidDevice
from ui_gym.device import Device, DeviceOptions
from ui_gym.errors import UserError, nearest

KINDS = ("auto", "phone", "adb", "adb-direct")


class AndroidPool:
    """Lends phones: built-in ones as many as are wanted, others as many as were named.

    ``adb:emulator-5554,emulator-5556`` names two phones, for a vector env of two slots.
    """

    def __init__(self, options: DeviceOptions) -> None:
        self._make, self._free = _maker(options)
        self._named = self._free is not None
        self._lock = threading.Lock()
        self._lent: dict[Device, str] = {}

    def acquire(self) -> Device:
        name = self._take()
        try:
            device = self._make(name)
        except BaseException:
            self._return(name)
            raise
        with self._lock:
            self._lent[device] = name
        try:
            device.start()
        except BaseException:
            self.release(device, healthy=False)
            raise
        return device

    def release(self, device: Device, *, healthy: bool) -> None:
        device.close()
        with self._lock:
            name = self._lent.pop(device, None)
        if name is not None:
            self._return(name)

    def close(self) -> None:
        with self._lock:
            lent, self._lent = list(self._lent), {}
        for device in lent:
            device.close()

    def _take(self) -> str:
        with self._lock:
            if self._free is None:
                return ""
            if not self._free:
                raise UserError(
                    "every phone that was named is in use: name one for each slot, as in "
                    "device='adb:SERIAL1,SERIAL2', or make fewer slots"
                )
            return self._free.pop(0)

    def _return(self, name: str) -> None:
        with self._lock:
            if self._free is not None:
                self._free.append(name)


def _maker(
    options: DeviceOptions,
) -> tuple[Callable[[str], AndroidDevice], list[str] | None]:
    """What makes a device of a name, and the names that there are (None: no names needed)."""
    kind, _, address = options.kind.partition(":")
    if kind not in KINDS:
        raise UserError(f"the Android suite has no device {kind!r}. {nearest(kind, KINDS)}")
    if kind in ("auto", "phone"):
        if address:
            raise UserError(f"device='phone' takes no address, not {address!r}")
        from ui_gym.android.builtin import PhoneDevice

        return (lambda _: PhoneDevice(options)), None
    import dataclasses

    from ui_gym.android.adb.target import Target
    from ui_gym.android.real import AdbDevice

    names = [f"{kind}:{one}" if one else kind for one in address.split(",")]
    for name in names:
        Target.parse(name)  # a mistake in it is told now, not at the first reset
    if len(set(names)) < len(names):
        raise UserError(f"a phone is named twice in {options.kind!r}")
    return (lambda name: AdbDevice(dataclasses.replace(options, kind=name))), names
