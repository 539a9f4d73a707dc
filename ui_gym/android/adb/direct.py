"""DirectConnection: a device's own transport over TCP, without an adb server between.

For devices that trust whoever connects: the built-in phone, containers, emulators without keys.
"""

from __future__ import annotations

import itertools
import select
import socket
import threading
from collections import deque
from collections.abc import Callable

from ui_gym.android.adb.packets import (
    AUTH,
    CLSE,
    CNXN,
    FIRST_VERSION,
    MAX_DATA,
    OKAY,
    OPEN,
    STLS,
    VERSION,
    WRTE,
    Packet,
    PacketReader,
)
from ui_gym.android.adb.stream import AdbStream, Deadline, wait_for
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout

_FEATURES = "shell_v2,stat_v2,ls_v2,fixed_push_mkdir"


class DirectConnection:
    """One TCP connection to a device, shared by all its streams. Safe to use from many threads.

    No thread of its own: whoever waits for something also takes what comes for others.

    Raises:
        DeviceStartError: nobody listens there, it speaks no ADB, or it wants a key.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self.name = f"{host}:{port}"
        self.features: frozenset[str] = frozenset()
        self._most = MAX_DATA
        self._checked = True  # until the device has told its version
        self._fault: DeviceError | None = None
        self._streams: dict[int, _DirectStream] = {}
        self._numbers = itertools.count(1)
        self._packets = PacketReader()
        self._changed = threading.Condition()
        self._someone_reads = False
        self._sending = threading.Lock()
        deadline = Deadline(timeout, f"the device at {self.name}")
        try:
            self._socket = socket.create_connection((host, port), timeout=deadline.left())
        except OSError as error:
            raise DeviceStartError(
                f"no device answers at {self.name}: {error.strerror or error}. Is it running, and "
                "is that the port of its ADB?"
            ) from None
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.setblocking(False)
            self._greet(deadline)
        except BaseException:
            self.close()
            raise

    def open(self, service: str, timeout: float) -> AdbStream:
        deadline = Deadline(timeout, f"{self.name}: {service[:40]!r}")
        asked = service.encode() + b"\0"
        if len(asked) > self._most:
            raise DeviceError(f"{self.name} takes lines of {self._most} bytes, not {len(asked)}")
        stream = _DirectStream(self, next(self._numbers), deadline)
        with self._changed:
            self._streams[stream.local] = stream
        try:
            self.send(Packet(OPEN, stream.local, 0, asked), deadline)
            self.wait_until(lambda: stream.remote or stream.ended, deadline)
        except BaseException:
            stream.close()
            raise
        if not stream.remote:
            stream.close()
            raise DeviceError(f"{self.name} refuses {service[:40]!r}: it offers no such service")
        return stream

    def close(self) -> None:
        self._fail(DeviceLost(f"the connection to {self.name} was closed"))

    # -- for streams --

    @property
    def most(self) -> int:
        """The longest payload that both sides take."""
        return self._most

    def send(self, packet: Packet, deadline: Deadline) -> None:
        """Send a packet whole. What was sent in part makes the connection useless."""
        data = memoryview(packet.encode(checked=self._checked))
        with self._sending:
            self._check()
            try:
                while data:
                    try:
                        data = data[self._socket.send(data) :]
                    except BlockingIOError:
                        wait_for(self._socket, select.POLLOUT, deadline)
            except OSError as error:
                raise self._fail(DeviceLost(f"{self.name} is gone: {error}")) from None
            except DeviceTimeout as error:
                raise self._fail(error) from None

    def wait_until(self, holds: Callable[[], object], deadline: Deadline) -> None:
        """Take packets, for whichever stream they are, until `holds()`."""
        while True:
            with self._changed:
                while self._someone_reads and not holds():
                    self._check()
                    self._changed.wait(deadline.left())
                if holds():
                    return
                self._check()
                self._someone_reads = True
            try:
                packet = self._receive(deadline)
            finally:
                with self._changed:
                    self._someone_reads = False
                    self._changed.notify_all()
            self._handle(packet, deadline)

    def forget(self, stream: _DirectStream) -> None:
        """The stream is over; tell the device, if that does not know yet."""
        with self._changed:
            self._streams.pop(stream.local, None)
        if stream.remote and not stream.ended and self._fault is None:
            try:
                self.send(Packet(CLSE, stream.local, stream.remote), Deadline(1.0, self.name))
            except DeviceError:
                pass  # the next who uses the connection is told

    # -- packets --

    def _greet(self, deadline: Deadline) -> None:
        self.send(Packet(CNXN, VERSION, MAX_DATA, f"host::features={_FEATURES}".encode()), deadline)
        try:
            packet = self._receive(deadline)
        except DeviceLost as error:
            raise DeviceStartError(f"{self.name} does not answer as a device: {error}") from None
        if packet.command in (AUTH, STLS):
            wanted = "a key" if packet.command == AUTH else "an encrypted connection"
            raise DeviceStartError(
                f"{self.name} wants {wanted}, which only an adb server can give it: use "
                f"device='adb:{self.name}' in place of 'adb-direct:{self.name}'"
            )
        if packet.command != CNXN:
            raise DeviceStartError(f"{self.name} does not answer as a device: no greeting came")
        self._checked = packet.arg0 <= FIRST_VERSION
        self._most = max(1, min(packet.arg1, MAX_DATA))
        self.features = _features(packet.data.decode(errors="replace"))

    def _receive(self, deadline: Deadline) -> Packet:
        while True:
            self._check()
            try:
                count = self._socket.recv_into(self._packets.room)
                if count == 0:
                    raise DeviceLost(f"{self.name} closed the connection")
                packet = self._packets.took(count)
            except BlockingIOError:
                wait_for(self._socket, select.POLLIN, deadline)
                continue
            except OSError as error:
                raise self._fail(DeviceLost(f"{self.name} is gone: {error}")) from None
            except DeviceLost as error:
                raise self._fail(error) from None
            if packet is not None:
                return packet

    def _handle(self, packet: Packet, deadline: Deadline) -> None:
        with self._changed:
            stream = self._streams.get(packet.arg1)
            if stream is not None:
                stream.take(packet)
            self._changed.notify_all()
        if packet.command == WRTE and stream is not None:
            self.send(Packet(OKAY, packet.arg1, packet.arg0), deadline)
        elif packet.command == OPEN:  # a device that wants a port of ours gets none
            self.send(Packet(CLSE, 0, packet.arg0), deadline)
        elif packet.command == OKAY and stream is None:  # it came too late: nobody waits any more
            self.send(Packet(CLSE, packet.arg1, packet.arg0), deadline)

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _fail(self, fault: DeviceError) -> DeviceError:
        """From now on everybody gets `fault`, or what came before it."""
        with self._changed:
            first = self._fault is None
            self._fault = self._fault or fault
            self._changed.notify_all()
        if first:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes who waits for it
            except OSError:
                pass
            self._socket.close()
        return self._fault


class _DirectStream(AdbStream):
    """One stream of a `DirectConnection`."""

    def __init__(self, connection: DirectConnection, local: int, deadline: Deadline) -> None:
        self.local = local
        self.remote = 0
        self.ended = False
        self._connection = connection
        self._deadline = deadline
        self._pieces: deque[bytes] = deque()
        self._free = False  # whether the last write was acknowledged

    def take(self, packet: Packet) -> None:
        """A packet for this stream came."""
        if packet.command == OKAY:
            self.remote = self.remote or packet.arg0
            self._free = True
        elif packet.command == WRTE:
            self._pieces.append(packet.data)
        elif packet.command == CLSE:
            self.ended = True

    def receive(self) -> bytes:
        while True:
            self._connection.wait_until(lambda: self._pieces or self.ended, self._deadline)
            if not self._pieces:
                return b""
            piece = self._pieces.popleft()
            if piece:
                return piece

    def write(self, data: bytes) -> None:
        most = self._connection.most
        for start in range(0, len(data), most):
            self._connection.wait_until(lambda: self._free or self.ended, self._deadline)
            if self.ended:
                raise DeviceLost(f"{self._connection.name} ended a stream while it was written to")
            self._free = False
            packet = Packet(WRTE, self.local, self.remote, data[start : start + most])
            self._connection.send(packet, self._deadline)

    def close(self) -> None:
        self._connection.forget(self)
        self.ended = True


def _features(banner: str) -> frozenset[str]:
    """Of ``device::ro.product.name=x;...;features=shell_v2,cmd``."""
    for part in banner.rstrip("\0").split(";"):
        key, _, value = part.rpartition("::")[2].partition("=")
        if key == "features":
            return frozenset(value.split(","))
    return frozenset()
