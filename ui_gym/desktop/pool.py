"""Which device an env of the suite plays on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.desktop.device import DesktopDevice
from ui_gym.playing import devices
from ui_gym.playing.pool import NamedPool

KINDS = ("auto", "x11", "osworld", "qemu")


def desktop_pool(options: DeviceOptions) -> DevicePool:
    """One of the suite's own desktops, or an installed device."""
    return devices.make_pool(options, "desktop", dict.fromkeys(KINDS, DesktopPool))


class DesktopPool(NamedPool[DesktopDevice]):
    """Lends desktops: X sessions and virtual machines as many as are wanted, machines of OSWorld's
    as many as were named.

    ``osworld:http://one:5000,http://two:5000`` names two, for a vector env of two slots.
    """

    def __init__(self, options: DeviceOptions) -> None:
        make, names = _maker(options)
        super().__init__(make, names, example="osworld:http://one:5000,http://two:5000")


def _maker(
    options: DeviceOptions,
) -> tuple[Callable[[str], DesktopDevice], list[str] | None]:
    """What makes a device of a name, and the names that there are (None: no names needed)."""
    kind = options.kind.partition(":")[0]
    if kind == "osworld":
        from ui_gym.desktop.http.address import addresses
        from ui_gym.desktop.http.device import OSWorldDevice

        # A mistake in one is told now, not at the first reset.
        names = [f"{kind}:{one}" for one in addresses(options.kind)]
        return (lambda name: OSWorldDevice(dataclasses.replace(options, kind=name))), names
    if kind == "qemu":
        from ui_gym.desktop.qemu.device import QemuDevice
        from ui_gym.desktop.qemu.settings import QemuSettings

        QemuSettings.parse(options.kind)
        return (lambda _: QemuDevice(options)), None
    from ui_gym.desktop.x11.device import X11Device

    return (lambda _: X11Device(options)), None
