"""Date picker: choose a day, or the days of a stay, in a calendar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content.data import table
from ui_gym.browser.content.days import months_between, months_on, next_month, shifted
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, one_of, whole
from ui_gym.browser.moves import click
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

Ask = Literal["date", "weekday", "stay"]

VISITS: dict[str, str] = table("forms")["date_picker"]["visits"]
"""What is booked for a day, by the page's scene."""
STAYS: dict[str, str] = table("forms")["date_picker"]["stays"]
"""What is booked for some nights."""

MOST_REACH = 18
MOST_NIGHTS = 10
BOOKED_SHARE = 0.12
"""Of the days that cannot be chosen since they are taken."""
FIRST_TODAY = date(2026, 1, 15)
JUMP_FROM = 3
"""Months from which on the oracle goes by the list of months, where there is one."""

VISIT_GOALS = (
    "Book the {what} for {when} and confirm it.",
    "The {what} should be on {when}. Choose that date, then press Confirm.",
    "Please pick {when} as the date of the {what} and confirm.",
)
STAY_GOALS = (
    "Book the {what} {when} and confirm it.",
    "Reserve the {what} {when}: choose the dates, then press Confirm.",
    "I would like to have the {what} {when}. Choose check-in and check-out and confirm.",
)
PERIODS = (
    "from {when} to {last}",
    "for {nights} from {when}",
    "from {when} until the {weekday} right after it",
)
WRITINGS = 3
"""The ways to write a date."""

COMPACT_REACH = 5
"""Months that the compact page may be turned: it shows no years."""
COMPACT_ROWS = 6
"""Patches that the compact form may be moved down."""
COMPACT_GOALS = ("Book {when}. Press Save.", "Choose {when}. Press Save.")
COMPACT_WRITTEN = "{0.day} {0:%b}"


@dataclass(frozen=True)
class DatePickerParams:
    """All that varies between episodes. Days are ISO dates."""

    scene: str
    today: str
    first: str
    """The asked day; of a stay, the check-in."""
    nights: int
    """Of the stay; 0 for a single day."""
    ends: int
    """How the goal says the end of a stay: by its date, its nights or its weekday."""
    writing: int
    """How the goal writes dates."""
    booked: tuple[str, ...]
    """Days that are taken."""
    monday: bool
    """Whether weeks begin on Monday."""
    months: int
    """How many months the calendar shows side by side."""
    outside: bool
    """Whether days of the neighbouring months are shown as well."""
    jump: bool
    """Whether the calendar's title opens a list of months."""
    left: bool
    """Whether the form stands on the left."""
    place: int
    """How far the page's content is moved down, in pixels."""
    theme: int
    phrasing: int

    @property
    def last(self) -> str:
        return shifted(self.first, self.nights)

    @property
    def days(self) -> tuple[str, ...]:
        """What has to be chosen: one day, or check-in and check-out."""
        return (self.first, self.last) if self.nights else (self.first,)


