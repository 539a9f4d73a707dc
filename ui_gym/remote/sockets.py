"""Sessions over WebSockets: what `ui_gym.remote.client` speaks with.

One socket carries many slots. A session outlives its socket by a grace time, within which its
client may come back and go on. What a client plays is an env: a task of those that are served, with
the env's arguments. Faults of envs are data; a socket ends for faults of the connection alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_gym.errors import DeviceError, UIGymError, UserError
from ui_gym.remote import wire
from ui_gym.remote.lending import Lender
from ui_gym.remote.session import Message, Session, SessionGone

HELLO_SECONDS = 10.0
"""How long a client may take to say what it wants."""


MOST_WAITING = 256 << 20
"""Bytes that a client may leave unread before its connection is ended."""


@dataclass
class _Lease:
    """A session, and what proves whose it is."""

    session: Session
    spaces: list[str]
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    socket: WebSocket | None = None
    expiry: asyncio.TimerHandle | None = None


class _Outbox:
    """Messages for a client, posted from any thread. `full` is done once it has not read so many
    bytes that it is no client of ours."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting = 0
        self.full: asyncio.Future[None] = self._loop.create_future()

    def post(self, packed: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._put, packed)

    async def get(self) -> bytes:
        packed = await self._messages.get()
        self._waiting -= len(packed)
        return packed

    def _put(self, packed: bytes) -> None:
        self._waiting += len(packed)
        self._messages.put_nowait(packed)
        if self._waiting > MOST_WAITING and not self.full.done():
            self.full.set_result(None)


class Sessions:
    """The sessions of a server's clients, each with the socket that it has at the time."""

    def __init__(self, lender: Lender) -> None:
        self._lender = lender
        self._lock = threading.Lock()
        self._leases: dict[str, _Lease] = {}

    def __len__(self) -> int:
        return len(self._leases)

    async def endpoint(self, connection: WebSocket) -> None:
        """Speak with a client, until the connection ends."""
        await connection.accept()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            try:
                said = await asyncio.wait_for(connection.receive_bytes(), HELLO_SECONDS)
                lease = await asyncio.to_thread(self._welcome, _message(said))
            except WebSocketDisconnect:
                raise
            except Exception as error:  # what may come of values that are not as we send them
                self._lender.counts["refused"] += 1
                told = {"refused": _refusal(error), "gone": isinstance(error, SessionGone)}
                await connection.send_bytes(wire.pack(told))
                await _close(connection)
                return
            await self._serve(connection, lease)

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
        if self._lender.ending.is_set():
            raise DeviceError("this server is ending, and takes no new sessions")
        self._check_room()  # before anything is made
        task = wire.task_of(hello["task"], self._lender.may_play)
        first, crew = self._lender.crew(task, hello["arguments"])
        session = Session(crew, self._lender.reserve, self._lender.release)
        lease = _Lease(session, [repr(first.observation_space), repr(first.action_space)])
        with self._lock:
            try:
                self._check_room()
            except DeviceError:
                crew.close()
                raise
            self._leases[lease.id] = lease
        self._lender.counts["sessions"] += 1
        self._lender.enter(session)
        return lease

    def _check_room(self) -> None:
        most = self._lender.limits.sessions
        if len(self._leases) >= most:
            raise DeviceError(f"this server has {most} sessions, and no more")

    def _known(self, id: str, secret: str) -> _Lease:
        with self._lock:
            lease = self._leases.get(id)
        if lease is None or not hmac.compare_digest(lease.secret, secret):
            raise SessionGone("there is no such session (any more)")
        return lease

    async def _serve(self, connection: WebSocket, lease: _Lease) -> None:
        """Carry a session's messages until the connection ends or the client says goodbye."""
        loop = asyncio.get_running_loop()
        outbox = _Outbox()
        before, lease.socket = lease.socket, connection
        if lease.expiry is not None:
            lease.expiry.cancel()
        if before is not None:  # a connection that its client gave up before we noticed
            await _close(before, "the client came back on another connection")

        welcome = {
            "welcome": [lease.id, lease.secret],
            "grace": self._lender.limits.grace,
            "spaces": lease.spaces,
        }
        outbox.post(wire.pack(welcome))
        lease.session.attach(lambda packed, about: outbox.post(packed))
        sender = asyncio.create_task(self._send(connection, outbox))
        goodbye = False
        try:
            receiving = asyncio.create_task(self._receive(connection, lease.session, outbox.post))
            outbox.full.add_done_callback(lambda full: receiving.cancel())
            goodbye = await receiving
        except asyncio.CancelledError:
            if not outbox.full.done():
                raise
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
                lease.expiry = loop.call_later(self._lender.limits.grace, self._expire, lease)
            await _close(connection)

    async def _receive(
        self, connection: WebSocket, session: Session, post: Callable[[bytes], None]
    ) -> bool:
        """Take messages until the client says goodbye. Whether it does."""
        apart = set()
        patience = self._lender.limits.silence
        async with asyncio.timeout(patience) as silence:
            while True:
                message = _message(await connection.receive_bytes())
                silence.reschedule(asyncio.get_running_loop().time() + patience)
                if "bye" in message:
                    return True
                if "beat" in message:
                    post(wire.pack({"beat": True}))
                    continue
                if "slot" not in message:
                    raise wire.WireError("a message is about a slot, a heartbeat or a goodbye")
                self._lender.counts["calls"] += 1
                if "reset" in message and self._lender.ending.is_set():
                    error = DeviceError("this server is ending, and begins no new episodes")
                    told = {"slot": message["slot"], "call": message["call"]}
                    post(wire.pack(told | {"error": wire.error_parts(error)}))
                elif "get" in message or "set" in message:  # which may have to wait for a process
                    task = asyncio.create_task(asyncio.to_thread(session.handle, message))
                    apart.add(task)
                    task.add_done_callback(apart.discard)
                else:
                    session.handle(message)

    async def _send(self, connection: WebSocket, outbox: _Outbox) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                packed = await outbox.get()
                await connection.send_bytes(packed)
                self._lender.counts["bytes_sent"] += len(packed)

    def _expire(self, lease: _Lease) -> None:
        if lease.socket is None:
            threading.Thread(target=self._end, args=(lease,), daemon=True).start()

    def _end(self, lease: _Lease) -> None:
        with self._lock:
            self._leases.pop(lease.id, None)
        self._lender.leave(lease.session)
        lease.session.close()


def _message(data: bytes) -> Message:
    """What a client says: names and values, and numbers where a call of a slot is told.

    Raises:
        WireError: it is something else.
    """
    message = wire.unpack(data)
    if not isinstance(message, dict):
        raise wire.WireError(f"a message is names and values, and no {type(message).__name__}")
    for name in ("slot", "call", "ask"):
        if not isinstance(message.get(name, 0), int):
            raise wire.WireError(f"{name} is a number, and no {type(message[name]).__name__}")
    return message


async def _close(connection: WebSocket, why: str = "") -> None:
    """Close a connection that may be broken, or closed, already."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await connection.close(4001 if why else 1000, why)


def _refusal(error: BaseException) -> list[str]:
    if not isinstance(error, UIGymError):
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        error = UserError(f"the first message is none of this protocol ({said})")
    return wire.error_parts(error)
