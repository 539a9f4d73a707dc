"""PolicyServer: a policy behind OpenAI's APIs, for agents that name their rollout by the API key.

``/v1/chat/completions``, ``/v1/responses`` and ``/v1/models`` are as OpenAI's. Beside them, for
whoever has the key of a rollout:

- ``GET /v1/rollout/trace``: what was sampled, in OpenEnv's format (`trace`).
- ``GET /v1/env`` and ``POST /v1/env/step``: the env of a rollout that a trainer plays; it waits
  for the agent's actions (`Desk`).
- ``POST /v1/rollout/end`` with ``{"reward": ...}``: an episode that is played elsewhere is over.
- ``POST /v1/rollouts/next``: the next rollout that a trainer wants played.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ui_gym.errors import UserError
from ui_gym.remote.guard import Guard
from ui_gym.remote.http_server import HttpServer
from ui_gym_agents.serving import trace
from ui_gym_agents.serving.chat_wire import ChatWire
from ui_gym_agents.serving.responses_wire import ResponsesWire
from ui_gym_agents.serving.rollouts import Rollout, RolloutError, RolloutSample
from ui_gym_agents.serving.voice import PolicyVoice
from ui_gym_agents.serving.wire import AgentWire, Json, failure

TOKEN = "UI_GYM_POLICY_TOKEN"
"""The environment variable of the token that others than this machine need."""

MOST_BYTES = 256 << 20
"""Of the body of a request: some hundred pictures."""

Page = Callable[[Request], Awaitable[Response]]


class Desk(Protocol):
    """Who knows the rollouts. All methods but `rollout` may wait."""

    def rollout(self, key: str, header: str) -> Rollout:
        """The rollout of an API key, or of the header ``X-Rollout-Id``.

        Raises:
            RolloutError: (401) there is none.
        """

    async def env(self, rollout: Rollout) -> Json:
        """What the env of a rollout shows."""

    async def step(self, rollout: Rollout, body: Json) -> Json:
        """What the env of a rollout shows after an action."""

    async def end(self, rollout: Rollout, body: Json) -> Json:
        """The agent is done with a rollout."""

    async def next(self, agent: str) -> Json:
        """A rollout to be played by an agent; waits a while for one."""


class JsonAnswer(JSONResponse):
    """JSON whose texts may hold what is no Unicode: half of a surrogate pair that was asked with
    comes back as JSON escapes it."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class PolicyServer:
    """Serves a policy while the context is open; `url` is the base of OpenAI's clients.

    Args:
        voice: Who answers.
        desk: Knows the rollouts.
        host: Where to listen; others than this machine need a token.
        port: 0 is any that is free.
        token: What clients must say; before a rollout's name, as ``TOKEN:NAME``.
        names: Further names that clients call this host by.

    Raises:
        UserError: the port is taken, or the host needs a token.
    """

    def __init__(
        self,
        voice: PolicyVoice,
        desk: Desk,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        names: Collection[str] = (),
    ) -> None:
        self._voice = voice
        self._desk = desk
        if ":" in token:
            raise UserError(f"the token in {TOKEN} holds a colon, which ends it: take another")
        self._token = token
        guard = _KeyGuard(host, token, names, variable=TOKEN)
        self._http = HttpServer(self._routes(), guard, host, port)

    @property
    def url(self) -> str:
        return f"{self._http.address('http')}/v1"

    def __enter__(self) -> PolicyServer:
        self._http.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server. May be repeated."""
        self._http.close()

    def _routes(self) -> list[Route]:
        desk = self._desk

        async def healthz(request: Request) -> Response:
            return PlainTextResponse("ok\n")

        async def models(request: Request) -> Response:
            model = {"id": "policy", "object": "model", "created": 0, "owned_by": "ui-gym"}
            return JsonAnswer({"object": "list", "data": [model]})

        async def traced(request: Request) -> Response:
            return JsonAnswer(trace.of_rollout(self._rollout(request)))

        async def env(request: Request) -> Response:
            return JsonAnswer(await desk.env(self._rollout(request)))

        async def step(request: Request) -> Response:
            return JsonAnswer(await desk.step(self._rollout(request), await _body(request)))

        async def end(request: Request) -> Response:
            return JsonAnswer(await desk.end(self._rollout(request), await _body(request)))

        async def next_one(request: Request) -> Response:
            return JsonAnswer(await desk.next(request.headers.get("x-agent", "")))

        return [
            Route("/healthz", healthz),
            Route("/v1/models", _told(models)),
            Route("/v1/chat/completions", _told(self._page(ChatWire())), methods=["POST"]),
            Route("/v1/responses", _told(self._page(ResponsesWire())), methods=["POST"]),
            Route("/v1/rollout/trace", _told(traced)),
            Route("/v1/rollout/end", _told(end), methods=["POST"]),
            Route("/v1/rollouts/next", _told(next_one), methods=["POST"]),
            Route("/v1/env", _told(env)),
            Route("/v1/env/step", _told(step), methods=["POST"]),
        ]

    def _page(self, wire: AgentWire) -> Page:
        async def answer(request: Request) -> Response:
            rollout = self._rollout(request)
            body = await _body(request)
            sample, found = await self._voice.answer(
                rollout, wire, body,
                name=request.headers.get("idempotency-key", ""),
                again=request.headers.get("x-stainless-retry-count", "0") != "0",
            )  # fmt: skip
            if body.get("stream"):
                stream = _stream(request, sample, list(wire.events(found, body)))
                return StreamingResponse(stream, media_type="text/event-stream")
            await _deliver(request, sample)
            return JsonAnswer(found)

        return answer

    def _rollout(self, request: Request) -> Rollout:
        key = request.headers.get("authorization", "").partition(" ")[2].strip()
        if self._token:
            key = key.removeprefix(self._token).removeprefix(":")
        return self._desk.rollout(key, request.headers.get("x-rollout-id", ""))


class _KeyGuard(Guard):
    """A guard whose token stands before the name of a rollout: ``Bearer TOKEN:NAME``."""

    def _check_token(self, said: str) -> None:
        super()._check_token(said.partition(":")[0])


def _told(page: Page) -> Page:
    """A page whose mistakes are told as OpenAI's API tells them."""

    async def answer(request: Request) -> Response:
        try:
            return await page(request)
        except RolloutError as error:
            return JsonAnswer(failure(error.status, str(error)), error.status)

    return answer


