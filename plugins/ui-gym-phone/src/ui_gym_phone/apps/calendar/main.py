"""The calendar as a list, as a month and as a day; and one event, as it was written down."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial

from ui_gym_phone.apps.calendar.app import APP, COLOUR, EDIT, INFO, MAIN
from ui_gym_phone.apps.calendar.spans import REMINDERS, when_text
from ui_gym_phone.apps.calendar.views import day_view, month_view, schedule
from ui_gym_phone.apps.dates import months_later, today
from ui_gym_phone.apps.pickers import date_dialog, pick_date
from ui_gym_phone.state import calendar
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Size, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm, fab, tabs
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Empty, Icon, IconButton, Text

VIEWS = ("Schedule", "Day", "Month")


@APP.screen(MAIN, "READ_CALENDAR")
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
    small = ui.wide < 300
    name = f"{day:%b}" if small or day.year != now.year else f"{day:%B}"
    name += "" if day.year == now.year else f" {day.year}"

    def ask() -> None:
        pick_date(ui, "go", day)
        ui.ask("go")

    title = Tap(_Title(name), ask, text=name, desc="" if ui.grid else "Go to date", weight=1,
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
    _go(ui, months_later(day, by))


# -- one event --


@APP.screen(INFO)
def info(ui: Ui) -> AppPage:
    """The event of the extra `id`."""
    event = calendar.get(ui.phone, ui.extra_number("id"))
    if event is None:
        return AppPage(Empty("calendar-blank", "This event no longer exists"), back=ui.close)
    actions = [
        IconButton("pencil", "Edit", partial(ui.open, EDIT, id=event.id)),
        IconButton("delete-outline", "Delete", partial(ui.ask, "delete")),
    ]
    mark = Surface(None, COLOUR, radius=4, width=16, height=16)
    head = HStack(Surface(mark, "", pad=(4, 9, 4, 0)),
                  Expand(Text(event.title or "(No title)", "headline", id="title")),
                  gap=16, pad=(16, 8, 16, 8), align="start")  # fmt: skip
    reminders = "\n".join(REMINDERS.get(m, f"{m} minutes before") for m in event.reminders)
    lines = [
        head,
        _line("clock-outline", when_text(ui.phone, event), "when"),
        _line("map-marker", event.location, "location"),
        _line("bell-outline", reminders, "reminders"),
        _line("text", event.description, "description"),
        _line("calendar", "Phone", "calendar"),
    ]

    def delete() -> None:
        calendar.delete(ui.phone, ui.extra_number("id"))
        ui.close()
        ui.say("Event deleted")

    asked = confirm(ui, "Delete this event?", event.title, "Delete", delete)
    return AppPage(
        ScrollView(ui, "event", VStack(*lines), tail=24), back=ui.close, actions=actions,
        dialog=asked if ui.dialog == "delete" else None,
    )  # fmt: skip


def _line(icon: str, text: str, id: str) -> Widget | None:
    if not text:
        return None
    return HStack(Icon(icon, 24, "dim"), Expand(Text(text, id=id)), gap=16, pad=(16, 12, 16, 12),
                  align="start")  # fmt: skip
