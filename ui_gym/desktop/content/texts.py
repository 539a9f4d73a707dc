"""Short texts: what people write down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ui_gym.contract.draws import between, pick
from ui_gym.contract.words import DAYS, filled
from ui_gym.desktop.content import words

_LINES = (
    "Buy {thing} at the {place}", "Return {thing} on {day}", "Book a table for {few}",
    "Locker {code}, {day}", "Room {room} is free on {day}", "Water the plants on {day}",
    "Ask at the {place} about {thing}", "Train on {day} at {hour}:{half}", "Gate opens at {hour}",
    "Password of the {place}: {word}{code}", "Parking space {room}", "Pay {code} to the {place}",
    "{few} chairs for {day}", "Pick up {thing} at {hour}:{half}", "The {place} closes at {hour}",
    "Call the {place} before {hour}:{half}", "Meeting on {day} in room {room}",
    "Bring {thing} on {day}", "Lend {thing} to the neighbours", "Paint the {place} on {day}",
)  # fmt: skip

_WITH = (
    "We keep one {} in the {place}", "Another {} was seen on {day}", "Please check the {} twice",
    "The old {} costs {code}", "Somebody left the {} behind", "Ask {few} people about the {}",
    "A good {} needs time", "My {} is ready at {hour}", "Each {} has a number, this is {room}",
    "On {day} the {} will be back", "There is no {} like this {}", "This {} belongs to the {place}",
    "Compare the {} with that other {}", "Nobody asked for the {}",
)  # fmt: skip

_THINGS = (
    "the blue folder", "two umbrellas", "the tickets", "some bread", "the house keys", "a charger",
    "the tall ladder", "six lemons", "the library book", "a warm jacket", "fresh milk", "the tent",
    "the red notebook", "a dozen eggs", "the old map", "some paint",
)  # fmt: skip

_PLACES = (
    "bakery", "library", "station", "harbour", "museum", "bank", "cinema", "park", "school",
    "garage", "pharmacy", "stadium", "town hall", "hotel",
)  # fmt: skip

_SLOTS: Mapping[str, Sequence[object]] = {
    "hour": range(7, 22),
    "half": ("15", "30", "45"),
    "thing": _THINGS,
    "place": _PLACES,
    "day": DAYS,
    "few": range(3, 10),
    "room": range(101, 500),
    "code": range(1000, 10_000),
    "word": words.THINGS,
}


def line(rng: np.random.Generator) -> str:
    """A line that somebody writes down, at most 50 characters."""
    return filled(rng, pick(rng, _LINES), _SLOTS)


def lines(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Different lines."""
    found: dict[str, None] = {}
    while len(found) < count:
        found[line(rng)] = None
    return tuple(found)


def line_with(rng: np.random.Generator, word: str) -> str:
    """A line in which a word stands, inside it and in small letters; perhaps twice."""
    return filled(rng, pick(rng, _WITH).replace("{}", word), _SLOTS)


def page(rng: np.random.Generator, low: int = 2, high: int = 5) -> str:
    """The text of a whole file of some lines, with its last newline."""
    return joined(lines(rng, between(rng, low, high)))


def joined(parts: tuple[str, ...]) -> str:
    """The text of a file with these lines."""
    return "".join(f"{part}\n" for part in parts)
