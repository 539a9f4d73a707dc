"""Calendar: events, as typed functions over the calendar provider's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    made = _db(phone).execute(
        "INSERT INTO Events (calendar_id, organizer, isOrganizer) VALUES (1, 'Phone', 1)"
    )
    assert made.lastrowid is not None
    _fill(
        phone,
        CalendarEvent(
            made.lastrowid,
            title,
            start_ms,
            end_ms,
            all_day,
            location,
            description,
            tuple(reminders),
        ),
    )
    return made.lastrowid


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
    db.execute(
        "UPDATE Events SET title = ?, dtstart = ?, dtend = ?, lastDate = ?, allDay = ?,"
        " eventLocation = ?, description = ?, eventTimezone = ?, hasAlarm = ? WHERE _id = ?",
        [
            event.title, event.start_ms, event.end_ms, event.end_ms, int(event.all_day),
            event.location or None, event.description or None, zone, int(bool(event.reminders)),
            event.id,
        ],
    )  # fmt: skip
    db.execute("DELETE FROM Reminders WHERE event_id = ?", [event.id])
    for minutes in event.reminders:
        db.execute(
            "INSERT INTO Reminders (event_id, minutes, method) VALUES (?, ?, ?)",
            [event.id, minutes, ALERT],
        )


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("calendar.db")
