"""Lists: rows of which only those on the screen are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme

Row = tuple[Hashable, Callable[[], Widget]]
"""(what kind of row it is, what makes it): rows of one kind are equally high."""


class Lazy(Widget):
    """Rows one below the other; of each kind one is measured, and only those that are within the
    screen are made and placed."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._heights: dict[Hashable, int] = {}

    def measure(self, theme: Theme, width: int) -> Size:
        for kind, make in self.rows:
            if kind not in self._heights:
                self._heights[kind] = make().size(theme, width)[1]
        return width, sum(self._heights[kind] for kind, _ in self.rows)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        self.size(scene.theme, width)
        for kind, make in self.rows:
            high = self._heights[kind]
            if y + high > 0 and y < scene.height:
                make().place(scene, x, y, width, high)
            y += high
