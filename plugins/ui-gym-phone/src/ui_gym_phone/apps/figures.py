"""Figures: a line of large digits, and the keys that a person types them with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym_phone.ui.layout import Center, Size, Surface, Tap, Widget
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Icon, Text

STYLES = ("display", "headline", "title", "body")


class Figures(Widget):
    """A line in the first of some text styles in which it fits; in the last it is wrapped."""

    def __init__(
        self,
        text: str,
        colour: str = "text",
        *,
        styles: Sequence[str] = STYLES,
        align: str = "start",
        id: str = "",
        weight: int = 0,
    ) -> None:
        self.text, self.weight = text, weight
        self.options = [
            Text(text, style, colour, align=align, id=id) for style in styles
        ]  # fmt: skip

    def _chosen(self, theme: Theme, width: int) -> Text:
        for option in self.options:
            free = Text(self.text, option.style, lines=1)
            if free.size(theme, 100_000)[0] <= width:
                return option
        return self.options[-1]

    def measure(self, theme: Theme, width: int) -> Size:
        return self._chosen(theme, width).size(theme, width)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        self._chosen(scene.theme, width).place(scene, x, y, width, height)


@dataclass(frozen=True)
class KeypadKey:
    """A key of a keypad: a label or an icon, and what it is called aloud."""

    label: str
    on_tap: Handler
    desc: str = ""
    icon: str = ""
    ground: str = "container"
    ink: str = "text"
    id: str = ""


class Keypad(Widget):
    """Rows of keys that share all of the height that is left, up to `cell` dp each."""

    def __init__(
        self,
        rows: Sequence[Sequence[KeypadKey]],
        *,
        cell: float = 72,
        gap: float = 8,
        weight: int = 1,
    ) -> None:
        self.rows, self.cell, self.gap, self.weight = rows, cell, gap, weight

    def measure(self, theme: Theme, width: int) -> Size:
        return width, len(self.rows) * theme.px(self.cell + self.gap) - theme.px(self.gap)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme, px = scene.theme, scene.theme.px
        gap = min(px(self.gap), max(px(2), height // (len(self.rows) * 6)))
        down = 0 if theme.grid else gap
        tall = min(px(self.cell), (height - down * (len(self.rows) - 1)) // len(self.rows))
        tall = theme.whole(tall)
        top = y + height - tall * len(self.rows) - down * (len(self.rows) - 1)
        for i, row in enumerate(self.rows):
            wide = (width - gap * (len(row) - 1)) // len(row)
            for j, key in enumerate(row):
                left, at = x + j * (wide + gap), top + i * (tall + down)
                self._key(key, tall / px(1)).place(scene, left, at, wide, tall)

    def _key(self, key: KeypadKey, tall: float) -> Widget:
        style = "headline" if tall >= 56 else "title" if tall >= 36 else "small"
        face: Widget = (
            Icon(key.icon, min(24, tall * 0.6), key.ink)
            if key.icon
            else Text(key.label, style, key.ink, lines=1, align="center", tell=False)
        )
        panel = Surface(Center(face), key.ground, radius=min(tall / 2, 28))
        return Tap(panel, key.on_tap, cls="android.widget.Button", text=key.label, desc=key.desc,
                   id=key.id)  # fmt: skip
