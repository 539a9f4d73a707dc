"""Dialects: how models write actions.

A dialect reads what a model wrote, in its way, as canonical actions, writes actions back, and owns
the paragraph of the system prompt that teaches it. Each is imported when it is first asked for.

A distribution that brings a dialect declares its class under the dialect's name, and then
``gym.make(..., dialect=NAME)`` finds it as it finds those that are built in, whose names it cannot
take:

    [project.entry-points."ui_gym.dialects"]
    mine = "my_package.dialect:Mine"
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

from ui_gym import extras
from ui_gym.contract.action import Action
from ui_gym.dialects.seen import NOTHING, Seen
from ui_gym.errors import UserError, nearest

ENTRY_POINT_GROUP = "ui_gym.dialects"

_TABLE: dict[str, str] = {
    "canonical": "ui_gym.dialects.canonical:Canonical",
    "cells": "ui_gym.dialects.cells:Cells",
    "json": "ui_gym.dialects.plainjson:PlainJson",
    "uitars": "ui_gym.dialects.uitars:UITars",
    "uitars15": "ui_gym.dialects.uitars:UITars15",
    "openai": "ui_gym.dialects.openai:OpenAI",
    "anthropic": "ui_gym.dialects.anthropic:Anthropic",
    "anthropic_toolset": "ui_gym.dialects.anthropic_toolset:AnthropicToolset",
    "gemini": "ui_gym.dialects.gemini:Gemini",
    "qwen": "ui_gym.dialects.qwen:Qwen",
    "qwen_mobile": "ui_gym.dialects.qwen:QwenMobile",
    "qwen25": "ui_gym.dialects.qwen:Qwen25",
    "qwen25_mobile": "ui_gym.dialects.qwen:Qwen25Mobile",
    "pyautogui": "ui_gym.dialects.pyautogui:PyAutoGUI",
    "androidworld": "ui_gym.dialects.androidworld:AndroidWorld",
}

DIALECTS: tuple[str, ...] = tuple(_TABLE)
"""The dialects that are built in."""


@runtime_checkable
class Dialect(Protocol):
    """A way to write actions. Immutable: one instance serves every env and thread.

    `size` is always (width, height) of the observed screenshot, in pixels.
    """

    name: str

    def parse(self, text: str, size: tuple[int, int], seen: Seen = NOTHING) -> list[Action]:
        """Read one to `ui_gym.contract.action.MAX_ACTIONS` actions; every point lies on the screen.

        `seen` is what the agent was shown: elements that the text may name by their numbers, and
        where the pointer is, for formats that click where it rests.

        Raises:
            ActionError: whatever is wrong with `text` (``parse``, ``name`` or ``argument``).
                No text makes it raise anything else, and nothing in it is ever executed.
        """

    def render(self, actions: Sequence[Action], size: tuple[int, int], thought: str = "") -> str:
        """Write `actions` so that `parse` reads them back, after `thought` where there is room.

        Raises:
            ActionError: (``name``) the dialect cannot say an action; (``argument``) a point is
                outside the screen; (``parse``) there is no action.
        """

    def prompt(self, size: tuple[int, int], *, elements: bool = False) -> str:
        """What a model must be told to write this dialect on a screen of `size`.

        With `elements`, the observation lists them, and it is told how to name them.
        """

    def can_say(self, action: Action) -> bool:
        """Whether `render` can write `action`, its points being on the screen."""


@functools.cache
def get_dialect(name: str) -> Dialect:
    """The dialect called `name`, built in or installed, imported now if it was not.

    Raises:
        UserError: there is none of this name, or what is installed is none.
    """
    if name in _TABLE:
        module, _, attribute = _TABLE[name].partition(":")
        return cast(Dialect, getattr(importlib.import_module(module), attribute)())
    installed = extras.installed(ENTRY_POINT_GROUP)
    if name not in installed:
        raise UserError(f"there is no dialect {name!r}. {nearest(name, {*DIALECTS, *installed})}")
    made = extras.load("dialect", installed[name], UserError)
    made = made() if callable(made) else made
    if not isinstance(made, Dialect) or made.name != name:
        who = extras.origin("dialect", installed[name])
        raise UserError(f"{who} is {made!r}, and no Dialect whose `name` is {name!r}")
    return made
