"""ChatEpisode: a task as a conversation, in the content parts of the OpenAI chat API.

Whoever asks a model, and is neither our collector nor our policy, plays through it: it shows what
our own agents show (`PromptBuilder`), reads what models write (the env's dialect) or call (a tool),
and needs no torch.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import SlotResult
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.open_episode import EpisodeRequest, OpenEpisode
from ui_gym_agents.engines.pictures import PictureCache, conversation
from ui_gym_agents.policy.prompts import PromptBuilder

Message = dict[str, Any]
"""``{"role": ..., "content": [{"type": "text", ...} | {"type": "image_url", ...}, ...]}``."""

HISTORY = 3
"""Pictures that are shown, unless a prompt says otherwise."""

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "act",
        "description": "Do something on the screen, and see what comes of it.",
        "parameters": {
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "description": "One action or several, as the instructions say.",
                }
            },
            "required": ["action"],
            "additionalProperties": False,
        },
    },
}
"""The one tool of a model that calls tools rather than writes actions: `ChatEpisode.act` takes its
calls."""


@dataclass(frozen=True)
class ChatStep:
    """What came of an action."""

    messages: list[Message]
    """The next question, whole: what to ask the model with."""
    news: list[Message]
    """What is new in it for who keeps the conversation himself: the screen, as a user's message."""
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated


class ChatEpisode:
    """Episodes of one env, one after the other, as conversations.

    Args:
        env: A `UIEnv`, or the task's id or name.
        prompt: How the model is asked: the system's words, how many pictures are shown. By default
            the dialect's own paragraph, and the last three pictures.
        arguments: Of the env, where its task was named.

    Raises:
        UserError: an argument is unknown, or cannot be.
    """

    def __init__(
        self, env: UIEnv | str, *, prompt: PromptBuilder | None = None, **arguments: Any
    ) -> None:
        if isinstance(env, UIEnv) and arguments:
            raise UserError(f"an env that is made takes no arguments: {', '.join(arguments)}")
        self.env = UIEnv(env, **arguments) if isinstance(env, str) else env
        self.prompt = prompt or PromptBuilder(self._taught(), history=HISTORY)
        self._pictures = PictureCache(self.prompt.history)
        self._open: OpenEpisode | None = None

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> list[Message]:
        """Begin the episode of a seed: the first question.

        Raises:
            DeviceError, TaskError: it could not begin.
        """
        self._open = None
        observation, info = self.env.reset(seed=seed, options=options)
        played = OpenEpisode(EpisodeRequest(seed=info["seed"], task=info["task"]), attempt=0)
        played.note(SlotResult(0, observation, 0.0, False, False, info, is_reset=True))
        self._open = played
        return self.messages

    def act(self, said: str | Mapping[str, Any]) -> ChatStep:
        """Do what a model said: a text in the env's dialect, or a call of `TOOL`.

        A text that says no action costs a step and nothing else, and is told as feedback. So is a
        call of a tool that is not there.

        Raises:
            UserError: no episode is played.
        """
        played = self._played
        text = said if isinstance(said, str) else called(said)
        played.take(Decision(text), 0.0, "")
        result = SlotResult(0, *self.env.step(text))
        played.note(result)
        return ChatStep(
            self.messages, self._news(), result.reward, result.terminated, result.truncated,
            result.info,
        )  # fmt: skip

    @property
    def messages(self) -> list[Message]:
        """The present question, whole.

        Raises:
            UserError: no episode was begun.
        """
        return conversation(self.prompt, self.view, self._pictures.url)

    @property
    def view(self) -> View:
        """What an agent of ours would be shown; raises as `messages` does."""
        return self._played.view(0, 0, whole=False)

    @property
    def info(self) -> Mapping[str, Any]:
        """The env's last info; raises as `messages` does."""
        last = self._played.last
        assert last is not None
        return last.info

    def close(self) -> None:
        """Close the env. May be repeated."""
        self._open = None
        self.env.close()

    @property
    def _played(self) -> OpenEpisode:
        if self._open is None:
            raise UserError("no episode is played: call reset() first")
        return self._open

    def _news(self) -> list[Message]:
        view = self.view
        content: list[dict[str, Any]] = [
            {"type": "text", "text": text} for text in (view.feedback, view.elements) if text
        ]
        if view.screenshots:
            url = self._pictures.url(view.screenshot)
            content.append({"type": "image_url", "image_url": {"url": url}})
        return [{"role": "user", "content": content}]

    def _taught(self) -> str:
        env = self.env
        return env.dialect.prompt(env.size, elements=env.observation_mode != "screenshot")


def called(call: Mapping[str, Any]) -> str:
    """The action text of a call of `TOOL`, as the chat API tells calls, or ``{"name": ...,
    "arguments": ...}``; of another call what no dialect reads, and the env says so."""
    function = call.get("function", call)
    arguments = function.get("arguments") or {}
    with contextlib.suppress(ValueError):
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    if function.get("name") == TOOL["function"]["name"] and isinstance(arguments, Mapping):
        action = arguments.get("action")
        if isinstance(action, str):
            return action
    return f"<tool call {function.get('name')!r} with {arguments!r}>"
