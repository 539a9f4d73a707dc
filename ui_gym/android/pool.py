"""Which device an env of the suite plays on."""

from __future__ import annotations

import dataclasses

from ui_gym.android.adb.target import AdbTarget
from ui_gym.android.adb_device import AdbDevice
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.playing import devices
from ui_gym.playing.pool import NamedPool


def android_pool(options: DeviceOptions) -> DevicePool:
    """The built-in phone, which is a distribution of its own; a phone over ADB; or another's."""
    if options.kind == "auto":
        options = dataclasses.replace(options, kind="phone")
    return devices.make_pool(options, "android", {"adb": AdbPool, "adb-direct": AdbPool})


class AdbPool(NamedPool[AdbDevice]):
    """Lends the phones that were named.

    ``adb:emulator-5554,emulator-5556`` names two phones, for a vector env of two slots.
    """

    def __init__(self, options: DeviceOptions) -> None:
        kind, _, address = options.kind.partition(":")
        names = [f"{kind}:{one}" if one else kind for one in address.split(",")]
        for name in names:
            AdbTarget.parse(name)  # a mistake in it is told now, not at the first reset
        super().__init__(
            lambda name: AdbDevice(dataclasses.replace(options, kind=name)),
            names,
            example="adb:SERIAL1,SERIAL2",
        )
