"""The routes that SDK 0.38 and tinker-cookbook ask for, under ``/api/v1``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tinker import types as sdk

from ui_gym.remote.guard import Guard
from ui_gym.remote.http_server import RequestHeaders
from ui_gym_tinker.server import catalog, wire
from ui_gym_tinker.server.core import Reply
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.futures import Failure, JsonResult, ProtoResult
from ui_gym_tinker.server.service import TinkerService
from ui_gym_tinker.server.versions import check_sdk

T = TypeVar("T")

Page = Callable[[Request], Awaitable[Response]]

POLL_SECONDS = 20.0
"""How long a poll for a result is held open; the SDK gives up after 45 s."""

CONFIG = {
    "pjwt_auth_enabled": False,
    "parallel_fwdbwd_chunks": True,
    "proto_compress_fwdbwd": True,
    "custom_loss_server_side": False,
    "sample_use_retrieve_futures": False,
    "sample_join_sampling_session": True,
}
"""What the SDK is told to do; what is not named here is left as it is."""

DYNAMIC_CONFIG = {"refresh_interval_sec": 300, "sample_cancel_enabled": True}


class ApiKeyGuard(Guard):
    """A guard that takes the SDK's header, ``X-API-Key``, for the token."""

    def check(self, headers: Any, here: tuple[str, int]) -> None:
        said = headers.get("X-API-Key", "")
        super().check(_KeyHeaders(headers, said) if said else headers, here)


class _KeyHeaders:
    """Headers with an API key as the token that `Guard` reads."""

    def __init__(self, headers: RequestHeaders, key: str) -> None:
        self._headers = headers
        self._key = key

    def get(self, name: str, default: str, /) -> str:
        if name == "Authorization":
            return f"Bearer {self._key}"
        return self._headers.get(name, default)

    def get_all(self, name: str, default: Any = (), /) -> list[str]:
        return self._headers.get_all(name, default)


