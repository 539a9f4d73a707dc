"""What the Clock app keeps: timers, the stopwatch and the cities of its world clock.

Times are milliseconds of the phone's uptime, which goes on when the time of day is set.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ui_gym_phone.apps.support import keep, kept
from ui_gym_phone.state.phone import Phone

PACKAGE = "com.google.android.deskclock"


@dataclass(frozen=True)
class Timer:
    """A timer of `length` ms; it runs until `ends`, or stands with `left` ms where that is None."""

    id: int
    length: int
    left: int
    ends: int | None = None

    def remaining(self, now: int) -> int:
        """Milliseconds to go; below 0 since it went off."""
        return self.left if self.ends is None else self.ends - now

    def started(self, now: int) -> Timer:
        return replace(self, ends=now + self.left)

    def paused(self, now: int) -> Timer:
        return replace(self, left=self.remaining(now), ends=None)

    def reset(self) -> Timer:
        return replace(self, left=self.length, ends=None)

    def longer(self, more: int) -> Timer:
        """With so many ms added to what is left."""
        if self.ends is None:
            return replace(self, left=self.left + more)
        return replace(self, ends=self.ends + more)


@dataclass(frozen=True)
class Stopwatch:
    """A stopwatch: `before` ms were counted when it was last `started`; None while it stands."""

    before: int = 0
    started: int | None = None
    laps: tuple[int, ...] = ()
    """When each lap ended, in ms from the start."""

    def elapsed(self, now: int) -> int:
        return self.before + (0 if self.started is None else max(0, now - self.started))


def timers(phone: Phone) -> list[Timer]:
    return kept(phone, PACKAGE, "timers", _timer)


def set_timers(phone: Phone, timers: list[Timer]) -> None:
    keep(phone, PACKAGE, "timers", [asdict(timer) for timer in timers])


def stopwatch(phone: Phone) -> Stopwatch:
    found = kept(phone, PACKAGE, "stopwatch", _stopwatch)
    return found[0] if found else Stopwatch()


def set_stopwatch(phone: Phone, stopwatch: Stopwatch) -> None:
    keep(phone, PACKAGE, "stopwatch", [asdict(stopwatch)])


def cities(phone: Phone) -> list[str]:
    """The names of the cities that were added, in that order."""
    return kept(phone, PACKAGE, "cities", str)


def set_cities(phone: Phone, names: list[str]) -> None:
    keep(phone, PACKAGE, "cities", names)


def _timer(row: Any) -> Timer:
    ends = row["ends"]
    return Timer(
        _ms(row["id"]), _ms(row["length"]), _ms(row["left"]), None if ends is None else _ms(ends)
    )


def _stopwatch(row: Any) -> Stopwatch:
    started = row["started"]
    laps = tuple(_ms(lap) for lap in row["laps"])
    return Stopwatch(_ms(row["before"]), None if started is None else _ms(started), laps)


def _ms(value: Any) -> int:
    number = int(value)
    if abs(number) > 10**15:
        raise ValueError(number)
    return number
