"""Files that are there whole or not at all, whenever the process is killed."""

from __future__ import annotations

import errno
import fcntl
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ui_gym.errors import UIGymError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says where there is no room: on the disk, for this user, in one file."""


class NoRoom(UIGymError, OSError):
    """A disk is full; the file is as it was before."""


@contextmanager
def telling_of(path: Path) -> Iterator[None]:
    """Turn the system's error for a full disk into `NoRoom`, which names `path`."""
    try:
        yield
    except NoRoom:
        raise
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise NoRoom(
            f"there is no room for {path} ({error.strerror}); make room and continue: it is as it "
            "was before"
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its name when the block has ended well.

    Raises:
        NoRoom: the disk is full.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with telling_of(path):
            yield part
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def replace(path: Path, text: str) -> None:
    """Write a file in one go, onto the disk: readers see the old or the new text.

    Raises:
        NoRoom: the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        file.write(_encoded(text))
        file.flush()
        os.fsync(file.fileno())


def append(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file that has one writer: all of them are there afterwards, or none.

    A torn last line, which a power cut or a full disk may have left, is cut off first.

    Raises:
        NoRoom: the disk is full.
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
