"""The calendar as a list, as a month and as a day."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial

from ui_gym_phone.apps.calendar.app import APP, EDIT, MAIN
from ui_gym_phone.apps.calendar.day import day_view
from ui_gym_phone.apps.calendar.month import month_view
from ui_gym_phone.apps.calendar.schedule import schedule
from ui_gym_phone.apps.dates import month_of, today
from ui_gym_phone.apps.pickers import date_dialog, pick_date
from ui_gym_phone.state.phone import DENSITY
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Size, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, fab, tabs
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Icon, IconButton, Text

VIEWS = ("Schedule", "Day", "Month")


@APP.screen(MAIN)
def main(ui: Ui) -> AppPage:
    """One of the views, around the day that ``ui.state["day"]`` holds."""
    view = int(ui.state.get("view", 0))
    day = date.fromisoformat(ui.state.setdefault("day", today(ui.phone).isoformat()))
    names = [(name, partial(_view, ui, i)) for i, name in enumerate(VIEWS)]
    draw = (schedule, day_view, partial(month_view, on_day=partial(_show_day, ui)))[view]
    page = draw(ui, day)
    # An event that is added while a day is looked at is meant for that day.
    new = partial(ui.open, EDIT, **({"day": day.isoformat()} if view else {}))
    dialog = date_dialog(ui, "go", partial(_go, ui), "Go to date") if ui.dialog == "go" else None
    return AppPage(
        VStack(tabs(names, view), page), bar=_bar(ui, view, day),
        fab=fab("plus", "New event", new), dialog=dialog,
    )  # fmt: skip


def _bar(ui: Ui, view: int, day: date) -> Widget:
    """The month, which opens a date picker, arrows, and the way back to today."""
    now = today(ui.phone)
    small = ui.phone.width < 300 * DENSITY
    name = f"{day:%b}" if small or day.year != now.year else f"{day:%B}"
    name += "" if day.year == now.year else f" {day.year}"

    def ask() -> None:
        pick_date(ui, "go", day)
        ui.ask("go")

    title = Tap(_Title(name), ask, text=name, desc="Go to date", weight=1,
                cls="android.widget.Button")  # fmt: skip
    what = "month" if view == 2 else "day"
    arrows: list[Widget] = []
    if view:
        arrows = [
            IconButton("chevron-left", f"Previous {what}", partial(_turn, ui, -1)),
            IconButton("chevron-right", f"Next {what}", partial(_turn, ui, 1)),
        ]
    home = IconButton("calendar-today", "Today", partial(_go, ui, now))
    return HStack(title, *arrows, home, pad=(16, 8, 4, 4))


class _Title(Widget):
    """The month, and close behind it the arrow that says it opens something."""

    def __init__(self, name: str) -> None:
        self.text, self.arrow = Text(name, "title", lines=1, tell=False), Icon("chevron-down", 20)

    def measure(self, theme: Theme, width: int) -> Size:
        return width, max(theme.px(48), self.text.size(theme, width)[1])

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        side = scene.theme.px(24)
        w, h = self.text.size(scene.theme, width - side)
        self.text.place(scene, x, y + (height - h) // 2, w, h)
        self.arrow.place(scene, x + w, y + (height - side) // 2, side, side)


def _view(ui: Ui, view: int) -> None:
    ui.state["view"] = view


def _go(ui: Ui, day: date) -> None:
    ui.state["day"] = day.isoformat()
    for key in ("schedule", "day"):
        ui.activity.scroll.pop(key, None)
    ui.state.pop("earlier", None)


def _show_day(ui: Ui, day: date) -> None:
    _go(ui, day)
    ui.state["view"] = 1


def _turn(ui: Ui, by: int) -> None:
    day = date.fromisoformat(ui.state["day"])
    if ui.state.get("view") == 1:
        _go(ui, day + timedelta(days=by))
        return
    month = month_of(day, by)
    last = (month_of(month, 1) - timedelta(days=1)).day
    _go(ui, month.replace(day=min(day.day, last)))
