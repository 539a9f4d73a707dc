"""Key codes of Android, and what each does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ui_gym.dialects.keycodes import KEYS, MODIFIERS

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone
    from ui_gym_phone.ui.textfield import Typing

HOME, BACK, POWER, CAMERA = (KEYS[name] for name in ("home", "back", "power", "camera"))
VOLUME_UP, VOLUME_DOWN, VOLUME_MUTE = (
    KEYS[name] for name in ("volume_up", "volume_down", "volume_mute")
)
APP_SWITCH, SLEEP, WAKEUP, ESCAPE = (
    KEYS[name] for name in ("app_switch", "sleep", "wakeup", "escape")
)
ENTER, TAB, DEL, FORWARD_DEL = (KEYS[n] for n in ("enter", "tab", "backspace", "delete"))
LEFT, RIGHT, MOVE_HOME, MOVE_END = (KEYS[n] for n in ("left", "right", "move_home", "end"))
CUT, COPY, PASTE = (KEYS[name] for name in ("cut", "copy", "paste"))
A, C, V, X = (KEYS[name] for name in "acvx")
SHIFT, CTRL = MODIFIERS["shift"], MODIFIERS["ctrl"]
"""The left ones; the right one's code is one more."""
NUMPAD_ENTER = 160

SIGNS = {code: name for name, code in KEYS.items() if len(name) == 1} | {KEYS["space"]: " "}
"""What keys write by themselves."""
SHIFTED = dict(zip("1234567890-=[];'/\\`,.", '!@#$%^&*()_+{}:"?|~<>', strict=True))


def sign_of(code: int, held: Sequence[int]) -> str:
    """The sign that a key writes, or nothing."""
    sign = str(code - 144) if 144 <= code <= 153 else SIGNS.get(code, "")  # a number pad's
    if any(key in (SHIFT, SHIFT + 1) for key in held):
        sign = SHIFTED.get(sign, sign.upper())
    return sign


def press(phone: Phone, typing: Typing | None, code: int, held: Sequence[int]) -> None:
    """Press a key while others are held down; `typing` is what a field makes of it, if one has the
    caret. Codes that do nothing here do nothing."""
    if code in (POWER, SLEEP, WAKEUP):
        phone.awake = {SLEEP: False, WAKEUP: True}.get(code, not phone.awake)
        return
    if not phone.awake:
        return
    if code in _SYSTEM:
        _SYSTEM[code](phone)
    elif typing is not None:
        _edit(phone, typing, code, held)


def _edit(phone: Phone, typing: Typing, code: int, held: Sequence[int]) -> None:
    control = any(key in (CTRL, CTRL + 1) for key in held)
    if (control and code == C) or code == COPY:
        typing.copy(phone)
    elif (control and code == X) or code == CUT:
        typing.cut(phone)
    elif (control and code == V) or code == PASTE:
        typing.insert(phone.clipboard)
    elif control and code == A:
        typing.mark_all()
    elif code in (ENTER, NUMPAD_ENTER):
        typing.enter()
    elif code in (DEL, FORWARD_DEL):
        typing.delete(forward=code == FORWARD_DEL)
    elif code in _MOVES:
        typing.move(_MOVES[code], extend=SHIFT in held or SHIFT + 1 in held)
    elif not control and (sign := sign_of(code, held)):
        typing.insert(sign)


_FAR = 1_000_000
_MOVES = {LEFT: -1, RIGHT: 1, MOVE_HOME: -_FAR, MOVE_END: _FAR}


def _volume(step: int) -> Callable[[Phone], None]:
    def change(phone: Phone) -> None:
        level = int(phone.setting("system", "volume_music", "0"))
        phone.put("system", "volume_music", 0 if step == 0 else min(15, max(0, level + step)))

    return change


def _discard(_: object) -> None:
    """A handler returns nothing."""


_SYSTEM: dict[int, Callable[[Phone], None]] = {
    HOME: lambda phone: phone.home(),
    BACK: lambda phone: phone.back(),
    ESCAPE: lambda phone: phone.back(),
    APP_SWITCH: lambda phone: phone.toggle_recents(),
    VOLUME_UP: _volume(1),
    VOLUME_DOWN: _volume(-1),
    VOLUME_MUTE: _volume(0),
    CAMERA: lambda phone: _discard(phone.launch("com.android.camera2")),
}
