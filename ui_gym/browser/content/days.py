"""Days and months as pages name them: ISO dates (``2026-03-14``) and months (``2026-03``)."""

from __future__ import annotations

from datetime import date, timedelta


def shifted(day: str, days: int) -> str:
    """The day that lies `days` after a day."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def months_on(month: str, count: int) -> str:
    """The month that lies `count` after a month, as ``2026-03``."""
    number = 12 * int(month[:4]) + int(month[5:7]) - 1 + count
    return f"{number // 12}-{number % 12 + 1:02}"


def months_between(month: str, other: str) -> int:
    """How many months the second (or a day of it) lies after the first."""
    return 12 * (int(other[:4]) - int(month[:4])) + int(other[5:7]) - int(month[5:7])


def next_month(day: date) -> date:
    """The same day of the next month, or its last."""
    end = date.fromisoformat(f"{months_on(day.isoformat()[:7], 2)}-01") - timedelta(days=1)
    return end.replace(day=min(day.day, end.day))
