"""Keys by name and by character, on a keyboard that learns what it lacks.

A character that no key has is given a key that nothing uses (XKB has about twenty of these to
spare). Keys are lent in turn, so that a program that is behind still finds the older ones.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.contract.action import split_keys
from ui_gym.dialects.keys import MODIFIERS
from ui_gym.errors import ActionError, nearest

_NAMED = {
    "enter": 0xFF0D, "tab": 0xFF09, "escape": 0xFF1B, "backspace": 0xFF08, "delete": 0xFFFF,
    "insert": 0xFF63, "space": 0x20, "home": 0xFF50, "end": 0xFF57, "pageup": 0xFF55,
    "pagedown": 0xFF56, "left": 0xFF51, "up": 0xFF52, "right": 0xFF53, "down": 0xFF54,
    "menu": 0xFF67, "printscreen": 0xFF61, "pause": 0xFF13, "capslock": 0xFFE5,
    "numlock": 0xFF7F, "scrolllock": 0xFF14, "ctrl": 0xFFE3, "alt": 0xFFE9, "shift": 0xFFE1,
    "meta": 0xFFEB, **{f"f{n}": 0xFFBD + n for n in range(1, 25)},
}  # fmt: skip
"""X11's keysyms (``keysymdef.h``) of keys by our names."""

_ALIASES = {
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "page_up": "pageup",
    "page_down": "pagedown", "pgup": "pageup", "pgdn": "pagedown", "arrowleft": "left",
    "arrowright": "right", "arrowup": "up", "arrowdown": "down", "control": "ctrl", "cmd": "meta",
    "super": "meta", "win": "meta", "option": "alt", "command": "meta", "print": "printscreen",
}  # fmt: skip


@dataclass(frozen=True)
class Stroke:
    """A key code, and whether Shift is held with it."""

    code: int
    shifted: bool = False


class Keyboard:
    """The keyboard of a connection to an X server (`xcffib.Connection`). `settle` waits until
    programs have seen what was typed so far."""

    def __init__(self, x: Any, settle: Callable[[], object]) -> None:
        self._x = x
        self._settle = settle
        setup = x.get_setup()
        self._first = setup.min_keycode
        count = setup.max_keycode - self._first + 1
        reply = x.core.GetKeyboardMapping(self._first, count).reply()
        width = reply.keysyms_per_keycode
        keysyms = list(reply.keysyms)
        rows = [keysyms[n * width : (n + 1) * width] for n in range(count)]
        self._strokes: dict[int, Stroke] = {}
        for n, row in reversed(list(enumerate(rows))):
            for level, keysym in reversed(list(enumerate(row[:2]))):
                if keysym:
                    self._strokes[keysym] = Stroke(self._first + n, shifted=level == 1)
        self._spare = deque(self._first + n for n, row in enumerate(rows) if not any(row))
        self._lent: dict[int, int] = {}

    def chord(self, keys: str) -> list[int]:
        """The key codes of a chord, in the order in which they go down.

        Raises:
            ActionError: (``argument``) there is no such key.
        """
        codes: list[int] = []
        for name in split_keys(keys):
            stroke = self._stroke(keysym(name))
            if stroke.shifted and self.code("shift") not in codes:
                codes.append(self.code("shift"))
            codes.append(stroke.code)
        return codes

    def code(self, name: str) -> int:
        """The key code of a key by name."""
        return self._stroke(_NAMED[name]).code

    def modifiers(self, keys: str) -> list[int]:
        """The key codes of ``"ctrl+shift"``."""
        names = (
            [_ALIASES.get(name.lower(), name.lower()) for name in split_keys(keys)] if keys else []
        )
        for name in names:
            if name not in MODIFIERS:
                raise ActionError(
                    "argument", f"{name!r} cannot be held. {nearest(name, MODIFIERS)}"
                )
        return [self.code(name) for name in names]

    def strokes(self, text: str) -> Iterator[list[Stroke]]:
        """The strokes that type a text, in batches: a batch must have been typed before the next
        is asked for, as its keys may then become others.

        Raises:
            ActionError: (``argument``) it holds a control character.
        """
        batches: list[list[int]] = [[]]
        strange: set[int] = set()
        for symbol in [_of_character(one) for one in unicodedata.normalize("NFC", text)]:
            if symbol not in self._strokes:
                strange.add(symbol)
            if len(strange) > len(self._spare):
                batches.append([])
                strange = {symbol}
            batches[-1].append(symbol)
        for n, batch in enumerate(batches):
            if n or not self._unused(batch):
                self._settle()
            yield self._batch(batch)

    # -- parts --

    def _unused(self, symbols: Iterable[int]) -> bool:
        """Whether there are keys for these that mean nothing yet."""
        wanted = {one for one in symbols if one not in self._strokes and one not in self._lent}
        return len(self._lent) + len(wanted) <= len(self._spare)

    def _batch(self, symbols: Sequence[int]) -> list[Stroke]:
        # What is typed with a lent key keeps it, so that no other character of these takes it.
        for code in filter(None, map(self._lent.get, symbols)):
            self._spare.remove(code)
            self._spare.append(code)
        return [self._stroke(symbol) for symbol in symbols]

    def _stroke(self, symbol: int) -> Stroke:
        known = self._strokes.get(symbol)
        return known if known is not None else Stroke(self._lend(symbol))

    def _lend(self, symbol: int) -> int:
        if symbol in self._lent:
            return self._lent[symbol]
        if not self._spare:
            raise ActionError("runtime", "this keyboard has no key to spare for other characters")
        code: int = self._spare[0]
        self._spare.rotate(-1)
        self._lent = {s: c for s, c in self._lent.items() if c != code} | {symbol: code}
        self._x.core.ChangeKeyboardMappingChecked(1, code, 2, [symbol, symbol]).check()
        return code


def keysym(name: str) -> int:
    """The keysym of a key by name or character. `ActionError` names the nearest."""
    lowered = name.lower()
    known = _NAMED.get(_ALIASES.get(lowered, lowered))
    if known is not None:
        return known
    if len(name) == 1:
        return _of_character(name)
    raise ActionError("argument", f"press: there is no key {name!r} here. {nearest(name, _NAMED)}")


def _of_character(character: str) -> int:
    """The keysym of a character: Latin-1 is itself, others are 0x1000000 above their number."""
    if character in "\n\r":
        return _NAMED["enter"]
    if character == "\t":
        return _NAMED["tab"]
    number = ord(character)
    if number < 32 or 127 <= number < 160:
        raise ActionError("argument", f"type: the control character {character!r} has no key")
    return number if number < 256 else 0x1000000 + number
