"""Which device an env of the suite plays on."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable

from ui_gym.android.surface import AndroidDevice
from ui_gym.device import Device, DeviceOptions
from ui_gym.errors import UserError, nearest
from ui_gym.pool import FreshPool

KINDS = ("auto", "phone", "adb", "adb-direct")


class AndroidPool(FreshPool[AndroidDevice]):
    """Lends phones: built-in ones as many as are wanted, others as many as were named.

    ``adb:emulator-5554,emulator-5556`` names two phones, for a vector env of two slots.
    """

    def __init__(self, options: DeviceOptions) -> None:
        self._of_name, self._free = _maker(options)
        self._names: dict[Device, str] = {}
        self._naming = threading.Lock()
        super().__init__(self._next)

    def release(self, device: Device, *, healthy: bool) -> None:
        super().release(device, healthy=healthy)
        with self._naming:
            name = self._names.pop(device, None)
            if name is not None and self._free is not None:
                self._free.append(name)

    def _next(self) -> AndroidDevice:
        with self._naming:
            if self._free is None:
                return self._of_name("")
            if not self._free:
                raise UserError(
                    "every phone that was named is in use: name one for each slot, as in "
                    "device='adb:SERIAL1,SERIAL2', or make fewer slots"
                )
            device = self._of_name(self._free[0])
            self._names[device] = self._free.pop(0)
            return device


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

    from ui_gym.android.adb.target import Target
    from ui_gym.android.real import AdbDevice

    names = [f"{kind}:{one}" if one else kind for one in address.split(",")]
    for name in names:
        Target.parse(name)  # a mistake in it is told now, not at the first reset
    if len(set(names)) < len(names):
        raise UserError(f"a phone is named twice in {options.kind!r}")
    return (lambda name: AdbDevice(dataclasses.replace(options, kind=name))), names
