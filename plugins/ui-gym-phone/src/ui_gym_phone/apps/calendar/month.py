"""A month's page, with what lies on each day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

from ui_gym_phone.apps.calendar.app import COLOUR, INK
from ui_gym_phone.apps.calendar.spans import on_days
from ui_gym_phone.apps.dates import today, weeks
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import GridLayout, Size, VStack, Widget
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Text


def month_view(ui: Ui, day: date, on_day: Callable[[date], None]) -> Widget:
    """The month of `day`; touching a day opens it."""
    days = weeks(day)
    found = on_days(ui.phone, days[0], days[-1])
    now = today(ui.phone)
    heads = [Text(name, "tiny", "dim", align="center", tell=False) for name in "SMTWTFS"]
    cells = [
        _Cell(one, found.get(one, []), one.month == day.month, one == now, partial(on_day, one))
        for one in days
    ]
    return VStack(GridLayout(*heads, columns=7, pad=(4, 8, 4, 2)), _Weeks(cells), weight=1)


class _Weeks(Widget):
    """The cells, seven in a row, over all the room there is."""

    weight = 1

    def __init__(self, cells: list[_Cell]) -> None:
        self.cells = cells

    def measure(self, theme: Theme, width: int) -> Size:
        return width, 0

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        rows = len(self.cells) // 7
        edge = scene.theme.px(1)
        for i, cell in enumerate(self.cells):
            row, column = divmod(i, 7)
            left, right = x + width * column // 7, x + width * (column + 1) // 7
            top, bottom = y + height * row // rows, y + height * (row + 1) // rows
            if column == 0:
                scene.rect((x, top, x + width, top + edge), "divider")
            cell.place(scene, left, top + edge, right - left, bottom - top - edge)


class _Cell(Widget):
    """A day: its number, and as many of its events' titles as there is room for."""

    def __init__(
        self, day: date, events: list[CalendarEvent], within: bool, now: bool, on_tap: Handler
    ) -> None:
        self.day, self.events, self.within, self.now = day, events, within, now
        self.on_tap = on_tap

    def measure(self, theme: Theme, width: int) -> Size:
        return width, 0

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        px = scene.theme.px
        box = (x, y, x + width, y + height)
        titles = ", ".join(event.title for event in self.events)
        desc = f"{self.day.day} {self.day:%B}" + (f": {titles}" if titles else "")
        with (
            scene.node("android.view.View", box, text=str(self.day.day), desc=desc,
                       clickable=True, selected=self.now),
            scene.clipped(box),
        ):  # fmt: skip
            face, size = scene.theme.font("caption")
            step = fonts.line_height(size)
            number = str(self.day.day)
            w = fonts.text_width(number, face, size)
            ink = "text" if self.within else "disabled"
            if self.now:
                side = step + px(4)
                left = x + (width - side) // 2
                scene.rect((left, y, left + side, y + side), "primary", side // 2)
                ink = "on_primary"
            scene.text(x + (width - w) // 2, y + px(2), number, face, size, ink, w)
            self._titles(scene, x, y + step + px(6), width, y + height)
        scene.touch(box, tap=self.on_tap)

    def _titles(self, scene: PhoneScene, x: int, y: int, width: int, bottom: int) -> None:
        px = scene.theme.px
        face, size = scene.theme.font("tiny")
        step = fonts.line_height(size) + px(2)
        room = max(0, (bottom - y) // (step + px(1)))
        shown = self.events if len(self.events) <= room else self.events[: max(0, room - 1)]
        inner = width - px(6)
        for event in shown:
            scene.rect((x + px(1), y, x + width - px(1), y + step), COLOUR, px(3))
            text = _cut(event.title or "(No title)", face, size, inner)
            w = fonts.text_width(text, face, size)
            scene.text(x + px(3), y + px(1), text, face, size, INK, w)
            y += step + px(1)
        left = len(self.events) - len(shown)
        if left and room:
            more = f"+{left}"
            w = fonts.text_width(more, face, size)
            scene.text(x + px(3), y + px(1), more, face, size, "dim", w)
        elif left:
            side, middle = px(4), x + width // 2
            scene.rect((middle - side // 2, bottom - side - 1, middle + side // 2, bottom - 1),
                       "primary", side // 2)  # fmt: skip


def _cut(text: str, face: str, size: int, width: int) -> str:
    """As much of a title as fits: a narrow cell has no room for an ellipsis."""
    while text and fonts.text_width(text, face, size) > width:
        text = text[:-1]
    return text
