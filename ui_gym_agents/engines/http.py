"""JSON over HTTP to a model server: a deadline for each request, and retries where they help."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

import httpx
from pydantic import SecretStr

from ui_gym.errors import UserError
from ui_gym_agents.engines.protocol import EngineError, RequestLimits

log = logging.getLogger(__name__)

_T = TypeVar("_T")

CONNECTIONS = 256
"""Requests under way at a time, at most: more than a process has slots, each of which asks once."""

BEARER = "Authorization"
"""The header of a key that is sent as a bearer's token."""

CLOSING = 2.0
"""Seconds that closing a client may take."""

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers after which the same request may succeed; 529 is Anthropic's word for overload."""

WRONG = {
    401: "the key was refused: check it",
    403: "the key does not allow this: check it",
    404: "there is no such model or address: check both, and the end of the URL, such as /v1",
}
"""Answers that no waiting will change, and what to do."""


class NotServed(UserError):
    """The server has no such model, or nothing at this address."""


class JsonClient:
    """Posts JSON to a server. Safe to use from several threads.

    The requests are under way on an event loop in a thread of their own, which the first one
    starts: so each can be given up at its deadline, or by `close`, wherever it waits.
    """

    def __init__(
        self,
        url: str,
        *,
        key: SecretStr | None = None,
        key_header: str = BEARER,
        headers: Mapping[str, str] | None = None,
        limits: RequestLimits | None = None,
        connections: int = CONNECTIONS,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`sleep` is called between attempts; None: a pause that `close` ends.

        The key goes into `key_header`: as a bearer's token into ``Authorization``, else as it is.
        `headers` go beside it.
        """
        if not url.startswith(("http://", "https://")):
            raise UserError(
                f"{url!r} is no address of a server: it begins with http:// or https://"
            )
        self.url = url.rstrip("/")
        self.limits = limits or RequestLimits()
        self._closed = threading.Event()
        self._sleep = sleep or self._closed.wait
        # An answer is counted as it comes, and packed bytes may unfold to any size.
        sent = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        self._key = key or SecretStr("")
        self._key_header = key_header
        self._options: dict[str, Any] = {
            "headers": sent | dict(headers or {}),
            "timeout": httpx.Timeout(self.limits.timeout, connect=self.limits.connect),
            "limits": httpx.Limits(max_connections=connections),
            # A proxy of the environment has no business between a trainer and its server.
            "trust_env": self.url.startswith("https://"),
        }
        self._lock = threading.Lock()
        self._line: _Line | None = None

    def post(
        self, path: str, payload: Mapping[str, Any], limits: RequestLimits | None = None
    ) -> Any:
        """What the server answers, read as JSON (as text, where it is none).

        `limits` hold for this request in place of the client's own.

        Raises:
            EngineError: it did not answer, after all attempts, or refused this request; or the
                client was closed.
            UserError: it can never answer so: a wrong key, model or address (`NotServed`).
        """
        body = json.dumps(payload).encode()
        limits = limits or self.limits
        problem, asked = "", None
        for attempt in range(limits.attempts):
            if attempt:
                self._sleep(_pause(limits, attempt - 1, asked))
            try:
                status, text, asked = self._once(path, body, limits)
            except httpx.HTTPError as error:
                problem, asked = f"{type(error).__name__}: {error}".rstrip(": "), None
            else:
                if status < 300:
                    return _parsed(text)
                problem = f"status {status}: {_said(self._without_key(text))}"
                if status in WRONG:
                    wrong = NotServed if status == 404 else UserError
                    raise wrong(f"{self.url}{path}: {WRONG[status]} ({problem})")
                if status not in AGAIN:
                    raise EngineError(f"{self.url}{path} refused the request, {problem}")
            log.debug("%s%s, attempt %d: %s", self.url, path, attempt + 1, problem)
        times = "once" if limits.attempts == 1 else f"{limits.attempts} times"
        raise EngineError(f"{self.url}{path} failed {times}, at last with {problem}")

    def close(self) -> None:
        """Give up what is under way, and close all connections. Closing twice is harmless."""
        with self._lock:
            self._closed.set()
            line, self._line = self._line, None
        if line is not None:
            line.close()

    def _once(self, path: str, body: bytes, limits: RequestLimits) -> tuple[int, str, float | None]:
        """One attempt: status, text, and for how long the server asks to be left alone."""
        with self._lock:
            if self._closed.is_set():
                raise EngineError(f"{self.url}{path} was not asked: the client is closed")
            if self._line is None:
                self._line = _Line(self._options)
            attempt = self._line.begin(lambda http: self._attempt(http, path, body, limits))
        try:
            return attempt.result()
        except CancelledError:
            raise EngineError(f"{self.url}{path} was given up: the client is closed") from None
        finally:
            attempt.cancel()  # Ctrl-C while it was waited for

    def _secret_header(self) -> dict[str, str]:
        """The header of the key, made for each request: nothing that could be printed holds it."""
        secret = self._key.get_secret_value()
        if not secret:
            return {}
        return {self._key_header: f"Bearer {secret}" if self._key_header == BEARER else secret}

    def _without_key(self, text: str) -> str:
        """A server's words: some repeat the key that they refuse."""
        secret = self._key.get_secret_value()
        return text.replace(secret, "***") if secret else text

    async def _attempt(
        self, http: httpx.AsyncClient, path: str, body: bytes, limits: RequestLimits
    ) -> tuple[int, str, float | None]:
        try:
            # A server that sends a byte now and then never trips httpx's own timeout.
            async with asyncio.timeout(limits.timeout):
                url, secret = self.url + path, self._secret_header()
                async with http.stream("POST", url, content=body, headers=secret) as response:
                    data = await self._bounded(response, path, limits.answer_bytes)
        except TimeoutError:
            raise httpx.ReadTimeout("the answer was not complete in time") from None
        # JSON is UTF-8, whatever charset a server names.
        text = data.decode("utf-8", errors="replace")
        return response.status_code, text, _seconds(response.headers.get("retry-after"))

    async def _bounded(self, response: httpx.Response, path: str, most: int) -> bytes:
        """The bytes of an answer. `EngineError` where they are packed, or more than `most`."""
        packed = response.headers.get("content-encoding", "identity")
        if packed.lower() != "identity":
            raise EngineError(f"{self.url}{path} packs its answer ({packed}), unasked")
        data = bytearray()
        async for part in response.aiter_raw():
            data += part
            if len(data) > most:
                raise EngineError(
                    f"{self.url}{path} answered with more than {most:,} bytes, which no answer has"
                )
        return bytes(data)


class _Line:
    """An event loop in a daemon thread, with an HTTP client on it."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._http = httpx.AsyncClient(**options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)
        self._thread.start()

    def begin(self, work: Callable[[httpx.AsyncClient], Coroutine[Any, Any, _T]]) -> Future[_T]:
        """Start a piece of work; its result to wait for, or to cancel."""
        return asyncio.run_coroutine_threadsafe(work(self._http), self._loop)

    def close(self) -> None:
        """Cancel all work and end the thread, within `CLOSING` seconds."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING / 2):
                await asyncio.gather(*under_way, return_exceptions=True)
                await self._http.aclose()


def _pause(limits: RequestLimits, attempt: int, asked: float | None) -> float:
    own: float = limits.pause * 2**attempt
    return min(limits.longest_pause, own if asked is None else max(own, asked))


def _seconds(header: str | None) -> float | None:
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # the latter: brackets in brackets, by the thousand
        return text


def _said(text: str) -> str:
    """The server's own words, without the frame of JSON, and not all of a page."""
    found = _parsed(text)
    if isinstance(found, dict):
        inner = found.get("error", found)
        message = inner.get("message") if isinstance(inner, dict) else inner
        text = str(message or found)
    return " ".join(text.split())[:300]
