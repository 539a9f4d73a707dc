"""Moves: how oracles find their way on a desktop, by its windows.

Places inside a window are pixels from its top left corner; negative ones count from its right or
bottom edge. They hold for the fonts and sizes that `ui_gym.desktop.x11` sets.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator

from ui_gym.contract.action import Action, Button, Click
from ui_gym.desktop.device import DesktopDevice, Window
from ui_gym.errors import TaskError

TIMEOUT = 10.0
"""Seconds to wait for what an application does in its own time."""

LOOK = 0.05
"""Seconds from one look to the next."""

TRIES = 3
"""How often an action is done that may be lost on an application which is still busy."""

Place = tuple[int, int]
OracleSteps = Generator[Action, None, bool]


def find_window(device: DesktopDevice, name: str) -> Window | None:
    """The uppermost window whose title holds, or whose class is, `name`."""
    for window in reversed(device.windows()):
        if name in window.title or name.lower() == window.app.lower():
            return window
    return None


def window(device: DesktopDevice, name: str) -> Window:
    """That window. `TaskError` names those that there are."""
    found = find_window(device, name)
    if found is None:
        there = ", ".join(repr(one.title) for one in device.windows()) or "none"
        raise TaskError(f"there is no window {name!r} on the desktop, but {there}")
    return found


def at(
    window: Window, place: Place, *, count: int = 1, button: Button = "left", keys: str = ""
) -> Click:
    """A click at a place inside a window."""
    left, top, width, height = window.box
    x, y = place
    return Click(
        left + (x if x >= 0 else width + x), top + (y if y >= 0 else height + y),
        count=count, button=button, keys=keys,
    )  # fmt: skip


def menu(window: Window, *places: Place) -> Iterator[Action]:
    """Open a menu and go down to an entry, by their places in the window."""
    for place in places:
        yield at(window, place)


def focus(device: DesktopDevice, name: str) -> Iterator[Action]:
    """Give the keyboard to a window, by a click on its title bar."""
    found = window(device, name)
    if not found.active:
        yield Click(found.box[0] + found.box[2] // 3, found.box[1] - 8)


def until(holds: Callable[[], bool], seconds: float = TIMEOUT) -> OracleSteps:
    """Wait until something holds; not for ever. Whether it does.

    It takes no step, as not every dialect has words for such a wait.
    """
    yield from ()
    pause, deadline = threading.Event(), time.monotonic() + seconds
    while not holds():
        if time.monotonic() >= deadline:
            return False
        pause.wait(LOOK)
    return True


def insist(action: Action, holds: Callable[[], bool], seconds: float = TIMEOUT) -> OracleSteps:
    """Do it, and again if what it is to bring about does not hold. Whether it does."""
    for _ in range(TRIES):
        yield action
        if (yield from until(holds, seconds)):
            return True
    return False


def opened(device: DesktopDevice, title: str) -> OracleSteps:
    """Wait for a window that has the keyboard and whose title holds `title`."""

    def holds() -> bool:
        return any(one.active and title in one.title for one in device.windows())

    return (yield from until(holds))


def closed(device: DesktopDevice, title: str) -> OracleSteps:
    """Wait until no window's title holds `title` and another one has the keyboard."""

    def holds() -> bool:
        there = device.windows()
        return any(one.active for one in there) and not any(title in one.title for one in there)

    return (yield from until(holds))
