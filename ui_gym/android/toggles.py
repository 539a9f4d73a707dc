"""Toggles: the phone's switches as tasks know them: what turns and tells them, where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Click, Drag, Open, Press
from ui_gym.contract.device import Element
from ui_gym.contract.tables import read_table
from ui_gym.errors import TaskError


@dataclass(frozen=True)
class Toggle:
    """One switch of the phone."""

    label: str
    """As goals call it."""
    setting: tuple[str, str]
    """(namespace, key) of the setting that tells its state."""
    values: tuple[tuple[str, ...], tuple[str, ...]]
    """What the setting may be when it is off, and when it is on."""
    lines: tuple[str, str]
    """Shell lines that turn it off and on, on any phone."""
    path: tuple[str, ...]
    """What is touched in Settings to come to its page; begins with a row of the first page."""
    switch: str
    """What the switch is called there."""
    tile: str = ""
    """What its tile in the quick settings is called, if it has one."""

    @property
    def name(self) -> str:
        """The setting in one word: ``global wifi_on``."""
        return " ".join(self.setting)

    def turn(self, on: bool) -> str:
        """The shell line that turns it."""
        return self.lines[on]

    def check(self, on: bool) -> ShellCheck:
        """Whether it is on, or off."""
        wanted = self.values[on]
        namespace, key = self.setting
        return ShellCheck(self.label, f"settings get {namespace} {key}", lambda r: r.text in wanted)


TOGGLES = {
    name: Toggle(**written)
    for name, written in read_table("ui_gym.android.content", "toggles").items()
}
"""The switches by name."""


def pull_shade(device: AndroidDevice) -> Iterator[Action]:
    """Swipe down from the status bar."""
    width, height = device.size
    yield Drag(width // 2, 4, width // 2, height // 2)


def go_to(device: AndroidDevice, toggle: Toggle, *, by_tile: bool = False) -> Iterator[Action]:
    """Bring a switch to the screen: in Settings, or `by_tile` in the quick settings."""
    if by_tile and toggle.tile:
        yield from pull_shade(device)
        if moves.find(device, toggle.tile) is None:
            yield from pull_shade(device)
    else:
        yield Open("Settings")
        # They come back as they were left, maybe on another page.
        while moves.find(device, "Navigate up") is not None:
            yield Press("back")
        yield from moves.path(device, *toggle.path)
        yield from moves.scroll_to(device, toggle.switch)


def shown(device: AndroidDevice, toggle: Toggle) -> Element:
    """A switch that is on the screen.

    Raises:
        TaskError: it is not.
    """
    for name in (toggle.switch, toggle.tile):
        for role in ("switch", ""):
            found = moves.find(device, name, role=role) if name else None
            if found is not None:
                return found
    raise TaskError(f"the phone's screen shows no switch {toggle.switch!r}")


def switch_to(
    device: AndroidDevice, toggle: Toggle, on: bool, *, by_tile: bool = False
) -> Iterator[Action]:
    """Look a switch up, and touch it if it is not as wanted."""
    yield from go_to(device, toggle, by_tile=by_tile)
    yield from touch(device, toggle, on)


def touch(device: AndroidDevice, toggle: Toggle, on: bool) -> Iterator[Action]:
    """Touch a switch that is on the screen, if it is not as wanted."""
    found = shown(device, toggle)
    if ("checked" in found.states) != on:
        yield Click(*found.center)
