"""Names of keys: how each format calls them, and how we do.

Ours are lower case: ``enter``, ``pageup``, ``ctrl``, ``a``, ``+``; a chord joins them by ``+``. On
a phone there are ``back``, ``home``, ``recents`` and the like. A name that no table has stays as
it is: the device says which keys it has.

Sources: the key names of pyautogui (``pyautogui.KEYBOARD_KEYS``), of xdotool (X11's keysyms), of
OpenAI's computer tool (as its sample applications map them), and of Android (``KEYCODE_...``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ui_gym.contract.action import Press, shorten, split_keys
from ui_gym.errors import ActionError

_OURS = {
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "pgup": "pageup",
    "page_up": "pageup", "prior": "pageup", "pgdn": "pagedown", "page_down": "pagedown",
    "next": "pagedown", "spacebar": "space", " ": "space", "\n": "enter", "\r": "enter",
    "\t": "tab", "arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
    "kp_enter": "enter", "caps_lock": "capslock", "print": "printscreen", "prtsc": "printscreen",
    "control": "ctrl", "option": "alt", "cmd": "meta", "command": "meta", "super": "meta",
    "win": "meta", "windows": "meta",
    **{f"{name}{side}": ours
       for name, ours in (("ctrl", "ctrl"), ("control_", "ctrl"), ("alt", "alt"), ("alt_", "alt"),
                          ("shift", "shift"), ("shift_", "shift"), ("win", "meta"),
                          ("super_", "meta"), ("meta_", "meta"), ("option", "alt"))
       for side in ("left", "right", "l", "r")},
    "plus": "+", "minus": "-", "equal": "=", "slash": "/", "backslash": "\\", "period": ".",
    "comma": ",", "semicolon": ";", "apostrophe": "'", "grave": "`", "bracketleft": "[",
    "bracketright": "]", "add": "+", "subtract": "-", "multiply": "*", "divide": "/",
}  # fmt: skip
"""Our name of what others call so, in lower case."""

MODIFIERS = frozenset(("alt", "ctrl", "meta", "shift"))


class KeyNames:
    """How one format calls keys: `theirs` where that is not as we do."""

    def __init__(self, theirs: Mapping[str, str] | None = None, *, capitals: bool = False) -> None:
        self._theirs = dict(theirs or {})
        self._ours = {name.lower(): ours for ours, name in self._theirs.items()}
        self._capitals = capitals

    def read(self, names: Iterable[str]) -> str:
        """The chord, as we write it, of keys that were named one by one or already joined."""
        return "+".join(self._read(key) for name in names for key in split_keys(name))

    def write(self, chord: str) -> list[str]:
        """The keys of a chord of ours, by their names there.

        Raises:
            ActionError: (``name``) these names would be read as something else.
        """
        names = [self._write(key) for key in split_keys(chord)]
        if self.read(names) != chord:
            raise ActionError("name", f"there is no way to write the keys {shorten(chord)}")
        return names

    def press(self, names: Iterable[str]) -> Press:
        return Press(self.read(names))

    def _read(self, name: str) -> str:
        lowered = name.lower()
        if lowered in self._ours:
            return self._ours[lowered]
        if len(name) == 1 and name not in _OURS:
            return lowered if self._capitals else name
        return _OURS.get(lowered, lowered)

    def _write(self, key: str) -> str:
        name = self._theirs.get(key, key)
        return name.upper() if self._capitals and name.isascii() else name


PYAUTOGUI = KeyNames({"escape": "esc", "meta": "win"})
OPENAI = KeyNames(
    {"escape": "esc", "meta": "cmd", **{a: f"arrow{a}" for a in ("up", "down", "left", "right")}},
    capitals=True,
)
XDOTOOL = KeyNames(
    {
        "enter": "Return", "escape": "Escape", "tab": "Tab", "backspace": "BackSpace",
        "delete": "Delete", "insert": "Insert", "home": "Home", "end": "End", "pageup": "Page_Up",
        "pagedown": "Page_Down", "up": "Up", "down": "Down", "left": "Left", "right": "Right",
        "meta": "super", "+": "plus", "-": "minus", "=": "equal", "/": "slash", ".": "period",
        ",": "comma", **{f"f{n}": f"F{n}" for n in range(1, 25)},
    }
)  # fmt: skip
ANDROID = KeyNames(
    {
        "backspace": "del", "delete": "forward_del", "recents": "app_switch",
        "pageup": "page_up", "pagedown": "page_down",
        **{a: f"dpad_{a}" for a in ("up", "down", "left", "right")},
    }
)  # fmt: skip
