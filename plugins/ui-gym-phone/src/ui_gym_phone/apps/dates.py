"""Dates: moments as the phone's apps write them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

FIRST_YEAR, LAST_YEAR = 1900, 2100
EARLIEST_MS, LATEST_MS = -2_208_000_000_000, 4_133_000_000_000
"""What is shown lies between these, a little within the years."""


def twelve_hours(phone: Phone) -> bool:
    """Whether the phone counts hours to twelve, with AM and PM."""
    return phone.setting("system", "time_12_24", "24") == "12"


def time_text(phone: Phone, hour: int, minute: int) -> str:
    """``15:34``, or ``3:34 PM``."""
    if twelve_hours(phone):
        return f"{(hour - 1) % 12 + 1}:{minute:02d} {'PM' if hour >= 12 else 'AM'}"
    return f"{hour:02d}:{minute:02d}"


def moment(phone: Phone, ms: int) -> datetime:
    """A moment in milliseconds since 1970, as the phone shows it; of one outside of the years
    1900 to 2100, which a shell may have written, the nearest within."""
    return phone.clock.of(min(max(ms, EARLIEST_MS), LATEST_MS))


def time_of(phone: Phone, ms: int) -> str:
    """The time of day of a moment in milliseconds since 1970."""
    at = moment(phone, ms)
    return time_text(phone, at.hour, at.minute)


def today(phone: Phone) -> date:
    """The day that the phone shows."""
    return phone.clock.local.date()


def day_text(day: date, now: date) -> str:
    """``Sun, Oct 15``; with the year where it is not the one of `now`."""
    year = "" if day.year == now.year else f", {day.year}"
    return f"{day:%a, %b} {day.day}{year}"


def near_day(day: date, now: date) -> str:
    """``Today``, ``Yesterday``, ``Tomorrow``, or the day's text."""
    near = {0: "Today", -1: "Yesterday", 1: "Tomorrow"}
    return near.get((day - now).days) or day_text(day, now)


def lately(phone: Phone, ms: int) -> str:
    """A moment of the past in few signs: a time today, then ``Yesterday``, a weekday, a date."""
    at, now = moment(phone, ms), today(phone)
    days = (now - at.date()).days
    if days == 0:
        return time_of(phone, ms)
    if days == 1:
        return "Yesterday"
    if 1 < days < 7:
        return f"{at:%a}"
    year = "" if at.year == now.year else f", {at.year}"
    return f"{at:%b} {at.day}{year}"


def duration_text(seconds: int) -> str:
    """How long a call was: ``1 min 5 s``, ``2 h 3 min``."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = [(hours, "h"), (minutes, "min"), (left if not hours else 0, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


def midnight(phone: Phone, day: date) -> int:
    """When a day begins where the phone is, in milliseconds since 1970."""
    return phone.clock.to_ms(datetime(day.year, day.month, day.day))


def month_of(day: date, by: int) -> date:
    """The first of the month `by` months after the one of `day`, in the years that are shown."""
    months = day.year * 12 + day.month - 1 + by
    months = min(max(months, FIRST_YEAR * 12), LAST_YEAR * 12 + 11)
    return date(months // 12, months % 12 + 1, 1)


def months_later(day: date, by: int) -> date:
    """The same day of another month, or that month's last."""
    month = month_of(day, by)
    last = (month_of(month, 1) - timedelta(days=1)).day
    return month.replace(day=min(day.day, last))


def weeks(month: date) -> list[date]:
    """The days of a month's page, whole weeks that begin with a Sunday."""
    first = month.replace(day=1)
    begin = first - timedelta(days=(first.weekday() + 1) % 7)
    last = month_of(first, 1) - timedelta(days=1)
    count = -(-((last - begin).days + 1) // 7) * 7
    return [begin + timedelta(days=i) for i in range(count)]
