"""A phone's keys by name: Android's numbers of them (``android.view.KeyEvent.KEYCODE_...``)."""

from __future__ import annotations

import string
from collections.abc import Mapping

from ui_gym.contract.action import split_keys
from ui_gym.contract.tables import read_table
from ui_gym.errors import ActionError, nearest

_TABLES = read_table(__package__, "keys")["android"]

MODIFIERS: Mapping[str, int] = _TABLES["modifiers"]
KEYS: Mapping[str, int] = {
    **_TABLES["keys"],
    **{f"f{n}": 130 + n for n in range(1, 13)},
    **{digit: 7 + n for n, digit in enumerate(string.digits)},
    **{letter: 29 + n for n, letter in enumerate(string.ascii_lowercase)},
    **_TABLES["signs"],
}

ENTER, TAB, DELETE_BACK, MOVE_END = (KEYS[name] for name in ("enter", "tab", "backspace", "end"))
CTRL_LEFT, LETTER_A = MODIFIERS["ctrl"], KEYS["a"]

NAMES: Mapping[int, str] = {code: name for name, code in reversed(list(KEYS.items()))}
"""What each of these keys is called; of two names the first."""

_ALIASES: Mapping[str, str] = _TABLES["aliases"]


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
