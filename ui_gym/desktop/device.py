"""DesktopDevice: what a desktop is to a task, be it an X session here or a machine of OSWorld's."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ui_gym.contract.device import Device, Element

Command = str | Sequence[str]
"""A program with its arguments, or a line for ``/bin/sh``."""


@dataclass(frozen=True)
class CommandResult:
    """What a command wrote, and its exit code (negative: the signal that ended it)."""

    stdout: bytes
    stderr: bytes
    code: int

    @property
    def text(self) -> str:
        """The standard output as text, without its last newlines."""
        return self.stdout.decode("utf-8", "replace").rstrip("\n")


@dataclass(frozen=True)
class Window:
    """A window that the window manager looks after.

    `app` is the class of its ``WM_CLASS``; `box` is (left, top, width, height) of what the
    application draws, in pixels of the observed screenshot.
    """

    id: int
    title: str
    app: str
    box: tuple[int, int, int, int]
    active: bool = False


@dataclass(frozen=True)
class Warm:
    """A program that takes seconds to start, so that it is started before the episode.

    It shows no window until it is called again, from `SessionSpec.launch`. `ready` is a shell line
    that succeeds once it can be called.
    """

    command: tuple[str, ...]
    ready: str


@dataclass(frozen=True)
class SessionSpec:
    """How an episode starts: what `renew` brings about.

    `files` are written before anything is started, their paths absolute or relative to the home
    folder. `launch` are commands that are started in order, each once the one before shows a
    window. `packages` names the Debian package of each program that the session needs. With
    `accessible`, applications tell what they show, for `ui_tree` (which makes them slower). The
    programs of `warm` are started before; where it can, a device does so during the episode before.
    The session has begun when for each of `titles` there is a window whose title holds it (for
    programs that show a window before what they open).
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    launch: Sequence[Sequence[str]] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    accessible: bool = False
    warm: Sequence[Warm] = ()
    titles: Sequence[str] = ()


@runtime_checkable
class DesktopDevice(Device, Protocol):
    """A desktop. What a task wants of it beyond looking and acting goes through commands, files and
    windows, so that the same task is played and judged here and on another machine."""

    @property
    def home(self) -> str:
        """The absolute path of the user's home folder, on that machine."""

    def renew(self, session: SessionSpec) -> None:
        """Come to a known start: no window but those of `session`, an empty home.

        A machine of others keeps its home: there, windows are closed and files written.

        Raises:
            DeviceStartError: a program is missing (names its package).
            DeviceError: it did not come up in time.
        """

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command as the user of the desktop and wait for its end.

        A program that is not there is exit code 127, as in a shell. `timeout` in seconds; what is
        beyond it is ended.

        Raises:
            DeviceTimeout: it took longer.
            DeviceError: the desktop is lost.
        """

    def launch(self, command: Command) -> None:
        """Start a program and do not wait for it."""

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None where there is none. A relative path is one of the home folder."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file, with the folders above it. `DeviceError` where that is refused."""

    def windows(self) -> tuple[Window, ...]:
        """The windows, the lowest first. A machine that cannot tell them has none."""

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        """Raise and focus the first window whose title (class) holds, or `strict`: is, `name`.

        False where there is none."""

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        """Ask that window to close. False where there is none."""

    def open_file(self, path: str) -> None:
        """Open a file or an address with the program that the desktop has for it; wait until a
        window of it shows."""

    def connect(self, port: int) -> socket.socket:
        """A TCP connection to a port of that machine (Chrome's 9222, VLC's 8080).

        `DeviceError` where nothing listens."""

    def ui_tree(self) -> str:
        """The accessibility tree, in the XML that OSWorld's server writes."""

    def elements(self) -> tuple[Element, ...]:
        """What that tree shows, as elements in observed pixels; no picture is taken."""

    def settle(self) -> None:
        """Wait until the picture is at rest, or the time for that is over."""
