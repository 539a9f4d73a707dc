"""The form in which an event is created or changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import partial

from ui_gym_phone.apps.calendar.app import APP, EDIT
from ui_gym_phone.apps.calendar.spans import REMINDERS, days_of, utc_ms
from ui_gym_phone.apps.dates import day_text, moment, time_text, today
from ui_gym_phone.apps.pickers import date_dialog, pick_date, pick_time, time_dialog
from ui_gym_phone.state import calendar
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, Dialog, ScrollView, choices, discard
from ui_gym_phone.ui.textfield import Growing, TextField
from ui_gym_phone.ui.widgets import (
    Button,
    Divider,
    Icon,
    IconButton,
    Item,
    SwitchItem,
    Text,
)  # fmt: skip

FIELDS = ("title", "location", "description")


@APP.screen(EDIT)
def edit(ui: Ui) -> AppPage:
    """A new event on the extra `day` at the extra `hour`, or with the extra `id` one that exists.

    The extras `title`, `beginTime`, `endTime`, `eventLocation` and `description` of Android's
    insert intent are filled in.
    """
    old = calendar.get(ui.phone, ui.extra_number("id"))
    _begin(ui, old)
    bar = HStack(
        IconButton("close", "Cancel", partial(_leave, ui), colour="text"),
        Space(weight=1),
        Button("Save", partial(_save, ui, old), id="action_done"),
        pad=(4, 8, 16, 8),
    )  # fmt: skip
    all_day = bool(ui.state["all_day"])
    reminder = REMINDERS.get(ui.state["reminder"], f"{ui.state['reminder']} minutes before")
    form = VStack(
        HStack(Growing(ui, "title", "Add title", style="title", lines=2, framed=False, weight=1),
               pad=(52, 0, 16, 8)),
        Divider(),
        SwitchItem("All-day", all_day, lambda on: ui.state.update(all_day=on),
                   icon="clock-outline", id="is_all_day"),
        _moment(ui, "start", all_day), _moment(ui, "end", all_day), Divider(),
        Item(reminder, "", partial(ui.ask, "reminder"), icon="bell-outline", id="reminder"),
        Divider(),
        _line("map-marker", TextField(ui, "location", "Add location", framed=False, id="location")),
        Divider(),
        _line("text", Growing(ui, "description", "Add description", lines=2, framed=False)),
        Space(24),
    )  # fmt: skip
    return AppPage(ScrollView(ui, "form", form), bar=bar, dialog=_dialog(ui))


def _line(icon: str, field: Widget) -> Widget:
    return HStack(Icon(icon, 24, "dim"), Expand(field), gap=12, pad=(16, 8, 16, 8))


def _begin(ui: Ui, old: CalendarEvent | None) -> None:
    """Fill the form in when it is first seen."""
    if "start" in ui.state:
        return
    start, end = _times(ui, old)
    reminder = old.reminders[0] if old and old.reminders else -1 if old else 30
    all_day = old.all_day if old else ui.extra("allDay").lower() == "true"
    ui.state.update(
        start=start.isoformat(), end=end.isoformat(), reminder=reminder, all_day=all_day
    )
    ui.fill("title", old.title if old else ui.extra("title"))
    ui.fill("location", old.location if old else ui.extra("eventLocation"))
    ui.fill("description", old.description if old else ui.extra("description"))
    ui.state["before"] = _whole(ui)


def _times(ui: Ui, old: CalendarEvent | None) -> tuple[datetime, datetime]:
    """Where an event begins and ends, as the phone shows it."""
    if old is not None and old.all_day:
        first, last = days_of(ui.phone, old)
        return datetime.combine(first, time(9)), datetime.combine(last, time(10))
    hour = timedelta(hours=1)
    begin = old.start_ms if old else ui.extra_number("beginTime")
    if begin:
        start = moment(ui.phone, begin).replace(tzinfo=None)
        until = old.end_ms if old else ui.extra_number("endTime")
        return start, moment(ui.phone, until).replace(tzinfo=None) if until else start + hour
    start = ui.phone.clock.local.replace(tzinfo=None, minute=0, second=0, microsecond=0) + hour
    try:
        day = date.fromisoformat(ui.extra("day"))
    except ValueError:
        day = start.date()
    at = ui.extra_number("hour", start.hour)
    start = datetime.combine(day, time(at if 0 <= at < 24 else start.hour))
    return start, start + hour


def _whole(ui: Ui) -> list[object]:
    """All that the form holds."""
    return [*(ui.text(key) for key in FIELDS),
            *(ui.state[key] for key in ("start", "end", "all_day", "reminder"))]  # fmt: skip


def _at(ui: Ui, key: str) -> datetime:
    return datetime.fromisoformat(ui.state[key])


# -- times --


def _moment(ui: Ui, key: str, all_day: bool) -> Widget:
    """A line with a day and a time to touch."""
    at, name = _at(ui, key), key.capitalize()
    wrong = key == "end" and _at(ui, "end") < _at(ui, "start")
    ink = "error" if wrong else "text"

    def ask_day() -> None:
        pick_date(ui, "date", at.date())
        ui.ask(f"{key} date")

    def ask_time() -> None:
        pick_time(ui, "time", at.hour, at.minute)
        ui.ask(f"{key} time")

    day = day_text(at.date(), today(ui.phone))
    when = time_text(ui.phone, at.hour, at.minute)
    cells: list[Widget] = [Expand(_cell(day, f"{name} date", ink, ask_day))]
    if not all_day:
        cells.append(_cell(when, f"{name} time", ink, ask_time))
    return HStack(Space(width=40), *cells, pad=(0, 0, 4, 0))


def _cell(shown: str, desc: str, ink: str, on_tap: Callable[[], None]) -> Tap:
    face = HStack(Text(shown, "body", ink, lines=1, tell=False), pad=(16, 13, 12, 13))
    return Tap(face, on_tap, cls="android.widget.Button", text=shown, desc=desc,
               id=desc.lower().replace(" ", "_"))  # fmt: skip


def _set(ui: Ui, key: str, at: datetime) -> None:
    """Set a time; the end keeps its distance when the start moves."""
    if key == "start":
        ui.state["end"] = (_at(ui, "end") + (at - _at(ui, "start"))).isoformat()
    ui.state[key] = at.isoformat()


# -- dialogs, saving --


def _dialog(ui: Ui) -> Dialog | None:
    key, _, what = ui.dialog.partition(" ")
    if what == "date":
        at = _at(ui, key)
        return date_dialog(ui, "date", lambda day: _set(ui, key, datetime.combine(day, at.time())))
    if what == "time":
        day = _at(ui, key).date()
        return time_dialog(
            ui, "time", lambda h, m: _set(ui, key, datetime.combine(day, time(h, m)))
        )
    if key == "reminder":
        options = [(name, ui.setter("reminder", m)) for m, name in REMINDERS.items()]
        minutes = list(REMINDERS)
        chosen = ui.state["reminder"]
        return choices(ui, "Notification", options,
                       minutes.index(chosen) if chosen in minutes else -1)  # fmt: skip
    if key == "discard":
        return discard(ui)
    return None


def _leave(ui: Ui) -> None:
    if _whole(ui) == ui.state["before"]:
        ui.close()
    else:
        ui.ask("discard")


def _save(ui: Ui, old: CalendarEvent | None) -> None:
    start, end = _at(ui, "start"), _at(ui, "end")
    all_day = bool(ui.state["all_day"])
    if end < start and not (all_day and end.date() == start.date()):
        ui.say("The event ends before it starts")
        return
    if all_day:
        first, last = utc_ms(start.date()), utc_ms(end.date() + timedelta(days=1))
    else:
        first, last = ui.phone.clock.to_ms(start), ui.phone.clock.to_ms(end)
    minutes = int(ui.state["reminder"])
    reminders = () if minutes < 0 else (minutes,)
    title, place, words = (ui.text(key).strip() for key in FIELDS)
    title = " ".join(title.split())  # of one line, however it was typed
    if old is not None:
        rest = old.reminders[1:] if reminders else ()
        calendar.update(
            ui.phone,
            replace(old, title=title, start_ms=first, end_ms=last, all_day=all_day,
                    location=place, description=words, reminders=(*reminders, *rest)),
        )  # fmt: skip
        ui.close()
    else:
        calendar.add_event(ui.phone, title, first, last, all_day=all_day, location=place,
                           description=words, reminders=reminders)  # fmt: skip
        ui.close()
    ui.say("Event saved")
