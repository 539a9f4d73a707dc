"""Actions as lines for a phone's shell: `input` (AOSP ``services/.../input/InputShellCommand``).

Pure functions: what a device must be asked for is in `ScreenScale`.
"""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.contract import action as act
from ui_gym.dialects import keycodes as keys
from ui_gym.errors import ActionError

KEY_COMBINATIONS = 31
"""The API level from which on keys can be pressed together (Android 12)."""

MAX_DELETED = 250
"""The most characters that clearing removes from a field before that level."""

KEYBOARD = "com.android.adbkeyboard"
"""The package of ADBKeyBoard, an input method that types what it is sent in a broadcast."""

MAX_SWIPES = 6
"""Swipes that one scroll is made of at most."""

_EDGE = 0.04
"""Of the width or height, at each edge: swipes there belong to the system."""

_SWIPE_MS = 300


@dataclass(frozen=True)
class ScreenScale:
    """What of a device decides how an action is put.

    `size` is its screen's and `observed` the screenshot's, (width, height) in pixels; `sdk` its API
    level; `typed` the input method that is in use, as ``settings get secure default_input_method``
    tells it.
    """

    size: tuple[int, int]
    observed: tuple[int, int]
    sdk: int = KEY_COMBINATIONS
    typed: str = ""

    def point(self, x: int, y: int) -> tuple[int, int]:
        """The device's pixel in the middle of a pixel of the observation."""
        return (
            _middle(x, self.observed[0], self.size[0]),
            _middle(y, self.observed[1], self.size[1]),
        )


def _middle(at: int, observed: int, size: int) -> int:
    return min(max((2 * at + 1) * size // (2 * observed), 0), size - 1)


def lines(action: act.Action, screen: ScreenScale) -> list[str]:
    """The shell lines of an action, each to be run if the one before it succeeded.

    Raises:
        ActionError: a phone cannot do it (``runtime``), or there is no such key (``argument``).
    """
    lower = _LOWERINGS.get(type(action))
    if lower is None:
        raise ActionError("runtime", f"{action.name} cannot be done on a touch screen")
    return lower(action, screen)


def seconds(action: act.Action) -> float:
    """How long an action takes of itself, in seconds, at least."""
    return float(getattr(action, "seconds", 0.0))


def _click(action: act.Click, screen: ScreenScale) -> list[str]:
    if action.button != "left" or action.keys:
        what = f"{action.button} button" if action.button != "left" else "keys held down"
        raise ActionError(
            "runtime", f"click: a touch screen knows no {what}; use click(x, y) or long_press(x, y)"
        )
    x, y = screen.point(action.x, action.y)
    return [f"input tap {x} {y}"] * action.count


def _long_press(action: act.LongPress, screen: ScreenScale) -> list[str]:
    x, y = screen.point(action.x, action.y)
    return [_swipe((x, y), (x, y), action.seconds)]


def _drag(action: act.Drag, screen: ScreenScale) -> list[str]:
    (x1, y1), (x2, y2) = action.points()
    return [_swipe(screen.point(x1, y1), screen.point(x2, y2), action.seconds)]


def _scroll(action: act.Scroll, screen: ScreenScale) -> list[str]:
    """Swipes the other way; several where the screen ends before the distance does."""
    start = screen.point(action.x, action.y)
    moves = [
        -round(distance * size / observed)
        for distance, size, observed in zip(
            (action.dx, action.dy), screen.size, screen.observed, strict=True
        )
    ]
    swipes: list[str] = []
    while any(moves) and len(swipes) < MAX_SWIPES:
        reach = [
            _clamped(at, move, size)
            for at, move, size in zip(start, moves, screen.size, strict=True)
        ]
        if not any(reach):  # the point lies at the very edge
            break
        swipes.append(_swipe(start, (start[0] + reach[0], start[1] + reach[1]), _SWIPE_MS / 1000))
        moves = [move - done for move, done in zip(moves, reach, strict=True)]
    return swipes


def _clamped(at: int, move: int, size: int) -> int:
    """As much of a move from `at` as stays off the edges; its sign never changes."""
    edge = round(size * _EDGE)
    if move < 0:
        return min(0, max(move, edge - at))
    return max(0, min(move, size - 1 - edge - at))


def _type(action: act.Type, screen: ScreenScale) -> list[str]:
    said = _clear(screen) if action.clear else []
    text = action.text
    for part in re.split(r"([\n\t])", text):
        if part == "\n":
            said.append(f"input keyevent {keys.ENTER}")
        elif part == "\t":
            said.append(f"input keyevent {keys.TAB}")
        elif part:
            said += _typed(part, screen)
    if action.enter:
        said.append(f"input keyevent {keys.ENTER}")
    return said


def _clear(screen: ScreenScale) -> list[str]:
    back = keys.DELETE_BACK
    if screen.sdk >= KEY_COMBINATIONS:
        return [
            f"input keycombination {keys.CTRL_LEFT} {keys.LETTER_A}",
            f"input keyevent {back}",
        ]
    if _has_keyboard(screen):
        return ["am broadcast -a ADB_CLEAR_TEXT"]
    return [f"input keyevent {keys.MOVE_END} {' '.join([str(back)] * MAX_DELETED)}"]


def _typed(text: str, screen: ScreenScale) -> list[str]:
    if text.isascii() and text.isprintable():
        # `input` reads %s as a space, and has no way to write those two signs themselves: they
        # must come by two calls.
        parts = re.split(r"(?<=%)(?=s)", text)
        return [f"input text {shlex.quote(part.replace(' ', '%s'))}" for part in parts]
    if not _has_keyboard(screen):
        raise ActionError(
            "runtime",
            f"type: {act.shorten(text)} holds signs that `input text` cannot type. Install the "
            f"input method ADBKeyBoard ({KEYBOARD}) on the phone and choose it: "
            f"ime enable {KEYBOARD}/.AdbIME; ime set {KEYBOARD}/.AdbIME",
        )
    encoded = base64.b64encode(text.encode()).decode()
    return [f"am broadcast -a ADB_INPUT_B64 --es msg {encoded}"]


def _has_keyboard(screen: ScreenScale) -> bool:
    return screen.typed.startswith(KEYBOARD)


def _press(action: act.Press, screen: ScreenScale) -> list[str]:
    modifiers, others = keys.chord(action.keys)
    if not modifiers:
        return [f"input keyevent {' '.join(map(str, others))}"]
    if screen.sdk < KEY_COMBINATIONS:
        raise ActionError(
            "runtime", f"press: keys can be held together from Android 12 on, not {action.keys!r}"
        )
    if not others:
        return [f"input keyevent {' '.join(map(str, modifiers))}"]
    return [f"input keycombination {' '.join(map(str, [*modifiers, *others]))}"]


def _wait(action: act.Wait, screen: ScreenScale) -> list[str]:
    return [f"sleep {action.seconds:g}"]


def _swipe(start: Sequence[int], end: Sequence[int], lasting: float) -> str:
    ms = max(1, round(lasting * 1000))  # 0 would be taken for the default of 300
    return f"input swipe {start[0]} {start[1]} {end[0]} {end[1]} {ms}"


_LOWERINGS: Mapping[type[act.Action], Callable[[Any, ScreenScale], list[str]]] = {
    act.Click: _click,
    act.LongPress: _long_press,
    act.Drag: _drag,
    act.Scroll: _scroll,
    act.Type: _type,
    act.Press: _press,
    act.Wait: _wait,
}
