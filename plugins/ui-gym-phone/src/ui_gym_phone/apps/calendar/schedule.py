"""The list of what comes, day by day."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial

from ui_gym_phone.apps.calendar.app import COLOUR, INFO, INK
from ui_gym_phone.apps.calendar.spans import hours_text, on_days
from ui_gym_phone.apps.dates import today
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.widgets import Button, Empty, Text

AHEAD, BACK = 366, 92
"""How many days are listed from the chosen one on, and before it when asked for."""

MOST = 60
"""Days with events that are listed."""


def schedule(ui: Ui, day: date) -> Widget:
    """The days from `day` on that have events; earlier ones are added when asked for."""
    earlier = int(ui.state.get("earlier", 0))
    first = day - timedelta(days=BACK * earlier)
    found = on_days(ui.phone, first, day + timedelta(days=AHEAD))
    more = HStack(Button("Show earlier events", ui.setter("earlier", earlier + 1), style="text"),
                  pad=(64, 0, 16, 0))  # fmt: skip
    rows: list[Widget] = [more]
    month = (today(ui.phone).year, today(ui.phone).month)
    for one in sorted(found)[:MOST]:
        if (one.year, one.month) != month:
            month = (one.year, one.month)
            rows.append(HStack(Text(f"{one:%B} {one.year}", "subtitle"), pad=(80, 16, 16, 4)))
        rows.append(_day(ui, one, found[one]))
    if not found:
        rows.append(Empty("calendar-blank", "Nothing planned"))
    return ScrollView(ui, "schedule", VStack(*rows), tail=88)


def _day(ui: Ui, day: date, events: list[CalendarEvent]) -> Widget:
    now = day == today(ui.phone)
    ink = "primary" if now else "text"
    label = VStack(
        Text(f"{day:%a}", "caption", "primary" if now else "dim", lines=1, align="center"),
        Text(str(day.day), "title", ink, lines=1, align="center"),
    )
    cards = [_event(ui, day, event) for event in events]
    return HStack(Surface(label, "", width=56), Expand(VStack(*cards, gap=6)), gap=8,
                  pad=(8, 6, 16, 6), align="start")  # fmt: skip


def _event(ui: Ui, day: date, event: CalendarEvent) -> Widget:
    place = Text(event.location, "small", INK, lines=1) if event.location else None
    texts = VStack(
        Text(event.title or "(No title)", "label", INK, lines=2),
        Text(hours_text(ui.phone, event), "small", INK, lines=2),
        place, gap=1,
    )  # fmt: skip
    told = f"{event.title}, {day:%A} {day.day} {day:%B}"
    return Tap(Surface(texts, COLOUR, radius=10, pad=(12, 8, 12, 8)),
               partial(ui.open, INFO, id=event.id), desc=told)  # fmt: skip
