"""HTTP with servers of ui-verifiers: requests that end, whatever the server does."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from ui_gym.errors import DeviceError, DeviceLost, DeviceSetupError, DeviceTimeout, UserError
from ui_gym.remote.guard import check_no_password, token_in

TOKEN = "UI_GYM_UI_VERIFIERS_TOKEN"
"""The environment variable with the token that such servers are told, if they want one."""

EXAMPLE = "ui-verifiers:http://127.0.0.1:8000"

MAX_BODY = 64 << 20
"""The longest answer that is taken, in bytes."""

PAUSES = (0.2, 1.0)
"""Seconds before a question is asked again that was not answered. No action is done again."""


class VerifierRefusal(DeviceError):
    """The server answered with an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class VerifierAddress:
    """Where a server is."""

    scheme: str
    host: str
    port: int
    path: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @classmethod
    def parse(cls, text: str) -> VerifierAddress:
        """Read ``http://HOST:PORT``, or ``https:``, with a path or without.

        Raises:
            UserError: it is none, or it holds a password.
        """
        try:
            parts = urlsplit(text.strip())
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError as error:
            raise UserError(f"{text!r} is no address of a server: {error}") from None
        check_no_password(parts, TOKEN)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise UserError(f"a server is said as in device={EXAMPLE!r}, not {text!r}")
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


class VerifierServer:
    """Asks a server. One request, one connection, one deadline for its answer; from any thread.

    Proxies of the environment are not used, and redirects not followed.
    """

    def __init__(self, address: VerifierAddress, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()

    def look(self, path: str, **query: object) -> bytes:
        """What a question is answered with that changes nothing; it may be asked again."""
        for pause in PAUSES:
            try:
                return self.ask("GET", path, **query)
            except DeviceError as error:
                passes = isinstance(error, DeviceLost) or is_busy(error)
                if not passes or self.closed.wait(pause):
                    raise
        return self.ask("GET", path, **query)

    def ask(self, method: str, path: str, **query: object) -> bytes:
        """What the server answers, once.

        Raises:
            VerifierRefusal: with an error.
            DeviceTimeout, DeviceLost: not in time, or not at all.
        """
        target = f"{self.address.path}{path}"
        target += f"?{urlencode(query, quote_via=quote)}" if query else ""
        until = time.monotonic() + self.timeout
        try:
            with self._connection() as connection:
                connection.request(method, target, headers=self._headers())
                status, body = _read(connection.getresponse())
                if self.closed.is_set() or time.monotonic() >= until:
                    raise ConnectionResetError  # an answer that says no length ends as if whole
        except (OSError, http.client.HTTPException) as error:
            raise self._failed(f"{method} {path}", until, error) from None
        if status != 200:
            raise self._refused(path, status, body)
        return body

    def close(self) -> None:
        """End all requests in progress, and refuse new ones."""
        self.closed.set()
        with self._lock:
            waiting = list(self._open)
        for wire in waiting:
            _cut(wire)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        address = self.address
        connection: http.client.HTTPConnection
        if address.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(
                address.host, address.port, timeout=self.timeout, context=context
            )
        else:
            connection = http.client.HTTPConnection(
                address.host, address.port, timeout=self.timeout
            )
        connection.connect()
        wire = connection.sock
        # The timeout of a socket bounds each wait, and a server may send a byte each second.
        late = threading.Timer(self.timeout, _cut, (wire,))
        late.daemon = True
        late.start()
        try:
            with self._lock:
                self._open.add(wire)
            if self.closed.is_set():
                raise DeviceLost(f"{address} was closed")
            yield connection
        finally:
            late.cancel()
            with self._lock:
                self._open.discard(wire)
            connection.close()
            wire.close()

    def _headers(self) -> dict[str, str]:
        secret = token_in(TOKEN)
        return {"Connection": "close"} | ({"Authorization": f"Bearer {secret}"} if secret else {})

    def _failed(self, what: str, until: float, error: Exception) -> DeviceError:
        if self.closed.is_set():
            return DeviceLost(f"{self.address} was closed")
        if isinstance(error, TimeoutError) or time.monotonic() >= until:
            return DeviceTimeout(f"{self.address} did not answer {what} within {self.timeout:g} s")
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return DeviceLost(f"{self.address} is lost: {what}: {str(reason).lower()}")

    def _refused(self, path: str, status: int, body: bytes) -> DeviceError:
        said = " ".join(body[:1000].decode("utf-8", "replace").split())[:300]
        message = f"{self.address} answered {path} with {status}: {said}"
        if status in (401, 403):
            return DeviceSetupError(f"{message} (the environment variable {TOKEN} holds a token)")
        return VerifierRefusal(message, status)


def is_busy(error: DeviceError) -> bool:
    """Whether a server has refused what it may grant later."""
    return isinstance(error, VerifierRefusal) and error.status >= 500


def _read(response: http.client.HTTPResponse) -> tuple[int, bytes]:
    expected = response.length
    body = response.read(MAX_BODY + 1)
    if len(body) > MAX_BODY:
        raise DeviceError(f"an answer of more than {MAX_BODY} bytes is not taken")
    if expected is not None and len(body) < expected:
        raise http.client.IncompleteRead(body, expected - len(body))
    return response.status, body


def _cut(wire: socket.socket) -> None:
    """End a connection under whoever reads from it."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(wire, socket.SHUT_RDWR)  # of TLS too, without its goodbye
