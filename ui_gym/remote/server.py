"""EnvServer: slots of this machine for clients elsewhere, over WebSockets.

One socket carries many slots. A session outlives its socket by a grace time, within which its
client may come back and go on. What a client plays is an env: a task of those that are served, with
the env's arguments. Faults of envs are data; a socket ends for faults of the connection alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_gym.contract import registry
from ui_gym.errors import DeviceError, DeviceStartError, UIGymError, UserError, nearest
from ui_gym.playing.workers import order_crew
from ui_gym.remote import wire
from ui_gym.remote.guard import Guard, Mistake
from ui_gym.remote.session import Session, SessionGone

DEFAULT_PORT = 7000

HELLO_SECONDS = 10.0
"""How long a client may take to say what it wants."""

MAX_ASKED = 1 << 20
"""The longest message of a client, in bytes."""

START_SECONDS = 20.0

DEVICES = ("auto", "chromium", "phone", "x11")
"""Devices of this machine that anybody may ask for; their modes (``chromium:png``) too."""


@dataclass(frozen=True)
class ServerLimits:
    """How much a server lends, and for how long."""

    slots: int = 64
    """Of all sessions together."""
    sessions: int = 32
    grace: float = 60.0
    """Seconds for which a session waits for a client whose connection broke."""
    silence: float = 30.0
    """Seconds without a word of a client after which its connection counts as broken."""


@dataclass
class _Lease:
    """A session, and what proves whose it is."""

    session: Session
    spaces: list[str]
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    socket: WebSocket | None = None
    expiry: asyncio.TimerHandle | None = None


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """uvicorn calls it an error that a connection was refused by an answer, as ASGI has it."""
    return "without completing handshake" not in record.getMessage()


logging.getLogger("uvicorn.error").addFilter(_is_no_refusal)


class EnvServer:
    """Serves slots while the context is open; `address` says where.

    Args:
        host: Where to listen; others than this machine need a token.
        port: 0 is any that is free.
        token: What clients must say, as ``Authorization: Bearer TOKEN``; none if empty.
        names: Further names that clients call this host by.
        tasks: Ids, names or suites that may be played; all that are known here, if none is named.
        devices: Further devices that clients may ask for, as they write them; ``*`` is any.
        workers: What plays the slots here: threads or processes.
        certificate, key: Files for TLS; both or neither.

    Raises:
        UserError: the port is taken, the host needs a token, or a name is unknown.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        token: str = "",
        names: Collection[str] = (),
        tasks: Collection[str] = (),
        devices: Collection[str] = (),
        workers: str = "threads",
        limits: ServerLimits | None = None,
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> None:
        self.limits = limits or ServerLimits()
        self._guard = Guard(host, token, names, variable=wire.TOKEN)
        self._tasks = _served(tasks)
        self._devices = tuple(devices)
        self._workers = workers
        self._lock = threading.Lock()
        self._free = self.limits.slots
        self._leases: dict[str, _Lease] = {}
        self._ending = threading.Event()
        self._counts = {"calls": 0, "sessions": 0, "bytes_sent": 0, "refused": 0}
        if (certificate is None) != (key is None):
            raise UserError("TLS needs both a certificate and its key")
        self._listening = _listen(host, port)
        self._tls = certificate is not None
        app = Starlette(
            routes=[
                WebSocketRoute(wire.PATH, self._socket),
                Route("/healthz", self._healthz),
                Route("/capacity", self._guarded(self._capacity)),
                Route("/metrics", self._guarded(self._metrics)),
            ],
            lifespan=self._life,
        )
        self._http = uvicorn.Server(
            uvicorn.Config(
                app, log_level="warning", access_log=False, lifespan="on", server_header=False,
                ws="websockets-sansio", ws_max_size=MAX_ASKED, ws_per_message_deflate=False,
                ssl_certfile=certificate, ssl_keyfile=key, timeout_graceful_shutdown=5,
            )
        )  # fmt: skip
        self._started = threading.Event()
        self._thread = threading.Thread(
            target=self._http.run, args=([self._listening],), name="ui-gym-server", daemon=True
        )

    # -- for whoever runs it --

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    @property
    def address(self) -> str:
        host = str(self._listening.getsockname()[0])
        scheme = "wss" if self._tls else "ws"
        return (
            f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
        )

    @property
    def free(self) -> int:
        """How many slots are not lent."""
        return self._free

    @property
    def playing(self) -> int:
        """How many episodes are not over."""
        with self._lock:
            leases = list(self._leases.values())
        return sum(lease.session.playing for lease in leases)

    def __enter__(self) -> EnvServer:
        self._thread.start()
        if not self._started.wait(START_SECONDS):
            self.close()
            raise DeviceStartError(f"the server did not start within {START_SECONDS:g} s")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def drain(self) -> None:
        """Take no new sessions and begin no new episodes; those that are played go on."""
        self._ending.set()

    def close(self) -> None:
        """End the server and all sessions. May be repeated."""
        self._ending.set()
        self._http.should_exit = True
        if self._thread.is_alive():
            self._thread.join(2 * START_SECONDS)
        self._listening.close()

    # -- HTTP --

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        self._started.set()
        yield
        with self._lock:
            leases = list(self._leases.values())
        await asyncio.gather(*(asyncio.to_thread(self._end, lease) for lease in leases))

    def _guarded(self, answer: Callable[[], Response]) -> Callable[[Request], Any]:
        async def route(request: Request) -> Response:
            try:
                self._check(request)
            except Mistake as mistake:
                return PlainTextResponse(f"{mistake}\n", mistake.status)
            return answer()

        return route

    async def _healthz(self, request: Request) -> Response:
        if self._ending.is_set():
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ok\n")

    def _capacity(self) -> Response:
        return JSONResponse(
            {
                "protocol": wire.PROTOCOL, "version": wire.VERSION, "slots": self.limits.slots,
                "free": self._free, "sessions": len(self._leases), "playing": self.playing,
                "ending": self._ending.is_set(), "tasks": sorted(self._tasks) or None,
            }
        )  # fmt: skip

    def _metrics(self) -> Response:
        now = {
            "slots": self.limits.slots, "slots_free": self._free, "sessions": len(self._leases),
            "episodes_playing": self.playing,
        }  # fmt: skip
        lines = [
            f"# TYPE ui_gym_{name} gauge\nui_gym_{name} {value}" for name, value in now.items()
        ]
        for name, value in self._counts.items():
            lines.append(f"# TYPE ui_gym_{name}_total counter\nui_gym_{name}_total {value}")
        return PlainTextResponse("\n".join(lines) + "\n")

    # -- sockets --

    async def _socket(self, connection: WebSocket) -> None:
        try:
            self._check(connection)
        except Mistake as mistake:
            self._counts["refused"] += 1
            refusal = PlainTextResponse(f"{mistake}\n", mistake.status)
            await connection.send_denial_response(refusal)
            return
        await connection.accept()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            try:
                said = await asyncio.wait_for(connection.receive_bytes(), HELLO_SECONDS)
                lease = await asyncio.to_thread(self._welcome, wire.unpack(said))
            except (UIGymError, TimeoutError, KeyError, TypeError, ValueError) as error:
                self._counts["refused"] += 1
                told = {"refused": _refusal(error), "gone": isinstance(error, SessionGone)}
                await connection.send_bytes(wire.pack(told))
                await _close(connection)
                return
            await self._serve(connection, lease)

    def _check(self, connection: HTTPConnection) -> None:
        self._guard.check(_Headers(connection.headers), connection.scope["server"])

    def _welcome(self, hello: dict[str, Any]) -> _Lease:
        """The session that a client comes back to, or a new one."""
        if hello["protocol"] != wire.PROTOCOL or hello["version"] != wire.VERSION:
            raise UserError(
                f"this server has ui-gym {wire.VERSION} (protocol {wire.PROTOCOL}), and the client "
                f"{hello['version']} (protocol {hello['protocol']}): install the same on both, "
                "since versions may differ in what an episode is"
            )
        if hello["session"] is not None:
            return self._known(*hello["session"])
        if self._ending.is_set():
            raise DeviceError("this server is ending, and takes no new sessions")
        task = wire.task_of(hello["task"], self._may_play)
        arguments = hello["arguments"]
        self._check_arguments(arguments)
        first, crew = order_crew(self._workers, self.limits.slots, task, arguments)
        session = Session(crew, self._reserve, self._release)
        lease = _Lease(session, [repr(first.observation_space), repr(first.action_space)])
        with self._lock:
            if len(self._leases) >= self.limits.sessions:
                crew.close()
                raise DeviceError(f"this server has {self.limits.sessions} sessions, and no more")
            self._leases[lease.id] = lease
            self._counts["sessions"] += 1
        return lease

    def _known(self, id: str, secret: str) -> _Lease:
        with self._lock:
            lease = self._leases.get(id)
        if lease is None or not hmac.compare_digest(lease.secret, secret):
            raise SessionGone("there is no such session (any more)")
        return lease

    def _may_play(self, id: str) -> None:
        if self._tasks and id not in self._tasks:
            raise UserError(f"this server does not serve {id!r}. {nearest(id, self._tasks)}")

    def _check_arguments(self, arguments: dict[str, Any]) -> None:
        if not isinstance(arguments, dict) or "pool" in arguments:
            raise UserError("the env's arguments are names and values, and no pool is among them")
        device = str(arguments.get("device", "auto"))
        kind, _, rest = device.partition(":")
        allowed = "*" in self._devices or device in self._devices
        if not allowed and (kind not in DEVICES or "/" in rest or ":" in rest):
            raise UserError(f"this server lends no device {device!r} (serve --device allows more)")
        if arguments.get("render_mode") == "human":
            raise UserError("render_mode='human' shows a window on the server; watch another way")

    def _reserve(self) -> None:
        if self._ending.is_set():
            raise DeviceError("this server is ending, and lends no more slots")
        with self._lock:
            if not self._free:
                raise DeviceError(f"all {self.limits.slots} slots of this server are lent")
            self._free -= 1

    def _release(self, count: int) -> None:
        with self._lock:
            self._free += count

    async def _serve(self, connection: WebSocket, lease: _Lease) -> None:
        """Carry a session's messages until the connection ends or the client says goodbye."""
        loop = asyncio.get_running_loop()
        outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        before, lease.socket = lease.socket, connection
        if lease.expiry is not None:
            lease.expiry.cancel()
        if before is not None:  # a connection that its client gave up before we noticed
            await _close(before, "the client came back on another connection")

        def post(packed: bytes) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(outgoing.put_nowait, packed)

        welcome = {
            "welcome": [lease.id, lease.secret], "grace": self.limits.grace, "spaces": lease.spaces,
        }  # fmt: skip
        post(wire.pack(welcome))
        lease.session.attach(post)
        sender = asyncio.create_task(self._send(connection, outgoing))
        goodbye = False
        try:
            goodbye = await self._receive(connection, lease.session, post)
        except (
            WebSocketDisconnect,
            TimeoutError,
            wire.WireError,
            KeyError,
            TypeError,
            RuntimeError,
        ):
            goodbye = False  # the connection is broken, or the client is: it may come back
        finally:
            sender.cancel()
            if goodbye:
                await asyncio.to_thread(self._end, lease)
            elif lease.socket is connection:
                lease.socket = None
                lease.session.attach(None)
                lease.expiry = loop.call_later(self.limits.grace, self._expire, lease)
            await _close(connection)

    async def _receive(
        self, connection: WebSocket, session: Session, post: Callable[[bytes], None]
    ) -> bool:
        """Take messages until the client says goodbye. Whether it does."""
        apart = set()
        while True:
            data = await asyncio.wait_for(connection.receive_bytes(), self.limits.silence)
            message = wire.unpack(data)
            if "bye" in message:
                return True
            if "beat" in message:
                post(wire.pack({"beat": True}))
                continue
            self._counts["calls"] += 1
            if "reset" in message and self._ending.is_set():
                error = DeviceError("this server is ending, and begins no new episodes")
                told = {"slot": message["slot"], "call": message["call"]}
                post(wire.pack(told | {"error": wire.error_parts(error)}))
            elif "get" in message or "set" in message:  # which may have to wait for a process
                task = asyncio.create_task(asyncio.to_thread(session.handle, message))
                apart.add(task)
                task.add_done_callback(apart.discard)
            else:
                session.handle(message)

    async def _send(self, connection: WebSocket, outgoing: asyncio.Queue[bytes]) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                packed = await outgoing.get()
                await connection.send_bytes(packed)
                self._counts["bytes_sent"] += len(packed)

    def _expire(self, lease: _Lease) -> None:
        if lease.socket is None:
            threading.Thread(target=self._end, args=(lease,), daemon=True).start()

    def _end(self, lease: _Lease) -> None:
        with self._lock:
            self._leases.pop(lease.id, None)
        lease.session.close()


class _Headers:
    """Starlette's headers as `Guard` reads them."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def get(self, name: str, default: str, /) -> str:
        return self._headers.get(name, default)

    def get_all(self, name: str, default: Any = (), /) -> list[str]:
        return self._headers.getlist(name)


async def _close(connection: WebSocket, why: str = "") -> None:
    """Close a connection that may be broken, or closed, already."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await connection.close(4001 if why else 1000, why)


def _refusal(error: BaseException) -> list[str]:
    if not isinstance(error, UIGymError):
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        error = UserError(f"the first message is none of this protocol ({said})")
    return wire.error_parts(error)


def _served(names: Collection[str]) -> frozenset[str]:
    """The ids of tasks that are named by themselves or by their suite; empty for all."""
    found: set[str] = set()
    for name in names:
        of_suite = {spec.id for spec in registry.specs() if spec.suite == name}
        found |= of_suite or {registry.spec(name).id}
    return frozenset(found)


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
