"""Episodes for the rollouts of somebody else's trainer, each on an env of its own.

Most trainers play many episodes at once in one event loop. `AsyncEpisode` keeps that loop free and
closes what it opened; `new_episode` is what it plays, for trainers that have threads themselves.
`episode_rows` says which episodes a data set holds.
"""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from packaging.version import Version

from ui_gym import extras
from ui_gym.catalog import TaskSource
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode, ChatStep, Message

T = TypeVar("T")


def needs(package: str, oldest: str, too_new: str, extra: str) -> None:
    """Check that a package is installed in a version from `oldest` on and before `too_new`.

    Raises:
        UserError: it is not, and how to get it.
    """
    try:
        found = version(package)
    except PackageNotFoundError:
        raise UserError(
            f"{package} is not installed; to get it: pip install 'ui-gym[{extra}]'"
        ) from None
    release = Version(Version(found).base_version)  # a first try of the next one counts as that
    if not Version(oldest) <= release < Version(too_new):
        raise UserError(
            f"{package} {found} is installed, and this was written for another one: "
            f"pip install '{package}>={oldest},<{too_new}'"
        )


def new_episode(task: str, arguments: Mapping[str, Any]) -> ChatEpisode:
    """An episode on an env of its own.

    Envs of the same task and arguments lend their devices from one pool, so that each of several
    machines that are named (``device="adb:a,b"``) is lent once.

    Raises:
        UserError: there is no such task, or an argument is unknown or cannot be.
    """
    named = json.dumps(dict(arguments), sort_keys=True)
    with _MAKING:
        first = _first(task, named)
    return ChatEpisode(first.clone())


_MAKING = threading.Lock()
"""Of two first envs, the one that nobody keeps would close its pool under its clones."""


@functools.cache
def _first(task: str, arguments: str) -> UIEnv:
    """The env that others are cloned from; it plays nothing itself."""
    return UIEnv(task, **json.loads(arguments))


class AsyncEpisode:
    """An episode for a program of asyncio.

        async with AsyncEpisode("UI/ClickButton-v0", {"compact": True}) as episode:
            messages = await episode.reset(seed=1)
            step = await episode.act("click(48, 144)")

    All that waits for the device does so in one thread of this episode. The env is closed there in
    the end, also when the program was cancelled in the middle of an action: after that action.
    """

    def __init__(self, task: str, arguments: Mapping[str, Any]) -> None:
        self._task = task
        self._arguments = arguments
        self._chat: ChatEpisode | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ui-gym-episode")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        closed = self._thread.submit(self._close)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closed))

    async def reset(self, seed: int) -> list[Message]:
        """Begin the episode of a seed: the first question.

        Raises:
            UserError: the task or an argument cannot be.
            DeviceError, TaskError: it could not begin.
        """
        return await self._in_thread(lambda: self._begin(seed))

    async def act(self, said: str) -> ChatStep:
        """Do what a model said.

        Raises:
            DeviceError: the device failed, which is no fault of the model's: play the episode
                again.
        """
        step = await self._in_thread(lambda: self._begun.act(said))
        if step.info["failure"] is not None:
            raise DeviceError(str(step.info["failure"]))
        return step

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _begin(self, seed: int) -> list[Message]:
        if self._chat is None:
            self._chat = new_episode(self._task, self._arguments)
        return self._chat.reset(seed=seed)

    @property
    def _begun(self) -> ChatEpisode:
        assert self._chat is not None, "reset() comes first"
        return self._chat

    def _close(self) -> None:
        if self._chat is not None:
            self._chat.close()


@dataclass(frozen=True)
class EpisodeRow:
    """An episode as a row of a trainer's data set: rollouts of a row begin with the same screen."""

    task: str
    seed: int
    arguments: Mapping[str, Any]
    """The env's."""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """A row as `columns` gives it.

        Raises:
            UserError: a column is missing, or holds something else.
        """
        try:
            arguments = json.loads(row["arguments"])
            return cls(str(row["task"]), int(row["seed"]), dict(arguments))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"a row of episodes has the columns task, seed and arguments (a JSON object): "
                f"{type(error).__name__}: {error} in {dict(row)!r}"
            ) from None

    @property
    def columns(self) -> dict[str, Any]:
        """The row in types that every table has."""
        arguments = json.dumps(dict(self.arguments), sort_keys=True)
        return {"task": self.task, "seed": self.seed, "arguments": arguments}


def episode_rows(
    ids: Sequence[str], n: int, *, seed: int = 0, **arguments: Any
) -> list[EpisodeRow]:
    """`n` episodes of consecutive seeds, for which the tasks take turns.

    Args:
        ids: Tasks by id or name.
        n: How many.
        seed: Of the first.
        arguments: The envs', such as ``split`` or ``compact``.

    Raises:
        UserError: there is no such task.
    """
    tasks = [spec.id for spec in TaskSource(ids=tuple(ids)).select()]
    return [EpisodeRow(tasks[i % len(tasks)], seed + i, arguments) for i in range(n)]


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as a Parquet file.

    Raises:
        UserError: pyarrow is not installed.
    """
    try:
        from pyarrow import Table, parquet
    except ModuleNotFoundError as error:
        raise UserError(extras.remedy(error) or str(error)) from None
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(Table.from_pylist([dict(row) for row in rows]), path)
