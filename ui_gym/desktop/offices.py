"""Office applications at the beginning of an episode: they are done long after a window shows."""

from __future__ import annotations

import time

import numpy as np

from ui_gym.contract.action import Wait
from ui_gym.contract.device import Image
from ui_gym.desktop.device import DesktopDevice, Warm
from ui_gym.errors import DeviceTimeout

LONGEST = 60.0
"""Seconds until an application that does not come to rest is given up."""

LONG = 10.0
"""Seconds without a change on the screen that are enough even if the program computes."""

LIBREOFFICE = ("soffice", "--norestore", "--nologo")
"""Opens a file, whose name follows, with LibreOffice."""

LIBREOFFICE_WARM = Warm(("soffice", "--nodefault", *LIBREOFFICE[1:]), "ls /tmp/OSL_PIPE_*")
"""LibreOffice without a window: ready once it listens for who calls it again."""

LIBREOFFICE_PROCESS = "soffice.bin"
LIBREOFFICE_REST = 2.0
"""Seconds in which nothing happens once it has started."""

_PAUSE = 0.1


def await_document(device: DesktopDevice, title: str, rest: float, *, program: str = "") -> None:
    """Wait for a window whose title holds `title`, and then until nothing has happened for `rest`
    seconds: the screen was the same, and no process named `program`, if it is given, had anything
    to compute (on a busy machine that takes longer than any fixed time).

    A machine that cannot tell its windows is waited for by its screen alone.

    Raises:
        DeviceTimeout: that takes longer than `LONGEST`.
    """
    deadline = time.monotonic() + LONGEST
    last: Image | None = None
    changed = busy = time.monotonic()
    while time.monotonic() < deadline:
        windows = device.windows()
        image = device.capture().image
        now = time.monotonic()
        there = not windows or any(title in window.title for window in windows)
        if not there or last is None or not np.array_equal(image, last):
            last, changed = image, now
        if program and _computes(device, program):
            busy = now
        if now - max(changed, busy) >= rest or now - changed >= max(rest, LONG):
            return
        device.perform(Wait(_PAUSE))
    raise DeviceTimeout(f"{title!r} did not come to rest within {LONGEST:g} s")


def _computes(device: DesktopDevice, program: str) -> bool:
    """Whether a process of this name is running, or would if it could.

    Source of the format: proc(5), ``/proc/pid/stat``.
    """
    found = device.run(f"grep -lsE '^[0-9]+ .{program}. [RD] ' /proc/[0-9]*/stat")
    return found.code == 0 and bool(found.stdout)
