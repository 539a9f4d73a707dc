"""Streams: where a command's bytes come from and go to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.state.files import Files

FLUSH = 65_536
"""Bytes that a file's writer keeps back, so that many small writes stay cheap."""


class ByteSink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes) -> None: ...


class Transcript:
    """What a line wrote: (fd, bytes) in time order."""

    def __init__(self) -> None:
        self.chunks: list[tuple[int, bytes]] = []

    def sink(self, fd: int, budget: Budget) -> ByteSink:
        """One of the two outputs of the line itself."""
        return _TranscriptSink(self, fd, budget)


class _TranscriptSink:
    def __init__(self, transcript: Transcript, fd: int, budget: Budget) -> None:
        self._chunks, self._fd, self._budget = transcript.chunks, fd, budget

    def write(self, data: bytes) -> None:
        self._budget.wrote(len(data))
        self._chunks.append((self._fd, data))


class CapturedOutput:
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


class NullSink:
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


class InputBytes:
    """Bytes to read; all who share them share the position. What is given as a function is called
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


OpenStream = ByteSink | InputBytes
