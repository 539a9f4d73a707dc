"""Ask about an event of the calendar."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from ui_gym.android import answers, moves
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.tasks.calendar import (
    CalendarParams,
    CalendarTask,
    PlannedEvent,
    apart,
    clock,
    draw_event,
)
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action, Answer
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError


@register(
    "AndroidEventQuery", suite="android", category="app", difficulty="medium", max_steps=12,
    tags=("calendar", "answer"),
)  # fmt: skip
class AndroidEventQuery(CalendarTask):
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
    """

    mistakes = ("event",)
    goals = (
        "What is my next event?",
        "What is the next thing in my calendar? Answer with its title.",
        "Look into my calendar: which event comes next?",
        'At what time does "{title}" begin on {day}?',
        'When does "{title}" on {day} start?',
        'Where does "{title}" take place on {day}?',
        'In my calendar, what is the location of "{title}" on {day}?',
    )
    kinds = ("title",) * 3 + ("time",) * 2 + ("place",) * 2

    def draw_events(self, rng: np.random.Generator, minute: int) -> list[PlannedEvent]:
        titles = drawing.some(rng, texts.EVENTS, 5)
        places = drawing.some(rng, texts.PLACES, 5)
        days = [0, drawing.between(rng, 0, 1), *(drawing.between(rng, 1, 5) for _ in range(3))]
        made = []
        for i, (title, place, day) in enumerate(zip(titles, places, days, strict=True)):
            event = draw_event(rng, title, day, place)
            if i == 0:  # it is over
                start = 15 * drawing.between(rng, 28, minute // 15 - 5)
                event = dataclasses.replace(event, start=start, end=start + 60)
            elif day == 0:
                start = 15 * drawing.between(rng, minute // 15 + 2, 84)
                event = dataclasses.replace(event, start=start, end=start + 60)
            made.append(event)
        made = apart(made)
        coming = sorted(made[1:], key=lambda event: (event.day, event.start))
        return [coming[0], *made]

    def sample(self, rng: np.random.Generator) -> CalendarParams:
        params = super().sample(rng)
        if self.kinds[params.phrasing] == "title":
            return params
        coming = [event for event in params.events if not params.is_over(event)]
        return dataclasses.replace(params, asked=drawing.pick(rng, coming))

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

    def oracle(self, device: AndroidDevice, params: CalendarParams) -> Iterator[Action | Demo]:
        yield from moves.launch(device, "Calendar")
        yield from moves.scroll_to(device, params.asked.title)
        if moves.find(device, params.asked.title) is None:
            raise TaskError(f"the calendar does not show {params.asked.title!r}")
        if self.kinds[params.phrasing] == "place":
            yield from moves.tap(device, params.asked.title)
        yield Demo(Answer(self._wanted(params)), "The calendar says so.")

    def misread(
        self, params: CalendarParams, mistake: str, rng: np.random.Generator
    ) -> CalendarParams:
        """``event``: another event is taken."""
        others = [e for e in params.events if e != params.asked and not params.is_over(e)]
        if self.kinds[params.phrasing] == "time":
            others = [event for event in others if event.start != params.asked.start]
        return dataclasses.replace(params, asked=drawing.pick(rng, others)) if others else params
