"""Stream and Connection: what both transports offer, and what the services are written over."""

from __future__ import annotations

import select
import socket
import time
from abc import ABC, abstractmethod
from typing import Protocol, Self

from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

MAX_OUTPUT = 256 << 20
"""The most bytes that are taken from one stream where nothing else is said."""


class Deadline:
    """A moment until which something may take; `what` begins the message of a `DeviceTimeout`."""

    def __init__(self, seconds: float, what: str) -> None:
        self._seconds = seconds
        self._what = what
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than 0. `DeviceTimeout` when it has passed."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise DeviceTimeout(f"{self._what} did not answer within {self._seconds:g} s")
        return left


class AdbStream(ABC):
    """One conversation with a service of the device: bytes both ways. It has a deadline of its own.

    Every method may raise `DeviceTimeout` (the stream is of no use then, the connection may be)
    and `DeviceLost`.
    """

    _rest = memoryview(b"")

    @abstractmethod
    def receive(self) -> bytes:
        """The next bytes, as many as there are; ``b""`` once the other side has ended."""

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Send all of `data`."""

    @abstractmethod
    def close(self) -> None:
        """End it. May be repeated; raises nothing."""

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes. `DeviceLost` where the stream ends before."""
        if len(self._rest) < count:
            pieces, have = [bytes(self._rest)], len(self._rest)
            while have < count:
                piece = self.receive()
                if not piece:
                    raise DeviceLost(f"the device ended a stream {count - have} bytes too early")
                pieces.append(piece)
                have += len(piece)
            self._rest = memoryview(b"".join(pieces))
        found, self._rest = bytes(self._rest[:count]), self._rest[count:]
        return found

    def read_all(self, limit: int = MAX_OUTPUT) -> bytes:
        """Everything until the end. `DeviceError` where it is more than `limit` bytes."""
        pieces, have = [bytes(self._rest)], len(self._rest)
        self._rest = memoryview(b"")
        while piece := self.receive():
            pieces.append(piece)
            have += len(piece)
            if have > limit:
                raise DeviceError(f"the device sent more than {limit} bytes")
        return b"".join(pieces)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AdbConnection(Protocol):
    """A device that answers. `close` may be called from any thread, more than once."""

    name: str
    """What messages call the device: its serial or its address."""
    features: frozenset[str]
    """What it can do, in ADB's words: ``shell_v2``, ``stat_v2``..."""

    def open(self, service: str, timeout: float) -> AdbStream:
        """Start a service (``"exec:screencap"``); `timeout`, in seconds, is for all of the stream.

        Raises:
            DeviceError: the device refuses it.
        """

    def close(self) -> None:
        """End all streams."""


def wait_for(sock: socket.socket, event: int, deadline: Deadline) -> None:
    """Wait until a non-blocking socket can be read (``POLLIN``) or written (``POLLOUT``)."""
    poll = select.poll()
    poll.register(sock, event)
    poll.poll(deadline.left() * 1000)
    deadline.left()
