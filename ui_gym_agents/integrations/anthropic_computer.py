"""A task as a toolset of Anthropic's SDK: ``computer_toolset_20260801``.

    toolset = UIToolset("UI/DataEntry-v0")
    goal = toolset.reset(seed=1)
    last = client.beta.messages.tool_runner(
        model="claude-opus-5-5", max_tokens=4096, tools=[toolset],
        messages=[{"role": "user", "content": goal}],
    ).until_done()
    print(toolset.finish(text_of(last)))

Each member that acts is a step of the env, in the words of the dialect ``anthropic_toolset``: what
the model reads of it must be true at once. An episode that is measured by steps may so need more
`max_steps` than with agents that act several times between two looks. To look costs none:
``screenshot``, ``zoom`` and ``cursor_position`` are answered here. What is wrong with an action is
told as an error, and so is that the episode is over.
"""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Callable, Iterable
from typing import Any

from PIL import Image as PILImage

from ui_gym.dialects.jsonish import write_object
from ui_gym.errors import UIGymError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.integrations.computer import OVER, PlayedTask, Point

try:
    from anthropic.tools import ToolError, ToolsetUsageError
    from anthropic.tools.computer import (
        BetaAbstractComputerToolset20260801,
        BetaAsyncAbstractComputerToolset20260801,
        BetaComputerCursorPositionResult,
        BetaComputerMemberResult,
        BetaScreenshotResult,
        BetaToolsetCallContext,
    )
except ImportError as error:
    raise UserError(
        f"{error}: anthropic.tools.computer is in Anthropic's SDK from 2.12 on; to get it: "
        "pip install 'ui-gym[browser]' 'anthropic>=2.12,<3'"
    ) from None

_WHILE_DOWN = ("mouse_move", "wait", "left_mouse_up")
"""What can be done while the button is down: then all is one action."""


class ToolsetTask(PlayedTask):
    """What members do, for both toolsets."""

    dialect = "anthropic_toolset"

    def __init__(self, env: UIEnv | ChatEpisode | str, **arguments: Any) -> None:
        super().__init__(env, **arguments)
        self._forget()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> str:
        goal = super().reset(seed, options)
        self._forget()
        return goal

    def member(self, name: str, told: dict[str, Any]) -> BetaComputerMemberResult:
        """Do what a member is asked for: a picture, a place, a line, or nothing to add.

        Raises:
            ToolError: it cannot be done; the model reads why.
            ToolsetUsageError: no episode was begun, or the device failed; the run stops.
        """
        try:
            return self._member(name, told)
        except UIGymError as error:
            raise ToolsetUsageError(f"{type(error).__name__}: {error}") from error

    def _member(self, name: str, told: dict[str, Any]) -> BetaComputerMemberResult:
        if self.done:
            raise ToolError(OVER)
        match name:
            case "screenshot":
                return BetaScreenshotResult(data=self._picture())
            case "zoom":
                return BetaScreenshotResult(data=self._zoomed(told["region"]))
            case "cursor_position":
                if self._at is None:
                    raise ToolError("The cursor was not moved yet, so nobody knows where it is.")
                return BetaComputerCursorPositionResult(x=self._at[0], y=self._at[1])
        self._do(name, told)
        return OVER if self.done else None

    def _forget(self) -> None:
        self._down: list[str] = []
        """The calls since the button went down; empty where it is up."""
        self._at: Point | None = None

    def _do(self, name: str, told: dict[str, Any]) -> None:
        call = {"type": "tool_use", "name": name, "toolset_name": "computer", "input": told}
        if self._down and name not in _WHILE_DOWN:
            raise ToolError(f"{name}: release the mouse button first")
        if self._down or name == "left_mouse_down":
            self._down.append(write_object(call))
            if name != "left_mouse_up":
                return self._note(told)
        calls, self._down = self._down or [write_object(call)], []
        self._act("[" + ", ".join(calls) + "]")
        if not self.done and self.feedback:
            raise ToolError(self.feedback)
        return self._note(told)

    def _note(self, told: dict[str, Any]) -> None:
        if (point := told.get("coordinate")) is not None:
            self._at = (point[0], point[1])

    def _zoomed(self, region: Iterable[int]) -> str:
        """A part of the screen, as large as the screen allows, as base64 of a PNG file."""
        width, height = self.size
        left, top, right, bottom = region
        if not (0 <= left < right <= width and 0 <= top < bottom <= height):
            raise ToolError(f"region: [x0, y0, x1, y1] within the screen of {width}x{height}")
        part = PILImage.fromarray(self.chat.view.screenshot).crop((left, top, right, bottom))
        scale = min(width / part.width, height / part.height)
        size = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
        file = io.BytesIO()
        part.resize(size, PILImage.Resampling.LANCZOS).save(file, "PNG")
        return base64.b64encode(file.getvalue()).decode("ascii")


def _allowed(context: Any) -> bool:
    """The SDK asks before anything is typed. A task's device is there to be typed on."""
    return True


class UIToolset(ToolsetTask, BetaAbstractComputerToolset20260801):
    """The toolset for `Anthropic`. See the module.

    Args:
        env: The task's id or name, an env, or an episode.
        configs: Members that are switched off, as the SDK has it.
        confirm: Asked before each call of a member; by default all are allowed.
        arguments: Of the env, where its task was named.
    """

    def __init__(
        self,
        env: UIEnv | ChatEpisode | str,
        *,
        configs: Any = None,
        confirm: Callable[[Any], bool] = _allowed,
        **arguments: Any,
    ) -> None:
        ToolsetTask.__init__(self, env, **arguments)
        BetaAbstractComputerToolset20260801.__init__(self, configs=configs, confirm=confirm)

    def execute(
        self, context: BetaToolsetCallContext, name: Any, input: Any
    ) -> BetaComputerMemberResult:
        return self.member(name, input.model_dump(exclude_none=True))

    def close(self) -> None:
        """Close the toolset, and then the env. May be repeated."""
        BetaAbstractComputerToolset20260801.close(self)
        ToolsetTask.close(self)


class AsyncUIToolset(ToolsetTask, BetaAsyncAbstractComputerToolset20260801):
    """The toolset for `AsyncAnthropic`; see `UIToolset`. Members act in threads, one at a time.

    `reset` and `finish` are those of the other: a program of asyncio calls them in a thread.
    """

    def __init__(
        self,
        env: UIEnv | ChatEpisode | str,
        *,
        configs: Any = None,
        confirm: Callable[[Any], Any] = _allowed,
        **arguments: Any,
    ) -> None:
        ToolsetTask.__init__(self, env, **arguments)
        BetaAsyncAbstractComputerToolset20260801.__init__(self, configs=configs, confirm=confirm)

    async def execute(
        self, context: BetaToolsetCallContext, name: Any, input: Any
    ) -> BetaComputerMemberResult:
        return await asyncio.to_thread(self.member, name, input.model_dump(exclude_none=True))

    async def close(self) -> None:  # type: ignore[override]
        """Close the toolset, and then the env. May be repeated."""
        await BetaAsyncAbstractComputerToolset20260801.close(self)
        await asyncio.to_thread(ToolsetTask.close, self)
