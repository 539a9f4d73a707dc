"""Weeks of calendars: who is busy when, on a grid of half or whole hours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.days import shifted
from ui_gym.contract.draws import pick

Slot = tuple[int, int]
"""Day of the week (0 is Monday) and start in minutes."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
FROM, TO, STEP = 480, 1080, 30
"""Working hours, and the grid that all events keep to, in minutes of the day."""
OWN_TITLES = (
    "Stand-up", "Budget review", "Dentist", "Call with Northline", "Site visit", "Interview",
    "Sprint planning", "Coffee with Olga", "Training", "Design review", "Focus time", "Gym",
    "Call with the bank", "Team meeting", "Demo", "One on one", "Travel", "Hiring round",
)  # fmt: skip


@dataclass(frozen=True)
class Busy:
    """Something in somebody's calendar."""

    person: int
    """0 is the reader."""
    day: str
    start: int
    minutes: int
    title: str


@dataclass(frozen=True)
class Hours:
    """What a calendar shows of a week; times are minutes of the day."""

    days: int
    start: int
    end: int
    step: int
    lengths: tuple[int, ...]
    """Of events, as often as they come."""
    titles: tuple[str, ...]

    def starts(self, minutes: int) -> range:
        """When something of a length may begin."""
        return range(self.start, self.end - minutes + 1, self.step)


WORKING = Hours(len(DAYS), FROM, TO, STEP, (30, 60, 60, 90, 120), OWN_TITLES)
COMPACT = Hours(4, 540, 900, 60, (60, 60, 120), words.THINGS_SHORT)


def draw_week(
    rng: np.random.Generator, person: int, monday: str, count: int, hours: Hours = WORKING
) -> list[Busy]:
    """`count` events of one person in a week, which do not overlap."""
    events: list[Busy] = []
    titles = [str(title) for title in rng.permutation(hours.titles)]
    while len(events) < count:
        minutes = pick(rng, hours.lengths)
        starts = hours.starts(minutes)
        start = pick(rng, starts)
        day = shifted(monday, int(rng.integers(hours.days)))
        title = titles[len(events)] if person == 0 else "Busy"
        event = Busy(person, day, start, minutes, title)
        if not any(overlap(event, other.day, other.start, other.minutes) for other in events):
            events.append(event)
    return events


def overlap(event: Busy, day: str, start: int, minutes: int) -> bool:
    """Whether something in a calendar is in the way of a time."""
    return (
        event.day == day and event.start < start + minutes and start < event.start + event.minutes
    )


def clock(minutes: int) -> str:
    """``09:30``."""
    return f"{minutes // 60:02}:{minutes % 60:02}"
