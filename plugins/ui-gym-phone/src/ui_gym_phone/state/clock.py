"""The phone's clock: virtual, so that timers and sleeps take no time and nothing is random."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

START_MS = 1_697_384_040_000
"""Sunday, 2023-10-15 15:34 UTC: where AndroidWorld's episodes start."""

UTC = timezone.utc  # noqa: UP017 - read as a name by those who set another zone


class Clock:
    """Milliseconds since 1970, and since the phone was switched on. Moves when it is told to."""

    def __init__(self, ms: int = START_MS) -> None:
        self.ms = ms
        self.uptime_ms = 3_600_000
        self.offset_minutes = 0
        """Minutes east of UTC of the zone that the phone shows."""

    def seconds(self) -> float:
        """Seconds since 1970."""
        return self.ms / 1000

    def advance(self, seconds: float) -> None:
        """Let time pass. `seconds` below 0 are none."""
        passed = max(0, round(seconds * 1000))
        self.ms += passed
        self.uptime_ms += passed

    def set(self, ms: int) -> None:
        """Set the time of day; the uptime goes on."""
        self.ms = ms

    @property
    def local(self) -> datetime:
        """The time of day that the phone shows."""
        zone = timezone(timedelta(minutes=self.offset_minutes))
        return datetime.fromtimestamp(self.ms / 1000, zone)

    def of(self, ms: int) -> datetime:
        """A moment in milliseconds since 1970, as the phone shows it."""
        return datetime.fromtimestamp(ms / 1000, self.local.tzinfo)

    def to_ms(self, shown: datetime) -> int:
        """The moment of a time as the phone shows it (`shown` has no zone)."""
        return int(shown.replace(tzinfo=self.local.tzinfo).timestamp() * 1000)
