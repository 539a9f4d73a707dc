"""A phone's keys by name: Android's numbers of them (``android.view.KeyEvent.KEYCODE_...``)."""

from __future__ import annotations

import string
from collections.abc import Mapping

from ui_gym.contract.action import split_keys
from ui_gym.errors import ActionError, nearest

ENTER, TAB, DELETE_BACK, MOVE_END = 66, 61, 67, 123
CTRL_LEFT, LETTER_A = 113, 29

MODIFIERS: Mapping[str, int] = {
    "ctrl": CTRL_LEFT, "control": CTRL_LEFT, "alt": 57, "shift": 59, "meta": 117, "cmd": 117,
    "super": 117, "win": 117,
}  # fmt: skip

KEYS: Mapping[str, int] = {
    # what only phones have
    "home": 3, "back": 4, "call": 5, "end_call": 6, "volume_up": 24, "volume_down": 25,
    "power": 26, "camera": 27, "menu": 82, "notification": 83, "search": 84, "mute": 91,
    "volume_mute": 164, "recents": 187, "app_switch": 187, "sleep": 223, "wakeup": 224,
    "brightness_down": 220, "brightness_up": 221,
    # media
    "media_play_pause": 85, "media_stop": 86, "media_next": 87, "media_previous": 88,
    "media_play": 126, "media_pause": 127,
    # of a keyboard
    "up": 19, "down": 20, "left": 21, "right": 22, "center": 23, "tab": TAB, "space": 62,
    "enter": ENTER, "backspace": DELETE_BACK, "pageup": 92, "pagedown": 93, "escape": 111,
    "delete": 112, "move_home": 122, "end": MOVE_END, "insert": 124, "cut": 277, "copy": 278,
    "paste": 279, **{f"f{n}": 130 + n for n in range(1, 13)},
    # of characters
    **{digit: 7 + n for n, digit in enumerate(string.digits)},
    **{letter: LETTER_A + n for n, letter in enumerate(string.ascii_lowercase)},
    "*": 17, "#": 18, ",": 55, ".": 56, "`": 68, "-": 69, "=": 70, "[": 71, "]": 72, "\\": 73,
    ";": 74, "'": 75, "/": 76, "@": 77, "+": 81,
}  # fmt: skip

NAMES: Mapping[int, str] = {code: name for name, code in reversed(list(KEYS.items()))}
"""What each of these keys is called; of two names the first."""

_ALIASES = {
    "return": "enter", "esc": "escape", "del": "backspace", "forward_del": "delete",
    "page_up": "pageup", "page_down": "pagedown", "arrowup": "up", "arrowdown": "down",
    "arrowleft": "left", "arrowright": "right", "dpad_up": "up", "dpad_down": "down",
    "dpad_left": "left", "dpad_right": "right", "dpad_center": "center", "move_end": "end",
    "recent": "recents", "recent_apps": "recents", "overview": "recents", "lock": "sleep",
    "wake": "wakeup", "volumeup": "volume_up", "volumedown": "volume_down", " ": "space",
    "endcall": "end_call",
}  # fmt: skip


def key(name: str) -> int:
    """The number of a key: ``"back"``, ``"a"``, or Android's own ``"KEYCODE_BACK"``.

    Raises:
        ActionError: (``argument``) there is no such key; names the nearest.
    """
    known = name.lower().removeprefix("keycode_")
    known = _ALIASES.get(known, known)
    if known not in KEYS:
        raise ActionError(
            "argument", f"press: there is no key {name!r} on a phone. {nearest(name, KEYS)}"
        )
    return KEYS[known]


def chord(keys: str) -> tuple[list[int], list[int]]:
    """``"ctrl+a"`` as the numbers of its modifiers and of its other keys."""
    modifiers: list[int] = []
    others: list[int] = []
    for name in split_keys(keys):
        if name.lower() in MODIFIERS:
            modifiers.append(MODIFIERS[name.lower()])
        else:
            others.append(key(name))
    return modifiers, others
