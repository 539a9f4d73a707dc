"""A proxy that does to requests what networks and services do to them.

    with TinkerServer() as server, FaultProxy(server.url) as proxy:
        proxy.inject("/optim_step", Status(429, retry_after=0.1), times=2)
        proxy.inject("/retrieve_future", TryAgain())       # for ever, until `clear`
        proxy.inject("/forward_backward", Drop(after=True), times=1)
        client = tinker.ServiceClient(base_url=proxy.url, api_key=server.key)

A fault is injected by the end of a path. Those of one path are used up in the order in which they
were injected; what is not at fault is passed on. `proxy.seen` has the paths of all requests.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

HOPS = {"connection", "content-length", "transfer-encoding", "host", "keep-alive"}
"""Headers that are the proxy's own."""

PASS_SECONDS = 60.0


@dataclass(frozen=True)
class Answered:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, status: int, value: Any, **headers: str) -> Answered:
        body = json.dumps(value).encode()
        return cls(status, {"content-type": "application/json", **headers}, body)


class Fault:
    """Something that happens to a request; as it is, nothing does."""

    asks = True
    """Whether the server gets the request."""

    delay = 0.0
    """Seconds before anything is answered."""

    def answer(self, real: Answered | None) -> Answered | None:
        """What the client gets; None: its connection is dropped. `real` is the server's answer."""
        return real

    def sent(self, whole: bytes) -> bytes:
        """The bytes that the client gets, of all of the answer's."""
        return whole


@dataclass(frozen=True)
class Status(Fault):
    """An error in place of an answer; the server does not get the request."""

    status: int
    message: str = "made up"
    retry_after: float | None = None
    asks = False

    def answer(self, real: Answered | None) -> Answered:
        more = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return Answered.of(self.status, {"detail": self.message}, **more)


@dataclass(frozen=True)
class Json(Fault):
    """A JSON answer in place of the server's, which does not get the request."""

    value: Any
    asks = False

    def answer(self, real: Answered | None) -> Answered:
        return Answered.of(200, self.value)


@dataclass(frozen=True)
class TryAgain(Fault):
    """For a poll: the result is not there yet."""

    delay: float = 0.05
    reason: str = "there is no capacity"
    asks = False

    def answer(self, real: Answered | None) -> Answered:
        return Answered.of(200, {
            "type": "try_again", "request_id": "", "queue_state": "paused_capacity",
            "queue_state_reason": self.reason,
        })  # fmt: skip


@dataclass(frozen=True)
class HalfAnswer(Fault):
    """The server does what was asked; its answer ends in the middle."""

    def sent(self, whole: bytes) -> bytes:
        head, _, body = whole.partition(b"\r\n\r\n")
        return head + b"\r\n\r\n" + body[: len(body) // 2]


@dataclass(frozen=True)
class Drop(Fault):
    """The connection is dropped: before the server gets the request, or once it has done it."""

    after: bool = False

    @property
    def asks(self) -> bool:  # type: ignore[override]
        return self.after

    def answer(self, real: Answered | None) -> None:
        return None


@dataclass(frozen=True)
class Late(Fault):
    """The answer takes so many seconds longer."""

    delay: float = 1.0


SDK_TOO_NEW = Status(400, "tinker 9.9.9 is newer than the 0.38 that this server speaks with")
SDK_TOO_OLD = Status(400, "tinker 0.1.0 is older than the 0.38 that this server speaks with")
"""For ``/client/config``, as the real server answers an SDK of another version."""


@dataclass
class _Rule:
    path: str
    fault: Fault
    left: float


@dataclass
class _Asked:
    method: str
    target: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class FaultProxy:
    """Passes requests on to a server, but for the faults that were injected. `url` is its own."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy")
        self.seen: list[str] = []
        self.url = ""

    def inject(self, path: str, fault: Fault, times: int | None = None) -> None:
        """Let `fault` happen to the next `times` requests (None: all) whose path ends so."""
        with self._lock:
            self._rules.append(_Rule(path, fault, float("inf") if times is None else times))

    def clear(self) -> None:
        """Pass everything on from now on."""
        with self._lock:
            self._rules.clear()

    def retarget(self, upstream: str) -> None:
        """Pass requests on to another server from now on, as if the first was started again."""
        self._upstream = upstream

    def count(self, path: str) -> int:
        """How many requests' paths ended so."""
        return sum(one.endswith(path) for one in list(self.seen))

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        self._call(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PASS_SECONDS)

    async def _open(self) -> None:
        self._client = httpx.AsyncClient(timeout=PASS_SECONDS, trust_env=False)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _close(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (asked := await _read(reader)) is not None:
                if not await self._one(asked, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            return  # the client hung up
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, asked: _Asked, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        self.seen.append(asked.path)
        fault = self._fault_for(asked.path)
        real = await self._pass_on(asked) if fault.asks else None
        await asyncio.sleep(fault.delay)
        answered = fault.answer(real)
        if answered is None:
            writer.transport.abort()
            return False
        whole = _bytes_of(answered)
        sent = fault.sent(whole)
        writer.write(sent)
        await writer.drain()
        return len(sent) == len(whole)

    def _fault_for(self, path: str) -> Fault:
        with self._lock:
            for rule in self._rules:
                if rule.left > 0 and path.endswith(rule.path):
                    rule.left -= 1
                    return rule.fault
        return Fault()

    async def _pass_on(self, asked: _Asked) -> Answered:
        headers = [(k, v) for k, v in asked.headers if k.lower() not in HOPS]
        try:
            found = await self._client.request(
                asked.method, self._upstream + asked.target, headers=headers, content=asked.body
            )
        except httpx.TransportError as error:
            return Answered.of(502, {"detail": f"the server cannot be reached: {error}"})
        kept = {k: v for k, v in found.headers.items() if k.lower() not in HOPS}
        return Answered(found.status_code, kept, found.content)


async def _read(reader: asyncio.StreamReader) -> _Asked | None:
    """The next request of a connection; None at its end."""
    line = await reader.readline()
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    asked = _Asked(method, target)
    while line := (await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        asked.headers.append((name, value.strip()))
    given = {name.lower(): value for name, value in asked.headers}
    if given.get("transfer-encoding", "").lower() == "chunked":
        asked.body = await _chunks(reader)
    else:
        asked.body = await reader.readexactly(int(given.get("content-length", 0)))
    return asked


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    found = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        found += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return found


def _bytes_of(answered: Answered) -> bytes:
    head = [f"HTTP/1.1 {answered.status} X"]
    head += [f"{name}: {value}" for name, value in answered.headers.items()]
    head += [f"content-length: {len(answered.body)}", "", ""]
    return "\r\n".join(head).encode("latin-1") + answered.body
