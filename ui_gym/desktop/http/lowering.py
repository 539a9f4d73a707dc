"""Actions as the pyautogui code that is sent to a machine of OSWorld's.

The code is ours: numbers, and what a model wrote as Python literals. Text never becomes code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ui_gym.contract.action import (
    Action,
    Click,
    Drag,
    LongPress,
    Move,
    Press,
    Scroll,
    Type,
    shorten,
    split_keys,
)
from ui_gym.dialects.common import NOTCH
from ui_gym.dialects.keys import PYAUTOGUI
from ui_gym.errors import ActionError, nearest

PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False"
"""What OSWorld's own client begins every script with."""

PASTED = "pyperclip"
"""What scripts need that hold text which pyautogui cannot type."""

MAX_NOTCHES = 200
"""The most notches of the wheel that one action may turn."""

KEYS = frozenset([
    "accept", "add", "alt", "altleft", "altright", "apps", "backspace", "browserback",
    "browserfavorites", "browserforward", "browserhome", "browserrefresh", "browsersearch",
    "browserstop", "capslock", "clear", "convert", "ctrl", "ctrlleft", "ctrlright", "decimal",
    "del", "delete", "divide", "down", "end", "enter", "esc", "escape", "execute", "final", "fn",
    "hanguel", "hangul", "hanja", "help", "home", "insert", "junja", "kana", "kanji", "launchapp1",
    "launchapp2", "launchmail", "launchmediaselect", "left", "modechange", "multiply", "nexttrack",
    "nonconvert", "numlock", "pagedown", "pageup", "pause", "pgdn", "pgup", "playpause",
    "prevtrack", "print", "printscreen", "prntscrn", "prtsc", "prtscr", "return", "right",
    "scrolllock", "select", "separator", "shift", "shiftleft", "shiftright", "sleep", "space",
    "stop", "subtract", "tab", "up", "volumedown", "volumemute", "volumeup", "win", "winleft",
    "winright", "yen", "command", "option", "optionleft", "optionright",
    *(f"f{number}" for number in range(1, 25)), *(f"num{number}" for number in range(10)),
])  # fmt: skip
"""The names that ``pyautogui.KEYBOARD_KEYS`` has beside single characters. Of others, pyautogui
takes no notice, and says nothing."""


def script(lines: Sequence[str]) -> str:
    """The lines as one script, as OSWorld's client sends them."""
    needs = f"; import {PASTED}" if any(line.startswith(PASTED) for line in lines) else ""
    return "; ".join([PREFIX + needs, *lines])


def lower(action: Action) -> list[str]:
    """The statements that do `action`.

    Raises:
        ActionError: (``runtime``) pyautogui has no way to do it.
    """
    match action:
        case Click(x=x, y=y, button=button, count=count, keys=held):
            names = _names(held) if held else []
            return [
                *(f"pyautogui.keyDown({name!r})" for name in names),
                f"pyautogui.click({x}, {y}, clicks={count}, button={button!r})",
                *(f"pyautogui.keyUp({name!r})" for name in reversed(names)),
            ]
        case LongPress(x=x, y=y, seconds=seconds):
            return [
                f"pyautogui.mouseDown({x}, {y})",
                f"time.sleep({seconds!r})",
                "pyautogui.mouseUp()",
            ]
        case Move(x=x, y=y):
            return [f"pyautogui.moveTo({x}, {y})"]
        case Drag(x1=x1, y1=y1, x2=x2, y2=y2, seconds=seconds):
            drag = f"pyautogui.dragTo({x2}, {y2}, duration={seconds!r}, button='left')"
            return [f"pyautogui.moveTo({x1}, {y1})", drag]
        case Scroll():
            return list(_scroll(action))
        case Type():
            return list(_type(action))
        case Press(keys=keys):
            return [_press(_names(keys))]
    raise ActionError("runtime", f"{shorten(str(action))} cannot be done on this machine")


def _scroll(action: Scroll) -> Iterator[str]:
    point = f"x={action.x}, y={action.y}"
    down, right = _notches(action.dy), _notches(action.dx)
    if down:
        yield f"pyautogui.scroll({-down}, {point})"
    if right:
        yield f"pyautogui.hscroll({right}, {point})"


def _notches(pixels: int) -> int:
    """Whole notches: at least one for any pixel."""
    count = max(1, round(abs(pixels) / NOTCH)) if pixels else 0
    if count > MAX_NOTCHES:
        raise ActionError("argument", f"scroll: at most {MAX_NOTCHES * NOTCH} pixels at once")
    return count if pixels > 0 else -count


def _type(action: Type) -> Iterator[str]:
    if action.clear:
        yield "pyautogui.hotkey('ctrl', 'a')"
        yield "pyautogui.press('delete')"
    text = action.text
    if all(" " <= char <= "~" or char in "\n\t" for char in text):
        yield from _write(text)
    else:
        yield f"{PASTED}.copy({text!r})"
        yield "pyautogui.hotkey('ctrl', 'v')"
    if action.enter:
        yield "pyautogui.press('enter')"


def _write(text: str) -> Iterator[str]:
    """pyautogui types ``>`` for ``<`` on X, so that one goes by its keys."""
    for index, part in enumerate(text.split("<")):
        if index:
            yield "pyautogui.hotkey('shift', ',')"
        if part:
            yield f"pyautogui.write({part!r})"


def _press(names: Sequence[str]) -> str:
    function = "press" if len(names) == 1 else "hotkey"
    return f"pyautogui.{function}({', '.join(map(repr, names))})"


def _names(chord: str) -> list[str]:
    """The keys of a chord of ours, as pyautogui calls them."""
    names: list[str] = []
    for key in split_keys(chord):
        (name,) = PYAUTOGUI.write(key) if PYAUTOGUI.read([key]) == key else (key,)
        if name == "<":
            names += ["shift", ","]
        elif name in KEYS or (len(name) == 1 and " " <= name <= "~"):
            names.append(name)
        else:
            raise ActionError(
                "argument", f"press: there is no key {shorten(name)}. {nearest(name, KEYS)}"
            )
    return names
