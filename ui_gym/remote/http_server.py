"""An ASGI app behind a guard, served by a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from ui_gym.errors import DeviceStartError, UserError
from ui_gym.remote.guard import Guard, Mistake

START_SECONDS = 20.0

MAX_ASKED = 1 << 20
"""The longest message of a client over a WebSocket, in bytes."""

OPEN = ("/healthz", "/health")
"""Pages that anybody may ask for."""


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """uvicorn calls it an error that a connection was refused by an answer, as ASGI has it."""
    return "without completing handshake" not in record.getMessage()


logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)


class HttpServer:
    """Serves routes while the context is open.

    Args:
        routes: What is served.
        guard: Looks at each request first, but at those of `OPEN`.
        host: Where to listen.
        port: 0 is any that is free.
        refused: Is called for each request that the guard refused.
        ending: Is called in a thread when no more requests are served.
        unguarded: Paths, beside `OPEN`, that look at their requests themselves.
        certificate, key: Files for TLS; both or neither.
        keep_alive: Seconds that an idle connection is kept.

    Raises:
        UserError: the port is taken, or one of the files is missing.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        guard: Guard,
        host: str,
        port: int,
        *,
        refused: Callable[[], None] = lambda: None,
        ending: Callable[[], None] = lambda: None,
        unguarded: Collection[str] = (),
        certificate: Path | None = None,
        key: Path | None = None,
        keep_alive: int = 5,
    ) -> None:
        if (certificate is None) != (key is None):
            raise UserError("TLS needs both a certificate and its key")
        self._ending = ending
        self._listening = _listen(host, port)
        self.tls = certificate is not None
        app = Starlette(routes=routes, lifespan=self._life)
        self._http = uvicorn.Server(
            uvicorn.Config(
                _Guarded(app, guard, refused, (*OPEN, *unguarded)),
                log_level="warning", access_log=False, lifespan="on", server_header=False,
                ws="websockets-sansio", ws_max_size=MAX_ASKED, ws_per_message_deflate=False,
                ssl_certfile=certificate, ssl_keyfile=key, timeout_graceful_shutdown=5,
                timeout_keep_alive=keep_alive,
            )
        )  # fmt: skip
        self._started = threading.Event()
        self._thread = threading.Thread(
            target=self._http.run, args=([self._listening],), name="ui-gym-server", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def address(self, scheme: str) -> str:
        """Where it is, ``s`` behind the scheme with TLS."""
        host = str(self._listening.getsockname()[0])
        place = f"[{host}]" if ":" in host else host
        return f"{scheme}{'s' if self.tls else ''}://{place}:{self.port}"

    def start(self) -> None:
        """Serve from now on. `DeviceStartError` where it does not start."""
        self._thread.start()
        if not self._started.wait(START_SECONDS):
            self.close()
            raise DeviceStartError(f"the server did not start within {START_SECONDS:g} s")

    def close(self) -> None:
        """End the server. May be repeated."""
        self._http.should_exit = True
        if self._thread.is_alive():
            self._thread.join(2 * START_SECONDS)
        self._listening.close()

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        self._started.set()
        yield
        await asyncio.to_thread(self._ending)


class _Guarded:
    """An app whose requests and sockets a guard looks at first."""

    def __init__(
        self, app: ASGIApp, guard: Guard, refused: Callable[[], None], unguarded: Collection[str]
    ) -> None:
        self._app = app
        self._unguarded = unguarded
        self._guard = guard
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and scope["path"] not in self._unguarded:
            connection = HTTPConnection(scope)
            try:
                self._guard.check(RequestHeaders(connection.headers), scope["server"])
            except Mistake as mistake:
                self._refused()
                refusal = PlainTextResponse(f"{mistake}\n", mistake.status)
                if scope["type"] == "websocket":
                    await WebSocket(scope, receive, send).send_denial_response(refusal)
                else:
                    await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class RequestHeaders:
    """Starlette's headers as `Guard` reads them, with `more` in place of those of its names."""

    def __init__(self, headers: Headers, more: Mapping[str, str] = MappingProxyType({})) -> None:
        self._headers = headers
        self._more = more

    def get(self, name: str, default: str, /) -> str:
        return self._more.get(name) or self._headers.get(name, default)

    def get_all(self, name: str, default: Any = (), /) -> list[str]:
        return self._headers.getlist(name)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise UserError(
            f"cannot listen at {host}:{port} ({error}): choose another --port, or 0 for any"
        ) from None
    listening.listen(128)
    return listening
