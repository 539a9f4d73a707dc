"""The monitor's server: pages, answers, pictures, files and changes, behind a guard.

It is for one's own machine. Beyond that it needs a token, which a browser brings in a cookie: the
address that is printed at the start sets it. Every request is checked for its Host, Origin and
Sec-Fetch-Site (`ui_gym.remote.guard`); what changes something also needs a header that no page of
another origin can send.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ui_gym.errors import UserError
from ui_gym.remote.guard import Guard, Mistake
from ui_gym.remote.http_server import HttpServer, RequestHeaders
from ui_gym_agents import files, overrides
from ui_gym_agents.monitor import archive, episodes, single_file
from ui_gym_agents.monitor.api import MonitorApi, NotFound
from ui_gym_agents.monitor.library import Library
from ui_gym_agents.monitor.live import EVERYTHING, Changes
from ui_gym_agents.monitor.thumbnails import Thumbnails
from ui_gym_agents.store import HASH
from ui_gym_agents.training import control

TOKEN = "UI_GYM_MONITOR_TOKEN"
COOKIE = "ui_gym_monitor"
LOGIN = "/login"
STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
SMALL = 1000
"""Bytes below which nothing is compressed."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FOR_EVER = "private, max-age=31536000, immutable"
MUTATION = ("x-ui-gym", "monitor")
"""The header, and its value, of what changes something: a page of another origin cannot set it."""
MOST_SENT = 64_000
"""Bytes of a request's body."""
MOST_WORDS = 2000
"""Characters of a reason."""


