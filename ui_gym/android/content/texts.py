"""Short texts: what people write to each other and to themselves."""

from __future__ import annotations

import numpy as np

from ui_gym.contract.draws import between, pick

_MESSAGES = (
    "Running {minutes} minutes late", "See you at {hour}:{half}", "Can you bring {thing}?",
    "Meet me at the {place} at {hour}", "The {place} closes at {hour} today",
    "I left {thing} at the {place}", "Happy birthday, see you {day}",
    "The meeting is moved to {day}", "Please call me after {hour}", "Table for {few} on {day}",
    "Room {room} at {hour}:{half}", "My train gets in at {hour}:{half}",
    "Do you still have {thing}?", "I am at the {place}", "Code for the door: {code}",
    "No class on {day}", "Thanks for {thing}", "Let us talk on {day}", "Dinner at {hour}",
)  # fmt: skip

_INCOMING = (
    "Are you free on {day}?", "What time does the {place} open?", "Did you find {thing}?",
    "Shall we meet at the {place}?", "When does your train get in?", "Who has {thing}?",
    "Is {day} at {hour} fine with you?", "Which room is it?", "How many are coming on {day}?",
    "Where are you?", "Can I borrow {thing}?", "Lunch at the {place} on {day}?",
)  # fmt: skip

_REPLIES = (
    "Yes, {day} is fine", "At {hour}:{half}", "No, sorry", "I will be there at {hour}",
    "Room {room}", "We are {few}", "Ask at the {place}", "Not before {hour}",
    "On {day} at the {place}", "Give me {minutes} minutes", "Sure, see you {day}", "Maybe on {day}",
)  # fmt: skip

_LINES = (
    "Buy {thing}", "Return {thing}", "Book a table for {few}", "Locker {code}",
    "Room {room}, {day}", "Water the plants on {day}", "Ask at the {place} about {thing}",
    "Train on {day} at {hour}:{half}", "Gate opens at {hour}", "Wifi password: {word}{code}",
    "Parking space {room}", "Pay {code} to the {place}", "{few} chairs for {day}",
    "Pick up {thing} at {hour}:{half}",
)  # fmt: skip

_THINGS = (
    "the blue folder", "your umbrella", "the tickets", "some bread", "the house keys", "a charger",
    "the ladder", "two lemons", "the library book", "my jacket", "the camera", "fresh milk",
    "the tent", "a bottle of water", "the red notebook", "six eggs",
)  # fmt: skip

_PLACES = (
    "bakery", "library", "station", "harbour", "museum", "market", "cinema", "park", "bank",
    "school", "garage", "pharmacy", "stadium", "town hall",
)  # fmt: skip

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_WORDS = ("maple", "otter", "copper", "lantern", "violet", "comet", "pepper", "walnut", "cedar")

EVENTS = (
    "Dentist", "Team lunch", "Yoga class", "Budget review", "Parents evening", "Car service",
    "Book club", "Piano lesson", "Project kickoff", "Haircut", "Choir practice", "Job interview",
    "Eye test", "Football training", "Rent inspection", "Client call", "Vet appointment",
    "Garden club", "Spanish course", "Board meeting", "Flight to Oslo", "Wine tasting",
    "Blood donation", "House viewing", "Chess evening", "Sprint planning",
)  # fmt: skip
"""Titles of events."""

PLACES = (
    "Room 204", "Main Street 12", "North Clinic", "Cafe Luna", "City Hall", "Studio 5",
    "Harbour Office", "Green Park", "Library, 2nd floor", "Gate B7", "Old Mill", "Station Square",
)  # fmt: skip
"""Where events take place."""

ALARMS = (
    "Gym", "Medicine", "Early shift", "School run", "Train", "Standup", "Morning run", "Bread oven",
    "Laundry", "Call home", "Airport", "Water plants", "Practice", "Nap over", "Night shift", "Bus",
)  # fmt: skip
"""Labels of alarms."""


def message(rng: np.random.Generator) -> str:
    """What somebody writes to somebody else."""
    return _filled(rng, _MESSAGES)


def incoming(rng: np.random.Generator) -> str:
    """A message that wants an answer."""
    return _filled(rng, _INCOMING)


def reply(rng: np.random.Generator) -> str:
    """Such an answer."""
    return _filled(rng, _REPLIES)


def note(rng: np.random.Generator) -> str:
    """A line that somebody writes down."""
    return _filled(rng, _LINES)


def _filled(rng: np.random.Generator, pool: tuple[str, ...]) -> str:
    return pick(rng, pool).format(
        minutes=5 * between(rng, 1, 9),
        hour=between(rng, 7, 21),
        half=pick(rng, ("15", "30", "45")),
        thing=pick(rng, _THINGS),
        place=pick(rng, _PLACES),
        day=pick(rng, _DAYS),
        few=between(rng, 2, 9),
        room=between(rng, 101, 499),
        code=between(rng, 1000, 9999),
        word=pick(rng, _WORDS),
    )
