"""Fields: a text field that grows with what is typed."""

from __future__ import annotations

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.layout import Size
from ui_gym_phone.ui.scene import Box, PhoneScene
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.theme import Theme


class Growing(TextField):
    """An unframed text field (give it `lines` of 2) that is one line high while its text is, and
    grows up to `most` lines."""

    most = 5

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        shown = min(self.most, len(self._broken(theme, width - theme.px(8))))
        return width, shown * fonts.line_height(size) + theme.px(16)

    def _paint(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        """While it is typed into, the last of too many lines are seen."""
        left, top, right, bottom = box
        _, size = scene.theme.font(self.style)
        hidden = len(self._broken(scene.theme, right - left)) - self.most
        if not focused or hidden <= 0:
            super()._paint(scene, box, focused)
            return
        with scene.clipped((left, top + scene.theme.px(8), right, bottom)):
            above = hidden * fonts.line_height(size)
            super()._paint(scene, (left, top - above, right, bottom), focused)
