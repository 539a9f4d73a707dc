"""Windows over a page: dialogs and menus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone.ui.layout import HStack, Space, Surface, VStack, Widget
from ui_gym_phone.ui.page import Dialog, Menu, ScrollView
from ui_gym_phone.ui.scene import Box, PhoneScene
from ui_gym_phone.ui.widgets import Item, Text

if TYPE_CHECKING:
    from ui_gym_phone.ui.app import Ui

MARGIN = 24


def place_dialog(scene: PhoneScene, ui: Ui, dialog: Dialog, room: Box) -> None:
    """A dialog in the middle of the room, over a veil whose touch dismisses it. Where the room is
    too small, its body scrolls."""
    px = scene.theme.px
    _veil(scene, dialog.dismiss, 102)
    left, top, right, bottom = room
    width, most = right - left - 2 * px(MARGIN), bottom - top - px(16)
    panel = _panel(dialog, dialog.body)
    height = panel.size(scene.theme, width)[1]
    if height > most and dialog.body is not None:
        panel = _panel(dialog, ScrollView(ui, f"dialog {dialog.title}", dialog.body))
        height = most
    y = top + (bottom - top - height) // 2
    box = (left + px(MARGIN), y, left + px(MARGIN) + width, y + height)
    scene.touch(box, modal=True)
    with scene.clipped(box):
        panel.place(scene, box[0], y, width, height)


def _panel(dialog: Dialog, body: Widget | None) -> Surface:
    buttons = HStack(Space(weight=1), *dialog.buttons, gap=4, pad=(12, 4, 12, 12))
    title = HStack(Text(dialog.title, "title"), pad=(24, 20, 24, 8)) if dialog.title else Space(16)
    inset = 8.0 if isinstance(dialog.body, VStack) else 24.0
    middle = VStack(body, pad=(inset, 4, inset, 8), weight=1) if body else None
    return Surface(VStack(title, middle, buttons), "surface", radius=24)


def place_menu(scene: PhoneScene, menu: Menu, room: Box) -> None:
    """A menu below the upper right corner."""
    px = scene.theme.px
    _veil(scene, menu.dismiss, 0)
    rows: list[Widget] = [Item(text, "", handler) for text, handler in menu.items]
    panel = Surface(VStack(*rows, pad=(0, 8, 0, 8)), "container", radius=12)
    width = px(220)
    height = panel.size(scene.theme, width)[1]
    x, y = room[2] - width - px(8), room[1] + px(8)
    scene.touch((x, y, x + width, y + height), modal=True)
    panel.place(scene, x, y, width, height)


def _veil(scene: PhoneScene, dismiss: object, opacity: int) -> None:
    whole = (0, 0, scene.width, scene.height - scene.theme.px(44))
    if opacity:
        scene.rect((0, 0, scene.width, scene.height), "scrim", opacity=opacity)
    scene.touch(whole, tap=dismiss, modal=True)
