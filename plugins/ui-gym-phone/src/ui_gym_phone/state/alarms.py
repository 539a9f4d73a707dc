"""Alarms: the Clock app's alarms, as typed functions over its database."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from ui_gym_phone.state import databases
from ui_gym_phone.state.databases import text, whole

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = (1 << day for day in range(7))
"""Bits of `Alarm.days`, as DeskClock's column ``daysofweek`` has them."""

_RINGTONE = "content://settings/system/alarm_alert"


@dataclass(frozen=True)
class Alarm:
    """An alarm at a time of day; on the weekdays of the bits `days`, or once if there are none."""

    id: int
    hour: int
    minute: int
    label: str = ""
    days: int = 0
    enabled: bool = True
    vibrate: bool = True


def add(
    phone: Phone,
    hour: int,
    minute: int,
    label: str = "",
    *,
    days: int = 0,
    enabled: bool = True,
    vibrate: bool = True,
) -> int:
    """Set an alarm; returns its id."""
    alarm = Alarm(0, hour, minute, label, days, enabled, vibrate)
    id = databases.insert(_db(phone), "alarm_templates", ringtone=_RINGTONE, **_cells(alarm))
    _schedule(phone, replace(alarm, id=id))
    return id


def all(phone: Phone) -> list[Alarm]:
    """Every alarm, by its time of day."""
    rows = _db(phone).execute(
        "SELECT _id, hour, minutes, label, daysofweek, enabled, vibrate FROM alarm_templates"
    )
    found = [
        Alarm(
            whole(id), min(23, max(0, whole(hour))), min(59, max(0, whole(minute))), text(label),
            whole(days) & 127, bool(whole(enabled)), bool(whole(vibrate)),
        )
        for id, hour, minute, label, days, enabled, vibrate in rows
    ]  # fmt: skip
    return sorted(found, key=lambda a: (a.hour, a.minute, a.id))


def get(phone: Phone, id: int) -> Alarm | None:
    """The alarm of this id."""
    return next((a for a in all(phone) if a.id == id), None)


def update(phone: Phone, alarm: Alarm) -> None:
    """Write all of an alarm that is there: take it from `get`, and `dataclasses.replace` it."""
    databases.update(_db(phone), "alarm_templates", alarm.id, **_cells(alarm))
    _schedule(phone, alarm)


def delete(phone: Phone, id: int) -> None:
    """Delete an alarm."""
    _db(phone).execute("DELETE FROM alarm_templates WHERE _id = ?", [id])


def next_ms(phone: Phone, alarm: Alarm) -> int | None:
    """When it rings next, in milliseconds since 1970; None if it is off."""
    if not alarm.enabled:
        return None
    now = phone.clock.local.replace(tzinfo=None)
    at = now.replace(hour=alarm.hour, minute=alarm.minute, second=0, microsecond=0)
    if at <= now:
        at += timedelta(days=1)
    while alarm.days and not alarm.days >> at.weekday() & 1:
        at += timedelta(days=1)
    return phone.clock.to_ms(at)


def _schedule(phone: Phone, alarm: Alarm) -> None:
    """Keep the one instance that DeskClock has of an alarm that is on."""
    db = _db(phone)
    db.execute("DELETE FROM alarm_instances WHERE alarm_id = ?", [alarm.id])
    when = next_ms(phone, alarm)
    if when is None:
        return
    at = phone.clock.of(when)
    databases.insert(
        db, "alarm_instances", year=at.year, month=at.month - 1, day=at.day, hour=alarm.hour,
        minutes=alarm.minute, vibrate=int(alarm.vibrate), label=alarm.label, ringtone=_RINGTONE,
        alarm_state=0, alarm_id=alarm.id,
    )  # fmt: skip


def _cells(alarm: Alarm) -> dict[str, object]:
    """What its row holds."""
    return {
        "hour": alarm.hour, "minutes": alarm.minute, "daysofweek": alarm.days,
        "enabled": int(alarm.enabled), "vibrate": int(alarm.vibrate), "label": alarm.label,
    }  # fmt: skip


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("alarms.db")
