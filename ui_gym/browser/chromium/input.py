"""Actions as DevTools input commands: mouse, wheel and keys.

Key names follow the UI Events specification (W3C, ``KeyboardEvent.key`` and ``code``); virtual key
codes are Windows', which is what Chromium expects on every system.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.browser.chromium.protocol import Command
from ui_gym.browser.site import REST
from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.errors import ActionError, nearest

OUTSIDE = -1
"""Both coordinates of a point where the pointer is over nothing."""

_TICK = "Runtime.evaluate"

_ENDS = {"mouseReleased": "mouseup", "keyUp": "keyup"}

_KEYS = read_table("ui_gym.browser", "keys")

ALT, CTRL, META, SHIFT = 1, 2, 4, 8
MODIFIERS: Mapping[str, int] = _KEYS["modifiers"]
_MODIFIER_KEYS = {
    ALT: ("Alt", "AltLeft", 18),
    CTRL: ("Control", "ControlLeft", 17),
    META: ("Meta", "MetaLeft", 91),
    SHIFT: ("Shift", "ShiftLeft", 16),
}


@dataclass(frozen=True)
class InputKey:
    """One key: its `KeyboardEvent.key`, its `code`, its virtual key code, and what it types."""

    key: str
    code: str
    number: int
    text: str = ""


_NAMED = {name: InputKey(*told) for name, told in _KEYS["named"].items()}
_NAMED |= {f"f{n}": InputKey(f"F{n}", f"F{n}", 111 + n) for n in range(1, 13)}
_ALIASES: Mapping[str, str] = _KEYS["aliases"]
_SIGNS: Mapping[str, tuple[str, int]] = _KEYS["signs"]
_SHIFTED = dict(zip('!@#$%^&*()_+{}|:"<>?~', "1234567890-=[]\\;',./`", strict=True))


def key(name: str) -> InputKey:
    """The key of a name (``"enter"``) or a single character."""
    lowered = name.lower()
    named = _NAMED.get(_ALIASES.get(lowered, lowered))
    if named is not None:
        return named
    if len(name) == 1:
        found = _character(name)
        if found is not None:
            return found
    raise ActionError("argument", f"press: there is no key {name!r} here. {nearest(name, _NAMED)}")


def chord(keys: str) -> tuple[int, list[InputKey]]:
    """``"ctrl+shift+t"`` as its modifiers and its other keys."""
    modifiers, others = 0, []
    for name in act.split_keys(keys):
        if name.lower() in MODIFIERS:
            modifiers |= MODIFIERS[name.lower()]
        else:
            others.append(key(name))
    return modifiers, others


def commands(action: act.Action, rest: float = REST) -> list[list[Command]]:
    """The commands of an action: each batch is sent in one go, when the one before was handled.

    The last one lets page time pass: what was waited for, and `rest` seconds.

    Raises:
        ActionError: this device cannot do it.
    """
    translate = _TRANSLATORS.get(type(action))
    if translate is None:
        raise ActionError("runtime", f"{action.name} cannot be done in this browser")
    batches: list[list[Command]] = [[]]
    for command in translate(action):
        # Input waits for a frame where a script does not: a tick in its batch would overtake it.
        if command[0] == _TICK:
            batches += [[command], []]
        else:
            batches[-1].append(command)
    after = action.seconds if isinstance(action, act.Wait) else 0.0
    return [*filter(None, batches), [_tick(after + rest, "rest")]]


def ending(batch: Sequence[Command]) -> tuple[str, int] | None:
    """What a batch of input ends with, where the page is told of it: the type of the last event,
    and how many of it there are."""
    sent = [str(params.get("type")) for _, params in batch]
    event = _ENDS.get(sent[-1])
    return (event, sent.count(sent[-1])) if event else None


def _click(action: act.Click) -> list[Command]:
    modifiers, others = chord(action.keys) if action.keys else (0, [])
    if others:
        raise ActionError("argument", f"click: keys must be modifiers, not {action.keys!r}")
    sent = [*_hold(modifiers, "rawKeyDown"), _mouse("mouseMoved", action.x, action.y, modifiers)]
    for count in range(1, action.count + 1):
        for kind in ("mousePressed", "mouseReleased"):
            sent.append(_mouse(kind, action.x, action.y, modifiers, action.button, count))
    return sent + _hold(modifiers, "keyUp")


def _long_press(action: act.LongPress) -> list[Command]:
    return [
        _mouse("mouseMoved", action.x, action.y),
        _mouse("mousePressed", action.x, action.y, 0, "left", 1),
        _tick(action.seconds),
        _mouse("mouseReleased", action.x, action.y, 0, "left", 1),
    ]


def leave() -> Command:
    """Take the pointer off the page."""
    return _mouse("mouseMoved", OUTSIDE, OUTSIDE)


def _drag(action: act.Drag) -> list[Command]:
    # Chromium plays its own drag-and-drop (dragstart to drop) on these, where something is
    # draggable: no Input.setInterceptDrags is needed, in a headless one neither.
    sent = [
        _mouse("mouseMoved", action.x1, action.y1),
        _mouse("mousePressed", action.x1, action.y1, 0, "left", 1),
    ]
    steps = 8
    for step in range(1, steps + 1):
        x = round(action.x1 + (action.x2 - action.x1) * step / steps)
        y = round(action.y1 + (action.y2 - action.y1) * step / steps)
        sent += [_tick(action.seconds / steps), _mouse("mouseMoved", x, y, 0, "left")]
    return [*sent, _mouse("mouseReleased", action.x2, action.y2, 0, "left", 1)]


def _scroll(action: act.Scroll) -> list[Command]:
    wheel = {"type": "mouseWheel", "x": action.x, "y": action.y}
    return [("Input.dispatchMouseEvent", {**wheel, "deltaX": action.dx, "deltaY": action.dy})]


def _type(action: act.Type) -> list[Command]:
    sent: list[Command] = []
    if action.clear:
        # The editing command does on every system what ctrl+A does on this one.
        select = _stroke(key("a"), CTRL)
        select[0][1]["commands"] = ["selectAll"]  # type: ignore[index]
        sent += select + _stroke(key("delete"))
    for char in action.text:
        known = key("enter") if char == "\n" else key("tab") if char == "\t" else _character(char)
        if known is None:
            sent.append(("Input.insertText", {"text": char}))
        else:
            sent += _stroke(known, SHIFT if _is_shifted(char) else 0)
    if action.enter:
        sent += _stroke(key("enter"))
    return sent


def _press(action: act.Press) -> list[Command]:
    modifiers, others = chord(action.keys)
    sent = _hold(modifiers, "rawKeyDown")
    for pressed in others:
        sent += _stroke(pressed, modifiers)
    return sent + _hold(modifiers, "keyUp")


_TRANSLATORS: dict[type[act.Action], Callable[[Any], list[Command]]] = {
    act.Click: _click,
    act.LongPress: _long_press,
    act.Move: lambda move: [_mouse("mouseMoved", move.x, move.y)],
    act.Drag: _drag,
    act.Scroll: _scroll,
    act.Type: _type,
    act.Press: _press,
    act.Wait: lambda wait: [],  # `commands` lets the time pass, as after every action
}


def _mouse(
    kind: str, x: int, y: int, modifiers: int = 0, button: str = "none", count: int = 0
) -> Command:
    bit = {"none": 0, "left": 1, "right": 2, "middle": 4}[button]
    buttons = 0 if kind == "mouseReleased" else bit
    return (
        "Input.dispatchMouseEvent",
        {"type": kind, "x": x, "y": y, "modifiers": modifiers, "button": button,
         "buttons": buttons, "clickCount": count},
    )  # fmt: skip


def _tick(seconds: float, function: str = "tick") -> Command:
    return (_TICK, {"expression": f"uiGym.{function}({seconds * 1000:g})"})


def _hold(modifiers: int, kind: str) -> list[Command]:
    """Press the modifier keys themselves, or release them in reverse order."""
    bits = [bit for bit in _MODIFIER_KEYS if modifiers & bit]
    sent = []
    held = 0 if kind == "rawKeyDown" else modifiers
    for bit in bits if kind == "rawKeyDown" else reversed(bits):
        held ^= bit
        sent.append(_key_event(kind, InputKey(*_MODIFIER_KEYS[bit]), held))
    return sent


def _stroke(pressed: InputKey, modifiers: int = 0) -> list[Command]:
    """Press and release one key; with ctrl, alt or meta held it types nothing."""
    types = pressed.text if not modifiers & (CTRL | ALT | META) else ""
    down = _key_event("keyDown" if types else "rawKeyDown", pressed, modifiers, types)
    return [down, _key_event("keyUp", pressed, modifiers)]


def _key_event(kind: str, pressed: InputKey, modifiers: int, text: str = "") -> Command:
    event: dict[str, Any] = {
        "type": kind, "key": pressed.key, "code": pressed.code, "modifiers": modifiers,
        "windowsVirtualKeyCode": pressed.number,
    }  # fmt: skip
    if text:
        event["text"] = text
    return ("Input.dispatchKeyEvent", event)


def _character(char: str) -> InputKey | None:
    """The key that types `char` on a US keyboard, if one does."""
    base = _SHIFTED.get(char, char.lower() if char.isascii() else char)
    if base.isascii() and base.isalpha():
        return InputKey(char, f"Key{base.upper()}", ord(base.upper()), char)
    if base.isascii() and base.isdigit():
        return InputKey(char, f"Digit{base}", ord(base), char)
    if base in _SIGNS:
        code, number = _SIGNS[base]
        return InputKey(char, code, number, char)
    return _NAMED["space"] if char == " " else None


def _is_shifted(char: str) -> bool:
    return char in _SHIFTED or (char.isascii() and char.isupper())
