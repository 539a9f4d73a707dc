"""What an agent is shown: pictures, the elements as text, both, or pictures with marks.

``som`` (set of marks) is a picture on which every element has a frame and its number, beside the
list of the elements; a dialect names them by these numbers (``tag_12``, ``element=12``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image as PILImage
from PIL import ImageDraw, ImageFont

from ui_gym.contract.device import Element, Image
from ui_gym_agents.agents.agent import Agent, AroundAgent, Decision, Submit, View, submitter
from ui_gym_agents.policy.prompts import Message, PromptBuilder

_FRAME = (220, 30, 30)
_LABEL = (255, 255, 255)
_FONT_SIZE = 13
"""Pixels."""


class TextPrompt(PromptBuilder):
    """A prompt without pictures, for agents that read the accessibility tree alone."""

    def build(self, view: View) -> tuple[list[Message], int]:
        messages, _ = super().build(view)
        return [{**message, "content": _texts(message)} for message in messages], 0


class UITarsPrompt(PromptBuilder):
    """How UI-TARS was trained to be asked: its words and the task in one message of the user, then
    pictures and answers in turn. Source: https://github.com/bytedance/UI-TARS, ``codes``."""

    def build(self, view: View) -> tuple[list[Message], int]:
        bare = PromptBuilder(
            history=self.history, recall=self.recall, system="", feedback=self.feedback,
            elements=self.elements,
        )  # fmt: skip
        messages, shown = bare.build(view)
        first = messages[0]
        task = "".join(part["text"] for part in _texts(first))
        opening = f"{self.dialect_prompt}\n\n## User Instruction\n{task}"
        pictures = [part for part in first["content"] if part["type"] == "image"]
        messages[0] = {**first, "content": [{"type": "text", "text": opening}, *pictures]}
        return [_message("system", self.system), *messages], shown


class Marked(AroundAgent):
    """An agent that sees every picture with the marks of its elements."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._pictures: dict[int, list[Image]] = {}

    def act(self, views: Sequence[View]) -> Sequence[Decision]:
        """The agent's decisions."""
        return self._agent.act([self._marked(view) for view in views])

    @property
    def submit(self) -> Submit | None:
        """Asks for one view's decision, if the agent answers one by one."""
        submit = submitter(self._agent)
        return None if submit is None else lambda view: submit(self._marked(view))

    def ended(self, slot: int) -> None:
        """The episode of a slot is over."""
        self._pictures.pop(slot, None)
        super().ended(slot)

    def _marked(self, view: View) -> View:
        pictures = self._pictures.setdefault(view.slot, [])
        if not view.turns:
            pictures.clear()
        for index in range(len(pictures), len(view.screenshots)):
            older = index < len(view.turns)
            elements = view.turns[index].elements if older else view.elements
            pictures.append(mark(view.screenshots[index], elements))
        return dataclasses.replace(view, screenshots=tuple(pictures))


def mark(image: Image, elements: str) -> Image:
    """A copy of a picture with a frame and a number for each element, as they are listed."""
    drawn = PILImage.fromarray(image)
    draw = ImageDraw.Draw(drawn)
    font = ImageFont.load_default(_FONT_SIZE)
    for element in filter(None, map(Element.read, elements.split("\n"))):
        left, top, width, height = element.box
        if width < 1 or height < 1:
            continue
        draw.rectangle((left, top, left + width - 1, top + height - 1), outline=_FRAME)
        label = str(element.id)
        at = (max(0, left) + 2, max(0, top) + 1)
        x1, y1, x2, y2 = draw.textbbox(at, label, font)
        draw.rectangle((x1 - 2, y1 - 2, x2 + 1, y2 + 1), fill=_FRAME)
        draw.text(at, label, fill=_LABEL, font=font)
    return np.asarray(drawn)


def _message(role: str, text: str) -> Message:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _texts(message: Message) -> list[dict[str, Any]]:
    return [part for part in message["content"] if part["type"] != "image"]
