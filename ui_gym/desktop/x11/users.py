"""User ids that are lent: each sandbox, and each X server, has one that no other one has now.

A lent id is a locked file, so that other processes of ours, of whatever user, do not lend it too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import SystemRandom

from ui_gym.errors import DeviceStartError

NAMELESS = range(61184, 65520)
"""Ids that nobody has: those that systemd lends for a while (https://systemd.io/UIDS-GIDS)."""

NAMED = ("nobody", "games", "news", "uucp", "proxy", "list", "irc", "lp")
"""Users that every Debian has and that no program of it runs as, in the order in which they are
lent. Where a program looks for its user's name (D-Bus does), a nameless id will not do."""

_LOCKS = Path("/tmp")
"""The same for every process, whatever its TMPDIR."""
_SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))


class LentUser:
    """An id, until `give_back`. `named`: a user with a name.

    Raises:
        DeviceStartError: all of them are lent.
    """

    def __init__(self, *, named: bool) -> None:
        self._lock = threading.Lock()
        self._file = -1
        for number in _named() if named else _shuffled(NAMELESS):
            if self._take(number):
                self.id = number
                return
        raise DeviceStartError(
            f"this machine has no more users to lend: {len(NAMED)} desktops at a time, unless "
            "bubblewrap may make namespaces"
        )

    def end_processes(self) -> None:
        """Kill all that still runs as this user, and remove what it left in shared folders."""
        for _ in range(3):  # kill(-1) reaches all at once; what was just being born, the next time
            subprocess.run(
                ["/bin/sh", "-c", "kill -9 -1"], user=self.id, group=self.id, extra_groups=(),
                check=False, timeout=20, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        for entry in _entries():
            with contextlib.suppress(OSError):
                status = entry.lstat()
                if status.st_uid == self.id and stat.S_ISDIR(status.st_mode):
                    shutil.rmtree(entry, ignore_errors=True)
                elif status.st_uid == self.id:
                    entry.unlink()

    def give_back(self) -> None:
        """Let others have it. Idempotent."""
        with self._lock:
            file, self._file = self._file, -1
        if file >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(file)

    def _take(self, number: int) -> bool:
        path = _LOCKS / f".ui-gym-user-{number}"
        flags = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            file = os.open(path, flags, 0o600)
        except OSError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        # Who gives an id back removes its file: another may have taken it by a new one by now.
        with contextlib.suppress(OSError):
            if path.stat().st_ino == os.fstat(file).st_ino:
                self._file, self._path = file, path
                return True
        os.close(file)
        return False


def _named() -> Iterator[int]:
    # What runs as one of them all the same is not ours to end.
    busy = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            busy.add(process.stat().st_uid)
    for name in NAMED:
        with contextlib.suppress(KeyError):
            if (number := pwd.getpwnam(name).pw_uid) not in busy:
                yield number


def _shuffled(numbers: range) -> Iterable[int]:
    # Not in order: each file that is tried and found locked costs a moment.
    return SystemRandom().sample(numbers, 64)


def _entries() -> Iterator[Path]:
    for folder in _SHARED:
        with contextlib.suppress(OSError):
            yield from list(folder.iterdir())
