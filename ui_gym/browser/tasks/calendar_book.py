"""Calendar booking: put an event into a slot that is free and keeps to the goal's conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, ClassVar

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.browser.content.days import shifted
from ui_gym.browser.content.phrases import date as written
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.content.weeks import (
    COMPACT,
    DAYS,
    FROM,
    TO,
    WORKING,
    Busy,
    Hours,
    Slot,
    clock,
    draw_week,
    overlap,
)
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, pick
from ui_gym.contract import draws
from ui_gym.contract.action import Action, Drag, Type
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import TaskError, UserError

LENGTHS = (30, 60, 90, 120, 180)
MARGIN = 8
"""Pixels from the edge of a slot, where a stroke begins and ends."""
FORM_START, FORM_LENGTH = 540, 60
"""What a new event has in the form at first; its day is Monday."""

ASKED_TITLES: tuple[str, ...] = table("forms")["calendar_book"]["titles"]
LENGTH_NAMES = {
    30: "30 minutes", 60: "one hour", 90: "one and a half hours", 120: "two hours",
    180: "three hours",
}  # fmt: skip

GOALS = (
    'Book "{title}" for {length} {when}. {free}{invite}',
    'Put an event called "{title}" into the calendar: {length}, {when}. {free}{invite}',
    'Find room for "{title}" and save it: {length}, {when}. {free}{invite}',
)

COMPACT_GOALS = (
    "Add {title} to {hours} on {day} {when}.",
    "Book {hours} for {title} on {day} {when}.",
)
COMPACT_LENGTHS = {60: "1 free hour", 120: "2 free hours"}


@dataclass(frozen=True)
class CalendarBookParams:
    """All that varies between episodes."""

    hours: ClassVar[Hours] = WORKING
    me: str
    people: tuple[str, ...]
    """Who is to be invited, and has to be free as well."""
    events: tuple[Busy, ...]
    opens: str
    """The Monday of the week that is shown at first."""
    week: str
    """The Monday of the week that the goal is about."""
    title: str
    minutes: int
    days: tuple[int, ...]
    after: int
    before: int
    """The event has to lie between these, in minutes of the day."""
    order: str
    """``"any"``, or the ``"first"`` or ``"last"`` time that is right."""
    slot: Slot
    """The one of the right slots that the oracle takes."""
    by_form: bool
    """Whether the oracle fills in the form, or draws the event into the calendar."""
    side: str
    brand: int
    theme: int
    phrasing: int


@dataclass(frozen=True)
class CompactBookParams(CalendarBookParams):
    """All that varies on the compact page."""

    hours: ClassVar[Hours] = COMPACT


@register("CalendarBook", suite="browser", category="office", difficulty="medium", max_steps=30)
class CalendarBook(Family[CalendarBookParams]):
    """Book an event in a week calendar, in a free slot that keeps to the goal's conditions.

    ## Description
    A calendar shows the working days of one week with the events that are already in it. The goal
    gives the title and the length of a new event and says when it may take place: on which days,
    between which times, possibly as the first or last free time. It must not overlap another
    event. With `people`, others have to be free as well and have to be invited; their calendars can
    be laid over one's own. With `weeks`, the week has to be looked for. An event is made with the
    button, by a click into the calendar, or by drawing it with the mouse. The compact page has four
    days of six hours, and no button.

    ## Action space
    Clicks and typing solve it; dragging over the calendar is quicker.

    ## Rewards
    1 for an event that is saved as asked; 0 if its slot is not free or breaks a condition. Else
    0.25, and 0.25 more for each of the title, the length and the guests that is right.

    ## Starting state
    The week view, with the reader's own calendar alone.

    ## Episode end
    Termination: an event was saved, or one that was there was deleted (score 0). `max_steps` is
    about twice what is needed; it follows from the arguments.

    ## Arguments
    | `events` | 6, 14, 12 (compact: 8) | events of each person in a week, 2 to 16, compact to 10 |
    | `people` | 0, 0, 2 (compact: 0) | how many others have to be free and invited, 0 to 3 |
    | `weeks` | 0, 1, 2 (compact: 1) | weeks that the asked one may be ahead, 0 to 4, compact to 3 |
    | `strict` | False, True, True (compact: no) | whether the first or last time may be asked for |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "calendar_book.html"
    shown = ("me", "people", "side", "brand", "theme")
    events: int = whole(2, 16, easy=6, medium=14, hard=12)
    people: int = whole(0, 3, easy=0, medium=0, hard=2)
    weeks: int = whole(0, 4, easy=0, medium=1, hard=2)
    strict: bool = flag(easy=False, medium=True, hard=True)
    mistakes = ("clash", "day", "length")
    compact_values = {"events": 8, "people": 0, "weeks": 1, "strict": False}

    def prepare(self) -> None:
        if self.compact:
            if self.people or self.strict:
                raise UserError(
                    "CalendarBook: the compact page shows one person's calendar and asks for any "
                    "free time; people is 0 and strict False"
                )
            self.check_range("events", self.events, 2, 10)
            self.check_range("weeks", self.weeks, 0, 3)
            self.max_steps = 2 * (self.weeks + 3)
            return
        self.max_steps = 2 * (self.weeks + 2 * self.people + 11)

    def sample(self, rng: Generator) -> CalendarBookParams:
        for _ in range(1000):
            params = self._draw_compact(rng) if self.compact else self._draw(rng)
            slots = right_slots(params)
            if slots and clashes(params) and (params.order != "any" or len(slots) <= 8):
                slot = draws.pick(rng, slots)
                return replace(params, slot=slot)
        raise TaskError("CalendarBook: 1,000 calendars in a row had no slot that is right")

    def goal(self, params: CalendarBookParams) -> str:
        if self.compact:
            early = params.after > params.hours.start
            return COMPACT_GOALS[params.phrasing].format(
                title=params.title,
                hours=COMPACT_LENGTHS[params.minutes],
                day=_headed(params, params.days[0]),
                when=f"after {params.after // 60}" if early else f"before {params.before // 60}",
            )
        all_of = listing([*params.people, "I"]) + (" are all" if params.people else " am")
        if params.order != "any":
            within = "day" if len(params.days) == 1 else "week"
            first = f"take the {params.order} of the {within}"
            free = f"Of all such times at which {all_of} free, {first}."
        elif params.people:
            free = f"Take a time at which {all_of} free."
        else:
            free = "It must not overlap any other event."
        return GOALS[params.phrasing].format(
            title=params.title,
            length=LENGTH_NAMES[params.minutes],
            when=_when(params),
            free=free,
            invite=f" Invite {listing(params.people)}." if params.people else "",
        )

    def page_params(self, params: CalendarBookParams) -> dict[str, Any]:
        events = [asdict(event) for event in params.events]
        return {**super().page_params(params), "events": events, "monday": params.opens}

    def judge(
        self, device: BrowserDevice, params: CalendarBookParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        for event in device.events:
            if event.type == "delete":
                return Verdict(0.0, done=True, notes="an event was deleted")
            if event.type == "save":
                return _booked(params, event.data)
        return Verdict(0.0, notes="nothing is booked")

    def oracle(self, device: BrowserDevice, params: CalendarBookParams) -> Steps:
        for _ in range((_day(params.week) - _day(params.opens)).days // 7):
            thought = "Next" if self.compact else f"Go to the week of {_written(params.week)}."
            yield Demo(click(device, "#after"), thought)
        for person, name in enumerate(params.people, 1):
            yield Demo(click(device, f"#show-{person}"), f"See when {name} is busy.")
        day, start = params.slot
        thought = f"{DAYS[day]} at {clock(start)} keeps to all that is asked."
        if self.compact:
            thought = f"{_headed(params, day)} {start // 60}"
        if params.by_form or not _is_free(params, day, start, params.hours.step):
            yield from _fill_form(device, params, thought)
        elif params.minutes <= 60:
            yield Demo(click(device, f"#slot-{day}-{start}"), thought)
            if params.minutes < 60:
                yield from because(
                    "It is shorter than that.", pick(device, "length", str(params.minutes))
                )
        else:
            left, top, width, height = device.box(f"#slot-{day}-{start}")
            bottom = top + height * params.minutes // params.hours.step - MARGIN
            middle = left + width // 2
            yield Demo(Drag(middle, top + MARGIN, middle, bottom), thought)
        if self.compact:  # the field has the focus
            yield Demo(Type(params.title), f"Name {params.title}")
            yield Demo(click(device, "#save"), "Save")
            return
        yield Demo(click(device, "#title"), "Give it its title.")
        yield Demo(Type(params.title), "Give it its title.")
        for person, name in enumerate(params.people, 1):
            yield Demo(click(device, f"#guest-{person}"), f"Invite {name}.")
        yield Demo(click(device, "#save"), "All is there: save it.")

    def misread(
        self, params: CalendarBookParams, mistake: str, rng: Generator
    ) -> CalendarBookParams:
        """``clash``: an event that is in the way is not seen. ``day``: the right time of another
        day. ``length``: another length."""
        start = params.slot[1]
        if self.compact:
            return self._misread_compact(params, mistake, rng)
        fitting = [n for n in LENGTHS if n != params.minutes and start + n <= TO]
        if mistake == "length" and fitting:
            minutes = draws.pick(rng, fitting)
            return replace(params, minutes=minutes)
        right = right_slots(params)
        others = [(other, start) for other in range(5) if (other, start) not in right]
        slots = others if mistake == "day" and others else clashes(params)
        return replace(params, slot=draws.pick(rng, slots))

    def blind_rate(self, params: CalendarBookParams) -> float:
        """Any slot of the week that is long enough."""
        starts = len(params.hours.starts(params.minutes))
        return len(right_slots(params)) / (params.hours.days * starts)

    def _misread_compact(
        self, params: CalendarBookParams, mistake: str, rng: Generator
    ) -> CalendarBookParams:
        """The same, begun in a free hour, as an event is made by pressing one."""
        start = params.slot[1]
        if mistake == "length" and start + 120 <= params.hours.end:
            return replace(params, minutes=180 - params.minutes)
        starts = params.hours.starts(params.minutes)
        every = [(day, start) for day in range(params.hours.days) for start in starts]
        right, taken = right_slots(params), clashes(params)
        wrong = [slot for slot in every if slot not in right and _is_free(params, *slot, 60)]
        meant = [s for s in wrong if (s in taken if mistake == "clash" else s[1] == start)]
        slots = meant or wrong
        return replace(params, slot=draws.pick(rng, slots))

    def _draw_compact(self, rng: Generator) -> CalendarBookParams:
        """Params of the compact page without a slot, which may be impossible."""
        opens = shifted("2026-01-19", 7 * int(rng.integers(8)))
        ahead = int(rng.integers(self.weeks + 1))
        mondays = [shifted(opens, 7 * week) for week in range(self.weeks + 1)]
        title, *others = (str(thing) for thing in rng.permutation(COMPACT.titles))
        hours = replace(COMPACT, titles=tuple(others))
        bound = 60 * int(rng.integers(1, 4))
        early = bool(rng.integers(2))
        return CompactBookParams(
            me="Me",
            people=(),
            events=tuple(e for day in mondays for e in draw_week(rng, 0, day, self.events, hours)),
            opens=opens,
            week=mondays[ahead],
            title=title,
            minutes=draws.pick(rng, tuple(COMPACT_LENGTHS)),
            days=(int(rng.integers(hours.days)),),
            after=hours.start + bound if early else hours.start,
            before=hours.end if early else hours.end - bound,
            order="any",
            slot=(0, 0),
            by_form=False,
            side=draws.pick(rng, ("left", "right")),
            brand=0,
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def _draw(self, rng: Generator) -> CalendarBookParams:
        """Params without a slot, which may be impossible."""
        opens = shifted("2026-01-19", 7 * int(rng.integers(8)))
        ahead = int(rng.integers(1, self.weeks + 1)) if self.weeks else 0
        names = [str(name) for name in rng.choice(words.FIRST_LONG, 1 + self.people, replace=False)]
        lasts = [str(name) for name in rng.choice(words.LAST_LONG, 1 + self.people, replace=False)]
        people = [f"{first} {last}" for first, last in zip(names, lasts, strict=True)]
        events = [
            event
            for week in range(ahead + 1)
            for person in range(1 + self.people)
            for event in draw_week(rng, person, shifted(opens, 7 * week), self.events)
        ]
        minutes = draws.pick(rng, LENGTHS[:-1] if self.people else LENGTHS)
        many = draws.pick(rng, (1, 2, 5)) if self.strict else 1
        days = sorted(int(day) for day in rng.choice(5, size=many, replace=False))
        after = FROM + 60 * int(rng.integers(7))
        before = TO - 60 * int(rng.integers(7))
        if before - after < minutes + 60:
            after, before = FROM, TO
        return CalendarBookParams(
            me=people[0],
            people=tuple(people[1:]),
            events=tuple(events),
            opens=opens,
            week=shifted(opens, 7 * ahead),
            title=draws.pick(rng, ASKED_TITLES),
            minutes=minutes,
            days=tuple(days),
            after=after,
            before=before,
            order=draws.pick(rng, ("any", "first", "last")) if self.strict else "any",
            slot=(0, 0),
            by_form=bool(rng.integers(2)),
            side=draws.pick(rng, ("left", "right")),
            brand=int(rng.integers(4)),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(len(GOALS))),
        )


def right_slots(params: CalendarBookParams) -> list[Slot]:
    """All slots that are as asked."""
    slots = [slot for slot in _slots(params) if _is_free(params, *slot, params.minutes)]
    if params.order == "any":
        return slots
    return slots[:1] if params.order == "first" else slots[-1:]


def clashes(params: CalendarBookParams) -> list[Slot]:
    """The slots that would be right if they were free."""
    return [slot for slot in _slots(params) if not _is_free(params, *slot, params.minutes)]


def _slots(params: CalendarBookParams) -> list[Slot]:
    starts = range(params.after, params.before - params.minutes + 1, params.hours.step)
    return [(day, start) for day in params.days for start in starts]


def _is_free(params: CalendarBookParams, day: int, start: int, minutes: int) -> bool:
    when = shifted(params.week, day)
    return not any(overlap(event, when, start, minutes) for event in params.events)


def _booked(params: CalendarBookParams, data: Mapping[str, Any]) -> Verdict:
    """The verdict on the event that was saved."""
    try:
        slot = ((_day(str(data["day"])) - _day(params.week)).days, int(data["start"]))
    except (KeyError, ValueError):
        slot = (-1, 0)
    if slot not in right_slots(params):
        return Verdict(0.0, done=True, notes="saved in a slot that is not right")
    right = {
        "title": str(data.get("title", "")).strip() == params.title,
        "length": data.get("minutes") == params.minutes,
        "guests": set(data.get("guests", ())) == set(params.people),
    }
    wrong = [name for name, is_right in right.items() if not is_right]
    if wrong:
        notes = f"saved in a right slot, but not as asked: {listing(wrong)}"
        return Verdict((4 - len(wrong)) / 4, done=True, notes=notes)
    return Verdict(1.0, done=True, notes="saved as asked")


def _fill_form(device: BrowserDevice, params: CalendarBookParams, thought: str) -> Iterator[Demo]:
    """Make a new event with the button, and set its day, start and length."""
    day, start = params.slot
    yield Demo(click(device, "#new"), thought)
    if day != 0:
        yield from because(
            f"The day is {DAYS[day]}.", pick(device, "day", shifted(params.week, day))
        )
    if start != FORM_START:
        yield from because(f"It starts at {clock(start)}.", pick(device, "start", str(start)))
    if params.minutes != FORM_LENGTH:
        length = LENGTH_NAMES[params.minutes]
        yield from because(f"It takes {length}.", pick(device, "length", str(params.minutes)))


def _when(params: CalendarBookParams) -> str:
    """How the goal says on which days and between which times."""
    if len(params.days) == 1:
        day = params.days[0]
        when = f"on {DAYS[day]}, {_written(shifted(params.week, day))}"
    elif len(params.days) == len(DAYS):
        when = f"in the week of {_written(params.week)}"
    else:
        days = " or ".join(DAYS[day] for day in params.days)
        when = f"on {days} of the week of {_written(params.week)}"
    if (params.after, params.before) == (FROM, TO):
        return when
    if params.after == FROM:
        return f"{when}, over by {clock(params.before)}"
    if params.before == TO:
        return f"{when}, not before {clock(params.after)}"
    return f"{when}, between {clock(params.after)} and {clock(params.before)}"


def _headed(params: CalendarBookParams, day: int) -> str:
    """What the compact page has above a day of the asked week."""
    return f"{DAYS[day][:3]} {_day(shifted(params.week, day)).day}"


def _day(iso: str) -> date:
    return date.fromisoformat(iso)


def _written(iso: str) -> str:
    return written(_day(iso))
