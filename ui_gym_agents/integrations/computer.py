"""A task as the computer of OpenAI's Agents SDK, and of cua-agent.

    computer = UIComputer("UI/DataEntry-v0")
    goal = computer.reset(seed=1)
    agent = Agent(name="clerk", model="gpt-5.4", tools=[ComputerTool(computer)])
    result = Runner.run_sync(agent, goal, max_turns=40)
    print(computer.finish(result.final_output))

What is asked for is queued as the dialect ``openai`` writes it, and done in one step once the
screen is looked at, so that a batch of actions is a step, as in our own evaluation. To look when
nothing is queued costs no step. Neither package is needed to import this: `Computer` and
`AsyncComputer` of the Agents SDK, where it is installed, are told that these classes are such;
cua-agent asks for methods alone.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from PIL import Image as PILImage
from PIL import ImageDraw, ImageFont

from ui_gym.contract.action import MAX_TEXT, Action, Answer, Finish
from ui_gym.contract.device import Image
from ui_gym.dialects import get_dialect
from ui_gym.dialects.jsonish import write_object
from ui_gym.dialects.openai import WAIT
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.remote.png import png
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.serving.client import RolloutEnv
from ui_gym_agents.serving.rollout_chat import RolloutChat

OVER = "The episode is over: nothing more is done."

Point = tuple[int, int]
Playable = UIEnv | ChatEpisode | RolloutEnv | str
T = TypeVar("T")


class PlayedTask:
    """A task that somebody else's agent plays, in a dialect that the class names.

    Args:
        env: The task's id or name, an env, an episode, or a rollout of a trainer's, which has the
            score. Each must show pictures.
        arguments: Of the env, where its task was named.

    Raises:
        UserError: an argument cannot be, or the env speaks another dialect or shows no pictures.
    """

    dialect: ClassVar[str]

    def __init__(self, env: Playable, **arguments: Any) -> None:
        self.chat = self._opened(env, arguments)
        self.done = False
        """Whether the episode is over. What is asked for then is not done."""
        self.failure: str | None = None
        """How the device failed, which is no fault of the agent's: play the episode again."""

    def _opened(self, env: Playable, arguments: dict[str, Any]) -> ChatEpisode | RolloutChat:
        if isinstance(env, RolloutEnv):
            return RolloutChat(env, self.dialect)
        if isinstance(env, str):
            arguments = {"dialect": self.dialect} | arguments
        chat = env if isinstance(env, ChatEpisode) else ChatEpisode(env, **arguments)
        found = chat.env
        if found.dialect.name != self.dialect or found.observation_mode == "elements":
            raise UserError(
                f"{type(self).__name__} plays an env with dialect={self.dialect!r} and pictures, "
                f"not {found.dialect.name!r} and observation={found.observation_mode!r}"
            )
        return chat

    @property
    def size(self) -> Point:
        """(width, height) of the screen, pixels."""
        chat = self.chat
        return chat.rollout.size if isinstance(chat, RolloutChat) else chat.env.size

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        """Begin the episode of a seed: the goal, which is what the agent is to be asked for.

        Raises:
            DeviceError, TaskError: it could not begin.
        """
        self.chat.reset(seed=seed, options=options)
        self.done, self.failure = False, None
        return self.goal

    @property
    def goal(self) -> str:
        """The sentence that says what to do. `UserError` before `reset`."""
        return self.chat.view.goal

    @property
    def feedback(self) -> str:
        """What was wrong with the last step, or empty."""
        return OVER if self.done else self.chat.view.feedback

    @property
    def score(self) -> float:
        """What the judge gives for the episode so far, 0 to 1. `DeviceError` where it failed."""
        self._check()
        return float(self.chat.info["score"])

    def finish(self, answer: str | None = None) -> float:
        """End the episode, if nothing else did, with what the agent said last: the score.

        The text is the answer, for tasks that ask for one, up to `MAX_TEXT` characters of it.

        Raises:
            DeviceError: the device failed: play the episode again.
        """
        if not self.done:
            said = (answer or "").encode("utf-8", "replace").decode("utf-8")[:MAX_TEXT]
            last: Action = Answer(said) if said else Finish()
            self._act(get_dialect(self.dialect).render([last], self.size))
        return self.score

    def close(self) -> None:
        """Close the env. May be repeated."""
        self.chat.close()

    def _act(self, text: str) -> None:
        """One step."""
        step = self.chat.act(text)
        self.done, self.failure = step.done, step.info["failure"]
        self._check()

    def _check(self) -> None:
        if self.failure is not None:
            raise DeviceError(f"{self.failure}. Play the episode again")

    def _picture(self) -> str:
        """The screen as base64 of a PNG file; once the episode is over, it says so."""
        image = self.chat.view.screenshot
        return base64.b64encode(png(ended(image) if self.done else image)).decode("ascii")


