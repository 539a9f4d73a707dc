"""Ringing: the notifications of alarms whose time has come, and of timers that have ended.

What rings is told by the alarms' database and by the timers themselves: a phone that is restored
from a snapshot rings as the one did that was saved.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from ui_gym_phone.apps.clock import records, timer
from ui_gym_phone.apps.clock.records import PACKAGE, Timer
from ui_gym_phone.apps.dates import time_of
from ui_gym_phone.state import alarms
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.databases import text, whole
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.notices import URGENT

MAIN = "com.android.deskclock.DeskClock"
DATABASE = "alarms.db"

SILENT, SNOOZED, RINGING, MISSED = 0, 4, 5, 6
"""States of an instance of an alarm, as DeskClock's column ``alarm_state`` has them."""

SILENCED_MS = SNOOZE_MS = 600_000
"""After ten minutes an alarm gives up; for so long it is put off."""

ALARMS, MISSES, TIMERS = "Firing", "Missed", "Timers"
"""Channels of the notifications."""
_FIRST_TIMER = 10_000
"""The id of the notification of timer 0: alarms' are those of their instances."""


@dataclass(frozen=True)
class AlarmInstance:
    """When an alarm rings next; `alarm` is the id of the alarm."""

    id: int
    ms: int
    label: str
    state: int
    alarm: int


def go_on(phone: Phone) -> None:
    """Let ring what should, and end what was dealt with elsewhere."""
    _go_on_timers(phone)
    if phone.databases.used(DATABASE):
        _go_on_alarms(phone)


def _keep(phone: Phone, channel: str, wanted: dict[int, Callable[[], Notification]]) -> None:
    """Post the notifications of these ids, and take others of the channel away."""
    posted = {n.id: n for n in phone.notifications if n.package == PACKAGE and n.channel == channel}
    for id in posted.keys() - wanted.keys():
        phone.cancel(posted[id].key)
    for id in sorted(wanted.keys() - posted.keys()):
        phone.awake = True
        phone.notify(wanted[id]())


# -- timers --


def _go_on_timers(phone: Phone) -> None:
    now = phone.clock.uptime_ms
    over = [t for t in records.timers(phone) if t.ends is not None and t.remaining(now) <= 0]
    _keep(phone, TIMERS, {_FIRST_TIMER + t.id: partial(_timer_notice, phone, t) for t in over})


def _timer_notice(phone: Phone, ended: Timer) -> Notification:
    target = (MAIN, {"action": "android.intent.action.SHOW_TIMERS"})
    return Notification(
        PACKAGE, _FIRST_TIMER + ended.id, "Time's up", timer.name_of(ended), phone.clock.ms,
        channel=TIMERS, ongoing=True, target=target,
    )  # fmt: skip


def _timer_buttons(phone: Phone, one: Notification) -> list[tuple[str, Callable[[], None]]]:
    id = one.id - _FIRST_TIMER

    def change(to: Callable[[Timer], Timer]) -> None:
        changed = [to(t) if t.id == id else t for t in records.timers(phone)]
        records.set_timers(phone, changed)
        phone.cancel(one.key)

    now = phone.clock.uptime_ms
    return [
        ("Stop", partial(change, Timer.reset)),
        ("Add 1 min", partial(change, lambda t: timer.longer(t, now))),
    ]


# -- alarms --


def instances(phone: Phone) -> list[AlarmInstance]:
    """Every instance that is a time, the first one first."""
    db = phone.databases.connection(DATABASE)
    rows = db.execute(
        "SELECT _id, year, month, day, hour, minutes, label, alarm_state, alarm_id"
        " FROM alarm_instances"
    ).fetchall()
    found = []
    for id, year, month, day, hour, minute, label, state, alarm in rows:
        try:
            at = datetime(whole(year), whole(month) + 1, whole(day), whole(hour), whole(minute))
            ms = phone.clock.to_ms(at)
        except (ValueError, OverflowError, OSError):  # a shell may have written anything
            continue
        found.append(AlarmInstance(whole(id), ms, text(label), whole(state), whole(alarm)))
    return sorted(found, key=lambda one: (one.ms, one.id))


def _go_on_alarms(phone: Phone) -> None:
    ringing: dict[int, Callable[[], Notification]] = {}
    known = phone.databases.derived(DATABASE, f"instances {phone.clock.offset_minutes}",
                                    partial(instances, phone))  # fmt: skip
    for one in known:
        since = phone.clock.ms - one.ms
        if one.state in (SILENT, SNOOZED) and 0 <= since < SILENCED_MS:
            _set_state(phone, one, RINGING)
            ringing[one.id] = partial(_alarm_notice, phone, one)
        elif one.state == RINGING and 0 <= since < SILENCED_MS:
            ringing[one.id] = partial(_alarm_notice, phone, one)
        elif one.state == RINGING and since >= SILENCED_MS:
            _set_state(phone, one, MISSED)
            phone.notify(replace(_alarm_notice(phone, one), title="Missed alarm", channel=MISSES,
                                 tag="missed", ongoing=False))  # fmt: skip
    _keep(phone, ALARMS, ringing)


def _alarm_notice(phone: Phone, one: AlarmInstance) -> Notification:
    time = time_of(phone, one.ms)
    told = f"{time} · {one.label}" if one.label else time
    target = (MAIN, {"action": "android.intent.action.SHOW_ALARMS"})
    return Notification(PACKAGE, one.id, "Alarm", told, phone.clock.ms, channel=ALARMS,
                        ongoing=True, target=target)  # fmt: skip


def _set_state(phone: Phone, one: AlarmInstance, state: int) -> None:
    _db(phone).execute("UPDATE alarm_instances SET alarm_state = ? WHERE _id = ?", [state, one.id])


def _alarm_buttons(phone: Phone, notice: Notification) -> list[tuple[str, Callable[[], None]]]:
    one = next((found for found in instances(phone) if found.id == notice.id), None)
    if one is None:
        return []
    return [
        ("Snooze", partial(_snooze, phone, one, notice)),
        ("Dismiss", partial(_dismiss, phone, one, notice)),
    ]


def _snooze(phone: Phone, one: AlarmInstance, notice: Notification) -> None:
    at = phone.clock.of(phone.clock.ms + SNOOZE_MS)
    _db(phone).execute(
        "UPDATE alarm_instances SET alarm_state = ?, year = ?, month = ?, day = ?, hour = ?,"
        " minutes = ? WHERE _id = ?",
        [SNOOZED, at.year, at.month - 1, at.day, at.hour, at.minute, one.id],
    )
    phone.cancel(notice.key)
    phone.say("Snoozing for 10 minutes")


def _dismiss(phone: Phone, one: AlarmInstance, notice: Notification) -> None:
    """One that rings once is off then; one that repeats rings on its next day."""
    alarm = alarms.get(phone, one.alarm)
    if alarm is not None:
        alarms.update(phone, replace(alarm, enabled=bool(alarm.days)))
    phone.cancel(notice.key)


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection(DATABASE)


URGENT[PACKAGE, TIMERS] = _timer_buttons
URGENT[PACKAGE, ALARMS] = _alarm_buttons
