"""Tasks as tools of the Model Context Protocol, for whatever agent speaks it."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import importlib
import inspect
import os
import typing
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from ui_gym.contract import registry
from ui_gym.contract.action import ACTIONS, Answer, Finish
from ui_gym.dialects.canonical import MEANINGS
from ui_gym.errors import UserError
from ui_gym.playing.env import Observation, UIEnv
from ui_gym.remote.png import png

Tool = Callable[..., Coroutine[Any, Any, list[Any]]]

INSTRUCTIONS = """You operate a computer or phone by looking at screenshots.
Call start_task: it says the goal and shows the screen. Then call {act}, again and again: it does
what you write and shows what came of it. It says when the task is over. Where nothing on the screen
ends the task, call finish once you are done, {answer} if the goal asks for one.

"""


class TaskServer:
    """The tools: one episode at a time, of the tasks that are named.

    Args:
        tasks: Ids or names.
        arguments: Of their envs.
        each: A tool for each action, with its arguments, rather than the one tool `act`.
        seed: The seed of the one episode that is played, once. None: agents choose.
        score: A file for the score of the one episode: 0 at first, and its own once it is over. It
            is gone where the device failed, since no score was earned then.

    Raises:
        UserError: there is no such task, they have screens of different sizes, for which actions
            are taught differently, or one episode is asked for of several tasks or of no seed.
    """

    def __init__(
        self,
        tasks: list[str],
        arguments: dict[str, Any],
        *,
        each: bool = False,
        seed: int | None = None,
        score: Path | None = None,
    ) -> None:
        self.envs = {spec.name: UIEnv(spec.id, **arguments) for spec in map(registry.spec, tasks)}
        if len({env.size for env in self.envs.values()}) > 1:
            raise UserError("these tasks have screens of different sizes: serve them apart")
        if seed is not None and (len(self.envs) > 1 or seed < 0):
            raise UserError("--seed is for the one episode of one task, and a number from 0 on")
        if score is not None and seed is None:
            raise UserError("--score is for the one episode of a --seed: give one")
        self._each = each
        self._seed = seed
        self._score = score
        self._env: UIEnv | None = None
        self._seen: Observation = {}
        self._lock = asyncio.Lock()
        self._keep_score(0.0)

    @property
    def instructions(self) -> str:
        first = next(iter(self.envs.values()))
        if not self._each:
            told = INSTRUCTIONS.format(act="act", answer="with the answer")
            return told + first.dialect.prompt(first.size)
        told = INSTRUCTIONS.format(act="an action's tool", answer="or answer")
        width, height = first.size
        where = "x and y are whole pixels from its top left corner."
        return f"{told}The screen is {width} pixels wide and {height} high; {where}"

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools by name; what a model is told of each stands in its docstring and signature."""
        start = self.start_task if self._seed is None else self.start_once
        found: dict[str, Tool] = {"start_task": start, "screenshot": self.screenshot}
        if not self._each:
            return found | {"act": self.act, "finish": self.finish}
        found |= {name: self._tool_of(name, said) for name, said in MEANINGS.items()}
        twice = self._tool_of("click", "press and release the left button twice", count=2)
        return found | {"double_click": twice}

    async def start_task(self, seed: int = 0, task: str = "") -> list[Any]:
        """Begin a task from its beginning: its goal, and the screen.

        Args:
            seed: Which instance of the task: equal seeds are equal instances.
            task: Which task, where there are several; the first one, if it is not said.
        """
        env = self.envs.get(task or next(iter(self.envs)))
        if env is None:
            return [f"There is no task {task!r}. There are: {', '.join(self.envs)}."]
        if seed < 0:
            return ["A seed is a number from 0 on."]
        async with self._lock:
            return await self._begin(env, seed)

    async def start_once(self) -> list[Any]:
        """Begin the task: its goal, and the screen. Called again, it shows both as they are."""
        assert self._seed is not None
        async with self._lock:
            if self._seen:
                return self._present()
            return await self._begin(next(iter(self.envs.values())), self._seed)

    async def screenshot(self) -> list[Any]:
        """Look at the screen as it was after the last action."""
        return self._shown() or ["No task was begun: call start_task."]

    async def act(self, action: str) -> list[Any]:
        """Do something on the screen, and see what came of it.

        Args:
            action: One action or several, as the server's instructions say, such as
                click(10, 20); type("Ann")
        """
        async with self._lock:
            env = self._env
            if env is None:
                return [self._idle]
            self._seen, _, terminated, truncated, info = await asyncio.to_thread(env.step, action)
            said = [self._seen["feedback"]] if self._seen["feedback"] else []
            if terminated or truncated:
                self._env = None
                self._keep_score(None if info["failure"] else info["score"])
                why = info["failure"] or ("it ended" if terminated else "the steps are used up")
                said.append(f"The task is over ({why}). Score: {info['score']:g} of 1.")
            return [*said, *self._shown()]

    async def finish(self, answer: str = "") -> list[Any]:
        """Say that you are done, with the answer if the goal asks for one."""
        env = self._env
        if env is None:
            return [self._idle]
        return await self.act(
            env.dialect.render([Answer(answer) if answer else Finish()], env.size)
        )

    def close(self) -> None:
        for env in self.envs.values():
            env.close()

    @property
    def _idle(self) -> str:
        if self._seed is not None and self._seen:
            return "The task is over; it is played once."
        return "No task is in progress: call start_task."

    async def _begin(self, env: UIEnv, seed: int) -> list[Any]:
        self._seen, _ = await asyncio.to_thread(env.reset, seed=seed)
        self._env = env
        return self._present()

    def _present(self) -> list[Any]:
        return [f"Goal: {self._seen['goal']}", *self._shown()]

    def _tool_of(self, name: str, said: str, **given: Any) -> Tool:
        """A tool for the action `name`, its arguments in pixels and seconds, but for those that are
        `given`. It writes the action down as a model would, so that mistakes are told alike."""
        kind = ACTIONS[name]
        hints = typing.get_type_hints(kind)

        async def tool(**named: Any) -> list[Any]:
            written = ", ".join(f"{key}={value!r}" for key, value in (named | given).items())
            return await self.act(f"{name}({written})")

        tool.__doc__ = f"{said[0].upper()}{said[1:]}."
        tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=_default(field),
                    annotation=hints[field.name],
                )
                for field in dataclasses.fields(kind)
                if field.name not in given
            ]
        )
        return tool

    def _keep_score(self, score: float | None) -> None:
        """Write the score, at once and whole: its reader may come at any time."""
        if self._score is None:
            return
        if score is None:
            self._score.unlink(missing_ok=True)
            return
        part = self._score.with_name(f"{self._score.name}.part")
        try:
            part.write_text(f"{score:g}\n")
            os.replace(part, self._score)
        except OSError as error:
            raise UserError(f"{self._score} cannot be written: {error}") from error

    def _shown(self) -> list[Any]:
        if "screenshot" not in self._seen:
            return []
        return [_library()[1](data=png(self._seen["screenshot"]), format="png")]


def _default(field: dataclasses.Field[Any]) -> Any:
    missing = field.default is dataclasses.MISSING
    return inspect.Parameter.empty if missing else field.default


@functools.cache
def _library() -> tuple[Any, Any]:
    """The package's server and picture, which changed their names in its version 2."""
    try:
        from mcp.server.mcpserver import Image, MCPServer
    except ModuleNotFoundError as error:
        if error.name == "mcp":
            raise
        older: Any = importlib.import_module("mcp.server.fastmcp")
        return older.FastMCP, older.Image
    return MCPServer, Image


def serve_tasks(tools: TaskServer, port: int | None) -> None:
    """Serve on standard input and output, or at a port of the loopback, until Ctrl-C."""
    kind, _ = _library()
    where = {} if port is None else {"host": "127.0.0.1", "port": port}
    early, late = (where, {}) if kind.__name__ == "FastMCP" else ({}, where)
    server = kind("ui-gym", instructions=tools.instructions, log_level="WARNING", **early)
    for name, tool in tools.tools.items():
        server.tool(name, structured_output=False)(tool)
    try:
        server.run("stdio" if port is None else "streamable-http", **late)
    except KeyboardInterrupt:
        return
    finally:
        tools.close()
