"""The apps of AndroidWorld's tasks: whether a phone has them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from ui_gym.android.device import AndroidDevice
from ui_gym.errors import DeviceSetupError

REMEDY = (
    "on an emulator, AndroidWorld's own run.py with --perform_emulator_setup installs its apps; "
    "the built-in phone has those that docs/androidworld.md names"
)


def install(device: AndroidDevice, names: Iterable[str], task: str) -> None:
    """See to it that the phone has the apps of AndroidWorld's `names`.

    Those that a phone has, but not installed, are installed (``pm install-existing``): so does the
    built-in phone keep its look-alikes.

    Raises:
        DeviceSetupError: an app is missing.
    """
    wanted = packages(names)
    listed = device.shell("pm list packages").text.splitlines()
    installed = {line.strip().removeprefix("package:") for line in listed}
    for name, package in wanted.items():
        said = device.shell(f"pm install-existing {package}")
        there = said.code == 0 and "installed" in said.text
        if not there and package not in installed:
            raise DeviceSetupError(
                f"{task} is played with the app {name!r} ({package}), which is not on this phone: "
                f"{REMEDY}"
            )


def packages(names: Iterable[str]) -> dict[str, str]:
    """The package of each app that AndroidWorld calls so, where it knows one."""
    utils: Any = importlib.import_module("android_world.env.adb_utils")
    found = {}
    for name in names:
        activity = utils.get_adb_activity(name) if name else None
        if activity is not None:
            found[name] = str(utils.extract_package_name(activity))
    return found
