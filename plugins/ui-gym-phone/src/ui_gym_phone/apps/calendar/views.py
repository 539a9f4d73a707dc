"""Views: what comes day by day, a day hour by hour, and a month's page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from ui_gym_phone.apps.calendar.app import COLOUR, EDIT, INFO, INK
from ui_gym_phone.apps.calendar.spans import hours_text, on_days
from ui_gym_phone.apps.dates import midnight, time_text, today, weeks
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.state.display import display
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Expand,
    Fitting,
    GridLayout,
    HStack,
    Size,
    Surface,
    Tap,
    VStack,
    Widget,
)
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Button, Divider, Empty, Text

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
    rows: list[Widget] = [Fitting(more)]
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
    place = Fitting(Text(event.location, "small", INK, lines=1)) if event.location else None
    texts = VStack(
        Text(event.title or "(No title)", "label", INK, lines=2),
        Text(hours_text(ui.phone, event), "small", INK, lines=2),
        place, gap=1,
    )  # fmt: skip
    told = "" if ui.grid else f"{event.title}, {day:%A} {day.day} {day:%B}"
    return Tap(Surface(texts, COLOUR, radius=10, pad=(12, 8, 12, 8)),
               partial(ui.open, INFO, id=event.id), desc=told)  # fmt: skip


# -- a day, hour by hour --


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
    ui.activity.scroll.setdefault("day", round(MORNING * HOUR * display(ui.phone).density))
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


# -- a month's page --


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
