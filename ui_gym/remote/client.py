"""Slots that servers play: ``workers="ws://a:7000,ws://b:7000"``.

A link is one session at one server, on one WebSocket for all slots that are played there. When the
socket breaks, the link connects again and asks again for what was not answered; the server does no
call twice. When the session itself is gone, the episodes that were played there end as with any
lost device, and their slots go on, at their next reset, on whichever server has room.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import re
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ui_gym.errors import DeviceError, DeviceLost, UIGymError, UserError
from ui_gym.playing.workers import WorkersOrder
from ui_gym.remote import wire
from ui_gym.remote.guard import check_no_password, token_in
from ui_gym.remote.links import Asked, LinkCrew, LinkedRunner, SessionLink

CONNECT_SECONDS = 10.0
"""How long one try to connect may take."""

REFUSED_SECONDS = 5.0
"""How long a server may refuse connections before the episodes there are given up."""

BEAT_SECONDS = 5.0
"""How often a link shows that it lives; three times as long a silence is a broken connection."""

CALL_SECONDS = 60.0
"""How long a call from outside the episode may take."""

BYE_SECONDS = 5.0
"""How long a server may take to close what was played, at the end."""

PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds between tries to connect, the last again and again."""


class ServerLink(SessionLink):
    """One server, and this vector env's session there. Connects when it is first used."""

    def __init__(self, url: str, hello: dict[str, Any], spaces: list[str]) -> None:
        super().__init__()
        self.url = url
        self._hello = hello
        self._spaces = spaces
        self._lock = threading.RLock()
        self._asked: dict[int, Asked] = {}
        self._replies: dict[int, queue.SimpleQueue[Any]] = {}
        self._questions = itertools.count(1)
        self._session: list[str] | None = None
        self._grace = 0.0
        self._socket: ClientConnection | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._broken_since: float | None = None
        self._trouble: BaseException | None = None

    def ask(
        self, runner: LinkedRunner, number: int, message: dict[str, Any], epoch: int | None = None
    ) -> None:
        with self._lock:
            if not self.refusal and epoch in (None, self.epoch):
                self._asked[runner.slot] = Asked(runner, number, message)
                self._start()
                self._send(message)
                return
        runner.take(number, self._lost())

    def forget(self, slot: int, number: int) -> None:
        with self._lock:
            self._asked.pop(slot, None)
            self._send({"slot": slot, "abandon": number})

    def inquire(self, message: dict[str, Any]) -> Any:
        question = next(self._questions)
        reply: queue.SimpleQueue[Any] = queue.SimpleQueue()
        until = time.monotonic() + CALL_SECONDS
        with self._lock:
            self._start()
        while self._socket is None:
            if time.monotonic() > until or self.refusal or self.is_down:
                raise self._lost()
            self._closing.wait(0.01)
        self._replies[question] = reply
        with self._lock:
            self._send(message | {"ask": question})
        try:
            said = reply.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise DeviceLost(f"{self.url}: no answer within {CALL_SECONDS:g} s") from None
        finally:
            del self._replies[question]
        if isinstance(said, Exception):
            raise said
        return said

    def close(self) -> None:
        """Say goodbye, and wait until the server has closed what was played."""
        with self._lock:
            self._closing.set()
            self._asked.clear()
            self._send({"bye": True})
            socket, thread = self._socket, self._thread
        if thread is not None:
            thread.join(BYE_SECONDS)
        if socket is not None:
            with contextlib.suppress(ConnectionClosed, OSError):
                socket.close()

    # -- the link's thread --

    def _start(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._thread = threading.Thread(
                target=self._run, name=f"ui-gym-link-{self.url}", daemon=True
            )
            self._thread.start()

    def _run(self) -> None:
        """Keep a connection, and carry what comes on it, until the link is closed or refused."""
        tries = 0
        while not self._closing.is_set() and not self.refusal:
            try:
                with self._connected() as socket:
                    tries = 0
                    self._listen(socket)
            # Whatever a server may say that is no message of ours: it is its fault, and not ours.
            except Exception as error:
                self._trouble = error
            with self._lock:
                self._socket = None
            if not self._closing.is_set():
                self._note_break()
                self._closing.wait(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1
        self._give_up()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[ClientConnection]:
        token = token_in(wire.TOKEN)
        try:
            with connect(
                self.url + wire.PATH, compression=None, max_size=wire.MAX_MESSAGE, proxy=None,
                additional_headers={"Authorization": f"Bearer {token}"} if token else None,
                open_timeout=CONNECT_SECONDS, close_timeout=1.0, ping_interval=None,
            ) as socket:  # fmt: skip
                self._greet(socket)
                yield socket
        except InvalidStatus as error:
            if error.response.status_code in (401, 403):
                said = bytes(error.response.body or b"").decode("utf-8", "replace").strip()
                self.refusal = f"{self.url}: {said or 'it refuses this client'} (see {wire.TOKEN})"
            raise

    def _greet(self, socket: ClientConnection) -> None:
        """Begin a session or come back to it, and ask again what was not answered."""
        socket.send(wire.pack(self._hello | {"session": self._session}))
        said = wire.unpack(_bytes(socket.recv(timeout=2 * CONNECT_SECONDS)))
        if "refused" in said:
            error = wire.error_of(said["refused"])
            if not said["gone"] and not isinstance(error, DeviceError):
                self.refusal = f"{self.url}: {error}"
            self._trouble = error
            self._give_up()
            raise DeviceLost(f"{self.url}: {error}")
        if said["spaces"] != self._spaces:
            self.refusal = (
                f"{self.url}: the envs there have other spaces than here: {said['spaces']}, and "
                f"not {self._spaces}; are tasks of other versions installed?"
            )
            raise DeviceLost(self.refusal)
        with self._lock:
            self._session, self._grace = said["welcome"], said["grace"]
            self._socket, self._broken_since, self.is_down = socket, None, False
            for asked in self._asked.values():
                self._send(asked.message)

    def _listen(self, socket: ClientConnection) -> None:
        heard = told = time.monotonic()
        while True:
            with contextlib.suppress(TimeoutError):
                data = socket.recv(timeout=max(0.01, told + BEAT_SECONDS - time.monotonic()))
                heard = time.monotonic()
                self._take(wire.unpack(_bytes(data)))
            now = time.monotonic()
            if now - heard > 3 * BEAT_SECONDS:
                raise EOFError(f"nothing was heard for {now - heard:.0f} s")
            if now - told >= BEAT_SECONDS:
                socket.send(wire.pack({"beat": True}))
                told = now

    def _take(self, message: dict[str, Any]) -> None:
        if "ask" in message:
            reply = self._replies.get(message["ask"])
            if reply is not None:
                failed = "error" in message
                reply.put(wire.error_of(message["error"]) if failed else message["said"])
        elif "call" in message:
            asked = self._asked.get(message["slot"])
            if asked is None or asked.number != message["call"]:
                return  # it was given up
            result = asked.runner.read(message)
            with self._lock:
                if self._asked.get(message["slot"]) is asked:
                    del self._asked[message["slot"]]
            asked.runner.take(asked.number, result)

    def _send(self, message: dict[str, Any]) -> None:
        """Send now, if there is a connection; what was asked is sent again on the next one."""
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed, OSError):
                self._socket.send(wire.pack(message))

    def _note_break(self) -> None:
        """The connection is gone: give up the session once it cannot be there any more."""
        now = time.monotonic()
        if self._broken_since is None:
            self._broken_since = now
        refused = isinstance(self._trouble, ConnectionRefusedError)
        patience = REFUSED_SECONDS if refused else self._grace
        if now - self._broken_since >= patience:
            self._give_up()

    def _give_up(self) -> None:
        """The session is over. Tell all that wait for an answer that none will come."""
        with self._lock:
            self._session = None
            self._broken_since = None  # what is asked from now on has its own time
            self.is_down = True
            self.epoch += 1
            asked, self._asked = list(self._asked.values()), {}
        for one in asked:
            one.runner.take(one.number, self._lost())

    def _lost(self) -> UIGymError:
        if self.refusal:
            return UserError(self.refusal)
        return DeviceLost(f"the server {self.url} is lost: {_in_words(self._trouble)}")


class Servers(LinkCrew):
    """Slots that are played by servers."""

    def __init__(self, order: WorkersOrder) -> None:
        hello = {
            "protocol": wire.PROTOCOL, "version": wire.VERSION,
            "arguments": dict(order.arguments),
            "task": wire.describe_task(order.task),
        }  # fmt: skip
        try:
            wire.pack(hello)
        except TypeError as error:
            raise UserError(f"the env's arguments cannot go to a server: {error}") from None
        spaces = [repr(order.first.observation_space), repr(order.first.action_space)]
        urls = [url for text in order.workers.split(",") for url in server_urls(text)]
        if len(set(urls)) < len(urls):
            raise UserError(f"a server is named twice in {order.workers!r}")
        super().__init__(order.first, [ServerLink(url, hello, spaces) for url in urls])


def server_urls(text: str) -> list[str]:
    """``ws://HOST:PORT``, or all of ``ws://HOST:7000-7003``.

    Raises:
        UserError: it is neither, or it holds a password.
    """
    several = re.fullmatch(r"(.*:)(\d{1,5})-(\d{1,5})", text.strip())
    if several is None:
        return [server_url(text)]
    ports = range(int(several[2]), int(several[3]) + 1)
    if not ports:
        raise UserError(f"the last port comes before the first in {text!r}")
    return [server_url(f"{several[1]}{port}") for port in ports]


def server_url(text: str) -> str:
    """``ws://HOST:PORT``.

    Raises:
        UserError: it is none, or it holds a password.
    """
    text = text.strip().rstrip("/")
    parts = urlsplit(text)
    check_no_password(parts, wire.TOKEN)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or not port or parts.path:
        raise UserError(
            "a server is said as ws://HOST:PORT, several with commas or as ws://HOST:7000-7003, "
            f"not {text!r}"
        )
    return text


def _bytes(data: str | bytes) -> bytes:
    if isinstance(data, str):
        raise wire.WireError("a text came where bytes are said")
    return data


def _in_words(error: BaseException | None) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused; is `ui-gym serve` running there?"
    if isinstance(error, UIGymError):
        return str(error)
    return f"{type(error).__name__}: {error}" if error else "it was not reached yet"
