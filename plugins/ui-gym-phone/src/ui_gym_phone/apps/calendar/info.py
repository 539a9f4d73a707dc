"""One event, as it was written down."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.calendar.app import APP, COLOUR, EDIT, INFO
from ui_gym_phone.apps.calendar.spans import REMINDERS, when_text
from ui_gym_phone.state import calendar
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView, confirm
from ui_gym_phone.ui.widgets import Empty, Icon, IconButton, Text


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