class TinkerApp:
    """The routes of a service. `any_sdk` lets every version of the SDK in."""

    def __init__(self, service: TinkerService, *, any_sdk: bool = False) -> None:
        self._service = service
        self._sessions = service.core.sessions
        self._any_sdk = any_sdk
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="tinker-reading")

    def close(self) -> None:
        self._reading.shutdown(cancel_futures=True)

    def routes(self) -> list[Route]:
        """All routes, with what answers each."""
        get, post, runs = self._get, self._post, self._service.runs
        return [
            get("/healthz", lambda request: {"status": "ok"}),
            post("/client/config", self._client_config),
            post("/client/dynamic_config", lambda body, request: dict(DYNAMIC_CONFIG)),
            post("/create_session", self._create_session),
            post("/session_heartbeat", self._heartbeat),
            post("/sessions/{session}/finish", self._finish),
            post("/telemetry", lambda body, request: {"status": "accepted"}),
            post("/create_model", self._typed(sdk.CreateModelRequest, runs.create_model)),
            post("/get_info", self._get_info),
            post("/unload_model", self._unload),
            post("/forward_backward", self._pass),
            post("/optim_step", self._typed(sdk.OptimStepRequest, runs.optim_step)),
            post("/save_weights", self._typed(sdk.SaveWeightsRequest, runs.save_weights)),
            post("/save_weights_for_sampler",
                 self._typed(sdk.SaveWeightsForSamplerRequest, runs.save_for_sampler)),
            post("/save_weights_external",
                 self._typed(sdk.SaveWeightsExternalRequest, runs.save_external)),
            post("/load_weights", self._typed(sdk.LoadWeightsRequest, runs.load_weights)),
            post("/create_sampling_session",
                 self._typed(sdk.CreateSamplingSessionRequest, self._service.samplers.create)),
            post("/join_sampling_session", self._join),
            self._sample_route(),
            Route("/api/v1/retrieve_future", self._told(self._retrieve), methods=["POST"]),
            post("/cancel_future", self._cancel),
            *self._catalogue(),
        ]  # fmt: skip

    def _catalogue(self) -> list[Route]:
        """What is only looked up."""
        core, get, post = self._service.core, self._get, self._post
        run = "/training_runs/{run}"
        one = run + "/checkpoints/{kind}/{name}"
        return [
            get("/get_server_capabilities", lambda r: catalog.capabilities(core)),
            get("/samplers/{sampler}",
                lambda r: catalog.sampler(core, r.path_params["sampler"])),
            post("/weights_info", lambda body, r: catalog.weights_info(core, _object(body))),
            get("/training_runs", lambda r: catalog.training_runs(core, **_page(r))),
            get(run, lambda r: catalog.training_run(core, r.path_params["run"])),
            get(run + "/checkpoints", lambda r: catalog.of_run(core, r.path_params["run"])),
            self._route(one, "DELETE", lambda body, r: catalog.delete(core, **r.path_params)),
            self._route(one + "/ttl", "PUT",
                        lambda body, r: catalog.set_ttl(core, _object(body), **r.path_params)),
            get("/checkpoints", lambda r: catalog.checkpoints(core, **_page(r))),
            get("/sessions", lambda r: catalog.sessions(core, **_page(r))),
            get("/sessions/{session}",
                lambda r: catalog.session(core, r.path_params["session"])),
        ]  # fmt: skip

    # -- sessions --

    def _client_config(self, body: bytes, request: Request) -> Reply:
        self._check_sdk(wire.parsed(sdk.ClientConfigRequest, body).sdk_version)
        return dict(CONFIG)

    def _create_session(self, body: bytes, request: Request) -> Reply:
        asked = wire.parsed(sdk.CreateSessionRequest, body)
        self._check_sdk(asked.sdk_version)
        key = request.headers.get("x-idempotency-key", "")
        made = self._sessions.begin(asked.user_metadata, asked.display_name, key)
        return {"type": "create_session", "session_id": made.id}

    def _check_sdk(self, version: str) -> None:
        if not self._any_sdk:
            check_sdk(version)

    def _heartbeat(self, body: bytes, request: Request) -> Reply:
        asked = wire.parsed(sdk.SessionHeartbeatRequest, body)
        try:
            self._sessions.get(asked.session_id)
        except HttpRefusal as error:
            raise HttpRefusal(410, str(error)) from None  # at which the SDK stops its heartbeat
        return {"type": "session_heartbeat"}

    def _finish(self, body: bytes, request: Request) -> Reply:
        session = request.path_params["session"]
        if self._sessions.why_gone(session) is None:
            self._sessions.get(session)
        self._sessions.finish(session, f"the session {session} was finished by its client")
        return {}

    # -- runs --

    def _get_info(self, body: bytes, request: Request) -> Reply:
        return catalog.info(self._service.core, wire.parsed(sdk.GetInfoRequest, body).model_id)

    def _unload(self, body: bytes, request: Request) -> Reply:
        return self._service.runs.unload_model(wire.parsed(sdk.UnloadModelRequest, body).model_id)

    def _pass(self, body: bytes, request: Request) -> Reply:
        kind = request.headers.get("content-type", "")
        if not kind.startswith("application/x-protobuf"):
            raise HttpRefusal(415, f"a pass is asked for by protobuf, and not by {kind!r}")
        unpacked = wire.unpacked(body, request.headers.get("content-encoding", ""))
        return self._service.runs.run_pass(wire.pass_request(unpacked))

    # -- samples --

    def _join(self, body: bytes, request: Request) -> Reply:
        asked = wire.parsed(sdk.JoinSamplingSessionRequest, body)
        sampler = self._sessions.sampler(asked.sampling_session_id)
        sampler.clients += 1
        return {"type": "join_sampling_session", "client_counter": sampler.clients}

    def _sample_route(self) -> Route:
        answer = self._answered(
            lambda body, request: self._service.samplers.sample(
                wire.parsed(sdk.SampleRequest, body)
            )
        )

        async def page(request: Request) -> Response:
            with self._service.core.compute.arriving():
                return await answer(request)

        return Route("/api/v1/asample", page, methods=["POST"])

    def _cancel(self, body: bytes, request: Request) -> Reply:
        self._service.samplers.cancel(str(_object(body).get("request_id", "")))
        return {}

    # -- results --

    async def _retrieve(self, request: Request) -> Response:
        asked = wire.parsed(sdk.FutureRetrieveRequest, await _body(request))
        promised = self._service.core.futures.get(asked.request_id)
        if promised is None:
            return _failure(Failure(
                f"there is no request {asked.request_id!r}: it was never made, its result is no "
                "longer kept, or the server was started again since", "user",
            ))  # fmt: skip
        result = await promised.wait(POLL_SECONDS)
        if result is None:
            return JSONResponse({
                "type": "try_again", "request_id": asked.request_id, "queue_state": "active",
            })  # fmt: skip
        if isinstance(result, Failure):
            return _failure(result)
        if isinstance(result, ProtoResult):
            return Response(result.data, media_type="application/x-protobuf")
        assert isinstance(result, JsonResult)
        return JSONResponse(result.value)

    # -- pages --

    def _get(self, path: str, answer: Callable[[Request], Reply]) -> Route:
        return self._route(path, "GET", lambda body, request: answer(request))

    def _post(self, path: str, answer: Callable[[bytes, Request], Reply]) -> Route:
        return self._route(path, "POST", answer)

    def _route(self, path: str, method: str, answer: Callable[[bytes, Request], Reply]) -> Route:
        return Route(f"/api/v1{path}", self._answered(answer), methods=[method])

    def _typed(self, kind: Any, do: Callable[[Any], Reply]) -> Callable[[bytes, Request], Reply]:
        """A page that hands a request of that type to a method of the service."""
        return lambda body, request: do(wire.parsed(kind, body))

    def _answered(self, answer: Callable[[bytes, Request], Reply]) -> Page:
        """A page whose answer is made in the thread that reads."""

        async def page(request: Request) -> Response:
            body = await _body(request)
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._reading, answer, body, request)
            return JSONResponse(found)

        return self._told(page)

    @staticmethod
    def _told(page: Page) -> Page:
        """A page whose refusals are told as the SDK shows them."""

        async def answer(request: Request) -> Response:
            try:
                return await page(request)
            except HttpRefusal as error:
                return JSONResponse({"detail": str(error)}, error.status)
            except BadRequest as error:
                return JSONResponse({"detail": str(error)}, 422)

        return answer


def _failure(failure: Failure) -> Response:
    return JSONResponse({"error": failure.error, "category": failure.category})


def _page(request: Request) -> dict[str, int]:
    """``limit`` and ``offset`` of a list."""
    found = {}
    for name, default in (("limit", 20), ("offset", 0)):
        said = request.query_params.get(name, str(default))
        if not said.isdigit():
            raise HttpRefusal(422, f"{name} is a number, not {said[:20]!r}")
        found[name] = int(said)
    return found


def _object(body: bytes) -> Reply:
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise HttpRefusal(422, "the request is no JSON object")
    return value


async def _body(request: Request) -> bytes:
    read = bytearray()
    try:
        async for part in request.stream():
            read += part
            if len(read) > wire.MOST_BYTES:
                raise HttpRefusal(413, f"a request has {wire.MOST_BYTES >> 20} MiB at most")
    except ClientDisconnect:
        raise HttpRefusal(400, "the request ended before its end") from None
    return bytes(read)
