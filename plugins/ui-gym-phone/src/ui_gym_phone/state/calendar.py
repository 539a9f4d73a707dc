"""Calendar: events, as typed functions over the calendar provider's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_gym_phone.state import databases
from ui_gym_phone.state.databases import text, whole

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

ALERT = 1
"""`Reminders.METHOD_ALERT`."""


@dataclass(frozen=True)
class CalendarEvent:
    """An event. Times are in milliseconds since 1970; of one that lasts all day they are at
    midnight UTC, as Android keeps them. `reminders` are minutes before it."""

    id: int
    title: str
    start_ms: int
    end_ms: int
    all_day: bool = False
    location: str = ""
    description: str = ""
    reminders: tuple[int, ...] = ()


def add_event(
    phone: Phone,
    title: str,
    start_ms: int,
    end_ms: int,
    *,
    all_day: bool = False,
    location: str = "",
    description: str = "",
    reminders: Sequence[int] = (),
) -> int:
    """Write an event; returns its id."""
    id = databases.insert(_db(phone), "Events", calendar_id=1, organizer="Phone", isOrganizer=1)
    event = CalendarEvent(
        id, title, start_ms, end_ms, all_day, location, description, tuple(reminders)
    )
    _fill(phone, event)
    return id


def events(
    phone: Phone, from_ms: int | None = None, to_ms: int | None = None
) -> list[CalendarEvent]:
    """The events that touch a span of time, the earliest first; None is no limit."""
    db = _db(phone)
    reminders: dict[int, list[int]] = {}
    for event, minutes in db.execute("SELECT event_id, minutes FROM Reminders ORDER BY _id"):
        reminders.setdefault(whole(event), []).append(whole(minutes))
    found = []
    rows = db.execute(
        "SELECT _id, title, dtstart, COALESCE(dtend, dtstart), allDay, eventLocation, description"
        " FROM Events WHERE deleted = 0"
    )
    for id, title, start, end, all_day, place, words in rows:
        event = CalendarEvent(
            whole(id), text(title), whole(start), whole(end), bool(whole(all_day)), text(place),
            text(words), tuple(reminders.get(whole(id), ())),
        )  # fmt: skip
        before = to_ms is not None and event.start_ms >= to_ms
        over = from_ms is not None and max(event.end_ms, event.start_ms + 1) <= from_ms
        if not before and not over:
            found.append(event)
    return sorted(found, key=lambda e: (e.start_ms, e.end_ms, e.id))


def get(phone: Phone, id: int) -> CalendarEvent | None:
    """The event of this id."""
    return next((e for e in events(phone) if e.id == id), None)


def update(phone: Phone, event: CalendarEvent) -> None:
    """Write all of an event that is there: take it from `get`, and `dataclasses.replace` it."""
    if get(phone, event.id) is not None:
        _fill(phone, event)


def delete(phone: Phone, id: int) -> None:
    """Delete an event with its reminders."""
    _db(phone).execute("DELETE FROM Events WHERE _id = ?", [id])


def _fill(phone: Phone, event: CalendarEvent) -> None:
    db = _db(phone)
    zone = "UTC" if event.all_day else phone.properties.get("persist.sys.timezone", "UTC")
    databases.update(
        db, "Events", event.id, title=event.title, dtstart=event.start_ms, dtend=event.end_ms,
        lastDate=event.end_ms, allDay=int(event.all_day), eventLocation=event.location or None,
        description=event.description or None, eventTimezone=zone,
        hasAlarm=int(bool(event.reminders)),
    )  # fmt: skip
    db.execute("DELETE FROM Reminders WHERE event_id = ?", [event.id])
    for minutes in event.reminders:
        databases.insert(db, "Reminders", event_id=event.id, minutes=minutes, method=ALERT)


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("calendar.db")
