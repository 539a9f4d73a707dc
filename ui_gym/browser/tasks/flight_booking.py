"""Flight booking: find the right flight and book it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import flights
from ui_gym.browser.content.flights import Leg
from ui_gym.browser.content.phrases import TODAY, date, plural
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, whole
from ui_gym.browser.moves import click, pick, reveal
from ui_gym.contract.action import Action, Type
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

NAMES = dict(flights.AIRPORTS)
MOST_ADULTS, MOST_CHILDREN = 5, 3
SEARCHED = 0.25
"""The score for the right search with nothing booked yet."""

BRANDS, THEMES = 4, 6
SORTED_BY = {"cheapest": "price", "shortest": "duration", "first": "departure"}

ONE_WAY = (
    "Book the {out} from {here} to {there} on {day}, for {people}.{bag}",
    "I want to fly from {here} to {there} on {day}. Book the {out} for {people}.{bag}",
    "Find the {out} from {here} to {there} on {day}, and book it for {people}.{bag}",
)
RETURN = (
    "Book a round trip from {here} to {there} for {people}: out on {day} with the {out}, and back "
    "on {day_back} with the {back}.{bag}",
    "From {here} to {there} and back, for {people}. On {day} take the {out}, and on {day_back} the "
    "{back}. Book both as one round trip.{bag}",
    "Book a round trip for {people}: the {out} from {here} to {there} on {day}, and for the way "
    "back on {day_back} the {back}.{bag}",
)
BAG = " Add checked bags."

COMPACT_ADULTS = 2
COMPACT_PLACES = 4
"""Patches by which the compact form may be moved down, and one more."""
COMPACT_GOALS = (
    "Book the {kind} flight to {there} on {day} for {people}.",
    "Book a flight to {there} on {day} for {people}: the {kind}.",
)


@dataclass(frozen=True)
class FlightBookingParams:
    """All that varies between episodes."""

    airports: tuple[str, ...]
    timetable: tuple[flights.Flight, ...]
    legs: tuple[Leg, ...]
    """One way, or out and back."""
    adults: int
    children: int
    bag: bool
    """Whether checked bags are asked for."""
    brand: int
    """Compact: how far the form is moved down, in patches."""
    theme: int
    phrasing: int


@register("FlightBooking", suite="browser", category="search", difficulty="medium", max_steps=40)
class FlightBooking(Family[FlightBookingParams]):
    """Search for flights, find the right one among the results, and book it.

    ## Description
    The site of a travel agent: a form for places, dates and passengers, then a list of flights that
    can be sorted and filtered, and a page to check and book. The goal names the route, the day, the
    passengers, and the flight as the cheapest, the shortest or the first one, often within a limit
    (nonstop, a time to leave or to arrive by, a price). Two legs have a limit each. Checked bags
    are asked for, or must be left alone. The compact page has flights of one week from one city,
    in a short list.

    ## Action space
    Clicking, typing and scrolling is all that is needed.

    ## Rewards
    1 for a booking of the right flights on the right days for the right passengers, with bags as
    asked. 0.75 if only passengers or bags are wrong; 0.5 if one of two flights is right. Otherwise
    0.25 if there was a search with the right places, days and passengers, else 0. With
    ``reward="progress"``, the score's increments.

    ## Starting state
    An empty form for a one-way flight of one adult.

    ## Episode end
    Termination: something was booked. `max_steps` is 34 at the level easy, 40 at medium, 58 at
    hard.

    ## Arguments
    | `legs` | easy 1, medium 1, hard 2 (compact: 1) | 1: one way, 2: out and back |
    | `airports` | easy 4, medium 4, hard 5 (compact: 4) | places to fly to, 3 to 6, compact 5 |
    | `flights` | easy 4, medium 8, hard 10 (compact: 3) | a day on a route, 3 to 12, compact to 5 |
    | `limits` | easy 0, medium 1, hard 1 (compact: 0) | 1: the flight is asked for within a limit |
    | `children` | easy 0, medium 1, hard 1 (compact: 0) | 1: there may be children and bags |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "flight_booking.html"
    mistakes = ("condition", "day", "passengers")
    legs: int = whole(1, 2, easy=1, medium=1, hard=2)
    airports: int = whole(3, 6, easy=4, medium=4, hard=5)
    flights: int = whole(3, 12, easy=4, medium=8, hard=10)
    limits: int = whole(0, 1, easy=0, medium=1, hard=1)
    children: int = whole(0, 1, easy=0, medium=1, hard=1)
    compact_values = {"legs": 1, "airports": 4, "flights": 3, "limits": 0, "children": 0}

    def prepare(self) -> None:
        if self.compact:
            if self.legs > 1 or self.limits or self.children:
                raise UserError(
                    "FlightBooking: the compact page has one flight without limits, children and "
                    "bags; legs is 1, limits and children are 0"
                )
            self.check_range("airports", self.airports, 3, len(flights.COMPACT_CITIES))
            self.check_range("flights", self.flights, 3, 5)
            self.max_steps = 2 * (6 + COMPACT_ADULTS)
            return
        self.max_steps = 16 + 18 * self.legs + 6 * self.children

    def sample(self, rng: Generator) -> FlightBookingParams:
        if self.compact:
            return self._sample_compact(rng)
        airports = flights.places(self.airports, rng)
        while True:
            timetable = flights.timetable(airports, self.flights, rng)
            limited = bool(self.limits)
            legs = flights.journey(self.legs, airports, timetable, rng, limited=limited)
            telling = all(flights.careless(leg, timetable) != leg for leg in legs)
            if telling and all(bool(leg.limit) == limited for leg in legs):
                break
        return FlightBookingParams(
            airports=tuple(sorted(airports, key=NAMES.__getitem__)),
            timetable=timetable,
            legs=legs,
            adults=int(rng.integers(1, MOST_ADULTS)),
            children=int(rng.integers(MOST_CHILDREN)) if self.children else 0,
            bag=bool(self.children and rng.random() < 0.4),
            brand=int(rng.integers(BRANDS)),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(len(ONE_WAY))),
        )

    def goal(self, params: FlightBookingParams) -> str:
        out, back = params.legs[0], params.legs[-1]
        if self.compact:
            return COMPACT_GOALS[params.phrasing].format(
                kind=out.kind, there=NAMES[out.goal], day=f"{out.date:%a}", people=params.adults
            )
        people = plural(params.adults, "adult")
        if params.children:
            people += f" and {plural(params.children, 'child', 'children')}"
        return (RETURN if len(params.legs) > 1 else ONE_WAY)[params.phrasing].format(
            here=NAMES[out.origin],
            there=NAMES[out.goal],
            day=date(out.date),
            day_back=date(back.date),
            out=flights.phrase(out),
            back=flights.phrase(back),
            people=people,
            bag=BAG if params.bag else "",
        )

    def page_params(self, params: FlightBookingParams) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.compact:
            days = [TODAY + timedelta(days=day) for day in flights.COMPACT_DAYS]
            more = {
                "airlines": flights.COMPACT_AIRLINES,
                "origin": params.legs[0].origin,
                "days": [(day.isoformat(), f"{day:%a}") for day in days],
                "place": PATCH * params.brand,
            }
        return {
            "airports": [(code, NAMES[code]) for code in params.airports],
            "airlines": flights.AIRLINES,
            "timetable": [asdict(flight) for flight in params.timetable],
            "today": TODAY.isoformat(),
            "ahead": 6,
            "brand": params.brand,
            "theme": params.theme,
            **more,
        }

    def judge(
        self, device: BrowserDevice, params: FlightBookingParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        score = 0.0
        for event in device.events:
            if event.type == "search" and _searched(event.data, params):
                score = SEARCHED
            elif event.type == "book":
                return _booked(event.data, params, score)
        return Verdict(score, notes="not booked yet" if score else "not searched as asked")

    def oracle(self, device: BrowserDevice, params: FlightBookingParams) -> Steps:
        out = params.legs[0]
        if self.compact:
            yield from self._book_compact(device, params)
            return
        if len(params.legs) > 1:
            yield Demo(click(device, "#trip-return"), "There and back.")
        for field, place in (("from", out.origin), ("to", out.goal)):
            yield click(device, f"#{field}")
            yield Type(NAMES[place])
            yield click(device, f"#{field}-{place}")
        for field, leg in zip(("depart", "return"), params.legs, strict=False):
            yield from self._day(device, field, leg)
        yield from self._passengers(device, params)
        yield Demo(click(device, "#search"), "Search.")
        for leg in params.legs:
            yield from self._flight(device, params, leg)
        if params.bag:
            yield Demo(click(device, "#bag"), "Checked bags are asked for.")
        yield Demo(click(device, "#book"), "Book it.")

    def misread(
        self, params: FlightBookingParams, mistake: str, rng: Generator
    ) -> FlightBookingParams:
        """``condition``: the limit of the last flight is forgotten, or where there is none, the
        cheapest is taken for the shortest or the like. ``day``: the first flight is a day later,
        or a day earlier if it would be the day of the way back. ``passengers``: an adult too many,
        or one too few."""
        if mistake == "passengers":
            fewer = params.adults > 1 and rng.random() < 0.5
            return replace(params, adults=params.adults + (-1 if fewer else 1))
        first, *others = params.legs
        if mistake == "day":
            last_day = others[0].day - 1 if others else flights.COMPACT_DAYS[-1]
            stays = (others or self.compact) and first.day >= last_day
            step = -1 if stays else 1
            moved = replace(first, day=first.day + step)
            return replace(params, legs=(moved, *others))
        *most, last = params.legs
        return replace(params, legs=(*most, flights.careless(last, params.timetable)))

    def blind_rate(self, params: FlightBookingParams) -> float:
        """Any route and any flight, on any day, for any number of people."""
        if self.compact:
            days = len(flights.COMPACT_DAYS)
            return 1 / (self.flights * days * (len(params.airports) - 1) * COMPACT_ADULTS)
        routes = len(params.airports) * (len(params.airports) - 1)
        days = flights.LAST_DAY - flights.FIRST_DAY
        return float((self.flights * days) ** -len(params.legs) / routes / MOST_ADULTS)

    def _sample_compact(self, rng: Generator) -> FlightBookingParams:
        airports = flights.places(self.airports, rng, flights.COMPACT_CITIES)
        while True:
            timetable = flights.compact_timetable(airports, self.flights, rng)
            days = flights.COMPACT_DAYS
            (leg,) = flights.journey(1, airports, timetable, rng, limited=False, days=days)
            if flights.careless(leg, timetable) != leg:
                break
        return FlightBookingParams(
            airports=tuple(sorted(airports, key=NAMES.__getitem__)),
            timetable=timetable,
            legs=(leg,),
            adults=int(rng.integers(1, COMPACT_ADULTS + 1)),
            children=0,
            bag=False,
            brand=int(rng.integers(COMPACT_PLACES)),
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def _book_compact(self, device: BrowserDevice, params: FlightBookingParams) -> Steps:
        (leg,) = params.legs
        day = leg.date.isoformat()
        choices = (("to", leg.goal, NAMES[leg.goal]), ("depart", day, f"{leg.date:%a}"))
        for label, (field, value, shown) in zip(("To", "Day"), choices, strict=True):
            for thought, action in zip((label, shown), pick(device, field, value), strict=False):
                yield Demo(action, thought)
        for _ in range(params.adults - 1):
            yield Demo(click(device, "#adults-more"), "+")
        yield Demo(click(device, "#search"), "Search")
        chosen = flights.pick(leg, params.timetable) or 0
        airline = flights.COMPACT_AIRLINES[params.timetable[chosen].airline]
        yield Demo(click(device, f"#flight-{chosen} button"), airline)
        yield Demo(click(device, "#book"), "Book")

    def _day(self, device: BrowserDevice, field: str, leg: Leg) -> Steps:
        yield Demo(click(device, f"#{field}"), f"The day is {date(leg.date)}.")
        while f"{leg.date:%Y-%m}" not in device.state()["months"]:
            yield click(device, "#month-next")
        yield click(device, f"[data-day='{leg.date.isoformat()}']")

    def _passengers(self, device: BrowserDevice, params: FlightBookingParams) -> Steps:
        if (params.adults, params.children) == (1, 0):
            return
        yield click(device, "#passengers")
        for _ in range(params.adults - 1):
            yield click(device, "#adults-more")
        for _ in range(params.children):
            yield click(device, "#children-more")

    def _flight(self, device: BrowserDevice, params: FlightBookingParams, leg: Leg) -> Steps:
        """Sort by what matters, and select the first flight that is within the limit."""
        yield from pick(device, "sort", SORTED_BY[leg.kind])
        if leg.limit == "stops":
            yield click(device, "#nonstop")
        # On a day that was misread, nothing may be within the limit.
        chosen = flights.pick(leg, params.timetable)
        if chosen is None:
            chosen = flights.pick(replace(leg, limit=""), params.timetable)
        row = f"#flight-{chosen}"
        yield from reveal(device, row, "#list")
        yield Demo(click(device, f"{row} button"), f"The {flights.phrase(leg)}.")


def _searched(said: Mapping[str, Any], params: FlightBookingParams) -> bool:
    out = params.legs[0]
    back = params.legs[1].date.isoformat() if len(params.legs) > 1 else ""
    return {**said} == {
        "from": out.origin, "to": out.goal, "depart": out.date.isoformat(), "return": back,
        "adults": params.adults, "children": params.children,
    }  # fmt: skip


def _booked(said: Mapping[str, Any], params: FlightBookingParams, score: float) -> Verdict:
    booked = [(leg.get("flight"), leg.get("date")) for leg in said.get("legs", ())]
    wanted = [(flights.pick(leg, params.timetable), leg.date.isoformat()) for leg in params.legs]
    if booked != wanted:
        right = sum(one == other for one, other in zip(booked, wanted, strict=False))
        score = max(score, right / max(len(booked), len(wanted)))
        return Verdict(score, done=True, notes="booked, but not the flights asked for")
    for name in ("adults", "children", "bag"):
        if said.get(name) != getattr(params, name):
            return Verdict(0.75, done=True, notes=f"booked with {name} {said.get(name)!r}")
    return Verdict(1.0, done=True, notes="booked as asked")
