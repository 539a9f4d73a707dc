"""Weeks of calendars: who is busy when, on a grid of half hours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content.days import shifted

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


def draw_week(rng: np.random.Generator, person: int, monday: str, count: int) -> list[Busy]:
    """`count` events of one person in a week, which do not overlap."""
    events: list[Busy] = []
    titles = [str(title) for title in rng.permutation(OWN_TITLES)]
    while len(events) < count:
        minutes = int(rng.choice((30, 60, 60, 90, 120)))
        start = FROM + STEP * int(rng.integers((TO - FROM - minutes) // STEP + 1))
        day = shifted(monday, int(rng.integers(5)))
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
