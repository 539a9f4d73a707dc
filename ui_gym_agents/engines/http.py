"""JSON over HTTP to a model server: a deadline for each request, and retries where they help."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from pydantic import SecretStr

from ui_gym.errors import UserError
from ui_gym_agents.engines.protocol import EngineError

log = logging.getLogger(__name__)

CONNECTIONS = 256
"""Requests under way at a time, at most: more than a process has slots, each of which asks once."""

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed."""

WRONG = {
    401: "the key was refused: check it",
    403: "the key does not allow this: check it",
    404: "there is no such model or address: check both, and that the URL ends in /v1",
}
"""Answers that no waiting will change, and what to do."""


class NotServed(UserError):
    """The server has no such model, or nothing at this address."""


@dataclass(frozen=True)
class RequestLimits:
    """How long a server is waited for. Times are in seconds.

    `timeout` is for one attempt, from sending to the last byte. Attempt ``i`` (from 0) is followed
    by a pause of ``pause * 2**i``, at most `longest_pause`, or what the server asks for.
    """

    timeout: float = 120.0
    connect: float = 10.0
    attempts: int = 4
    pause: float = 0.5
    longest_pause: float = 20.0


class JsonClient:
    """Posts JSON to a server. Safe to use from several threads."""

    def __init__(
        self,
        url: str,
        *,
        key: SecretStr | None = None,
        limits: RequestLimits | None = None,
        connections: int = CONNECTIONS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise UserError(
                f"{url!r} is no address of a server: it begins with http:// or https://"
            )
        self.url = url.rstrip("/")
        self.limits = limits or RequestLimits()
        self._sleep = sleep
        headers = {}
        if key is not None and key.get_secret_value():
            headers["Authorization"] = f"Bearer {key.get_secret_value()}"
        self._http = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(self.limits.timeout, connect=self.limits.connect),
            limits=httpx.Limits(max_connections=connections),
            # A proxy of the environment has no business between a trainer and its server.
            trust_env=self.url.startswith("https://"),
        )

    def post(self, path: str, payload: Mapping[str, Any]) -> Any:
        """What the server answers, read as JSON (as text, where it is none).

        Raises:
            EngineError: it did not answer, after all attempts, or refused this request.
            UserError: it can never answer so: a wrong key, model or address (`NotServed`).
        """
        body = json.dumps(payload).encode()
        problem, asked = "", None
        for attempt in range(self.limits.attempts):
            if attempt:
                self._sleep(self._pause(attempt - 1, asked))
            try:
                status, text, asked = self._once(path, body)
            except httpx.HTTPError as error:
                problem, asked = f"{type(error).__name__}: {error}".rstrip(": "), None
            else:
                if status < 300:
                    return _parsed(text)
                problem = f"status {status}: {_said(text)}"
                if status in WRONG:
                    wrong = NotServed if status == 404 else UserError
                    raise wrong(f"{self.url}{path}: {WRONG[status]} ({problem})")
                if status not in AGAIN:
                    raise EngineError(f"{self.url}{path} refused the request, {problem}")
            log.debug("%s%s, attempt %d: %s", self.url, path, attempt + 1, problem)
        attempts = self.limits.attempts
        raise EngineError(f"{self.url}{path} failed {attempts} times, at last with {problem}")

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _once(self, path: str, body: bytes) -> tuple[int, str, float | None]:
        """One attempt: status, text, and for how long the server asks to be left alone."""
        deadline = time.monotonic() + self.limits.timeout
        request = {"content": body, "headers": {"Content-Type": "application/json"}}
        with self._http.stream("POST", self.url + path, **request) as response:  # type: ignore[arg-type]
            parts = []
            for part in response.iter_bytes():
                parts.append(part)
                # A server that sends a byte now and then never trips httpx's own timeout.
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the answer was not complete in time")
            text = b"".join(parts).decode(response.encoding or "utf-8", errors="replace")
            return response.status_code, text, _seconds(response.headers.get("retry-after"))

    def _pause(self, attempt: int, asked: float | None) -> float:
        own: float = self.limits.pause * 2**attempt
        return min(self.limits.longest_pause, own if asked is None else max(own, asked))


def _seconds(header: str | None) -> float | None:
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _said(text: str) -> str:
    """The server's own words, without the frame of JSON, and not all of a page."""
    found = _parsed(text)
    if isinstance(found, dict):
        inner = found.get("error", found)
        message = inner.get("message") if isinstance(inner, dict) else inner
        text = str(message or found)
    return " ".join(text.split())[:300]
