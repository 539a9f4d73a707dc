"""Spans: on which days an event lies, and how its time is told."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

from ui_gym_phone.apps.dates import (
    EARLIEST_MS,
    LATEST_MS,
    day_text,
    midnight,
    moment,
    time_of,
    today,
)
from ui_gym_phone.state import calendar
from ui_gym_phone.state.calendar import CalendarEvent
from ui_gym_phone.state.phone import Phone

UTC = timezone.utc  # noqa: UP017 - as the clock has it
DAY_MS = 86_400_000

REMINDERS = {
    -1: "No notification",
    0: "At the time of the event",
    5: "5 minutes before",
    10: "10 minutes before",
    15: "15 minutes before",
    30: "30 minutes before",
    60: "1 hour before",
    1440: "1 day before",
}
"""Minutes before an event, and what that is called."""


def utc_ms(day: date) -> int:
    """Midnight UTC, where Android keeps days that last all day."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def _utc_day(ms: int) -> date:
    return datetime.fromtimestamp(min(max(ms, EARLIEST_MS), LATEST_MS) / 1000, UTC).date()


def days_of(phone: Phone, event: CalendarEvent) -> tuple[date, date]:
    """The first and the last day on which an event lies."""
    if event.all_day:
        return _utc_day(event.start_ms), _utc_day(max(event.start_ms, event.end_ms - 1))
    last_ms = max(event.start_ms, event.end_ms - 1)
    return moment(phone, event.start_ms).date(), moment(phone, last_ms).date()


def on_days(phone: Phone, first: date, last: date) -> dict[date, list[CalendarEvent]]:
    """The events of each day of a span, those that last all day first."""
    found: dict[date, list[CalendarEvent]] = {}
    begin = midnight(phone, first) - DAY_MS  # a day in UTC may begin a day before it does here
    end = midnight(phone, last + timedelta(days=1)) + DAY_MS
    events = phone.databases.derived("calendar.db", "events", lambda: calendar.events(phone))
    for event in events:
        if event.start_ms >= end or max(event.end_ms, event.start_ms + 1) <= begin:
            continue
        day, until = days_of(phone, event)
        day = max(day, first)
        while day <= min(until, last):
            found.setdefault(day, []).append(event)
            day += timedelta(days=1)
    for on_day in found.values():
        on_day.sort(key=lambda e: (not e.all_day, e.start_ms, e.end_ms, e.id))
    return found


def hours_text(phone: Phone, event: CalendarEvent) -> str:
    """``All day``, or ``15:00 – 16:00``."""
    if event.all_day:
        return "All day"
    first, last = days_of(phone, event)
    begin, end = time_of(phone, event.start_ms), time_of(phone, event.end_ms)
    if first == last:
        return f"{begin} – {end}" if event.end_ms > event.start_ms else begin
    now = today(phone)
    return f"{day_text(first, now)}, {begin} – {day_text(last, now)}, {end}"


def when_text(phone: Phone, event: CalendarEvent) -> str:
    """The days and the hours of an event."""
    first, last = days_of(phone, event)
    long = f"{first:%A, %B} {first.day}, {first.year}"
    if event.all_day:
        until = "" if first == last else f" – {last:%A, %B} {last.day}, {last.year}"
        return long + until
    return f"{long}\n{hours_text(phone, event)}" if first == last else hours_text(phone, event)
