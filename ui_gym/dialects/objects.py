"""Dialects whose actions are JSON objects: what they have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from ui_gym.contract.action import Action, check_points
from ui_gym.dialects.common import check_actions, check_length, has_words
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object, read_objects, write_object
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import NOTHING, Point, Seen
from ui_gym.errors import ActionError

Place = Callable[[Point], Point]
"""A pixel, as the dialect writes it."""


class ObjectDialect(ABC):
    """Reads objects one by one into a `PointerState`, and writes one or more for each action."""

    name: ClassVar[str]
    example: ClassVar[str]
    """How one action is written, for the message to those who wrote none."""

    def parse(self, text: str, size: Size, seen: Seen = NOTHING) -> list[Action]:
        check_length(text)
        pointer = PointerState(size, seen)
        for said in read_objects(text, self.example):
            self.read(Fields(said), pointer, size, seen)
        actions = pointer.done()
        if not actions:
            raise ActionError("parse", f"no action given. Write one, as in {self.example}")
        check_points(actions, size)
        return actions

    def render(self, actions: Sequence[Action], size: Size, thought: str = "") -> str:
        check_actions(actions, size)
        place = self.place(size)
        return self.write([said for a in actions for said in self.say(a, place)], thought)

    def can_say(self, action: Action) -> bool:
        return has_words(self.say, action, lambda point: point)

    def place(self, size: Size) -> Place:
        return lambda point: point

    @abstractmethod
    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        """Do what one object says. Raises `ActionError` if that is wrong."""

    @abstractmethod
    def say(self, action: Action, place: Place) -> list[Object]:
        """The objects that `read` reads as `action`. Raises `ActionError` if there are none."""

    def write(self, objects: list[Object], thought: str) -> str:
        """The objects as text, after the thought."""
        lines = [write_object(said) for said in objects]
        said = lines[0] if len(lines) == 1 else "[" + ",\n ".join(lines) + "]"
        return f"{thought}\nAction: {said}" if thought else said

    @abstractmethod
    def prompt(self, size: Size, *, elements: bool = False) -> str:
        """What a model must be told to write this dialect on a screen of `size`."""
