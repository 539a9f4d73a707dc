"""Files that are there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import re
import resource
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from ui_gym.errors import UIGymError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where there is no room: on the disk, for this user, in one file."""


class NotWritten(UIGymError, OSError):
    """A disk takes nothing more; the file is as it was before."""


class NoRoom(NotWritten):
    """It is full."""


class ReadOnly(NotWritten):
    """It may only be read, as the system makes it after a fault of the disk."""


class NoDescriptor(NotWritten):
    """Nothing is wrong with it: this process has as many files open as it may."""


def limit_of(error: BaseException) -> str:
    """The limit of this process that an error comes of, and the remedy; else nothing."""
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EMFILE:
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return (
            f"this process may have {most} files open: raise the limit (ulimit -n 1024) in the "
            "shell that it was started from, or play in fewer envs at a time"
        )
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    # torch has no class for it.
    short = number == errno.ENOMEM or "allocate memory" in str(error)
    if most != resource.RLIM_INFINITY and (short or isinstance(error, MemoryError)):
        return (
            f"this process may take {most / 1e9:.1f} GB of memory: raise the limit "
            "(ulimit -v unlimited) in the shell that it was started from, or do less at a time"
        )
    return ""


@contextmanager
def telling_of(path: Path) -> Iterator[None]:
    """Turn the system's errors for what takes nothing more into `NotWritten`.

    It names `path`, the file system and the remedy.
    """
    try:
        yield
    except NotWritten:
        raise
    except Exception as error:
        number = _number(error)
        why = os.strerror(number) if number else ""
        if number in FULL:
            # The size of one file is limited for a process, and not by its file system.
            of = "" if number == errno.EFBIG else f" on the file system of {_disk(path)}"
            raise NoRoom(
                f"there is no room for {path}{of} ({why}); make room and continue: it is as it was "
                "before"
            ) from error
        if number == errno.EROFS:
            disk = _disk(path)
            raise ReadOnly(
                f"{path} cannot be written: the file system of {disk} may only be read ({why}); "
                f"make it writable (mount -o remount,rw {disk}) and continue: it is as it was "
                "before"
            ) from error
        if isinstance(error, OSError) and number == errno.EMFILE:
            of = f" ({error.filename})" if error.filename else ""
            raise NoDescriptor(f"too many files are open{of}: {limit_of(error)}") from error
        raise


def _number(error: Exception) -> int | None:
    """The number that the system gave an error; of safetensors', which is written in Rust and has
    classes of its own, as its message ends."""
    if isinstance(error, OSError):
        return error.errno
    found = re.search(r"\(os error (\d+)\)$", str(error))
    return int(found[1]) if found else None


def _disk(path: Path) -> Path:
    """The topmost folder on the way to `path` that is on the same file system."""
    found = path.absolute()
    while not found.exists():
        found = found.parent
    device = found.stat().st_dev
    return next(
        (below for below, above in pairwise((found, *found.parents))
         if above.stat().st_dev != device),
        Path(found.anchor),
    )  # fmt: skip


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its name when the block has ended well.

    Raises:
        NotWritten: the disk is full, or may only be read.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with telling_of(path):
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def replace(path: Path, text: str) -> None:
    """Write a file in one go, onto the disk: readers see the old or the new text.

    Raises:
        NotWritten: the disk is full, or may only be read.
    """
    with replacing(path) as part:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(_encoded(text))
            file.flush()
            os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, onto the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file that has one writer: all of them are there afterwards, or none.

    A torn last line, which a power cut or a full disk may have left, is cut off first.

    Raises:
        NotWritten: the disk is full, or may only be read.
    """
    data = _encoded("".join(line + "\n" for line in lines))
    with telling_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = _cut_torn_line(descriptor)
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except BaseException:  # Ctrl-C between two writes, too
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def cut(path: Path) -> None:
    """Cut off a torn last line of a file, if it has one, or is there at all."""
    if not path.exists():
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        _cut_torn_line(descriptor)
    finally:
        os.close(descriptor)


def _encoded(text: str) -> bytes:
    """UTF-8; half of a surrogate pair, which a model may say, is none, and is written ``\\ud83d``.

    In a string of JSON, that reads back as it was.
    """
    return text.encode("utf-8", "backslashreplace")


def _cut_torn_line(descriptor: int) -> int:
    """End a file where its last whole line ends; returns its size."""
    size = end = os.fstat(descriptor).st_size
    block = 1 << 16
    while end and os.pread(descriptor, 1, end - 1) != b"\n":
        start = max(0, end - block)
        end = start + os.pread(descriptor, end - start, start).rfind(b"\n") + 1
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def whole_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[tuple[bytes, int]]:
    """The whole lines of a file between two offsets, each with the offset behind it.

    A last line that is being written, or was torn by a kill, is none; neither is one of no file.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        for line in iter(file.readline, b""):
            start += len(line)
            if not line.endswith(b"\n") or (end is not None and start > end):
                return
            yield line, start


def finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with None for numbers that JSON cannot say."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def lock(path: Path) -> int:
    """A descriptor of the file `path`, locked until it is closed or the process ends.

    Raises:
        BlockingIOError: another process has it locked.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
