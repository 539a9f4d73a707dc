"""A client of OSWorld's server: one request, one connection, and one deadline for all of it."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym.desktop.http.address import TOKEN, ServerAddress, token
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

MAX_BODY = 512 << 20
"""The longest answer that is taken, in bytes."""

_CHUNK = 1 << 20
_TAG = re.compile(r"<[^>]*>")


class Refused(DeviceError):
    """The server answered with an error; `status` is 0 where it is not known."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class CutShort(DeviceLost):
    """The connection ended before the whole answer was there."""


@dataclass(frozen=True)
class ServerReply:
    """What a server answered: the status, and the body."""

    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body read as JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Client:
    """Asks the server at an address. Its methods may be called from any thread.

    Proxies of the environment are not used, and redirects not followed: the machine is where the
    address says.
    """

    def __init__(self, address: ServerAddress, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False

    def get(self, path: str, *, timeout: float | None = None) -> ServerReply:
        return self._ask("GET", path, b"", "", timeout)

    def post(self, path: str, value: object = None, *, timeout: float | None = None) -> ServerReply:
        """Send `value` as JSON; None sends nothing."""
        if value is None:
            return self._ask("POST", path, b"", "", timeout)
        return self._ask("POST", path, json.dumps(value).encode(), "application/json", timeout)

    def form(
        self,
        path: str,
        fields: Mapping[str, str],
        file: tuple[str, bytes] | None = None,
        *,
        timeout: float | None = None,
    ) -> ServerReply:
        """Send a form; `file` is the name of its field, and the bytes."""
        kind, body = _form(fields, file)
        return self._ask("POST", path, body, kind, timeout)

    def check(self, path: str, reply: ServerReply) -> ServerReply:
        """`reply` itself if it is a success; else `Refused` with what was said."""
        if reply.status == 200:
            return reply
        said = " ".join(_reason(reply).split())[:300]
        if reply.status == 401:
            said = f"{said} Set the environment variable {TOKEN} to the server's token."
        raise Refused(f"{self.address} answered {path} with {reply.status}: {said}", reply.status)

    def connect(self, port: int) -> socket.socket:
        """A connection to another port of the machine. `DeviceError` where nothing listens."""
        port = self.address.ports.get(port, port)
        try:
            return socket.create_connection((self.address.host, port), self.timeout)
        except OSError as error:
            raise DeviceError(
                f"nothing listens at {self.address.host}:{port}: {_words(error)}"
            ) from None

    def close(self) -> None:
        """End all requests in progress, and refuse new ones."""
        with self._lock:
            self._closed = True
            waiting = list(self._open)
        for connection in waiting:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    # -- one request --

    def _ask(
        self, method: str, path: str, body: bytes, kind: str, timeout: float | None
    ) -> ServerReply:
        seconds = self.timeout if timeout is None else timeout
        deadline = _Deadline(seconds)
        try:
            with self._connection(deadline) as connection:
                connection.request(method, path, body, self._headers(kind))
                return _read(connection.getresponse())
        except TimeoutError:
            raise DeviceTimeout(
                f"{self.address} did not answer {method} {path} within {seconds:g} s"
            ) from None
        except (http.client.IncompleteRead, http.client.RemoteDisconnected) as error:
            raise self._lost(
                f"it ended the connection in its answer to {method} {path}", error
            ) from None
        except http.client.HTTPException as error:
            raise DeviceError(
                f"what {self.address} answered to {method} {path} is not HTTP "
                f"({type(error).__name__}): is it OSWorld's server?"
            ) from None
        except OSError as error:
            raise self._lost(f"{method} {path}: {_words(error)}", error) from None

    def _headers(self, kind: str) -> dict[str, str]:
        headers = {"Host": self.address.called, "Connection": "close", "Accept": "*/*"}
        if kind:
            headers["Content-Type"] = kind
        if secret := token():
            headers["Authorization"] = f"Bearer {secret}"
        return headers

    @contextlib.contextmanager
    def _connection(self, deadline: _Deadline) -> Iterator[http.client.HTTPConnection]:
        address = self.address
        with self._lock:
            if self._closed:
                raise DeviceLost(f"{address} was closed")
        plain = socket.create_connection((address.host, address.port), deadline.left())
        try:
            with self._lock:
                self._open.add(plain)
                closed = self._closed
            if closed:
                raise DeviceLost(f"{address} was closed")
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = plain
            if address.scheme == "https":
                context = ssl.create_default_context()
                plain.settimeout(deadline.left())
                wire = context.wrap_socket(plain, server_hostname=address.host)
            connection = http.client.HTTPConnection(address.host, address.port)
            connection.sock = _Wire(wire, deadline)
            yield connection
            wire.close()
        finally:
            with self._lock:
                self._open.discard(plain)
            plain.close()

    def _lost(self, what: str, error: Exception) -> DeviceLost:
        if self._closed:
            return DeviceLost(f"{self.address} was closed")
        said = f"{self.address} is lost: {what}"
        if isinstance(error, http.client.IncompleteRead):
            return CutShort(f"{said}, after {len(error.partial)} bytes of the body")
        return DeviceLost(said)


class _Deadline:
    """A point in time that every wait of a request ends at."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds until then. TimeoutError where it is over."""
        seconds = self._at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class _Wire:
    """A socket as `http.client` uses one, whose every wait ends at the deadline.

    A timeout of the socket alone is no bound: a server may send one byte each second for ever.
    """

    def __init__(self, wire: socket.socket, deadline: _Deadline) -> None:
        self._wire = wire
        self._deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._wire, self._deadline))

    def sendall(self, data: bytes) -> None:
        self._wire.settimeout(self._deadline.left())
        self._wire.sendall(data)

    def close(self) -> None:
        """Nothing: `http.client` calls it while the answer is still being read."""


class _Incoming(io.RawIOBase):
    def __init__(self, wire: socket.socket, deadline: _Deadline) -> None:
        self._wire = wire
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        self._wire.settimeout(self._deadline.left())
        return self._wire.recv_into(into)


def _read(response: http.client.HTTPResponse) -> ServerReply:
    parts, size = [], 0
    # One read for all of it would be cut off in silence where the connection ends too early.
    expected = response.length
    while part := response.read(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > MAX_BODY:
            raise DeviceError(f"an answer of more than {MAX_BODY} bytes is not taken")
    if expected is not None and size < expected:
        raise http.client.IncompleteRead(b"".join(parts), expected - size)
    return ServerReply(response.status, b"".join(parts))


def _form(fields: Mapping[str, str], file: tuple[str, bytes] | None) -> tuple[str, bytes]:
    """The content type of a ``multipart/form-data`` body, and the body."""
    boundary = f"ui-gym-{secrets.token_hex(16)}"
    parts = [(f'name="{name}"', text.encode()) for name, text in fields.items()]
    if file is not None:
        parts.append((f'name="{file[0]}"; filename="file"', file[1]))
    body = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n"
        for head, data in parts
    )
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


def _reason(reply: ServerReply) -> str:
    """What an answer says went wrong: OSWorld's routes say it in three ways."""
    value = reply.json()
    if isinstance(value, dict):
        for key in ("message", "error"):
            if isinstance(value.get(key), str) and value[key]:
                return str(value[key])
    return _TAG.sub(" ", reply.text) or "(nothing)"


def _words(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
