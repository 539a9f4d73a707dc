"""Streams: where a command's bytes come from and go to, and what redirections make of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.state.files import Files

FLUSH = 65_536
"""Bytes that a file's writer keeps back, so that many small writes stay cheap."""

_OUTPUTS = {"/dev/stdout": 1, "/dev/tty": 1, "/dev/stderr": 2}


class ByteSink(Protocol):
    """Takes bytes."""

    def write(self, data: bytes) -> None: ...


class NullSink:
    """Forgets bytes: /dev/null, and what is closed."""

    def write(self, data: bytes) -> None:
        pass


class KeptOutput:
    """Keeps bytes as chunks (fd, bytes), which the two outputs of a line share."""

    def __init__(
        self, budget: Budget, fd: int = 1, chunks: list[tuple[int, bytes]] | None = None
    ) -> None:
        self._budget, self._fd = budget, fd
        self._chunks = [] if chunks is None else chunks

    def write(self, data: bytes) -> None:
        self._budget.wrote(len(data))
        self._chunks.append((self._fd, data))

    @property
    def data(self) -> bytes:
        return b"".join(data for _, data in self._chunks)


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
    """Bytes to read; all who share them share the position. A function that is given is asked for
    more when somebody reads, until it gives nothing."""

    def __init__(self, data: bytes | Callable[[], bytes] = b"") -> None:
        self._data = data if isinstance(data, bytes) else b""
        self._pull = None if isinstance(data, bytes) else data
        self._position = 0

    def read(self) -> bytes:
        """All that is left."""
        pieces = [self._data[self._position :] if self._position else self._data]
        while piece := self._ask():
            pieces.append(piece)
        self._data, self._position = b"", 0
        return b"".join(pieces) if len(pieces) > 1 else pieces[0]

    def line(self) -> bytes:
        """Up to and with the next newline; empty at the end."""
        return self.take(len(self.look(1)))

    def look(self, least: int, most: int = 0) -> bytes:
        """The `least` next lines, up to `most` of those that are there already; fewer at the end.
        They stay there to be read."""
        size = 0
        for count in range(max(least, most)):
            while (found := self._data.find(b"\n", self._position + size)) < 0:
                if count >= least:
                    return self._data[self._position : self._position + size]
                piece = self._ask()
                if not piece:
                    return self._data[self._position :]
                self._data, self._position = self._data[self._position :] + piece, 0
            size = found + 1 - self._position
        return self._data[self._position : self._position + size]

    def read_up_to(self, size: int) -> bytes:
        """The next `size` bytes, without waiting for more; fewer at the end."""
        pieces, have = list[bytes](), len(self._data) - self._position
        while have < size and (piece := self._ask()):
            pieces.append(piece)
            have += len(piece)
        self._data, self._position = self._data[self._position :] + b"".join(pieces), 0
        return self.take(size)

    def take(self, size: int) -> bytes:
        """The next `size` bytes, which somebody has looked at."""
        data = self._data[self._position : self._position + size]
        self._position += size
        return data

    def _ask(self) -> bytes:
        """More, if there is any; after that, never again."""
        piece = self._pull() if self._pull is not None else b""
        if not piece:
            self._pull = None
        return piece


OpenStream = ByteSink | InputBytes
Streams = dict[int, OpenStream]
"""Open streams by their descriptors."""


def flush(streams: Streams) -> None:
    """Bring what files' writers keep back into the files, for a command that may read them."""
    for stream in streams.values():
        if isinstance(stream, FileSink):
            stream.flush()


def duplicate(streams: Streams, fd: int, target: str) -> str:
    """``FD>&TARGET``; the message where that fails."""
    stream = streams.get(int(target)) if target in tuple("0123456789") else None
    if stream is None and target != "-":
        return f"can't dup {target}: Bad file descriptor"
    streams[fd] = stream or NullSink()
    return ""


def source(streams: Streams, files: Files, path: str) -> OpenStream:
    """What ``< PATH`` reads. OSError where it cannot be opened."""
    if path in ("/dev/stdin", "/dev/tty"):
        return streams.get(0, InputBytes())
    if path in ("/dev/zero", "/dev/urandom", "/dev/random"):
        return InputBytes(bytes(1 << 20))
    if files.is_dir(path):  # which opens, and fails when it is read
        return InputBytes()
    return InputBytes(files.read(path))


def sink(streams: Streams, files: Files, path: str, budget: Budget, *, keep: bool) -> OpenStream:
    """What ``> PATH``, or with `keep` ``>> PATH``, writes. OSError where it cannot be made."""
    if path in _OUTPUTS:
        return streams.get(_OUTPUTS[path], NullSink())
    if path == "/dev/null":
        return NullSink()
    if not keep or not files.exists(path):
        files.write(path, b"")
    elif files.is_dir(path):
        files.read(path)  # raises what it should
    return FileSink(files, path, budget)
