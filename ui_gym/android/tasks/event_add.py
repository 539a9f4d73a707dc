"""Write an event into the calendar."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from ui_gym.android import checks, moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import records, texts
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.tasks import picking
from ui_gym.android.tasks.calendar import (
    EVENTS,
    CalendarParams,
    CalendarTask,
    PlannedEvent,
    draw_event,
)
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo


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
    goals = (
        'Add an event called "{title}" on {day} from {start} to {end}.',
        'Put "{title}" into my calendar: {day}, {start} to {end}.',
        'I have "{title}" on {day} at {start}, until {end}. Please create the event.',
    )

    def draw_events(self, rng: np.random.Generator, minute: int) -> list[PlannedEvent]:
        titles = drawing.some(rng, texts.EVENTS, drawing.between(rng, 2, 4))
        made = [draw_event(rng, title, drawing.between(rng, 1, 20)) for title in titles]
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

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Iterator[Action | Demo]:
        event = params.asked
        yield from moves.launch(device, "Calendar")
        yield from moves.tap(device, "New event")
        yield from moves.fill(device, "Add title", event.title)
        yield from moves.tap(device, "Start date", exact=False)
        yield from picking.pick_date(device, params.date(event.day), params.date(0))
        yield from moves.tap(device, "Start time", exact=False)
        yield from picking.pick_time(device, *divmod(event.start, 60))
        yield from moves.tap(device, "End time", exact=False)
        yield from picking.pick_time(device, *divmod(event.end, 60))
        yield from moves.tap(device, "Save", role="button")

    def misread(
        self, params: CalendarParams, mistake: str, rng: np.random.Generator
    ) -> CalendarParams:
        """``day``: a day or a week off. ``hour``: an hour late. ``title``: another title."""
        event = params.asked
        if mistake == "day":
            wrong = dataclasses.replace(event, day=event.day + drawing.pick(rng, (1, 7)))
        elif mistake == "hour":
            wrong = dataclasses.replace(event, start=event.start + 60, end=event.end + 60)
        else:
            title = drawing.other(rng, texts.EVENTS, event.title)
            wrong = dataclasses.replace(event, title=title)
        return dataclasses.replace(params, asked=wrong)
