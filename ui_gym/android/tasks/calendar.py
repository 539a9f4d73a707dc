"""What the tasks with the calendar share: events, and a phone whose clock is set."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import checks
from ui_gym.android.content import records, scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.task import AndroidTask
from ui_gym.contract import draws as drawing

APPS = ("com.android.calendar",)

EVENTS = checks.content(records.EVENTS, ("title", "dtstart", "dtend", "eventLocation"), "deleted=0")

FIRST_DAY = datetime.date(2023, 10, 2)
DAYS = 150
"""From which days episodes are drawn."""


@dataclass(frozen=True)
class PlannedEvent:
    """An event: `day` counts from the phone's own, `start` and `end` are minutes of that day."""

    title: str
    day: int
    start: int
    end: int
    place: str = ""


@dataclass(frozen=True)
class CalendarParams:
    """All that varies between episodes."""

    today: str
    """The phone's day, as in ``2023-10-15``."""
    minute: int
    """The phone's time of day, in minutes."""
    events: tuple[PlannedEvent, ...]
    """What is in the calendar, in no order."""
    asked: PlannedEvent
    """What the goal is about."""
    scene: StartScene
    phrasing: int

    @property
    def now(self) -> datetime.datetime:
        return self.at(0, self.minute)

    def date(self, day: int) -> datetime.date:
        return datetime.date.fromisoformat(self.today) + datetime.timedelta(days=day)

    def at(self, day: int, minute: int) -> datetime.datetime:
        """A time of a day, as the phone shows it; that is UTC."""
        return datetime.datetime.combine(self.date(day), datetime.time(*divmod(minute, 60)))

    def key(self, event: PlannedEvent) -> tuple[str, str]:
        """(title, start in ms), as `content query` tells them: what tells events apart."""
        return event.title, str(records.ms(self.at(event.day, event.start)))

    def is_over(self, event: PlannedEvent) -> bool:
        """Whether it has begun before the phone's now."""
        return (event.day, event.start) <= (0, self.minute)


class CalendarTask(AndroidTask[CalendarParams]):
    """What the tasks of the calendar share."""

    apps = APPS
    goals: tuple[str, ...] = ()

    def sample(self, rng: np.random.Generator) -> CalendarParams:
        today = FIRST_DAY + datetime.timedelta(days=drawing.between(rng, 0, DAYS - 1))
        minute = drawing.between(rng, 9 * 60, 15 * 60)
        events = self.draw_events(rng, minute)
        return CalendarParams(
            today=today.isoformat(),
            minute=minute,
            events=drawing.some(rng, events[1:], len(events) - 1),
            asked=events[0],
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(self.goals) - 1),
        )

    def draw_events(self, rng: np.random.Generator, minute: int) -> list[PlannedEvent]:
        """What the goal is about, and then all that is in the calendar."""
        raise NotImplementedError

    def goal(self, params: CalendarParams) -> str:
        event = params.asked
        return self.goals[params.phrasing].format(
            title=event.title, day=long_day(params.date(event.day)), start=clock(event.start),
            end=clock(event.end),
        )  # fmt: skip

    def prepare(self, params: CalendarParams) -> Sequence[str]:
        # Other episodes' events, too: one of them might be the next.
        lines = [*records.set_clock(params.now), *records.forget_events(texts.EVENTS)]
        for event in params.events:
            start, end = params.at(event.day, event.start), params.at(event.day, event.end)
            lines.append(records.event(event.title, start, end, event.place))
        return [*lines, *params.scene.lines()]


def draw_event(rng: np.random.Generator, title: str, day: int, place: str = "") -> PlannedEvent:
    """An event of a half hour to two hours."""
    start = 15 * drawing.between(rng, 32, 76)
    place = place or (drawing.pick(rng, texts.PLACES) if rng.random() < 0.5 else "")
    return PlannedEvent(title, day, start, start + 30 * drawing.between(rng, 1, 4), place)


def apart(events: Sequence[PlannedEvent]) -> list[PlannedEvent]:
    """The events, with those moved that would begin at the same time as another."""
    found: list[PlannedEvent] = []
    for event in events:
        while any((e.day, e.start) == (event.day, event.start) for e in found):
            event = dataclasses.replace(event, start=event.start + 15, end=event.end + 15)
        found.append(event)
    return found


def clock(minute: int) -> str:
    """``14:30``."""
    return f"{minute // 60:02}:{minute % 60:02}"


def long_day(day: datetime.date) -> str:
    """``Thursday, 19 October 2023``."""
    return f"{day:%A}, {day.day} {day:%B} {day.year}"
