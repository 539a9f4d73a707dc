"""The made-up timetable of FlightBooking, and how the wished-for flights are named."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.phrases import TODAY
from ui_gym.contract import draws

AIRPORTS: tuple[tuple[str, str], ...] = (
    ("OSL", "Oslo"), ("LIS", "Lisbon"), ("VIE", "Vienna"), ("ATH", "Athens"), ("DUB", "Dublin"),
    ("ZRH", "Zurich"), ("MAD", "Madrid"), ("PRG", "Prague"), ("WAW", "Warsaw"), ("HEL", "Helsinki"),
    ("LGW", "London Gatwick"), ("LHR", "London Heathrow"), ("MXP", "Milan Malpensa"),
    ("LIN", "Milan Linate"), ("ORY", "Paris Orly"), ("CDG", "Paris Charles de Gaulle"),
)  # fmt: skip
AIRLINES = ("Bluefin Air", "Aurelia", "Meridian", "Petrel Airways", "Northcape", "Solano")

FIRST_DAY, LAST_DAY = 2, 90
"""Days from today on which an asked flight may leave."""

COMPACT_CITIES = ("OSL", "LIS", "VIE", "ATH", "DUB")
COMPACT_AIRLINES = words.LAST_SHORT
COMPACT_DAYS = range(4, 9)
"""Days from today that the compact page has, Monday to Friday."""

KINDS = ("cheapest", "shortest", "first")


@dataclass(frozen=True)
class Flight:
    """It flies every day; its id is its index in the timetable. Times are minutes."""

    origin: str
    goal: str
    airline: int
    number: int
    depart: int
    duration: int
    stops: int
    fares: tuple[int, ...]
    """Dollars a person, from Monday to Sunday."""

    @property
    def arrive(self) -> int:
        return self.depart + self.duration


@dataclass(frozen=True)
class Leg:
    """One flight to book: the cheapest, shortest or first one within a limit."""

    origin: str
    goal: str
    day: int
    """Days from today."""
    kind: str
    limit: str
    """``"stops"``, ``"after"``, ``"before"``, ``"price"`` or nothing."""
    bound: int

    @property
    def date(self) -> datetime.date:
        return TODAY + datetime.timedelta(days=self.day)


def places(count: int, rng: np.random.Generator, codes: Sequence[str] = ()) -> tuple[str, ...]:
    """Codes of airports (of those in `codes`), the first two of them of different cities."""
    cities = {code: name.split()[0] for code, name in AIRPORTS if code in codes or not codes}
    while True:
        drawn = [str(code) for code in rng.choice(list(cities), size=count, replace=False)]
        if cities[drawn[0]] != cities[drawn[1]]:
            return tuple(drawn)


def timetable(airports: Sequence[str], count: int, rng: np.random.Generator) -> tuple[Flight, ...]:
    """`count` flights between any two airports; on no route two of them leave or arrive at the same
    time, take equally long, or cost the same."""
    made: list[Flight] = []
    shortest = {pair: int(rng.integers(12, 40)) for pair in itertools.combinations(airports, 2)}
    for origin, goal in itertools.permutations(airports, 2):
        base = 5 * shortest.get((origin, goal), shortest.get((goal, origin), 0))
        departs, durations = _times(base, count, rng)
        fares = np.array([rng.choice(np.arange(59, 389), count, replace=False) for _ in range(7)])
        made += [
            Flight(
                origin=origin,
                goal=goal,
                airline=int(rng.integers(len(AIRLINES))),
                number=int(rng.integers(100, 990)),
                depart=depart,
                duration=duration,
                stops=_stops(duration - base),
                fares=tuple(int(fare) for fare in fares[:, i]),
            )
            for i, (depart, duration) in enumerate(zip(departs, durations, strict=True))
        ]
    return tuple(made)


def compact_timetable(
    airports: Sequence[str], count: int, rng: np.random.Generator
) -> tuple[Flight, ...]:
    """`count` flights from the first airport to any other, in whole hours, each of another airline;
    to no airport two of them leave at the same time, take equally long, or cost the same."""
    made: list[Flight] = []
    for goal in airports[1:]:
        lines, departs, hours = (
            rng.choice(upto, count, replace=False) for upto in (len(COMPACT_AIRLINES), 12, 9)
        )
        fares = np.array([rng.choice(np.arange(10, 100), count, replace=False) for _ in range(7)])
        made += [
            Flight(
                origin=airports[0],
                goal=goal,
                airline=int(lines[i]),
                number=0,
                depart=60 * (6 + int(departs[i])),
                duration=60 * (1 + int(hours[i])),
                stops=0,
                fares=tuple(int(fare) for fare in fares[:, i]),
            )
            for i in range(count)
        ]
    return tuple(made)


def _times(base: int, count: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    while True:
        durations = [base + 5 * int(more) for more in rng.choice(50, size=count, replace=False)]
        departs = [
            5 * int(rng.integers(5 * 12, (24 * 60 - 5 - duration) // 5)) for duration in durations
        ]
        arrivals = {depart + duration for depart, duration in zip(departs, durations, strict=True)}
        if len(set(departs)) == len(arrivals) == count:
            return departs, durations


def _stops(detour: int) -> int:
    return 0 if detour < 60 else 1 if detour < 170 else 2


def fare(flight: Flight, leg: Leg) -> int:
    """What it costs a person on the day of `leg`."""
    return flight.fares[leg.date.weekday()]


def pick(leg: Leg, flights: Sequence[Flight]) -> int | None:
    """The id of the flight that is asked for; None if none is within the limit."""
    within: dict[str, Callable[[Flight], bool]] = {
        "": lambda flight: True,
        "stops": lambda flight: flight.stops == 0,
        "after": lambda flight: flight.depart >= leg.bound,
        "before": lambda flight: flight.arrive <= leg.bound,
        "price": lambda flight: fare(flight, leg) <= leg.bound,
    }
    measure: dict[str, Callable[[Flight], int]] = {
        "cheapest": lambda flight: fare(flight, leg),
        "shortest": lambda flight: flight.duration,
        "first": lambda flight: flight.depart,
    }
    fitting = [
        (measure[leg.kind](flight), id)
        for id, flight in enumerate(flights)
        if (flight.origin, flight.goal) == (leg.origin, leg.goal) and within[leg.limit](flight)
    ]
    return min(fitting)[1] if fitting else None


LIMITS: dict[str, tuple[str, ...]] = {
    "cheapest": ("stops", "after", "before"),
    "shortest": ("after", "before", "price"),
    "first": ("stops", "price"),
}
BOUNDS: dict[str, range] = {
    "stops": range(1),
    "after": range(7 * 60, 19 * 60, 60),
    "before": range(10 * 60, 23 * 60, 60),
    "price": range(80, 380, 10),
}


def limits(leg: Leg, flights: Sequence[Flight]) -> list[Leg]:
    """`leg` with each limit that makes another flight the right one."""
    without = pick(leg, flights)
    made = [
        dataclasses.replace(leg, limit=limit, bound=bound)
        for limit in LIMITS[leg.kind]
        for bound in BOUNDS[limit]
    ]
    return [each for each in made if pick(each, flights) not in (None, without)]


def journey(
    count: int,
    airports: Sequence[str],
    flights: Sequence[Flight],
    rng: np.random.Generator,
    *,
    limited: bool,
    days: range = range(FIRST_DAY, LAST_DAY),
) -> tuple[Leg, ...]:
    """A leg between the first two airports, and if two are wanted, another one back."""
    here, there = airports[:2]
    day = int(rng.integers(days.start, days.stop))
    legs = []
    for _ in range(count):
        leg = Leg(here, there, day, draws.pick(rng, KINDS), "", 0)
        possible = limits(leg, flights) if limited else []
        legs.append(draws.pick(rng, possible) if possible else leg)
        here, there, day = there, here, day + int(rng.integers(1, 15))
    return tuple(legs)


def careless(leg: Leg, flights: Sequence[Flight]) -> Leg:
    """The leg without its limit, or if it has none, of another kind; itself where neither would
    make a difference."""
    right = pick(leg, flights)
    for kind in (leg.kind,) if leg.limit else KINDS:
        other = dataclasses.replace(leg, kind=kind, limit="", bound=0)
        if pick(other, flights) != right:
            return other
    return leg


def phrase(leg: Leg) -> str:
    """The flight as a goal names it, without its places and its day."""
    direct = "nonstop " if leg.limit == "stops" else ""
    name = (
        f"first {direct}flight of the day" if leg.kind == "first" else f"{leg.kind} {direct}flight"
    )
    hour = f"{leg.bound // 60}:{leg.bound % 60:02}"
    limit = {
        "after": f" that leaves at {hour} or later",
        "before": f" that arrives by {hour}",
        "price": f" that costs at most ${leg.bound} a person",
    }
    return name + limit.get(leg.limit, "")