class MonitorServer:
    """Serves a library while the context is open; `url` says where.

    Args:
        library: What is shown; it is started and closed with the server.
        control: Whether the page may give orders to runs.
        host, port, token, names: As of `ui_gym.remote.server.EnvServer`.
        thumbnails: Where small pictures are kept; None: in memory alone.

    Raises:
        UserError: the port is taken, or the host needs a token.
    """

    def __init__(
        self,
        library: Library,
        *,
        control: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        names: Collection[str] = (),
        thumbnails: Path | None = None,
    ) -> None:
        self._library = library
        self.changes = Changes()
        library.changed = self.changes.tell
        self.api = MonitorApi(library, control)
        self._thumbnails = Thumbnails(thumbnails)
        self._token = token
        # Browsers keep cookies by host, whatever the port: each token has one of its own.
        self._cookie = f"{COOKIE}_{hashlib.sha256(token.encode()).hexdigest()[:8]}"
        self._guard = Guard(host, token, names, variable=TOKEN, cookie=self._cookie)
        routes = [
            Route("/", self._page),
            Route(LOGIN, self._login),
            Route("/static/{path:path}", self._static),
            Route("/api/events", self._events),
            Route("/api/runs/{run}/pictures/{key}", self._picture),
            Route("/api/runs/{run}/episodes.zip", self._zip),
            Route("/api/runs/{run}/metrics.csv", self._csv),
            Route("/api/runs/{run}/page.html", self._single),
            Route("/api/runs/{run}/overrides", self._override, methods=["POST"]),
            Route("/api/runs/{run}/control", self._control, methods=["POST"]),
            Route("/api/{path:path}", self._answer),
        ]
        self._http = HttpServer(
            routes, self._guard, host, port, ending=self.changes.close, unguarded=(LOGIN,)
        )

    @property
    def url(self) -> str:
        return self._http.address("http")

    @property
    def entrance(self) -> str:
        """The address to open in a browser, with the token where there is one."""
        token = quote(self._token, safe="")
        return f"{self.url}{LOGIN}?token={token}" if token else f"{self.url}/"

    def __enter__(self) -> MonitorServer:
        try:
            self._library.start()
            self._http.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and the library's looking. May be repeated."""
        self.changes.close()
        self._http.close()
        self._library.close()

    # -- pages --

    def _page(self, request: Request) -> Response:
        return _file("index.html", request)

    def _static(self, request: Request) -> Response:
        return _file(request.path_params["path"], request)

    def _login(self, request: Request) -> Response:
        """Take the token out of the address and put it into a cookie that scripts cannot read."""
        token = request.query_params.get("token", "")
        headers = RequestHeaders(request.headers, {"Authorization": f"Bearer {token}"})
        try:
            self._guard.check(headers, request.scope["server"])
        except Mistake as mistake:
            return _error(mistake.status, str(mistake))
        answer = RedirectResponse("/", 303, headers=HEADERS)
        if self._token:
            said = quote(self._token, safe="")
            answer.set_cookie(self._cookie, said, httponly=True, samesite="strict", path="/")
        return answer

    # -- answers --

    def _answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        return self._told(request, lambda: self.api.answer(path, request.query_params))

    def _told(self, request: Request, work: Callable[[], Mapping[str, Any]]) -> Response:
        """What `work` gives as JSON, or its error as one that the page shows."""
        try:
            body = _json(work())
        except NotFound as error:
            return _error(404, str(error))
        except files.NoRoom as error:
            return _error(507, str(error))
        except UserError as error:
            return _error(400, str(error))
        except sqlite3.Error as error:
            return _error(503, f"the monitor's index cannot be read now ({error}); try again")
        except OSError as error:
            return _error(503, f"it cannot be read: {error}")
        return _packed(request, body.encode("utf-8", "replace"), "application/json",
                       {"Cache-Control": "no-store"})  # fmt: skip

    async def _events(self, request: Request) -> Response:
        said = request.headers.get("last-event-id", "") or request.query_params.get("last", "")
        last = int(said) if re.fullmatch("[0-9]{1,15}", said) else None
        return StreamingResponse(
            self.changes.stream(last, self._described),
            media_type="text/event-stream",
            headers={**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    def _described(self, run: str) -> dict[str, Any]:
        if run == EVERYTHING:
            return {"run": run}
        with suppress(NotFound, sqlite3.Error):
            self.api.shelved(run)
            facts = self.api.index.facts(run)
            return {"run": run, "step": facts.get("step", 0), "status": facts.get("status", "")}
        return {"run": run}

    # -- pictures and files --

    def _picture(self, request: Request) -> Response:
        key = request.path_params["key"]
        small = bool(request.query_params.get("thumb"))
        if not HASH.fullmatch(key):
            return _error(404, "a picture is named by the 64 digits of its hash")
        if request.headers.get("if-none-match") == f'"{key}"':
            return Response(status_code=304, headers={"ETag": f'"{key}"'})
        try:
            source = self.api.shelved(request.path_params["run"]).source
            found = self._thumbnails.get(key, source) if small else source.picture(key)
        except NotFound as error:
            return _error(404, str(error))
        except (OSError, UserError) as error:
            return _error(503, f"the picture cannot be read: {error}")
        if found is None:
            return _error(404, "this picture was not kept")
        kept = {"Cache-Control": FOR_EVER, "ETag": f'"{key}"'}
        return Response(found.data, media_type=found.media, headers={**HEADERS, **kept})

    def _zip(self, request: Request) -> Response:
        def pages(shelved: Any) -> Iterable[bytes | str]:
            source = shelved.source
            facts = self.api.index.facts(source.id)
            manifest = {"run": facts.get("name", ""), "config": facts.get("config", {})}
            places = dict.fromkeys(self._chosen(source.id, request.query_params))
            said = list(overrides.history(source.folder)) if source.folder else []
            return archive.episodes_zip(
                map(source.episode, places),
                source.picture,
                manifest=manifest,
                overrides=[asdict(one) for one in said if one.where in places],
            )

        return self._streamed(request, pages, "application/zip", "episodes.zip")

    def _csv(self, request: Request) -> Response:
        def lines(shelved: Any) -> Iterable[bytes | str]:
            told = self.api.answer(f"runs/{shelved.source.id}/steps", {})
            return archive.metrics_csv(told["names"], told["rows"])

        return self._streamed(request, lines, "text/csv", "metrics.csv")

    def _single(self, request: Request) -> Response:
        def page(shelved: Any) -> Iterable[bytes | str]:
            asked = request.query_params.get("episode", "")
            source = shelved.source
            return single_file.page(self.api.answer, source.picture, source.id, episode=asked)

        return self._streamed(request, page, "text/html", "html")

    def _chosen(self, run: str, params: Mapping[str, str]) -> Iterable[str]:
        """Where the episodes lie that fit filters, page by page."""
        query = {**params, "limit": str(episodes.MOST), "after": ""}
        while True:
            found = episodes.page(self.api.index, run, query)
            for one in found["episodes"]:
                place = episodes.place_of(self.api.index, run, one["id"])
                if place is not None:
                    yield place
            if not found["next"]:
                return
            query["after"] = found["next"]

    def _streamed(
        self,
        request: Request,
        make: Callable[[Any], Iterable[bytes | str]],
        media: str,
        ending: str,
    ) -> Response:
        try:
            shelved = self.api.shelved(request.path_params["run"])
            parts = make(shelved)
        except NotFound as error:
            return _error(404, str(error))
        except UserError as error:
            return _error(400, str(error))
        facts = self.api.index.facts(shelved.source.id)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", str(facts.get("name") or "run"))[:80]
        ending = ending if "." in ending else f"page.{ending}"
        kept = {"Content-Disposition": f'attachment; filename="{name}-{ending}"'}
        return StreamingResponse(parts, media_type=media, headers={**HEADERS, **kept})

    # -- what changes something --

    async def _override(self, request: Request) -> Response:
        return await self._changing(request, self._put_override)

    async def _control(self, request: Request) -> Response:
        return await self._changing(request, self._put_order)

    async def _changing(
        self, request: Request, work: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    ) -> Response:
        name, value = MUTATION
        if request.headers.get(name) != value:
            return _error(403, f"a change needs the header {name}: {value}")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_SENT:
                return _error(413, "that is too long")
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            return _error(400, "a change is said as a JSON object")
        run = request.path_params["run"]
        return await run_in_threadpool(lambda: self._told(request, lambda: work(run, said)))

    def _put_override(self, run: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        source = self.api.shelved(run).source
        if source.folder is None:
            raise UserError(f"{source.place} is only read: a verdict on it cannot be kept there")
        verdict, id = said.get("verdict"), str(said.get("episode", ""))
        if verdict not in overrides.VERDICTS:
            raise UserError(f"a verdict is one of {', '.join(overrides.VERDICTS)}")
        reason, who = (str(said.get(name, "")).strip() for name in ("reason", "who"))
        if not reason or not who or len(reason) > MOST_WORDS or len(who) > 100:
            raise UserError("a verdict needs a reason and who says it, of sensible length")
        place = self.api.place(run, id)
        episode = source.episode(place)
        override = overrides.Override(
            at=datetime.now(UTC).isoformat(), episode=episode.id, where=place,
            purpose=episode.purpose, verdict=verdict, reason=reason, who=who,
        )  # fmt: skip
        overrides.append(source.folder, override)
        self._library.refresh(run)
        told = self.api.answer(f"runs/{run}/episodes/{id}", {})
        return {"overrides": told["overrides"]}

    def _put_order(self, run: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.api.control:
            raise UserError("this monitor gives no orders: start it with --allow-control")
        source = self.api.shelved(run).source
        if source.kind != "run" or source.folder is None:
            raise UserError(f"{source.place} is no run that listens")
        what = str(said.get("what", ""))
        control.ask(source.folder, what)
        return {"asked": what}


def _json(value: Mapping[str, Any]) -> str:
    write = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return write(value)
    except ValueError:  # hardly ever: a number that JSON cannot say
        return write(_finite(value))


def _finite(value: Any) -> Any:
    """`value` with None for numbers that JSON cannot say, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def _error(status: int, text: str) -> Response:
    body = json.dumps({"error": text}, ensure_ascii=False).encode("utf-8", "replace")
    kept = {"Cache-Control": "no-store"}
    return Response(body, status, media_type="application/json", headers={**HEADERS, **kept})


def _file(path: str, request: Request) -> Response:
    """A file of the page, as it is named in `STATIC`."""
    found = _static_file(path)
    if found is None:
        return _error(404, f"there is no page {path[:100]!r}")
    body, media, tag, small = found
    kept = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={**HEADERS, **kept})
    return _packed(request, body, media, kept, small)


@lru_cache(maxsize=128)
def _static_file(path: str) -> tuple[bytes, str, str, bytes] | None:
    names = {file.relative_to(STATIC).as_posix(): file for file in STATIC.rglob("*")}
    file = names.get(path)
    if file is None or file.suffix not in TYPES:
        return None
    body = file.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    return body, TYPES[file.suffix], tag, gzip.compress(body, 5, mtime=0)


def _packed(
    request: Request, body: bytes, media: str, headers: Mapping[str, str], small: bytes = b""
) -> Response:
    """A body, compressed (as `small`, if that is known) where it is worth it and the client
    takes it."""
    told = {**HEADERS, **headers, "Vary": "Accept-Encoding"}
    if len(body) > SMALL and "gzip" in request.headers.get("accept-encoding", ""):
        body = small or gzip.compress(body, 5, mtime=0)
        told["Content-Encoding"] = "gzip"
    return Response(body, media_type=media, headers=told)
