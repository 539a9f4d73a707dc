"""Screens of the Calculator app, each reached by touch."""

from __future__ import annotations

from functools import partial

from driving import Scene, tap

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen


def typed(signs: str, phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("com.android.calculator2")
    tap(screen, *signs, nth=-1)


SCENES: dict[str, Scene] = {
    "empty": partial(typed, ""),
    "typing": partial(typed, "12.5×(3+4"),
    "result": partial(typed, "1234567×89="),
    "long": partial(typed, "123456789×987654321−55555÷7"),
    "error": partial(typed, "5÷0="),
}
