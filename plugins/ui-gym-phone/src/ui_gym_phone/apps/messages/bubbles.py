"""Bubbles: how messages lie in a conversation."""

from __future__ import annotations

from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.page import Scroll
from ui_gym_phone.ui.scene import Scene
from ui_gym_phone.ui.theme import Look


class Beside(Widget):
    """A child that takes up to a share of the width, at the left, or at the `end`."""

    def __init__(self, child: Widget, share: float = 0.78, *, end: bool = False) -> None:
        self.child, self.share, self.end = child, share, end

    def measure(self, look: Look, width: int) -> Size:
        return width, self.child.size(look, round(width * self.share))[1]

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        w = self.child.size(scene.look, round(width * self.share))[0]
        self.child.place(scene, x + width - w if self.end else x, y, w, height)


class FromBottom(Scroll):
    """A scrolled child that lies at the bottom where there is room above it."""

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        whole = self.child.size(scene.look, width)[1] + scene.look.px(self.tail)
        above = max(0, height - whole)
        super().place(scene, x, y + above, width, height - above)
