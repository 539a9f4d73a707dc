"""A disk that is full for real: the system refuses to write files beyond a size, or any more."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

FILLER = "filler"
"""The file that takes what room there is."""
LARGEST = 1 << 28
"""Bytes of a disk that a test may fill: it is none that others need."""


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes, while this is open.

    The write that reaches it is short, and the next one an OSError, as on a full disk.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill(folder: Path, leave: int = 0) -> None:
    """Take all the room of a folder's disk but for `leave` bytes, while others write to it."""
    with (folder / FILLER).open("ab") as file:
        while True:
            free = os.statvfs(folder)
            assert free.f_blocks * free.f_frsize < LARGEST, f"{folder} is on no small disk"
            taken = free.f_bavail * free.f_frsize - leave
            if taken <= 0:
                return
            with suppress(OSError):  # somebody was faster
                os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, taken)
                return


def free(folder: Path) -> None:
    """Give back what `fill` took."""
    (folder / FILLER).unlink(missing_ok=True)


@dataclass(frozen=True)
class OwnMounts:
    """Mounts that only the processes of a namespace of their own have."""

    pid: int

    def path(self, path: Path) -> Path:
        """A path as it is there, for those who are elsewhere."""
        return Path(f"/proc/{self.pid}/root{path}")

    def command(self, *words: str) -> list[str]:
        """A command as it is to be started, so that it has these mounts."""
        return ["nsenter", "--mount", f"--target={self.pid}", *words]

    def mount(self, *words: str) -> None:
        subprocess.run(self.command("mount", *words), check=True, capture_output=True)

    def unmount(self, path: Path) -> None:
        words = self.command("umount", "--lazy", str(path))
        subprocess.run(words, check=True, capture_output=True)


@contextmanager
def own_mounts() -> Iterator[OwnMounts]:
    """A namespace for mounts, which end with it; skips where this user may not mount."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("there is no unshare and nsenter (util-linux)")
    words = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt && echo && read end"]
    holder = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert holder.stdout is not None
    try:
        if holder.stdout.read(1) != b"\n":
            pytest.skip("this user may not mount")
        yield OwnMounts(holder.pid)
    finally:
        holder.communicate()


@contextmanager
def small_disk(path: Path, megabytes: int = 20) -> Iterator[Path]:
    """A disk of its own, empty and small; where processes of this user may find it."""
    with own_mounts() as mounts:
        path.mkdir()
        mounts.mount("-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(path))
        yield mounts.path(path)
