"""AdbServer: a machine served by ADB's device transport, so that any stock `adb` can use it.

    with AdbServer(phone) as served:
        ...                             # adb connect 127.0.0.1:{served.port}

Without keys: it listens on the loopback interface alone. Whoever may connect to that may do what
the machine's shell can do, and that is all a simulated one is for.
"""

from __future__ import annotations

import errno
import itertools
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Protocol, Self

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
from ui_gym.android.adb.shell_service import Runs, serve_shell
from ui_gym.android.adb.stream import AdbStream
from ui_gym.android.adb.sync_service import SyncFiles, serve_sync
from ui_gym.errors import DeviceError, DeviceLost, UserError
from ui_gym_phone import adb_services
from ui_gym_phone.adb_services import Adbd, Reversed, Rooted

FEATURES = "shell_v2,stat_v2,ls_v2,fixed_push_mkdir"
"""Not ``cmd``: then `adb install` pushes the file and runs ``pm install``, in all versions."""

MAX_CONNECTIONS = 16
MAX_STREAMS = 32
"""At once, of one connection. Each holds at most one payload that was not read yet."""
MAX_PORTS = 8
MAX_SERVICE = 64 << 10
"""The longest name of a service, which holds a shell's line, in bytes."""
STALL = 600.0
"""Seconds that a client may take to acknowledge what it was sent."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Served(Runs, SyncFiles, Rooted, Protocol):
    """What is served. Its methods are called from several threads, one a stream."""

    @property
    def serial(self) -> str:
        """The machine's name in messages."""

    @property
    def banner(self) -> Mapping[str, str]:
        """What `adb devices -l` tells: ``ro.product.name``, ``.model`` and ``.device``."""


