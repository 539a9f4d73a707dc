"""A whole desktop: icons, and a panel with launchers, a list of windows and a clock.

The icons are those of the folder ``Desktop``, by pcmanfm; the panel is tint2. How both look, and
what the panel starts, lies in ``shell_home`` as it will lie in the home folder.

The panel's clock says `TIME` in every episode, and stands still: no picture depends on how fast the
machine is, or whoever plays. (With an ``@`` before it, the clock would begin then and go on.) Other
programs have the machine's own time.

Places are pixels of the screen, and hold for that look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ui_gym.contract.action import Click, Drag, Move
from ui_gym.desktop import facts, keyfile
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.homes import home_files, with_values

TIME = "2025-01-06 09:00:00"
"""A Monday."""

FOLDER = "Desktop"
"""Where what the icons show lies, in the home folder."""

HOME_ICON = "Home"
"""The name of the icon that opens the home folder."""

WEB = ".web"
"""The folder, in the home folder, with the pages that the browser starts with: ``index.html``. They
are files, so that no server has to run, and no port is open."""

LAUNCHERS = ("files", "editor", "terminal", "browser", "pictures")
"""What the panel starts, from left to right: names of its desktop entries."""

PACKAGES: Mapping[str, str] = {
    "pcmanfm": "pcmanfm", "tint2": "tint2",
    "faketime": "faketime",  # brings the library
}  # fmt: skip

_CLOCK = (
    "LD_PRELOAD=/usr/$LIB/faketime/libfaketime.so.1", f"FAKETIME={TIME}",
    "FAKETIME_DONT_FAKE_MONOTONIC=1",  # timers go on
)  # fmt: skip
_LAUNCH_ICONS = ("pcmanfm", "--desktop")
_LAUNCH_PANEL = ("env", *_CLOCK, "tint2")

_PANEL = 36
"""The height of the panel, at the bottom."""
_LAUNCHER, _NEXT_LAUNCHER = 21, 34
_TASK, _NEXT_TASK = 279, 196
_ICON, _NEXT_ICON = (60, 33), 96
MOST_ICONS = 5
"""How many there may be beside `HOME_ICON`: then they are in one column."""


def session(
    files: Mapping[str, bytes],
    launch: Sequence[Sequence[str]] = (),
    *,
    packages: Mapping[str, str] | None = None,
    titles: Sequence[str] = (),
    panel: bool = True,
) -> SessionSpec:
    """A session with the desktop, and on it what is given, as `SessionSpec` has it."""
    begun = [_LAUNCH_ICONS, _LAUNCH_PANEL] if panel else [_LAUNCH_ICONS]
    return SessionSpec(
        files={**_home(), **files}, launch=[*begun, *launch],
        packages={**PACKAGES, **(packages or {})}, titles=titles,
    )  # fmt: skip


def launcher(size: tuple[int, int], name: str) -> Click:
    """A click on one of the panel's `LAUNCHERS`, on a screen of `size` (width, height)."""
    return Click(_LAUNCHER + _NEXT_LAUNCHER * LAUNCHERS.index(name), size[1] - _PANEL // 2)


def task(size: tuple[int, int], number: int) -> Click:
    """A click on a window in the panel's list: that which came as number 0, 1, 2 of all."""
    return Click(_TASK + _NEXT_TASK * number, size[1] - _PANEL // 2)


def rest(size: tuple[int, int]) -> Move:
    """Take the pointer to where there is nothing."""
    return Move(size[0] // 2, size[1] // 2)


def icon(name: str, folders: Sequence[str], files: Sequence[str], *, count: int = 1) -> Click:
    """A click on an icon, where `folders` and `files` are all that lie on the desktop."""
    return Click(*_place(name, folders, files), count=count)


def drag(name: str, onto: str, folders: Sequence[str], files: Sequence[str]) -> Drag:
    """Drag an icon onto another, where these are all that lie on the desktop."""
    return Drag(*_place(name, folders, files), *_place(onto, folders, files))


def listed(folders: Sequence[str], files: Sequence[str]) -> list[str]:
    """The icons as they stand one below the other: folders come first, each in the order of the
    names."""
    return [*sorted(folders, key=str.lower), *sorted([HOME_ICON, *files], key=str.lower)]


def own_files() -> dict[str, str]:
    """What lies in `FOLDER` in every session: texts by path."""
    return {path: data.decode() for path, data in _home().items() if path.startswith(FOLDER)}


def _place(name: str, folders: Sequence[str], files: Sequence[str]) -> tuple[int, int]:
    x, y = _ICON
    return x, y + _NEXT_ICON * listed(folders, files).index(name)


@cache
def _home() -> Mapping[str, bytes]:
    usual = home_files("ui_gym.desktop.x11", "home")
    types = usual[".config/mimeapps.list"] + b"image/png=gpicview.desktop\n"
    libfm = with_values(usual[".config/libfm/libfm.conf"], {"quick_exec": "1"})
    return {
        **home_files("ui_gym.desktop", "shell_home"),
        ".config/mimeapps.list": types, ".config/libfm/libfm.conf": libfm,
        keyfile.PATH: keyfile.beginning({f"{facts.PREFERENCES}window": {"path-in-title": "false"}}),
    }  # fmt: skip