class UIComputer(PlayedTask):
    """The methods of `agents.Computer`, and some of cua-agent's. See the module.

    A wrong action costs a step in which nothing is done, and `feedback` says what was wrong. The
    interface has no room to tell the agent, but for the picture: once the episode is over, it is
    written there.

    A button that `left_mouse_down` presses is held by this object alone, until `left_mouse_up`
    makes a click or a drag of it: no picture shows it.
    """

    dialect = "openai"
    _queued: list[dict[str, Any]]
    _path: list[Point]
    """Where the pointer was since the button went down; empty where it is up."""
    _at: Point | None

    def __init__(self, env: Playable, **arguments: Any) -> None:
        _tell_agents_sdk()
        super().__init__(env, **arguments)
        self._forget()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        goal = super().reset(seed, options)
        self._forget()
        return goal

    def finish(self, answer: str | None = None) -> float:
        """End the episode, after what is still queued; see `PlayedTask.finish`."""
        self._flush()
        return super().finish(answer)

    @property
    def environment(self) -> Literal["browser", "ubuntu"] | None:
        """As the preview tool calls it; None for a phone."""
        suite = "" if isinstance(self.chat, RolloutChat) else self.chat.env.task.spec.suite
        return {"browser": "browser", "desktop": "ubuntu"}.get(suite)  # type: ignore[return-value]

    @property
    def dimensions(self) -> Point:
        """(width, height) of the screen, pixels."""
        return self.size

    def screenshot(self) -> str:
        """The screen after what is queued was done, as base64 of a PNG file.

        Raises:
            DeviceError: the device failed: play the episode again.
        """
        self._flush()
        return self._picture()

    def click(
        self, x: int, y: int, button: str = "left", *, keys: Sequence[str] | None = None
    ) -> None:
        self._queue("click", keys, x=x, y=y, button=button)

    def double_click(self, x: int, y: int, *, keys: Sequence[str] | None = None) -> None:
        self._queue("double_click", keys, x=x, y=y)

    def scroll(
        self, x: int, y: int, scroll_x: int, scroll_y: int, *, keys: Sequence[str] | None = None
    ) -> None:
        self._queue("scroll", keys, x=x, y=y, scroll_x=scroll_x, scroll_y=scroll_y)

    def type(self, text: str) -> None:
        self._queue("type", None, text=text)

    def wait(self, ms: int = 0) -> None:
        """Wait as the tool does; several times over, where `ms` is longer."""
        for _ in range(max(1, math.ceil(ms / 1000 / WAIT))):
            self._queue("wait", None)

    def move(self, x: int, y: int, *, keys: Sequence[str] | None = None) -> None:
        if self._path:
            self._path.append((x, y))
        else:
            self._queue("move", keys, x=x, y=y)

    def keypress(self, keys: Sequence[str] | str) -> None:
        self._queue("keypress", [keys] if isinstance(keys, str) else keys)

    def drag(
        self, path: Sequence[Point | Mapping[str, int]], *, keys: Sequence[str] | None = None
    ) -> None:
        self._queue("drag", keys, path=list(path))

    def left_mouse_down(self, x: int | None = None, y: int | None = None) -> None:
        start = self._at if x is None or y is None else (x, y)
        if start is None or self._path:
            self._queue("left_mouse_down", None)  # which is refused, and said in the feedback
        else:
            self._path = [start]

    def left_mouse_up(self, x: int | None = None, y: int | None = None) -> None:
        path, self._path = self._path, []
        if not path:
            return self._queue("left_mouse_up", None)  # which is refused
        if x is not None and y is not None:
            path.append((x, y))
        if len(set(path)) == 1:
            return self.click(*path[0])
        return self.drag(path)

    def _forget(self) -> None:
        self._queued, self._path, self._at = [], [], None

    def _queue(self, kind: str, keys: Sequence[str] | None, **fields: Any) -> None:
        if self.done:
            return
        if self._path:  # nothing else is done while the button is down
            self._path = []
            self._queue("left_mouse_down", None)
        held = {"keys": list(keys)} if keys else {}
        self._queued.append({"type": kind} | fields | held)
        if "x" in fields:
            self._at = (fields["x"], fields["y"])

    def _flush(self) -> None:
        self._check()
        queued, self._queued = self._queued, []
        if queued and not self.done:
            self._act("[" + ", ".join(map(write_object, queued)) + "]")
            if self.feedback:
                self._at = None


