"""A disk that is full for real: the system refuses to write files beyond a size, or any more."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

FILLER = "filler"
"""The file that takes what room there is."""
CLONE_NEWNS = 0x20000
"""Of `unshare(2)`: a namespace of mounts."""
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


@contextmanager
def own_mounts() -> Iterator[None]:
    """What is mounted meanwhile is seen by this thread alone, and what it starts; it ends with it.

    Skips where this user may not mount.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    at, before = Path.cwd(), os.open(f"/proc/self/task/{threading.get_native_id()}/ns/mnt", 0)
    try:
        if libc.unshare(CLONE_NEWNS) != 0:
            pytest.skip("this user may not mount")
        mount("--make-rprivate", "/")
        yield
    finally:
        libc.setns(before, CLONE_NEWNS)
        os.close(before)
        os.chdir(at)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def unmount(path: Path) -> None:
    subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)


@contextmanager
def small_disk(path: Path, *options: str) -> Iterator[Path]:
    """A disk of its own, empty and small."""
    with own_mounts():
        path.mkdir()
        mount("-t", "tmpfs", "-o", ",".join(["size=20m", *options]), "none", str(path))
        try:
            yield path
        finally:
            unmount(path)
