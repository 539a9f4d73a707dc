"""What recorded texts did: each is read again beside what its agent was shown when it wrote it."""

from __future__ import annotations

from collections.abc import Iterable

from ui_gym.contract.action import Action
from ui_gym.contract.device import Element
from ui_gym.dialects import Dialect
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError


def reread(
    turns: Iterable[tuple[str, str]], dialect: Dialect, size: tuple[int, int]
) -> list[list[Action]]:
    """The actions of each turn of an episode; none of a text that was refused.

    A turn is what was written, and the elements that were listed then ("" if none were). `size`
    is (width, height) of the screenshots.
    """
    done: list[list[Action]] = []
    pointer: Point | None = None
    for text, elements in turns:
        shown = tuple(filter(None, map(Element.read, elements.split("\n"))))
        try:
            actions = dialect.parse(text, size, Seen(shown, pointer))
        except ActionError:
            actions = []
        for action in actions:
            if action.points():
                pointer = action.points()[-1]
        done.append(actions)
    return done