@register("DatePicker", suite="browser", category="input", difficulty="medium", max_steps=16)
class DatePicker(Family[DatePickerParams]):
    """Choose a day, or the days of a stay, in a calendar and confirm.

    ## Description
    A booking page: a dentist, a museum, a hotel... A button opens a calendar that is turned month
    by month; some calendars show two months, begin the week on Sunday, show the neighbouring
    months' days in grey, or have a list of months behind their title. Days of the past and days
    that are taken cannot be chosen. The compact page has one month beside the form, without
    names of weekdays. The goal gives a date; at "medium" a day such as "the second
    Tuesday of March 2026"; at "hard" a stay that begins on such a day and ends by a date, after
    some nights, or on the next Monday. Theme, order and the words of the goal vary.

    ## Action space
    Clicks are all that is needed; arrow keys, Page Up and Page Down, Enter and Escape work in the
    calendar.

    ## Rewards
    1 if the confirmed days are the asked ones; 0.5 if one of a stay's two days is; else 0.

    ## Starting state
    No day chosen, the calendar closed; it opens at the current month.

    ## Episode end
    Termination: something was confirmed (Confirm without a date only says what is missing).
    `max_steps` is twice what the longest way to the asked month needs.

    ## Arguments
    | `ask` | "weekday" (compact: "date", "stay") | by its "date", by its "weekday", or a "stay" |
    | `reach` | 5 (compact: 2) | months that the asked day may lie ahead, 0 to 18, compact to 5 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "date_picker.html"
    shown = (
        "scene",
        "today",
        "booked",
        "monday",
        "months",
        "outside",
        "jump",
        "left",
        "place",
        "theme",
    )
    ends, waiting = "confirm", "nothing confirmed yet"
    mistakes = ("column", "month", "week")
    translated = ("DatePicker",)
    ask: Ask = one_of(get_args(Ask), easy="date", medium="weekday", hard="stay")
    reach: int = whole(0, MOST_REACH, easy=1, medium=5, hard=14)
    compact_values = {"ask": "date", "reach": 2}

    def prepare(self) -> None:
        if self.compact:
            self.check_range("reach", self.reach, 0, COMPACT_REACH)
            if self.ask == "weekday":
                raise UserError(
                    "DatePicker: the compact page has no weekdays; ask is 'date' or 'stay'"
                )
        self.max_steps = 2 * (self.reach + (5 if self.ask == "stay" else 3))

    def sample(self, rng: Generator) -> DatePickerParams:
        today = FIRST_TODAY + timedelta(days=int(rng.integers(365)))
        ahead = int(rng.integers(self.reach // 2, self.reach + 1))
        first = self._first(today, ahead, rng)
        stay = self.ask == "stay"
        nights = int(rng.integers(2, MOST_NIGHTS + 1)) if stay else 0
        months = int(rng.integers(1, 3))
        params = DatePickerParams(
            scene=pick(rng, tuple(STAYS if stay else VISITS)),
            today=today.isoformat(),
            first=first.isoformat(),
            nights=nights,
            ends=int(rng.integers(3 if nights < 7 else 2)),
            writing=int(rng.integers(WRITINGS)),
            booked=self._booked(today, first, nights, rng),
            monday=bool(rng.random() < 0.5),
            months=months,
            outside=months == 1 and bool(rng.random() < 0.5),
            jump=bool(rng.random() < 0.5),
            left=bool(rng.random() < 0.5),
            place=24 * int(rng.integers(5)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )
        return self._on_grid(params, rng) if self.compact else params

    def goal(self, params: DatePickerParams) -> str:
        first = date.fromisoformat(params.first)
        if self.compact:
            days = map(date.fromisoformat, params.days)
            said = " to ".join(COMPACT_WRITTEN.format(day) for day in days)
            return COMPACT_GOALS[params.phrasing].format(when=said)
        say, by_weekday = self.speak(params), self.ask != "date"
        when = say.on_weekday(first) if by_weekday else say.dated(first, params.writing)
        if not params.nights:
            what = say(VISITS[params.scene])
            return say(VISIT_GOALS[params.phrasing]).format(what=what, when=when)
        last = date.fromisoformat(params.last)
        period = say(PERIODS[params.ends]).format(
            when=when,
            last=say.dated(last, params.writing),
            nights=say.counted(params.nights, "night", "nights"),
            count=params.nights,
            weekday=say.weekday(last),
        )
        return say(STAY_GOALS[params.phrasing]).format(what=say(STAYS[params.scene]), when=period)

    def page_params(self, params: DatePickerParams) -> dict[str, Any]:
        stays = params.nights > 0
        return {**super().page_params(params), "ahead": MOST_REACH + 6, "stays": stays}

    def verdict(self, data: Mapping[str, Any], params: DatePickerParams) -> Verdict:
        days = [str(day) for day in data.get("days", ())]
        if days == list(params.days):
            return Verdict(1.0, done=True, notes="confirmed the asked date")
        one = len(days) == len(params.days) and any(map(str.__eq__, days, params.days))
        notes = f"confirmed {' to '.join(days)}, not {' to '.join(params.days)}"
        return Verdict(0.5 if one else 0.0, done=True, notes=notes)

    def oracle(self, device: BrowserDevice, params: DatePickerParams) -> Steps:
        say = self.speak(params)
        opening = "Date" if self.compact else "The calendar is behind this button."
        yield Demo(click(device, "#date"), opening)
        for day in params.days:
            yield from self._turn_to(device, params, day[:7])
            one = date.fromisoformat(day)
            said = str(one.day) if self.compact else f"{say.dated(one, 2)}."
            yield Demo(click(device, f"[data-day='{day}']"), said)
        confirming = "Save" if self.compact else "The date is chosen: confirm it."
        yield Demo(click(device, "#confirm"), confirming)

    def misread(self, params: DatePickerParams, mistake: str, rng: Generator) -> DatePickerParams:
        """``month``: turned a month too far. ``week``: a row too low (or too high). ``column``:
        the day beside the right one; of a stay, its end."""
        first = date.fromisoformat(params.first)
        if mistake == "month":
            return replace(params, first=next_month(first).isoformat())
        if mistake == "column" and params.nights:
            return replace(params, nights=params.nights + (1 if rng.random() < 0.5 else -1))
        days = 7 if mistake == "week" else 1
        back = (first - timedelta(days=days)).isoformat() > params.today and rng.random() < 0.5
        return replace(params, first=shifted(params.first, -days if back else days))

    def blind_rate(self, params: DatePickerParams) -> float:
        """Any day within reach, and any number of nights."""
        return 1 / (30 * (self.reach + 1) * (MOST_NIGHTS if params.nights else 1))

    def _turn_to(
        self, device: BrowserDevice, params: DatePickerParams, month: str
    ) -> Iterator[Demo]:
        """Turn the calendar until it shows a month (``2026-03``)."""
        before = ""
        while not (view := device.state()["view"]) <= month <= months_on(view, params.months - 1):
            if view == before:
                return  # the calendar does not go there
            before = view
            ahead = months_between(view, month)
            if params.jump and abs(ahead) > JUMP_FROM:
                yield from self._jump_to(device, month)
            else:
                side = "next" if ahead > 0 else "previous"
                turning = "Next" if ahead > 0 else "Back"
                thought = turning if self.compact else f"Go to the {side} month."
                yield Demo(click(device, f"#{side}"), thought)

    def _jump_to(self, device: BrowserDevice, month: str) -> Iterator[Demo]:
        yield Demo(click(device, "#title"), "That month is far: the list of months is quicker.")
        while (year := device.state()["view"][:4]) != month[:4]:
            side = "next" if year < month[:4] else "previous"
            yield Demo(click(device, f"#{side}"), f"Go to the {side} year.")
        yield Demo(click(device, f"[data-month='{month}']"), "Choose the month.")

    def _on_grid(self, params: DatePickerParams, rng: Generator) -> DatePickerParams:
        """The same days on the compact page."""
        return replace(
            params,
            scene="compact",
            ends=0,
            writing=0,
            months=1,
            outside=False,
            jump=False,
            place=PATCH * int(rng.integers(COMPACT_ROWS)),
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def _first(self, today: date, ahead: int, rng: Generator) -> date:
        """A day after today in the month that lies `ahead`."""
        month = months_on(today.isoformat()[:7], ahead)
        start = date.fromisoformat(f"{month}-01")
        days = [start + timedelta(days=i) for i in range(31)]
        left = [day for day in days if day > today and day.month == start.month]
        # On the last day of a month nothing is left of it.
        return pick(rng, left) if left else today + timedelta(days=1)

    def _booked(self, today: date, first: date, nights: int, rng: Generator) -> tuple[str, ...]:
        """Some days after today, none of them asked for."""
        days = [today + timedelta(days=i) for i in range(1, 31 * (self.reach + 2))]
        taken = rng.random(len(days)) < BOOKED_SHARE
        free = [first + timedelta(days=i) for i in range(nights + 1)]
        chosen = zip(days, taken, strict=True)
        return tuple(day.isoformat() for day, is_taken in chosen if is_taken and day not in free)
