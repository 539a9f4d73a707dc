"""DesktopServer: OSWorld's HTTP interface over a desktop of ours."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Collection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ui_gym.contract.device import DevicePool
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.http import commands, recording, routes
from ui_gym.desktop.http.address import TOKEN
from ui_gym.desktop.http.message import HttpAnswer, Request
from ui_gym.desktop.http.recording import ScreenRecorder
from ui_gym.desktop.http.shared import SharedDesktop
from ui_gym.errors import DeviceError, DeviceLost, UserError
from ui_gym.remote.guard import Guard, Mistake

log = logging.getLogger(__name__)

MAX_BODY = 1 << 20
"""The largest body of a request, in bytes."""

MAX_UPLOAD = 256 << 20
"""The largest file that is taken, in bytes, with the form around it."""

_WITH_FILES = ("/setup/upload", "/ui_gym/renew")

MOST_CLIENTS = 32
"""Requests in progress beyond these are turned away."""

TIMEOUT = 30.0
"""Seconds that a client may leave us waiting for the next bytes of its request."""


class DesktopServer:
    """Serves one desktop while the context is open; `address` says where.

    Args:
        pool: Lends the device, and another when that one is lost. It is the caller's to close.
        session: How the desktop starts.
        port: 0 is any that is free.
        token: What clients must say, as ``Authorization: Bearer TOKEN``; none if empty.
        names: Further names that clients call this host by.
        allow_execute: Whether clients may run commands on the desktop.

    Raises:
        UserError: the port is taken, or the host needs a token.
        DeviceError: the device cannot be started.
    """

    def __init__(
        self,
        pool: DevicePool,
        session: SessionSpec | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 5000,
        token: str = "",
        names: Collection[str] = (),
        allow_execute: bool = False,
    ) -> None:
        self._guard = Guard(host, token, names, variable=TOKEN)
        self.desktop = SharedDesktop(pool, session or SessionSpec(), allow_execute=allow_execute)
        self._recorder = ScreenRecorder(self.desktop)
        self._http = _listen(host, port, self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        try:
            _ = self.desktop.device  # started before it is said to be there
            self._thread.start()
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def address(self) -> str:
        host = str(self._http.server_address[0])
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def __enter__(self) -> DesktopServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and the desktop. May be repeated."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()
        self.desktop.close()  # frees what films it, if that waits for a picture
        self._recorder.close()

    def answer(self, method: str, path: str, request: Request) -> HttpAnswer:
        """What a request that was let in is answered. Never raises."""
        route = self._route(method, path)
        if route is None:
            return HttpAnswer.error(f"there is no {method} {path}", 404)
        device = self.desktop.lent
        try:
            return route(self.desktop, request)
        except Mistake as mistake:
            return HttpAnswer.error(str(mistake), mistake.status)
        except UserError as error:
            return HttpAnswer.error(str(error), 400)
        except DeviceError as error:
            if isinstance(error, DeviceLost):
                self.desktop.lose(device)
            return HttpAnswer.error(str(error))
        except Exception as error:
            log.exception("%s %s failed", method, path)
            return HttpAnswer.error(f"{type(error).__name__}: {error}")

    def _route(self, method: str, path: str) -> routes.Route | None:
        for known in (routes.ROUTES, commands.ROUTES, recording.routes(self._recorder)):
            if (method, path) in known:
                return known[method, path]
        return None

    def admit(self, handler: _Handler) -> int:
        """The length of a request's body, if it may come in. `Mistake` if not."""
        here = handler.connection.getsockname()
        self._guard.check(handler.headers, (str(here[0]), int(here[1])))
        if handler.headers.get("Transfer-Encoding"):
            raise Mistake(411, "say how long the body is (Content-Length)")
        said = handler.headers.get("Content-Length", "0")
        length = int(said) if said.isascii() and said.isdigit() and len(said) < 16 else -1
        if length < 0:
            raise Mistake(400, "Content-Length is no number")
        longest = MAX_UPLOAD if handler.route in _WITH_FILES else MAX_BODY
        if length > longest:
            raise Mistake(413, f"the body has {length} bytes; at most {longest} are taken")
        return length


class _Handler(BaseHTTPRequestHandler):
    timeout = TIMEOUT
    server: _Http

    @property
    def route(self) -> str:
        return self.path.partition("?")[0]

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        # A client that hangs up in the middle is no matter.
        with contextlib.suppress(ConnectionError, TimeoutError):
            self._send(self._answer(method))

    def _answer(self, method: str) -> HttpAnswer:
        try:
            length = self.server.owner.admit(self)
        except Mistake as mistake:
            return HttpAnswer.error(str(mistake), mistake.status)
        body = self.rfile.read(length)
        if len(body) < length:
            return HttpAnswer.error("the body is cut short", 400)
        return self.server.owner.answer(method, self.route, Request(self.headers, body))

    def _send(self, answer: HttpAnswer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(answer.body)

    def version_string(self) -> str:
        return "ui-gym"

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 2 * MOST_CLIENTS

    def __init__(self, address: tuple[str, int], owner: DesktopServer) -> None:
        self.owner = owner
        self._free = threading.BoundedSemaphore(MOST_CLIENTS)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # Not the base class's, which asks the name service what this host is called.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            log.warning("more than %d requests at once: one was turned away", MOST_CLIENTS)
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a request failed", exc_info=True)


def _listen(host: str, port: int, owner: DesktopServer) -> _Http:
    try:
        return _Http((host, port), owner)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such port"
        raise UserError(
            f"{host}:{port} cannot be listened at ({reason or error}): choose another with --port"
        ) from None