class AdbServer:
    """Listens from the beginning, until `close`. `port` 0 takes a free one.

    Raises:
        UserError: the address is not of this machine alone, or the port is taken.
    """

    def __init__(self, served: Served, host: str = "127.0.0.1", port: int = 0) -> None:
        if host not in _LOOPBACK:
            raise UserError(
                f"a phone is served to this machine only (127.0.0.1), not on {host!r}: it asks for "
                "no key. From another machine, use a tunnel: ssh -L 5555:127.0.0.1:5555 THIS_HOST"
            )
        self._served = served
        self._lock = threading.Lock()
        self._connections: set[_Connection] = set()
        self._listening: dict[socket.socket, threading.Thread] = {}
        self._closed = False
        self.host = host
        self.port = self._listen(port)

    @property
    def address(self) -> str:
        """What `adb connect` is given."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def listen_also(self, port: int) -> None:
        """Listen on another port, too: ``adb tcpip PORT``."""
        with self._lock:
            known = any(sock.getsockname()[1] == port for sock in self._listening)
            full = len(self._listening) >= MAX_PORTS
        if full:
            raise UserError(f"at most {MAX_PORTS} ports of a phone are listened on")
        if not known:
            self._listen(port)

    def drop(self) -> None:
        """End all connections, as when adbd restarts: clients connect anew."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.close()

    def close(self) -> None:
        """End every connection. May be repeated, from any thread."""
        with self._lock:
            self._closed = True
            connections, listening = list(self._connections), dict(self._listening)
        for sock in listening:
            end_socket(sock)
        for connection in connections:
            connection.close()
        for thread in (*listening.values(), *(connection.thread for connection in connections)):
            if thread is not threading.current_thread():
                thread.join(timeout=5)

    def _listen(self, port: int) -> int:
        """Listen on a port; the one that it is."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((self.host, port))
            sock.listen(MAX_CONNECTIONS)
        except (OSError, OverflowError) as error:
            sock.close()
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "it is taken; choose another, or 0 for any that is free" if taken else error
            raise UserError(f"cannot listen on port {port} of {self.host}: {reason}") from None
        found: int = sock.getsockname()[1]
        thread = threading.Thread(
            target=self._accept, args=(sock,), name=f"ui-gym-adbd-{found}", daemon=True
        )
        with self._lock:
            self._listening[sock] = thread
        thread.start()
        return found

    def _accept(self, listening: socket.socket) -> None:
        pause = threading.Event()
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                if self._closed:
                    return
                pause.wait(0.05)  # too many open files, or the client went before it was accepted
                continue
            with self._lock:
                if self._closed or len(self._connections) >= MAX_CONNECTIONS:
                    sock.close()
                    continue
                connection = _Connection(sock, self._served, self, self._forget)
                self._connections.add(connection)
            connection.thread.start()

    def _forget(self, connection: _Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Connection:
    """One client: a thread takes its packets, and each stream has one that serves it."""

    def __init__(
        self,
        sock: socket.socket,
        served: Served,
        adbd: Adbd,
        forget: Callable[[_Connection], None],
    ) -> None:
        self._socket = sock
        self._served = served
        self._adbd = adbd
        self._reversed = Reversed()
        self._forget = forget
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._streams: dict[int, _ServedStream] = {}
        self._numbers = itertools.count(1)
        self._checked = False
        self._greeted = False
        self.most = MAX_DATA
        """The longest payload that the client takes."""
        self.thread = threading.Thread(
            target=self._serve, name=f"ui-gym-adbd-{served.serial}", daemon=True
        )

    def close(self) -> None:
        end_socket(self._socket)

    def send(self, packet: Packet) -> None:
        """Send a packet whole. `DeviceLost` where the client is gone, or takes nothing any more."""
        header, data = packet.header(checked=self._checked), packet.data
        try:
            with self._sending:
                if len(data) < 4096:
                    self._socket.sendall(header + data)
                else:  # two system calls cost less than a copy
                    self._socket.sendall(header)
                    self._socket.sendall(data)
        except OSError as error:
            self.close()
            raise DeviceLost(f"the client is gone: {error}") from None

    def end(self, stream: _ServedStream) -> None:
        """The service has ended."""
        with self._lock:
            known = self._streams.pop(stream.local, None)
        if known is not None:
            self.send(Packet(CLSE, stream.local, stream.remote))

    def _serve(self) -> None:
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # A client that takes nothing must not hold a thread for ever.
            limit = struct.pack("ll", int(STALL), 0)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
            packets = PacketReader()
            while count := self._socket.recv_into(packets.room):
                packet = packets.took(count)
                if packet is not None:
                    self._handle(packet)
        except (OSError, DeviceError):
            pass  # the client went, or speaks no ADB; this connection ends, no other does
        finally:
            self.close()
            with self._lock:
                streams, self._streams = list(self._streams.values()), {}
            for stream in streams:
                stream.lose()
            self._forget(self)

    def _handle(self, packet: Packet) -> None:
        if packet.command == CNXN:
            self._checked = packet.arg0 <= FIRST_VERSION
            self.most = max(1, min(packet.arg1, MAX_DATA))
            self._greeted = True
            told = "".join(f"{key}={value};" for key, value in self._served.banner.items())
            banner = f"device::{told}features={FEATURES}"
            self.send(Packet(CNXN, VERSION, MAX_DATA, banner.encode()))
        elif packet.command in (AUTH, STLS) or not self._greeted:
            raise DeviceLost("a packet that no client has a reason to send")
        elif packet.command == OPEN:
            self._open(packet)
        else:
            with self._lock:
                stream = self._streams.get(packet.arg1)
                if packet.command == CLSE and stream is not None:
                    del self._streams[packet.arg1]
            # One that has ended may still be written to: the client does not know yet.
            if stream is not None:
                stream.take(packet)

    def _open(self, packet: Packet) -> None:
        service = packet.data.rstrip(b"\0").decode(errors="replace")
        serve = self._service(service) if len(service) <= MAX_SERVICE else None
        with self._lock:
            full = len(self._streams) >= MAX_STREAMS
            if serve is not None and not full and packet.arg0:
                stream = _ServedStream(self, next(self._numbers), packet.arg0)
                self._streams[stream.local] = stream
            else:
                serve = None
        if serve is None:
            self.send(Packet(CLSE, 0, packet.arg0))
            return
        self.send(Packet(OKAY, stream.local, stream.remote))
        name = f"{self.thread.name}-{stream.local}"
        threading.Thread(target=stream.serve, args=(serve,), name=name, daemon=True).start()

    def _service(self, name: str) -> adb_services.AdbService | None:
        """What serves a stream of this name, if anything does."""
        if name == "sync:":
            return lambda stream: serve_sync(self._served, stream)
        if name.startswith(("shell:", "shell,", "exec:")) and ":" in name:
            return lambda stream: serve_shell(self._served, name, stream)
        return adb_services.service(name, self._served, self._adbd, self._reversed)


class _ServedStream(AdbStream):
    """The device's end of a stream."""

    def __init__(self, connection: _Connection, local: int, remote: int) -> None:
        self.local = local
        self.remote = remote
        self._connection = connection
        self._changed = threading.Condition()
        self._piece: bytes | None = None
        self._free = True
        self._ended = False

    def serve(self, service: Callable[[AdbStream], None]) -> None:
        """Run the service, and end the stream with it."""
        try:
            service(self)
        except DeviceError:
            pass  # the client went, or sent what the service does not know
        finally:
            self.close()

    def take(self, packet: Packet) -> None:
        """A packet for this stream came. `DeviceLost` where the client does not wait its turn."""
        with self._changed:
            if packet.command == OKAY:
                self._free = True
            elif packet.command == CLSE:
                self._ended = True
            elif packet.command == WRTE:
                if self._piece is not None:
                    raise DeviceLost("the client wrote again before it was told that it may")
                self._piece = packet.data
            self._changed.notify_all()

    def lose(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def receive(self) -> bytes:
        # Without a deadline: a person may be at the other end. The connection's end wakes it.
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._piece is not None or self._ended)
                piece, self._piece = self._piece, None
            if piece is None:
                return b""
            self._connection.send(Packet(OKAY, self.local, self.remote))
            if piece:
                return piece

    def write(self, data: bytes) -> None:
        most = self._connection.most
        for start in range(0, len(data), most):
            with self._changed:
                if not self._changed.wait_for(lambda: self._free or self._ended, STALL):
                    raise DeviceLost(f"the client took nothing for {STALL:g} s")
                if self._ended:
                    raise DeviceLost("the client has closed the stream")
                self._free = False
            piece = data[start : start + most]
            self._connection.send(Packet(WRTE, self.local, self.remote, piece))

    def close(self) -> None:
        with self._changed:
            self._ended = True
        try:
            self._connection.end(self)
        except DeviceError:
            pass  # the client is gone, and all its streams


def end_socket(sock: socket.socket) -> None:
    """Close a socket and wake the thread that waits for it."""
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    sock.close()
