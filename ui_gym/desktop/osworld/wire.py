"""HTTP and WebSocket over a connection that a device has made."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import struct
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ui_gym.desktop.device import DesktopDevice
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

MAX_BODY = 64 << 20
"""An answer or message of more bytes is refused."""
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
"""Frame types of a WebSocket (RFC 6455, section 5.2) that matter here."""


def connect(device: DesktopDevice, port: int) -> socket.socket | None:
    """A connection to that port of the device's machine; None where nothing listens.

    Raises:
        DeviceLost, DeviceTimeout: the machine itself failed.
    """
    try:
        return device.connect(port)
    except (DeviceLost, DeviceTimeout):
        raise
    except DeviceError:
        return None


def request(
    connection: socket.socket,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float,
) -> tuple[int, bytes]:
    """One HTTP exchange over a connection, which is closed: the status and the body.

    Raises:
        DeviceTimeout: it took longer than `timeout` seconds.
        DeviceError: the other side does not speak HTTP, or hung up.
    """
    deadline = time.monotonic() + timeout
    connection.settimeout(timeout)
    client = http.client.HTTPConnection("127.0.0.1", timeout=timeout)
    client.sock = connection
    try:
        client.request(method, path, headers=dict(headers or {}))
        answer = client.getresponse()
        body = b""
        while part := answer.read1(1 << 16):
            body += part
            _check_size(len(body))
            connection.settimeout(_left(deadline, path))
        return answer.status, body
    except TimeoutError as error:
        raise DeviceTimeout(f"{method} {path}: no answer within {timeout:g} s") from error
    except (OSError, http.client.HTTPException) as error:
        raise DeviceError(f"{method} {path}: {error!r}") from error
    finally:
        client.close()
        connection.close()


class WebSocket:
    """The client's end of a WebSocket (RFC 6455) that carries JSON texts."""

    def __init__(self, connection: socket.socket, path: str, *, timeout: float) -> None:
        """Shake hands. `DeviceError` where the other side will not."""
        self._socket = connection
        self._received = b""
        self._deadline = time.monotonic() + timeout
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade"]
        lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
        try:
            self._send_all("\r\n".join([*lines, "", ""]).encode())
            status = self._line()
            while self._line():
                pass
            if b" 101 " not in status + b" ":
                raise DeviceError(f"no WebSocket at {path}: {status.decode('latin-1')}")
        except DeviceError:
            self.close()
            raise

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        self._frame(TEXT, json.dumps(message).encode())

    def receive(self, timeout: float) -> Any:
        """The next message. `DeviceTimeout` where none comes within `timeout` seconds."""
        self._deadline = time.monotonic() + timeout
        whole = b""
        while True:
            final, kind, data = self._read_frame()
            if kind == CLOSE:
                raise DeviceError("the other side closed the WebSocket")
            if kind == PING:
                self._frame(PONG, data)
            if kind >= CLOSE:
                continue
            whole += data
            _check_size(len(whole))
            if final:
                try:
                    return json.loads(whole)
                except (ValueError, RecursionError) as error:
                    raise DeviceError(f"a WebSocket message is not JSON: {error}") from error

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _frame(self, kind: int, data: bytes) -> None:
        """Send one whole frame; a client's are masked (section 5.3)."""
        head = bytes([0x80 | kind])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 1 << 16:
            head += struct.pack(">BH", 0x80 | 126, len(data))
        else:
            head += struct.pack(">BQ", 0x80 | 127, len(data))
        mask = os.urandom(4)
        repeated = (mask * (len(data) // 4 + 1))[: len(data)]
        masked = int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")
        self._send_all(head + mask + masked.to_bytes(len(data), "big"))

    def _read_frame(self) -> tuple[bool, int, bytes]:
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        _check_size(length)
        if second & 0x80:
            raise DeviceError("the other side masks its WebSocket frames, which only clients may")
        return bool(first & 0x80), first & 0x0F, self._take(length)

    def _send_all(self, data: bytes) -> None:
        try:
            self._socket.settimeout(_left(self._deadline, "a WebSocket"))
            self._socket.sendall(data)
        except TimeoutError as error:
            raise DeviceTimeout("a WebSocket takes no message") from error
        except OSError as error:
            raise DeviceError(f"a WebSocket broke: {error!r}") from error

    def _line(self) -> bytes:
        while b"\r\n" not in self._received:
            self._more()
        line, self._received = self._received.split(b"\r\n", 1)
        return line

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            self._more()
        data, self._received = self._received[:count], self._received[count:]
        return data

    def _more(self) -> None:
        try:
            self._socket.settimeout(_left(self._deadline, "a WebSocket"))
            part = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise DeviceTimeout("a WebSocket gives no answer") from error
        except OSError as error:
            raise DeviceError(f"a WebSocket broke: {error!r}") from error
        if not part:
            raise DeviceError("the other side hung up")
        self._received += part
        _check_size(len(self._received))


def _left(deadline: float, what: str) -> float:
    """The seconds that are left; at least one thousandth, since 0 would not wait at all."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise DeviceTimeout(f"{what}: no answer in time")
    return max(left, 0.001)


def _check_size(size: int) -> None:
    if size > MAX_BODY:
        raise DeviceError(f"an answer of {size} bytes is refused")
