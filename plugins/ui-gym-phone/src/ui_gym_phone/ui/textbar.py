"""The handles of what is selected in a text field, and the bar of what can be done to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone.ui.layout import HStack, Surface, Tap, Widget
from ui_gym_phone.ui.scene import Box, Handler, PhoneScene
from ui_gym_phone.ui.textfield import TextField, Typing
from ui_gym_phone.ui.touch import FingerStroke
from ui_gym_phone.ui.widgets import Text

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

HANDLE, GRIP = 10.0, 8.0
"""Of a handle: its radius, and the room around it that can be touched; in dp."""
ABOVE, EDGE = 10.0, 8.0
"""Room between the text and the bar, and between the bar and the screen's edge; in dp."""


def place_text_bar(phone: Phone, scene: PhoneScene, field: TextField, room: Box) -> None:
    """Handles below the ends of what is selected, and the bar above it, or below where there is
    no room."""
    begin, end = field.selection
    with scene.above():
        if begin < end:
            _handle(scene, field, begin, "begin")
            _handle(scene, field, end, "end")
        elif field.editable:
            _handle(scene, field, end, "")
        bar = _bar(phone, field)
        if bar is None:
            return
        px, theme = scene.theme.px, scene.theme
        width, height = bar.size(theme, room[2] - room[0] - 2 * px(EDGE))
        (x1, y1), (x2, y2) = field.shape.spot(begin), field.shape.spot(end)
        middle = (x1 + x2) // 2 if y1 == y2 else (room[0] + room[2]) // 2
        x = min(max(room[0] + px(EDGE), middle - width // 2), room[2] - px(EDGE) - width)
        y = y1 - px(ABOVE) - height
        if y < room[1]:
            y = min(y2 + field.shape.step + px(2 * HANDLE + ABOVE), room[3] - height)
        box = (x, y, x + width, y + height)
        scene.touch(box, modal=True)
        bar.place(scene, x, y, width, height)


def _bar(phone: Phone, field: TextField) -> Widget | None:
    """The bar, if there is anything to be done."""
    typing = Typing(field.ui.activity, field)
    marked, text = bool(typing.selected()), typing.text
    items: list[tuple[str, Callable[[], object]]] = []
    if marked and field.editable and not field.password:
        items.append(("Cut", lambda: typing.cut(phone)))
    if marked and not field.password:
        items.append(("Copy", lambda: _copy(phone, typing)))
    if phone.clipboard and field.editable:
        items.append(("Paste", lambda: typing.insert(phone.clipboard)))
    if text and typing.selected() != text:
        items.append(("Select all", lambda: field.select(0, len(text))))
    if not items:
        return None
    row = HStack(*(_item(name, act) for name, act in items), pad=(6, 0, 6, 0))
    return Surface(row, "surface", radius=22, border="divider")


def _item(name: str, act: Callable[[], object]) -> Tap:
    def touched() -> None:
        act()

    face = Surface(Text(name, "label", lines=1, tell=False), "", pad=(12, 13, 12, 13))
    return Tap(face, touched, cls="android.widget.Button", text=name, desc=name,
               id="android:id/floating_toolbar_menu_item_text")  # fmt: skip


def _copy(phone: Phone, typing: Typing) -> None:
    """Copying ends the selection where it ends."""
    typing.copy(phone)
    activity = typing.activity
    activity.mark, activity.held = None, False
    if not typing.field.editable:
        activity.focus = ""


def _handle(scene: PhoneScene, field: TextField, index: int, side: str) -> None:
    """A drop that hangs from one end of what is selected, or from the caret."""
    px = scene.theme.px
    radius, grip = px(HANDLE), px(GRIP)
    spot_x, top = field.shape.spot(index)
    y = top + field.shape.step
    x = spot_x - {"begin": 2 * radius, "end": 0}.get(side, radius)
    scene.rect((x, y, x + 2 * radius, y + 2 * radius), "primary", radius)
    if side:  # its corner points to the sign
        corner = x + radius if side == "begin" else x
        scene.rect((corner, y, corner + radius, y + radius), "primary")
    else:
        half = radius // 2
        scene.rect((spot_x - half, y - px(1), spot_x + half, y + radius), "primary", half)

    def drag(stroke: FingerStroke) -> bool:
        at = field.shape.index_at(spot_x + stroke.dx, top + field.shape.step // 2 + stroke.dy)
        begin, end = field.selection
        if side == "begin":
            field.select(min(at, end - 1), end)
        elif side:
            field.select(begin, max(at, begin + 1))
        else:
            field.select(at, at)
        return True

    box = (x - grip, y, x + 2 * radius + grip, y + 2 * radius + grip)
    nothing: Handler = lambda: None  # noqa: E731
    scene.touch(box, stroke=drag, tap=nothing)
    scene.leaf("android.widget.ImageView", box, desc=_NAMES[side])


_NAMES = {"begin": "Selection start handle", "end": "Selection end handle", "": "Caret handle"}
