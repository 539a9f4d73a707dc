"""Anthropic's models by the Messages API, with its computer tools.

Source of the formats: ``anthropic.types`` of anthropic 2.12 and Anthropic's guide of computer use.
There are three generations of the tool: ``computer_toolset_20260801``, whose every action is a tool
of its own and which the newest models take alone, and two before it, which want a beta header.

The API makes large pictures smaller before a model sees them, and then coordinates are those of the
smaller picture. So a large one is made smaller here, and points are put back where they belong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym_agents.agents.usage import MESSAGES
from ui_gym_agents.agents.vendor import (
    DONE,
    Json,
    Reply,
    VendorAgent,
    VendorQuestion,
    action_text,
    functions,
)

VERSION = "2023-06-01"

LONGEST, PIXELS = 1568, 1_150_000
"""The longest side and the most pixels of a picture that each of their models is shown as it is."""

_CUT = ("max_tokens", "model_context_window_exceeded")
_POINTS = ("coordinate", "start_coordinate")
_FAMILY = "toolset_name"


@dataclass(frozen=True)
class ComputerTool:
    """A generation of the computer tool."""

    type: str
    dialect: str
    beta: str = ""


TOOLSET = ComputerTool("computer_toolset_20260801", "anthropic_toolset")
NEWER = ComputerTool("computer_20251124", "anthropic", "computer-use-2025-11-24")
OLDER = ComputerTool("computer_20250124", "anthropic", "computer-use-2025-01-24")

_BEFORE = (
    (r"claude-3|claude-(opus|sonnet)-4(-[01])?(-\d{8}|$)|claude-(sonnet|haiku)-4-5", OLDER),
    (r"claude-\w+-4-", NEWER),
)
"""Which models have which of the tools before `TOOLSET`; the first that is found counts."""


class AnthropicAgent(VendorAgent):
    """A model of Anthropic's, or of who speaks its Messages API.

    Args:
        tool: The computer tool; the one that its model is made for if None.
        rest: As for `VendorAgent`.
    """

    prefix = "anthropic:"
    server = "https://api.anthropic.com/v1"
    keys = ("ANTHROPIC_API_KEY",)
    example = "claude-opus-5-5"
    key_header = "x-api-key"
    usage = MESSAGES

    def __init__(
        self, model: str, url: str | None = None, *, tool: ComputerTool | None = None, **rest: Any
    ) -> None:
        self.tool = tool or tool_of(model)
        super().__init__(model, url, **rest)

    @classmethod
    def dialects(cls, model: str) -> tuple[str, ...]:
        own = tool_of(model).dialect
        return tuple(sorted({TOOLSET.dialect, NEWER.dialect}, key=lambda name: name != own))

    @classmethod
    def spoken(cls, model: str, dialect: str | None) -> Json:
        fitting = (tool_of(model), TOOLSET, NEWER)
        return {"tool": next((tool for tool in fitting if tool.dialect == dialect), None)}

    def headers(self) -> dict[str, str]:
        beta = {"anthropic-beta": self.tool.beta} if self.tool.beta else {}
        return {"anthropic-version": VERSION} | beta

    def path(self) -> str:
        return "/messages"

    def payload(self, words: str, questions: Sequence[VendorQuestion]) -> Json:
        messages: list[Json] = []
        calls: Sequence[Json] = ()
        for question in questions:
            messages.append({"role": "user", "content": self._shown(question, calls)})
            if question.reply is not None:
                calls = question.reply.calls
                if said := question.reply.items or _plain(question.reply.action_text):
                    messages.append({"role": "assistant", "content": said})
        asked: Json = {
            "model": self.model,
            "max_tokens": self.max_new_tokens,
            "messages": messages,
            "tools": [self._computer(questions[-1]), *_functions()],
            "cache_control": {"type": "ephemeral"},
        }
        return asked | ({"system": words} if words else {})

    def read(self, found: Any, asked: VendorQuestion) -> Reply:
        items = list(found["content"])
        is_cut = found["stop_reason"] in _CUT
        if is_cut and items:
            items.pop()  # half of it is missing
        calls = [item for item in items if item["type"] == "tool_use"]
        said = [said for item in items for said in _said(item, scale_of(asked.picture))]
        if not said or found["stop_reason"] == "refusal" or (is_cut and not calls):
            return Reply("")
        return Reply(action_text(said), items, calls)

    def _computer(self, asked: VendorQuestion) -> Json:
        if self.tool is TOOLSET:
            off = {name: {"enabled": False} for name in ("cursor_position", "zoom")}
            return {"type": self.tool.type, "configs": off}
        height, width = smaller(asked.picture).shape[:2]
        return {
            "type": self.tool.type,
            "name": "computer",
            "display_width_px": width,
            "display_height_px": height,
        }

    def _shown(self, question: VendorQuestion, calls: Sequence[Json]) -> list[Json]:
        """Answers to all calls; the last holds the words and the picture, if there is any."""
        url = self._pictures.url(smaller(question.picture))
        source = {"type": "base64", "media_type": "image/png", "data": url.partition(",")[2]}
        shown: list[Json] = [{"type": "image", "source": source}]
        if question.text:
            shown.insert(0, {"type": "text", "text": question.text})
        done = [{"type": "text", "text": DONE}]
        answers = [_answer(call, shown if call is calls[-1] else done) for call in calls]
        return answers or shown


def tool_of(model: str) -> ComputerTool:
    """The computer tool that a model is made for: the newest, where its name says nothing."""
    return next((tool for names, tool in _BEFORE if re.search(names, model)), TOOLSET)


def scale_of(picture: Image) -> float:
    """How much smaller a picture is shown, in (0, 1]."""
    height, width = picture.shape[:2]
    fitting: float = min(1.0, LONGEST / max(height, width), math.sqrt(PIXELS / (height * width)))
    return fitting


def smaller(picture: Image) -> Image:
    """A picture as it is shown: none that is small enough is touched."""
    scale = scale_of(picture)
    if scale == 1.0:
        return picture
    height, width = (max(1, int(side * scale)) for side in picture.shape[:2])
    return np.asarray(PILImage.fromarray(picture).resize((width, height)))


def _answer(call: Json, content: list[Json]) -> Json:
    # No `is_error` where an action failed: a result with it may not hold the picture.
    answer: Json = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
    return answer | ({_FAMILY: call[_FAMILY]} if call.get(_FAMILY) else {})


def _functions() -> list[Json]:
    return [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in functions()
    ]


def _said(item: Json, scale: float) -> list[Json]:
    """What a block is in the tool's dialect."""
    if item["type"] == "text":
        return [{"type": "text", "text": item["text"]}] if item["text"].strip() else []
    if item["type"] != "tool_use":
        return []
    own = {key: item[key] for key in ("type", "name", _FAMILY) if item.get(key)}
    return [
        own | {"input": {key: _back(key, value, scale) for key, value in item["input"].items()}}
    ]


def _back(key: str, value: Any, scale: float) -> Any:
    """An argument of a call; a point as it is on the whole picture."""
    whole = scale == 1.0 or key not in _POINTS or not isinstance(value, list)
    if whole or not all(isinstance(side, int | float) for side in value):
        return value
    return [int((side + 0.5) / scale) for side in value]


def _plain(text: str) -> list[Json]:
    return [{"type": "text", "text": text}] if text.strip() else []
