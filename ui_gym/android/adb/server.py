"""The adb server's smart socket (AOSP ``adb/OVERVIEW.TXT``, ``SERVICES.TXT``), from the outside.

A request is its length in four hexadecimal digits and its text; the answer begins with ``OKAY`` or
``FAIL``. Every request has a TCP connection of its own. The server knows USB, keys and encryption.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import tempfile
import threading
from dataclasses import dataclass

from ui_gym.android.adb.binary import find_adb
from ui_gym.android.adb.stream import AdbStream, Deadline
from ui_gym.errors import (
    DeviceError,
    DeviceLost,
    DeviceSetupError,
    DeviceStartError,
    DeviceTimeout,
    UserError,
)

DEFAULT_PORT = 5037

_GET_ADB = (
    "Install it (Debian: apt-get install adb; anywhere: Android's platform-tools, on the PATH or "
    "under ANDROID_HOME)"
)
_DEVICE = re.compile(r"(\S+)\s+(.+?)(?:\s+(?:\w+:|usb:).*)?")


@dataclass(frozen=True)
class Listed:
    """A device as the server lists it: ``device`` is the state of one that can be used."""

    serial: str
    state: str


class NoServer(DeviceLost):
    """Nobody listens where the adb server should."""


class SmartSocket:
    """The adb server that `adb` itself would use.

    Its address is ``ADB_SERVER_SOCKET`` (``tcp:host:port``), else ``ANDROID_ADB_SERVER_ADDRESS``
    and ``ANDROID_ADB_SERVER_PORT``, else port 5037 of this machine.

    Raises:
        UserError: one of those variables says nothing sensible.
    """

    def __init__(self) -> None:
        self.host, self.port = _address()

    def ensure(self, timeout: float) -> None:
        """Start the server if none answers and it is to be on this machine.

        Raises:
            DeviceStartError: there is none and none can be started; says what to install.
        """
        try:
            self.ask("host:version", timeout)
            return
        except NoServer as error:
            if self.host not in ("127.0.0.1", "localhost", "::1"):
                raise DeviceStartError(f"no adb server: {error}. Start one there") from None
        program = find_adb()
        if program is None:
            raise DeviceSetupError(
                f"no adb server answers at {self.host}:{self.port}, and no adb was found to start "
                f"one. {_GET_ADB}"
            )
        self._start(program, timeout)
        self.ask("host:version", timeout)

    def devices(self, timeout: float) -> list[Listed]:
        """The devices that the server knows, whatever their state."""
        found = []
        for line in self.ask("host:devices-l", timeout).splitlines():
            if match := _DEVICE.fullmatch(line.strip()):
                found.append(Listed(match[1], match[2].strip()))
        return found

    def ask(self, request: str, timeout: float) -> str:
        """The text that the server answers a request for itself with.

        Raises:
            DeviceError: it refuses, and says why.
            DeviceLost: no server answers.
        """
        with self.call([request], timeout) as stream:
            length = stream.read(4)
            try:
                return stream.read(int(length, 16)).decode(errors="replace")
            except ValueError:
                raise DeviceLost(
                    f"{self.host}:{self.port} is no adb server: it answered {length!r}"
                ) from None

    def call(self, requests: list[str], timeout: float) -> ServerStream:
        """What comes after these requests, each of which the server must agree to."""
        what = f"the adb server ({requests[-1][:40]!r})"
        stream = ServerStream(self.host, self.port, Deadline(timeout, what))
        try:
            for request in requests:
                encoded = request.encode()
                if len(encoded) > 0xFFFF:
                    raise DeviceError(f"a request of {len(encoded)} bytes is too long for adb")
                stream.write(b"%04x%s" % (len(encoded), encoded))
                answer = stream.read(4)
                if answer == b"FAIL":
                    reason = stream.read(int(stream.read(4), 16)).decode(errors="replace")
                    raise DeviceError(f"adb: {reason.strip()}")
                if answer != b"OKAY":
                    raise DeviceLost(
                        f"{self.host}:{self.port} is no adb server: it answered {answer!r}"
                    )
        except BaseException:
            stream.close()
            raise
        return stream

    def _start(self, program: str, timeout: float) -> None:
        # Not a pipe: the server would inherit it, and it never ended.
        with tempfile.TemporaryFile() as said:
            try:
                done = subprocess.run(
                    [program, "-P", str(self.port), "start-server"],
                    stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=timeout,
                    env={k: v for k, v in os.environ.items() if k != "ADB_SERVER_SOCKET"},
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise DeviceStartError(
                    f"{program} start-server did not end within {timeout:g} s"
                ) from None
            except OSError as error:
                raise DeviceSetupError(f"{program} cannot be run: {error.strerror}") from None
            if done.returncode != 0:
                said.seek(0)
                reason = said.read(2000).decode(errors="replace").strip()
                raise DeviceStartError(f"{program} could not start its server: {reason}")


class ServerStream(AdbStream):
    """A TCP connection to the server, which from some point on is one to a service."""

    def __init__(self, host: str, port: int, deadline: Deadline) -> None:
        self._deadline = deadline
        try:
            self._socket = socket.create_connection((host, port), timeout=deadline.left())
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            reason = error.strerror or str(error)
            raise NoServer(f"no adb server answers at {host}:{port}: {reason}") from None

    def receive(self) -> bytes:
        try:
            self._socket.settimeout(self._deadline.left())
            return self._socket.recv(1 << 18)
        except OSError as error:
            raise self._lost(error) from None

    def write(self, data: bytes) -> None:
        try:
            self._socket.settimeout(self._deadline.left())
            self._socket.sendall(data)
        except OSError as error:
            raise self._lost(error) from None

    def close(self) -> None:
        # Shut down first: that wakes a thread which waits for it.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    @property
    def is_open(self) -> bool:
        return self._socket.fileno() >= 0

    def _lost(self, error: OSError) -> DeviceLost:
        if isinstance(error, TimeoutError):
            self._deadline.left()  # raises, as the time is over
        return DeviceLost(f"the adb server ended the connection: {error.strerror or error}")


class ServerConnection:
    """One device, through an adb server. Safe to use from many threads.

    Raises:
        DeviceError: the server does not know the device, or cannot use it.
    """

    def __init__(self, server: SmartSocket, serial: str, timeout: float) -> None:
        self.name = serial
        self._server = server
        self._open: set[ServerStream] = set()
        self._closed = False
        self._lock = threading.Lock()
        features = server.ask(f"host-serial:{serial}:features", timeout)
        self.features = frozenset(features.split(","))

    def open(self, service: str, timeout: float) -> AdbStream:
        try:
            stream = self._server.call([f"host:transport:{self.name}", service], timeout)
        except (DeviceLost, DeviceTimeout):
            raise
        except DeviceError as error:
            # "closed" is also how a refused service ends, but every phone has these.
            ended = str(error).endswith("closed") and service.startswith(("shell", "exec", "sync"))
            if ended or _GONE.search(str(error)):
                raise DeviceLost(f"{self.name} is gone: {error}") from None
            raise DeviceError(f"{self.name} refuses {service[:40]!r}: {error}") from None
        with self._lock:
            self._open = {each for each in self._open if each.is_open}
            self._open.add(stream)
            closed = self._closed
        if closed:
            stream.close()
            raise DeviceLost(f"the connection to {self.name} was closed")
        return stream

    def close(self) -> None:
        with self._lock:
            self._closed = True
            streams, self._open = self._open, set()
        for stream in streams:
            stream.close()


_GONE = re.compile(r"not found|offline|unauthorized|no devices|device still|disconnected")


def _address() -> tuple[str, int]:
    told = os.environ.get("ADB_SERVER_SOCKET")
    if told:
        match = re.fullmatch(r"tcp:(?:(.+):)?(\d+)", told)
        if match is None:
            raise UserError(f"ADB_SERVER_SOCKET is tcp:host:port here, not {told!r}")
        host, port = (match[1] or "127.0.0.1").strip("[]"), match[2]
    else:
        host = os.environ.get("ANDROID_ADB_SERVER_ADDRESS", "127.0.0.1")
        port = os.environ.get("ANDROID_ADB_SERVER_PORT", str(DEFAULT_PORT))
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise UserError(f"the adb server's port is a number up to 65535, not {port!r}")
    return host, int(port)
