"""What dialects share: limits, and conventions where their formats leave something open."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from ui_gym.contract.action import (
    MAX_ACTIONS,
    Action,
    Button,
    Outcome,
    Type,
    check_points,
    shorten,
)
from ui_gym.errors import ActionError, nearest

MAX_OUTPUT = 100_000
"""The longest text that a dialect reads, in characters: no step needs more."""

DIRECTIONS = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}
"""The side of which more is to be shown, as signs of (dx, dy)."""

CLICKS: dict[str, tuple[Button, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
"""What Anthropic and Qwen call clicks: the button, and how often."""

CLICK_NAMES = {click: name for name, click in CLICKS.items()}

OUTCOMES: dict[str, Outcome] = {outcome: outcome for outcome in get_args(Outcome)}

NOTCH = 100
"""What one notch of a mouse wheel scrolls, in pixels, where a format counts notches."""


def check_length(text: str) -> None:
    """`ActionError` (``parse``) for a text longer than `MAX_OUTPUT`."""
    if len(text) > MAX_OUTPUT:
        raise ActionError("parse", f"{len(text)} characters are no action; at most {MAX_OUTPUT}")


def check_actions(actions: Sequence[Action], size: tuple[int, int]) -> None:
    """`ActionError` unless there are 1 to `MAX_ACTIONS` actions with all points on the screen."""
    if not 1 <= len(actions) <= MAX_ACTIONS:
        raise ActionError("parse", f"a step holds 1 to {MAX_ACTIONS} actions, not {len(actions)}")
    check_points(actions, size)


def typed(text: str) -> Type:
    """What a typed text is where the format has no Enter of its own: a newline at its end."""
    return Type(text.removesuffix("\n"), enter=text.endswith("\n"))


def typing(action: Type) -> str | None:
    """The text that `typed` reads as `action`; None if there is none."""
    if action.clear or (action.text.endswith("\n") and not action.enter):
        return None
    return action.text + "\n" * action.enter


def unknown(what: str, name: str, known: Iterable[str]) -> ActionError:
    """The error of a name that is not `known`, which says which are."""
    return ActionError("name", f"there is no {what} {shorten(name)}. {nearest(name, known)}")


def speechless(dialect: str, action: Action) -> ActionError:
    """The error of an action that a dialect cannot say."""
    return ActionError("name", f"{dialect} has no words for {shorten(str(action))}")


def has_words(say: Callable[..., object], *arguments: object) -> bool:
    """Whether a dialect's `say` writes an action, rather than raise `ActionError`."""
    try:
        say(*arguments)
    except ActionError:
        return False
    return True


@contextlib.contextmanager
def written(name: str, usage: str) -> Iterator[None]:
    """Add to an error of an argument whose it is, and how it is written rightly."""
    try:
        yield
    except ActionError as error:
        if error.kind != "argument":
            raise
        message = f"{shorten(name)[1:-1]}: {error}. It is written {usage}"
        raise ActionError("argument", message) from None
