"""A day, hour by hour."""

from __future__ import annotations

from datetime import date
from functools import partial

from ui_gym_phone.apps.calendar.app import COLOUR, EDIT, INFO, INK
from ui_gym_phone.apps.calendar.spans import hours_text, on_days
from ui_gym_phone.apps.dates import midnight, time_text, today
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.state.phone import DENSITY
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Size, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Divider, Text

HOUR = 56.0
"""dp of an hour."""

MARGIN = 62.0
"""dp at the left, where the hours are told."""

MORNING = 7.5
"""The hour at which a day is first looked at."""


def day_view(ui: Ui, day: date) -> Widget:
    """The events of `day`; touching an empty hour begins a new one there."""
    events = on_days(ui.phone, day, day).get(day, [])
    whole = [event for event in events if event.all_day]
    timed = [event for event in events if not event.all_day]
    now = day == today(ui.phone)
    head = HStack(
        Surface(
            VStack(Text(f"{day:%a}", "caption", "primary" if now else "dim", align="center"),
                   Text(str(day.day), "title", "primary" if now else "text", align="center")),
            "", width=MARGIN - 8,
        ),
        Expand(VStack(*(_bar(ui, event) for event in whole), gap=4)),
        gap=8, pad=(0, 8, 16, 8),
    )  # fmt: skip
    ui.activity.scroll.setdefault("day", round(MORNING * HOUR * DENSITY))
    return VStack(head, Divider(), ScrollView(ui, "day", _Hours(ui, day, timed), tail=40), weight=1)


def _bar(ui: Ui, event: CalendarEvent) -> Widget:
    face = Surface(Text(event.title or "(No title)", "label", INK, lines=1), COLOUR,
                   radius=6, pad=(10, 5, 10, 5))  # fmt: skip
    return Tap(face, partial(ui.open, INFO, id=event.id), desc=f"{event.title}, All day")


class _Hours(Widget):
    """Lines for the hours, and the events between them; those at one time stand side by side."""

    def __init__(self, ui: Ui, day: date, events: list[CalendarEvent]) -> None:
        self.ui, self.day, self.events = ui, day, events

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.px(24 * HOUR) + theme.px(16)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        px = scene.theme.px
        left, right, y = x + px(MARGIN), x + width - px(12), y + px(10)
        face, size = scene.theme.font("tiny")
        for hour in range(24):
            top = y + px(hour * HOUR)
            told = time_text(self.ui.phone, hour, 0)
            told = told.replace(":00", "") if " " in told else told
            scene.rect((left, top, right, top + px(1)), "divider")
            w = fonts.text_width(told, face, size)
            under = top - fonts.line_height(size) // 2
            scene.text(left - px(8) - w, under, told, face, size, "dim", w)
            box = (left, top, right, top + px(HOUR))
            desc = f"New event at {time_text(self.ui.phone, hour, 0)}"
            scene.leaf("android.view.View", box, desc=desc, clickable=True)
            scene.touch(box, tap=partial(self.ui.open, EDIT, day=self.day.isoformat(), hour=hour))
        for event, lane, lanes in _lanes(self.events):
            self._event(scene, event, y, left + (right - left) * lane // lanes,
                        left + (right - left) * (lane + 1) // lanes)  # fmt: skip
        if self.day == today(self.ui.phone):
            clock = self.ui.phone.clock.local
            at = y + px((clock.hour + clock.minute / 60) * HOUR)
            scene.rect((left - px(4), at - px(4), left + px(4), at + px(4)), "error", px(4))
            scene.rect((left, at - px(1), right, at + px(1)), "error")

    def _event(
        self, scene: PhoneScene, event: CalendarEvent, y: int, left: int, right: int
    ) -> None:
        px, ui = scene.theme.px, self.ui
        begin = midnight(ui.phone, self.day)
        first = max(0.0, (event.start_ms - begin) / 3_600_000)
        last = min(24.0, max((event.end_ms - begin) / 3_600_000, first + 0.5))
        box = (left + px(1), y + px(first * HOUR) + px(1), right - px(2), y + px(last * HOUR) - 1)
        high = box[3] - box[1]
        lines: list[Widget] = [Text(event.title or "(No title)", "label", INK, lines=1)]
        if high >= px(52) * scene.theme.font_scale:
            lines.append(Text(hours_text(ui.phone, event), "caption", INK, lines=1))
        if event.location and high >= px(72) * scene.theme.font_scale:
            lines.append(Text(event.location, "caption", INK, lines=1))
        pad = 6.0 if high >= px(40) * scene.theme.font_scale else 2.0
        card = Tap(
            Surface(VStack(*lines), COLOUR, radius=6, pad=(8, pad, 8, 2)),
            partial(ui.open, INFO, id=event.id),
            desc=f"{event.title}, {hours_text(ui.phone, event)}",
        )  # fmt: skip
        with scene.clipped(box):
            card.place(scene, box[0], box[1], box[2] - box[0], high)


def _lanes(events: list[CalendarEvent]) -> list[tuple[CalendarEvent, int, int]]:
    """(event, its lane, how many lanes there are beside each other) of each."""
    placed: list[tuple[CalendarEvent, int, int]] = []
    cluster: list[tuple[CalendarEvent, int]] = []
    ends: list[int] = []

    def close() -> None:
        placed.extend((event, lane, len(ends)) for event, lane in cluster)
        cluster.clear()
        ends.clear()

    for event in events:
        if ends and event.start_ms >= max(ends):
            close()
        end = max(event.end_ms, event.start_ms + 1_800_000)  # none is drawn shorter
        lane = next((i for i, until in enumerate(ends) if until <= event.start_ms), len(ends))
        if lane == len(ends):
            ends.append(end)
        else:
            ends[lane] = end
        cluster.append((event, lane))
    close()
    return placed