async def _deliver(request: Request, sample: RolloutSample) -> None:
    """Note whether somebody is there to take an answer."""
    if await request.is_disconnected():
        sample.lost = not sample.delivered
    else:
        sample.delivered, sample.lost = True, False


async def _stream(
    request: Request, sample: RolloutSample, events: Sequence[str]
) -> AsyncIterator[str]:
    """The events of an answer; whoever leaves before the last has not got it."""
    try:
        for event in events[:-1]:
            yield event
        await _deliver(request, sample)
        yield events[-1]
    finally:
        sample.lost = not sample.delivered


async def _body(request: Request) -> Json:
    """The JSON object that was sent; `RolloutError` where it is none."""
    read = bytearray()
    try:
        async for part in request.stream():
            read += part
            if len(read) > MOST_BYTES:
                raise RolloutError(413, f"a request has {MOST_BYTES >> 20} MiB at most")
    except ClientDisconnect:
        raise RolloutError(400, "the request ended before its end") from None
    try:
        value = await asyncio.to_thread(_loaded, bytes(read) or b"{}")
    except (ValueError, RecursionError) as error:
        raise RolloutError(400, f"the request is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise RolloutError(400, "the request is no JSON object")
    return value


def _loaded(data: bytes) -> Any:
    """The value of JSON; `ValueError` also for numbers that only Python calls JSON."""
    return json.loads(data, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON's")
    return value
