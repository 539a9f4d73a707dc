"""How oracles find their way in the Files app."""

from __future__ import annotations

from collections.abc import Iterator

from ui_gym.android import moves
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action


def show(device: AndroidDevice, folder: str) -> Iterator[Action]:
    """Open a folder of the shared storage (``Documents/Taxes``) from the list of places."""
    yield from moves.path(device, *folder.split("/"))


def choose(device: AndroidDevice, folder: str, name: str) -> Iterator[Action]:
    """Select a file."""
    yield from moves.launch(device, "Files")
    yield from show(device, folder)
    yield from moves.hold(device, name)


def menu(device: AndroidDevice, item: str) -> Iterator[Action]:
    """Take an item of the menu."""
    yield from moves.path(device, "More options", item)
