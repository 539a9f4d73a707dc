"""Which device an env of the suite plays on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ui_gym.android.device import AndroidDevice
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import UserError, nearest
from ui_gym.playing.pool import NamedPool

KINDS = ("auto", "phone", "adb", "adb-direct")


class AndroidPool(NamedPool[AndroidDevice]):
    """Lends phones: built-in ones as many as are wanted, others as many as were named.

    ``adb:emulator-5554,emulator-5556`` names two phones, for a vector env of two slots.
    """

    def __init__(self, options: DeviceOptions) -> None:
        make, names = _maker(options)
        super().__init__(make, names, example="adb:SERIAL1,SERIAL2")


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
        from ui_gym_phone.device import PhoneDevice

        return (lambda _: PhoneDevice(options)), None

    from ui_gym.android.adb.target import Target
    from ui_gym.android.adb_device import AdbDevice

    names = [f"{kind}:{one}" if one else kind for one in address.split(",")]
    for name in names:
        Target.parse(name)  # a mistake in it is told now, not at the first reset
    return (lambda name: AdbDevice(dataclasses.replace(options, kind=name))), names
