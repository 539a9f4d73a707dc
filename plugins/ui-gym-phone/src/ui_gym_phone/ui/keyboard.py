"""The on-screen keyboard: comes up where a text field has the caret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ui_gym_phone.state.display import display
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import LOW
from ui_gym_phone.ui.widgets import Icon, Text

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone
    from ui_gym_phone.ui.textfield import Typing

ROWS, KEY, LOW_KEY, GAP, EDGE = 4, 46.0, 25.0, 8.0, 8.0
"""Rows of keys; how high these are, and on a low screen; room between, above and below; in dp."""

LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SYMBOLS = ("1234567890", "@#$_&-+()/", "*\"':;!?")
PADS = {
    "number": ("123", "456", "789", ".0-"),
    "phone": ("123", "456", "789", "*0#"),
}


def height(phone: Phone, scene: PhoneScene) -> int:
    """Of the whole keyboard, in device pixels: lower where the screen is low, so that there is room
    for what is typed."""
    key = LOW_KEY if display(phone).dp[1] < LOW else KEY
    theme = scene.theme
    return theme.cells(theme.px(ROWS * key + (ROWS - 1) * GAP + 2 * EDGE))


def keyboard(phone: Phone, typing: Typing) -> Widget:
    """The keyboard of the field that is typed into, which fills the height that it is given."""
    kind = typing.field.kind
    rows = _pad(typing, PADS[kind]) if kind in PADS else _letters(phone, typing)
    return Surface(VStack(*rows, gap=GAP, pad=(3, EDGE, 3, EDGE)), "keyboard")


def _key(label: str, on_tap: Handler, wide: int = 2, icon: str = "") -> Tap:
    """One key; `wide` is its share of the row."""
    ink, ground = ("on_tonal", "tonal") if icon else ("text", "key")
    face: Widget = (
        Icon(icon, 22, ink)
        if icon
        else Text(label, "subtitle", ink, lines=1, align="center", tell=False)
    )
    panel = Surface(HStack(Expand(face)), ground, radius=6)
    return Tap(panel, on_tap, cls="android.inputmethodservice.Keyboard", desc=label, weight=wide)


def _row(cells: Sequence[Widget], gap: float) -> HStack:
    return HStack(*cells, gap=gap, align="stretch", weight=1)


def _letters(phone: Phone, typing: Typing) -> list[Widget]:
    symbols = phone.keyboard == "symbols"
    lines: Sequence[str] = SYMBOLS if symbols else LETTERS
    if phone.keyboard == "upper":
        lines = [line.upper() for line in lines]

    def show(page: str) -> Handler:
        def handle() -> None:
            phone.keyboard = page

        return handle

    def type_(sign: str) -> Handler:
        def handle() -> None:
            typing.insert(sign)
            if phone.keyboard == "upper":
                phone.keyboard = "lower"

        return handle

    def row(line: str) -> list[Widget]:
        return [_key(sign, type_(sign)) for sign in line]

    shift = _key("shift", show("lower" if phone.keyboard == "upper" else "upper"), 3,
                "apple-keyboard-shift")  # fmt: skip
    if symbols:
        shift = _key("=", type_("="), 3)
    other = _key("abc" if symbols else "123", show("lower" if symbols else "symbols"), 3)
    space = _key("", type_(" "), 9)
    last = [other, _key(",", type_(",")), space, _key(".", type_(".")),
            _key("enter", typing.enter, 4, "keyboard-return")]  # fmt: skip
    second = row(lines[1])
    if len(lines[1]) < 10:
        second = [Space(weight=1), *second, Space(weight=1)]
    third = [shift, *row(lines[2]), _key("delete", typing.delete, 3, "backspace-outline")]
    return [_row(cells, 5) for cells in (row(lines[0]), second, third, last)]


def _pad(typing: Typing, lines: Sequence[str]) -> list[Widget]:
    def type_(sign: str) -> Handler:
        return lambda: typing.insert(sign)

    side: list[tuple[str, Callable[[], None], str]] = [
        ("delete", typing.delete, "backspace-outline"),
        ("enter", typing.enter, "keyboard-return"),
    ]
    rows: list[Widget] = []
    for i, line in enumerate(lines):
        cells: list[Widget] = [_key(sign, type_(sign), 2) for sign in line]
        cells.append(_key(*side[i][:2], 2, side[i][2]) if i < len(side) else Space(weight=2))
        rows.append(_row(cells, 6))
    return rows
