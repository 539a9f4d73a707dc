"""Bubbles: how messages lie in a conversation."""

from __future__ import annotations

from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme


class Beside(Widget):
    """A child that takes up to a share of the width, at the left, or at the `end`."""

    def __init__(self, child: Widget, share: float = 0.78, *, end: bool = False) -> None:
        self.child, self.share, self.end = child, share, end

    def measure(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, round(width * self.share))[1]

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        w = self.child.size(scene.theme, round(width * self.share))[0]
        self.child.place(scene, x + width - w if self.end else x, y, w, height)


class FromBottom(ScrollView):
    """A scrolled child that lies at the bottom where there is room above it."""

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        whole = self.child.size(scene.theme, width)[1] + scene.theme.px(self.tail)
        above = max(0, height - whole)
        super().place(scene, x, y + above, width, height - above)
