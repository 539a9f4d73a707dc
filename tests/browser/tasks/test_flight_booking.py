"""FlightBooking's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from task_helpers import goals, judge, levels, mistakes_fail, verdicts

from ui_gym.browser.content import flights
from ui_gym.browser.tasks.flight_booking import NAMES, FlightBooking, FlightBookingParams
from ui_gym.errors import UserError

LEVELS = ("easy", "medium", "hard")


def flight(depart: int, duration: int, stops: int, fare: int, *, back: bool = False) -> Any:
    """It costs $1 more on every day after Monday."""
    places = ("ATH", "OSL") if back else ("OSL", "ATH")
    fares = tuple(fare + day for day in range(7))
    return flights.Flight(*places, 0, 100, depart, duration, stops, fares)


TIMETABLE = (
    flight(600, 300, 1, 100),
    flight(420, 400, 2, 80),
    flight(800, 200, 0, 150),
    flight(500, 250, 0, 200, back=True),
    flight(900, 230, 1, 120, back=True),
)
OUT = flights.Leg("OSL", "ATH", 4, "cheapest", "stops", 0)  # Monday, 19 January 2026
BACK = flights.Leg("ATH", "OSL", 6, "first", "", 0)
PARAMS = FlightBookingParams(
    airports=("ATH", "OSL"), timetable=TIMETABLE, legs=(OUT, BACK), adults=2, children=1, bag=False,
    brand=0, theme=0, phrasing=0,
)  # fmt: skip


def search(**changed: Any) -> Any:
    asked = {"from": "OSL", "to": "ATH", "depart": "2026-01-19", "return": "2026-01-21",
             "adults": 2, "children": 1}  # fmt: skip
    return ("search", {**asked, **changed})


def book(*chosen: tuple[int, str], **changed: Any) -> Any:
    legs = [{"flight": id, "date": date} for id, date in chosen]
    return ("book", {"legs": legs, "adults": 2, "children": 1, "bag": False, **changed})


RIGHT = ((2, "2026-01-19"), (3, "2026-01-21"))


test_flight_booking_scores = verdicts(
    FlightBooking(),
    PARAMS,
    {
        "searched": (search(), 0.25, False),
        "other passengers": (search(adults=1), 0.0, False),
        "one way": (search(**{"return": ""}), 0.0, False),
        "right": (search(), book(*RIGHT), 1.0, True),
        "no search": (book(*RIGHT), 1.0, True),
        "an adult more": (search(), book(*RIGHT, adults=3), 0.75, True),
        "bags": (search(), book(*RIGHT, bag=True), 0.75, True),
        "one leg": (search(), book(RIGHT[0], (4, "2026-01-21")), 0.5, True),
        "no way back": (search(), book(RIGHT[0]), 0.5, True),
        "swapped": (search(), book(*RIGHT[::-1]), 0.25, True),
        "days": (book((2, "2026-01-20"), (3, "2026-01-22")), 0.0, True),
        "too late": (search(), book(RIGHT[0]), book(*RIGHT), 0.5, True),
        "empty": (("search", {}), ("book", {}), 0.0, True),
    },
)


def test_a_way_back_that_was_not_asked_for_is_no_success() -> None:
    one_way = dataclasses.replace(PARAMS, legs=(OUT,), bag=True)
    assert judge(FlightBooking(), one_way, book(RIGHT[0], bag=True)).success
    assert judge(FlightBooking(), one_way, book(*RIGHT, bag=True)).score == 0.5
    assert judge(FlightBooking(), one_way, book(RIGHT[0])).score == 0.75


@pytest.mark.parametrize(
    ("kind", "limit", "bound", "right"),
    [
        ("cheapest", "", 0, 1), ("shortest", "", 0, 2), ("first", "", 0, 1),
        ("cheapest", "stops", 0, 2), ("cheapest", "after", 600, 0), ("cheapest", "after", 601, 2),
        ("shortest", "before", 900, 0), ("shortest", "before", 899, 1),
        ("shortest", "price", 100, 0), ("first", "price", 79, None),
    ],
)  # fmt: skip
def test_the_flight_that_is_meant(kind: str, limit: str, bound: int, right: int | None) -> None:
    leg = dataclasses.replace(OUT, kind=kind, limit=limit, bound=bound)
    assert flights.pick(leg, TIMETABLE) == right


def test_fares_depend_on_the_day() -> None:
    tuesday = dataclasses.replace(OUT, day=5)
    assert [flights.fare(TIMETABLE[0], leg) for leg in (OUT, tuesday)] == [100, 101]


@levels(FlightBooking)
def test_goals_say_all_and_one_flight_fits(task: Any) -> None:
    for params, goal in goals(task):
        assert len(params.legs) == task.legs
        cities = {NAMES[code].split()[0] for code in (params.legs[0].origin, params.legs[0].goal)}
        assert len(cities) == 2
        assert ("checked bags" in goal) == params.bag
        assert ("child" in goal) == (params.children > 0)
        for leg in params.legs:
            assert NAMES[leg.origin] in goal
            assert NAMES[leg.goal] in goal
            assert f" {leg.date.day} {leg.date:%B %Y}" in goal
            assert flights.phrase(leg) in goal
            assert bool(leg.limit) == bool(task.limits)
            right = flights.pick(leg, params.timetable)
            assert right is not None
            others = [
                each
                for each in params.timetable
                if (each.origin, each.goal) == (leg.origin, leg.goal)
            ]
            assert len(others) == task.flights
            for measured in (
                [flights.fare(each, leg) for each in others],
                [each.duration for each in others],
                [each.depart for each in others],
            ):
                assert len(set(measured)) == task.flights
            assert all(each.arrive < 24 * 60 for each in others)
            assert flights.careless(leg, params.timetable) != leg


def _booked(params: FlightBookingParams) -> Any:
    legs = [(flights.pick(leg, params.timetable), leg.date.isoformat()) for leg in params.legs]
    return book(*legs, adults=params.adults, children=params.children, bag=params.bag)


def _in_order(params: FlightBookingParams) -> bool:
    days = [leg.day for leg in params.legs]
    return params.adults > 0 and days == sorted(days)


test_mistakes_book_something_else = mistakes_fail(
    FlightBooking, lambda params: [_booked(params)], _in_order
)


def test_compact_goals_say_all_and_one_flight_fits() -> None:
    task = FlightBooking(compact=True, flights=5, airports=5)
    for params, goal in goals(task):
        (leg,) = params.legs
        assert f"to {NAMES[leg.goal]} on {leg.date:%a}" in goal
        assert f" for {params.adults}" in goal
        assert f"the {leg.kind}" in goal
        others = [each for each in params.timetable if each.goal == leg.goal]
        for measured in (
            [flights.fare(each, leg) for each in others],
            [each.duration for each in others],
            [each.depart for each in others],
            [each.airline for each in others],
        ):
            assert len(set(measured)) == 5
        listed = [day for day, _ in task.page_params(params)["days"]]
        assert leg.date.isoformat() in listed
        wrong = task.misunderstand(params, {"day": 1.0}, 0).legs[0]
        assert wrong != leg
        assert wrong.date.isoformat() in listed


def test_the_compact_page_has_one_flight_without_limits() -> None:
    with pytest.raises(UserError, match="legs is 1, limits and children are 0"):
        FlightBooking(compact=True, level="medium")