class AsyncUIComputer:
    """`UIComputer` for `agents.AsyncComputer` and cua-agent's `AsyncComputerHandler`.

    All that waits for the device does so in one thread of its own.
    """

    def __init__(self, env: Playable, **arguments: Any) -> None:
        self.computer = UIComputer(env, **arguments)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ui-gym-computer")

    async def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        return await self._in_thread(lambda: self.computer.reset(seed, options))

    async def finish(self, answer: str | None = None) -> float:
        return await self._in_thread(lambda: self.computer.finish(answer))

    async def close(self) -> None:
        await self._in_thread(self.computer.close)
        self._thread.shutdown()

    @property
    def goal(self) -> str:
        return self.computer.goal

    @property
    def done(self) -> bool:
        return self.computer.done

    @property
    def feedback(self) -> str:
        return self.computer.feedback

    @property
    def score(self) -> float:
        return self.computer.score

    @property
    def environment(self) -> Literal["browser", "ubuntu"] | None:
        return self.computer.environment

    @property
    def dimensions(self) -> Point:
        return self.computer.dimensions

    async def get_environment(self) -> Literal["browser", "linux"]:
        """As cua-agent calls it; a phone is a Linux, too."""
        return "browser" if self.environment == "browser" else "linux"

    async def get_dimensions(self) -> Point:
        return self.dimensions

    async def get_current_url(self) -> str:
        """The tasks' pages have no address that is worth showing."""
        return "about:blank"

    async def screenshot(self, text: str | None = None) -> str:
        """As `UIComputer.screenshot`; `text` is read over, as by all of cua-agent's computers."""
        return await self._in_thread(self.computer.screenshot)

    async def click(
        self, x: int, y: int, button: str = "left", *, keys: Sequence[str] | None = None
    ) -> None:
        self.computer.click(x, y, button, keys=keys)

    async def double_click(self, x: int, y: int, *, keys: Sequence[str] | None = None) -> None:
        self.computer.double_click(x, y, keys=keys)

    async def scroll(
        self, x: int, y: int, scroll_x: int, scroll_y: int, *, keys: Sequence[str] | None = None
    ) -> None:
        self.computer.scroll(x, y, scroll_x, scroll_y, keys=keys)

    async def type(self, text: str) -> None:
        self.computer.type(text)

    async def wait(self, ms: int = 0) -> None:
        self.computer.wait(ms)

    async def move(self, x: int, y: int, *, keys: Sequence[str] | None = None) -> None:
        self.computer.move(x, y, keys=keys)

    async def keypress(self, keys: Sequence[str] | str) -> None:
        self.computer.keypress(keys)

    async def drag(
        self, path: Sequence[Point | Mapping[str, int]], *, keys: Sequence[str] | None = None
    ) -> None:
        self.computer.drag(path, keys=keys)

    async def left_mouse_down(self, x: int | None = None, y: int | None = None) -> None:
        self.computer.left_mouse_down(x, y)

    async def left_mouse_up(self, x: int | None = None, y: int | None = None) -> None:
        self.computer.left_mouse_up(x, y)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def ended(image: Image) -> Image:
    """A picture on which it is written that the episode is over."""
    picture = PILImage.fromarray(image)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(max(10, picture.height // 24))
    pen.rectangle(pen.textbbox((4, 4), OVER, font=font), fill="white")
    pen.text((4, 4), OVER, fill="black", font=font)
    return np.asarray(picture)


@functools.cache
def _tell_agents_sdk() -> None:
    """The SDK takes what its two classes know as theirs."""
    with contextlib.suppress(ImportError):
        from agents import AsyncComputer, Computer

        Computer.register(UIComputer)
        AsyncComputer.register(AsyncUIComputer)
