"""A sample of Inspect's as an episode of ours: opened, played by tools, and closed by its uuid.

Envs block, and Inspect's samples share one thread: each env is played in a thread of its own. A
sample that is cancelled leaves its thread at once, and closing takes its device away.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter, Semaphore, to_thread
from inspect_ai.model import Content, ContentImage, ContentText, Model
from inspect_ai.solver import TaskState
from inspect_ai.util import Store, store

from ui_gym.contract.action import MAX_ACTIONS, Action, Finish
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.engines.pictures import data_url
from ui_gym_agents.integrations.inspect_words import ShownScreen, is_held, spoken, zoomed

DIALECT = "anthropic"
"""What the envs read."""

OVER = "The task is over."
HELD = "The button is held: what you do now is done once you release it."
SKIPPED = "Not done, since an action before it, in the same turn, went wrong."

NAMED = ("adb", "adb-direct", "osworld")
"""Devices that are named, each for one sample at a time."""

FRAME = (1366, 768)
"""The size that Inspect tells some vendors that every screen has, or reckons their points by."""

KEY = "ui_gym_episode"
"""Where a sample's store has the name of its episode."""

T = TypeVar("T")


class SampleEpisode:
    """The episode of one sample. Its methods are those of the sample's own tasks."""

    def __init__(self, env: UIEnv, frame: tuple[int, int] | None = None) -> None:
        self.chat = ChatEpisode(env)
        self.screen = ShownScreen(env.size, frame)
        self.over = False
        self.wrong = False
        """Whether an action of this turn went wrong: the rest of the turn is not done."""
        self.idle = True
        """Whether nothing was done yet in this turn."""
        self._held: list[dict[str, Any]] = []
        self._thread = ThreadPoolExecutor(1, "ui-gym-inspect")
        self._last: Future[Any] | None = None

    async def begin(self, seed: int, options: dict[str, Any]) -> None:
        """Begin the episode. Raises what `UIEnv.reset` raises."""
        await self._play(lambda: self.chat.reset(seed=seed, options=options))

    async def use(self, arguments: Mapping[str, Any]) -> list[Content]:
        """Do what a call of the computer tool says: a step, and what came of it.

        While the mouse button is held, calls are put by, for it is held within a step alone.

        Raises:
            DeviceError: the device failed, and with it the sample.
        """
        if self.over:
            return [ContentText(text=OVER)]
        if self.wrong:
            return [ContentText(text=SKIPPED)]
        self._held += spoken(arguments, self.screen)
        if is_held(self._held) and len(self._held) < MAX_ACTIONS:
            self.idle = False
            return [ContentText(text=HELD), *self.shown()]
        said, self._held = self._held, []
        await self.act(json.dumps(said))
        return self.shown(arguments)

    async def act(self, said: str | Action) -> None:
        """Do an action, or what a text in the dialect says; raises as `use` does."""
        if isinstance(said, Action):
            said = self.chat.env.dialect.render([said], self.chat.env.size)
        text = said
        step = await self._play(lambda: self.chat.act(text))
        self.idle, self.over = False, step.done
        self.wrong = step.info["action_error"] is not None
        if failure := step.info["failure"]:
            raise DeviceError(failure)

    async def finish(self) -> Mapping[str, Any]:
        """The env's last info. What nobody ended ends here, and was not called done.

        Raises:
            DeviceError: the device failed: there is no score.
        """
        if not self.over:
            await self.act(Finish("failure"))
        if failure := self.chat.info["failure"]:
            raise DeviceError(failure)
        return self.chat.info

    async def end_turn(self) -> str:
        """What was wrong in this turn, or nothing. A turn that did nothing costs a step, too."""
        if self.idle and not self.over:
            await self.act("")
        wrong = self.wrong
        self.idle, self.wrong = True, False
        return self.chat.view.feedback if wrong else ""

    def shown(self, arguments: Mapping[str, Any] | None = None) -> list[Content]:
        """What is to be told and seen now, after a call with these arguments."""
        view = self.chat.view
        texts = [view.feedback, view.elements, OVER if self.over else ""]
        content: list[Content] = [ContentText(text=text) for text in texts if text]
        if view.screenshots:
            picture = self.screen.show(view.screenshot)
            part = zoomed(arguments or {}, picture)
            url = data_url(picture if part is None else part)
            content.append(ContentImage(image=url, detail="high"))
        return content

    async def close(self) -> None:
        """Close the env; where it is in the middle of a step, its device is taken away."""
        with CancelScope(shield=True):
            await to_thread.run_sync(self._close, limiter=CapacityLimiter(1))

    def _close(self) -> None:
        if self._last is not None and not self._last.done():
            self.chat.env.abandon()
        self._thread.submit(self.chat.close).result()
        self._thread.shutdown()

    async def _play(self, play: Callable[[], T]) -> T:
        self._last = answer = self._thread.submit(play)
        limiter = CapacityLimiter(1)  # each waits in a thread, and Inspect may want many samples
        return await to_thread.run_sync(answer.result, abandon_on_cancel=True, limiter=limiter)


class SampleEnvs:
    """The envs of an Inspect task: copies of one, for the samples in progress; the rest wait.

    There are `most` of them at once, and no more than machines where these are named.
    """

    def __init__(self, env: UIEnv, device: str, most: int) -> None:
        self._env = env
        kind, _, names = device.partition(":")
        self._free = Semaphore(min(most, names.count(",") + 1) if kind in NAMED else most)

    async def open(self, state: TaskState, model: Model) -> SampleEpisode:
        """Begin the episode that a sample's metadata name.

        Raises:
            DeviceError: the device failed three times in a row.
        """
        await self._free.acquire()
        episode = _OPEN[state.uuid] = SampleEpisode(self._env.clone(), assumed_screen(model))
        state.store.set(KEY, state.uuid)
        named = state.metadata
        options = {"task": named["play"], "split": named["split"], **named.get("options", {})}
        await episode.begin(named["seed"], options)
        return episode

    async def close(self, state: TaskState) -> None:
        """End what `open` began. May be repeated."""
        episode = _OPEN.pop(state.uuid, None)
        if episode is None:
            return
        try:
            await episode.close()
        finally:
            self._free.release()


_OPEN: dict[str, SampleEpisode] = {}
"""The episodes in progress, by their samples' uuid."""


def episode_of(known: Store | None = None) -> SampleEpisode:
    """The episode of the sample of a store; by default, of the present sample.

    Raises:
        UserError: it is no sample of our tasks, or is closed.
    """
    episode = _OPEN.get((known or store()).get(KEY, ""))
    if episode is None:
        raise UserError(
            "no episode is played: this belongs to the tasks ui_gym/browser, ui_gym/android, "
            "ui_gym/desktop and ui_gym/osworld"
        )
    return episode


def assumed_screen(model: Model) -> tuple[int, int] | None:
    """`FRAME` where Inspect assumes it of this model's own computer tool, else None.

    As of inspect_ai 0.3.285: of Claude's older tool, not of the toolset; of Gemini's tool.
    """
    api: Any = model.api
    if hasattr(api, "computer_use_toolset"):
        return None if api.computer_use_toolset() else FRAME
    native = ("gemini-2.5-computer-use-preview", "gemini-3-flash-preview")
    return FRAME if any(name in model.name for name in native) else None
