"""Devices of other distributions: found by the entry-point group ``ui_gym.devices``.

A distribution that brings a device declares a factory of its pool, under the name that
``gym.make(..., device=NAME)`` is given:

    [project.entry-points."ui_gym.devices"]
    mykind = "my_package.device:make_pool"

The factory is a callable that takes `DeviceOptions` and returns a `DevicePool`; a class will do.
It keeps these rules:

- ``options.kind`` is the device as the user wrote it, with the address: ``"mykind:address"``. The
  address is the factory's to read. What cannot be right is refused at once, as a `UserError`.
- The factory starts nothing. `DevicePool.acquire` starts a device, and raises `DeviceStartError`
  where that fails.
- The devices keep the protocol of the suite that is played: `BrowserDevice`, `AndroidDevice` or
  `DesktopDevice` (each in ``ui_gym/<suite>/device.py``).
- A factory may name the suites that it serves in an attribute ``suites``, such as ``("android",)``.
  In any other suite its name is refused.

The module is imported only when the device is asked for. The names of a suite's own devices cannot
be taken: there the suite's own device is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ui_gym import extras
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.errors import DeviceStartError, UserError, nearest

ENTRY_POINT_GROUP = "ui_gym.devices"

PoolFactory = Callable[[DeviceOptions], DevicePool]

DISTRIBUTIONS = {"phone": "ui-gym-phone"}
"""Our own devices that are installed for themselves, and the distribution that brings each."""


def make_pool(
    options: DeviceOptions, suite: str, built_in: Mapping[str, PoolFactory]
) -> DevicePool:
    """The pool of the device that `options` ask for: one of the suite's own, or an installed one.

    Raises:
        UserError: the suite has no such device.
        DeviceStartError: its distribution or an extra is not installed, or is broken.
    """
    kind = options.kind.partition(":")[0]
    if kind in built_in:
        return _built_in(built_in[kind], options)
    installed = extras.installed(ENTRY_POINT_GROUP)
    if kind not in installed and kind not in DISTRIBUTIONS:
        known = {*built_in, *installed}
        raise UserError(f"the {suite} suite has no device {kind!r}. {nearest(kind, known)}")
    factory = load(kind)
    if suite not in getattr(factory, "suites", (suite,)):
        raise UserError(
            f"the {suite} suite has no device {kind!r}, which plays {', '.join(factory.suites)}. "
            f"{nearest(kind, built_in)}"
        )
    pool = factory(options)
    if not isinstance(pool, DevicePool):
        raise DeviceStartError(
            f"{extras.origin('device', installed[kind])} made a {type(pool).__name__}, "
            "which is no DevicePool"
        )
    return pool


def _built_in(factory: PoolFactory, options: DeviceOptions) -> DevicePool:
    """A suite's own pool; its modules are imported now, and an extra may be missing."""
    try:
        return factory(options)
    except ModuleNotFoundError as error:
        missing = extras.remedy(error)
        if missing is None:
            raise
        raise DeviceStartError(f"the device {options.kind!r} cannot be used: {missing}") from error


def load(kind: str) -> Any:
    """The pool factory of an installed device, imported now.

    Raises:
        UserError: no distribution declares such a device.
        DeviceStartError: its distribution is not installed, or cannot be imported.
    """
    installed = extras.installed(ENTRY_POINT_GROUP)
    if kind not in installed:
        if kind in DISTRIBUTIONS:
            raise DeviceStartError(
                f"the device {kind!r} is not installed: pip install {DISTRIBUTIONS[kind]}"
            )
        raise UserError(f"no device {kind!r} is installed. {nearest(kind, installed)}")
    factory = extras.load("device", installed[kind], DeviceStartError)
    if not callable(factory):
        who = extras.origin("device", installed[kind])
        raise DeviceStartError(f"{who} is no pool factory, but {factory!r}")
    return factory
