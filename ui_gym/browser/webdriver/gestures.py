"""Input commands as WebDriver actions: what `input` says to Chromium, said to any browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ui_gym.browser.chromium.protocol import Command, Message
from ui_gym.contract.tables import read_table

_BUTTONS = {"left": 0, "middle": 1, "right": 2}

_KEYS: Mapping[str, str] = {
    **read_table("ui_gym.browser", "keys")["webdriver"],
    **{f"F{n}": chr(0xE030 + n) for n in range(1, 13)},
}

_PAUSE: Message = {"type": "pause", "duration": 0}


def gesture(commands: Sequence[Command], held: str = "Control") -> list[Message]:
    """The input sources of one ``perform actions`` that does these commands one after the other.

    `held` is the key that goes with a letter in the system's chords: ``Meta`` on a Mac.
    """
    steps = [step for command in commands for step in _steps(command, held)]
    sources = list(dict.fromkeys(source for source, _ in steps))
    # Sources run side by side: while one does something, the others pause.
    return [
        {**_SOURCES[source], "actions": [item if by == source else _PAUSE for by, item in steps]}
        for source in sources
    ]


_SOURCES: Mapping[str, Message] = {
    "pointer": {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}},
    "key": {"type": "key", "id": "keyboard"},
    "wheel": {"type": "wheel", "id": "wheel"},
}


def _steps(command: Command, held: str) -> Iterable[tuple[str, Message]]:
    """What a command is: the source, and what that does."""
    method, params = command
    if method == "Input.insertText":
        return [("key", {"type": kind, "value": params["text"]}) for kind in ("keyDown", "keyUp")]
    if method == "Input.dispatchKeyEvent":
        return _key(params, held)
    x, y, kind = params["x"], params["y"], params["type"]
    at = {"x": x, "y": y, "origin": "viewport", "duration": 0}
    if kind == "mouseWheel":
        scroll = {"deltaX": params["deltaX"], "deltaY": params["deltaY"]}
        return [("wheel", {"type": "scroll", **at, **scroll})]
    if kind == "mouseMoved":
        return [("pointer", {"type": "pointerMove", **at})]
    name = "pointerDown" if kind == "mousePressed" else "pointerUp"
    return [("pointer", {"type": name, "button": _BUTTONS[params["button"]]})]


def _key(params: Mapping[str, Any], held: str) -> Iterable[tuple[str, Message]]:
    key = params["key"]
    down = params["type"] != "keyUp"
    said = ("key", {"type": "keyDown" if down else "keyUp", "value": _KEYS.get(key, key)})
    if "commands" not in params:
        return [said]
    # An editing command, which other browsers know as its chord alone.
    presses = (("keyDown", _KEYS[held]), ("keyDown", key), ("keyUp", key), ("keyUp", _KEYS[held]))
    return [("key", {"type": kind, "value": value}) for kind, value in presses]
