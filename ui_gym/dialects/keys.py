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
from ui_gym.contract.tables import read_table
from ui_gym.errors import ActionError

_TABLES = read_table(__package__, "keys")

_OURS: dict[str, str] = _TABLES["ours"] | {
    f"{name}{side}": ours
    for name, ours in (
        ("ctrl", "ctrl"), ("control_", "ctrl"), ("alt", "alt"), ("alt_", "alt"),
        ("shift", "shift"), ("shift_", "shift"), ("win", "meta"), ("super_", "meta"),
        ("meta_", "meta"), ("option", "alt"),
    )
    for side in ("left", "right", "l", "r")
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


PYAUTOGUI = KeyNames(_TABLES["pyautogui"])
OPENAI = KeyNames(_TABLES["openai"], capitals=True)
XDOTOOL = KeyNames(_TABLES["xdotool"] | {f"f{n}": f"F{n}" for n in range(1, 25)})
ANDROID = KeyNames(_TABLES["androidworld"])
