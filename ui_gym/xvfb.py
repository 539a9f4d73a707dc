"""An X server without a screen (Xvfb) whose picture is read as memory.

Xvfb started with ``-fbdir`` keeps its screen in a file of the XWD format, version 7 (X11's
``XWDFile.h``: big-endian header, then the colour table, then rows of 32-bit pixels in the order
blue, green, red, unused). Mapped into memory, a picture costs a copy: nothing is encoded, sent or
decoded.
"""

from __future__ import annotations

import mmap
import os
import select
import shutil
import stat
import struct
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ui_gym.child_process import ChildProcess, folder_for
from ui_gym.errors import DeviceSetupError, DeviceStartError, UserError

X_FOLDER = Path("/tmp/.X11-unix")
"""Where X servers have their sockets."""

LEAST_ROOM = 1 << 16
"""Bytes that a server needs on a disk beside its picture."""

START_SECONDS = 15.0
"""How long the server may take to come up, where nobody says otherwise."""


def find_xvfb() -> str | None:
    """The path of the server's program, None if it is not installed."""
    return shutil.which("Xvfb")


def check_display() -> None:
    """`UserError` where there is no display to open a window on."""
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in names):
        raise UserError(
            'render_mode="human" needs a display, and neither DISPLAY nor WAYLAND_DISPLAY names '
            'one: use render_mode="rgb_array", or run under xvfb-run'
        )


class XServer:
    """A running server with one screen of `size` (width, height) pixels, 24 bits deep.

    `display` is its name (``":3"``), `screen` the live picture: shape (height, width, 4), uint8,
    blue, green, red, unused; read-only. `flags` are further arguments of the server; by default the
    pointer is no part of the picture. With `user` the server runs as the user of that id, with
    `cookie` (16 bytes) only clients that know it may connect, which `authority` holds. It has
    `timeout` seconds to come up.

    Raises:
        DeviceStartError: it is not installed (names the package), has no room for its picture, or
            did not start.
    """

    def __init__(
        self,
        size: tuple[int, int],
        *,
        flags: Sequence[str] = ("-nocursor",),
        user: int | None = None,
        cookie: bytes | None = None,
        timeout: float = START_SECONDS,
    ) -> None:
        program = find_xvfb()
        if program is None:
            raise DeviceSetupError("there is no Xvfb: install it (Debian: apt-get install xvfb)")
        self._size = size
        self._folder = folder_for(user, "ui-gym-xvfb-")
        _check_room(self._folder, size)
        self.authority: Path | None = None
        told, tell = os.pipe()
        width, height = size
        # Shared GL is of no use without a GPU.
        command = [
            program, "-displayfd", str(tell), "-screen", "0", f"{width}x{height}x24",
            "-fbdir", str(self._folder), "-nolisten", "tcp", "-noreset", "-extension", "GLX",
            *flags,
        ]  # fmt: skip
        if cookie is not None:
            self.authority = self._folder / "authority"
            self.authority.write_bytes(authority(cookie))
            command += ["-auth", str(self.authority)]
            if user is not None:
                os.chown(self.authority, user, user)
        try:
            self._child = ChildProcess(command, folder=self._folder, pass_fds=[tell], user=user)
        finally:
            os.close(tell)
        try:
            self.display = ":" + _read_line(told, timeout, lambda: _hint(user))
            self.screen = _pixels(_mapped(self._folder / "Xvfb_screen0"), size)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(told)

    @property
    def pid(self) -> int:
        """The process group of the server."""
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child.alive

    def close(self) -> None:
        """End the server, remove its folder, and let go of the picture, which is black from then
        on. Bounded in time; idempotent."""
        self._child.close()
        # Who still knows this object, as the traceback of a failure does, keeps no screen by it.
        width, height = self._size
        self.screen = np.broadcast_to(np.zeros((1, 1, 4), np.uint8), (height, width, 4))


def authority(cookie: bytes) -> bytes:
    """What ``~/.Xauthority`` holds for a client: the cookie, for any display (``Xau(3)``)."""
    parts = (b"", b"", b"MIT-MAGIC-COOKIE-1", cookie)
    return struct.pack(">H", 0xFFFF) + b"".join(struct.pack(">H", len(p)) + p for p in parts)


def _check_room(folder: Path, size: tuple[int, int]) -> None:
    """Refuse to start where the disk is full: the server would only hang."""
    width, height = size
    free = shutil.disk_usage(folder).free
    if free < 4 * width * height + LEAST_ROOM:
        folder.rmdir()
        raise DeviceStartError(
            f"{folder.parent} has {free:,} bytes left, too few for a screen of {width}x{height}: "
            "make room, or name another disk in TMPDIR"
        )


def _hint(user: int | None) -> str:
    """Which folder of the X servers' the user of an id cannot write to; empty if he can."""
    who = os.geteuid() if user is None else user
    for folder in filter(Path.is_dir, (X_FOLDER.parent, X_FOLDER)):
        state = folder.stat()
        if who not in (0, state.st_uid) and not state.st_mode & 0o002:
            mode = stat.S_IMODE(state.st_mode)
            return (
                f": {folder} has the mode {mode:o}, and the server, which runs as user {who}, must "
                f"write there (chmod 1777 {folder})"
            )
    return ""


def _read_line(descriptor: int, seconds: float, hint: Callable[[], str]) -> str:
    """The number of the display, which the server writes when it is ready."""
    deadline = time.monotonic() + seconds
    said = b""
    while not said.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise DeviceStartError(f"Xvfb did not start within {seconds:g} s{hint()}")
        piece = os.read(descriptor, 64)
        if not piece:
            raise DeviceStartError(f"Xvfb ended at once{hint()}")
        said += piece
    return said.decode().strip()


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _pixels(mapped: mmap.mmap, size: tuple[int, int]) -> NDArray[np.uint8]:
    header_size, stride, colours = (
        struct.unpack_from(">I", mapped, offset)[0] for offset in (0, 48, 76)
    )
    width, height = size
    start = header_size + 12 * colours
    rows = np.frombuffer(mapped, np.uint8, count=stride * height, offset=start)
    return rows.reshape(height, stride // 4, 4)[:, :width]
