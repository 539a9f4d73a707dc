"""What the APIs of agents share: what is asked of the policy, errors, and pictures."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.pictures import decoded
from ui_gym_agents.serving.rollouts import Rollout, RolloutError, Said

Json = dict[str, Any]

MOST_PIXELS = 1 << 27
"""Of a request's pictures together."""


@dataclass(frozen=True)
class Words:
    """Chat messages with places for pictures, as the model's template takes them."""

    messages: Sequence[Json]
    images: Sequence[Image]
    tools: Sequence[Json] = ()

    @property
    def calls(self) -> bool:
        """Whether tools are offered, or were called."""
        return bool(self.tools) or any("tool_calls" in message for message in self.messages)


@dataclass(frozen=True)
class Wrote:
    """What was sampled: its words, whether the limit of tokens cut them, and tokens of both."""

    said: Said
    finish: str
    """``stop`` or ``length``."""


class AgentWire(Protocol):
    """An API: reads requests, writes answers."""

    def read(self, body: Json, rollout: Rollout) -> Words | View | Json:
        """What the policy is asked; or the answer itself, where nothing is to be asked.

        A `View` is put into words as the policy was trained to be asked.

        Raises:
            RolloutError: the request cannot be.
        """

    def write(self, body: Json, rollout: Rollout, wrote: Wrote, id: str) -> Json:
        """The body of the answer. `id` is 24 hexadecimal digits, the same for the same sample."""

    def events(self, answer: Json, body: Json) -> Iterator[str]:
        """The answer as server-sent events, where a stream was asked for."""


def failure(status: int, message: str) -> Json:
    """An error as OpenAI's API words it."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def refuse(message: str) -> RolloutError:
    """What a request that cannot be answered raises."""
    return RolloutError(400, message)


def check(body: Json, refused: Mapping[str, Callable[[Any], bool]]) -> None:
    """Refuse what the sampler cannot do, and an answer without which would be another one.

    Args:
        body: A request.
        refused: By the name of a field, whether its value is refused.
    """
    for name, is_refused in refused.items():
        if body.get(name) is not None and is_refused(body[name]):
            raise refuse(
                f"{name} {json.dumps(body[name])[:80]} is not to be had here: leave it out"
            )


def picture(url: Any, earlier: Sequence[Image]) -> Image:
    """The picture of a data URL, shape (height, width, 3), uint8.

    Args:
        earlier: The pictures that the same request had before it.

    Raises:
        RolloutError: it is none; nothing is fetched from elsewhere.
    """
    head, comma, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise refuse("a picture is sent as a data URL (data:image/png;base64,...)")
    room = MOST_PIXELS - sum(image.shape[0] * image.shape[1] for image in earlier)
    try:
        file = base64.b64decode(data, validate=True)
        return np.asarray(decoded(file, most_pixels=room), dtype=np.uint8)
    except (ValueError, UserError) as error:
        raise refuse(f"a picture cannot be read: {error}") from None


def objects(value: Any, what: str) -> list[Json]:
    """`value` as a list of JSON objects; `RolloutError` where it is none."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise refuse(f"{what} is no list of objects")
    return value


def event(value: Json | str, name: str = "") -> str:
    """A server-sent event."""
    text = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
