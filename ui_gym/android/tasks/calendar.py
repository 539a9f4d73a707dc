"""Events of the calendar, on a phone whose clock is set: adding, deleting, asking."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym.android import answers, checks, moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import records, scenes, texts
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action, Answer, Scroll
from ui_gym.contract.draws import Rng, between, other, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError

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
    titles: Sequence[str] = texts.EVENTS
    """Of all episodes' events."""

    def sample(self, rng: Rng) -> CalendarParams:
        today = FIRST_DAY + datetime.timedelta(days=between(rng, 0, DAYS - 1))
        minute = between(rng, 9 * 60, 15 * 60)
        events = self.draw_events(rng, minute)
        return CalendarParams(
            today=today.isoformat(),
            minute=minute,
            events=some(rng, events[1:], len(events) - 1),
            asked=events[0],
            scene=self.scene(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def scene(self, rng: Rng) -> StartScene:
        """How the phone is, and where."""
        return scenes.draw(rng)

    def draw_events(self, rng: Rng, minute: int) -> list[PlannedEvent]:
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
        lines = [*records.set_clock(params.now), *records.forget_events(self.titles)]
        for event in params.events:
            start, end = params.at(event.day, event.start), params.at(event.day, event.end)
            lines.append(records.event(event.title, start, end, event.place))
        return [*lines, *params.scene.lines()]


def draw_event(rng: Rng, title: str, day: int, place: str = "") -> PlannedEvent:
    """An event of a half hour to two hours."""
    start = 15 * between(rng, 32, 76)
    place = place or (pick(rng, texts.PLACES) if rng.random() < 0.5 else "")
    return PlannedEvent(title, day, start, start + 30 * between(rng, 1, 4), place)


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


@register(
    "AndroidEventAdd", suite="android", category="input", difficulty="hard", max_steps=30,
    tags=("calendar",),
)  # fmt: skip
class AndroidEventAdd(CalendarTask):
    """Write an event into the calendar.

    ## Description
    The goal gives a title, a day of the next weeks, and when it begins and ends. The calendar holds
    other events.

    ## Rewards
    1 if ``content query --uri content://com.android.calendar/events`` tells an event of this title
    with this start and end.

    ## Starting state
    The home screen or a page of the Settings. The phone's clock is set to a day of its own, in UTC;
    a real phone must allow that.
    """

    mistakes = ("day", "hour", "title")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidEventAdd")

    def draw_events(self, rng: Rng, minute: int) -> list[PlannedEvent]:
        titles = some(rng, texts.EVENTS, between(rng, 2, 4))
        made = [draw_event(rng, title, between(rng, 1, 20)) for title in titles]
        return [dataclasses.replace(made[0], place=""), *made[1:]]

    def checks(self, params: CalendarParams) -> Sequence[ShellCheck]:
        event = params.asked
        times = [str(records.ms(params.at(event.day, m))) for m in (event.start, event.end)]

        def added(result: ShellResult) -> bool:
            return any(
                row.get("title", "").strip() == event.title
                and [row.get("dtstart"), row.get("dtend")] == times
                for row in checks.rows(result)
            )

        return [ShellCheck("event", EVENTS, added)]

    def twice(self, params: CalendarParams) -> Sequence[str]:
        event = params.asked
        start, end = params.at(event.day, event.start), params.at(event.day, event.end)
        return 2 * [records.event(event.title, start, end)]

    def may_change(self, params: CalendarParams) -> Sequence[AllowedChange]:
        return [AllowedChange("event *", gone=0, new=1)]

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Steps:
        event = params.asked
        yield from moves.launch(device, "Calendar")
        yield from moves.tap(device, "New event")
        yield from moves.fill(device, "Add title", event.title)
        yield from moves.tap(device, "Start date", exact=False)
        yield from moves.pick_date(device, params.date(event.day), params.date(0))
        yield from moves.tap(device, "Start time", exact=False)
        yield from moves.pick_time(device, *divmod(event.start, 60))
        yield from moves.tap(device, "End time", exact=False)
        yield from moves.pick_time(device, *divmod(event.end, 60))
        yield from moves.tap(device, "Save", role="button")

    def misread(self, params: CalendarParams, mistake: str, rng: Rng) -> CalendarParams:
        """``day``: a day or a week off. ``hour``: an hour late. ``title``: another title."""
        event = params.asked
        if mistake == "day":
            wrong = dataclasses.replace(event, day=event.day + pick(rng, (1, 7)))
        elif mistake == "hour":
            wrong = dataclasses.replace(event, start=event.start + 60, end=event.end + 60)
        else:
            title = other(rng, texts.EVENTS, event.title)
            wrong = dataclasses.replace(event, title=title)
        return dataclasses.replace(params, asked=wrong)


@register(
    "AndroidEventDeleteOnDay", suite="android", category="app", difficulty="hard", max_steps=30,
    tags=("calendar", "heldout-template"),
)  # fmt: skip
class AndroidEventDeleteOnDay(CalendarTask):
    """Delete all events of one day, and no others.

    ## Description
    The calendar holds one or two events of the named day, and others of the days beside it.

    ## Rewards
    1 if ``content query --uri content://com.android.calendar/events`` tells none of that day's
    events, and all others.

    ## Starting state
    The home screen or a page of the Settings. The phone's clock is set to a day of its own, in UTC;
    a real phone must allow that.
    """

    mistakes = ("day",)
    goals = texts.goals("AndroidEventDeleteOnDay")

    def draw_events(self, rng: Rng, minute: int) -> list[PlannedEvent]:
        day = between(rng, 2, 6)
        days = [day] * between(rng, 1, 2) + [day - 1, day + 1]
        if rng.random() < 0.5:
            days.append(day + 7)
        titles = some(rng, texts.EVENTS, len(days))
        made = [draw_event(rng, *each) for each in zip(titles, days, strict=True)]
        made = apart(made)
        return [made[0], *made]

    def checks(self, params: CalendarParams) -> Sequence[ShellCheck]:
        gone = {params.key(e) for e in params.events if e.day == params.asked.day}
        kept = {params.key(e) for e in params.events} - gone

        def cleared(result: ShellResult) -> bool:
            rows = checks.rows(result)
            told = {(row.get("title", ""), row.get("dtstart", "")) for row in rows}
            return kept <= told and not gone & told

        return [ShellCheck("that day alone", EVENTS, cleared)]

    def may_change(self, params: CalendarParams) -> Sequence[AllowedChange]:
        that_day = [event for event in params.events if event.day == params.asked.day]
        return [AllowedChange(f"event {event.title}", gone=1, new=0) for event in that_day]

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Steps:
        yield from moves.launch(device, "Calendar")
        for event in params.events:
            if event.day == params.asked.day:
                yield from moves.tap(device, event.title)
                yield from moves.tap(device, "Delete")
                yield from moves.tap(device, "Delete", role="button")

    def misread(self, params: CalendarParams, mistake: str, rng: Rng) -> CalendarParams:
        """``day``: the events of another day are deleted."""
        others = [event for event in params.events if event.day != params.asked.day]
        return dataclasses.replace(params, asked=pick(rng, others))


@register(
    "AndroidEventQuery", suite="android", category="app", difficulty="medium", max_steps=12,
    tags=("calendar", "answer"),
)  # fmt: skip
class AndroidEventQuery(CompactTask[CalendarParams], CalendarTask):
    """Tell which event is the next, when one begins, or where it is.

    ## Description
    The calendar holds events of today, some of them over, and of the days to come. The goal asks
    for the next one's title, or for the time or place of one that it names.

    ## Action space
    ``answer`` gives the answer.

    ## Rewards
    1 if the answer names the title or the place, without regard to letter case, and no other one;
    or the time, in any usual form, and no other.

    ## Starting state
    The home screen or a page of the Settings. The phone's clock is set to a day of its own, in UTC;
    a real phone must allow that.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    mistakes = ("event",)
    goals = texts.goals("AndroidEventQuery")
    kinds: tuple[str, ...] = ("title",) * 3 + ("time",) * 2 + ("place",) * 2
    compact_steps = 5

    def __init__(self, *, compact: bool = False) -> None:
        super().__init__(compact=compact)
        if compact:
            self.kinds = ("title",) * 2 + ("time",) * 2 + ("place",) * 2
            self.titles = (*texts.EVENTS, *texts.EVENTS_SHORT)

    def draw_events(self, rng: Rng, minute: int) -> list[PlannedEvent]:
        count = 3 if self.compact else 5
        titles = some(rng, texts.EVENTS_SHORT if self.compact else texts.EVENTS, count)
        places = some(rng, texts.PLACES_SHORT if self.compact else texts.PLACES, count)
        days = [0, between(rng, 0, 1), *(between(rng, 1, 5) for _ in range(count - 2))]
        made = []
        for i, (title, place, day) in enumerate(zip(titles, places, days, strict=True)):
            event = draw_event(rng, title, day, place)
            if i == 0:  # it is over
                start = 15 * between(rng, 28, minute // 15 - 5)
                event = dataclasses.replace(event, start=start, end=start + 60)
            elif day == 0:
                start = 15 * between(rng, minute // 15 + 2, 84)
                event = dataclasses.replace(event, start=start, end=start + 60)
            made.append(event)
        made = apart(made)
        coming = sorted(made[1:], key=lambda event: (event.day, event.start))
        return [coming[0], *made]

    def sample(self, rng: Rng) -> CalendarParams:
        params = super().sample(rng)
        if self.kinds[params.phrasing] == "title":
            return params
        coming = [event for event in params.events if not params.is_over(event)]
        return dataclasses.replace(params, asked=pick(rng, coming))

    def judge(
        self, device: AndroidDevice, params: CalendarParams, history: Sequence[Action]
    ) -> Verdict:
        wanted = self._wanted(params)
        return answers.answered(history, lambda told: self._is_right(params, told), wanted)

    def _wanted(self, params: CalendarParams) -> str:
        event = params.asked
        kind = self.kinds[params.phrasing]
        return {"title": event.title, "time": clock(event.start), "place": event.place}[kind]

    def _is_right(self, params: CalendarParams, told: str) -> bool:
        event, others = params.asked, [e for e in params.events if e != params.asked]
        kind = self.kinds[params.phrasing]
        if kind == "time":
            times = answers.times(told)
            # It may say when the event ends, too.
            return times[:1] == [divmod(event.start, 60)] and set(times[1:]) <= {
                divmod(event.end, 60)
            }
        wrong = [e.title if kind == "title" else e.place for e in others]
        return answers.names(told, self._wanted(params)) and not any(
            answers.names(told, name) for name in wrong
        )

    def may_change(self, params: CalendarParams) -> Sequence[AllowedChange]:
        return ()

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Steps:
        yield from moves.launch(device, "Calendar")
        yield from moves.scroll_to(device, params.asked.title)
        if moves.find(device, params.asked.title) is None:
            raise TaskError(f"the calendar does not show {params.asked.title!r}")
        if self.compact and self.kinds[params.phrasing] == "time":
            yield from self._bring_time(device, params.asked)
        if self.kinds[params.phrasing] == "place":
            yield from moves.tap(device, params.asked.title)
        answer = self._wanted(params)
        yield Demo(Answer(answer), answer if self.compact else "The calendar says so.")

    def _bring_time(self, device: AndroidDevice, event: PlannedEvent) -> Steps:
        """Scroll where the screen ends between an event's title and its time."""
        found = moves.find(device, event.title)
        if found is not None and clock(event.start) not in found.name:
            width, height = device.size
            yield Scroll(width // 2, height // 2, dy=height // 3)

    def misread(self, params: CalendarParams, mistake: str, rng: Rng) -> CalendarParams:
        """``event``: another event is taken."""
        others = [e for e in params.events if e != params.asked and not params.is_over(e)]
        if self.kinds[params.phrasing] == "time":
            others = [event for event in others if event.start != params.asked.start]
        return dataclasses.replace(params, asked=pick(rng, others)) if others else params
