"""OpenEnv's protocol (`openenv` 0.10 of huggingface/OpenEnv), for its clients to play slots here.

A connection to ``/ws`` is a session: messages of JSON, each with one reply. ``reset`` takes `seed`
and `episode_id`, the `task`, the reset options `oracle` and `ground_truth`, and otherwise an env's
arguments (``level=2``). One that names neither task nor arguments plays on with those of the last;
one that names others gives the slot back, and is lent another. ``step`` takes the field `action`
alone, an action text. What is wrong with a message is its reply, and harms neither the connection
nor the episode; an episode whose device is lost is done, with ``metadata["failure"]``.

Served are sessions on ``/ws``, ``/schema``, ``/metadata`` and ``/health``. OpenEnv's ``/reset`` and
``/step`` over HTTP, which make a new env for each request, and its tools over MCP are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_gym.contract import registry
from ui_gym.contract.arguments import ResetOptions
from ui_gym.errors import DeviceError, UserError, nearest
from ui_gym.playing.slot import Reset, SlotResult, Step
from ui_gym.remote import openenv_messages, wire
from ui_gym.remote.lending import Lender, LentSlot, NoSlotFree

AHEAD = 64
"""How many messages may wait for the answer to the first of them."""

_TYPES = "Known: reset, step, state, close."

OPTIONS = ("oracle", "ground_truth")
"""Reset options that are no arguments of an env."""


def routes(lender: Lender) -> list[BaseRoute]:
    """``/ws`` (sessions), ``/schema``, ``/metadata``, ``/health``."""

    async def health(request: Request) -> Response:
        if lender.ending.is_set():
            return JSONResponse({"status": "unhealthy"}, 503)
        return JSONResponse({"status": "healthy"})

    async def schema(request: Request) -> Response:
        return JSONResponse(openenv_messages.SCHEMA)

    async def metadata(request: Request) -> Response:
        return JSONResponse(openenv_messages.description(lender.tasks))

    open_now = 0

    async def session(connection: WebSocket) -> None:
        nonlocal open_now
        await connection.accept()
        if open_now >= lender.limits.sessions + lender.limits.slots:
            await connection.close(1013, "too many connections")
            return
        open_now += 1
        try:
            await _serve(connection, lender)
        finally:
            open_now -= 1

    return [
        WebSocketRoute("/ws", session), Route("/schema", schema), Route("/metadata", metadata),
        Route("/health", health),
    ]  # fmt: skip


async def _serve(connection: WebSocket, lender: Lender) -> None:
    """Answer a client's messages until the connection ends, which ends what is played as well."""
    session = _Session(lender)
    # A thread of its own: those that all share are few, and a step that hangs would keep one.
    thread = ThreadPoolExecutor(1, "ui-gym-openenv")
    heard: asyncio.Queue[str | bytes] = asyncio.Queue(AHEAD)

    async def listen() -> None:
        while (message := await connection.receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            # Whoever is so far ahead does not speak this protocol, and would hide its end.
            heard.put_nowait(message.get("bytes") or b"" if text is None else text)

    async def answer() -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while (
                reply := await loop.run_in_executor(thread, session.answer, await heard.get())
            ) is not None:
                await connection.send_text(reply)
                lender.counts["bytes_sent"] += len(reply)
            await connection.close()

    tasks = [asyncio.create_task(listen()), asyncio.create_task(answer())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        thread.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(session.close)


class _Wrong(Exception):
    """What a message is answered with where it cannot be done: OpenEnv's code and a sentence."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.told = {"message": message, "code": code} | more


class _Session:
    """A client's slot and the episode on it. Called from one thread, and closed from any."""

    def __init__(self, lender: Lender) -> None:
        self._lender = lender
        self._lock = threading.Lock()
        self._slot: LentSlot | None = None
        self._closed = False
        self._plays: tuple[str, dict[str, Any]] | None = None
        self._episode = ""
        self._calls = {"reset": self._reset, "step": self._step, "state": self._state}

    def answer(self, said: str | bytes) -> str | None:
        """The reply to a message; None to a goodbye."""
        try:
            kind, data = _read(said)
            if kind == "close":
                return None
            if kind not in self._calls:
                raise _Wrong("UNKNOWN_TYPE", f"no type of message is {kind!r}: {_TYPES}")
            reply = self._calls[kind](data)
        except _Wrong as wrong:
            reply = {"type": "error", "data": wrong.told}
        except UserError as error:
            reply = {"type": "error", "data": _Wrong("VALIDATION_ERROR", str(error)).told}
        # Faults of devices and of tasks, and whatever odd values may do to an env.
        except Exception as error:
            message = ": ".join(wire.error_parts(error))
            reply = {"type": "error", "data": _Wrong("EXECUTION_ERROR", message).told}
        return json.dumps(reply)

    def close(self) -> None:
        """Give the slot back, also in the middle of a call. May be repeated."""
        with self._lock:
            self._closed = True
        self._give_back()

    def _reset(self, data: dict[str, Any]) -> dict[str, Any]:
        seed, episode = data.pop("seed", None), data.pop("episode_id", None)
        if seed is not None and (type(seed) is not int or seed < 0):
            raise _Wrong("VALIDATION_ERROR", f"seed is a whole number from 0 on, not {seed!r}")
        if not isinstance(episode, str | None):
            raise _Wrong("VALIDATION_ERROR", f"episode_id is a text, not {episode!r}")
        options = {name: data.pop(name) for name in OPTIONS if name in data}
        try:
            slot = self._lent(data, options)
        except (TypeError, ValueError) as error:
            raise UserError(f"one of these arguments cannot be: {error}") from None
        result = slot.play(Reset(seed, options))
        self._episode = episode or str(uuid.uuid4())
        return openenv_messages.observation(result)

    def _step(self, data: dict[str, Any]) -> dict[str, Any]:
        action = _action(data)
        slot, last = self._slot, self._last
        if slot is None or last is None:
            raise _Wrong("EXECUTION_ERROR", "no episode is played: send a reset before a step")
        if last.ended:
            raise _Wrong("EXECUTION_ERROR", "the episode is over: send a reset to begin another")
        return openenv_messages.observation(slot.play(Step(action)))

    @property
    def _last(self) -> SlotResult | None:
        slot = self._slot
        return None if slot is None else slot.last

    def _state(self, data: dict[str, Any]) -> dict[str, Any]:
        info = self._last.info if self._last else {"step": 0, "task": None, "seed": None}
        state = {"episode_id": self._episode or None, "step_count": info["step"]}
        return {"type": "state", "data": state | {"task": info["task"], "seed": info["seed"]}}

    # -- the slot --

    def _lent(self, named: dict[str, Any], options: dict[str, Any]) -> LentSlot:
        """A slot that plays what a reset names."""
        wanted = self._wanted(named)
        if self._slot is not None:
            if _key(wanted) == _key(self._plays):
                return self._slot
            self._check(wanted, options)
            self._give_back()
        try:
            slot = self._lender.lend(*wanted)
        except NoSlotFree as error:
            self._lender.counts["refused"] += 1
            slots = self._lender.limits.slots
            active = slots - self._lender.free
            raise _Wrong(
                "CAPACITY_REACHED", str(error), active_sessions=active, max_sessions=slots
            ) from None
        with self._lock:
            if not self._closed:
                self._slot, self._plays = slot, wanted
                return slot
        slot.close()
        raise DeviceError("the connection has ended")

    def _wanted(self, named: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The task and the arguments that a reset is for."""
        if not named and self._plays is not None:
            return self._plays
        task = named.pop("task", None)
        served = self._lender.tasks
        if task is None and self._plays is not None:
            task = self._plays[0]
        elif task is None and len(served) == 1:
            (task,) = served
        if not isinstance(task, str):
            known = served or [spec.id for spec in registry.specs(elsewhere=False)]
            raise UserError(
                "a reset names the task that is played, such as "
                f'{{"type": "reset", "data": {{"task": "{min(known)}"}}}}. {nearest("", known)}'
            )
        self._lender.may_play(task)
        return registry.spec(task).id, named

    def _check(self, wanted: tuple[str, dict[str, Any]], options: dict[str, Any]) -> None:
        """Refuse what cannot be, before anything is given up for it."""
        env, crew = self._lender.crew(*wanted)
        crew.close()
        ResetOptions.read(options, env.task, env.split)

    def _give_back(self) -> None:
        with self._lock:
            slot, self._slot = self._slot, None
        if slot is not None:
            slot.close()


def _read(said: str | bytes) -> tuple[str, dict[str, Any]]:
    """A message's type and its data."""
    if isinstance(said, bytes):
        raise _Wrong("INVALID_JSON", "messages are frames of text, and this one is of bytes")
    try:
        message = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise _Wrong("INVALID_JSON", f"the message is no JSON: {error}") from None
    data = message.get("data", {}) if isinstance(message, dict) else None
    if not isinstance(data, dict):
        raise _Wrong("VALIDATION_ERROR", f"a message is an object with type and data. {_TYPES}")
    return str(message.get("type", "")), data


def _action(data: dict[str, Any]) -> str:
    action = data.get("action")
    if not isinstance(action, str) or data.keys() - {"action", "metadata"}:
        raise _Wrong(
            "VALIDATION_ERROR",
            'a step has the field action, a text such as "click(10, 20)", and no other; '
            f"the fields here: {', '.join(data) or 'none'}",
        )
    return action


def _key(plays: tuple[str, dict[str, Any]] | None) -> str:
    """A name for a task with arguments. As text, since True == 1 and they are not the same."""
    return json.dumps(plays, sort_keys=True)
