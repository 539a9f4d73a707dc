"""Actions in the words of ui-verifiers: written for its servers, and read of its clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ui_gym.contract.action import (
    Action,
    Answer,
    Click,
    Finish,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
    shorten,
)  # fmt: skip
from ui_gym.dialects.common import CLICK_NAMES, CLICKS, NOTCH, typed, unknown
from ui_gym.dialects.keys import PYAUTOGUI
from ui_gym.errors import ActionError

NOTCHES = 3
"""What one scroll turns the wheel."""

SCROLL = NOTCHES * NOTCH
"""Pixels that one scroll of theirs shows, as dialects count notches of the wheel."""

MOST_SCROLLS = 20

MOUSE = ("left_click", "right_click", "double_click", "triple_click")
ACTION_TYPES = ("mouse_move", *MOUSE, "type", "keys", "scroll", "answer", "finish")

Query = Mapping[str, str]

N = TypeVar("N", int, float)


def acts(action: Action) -> list[dict[str, object]]:
    """An action in the protocol's words.

    Raises:
        ActionError: (``runtime``) it has none.
    """
    found: list[dict[str, object]] = []
    match action:
        case Click(x=x, y=y, keys="") if action.button != "middle":
            name = CLICK_NAMES.get((action.button, action.count))
            found = [{"action_type": name, "x": x, "y": y}] if name else []
        case Move(x=x, y=y):
            found = [{"action_type": "mouse_move", "x": x, "y": y}]
        case Scroll(x=x, y=y, dx=0, dy=dy) if dy:
            direction = "down" if dy > 0 else "up"
            act: dict[str, object] = {"action_type": "scroll", "x": x, "y": y}
            found = [act | {"direction": direction}] * max(1, round(abs(dy) / SCROLL))
        case Type(text=text) if text.isascii():  # pyautogui leaves out all else, and says nothing
            found = [_keys("ctrl+a"), _keys("delete")] if action.clear else []
            found += [{"action_type": "type", "text": text}] if text else []
            found += [_keys("enter")] if action.enter else []
        case Press(keys=keys) if "+" not in (names := PYAUTOGUI.write(keys)):
            found = [_keys("+".join(names))]
    if not 1 <= len(found) <= MOST_SCROLLS:
        raise ActionError("runtime", f"{shorten(str(action))} cannot be done by ui-verifiers")
    return found


def _keys(names: str) -> dict[str, object]:
    return {"action_type": "keys", "keys": names}


def read_actions(asked: Query, pointer: tuple[int, int]) -> list[Action]:
    """The actions of a query; a scroll without a point is where the pointer rests.

    Raises:
        ActionError: there is no such action, or an argument is missing or wrong.
    """
    action = _action(asked, pointer)
    pause = Wait(_number(asked.get("delay", "0"), "delay", float))
    return [action, pause] if pause.seconds and not action.ends_episode else [action]


def _action(asked: Query, pointer: tuple[int, int]) -> Action:
    match asked.get("action_type", ""):
        case "mouse_move":
            return Move(*_point(asked))
        case kind if kind in MOUSE:
            return Click(*_point(asked), *CLICKS[kind])
        case "type":
            return typed(_needed(asked, "text"))
        case "keys":
            return PYAUTOGUI.press([_needed(asked, "keys").lower()])
        case "scroll":
            x, y = _point(asked) if "x" in asked or "y" in asked else pointer
            return Scroll(x, y, dy=_notches(_needed(asked, "direction")) * NOTCH)
        case "answer":
            return Answer(_needed(asked, "text"))
        case "finish":
            return Finish()
        case kind:
            raise unknown("action_type", kind, (*ACTION_TYPES, "screenshot"))


def _notches(direction: str) -> int:
    if direction.lower() not in ("up", "down"):
        raise ActionError("argument", f"direction is up or down, not {shorten(direction)}")
    return NOTCHES if direction.lower() == "down" else -NOTCHES


def _point(asked: Query) -> tuple[int, int]:
    x, y = (_number(_needed(asked, name), name, int) for name in ("x", "y"))
    return x, y


def _needed(asked: Query, name: str) -> str:
    if name not in asked:
        raise ActionError("argument", f"{asked['action_type']} needs the argument {name}")
    return asked[name]


def _number(said: str, name: str, kind: type[N]) -> N:
    try:
        return kind(said)
    except ValueError:
        words = "a whole number" if kind is int else "a number"
        raise ActionError("argument", f"{name} is {words}, not {shorten(said)}") from None
