"""Delete the events of a day."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from ui_gym.android import checks, moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.tasks.calendar import (
    EVENTS,
    CalendarParams,
    CalendarTask,
    PlannedEvent,
    apart,
    draw_event,
)
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo


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
    goals = (
        "Delete all my events on {day}.",
        "I am away on {day}: remove everything that is in my calendar for that day.",
        "Clear my calendar for {day}, and leave the other days alone.",
    )

    def draw_events(self, rng: np.random.Generator, minute: int) -> list[PlannedEvent]:
        day = drawing.between(rng, 2, 6)
        days = [day] * drawing.between(rng, 1, 2) + [day - 1, day + 1]
        if rng.random() < 0.5:
            days.append(day + 7)
        titles = drawing.some(rng, texts.EVENTS, len(days))
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

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Calendar")
        for event in params.events:
            if event.day == params.asked.day:
                yield from moves.tap(device, event.title)
                yield from moves.tap(device, "Delete")
                yield from moves.tap(device, "Delete", role="button")

    def misread(
        self, params: CalendarParams, mistake: str, rng: np.random.Generator
    ) -> CalendarParams:
        """``day``: the events of another day are deleted."""
        others = [event for event in params.events if event.day != params.asked.day]
        return dataclasses.replace(params, asked=drawing.pick(rng, others))
