"""Streams: where a command's bytes come from and go to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.state.files import Files

FLUSH = 65_536
"""Bytes that a file's writer keeps back, so that many small writes stay cheap."""


class Sink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes) -> None: ...


class Record:
    """What a line wrote: (fd, bytes) in time order, handed on to `write` as it comes."""

    def __init__(self, write: Callable[[int, bytes], None] | None) -> None:
        self.chunks: list[tuple[int, bytes]] = []
        self._write = write

    def add(self, fd: int, data: bytes) -> None:
        self.chunks.append((fd, data))
        if self._write is not None:
            self._write(fd, data)


class Terminal:
    """One of the two outputs of the line itself."""

    def __init__(self, record: Record, fd: int, budget: Budget) -> None:
        self._record, self._fd, self._budget = record, fd, budget

    def write(self, data: bytes) -> None:
        self._budget.wrote(len(data))
        self._record.add(self._fd, data)


class Capture:
    """Keeps bytes for the next command of a pipeline, or for ``$(...)``."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._chunks: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._budget.wrote(len(data))
        self._chunks.append(data)

    @property
    def data(self) -> bytes:
        return b"".join(self._chunks)


class Null:
    """Forgets bytes: /dev/null, and what is closed."""

    def write(self, data: bytes) -> None:
        pass


class FileSink:
    """Appends to a file. `flush` before anybody may look at the file."""

    def __init__(self, files: Files, path: str, budget: Budget) -> None:
        self._files, self.path, self._budget = files, path, budget
        self._kept = bytearray()

    def write(self, data: bytes) -> None:
        self._budget.wrote(len(data))
        self._kept += data
        if len(self._kept) >= FLUSH:
            self.flush()

    def flush(self) -> None:
        if self._kept:
            data, self._kept = bytes(self._kept), bytearray()
            self._files.append(self.path, data)


class Source:
    """Bytes to read; all who share it share its position. What is given as a function is called
    when somebody reads."""

    def __init__(self, data: bytes | Callable[[], bytes] = b"") -> None:
        self._given = data
        self._position = 0

    @property
    def _data(self) -> bytes:
        if not isinstance(self._given, bytes):
            self._given = self._given()
        return self._given

    def read(self) -> bytes:
        """All that is left."""
        data = self._data[self._position :] if self._position else self._data
        self._position = len(self._data)
        return data

    def line(self) -> bytes:
        """Up to and with the next newline; empty at the end."""
        end = self._data.find(b"\n", self._position) + 1 or len(self._data)
        data, self._position = self._data[self._position : end], end
        return data


Stream = Sink | Source
